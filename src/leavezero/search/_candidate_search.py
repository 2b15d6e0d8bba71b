"""Search over several estimators."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.model_selection import ParameterGrid

from leavezero._typing import AnyArray, RandomState
from leavezero.evaluation import ESTIMATOR, CandidateFactory, SingleRound, Strategy
from leavezero.search._base import BaseSearchLZO

NAME = "candidate"  # the parameter that holds an estimator's name in cv_results_


class CandidateSearchLZO(BaseSearchLZO):
    """Search over named estimators, each with its own grid or as it is.

    This is the candidate set Q of the paper: all candidates are fitted once, on all rows, and
    scored on the same validation set.

    Parameters
    ----------
    candidates : dict
        Maps names to an estimator, or to a pair of an estimator and a grid as in
        :class:`GridSearchLZO`. All are classifiers or all are regressors.
    augmenter, n_replicates, validation_size, loo, scoring, refit, select, cv_finalists, cv
        See :class:`GridSearchLZO`.
    error_score, return_train_score, n_jobs, random_state, verbose, checkpoint
        See :class:`GridSearchLZO`.
    timeout, time_budget, memory_limit
        See :class:`GridSearchLZO`.

    Attributes
    ----------
    best_params_ : dict
        The winner's name as "candidate", and the parameters of its grid.
    cv_results_ : dict of arrays
        One row per candidate; ``param_candidate`` is the estimator's name.
    best_estimator_, best_score_, best_index_, selection_
        See :class:`GridSearchLZO`, also for further attributes.

    See Also
    --------
    GridSearchLZO : One estimator.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.svm import SVC
    >>> from leavezero import CandidateSearchLZO
    >>> X, y = load_iris(return_X_y=True)
    >>> candidates = {"svm": (SVC(), {"C": [0.001, 1.0]}), "bayes": GaussianNB()}
    >>> search = CandidateSearchLZO(candidates, random_state=0).fit(X, y)
    >>> search.cv_results_["params"]
    [{'candidate': 'svm', 'C': 0.001}, {'candidate': 'svm', 'C': 1.0}, {'candidate': 'bayes'}]
    """

    def __init__(
        self,
        candidates: Any,
        *,
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
        self.candidates = candidates

    def _representative(self) -> Any:
        return next(self._listed())[1]

    def _estimators(self) -> dict[str, Any]:
        return {f"{ESTIMATOR}_{name}": estimator for name, estimator, _ in self._listed()}

    def _listed(self) -> Iterator[tuple[str, Any, Any]]:
        """Yield the name, the estimator and the grid of each candidate."""
        if not isinstance(self.candidates, Mapping) or not self.candidates:
            raise ValueError(
                "candidates of CandidateSearchLZO must be a dict that maps names to estimators or "
                f"to pairs of estimator and grid, got {self.candidates!r}."
            )
        for name, value in self.candidates.items():
            pair = value if isinstance(value, tuple | list) else (value, {})
            if not isinstance(name, str) or len(pair) != 2 or not hasattr(pair[0], "fit"):
                raise ValueError(
                    "candidates of CandidateSearchLZO must map strings to estimators or to pairs "
                    f"of estimator and grid, got {name!r}: {value!r}."
                )
            yield name, *pair

    def _strategy(
        self, factory: CandidateFactory, y: AnyArray, root: np.random.SeedSequence
    ) -> Strategy:
        self._check_types()
        for name, estimator, grid in self._listed():
            for params in ParameterGrid(grid):
                if NAME in params:
                    raise ValueError(
                        f"The grid of {name!r} must not contain the parameter {NAME!r}, which "
                        "holds the estimators' names."
                    )
                factory.candidate(estimator, params, {NAME: name, **params}, f"{ESTIMATOR}_{name}")
        return SingleRound(factory.candidates)

    def _check_types(self) -> None:
        for has_type in (is_classifier, is_regressor):
            types = {name: has_type(estimator) for name, estimator, _ in self._listed()}
            if len(set(types.values())) > 1:
                raise ValueError(
                    "candidates of CandidateSearchLZO must be all classifiers or all regressors, "
                    f"got a mixture: {', '.join(types)}."
                )
