"""Successive halving."""

from collections.abc import Sequence
from math import ceil, floor, log
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import ParameterGrid

from leavezero._random import stream
from leavezero._typing import AnyArray, Ints, RandomState
from leavezero.evaluation import Candidate, CandidateFactory, CandidateResult, Trial
from leavezero.search._base import BaseSearchLZO, common_params
from leavezero.search._grid import sample_params
from leavezero.search._messages import check_parameter, is_count

ROWS = "n_samples"


class HalvingStrategy:
    """Iterations in which the best candidates continue with more resources.

    The last iteration has the most resources: all rows, if rows are the resource. The rows of an
    iteration are a subset of those of the next.
    """

    def __init__(
        self,
        candidates: list[Candidate],
        factor: float,
        resource: str,
        resources: list[int],
        order: Ints,
    ) -> None:
        self._factor = factor
        self._resource = resource
        self._order = order  # an iteration uses the first rows in this order
        self.resources = resources
        self.sizes: list[int] = []
        self._survivors = candidates
        self._row = 0
        n_candidates, self.n_trials = len(self._survivors), 0
        for _ in self.resources:
            self.n_trials += n_candidates
            n_candidates = ceil(n_candidates / factor)

    def ask(self) -> Sequence[Trial]:
        """Return the surviving candidates with the resources of the next iteration."""
        iteration = len(self.sizes)
        if iteration == len(self.resources):
            return []
        self.sizes.append(len(self._survivors))
        trials = [
            self._trial(candidate, iteration, self._row + at)
            for at, candidate in enumerate(self._survivors)
        ]
        self._row += len(trials)
        return trials

    def tell(self, results: Sequence[CandidateResult]) -> None:
        """Keep the best candidates; ties go to the first in canonical order."""
        n_kept = ceil(len(results) / self._factor)
        scores = [-np.inf if np.isnan(r.main_score) else r.main_score for r in results]
        order = sorted(range(len(results)), key=lambda at: (-scores[at], self._survivors[at].key))
        self._survivors = [self._survivors[at] for at in sorted(order[:n_kept])]

    def _trial(self, candidate: Candidate, iteration: int, row: int) -> Trial:
        amount, is_last = self.resources[iteration], iteration == len(self.resources) - 1
        rows = None
        if self._resource != ROWS:
            resource = {self._resource: amount}
            candidate = CandidateFactory("").candidate(
                candidate.estimator,
                {**candidate.settings, **resource},
                {**candidate.params, **resource},
            )
        elif not is_last:
            rows = np.sort(self._order[:amount])
        columns = {"iter": iteration, "n_resources": amount}
        return Trial(candidate, row, rows, may_win=is_last, iteration=iteration, columns=columns)


def schedule(
    n_candidates: int,
    factor: float,
    smallest: int,
    largest: int,
    exhaust: bool,
    aggressive: bool = False,
) -> list[int]:
    """Return the resources of each iteration; the last one has the most.

    There are as many iterations as reduce the candidates to fewer than the factor, unless the
    resources are exhausted before; aggressive elimination then repeats the first one.
    """
    smallest = min(smallest, largest)
    required = n_rounds(n_candidates, factor)
    n_iterations = min(required, n_rounds(largest / smallest, factor))
    if exhaust:
        smallest = max(smallest, int(largest / factor ** (n_iterations - 1)))
    first = [min(largest, int(smallest * factor**at)) for at in range(n_iterations - 1)]
    repeated = [smallest] * (required - n_iterations) if aggressive else []
    return [*repeated, *first, largest]


def n_rounds(ratio: float, factor: float) -> int:
    """Return how often a number can be divided by the factor until it is below it, plus 1."""
    return 1 + floor(log(max(1, ratio), factor) + 1e-9)


def stratified_order(y: AnyArray, is_classification: bool, root: np.random.SeedSequence) -> Ints:
    """Return rows in a random order in which every prefix has each class in proportion."""
    shuffled = stream(root, "halving").permutation(len(y))
    if not is_classification or y.ndim > 1:
        return shuffled
    position = np.empty(len(y))
    for label in np.unique(y):
        rows = shuffled[y[shuffled] == label]
        position[rows] = (np.arange(len(rows)) + 0.5) / len(rows)
    return shuffled[np.argsort(position[shuffled], kind="stable")]


