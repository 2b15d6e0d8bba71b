"""Searches that give few resources to many candidates and all of them to the last few."""

from math import ceil
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import ParameterGrid

from leavezero._random import integer_seed
from leavezero._typing import AnyArray, RandomState
from leavezero.engine import AllModels, Keeper, NoModel, Planner, Rule
from leavezero.search._base import BaseSearchLZO
from leavezero.search._checks import is_count
from leavezero.search._halving_strategy import ROWS, HalvingStrategy, schedule, stratified_order
from leavezero.search._randomized import sampled


class BaseHalvingLZO(BaseSearchLZO):
    """What both halving searches share.

    Examples
    --------
    >>> from leavezero import HalvingGridSearchLZO
    >>> from leavezero.search._halving import BaseHalvingLZO
    >>> issubclass(HalvingGridSearchLZO, BaseHalvingLZO)
    True
    """

    factor: float
    resource: str
    min_resources: Any
    max_resources: Any

    def _halving(
        self, planner: Planner, target: AnyArray, root: np.random.SeedSequence, smallest: int
    ) -> HalvingStrategy:
        """Return the rounds for the candidates that were planned."""
        most = self._most(len(target))
        if is_count(self.min_resources) and smallest > most:
            raise ValueError(
                f"min_resources of {type(self).__name__} must be at most max_resources, got "
                f"{smallest} and {most}. Give fewer for the first round."
            )
        resources = schedule(len(planner.candidates), self.factor, smallest, most, self._exhaust)
        order = stratified_order(target, is_classifier(self._template()), root)
        strategy = HalvingStrategy(
            planner, factor=self.factor, resource=self.resource, resources=resources, order=order
        )
        self.n_resources_ = strategy.resources
        self.n_candidates_ = strategy.sizes
        self.n_iterations_ = len(resources)
        self.min_resources_, self.max_resources_ = resources[0], most
        return strategy

    def _keeper(self, rule: Rule, looks: bool) -> Keeper:
        # A score of one round cannot be held against another's.
        return AllModels() if self.refit else NoModel()

    @property
    def _exhaust(self) -> bool:
        return isinstance(self.min_resources, str) and self.min_resources == "exhaust"

    def _smallest(self, target: AnyArray) -> int:
        """Return the resources of the first round where all candidates are in it."""
        if is_count(self.min_resources):
            return int(self.min_resources)
        if self.min_resources not in ("exhaust", "smallest"):
            raise ValueError(
                f"min_resources of {type(self).__name__} must be "
                f'"exhaust", "smallest" or a positive int, got {self.min_resources!r}.'
            )
        if self.resource != ROWS:
            return 1
        n_classes = len(np.unique(target)) if is_classifier(self._template()) else 1
        return min(len(target), 10 * max(2, n_classes))

    def _most(self, n_rows: int) -> int:
        owner = type(self).__name__
        if isinstance(self.factor, bool) or not self.factor > 1:
            raise ValueError(
                f"factor of {owner} must be a number above 1, got {self.factor!r}. Use 3 to keep "
                "a third of the candidates in each round."
            )
        if self.resource == ROWS:
            if self.max_resources == "auto":
                return n_rows
            if is_count(self.max_resources) and self.max_resources <= n_rows:
                return int(self.max_resources)
        elif is_count(self.max_resources):
            self._check_resource()
            return int(self.max_resources)
        raise ValueError(
            f"max_resources of {owner} must be a positive int, at most the number of rows where "
            f'these are the resource ("auto" for all), got {self.max_resources!r} for the resource '
            f"{self.resource!r}."
        )

    def _check_resource(self) -> None:
        known = self._template().get_params()
        if self.resource not in known:
            raise ValueError(
                f"resource of {type(self).__name__} must be {ROWS!r} or an integer parameter of "
                f"the estimator, got {self.resource!r}. The estimator has "
                f"{', '.join(sorted(known))}."
            )

    @property
    def n_remaining_candidates_(self) -> int:
        """How many candidates were left after the last round."""
        return ceil(self.n_candidates_[-1] / self.factor)


