"""The face that all searches share."""

import logging
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.model_selection import GridSearchCV
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from leavezero._random import integer_seed, seed_sequence
from leavezero._typing import AnyArray, Params, RandomState, Table
from leavezero.augment import Choice, resolve_augmenter
from leavezero.engine import (
    Candidate,
    Job,
    default_metric,
    draw_replicates,
    evaluate,
    fits_are_dear,
    plan,
    replicate_size,
    resolve_metric,
    results_table,
)
from leavezero.search._checks import check_data, check_error_score, check_estimator_kind

_LOGGER = logging.getLogger("leavezero")


def _winner_has(method: str) -> Callable[["BaseSearchLZO"], bool]:
    """Return a check that the fitted winner, or before fit the estimator, has a method."""

    def check(self: "BaseSearchLZO") -> bool:
        getattr(getattr(self, "best_estimator_", self.estimator), method)
        return True

    return check


class BaseSearchLZO(MetaEstimatorMixin, BaseEstimator):
    """Base of all searches: a subclass says which candidates there are.

    Examples
    --------
    >>> from leavezero import GridSearchLZO
    >>> from leavezero.search import BaseSearchLZO
    >>> issubclass(GridSearchLZO, BaseSearchLZO)
    True
    """

    def __init__(
        self,
        estimator: Any,
        *,
        augmenter: Any = "auto",
        n_replicates: int = 10,
        validation_size: float = 1.0,
        scoring: Any = None,
        error_score: Any = float("nan"),
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.augmenter = augmenter
        self.n_replicates = n_replicates
        self.validation_size = validation_size
        self.scoring = scoring
        self.error_score = error_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @abstractmethod
    def _proposals(self, root: np.random.SeedSequence) -> Iterable[Params]:
        """Return the parameters of every candidate; chance comes from a stream of the root."""

    def fit(self, X: Table, y: AnyArray | None = None) -> Self:
        """Fit every candidate once, on all the data, and keep the best (Li et al., Algorithm 1).

        Parameters
        ----------
        X : array, frame, sparse matrix or sequence of strings
            The features, as far as the estimator and the augmenter take them.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            The target: classes for a classifier, numbers for a regressor.

        Returns
        -------
        self
        """
        owner = type(self).__name__
        check_estimator_kind(self.estimator, owner)
        check_error_score(self.error_score, owner)
        target = check_data(self.estimator, X, y, owner)
        metric = resolve_metric(self.scoring, owner)
        root = seed_sequence(self.random_state)
        candidates = plan(self.estimator, self._proposals(root), owner)
        choice = self._choose_augmenter(X, target, candidates)
        augmenter, replicates = draw_replicates(
            choice.augmenter,
            X,
            target,
            n_replicates=self.n_replicates,
            validation_size=self.validation_size,
            root=root,
            owner=owner,
        )
        seed = integer_seed(root, "candidate")
        job = Job(self.estimator, X, target, replicates, seed, metric, self.error_score)
        evaluation = evaluate(job, candidates, n_jobs=self.n_jobs, owner=owner)
        self.augmenter_ = augmenter
        self.validation_set_ = replicates.rows
        self.fits_ = {
            "candidate": len(candidates),
            "teacher": getattr(augmenter, "n_fits_", 0),
        }
        self.n_fits_ = sum(self.fits_.values())
        self.cv_results_ = results_table(evaluation.records)
        self.best_index_ = evaluation.best_index
        self.best_params_ = self.cv_results_["params"][self.best_index_]
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        self.best_estimator_ = evaluation.best_model
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_
        chosen = default_metric(self.best_estimator_) if metric is None else metric
        self.scorer_ = chosen.scorer or _own_score
        self.multimetric_ = False
        return self

    def _choose_augmenter(
        self, X: Table, target: AnyArray, candidates: Sequence[Candidate]
    ) -> Choice:
        """Return what draws V, and tell it where the user wants to hear."""
        n_rows, owner = len(target), type(self).__name__
        size = replicate_size(self.validation_size, self.n_replicates, n_rows, owner)
        shape = getattr(X, "shape", (n_rows, 1))
        n_columns = int(np.prod(shape[1:])) if len(shape) > 1 else 1
        n_new_rows = size * self.n_replicates
        dear = fits_are_dear(self.estimator, candidates, n_rows, n_columns, n_new_rows)
        choice = resolve_augmenter(self.augmenter, X, target, dear=dear)
        message = f"{owner}: V is drawn by {choice.augmenter!r}, because {choice.reason}."
        _LOGGER.info(message)
        if self.verbose:
            print(message)
        return choice

    @property
    def classes_(self) -> AnyArray:
        """The classes of the best model."""
        return self._winner().classes_

    @property
    def n_features_in_(self) -> int:
        """The number of columns that the best model was fitted on."""
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(f"{type(self).__name__} has no n_features_in_ before fit.")
        return int(self.best_estimator_.n_features_in_)

    @available_if(_winner_has("score"))
    def score(self, X: Table, y: AnyArray | None = None) -> float:
        """Return the best model's score on given rows, by the metric of the search."""
        return float(self.scorer_(self._winner(), X, y))

    @available_if(_winner_has("predict"))
    def predict(self, X: Table) -> AnyArray:
        """Return the best model's prediction for each row."""
        return self._winner().predict(X)

    @available_if(_winner_has("predict_proba"))
    def predict_proba(self, X: Table) -> AnyArray:
        """Return the best model's probability of each class, for each row."""
        return self._winner().predict_proba(X)

    @available_if(_winner_has("predict_log_proba"))
    def predict_log_proba(self, X: Table) -> AnyArray:
        """Return the best model's log-probability of each class, for each row."""
        return self._winner().predict_log_proba(X)

    @available_if(_winner_has("decision_function"))
    def decision_function(self, X: Table) -> AnyArray:
        """Return the best model's decision values, for each row."""
        return self._winner().decision_function(X)

    @available_if(_winner_has("score_samples"))
    def score_samples(self, X: Table) -> AnyArray:
        """Return the best model's own score of each row."""
        return self._winner().score_samples(X)

    @available_if(_winner_has("transform"))
    def transform(self, X: Table) -> Table:
        """Return the rows as the best model transforms them."""
        return self._winner().transform(X)

    @available_if(_winner_has("inverse_transform"))
    def inverse_transform(self, X: Table) -> Table:
        """Return transformed rows as they were before."""
        return self._winner().inverse_transform(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = inner.classifier_tags
        tags.regressor_tags = inner.regressor_tags
        tags.target_tags = inner.target_tags
        tags.target_tags.required = True
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.input_tags.sparse = inner.input_tags.sparse
        return tags

    def _winner(self) -> Any:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_


def _own_score(estimator: Any, X: Table, y: AnyArray | None) -> float:
    return float(estimator.score(X, y))


# Tools ask isinstance(search, BaseSearchCV); inheriting would bring its fit, which refits.
# The class has no public address of its own: it is the base of the public GridSearchCV.
GridSearchCV.__base__.register(BaseSearchLZO)