class BaseHalvingLZO(BaseSearchLZO):
    """Base class of the halving searches."""

    factor: float
    resource: str
    min_resources: Any
    max_resources: Any
    aggressive_elimination: bool

    def _halving(
        self, factory: CandidateFactory, y: AnyArray, root: np.random.SeedSequence, smallest: int
    ) -> HalvingStrategy:
        largest = self._largest(len(y))
        is_valid = smallest <= largest or not is_count(self.min_resources)
        check_parameter(self, "min_resources", is_valid, f"at most max_resources ({largest})")
        n_candidates = len(factory.candidates)
        limits = (smallest, largest, self._exhaust, self.aggressive_elimination)
        resources = schedule(n_candidates, self.factor, *limits)
        order = stratified_order(y, is_classifier(self._representative()), root)
        strategy = HalvingStrategy(factory.candidates, self.factor, self.resource, resources, order)
        self.n_resources_ = strategy.resources
        self.n_candidates_ = strategy.sizes
        self.n_iterations_ = len(resources)
        self.n_required_iterations_ = n_rounds(n_candidates, self.factor)
        self.n_possible_iterations_ = n_rounds(largest / resources[0], self.factor)
        self.min_resources_, self.max_resources_ = resources[0], largest
        return strategy

    @property
    def _exhaust(self) -> bool:
        return isinstance(self.min_resources, str) and self.min_resources == "exhaust"

    def _smallest(self, y: AnyArray) -> int:
        """Return the resources of the first iteration."""
        if is_count(self.min_resources):
            return int(self.min_resources)
        is_valid = self.min_resources in ("exhaust", "smallest")
        required = '"exhaust", "smallest" or a positive int'
        check_parameter(self, "min_resources", is_valid, required)
        if self.resource != ROWS:
            return 1
        n_classes = len(np.unique(y)) if is_classifier(self._representative()) else 1
        return min(len(y), 10 * max(2, n_classes))

    def _largest(self, n_rows: int) -> int:
        is_factor = not isinstance(self.factor, bool) and self.factor > 1
        check_parameter(self, "factor", is_factor, "a number above 1")
        if self.resource == ROWS:
            if self.max_resources == "auto":
                return n_rows
            is_valid = is_count(self.max_resources) and self.max_resources <= n_rows
            required = f'"auto" or a positive int of at most {n_rows}, the number of rows'
        else:
            known = sorted(self._representative().get_params())
            required = f"{ROWS!r} or an integer parameter of the estimator ({', '.join(known)})"
            check_parameter(self, "resource", self.resource in known, required)
            is_valid = is_count(self.max_resources)
            required = "a positive int, unless rows are the resource"
        check_parameter(self, "max_resources", is_valid, required)
        return int(self.max_resources)

    @property
    def all_cv_results_(self) -> dict[str, Any]:
        """The results of all iterations, by the name that scikit-learn has from 1.10 on."""
        return self.cv_results_

    @property
    def n_remaining_candidates_(self) -> int:
        """The number of candidates that would continue after the last iteration."""
        return ceil(self.n_candidates_[-1] / self.factor)