class HalvingGridSearchLZO(BaseHalvingLZO):
    """Choose the best of a grid by successive halving, each round judged on the same V.

    The first round fits all candidates with few resources, a stratified share of the rows or a
    small value of a parameter such as ``n_estimators``; the best of them go on to the next round
    with more. The last round's candidates are fitted on all the data, and the best of them is
    kept as it is.

    Parameters
    ----------
    estimator : classifier or regressor
        What to fit, with scikit-learn's methods.
    param_grid : dict or list of dicts
        As for :class:`GridSearchLZO`.
    factor : number, default=3
        One in so many candidates goes on, with so many times the resources.
    resource : "n_samples" or str, default="n_samples"
        What rounds are given: rows, or an integer parameter of the estimator.
    max_resources : "auto" or int, default="auto"
        The most resources of a round. With rows, "auto" is all of them, and the last round has all
        of them in any case; for a parameter give the largest value.
    min_resources : "exhaust", "smallest" or int, default="exhaust"
        The resources of the first round. "smallest" is 10 rows a class, 20 rows for numbers, or 1
        for a parameter; "exhaust" is as much more as the number of rounds leaves room for.
    augmenter, n_replicates, validation_size, unseen, scoring, refit, select, confirm, confirm_cv
        As for :class:`GridSearchLZO`.
    error_score, return_train_score, n_jobs, random_state, verbose, journal
        As for :class:`GridSearchLZO`.
    timeout, time_budget, memory_limit
        As for :class:`GridSearchLZO`.

    Attributes
    ----------
    n_resources_, n_candidates_ : list of int
        Of each round.
    n_iterations_ : int
        The number of rounds.
    n_remaining_candidates_ : int
        How many candidates would go on after the last round.
    min_resources_, max_resources_ : int
        Of the first round, and the limit.
    cv_results_ : dict of arrays
        A row for each candidate and round, with the columns ``iter`` and ``n_resources``.
    best_estimator_, best_params_, best_score_, best_index_, selection_, fits_, n_fits_
        As for :class:`GridSearchLZO`; the best is among those of the last round.

    See Also
    --------
    GridSearchLZO : Every candidate with all the data.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from leavezero import HalvingGridSearchLZO
    >>> X, y = load_iris(return_X_y=True)
    >>> grid = {"C": [0.01, 0.1, 1, 10, 100, 1000]}
    >>> search = HalvingGridSearchLZO(SVC(), grid, random_state=0).fit(X, y)
    >>> search.n_resources_, search.n_candidates_
    ([50, 150], [6, 2])
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        factor: float = 3,
        resource: str = ROWS,
        max_resources: Any = "auto",
        min_resources: Any = "exhaust",
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
        super().__init__(
            estimator,
            augmenter=augmenter,
            n_replicates=n_replicates,
            validation_size=validation_size,
            unseen=unseen,
            scoring=scoring,
            refit=refit,
            select=select,
            confirm=confirm,
            confirm_cv=confirm_cv,
            error_score=error_score,
            return_train_score=return_train_score,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            journal=journal,
            timeout=timeout,
            time_budget=time_budget,
            memory_limit=memory_limit,
        )
        self.param_grid = param_grid
        self.factor = factor
        self.resource = resource
        self.max_resources = max_resources
        self.min_resources = min_resources

    def _strategy(
        self, planner: Planner, target: AnyArray, root: np.random.SeedSequence
    ) -> HalvingStrategy:
        for params in ParameterGrid(self.param_grid):
            planner.candidate(self.estimator, _without(self.resource, params, self))
        if not planner.candidates:
            raise ValueError("HalvingGridSearchLZO got an empty grid. Name at least one candidate.")
        return self._halving(planner, target, root, self._smallest(target))


class HalvingRandomSearchLZO(BaseHalvingLZO):
    """Choose the best of candidates drawn at random by successive halving.

    As :class:`HalvingGridSearchLZO`, but the candidates are drawn from lists and distributions.

    Parameters
    ----------
    estimator : classifier or regressor
        What to fit, with scikit-learn's methods.
    param_distributions : dict or list of dicts
        As for :class:`RandomizedSearchLZO`.
    n_candidates : "exhaust" or int, default="exhaust"
        How many candidates are drawn for the first round. "exhaust" is as many as the resources
        of the last round hold those of the first.
    factor, resource, max_resources
        As for :class:`HalvingGridSearchLZO`.
    min_resources : "smallest", "exhaust" or int, default="smallest"
        As for :class:`HalvingGridSearchLZO`; "exhaust" needs a number of candidates.
    augmenter, n_replicates, validation_size, unseen, scoring, refit, select, confirm, confirm_cv
        As for :class:`GridSearchLZO`.
    error_score, return_train_score, n_jobs, random_state, verbose, journal
        As for :class:`GridSearchLZO`.
    timeout, time_budget, memory_limit
        As for :class:`GridSearchLZO`.

    Attributes
    ----------
    n_resources_, n_candidates_, n_iterations_, min_resources_, max_resources_, cv_results_
        As for :class:`HalvingGridSearchLZO`.
    best_estimator_, best_params_, best_score_, best_index_, selection_, fits_, n_fits_
        As for :class:`GridSearchLZO`; the best is among those of the last round.

    See Also
    --------
    HalvingGridSearchLZO : Every combination of a grid.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from leavezero import HalvingRandomSearchLZO
    >>> X, y = load_iris(return_X_y=True)
    >>> space = {"C": loguniform(0.01, 100)}
    >>> search = HalvingRandomSearchLZO(SVC(), space, n_candidates=9, random_state=0).fit(X, y)
    >>> search.n_resources_, search.n_candidates_
    ([30, 150], [9, 3])
    """

    def __init__(
        self,
        estimator: Any,
        param_distributions: Any,
        *,
        n_candidates: Any = "exhaust",
        factor: float = 3,
        resource: str = ROWS,
        max_resources: Any = "auto",
        min_resources: Any = "smallest",
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
        super().__init__(
            estimator,
            augmenter=augmenter,
            n_replicates=n_replicates,
            validation_size=validation_size,
            unseen=unseen,
            scoring=scoring,
            refit=refit,
            select=select,
            confirm=confirm,
            confirm_cv=confirm_cv,
            error_score=error_score,
            return_train_score=return_train_score,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            journal=journal,
            timeout=timeout,
            time_budget=time_budget,
            memory_limit=memory_limit,
        )
        self.param_distributions = param_distributions
        self.n_candidates = n_candidates
        self.factor = factor
        self.resource = resource
        self.max_resources = max_resources
        self.min_resources = min_resources

    def _strategy(
        self, planner: Planner, target: AnyArray, root: np.random.SeedSequence
    ) -> HalvingStrategy:
        smallest = self._smallest(target)
        n_candidates = self._count(smallest, self._most(len(target)))
        seed = integer_seed(root, "proposals")
        for params in sampled(self.param_distributions, n_candidates, seed, "n_candidates", self):
            planner.candidate(self.estimator, _without(self.resource, params, self))
        return self._halving(planner, target, root, smallest)

    def _count(self, smallest: int, most: int) -> int:
        if is_count(self.n_candidates):
            return int(self.n_candidates)
        if self.n_candidates != "exhaust" or self._exhaust:
            raise ValueError(
                'n_candidates of HalvingRandomSearchLZO must be a positive int or "exhaust", and '
                f'an int where min_resources is "exhaust", got {self.n_candidates!r}. Use 27.'
            )
        return max(1, most // smallest)


def _without(resource: str, params: dict[str, Any], search: Any) -> dict[str, Any]:
    if resource in params:
        raise ValueError(
            f"{resource!r} is the resource of {type(search).__name__} and cannot be searched too. "
            "Take it out of the grid."
        )
    return params
