"""Randomized search."""

import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterSampler

from leavezero._random import integer_seed
from leavezero._typing import AnyArray, RandomState
from leavezero._warnings import warn_caller
from leavezero.evaluation import CandidateFactory, SingleRound, Strategy
from leavezero.search._base import BaseSearchLZO
from leavezero.search._parameter_checks import is_count


class RandomizedSearchLZO(BaseSearchLZO):
    """Search over sampled candidates, with one fit per candidate and no held-out rows.

    Like :class:`GridSearchLZO`, but the candidates are sampled from lists and distributions, as in
    ``RandomizedSearchCV``.

    Parameters
    ----------
    estimator : classifier or regressor
        An estimator with scikit-learn's interface.
    param_distributions : dict or list of dicts
        For each parameter a list of values or a distribution with ``rvs``, such as those of
        ``scipy.stats``.
    n_iter : int, default=10
        The number of candidates that are sampled. Equal ones are fitted once.
    augmenter, n_replicates, validation_size, loo, scoring, refit, select, cv_finalists, cv
        See :class:`GridSearchLZO`.
    error_score, return_train_score, n_jobs, verbose, checkpoint
        See :class:`GridSearchLZO`.
    timeout, time_budget, memory_limit
        See :class:`GridSearchLZO`.
    random_state : int, RandomState, Generator or None, default=None
        The seed of the candidates, of the validation set and of every ``random_state`` of None
        inside the estimator.

    Attributes
    ----------
    best_estimator_, best_params_, best_score_, best_index_, selection_, cv_results_
        See :class:`GridSearchLZO`, also for further attributes.

    See Also
    --------
    GridSearchLZO : All combinations of a grid.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from leavezero import RandomizedSearchLZO
    >>> X, y = load_iris(return_X_y=True)
    >>> search = RandomizedSearchLZO(SVC(), {"C": loguniform(0.01, 100)}, n_iter=4, random_state=0)
    >>> search.fit(X, y).n_fits_
    4
    """

    def __init__(
        self,
        estimator: Any,
        param_distributions: Any,
        *,
        n_iter: int = 10,
        augmenter: Any = "auto",
        n_replicates: int = 10,
        validation_size: float | str = "auto",
        loo: bool | str = "auto",
        scoring: Any = None,
        refit: Any = True,
        select: Any = "best",
        cv_finalists: int | str | None = None,
        cv: Any = 5,
        error_score: Any = float("nan"),
        return_train_score: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
        checkpoint: Any = None,
        timeout: float | None = None,
        time_budget: float | None = None,
        memory_limit: int | str | None = None,
    ) -> None:
        super().__init__(
            augmenter=augmenter,
            n_replicates=n_replicates,
            validation_size=validation_size,
            loo=loo,
            scoring=scoring,
            refit=refit,
            select=select,
            cv_finalists=cv_finalists,
            cv=cv,
            error_score=error_score,
            return_train_score=return_train_score,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            checkpoint=checkpoint,
            timeout=timeout,
            time_budget=time_budget,
            memory_limit=memory_limit,
        )
        self.estimator = estimator
        self.param_distributions = param_distributions
        self.n_iter = n_iter

    def _strategy(
        self, factory: CandidateFactory, y: AnyArray, root: np.random.SeedSequence
    ) -> Strategy:
        if not is_count(self.n_iter):
            raise ValueError(
                f"n_iter of RandomizedSearchLZO must be a positive int, got {self.n_iter!r}."
            )
        seed = integer_seed(root, "proposals")
        for params in sample_params(self.param_distributions, self.n_iter, seed, "n_iter", self):
            factory.candidate(self.estimator, params)
        return SingleRound(factory.candidates)


def sample_params(
    space: Any, n_params: int, seed: int, name: str, search: Any
) -> list[dict[str, Any]]:
    """Return sampled parameters; all of them, with a warning, if there are fewer."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The total space of parameters")  # names GridSearchCV
        params = list(ParameterSampler(space, n_params, random_state=seed))
    if len(params) < n_params:
        warn_caller(
            f"{name} of {type(search).__name__} is {n_params}, but there are only {len(params)} "
            "candidates; all of them are evaluated."
        )
    return params
