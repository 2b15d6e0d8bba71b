"""The search over whole estimators."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.model_selection import ParameterGrid

from leavezero._typing import AnyArray, RandomState
from leavezero.engine import ESTIMATOR, AllAtOnce, Planner, Strategy
from leavezero.search._base import BaseSearchLZO

NAME = "candidate"  # the column that holds an estimator's name


class CandidateSearchLZO(BaseSearchLZO):
    """Choose the best of named estimators, each with a grid of its own or as it is.

    This is the set Q of the paper: all candidates are fitted once, on all the data, judged on the
    same validation set, and stand in one table.

    Parameters
    ----------
    candidates : dict
        Names, each with an estimator, or with a pair of an estimator and a grid as
        :class:`GridSearchLZO` takes it. All are classifiers or all are regressors.
    augmenter, n_replicates, validation_size, unseen, scoring, refit, select, confirm, confirm_cv
        As for :class:`GridSearchLZO`.
    error_score, return_train_score, n_jobs, random_state, verbose, journal
        As for :class:`GridSearchLZO`.
    timeout, time_budget, memory_limit
        As for :class:`GridSearchLZO`.

    Attributes
    ----------
    best_params_ : dict
        The winner's name as "candidate", and the parameters that its grid set.
    cv_results_ : dict of arrays
        A row for each candidate; ``param_candidate`` is the estimator's name.
    best_estimator_, best_score_, best_index_, selection_, fits_, n_fits_, augmenter_
        As for :class:`GridSearchLZO`.

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
        n_replicates: int | str = 10,
        validation_size: float = 1.0,
        unseen: str = "auto",
        scoring: Any = None,
        refit: Any = True,
        select: Any = "best",
        confirm: int | str | None = None,
        confirm_cv: Any = 5,
        error_score: Any = float("nan"),
        return_train_score: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
        journal: Any = None,
        timeout: float | None = None,
        time_budget: float | None = None,
        memory_limit: int | str | None = None,
    ) -> None:
        self.candidates = candidates
        self.augmenter = augmenter
        self.n_replicates = n_replicates
        self.validation_size = validation_size
        self.unseen = unseen
        self.scoring = scoring
        self.refit = refit
        self.select = select
        self.confirm = confirm
        self.confirm_cv = confirm_cv
        self.error_score = error_score
        self.return_train_score = return_train_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.journal = journal
        self.timeout = timeout
        self.time_budget = time_budget
        self.memory_limit = memory_limit

    def _template(self) -> Any:
        return next(self._listed())[1]

    def _members(self) -> dict[str, Any]:
        return {f"{ESTIMATOR}_{name}": estimator for name, estimator, _ in self._listed()}

    def _listed(self) -> Iterator[tuple[str, Any, Any]]:
        """Yield each name, estimator and grid."""
        if not isinstance(self.candidates, Mapping) or not self.candidates:
            raise ValueError(
                "candidates of CandidateSearchLZO must be a dict of names and estimators, or pairs "
                f'of estimator and grid, got {self.candidates!r}. Use {{"svm": SVC()}}.'
            )
        for name, member in self.candidates.items():
            pair = member if isinstance(member, tuple | list) else (member, {})
            if not isinstance(name, str) or len(pair) != 2 or not hasattr(pair[0], "fit"):
                raise ValueError(
                    "candidates of CandidateSearchLZO must map strings to estimators or to pairs "
                    f"of estimator and grid, got {name!r}: {member!r}."
                )
            yield name, *pair

    def _strategy(
        self, planner: Planner, target: AnyArray, root: np.random.SeedSequence
    ) -> Strategy:
        self._check_kinds()
        for name, estimator, grid in self._listed():
            for params in ParameterGrid(grid):
                if NAME in params:
                    raise ValueError(
                        f"The grid of {name!r} sets a parameter {NAME!r}, and that column holds "
                        "the estimators' names. Search it with GridSearchLZO."
                    )
                shown = {NAME: name, **params}
                planner.candidate(estimator, params, shown, f"{ESTIMATOR}_{name}")
        return AllAtOnce(planner.candidates)

    def _check_kinds(self) -> None:
        members = list(self._listed())
        for same in (is_classifier, is_regressor):
            kinds = {name: same(estimator) for name, estimator, _ in members}
            if len(set(kinds.values())) > 1:
                raise ValueError(
                    "candidates of CandidateSearchLZO must be all classifiers or all regressors, "
                    f"got a mixture: {', '.join(kinds)}."
                )