class HalvingGridSearchLZO(BaseHalvingLZO):
    """Successive halving over a grid, all iterations scored on the same validation set.

    The first iteration fits all candidates with few resources, a stratified subset of the rows or a
    small value of a parameter such as ``n_estimators``; the best of them continue with more. The
    candidates of the last iteration are fitted on all rows, and the best of them is returned
    without refitting.

    Parameters
    ----------
    estimator : classifier or regressor
        An estimator with scikit-learn's interface.
    param_grid : dict or list of dicts
        See :class:`GridSearchLZO`.
    factor : number, default=3
        One in ``factor`` candidates continues, with ``factor`` times the resources.
    resource : "n_samples" or str, default="n_samples"
        The resource: rows, or an integer parameter of the estimator.
    max_resources : "auto" or int, default="auto"
        The largest amount of the resource. "auto" is all rows, which the last iteration has in any
        case; a parameter requires a number.
    min_resources : "exhaust", "smallest" or int, default="exhaust"
        The resources of the first iteration. "smallest" is 10 rows per class, 20 rows for
        regression, or 1 for a parameter; "exhaust" is as much more as the number of iterations
        allows.
    aggressive_elimination : bool, default=False
        Whether to repeat the first iteration with the best candidates until the resources allow to
        reduce them to fewer than ``factor``.
    {common}

    Attributes
    ----------
    n_resources_, n_candidates_ : list of int
        Of each iteration.
    n_iterations_, n_required_iterations_, n_possible_iterations_ : int
        The number of iterations; how many reduce the candidates to fewer than ``factor``; how many
        the resources allow.
    n_remaining_candidates_ : int
        The number of candidates that would continue after the last iteration.
    min_resources_, max_resources_ : int
        Of the first iteration, and the limit.
    cv_results_, all_cv_results_ : dict of arrays
        One row per candidate and iteration, with the columns ``iter`` and ``n_resources``.
    best_estimator_, best_params_, best_score_, best_index_, selection_
        See :class:`GridSearchLZO`; the best is a candidate of the last iteration.

    See Also
    --------
    GridSearchLZO : All candidates on all rows.

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
        aggressive_elimination: bool = False,
        augmenter: Any = "auto",
        n_replicates: int = 10,
        validation_size: float | str = "auto",
        loo: bool | str = "auto",
        scoring: Any = None,
        refit: Any = True,
        select: Any = "best",
        cv_finalists: int | str = "auto",
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
        pre_dispatch: Any = "2*n_jobs",
    ) -> None:
        super().__init__(**common_params(locals()))
        self.estimator = estimator
        self.param_grid = param_grid
        self.factor = factor
        self.resource = resource
        self.max_resources = max_resources
        self.min_resources = min_resources
        self.aggressive_elimination = aggressive_elimination

    def _strategy(
        self, factory: CandidateFactory, y: AnyArray, root: np.random.SeedSequence
    ) -> HalvingStrategy:
        for params in ParameterGrid(self.param_grid):
            factory.candidate(self.estimator, _without(self.resource, params, self))
        has_candidates = bool(factory.candidates)
        check_parameter(self, "param_grid", has_candidates, "a grid of at least one candidate")
        return self._halving(factory, y, root, self._smallest(y))


class HalvingRandomSearchLZO(BaseHalvingLZO):
    """Successive halving over sampled candidates.

    Like :class:`HalvingGridSearchLZO`, but the candidates are sampled from lists and distributions.

    Parameters
    ----------
    estimator : classifier or regressor
        An estimator with scikit-learn's interface.
    param_distributions : dict or list of dicts
        See :class:`RandomizedSearchLZO`.
    n_candidates : "exhaust" or int, default="exhaust"
        The number of candidates of the first iteration. "exhaust" is the ratio of the largest to
        the smallest resources.
    factor, resource, max_resources
        See :class:`HalvingGridSearchLZO`.
    min_resources : "smallest", "exhaust" or int, default="smallest"
        See :class:`HalvingGridSearchLZO`; "exhaust" requires a number of candidates.
    aggressive_elimination
        See :class:`HalvingGridSearchLZO`.
    {common}

    Attributes
    ----------
    best_estimator_, best_params_, best_score_, best_index_, cv_results_, selection_
        See :class:`HalvingGridSearchLZO`, also for further attributes.

    See Also
    --------
    HalvingGridSearchLZO : All combinations of a grid.

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
        aggressive_elimination: bool = False,
        augmenter: Any = "auto",
        n_replicates: int = 10,
        validation_size: float | str = "auto",
        loo: bool | str = "auto",
        scoring: Any = None,
        refit: Any = True,
        select: Any = "best",
        cv_finalists: int | str = "auto",
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
        pre_dispatch: Any = "2*n_jobs",
    ) -> None:
        super().__init__(**common_params(locals()))
        self.estimator = estimator
        self.param_distributions = param_distributions
        self.n_candidates = n_candidates
        self.factor = factor
        self.resource = resource
        self.max_resources = max_resources
        self.min_resources = min_resources
        self.aggressive_elimination = aggressive_elimination

    def _strategy(
        self, factory: CandidateFactory, y: AnyArray, root: np.random.SeedSequence
    ) -> HalvingStrategy:
        smallest = self._smallest(y)
        n_candidates = self._n_sampled(smallest, self._largest(len(y)))
        space = self.param_distributions
        for params in sample_params(space, n_candidates, root, "n_candidates", self):
            factory.candidate(self.estimator, _without(self.resource, params, self))
        return self._halving(factory, y, root, smallest)

    def _n_sampled(self, smallest: int, largest: int) -> int:
        if is_count(self.n_candidates):
            return int(self.n_candidates)
        is_valid = self.n_candidates == "exhaust" and not self._exhaust
        required = 'a positive int or "exhaust", and an int if min_resources is "exhaust"'
        check_parameter(self, "n_candidates", is_valid, required)
        return max(1, largest // smallest)


def _without(resource: str, params: dict[str, Any], search: Any) -> dict[str, Any]:
    if resource in params:
        raise ValueError(
            f"{resource!r} is the resource of {type(search).__name__} and must not be in the grid."
        )
    return params
