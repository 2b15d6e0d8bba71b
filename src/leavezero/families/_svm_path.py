"""Support vector machines on one kernel matrix, from the smallest penalty to the largest.

LIBSVM is fast while its steps are few. A machine that takes many is solved by active sets, and so
are those of larger penalties, each from where the last one ended. Of several classes each pair is
such a machine; LIBSVM begins all of them as long as it ends some.
"""

import warnings
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, NuSVC

from leavezero._typing import AnyArray, Floats
from leavezero.families._active_set import part_of, solve_kernel
from leavezero.families._fitted_to import fitted_weights
from leavezero.families._svm_pairs import Classes, Learned, classes_of, learned_by
from leavezero.families._together import fit_one, own_params

MANY_STEPS = 3  # a row: so many cost about what the systems of active sets cost
BELOW_BOUND = 1.0 - 1e-9


class KernelPath:
    """Machines that differ in C only, solved one after the other as C grows.

    Parameters
    ----------
    kernel : array of shape (n_rows, n_rows)
    y : array of shape (n_rows,)
    sample_weight : array of shape (n_rows,) or None
    positive : bool
        Whether the kernel is known to be positive semidefinite.
    """

    def __init__(
        self, kernel: Floats, y: AnyArray, sample_weight: Floats | None, positive: bool
    ) -> None:
        self._kernel, self._y, self._sample_weight = kernel, y, sample_weight
        self._weights = fitted_weights(sample_weight, len(y))
        self._positive = positive
        self._last: Learned | None = None
        self._bound = 0.0  # the last machine's C
        self._long = False  # whether LIBSVM has taken many steps for every pair of classes

    def learned(self, machine: Any) -> Learned:
        """Return what a machine of scikit-learn's class learns."""
        if self._last is None or not self._is_free(self._last, machine):
            self._last = self._solved(machine)
            self._bound = getattr(machine, "C", 0.0)
        return self._last

    def _is_free(self, last: Learned, machine: Any) -> bool:
        """Tell whether no row is at its bound, so that a larger bound changes nothing."""
        if isinstance(machine, NuSVC):
            return False
        bounds = self._weights[last.support_] * self._bound
        if last.classes_ is not None and last.class_weight_ is not None:
            codes = np.repeat(np.arange(len(last.classes_)), last.n_support_)
            bounds = bounds * last.class_weight_[codes]
        return bool(np.all(np.abs(last.dual_coef_) < BELOW_BOUND * bounds))

    def _solved(self, machine: Any) -> Learned:
        plain = type(machine) is SVC and machine.max_iter == -1 and self._positive
        problem = classes_of(machine, self._y, self._weights) if plain else None
        if problem is None:
            return learned_by(self._fitted(machine))
        if self._long and self._last is not None:
            done, begun, bound = [False] * len(problem.pairs), self._last, self._bound
        else:
            most = max(int(MANY_STEPS * max(len(pair.rows) for pair in problem.pairs)), 1)
            model = self._fitted(machine, max_iter=most)
            done = (np.atleast_1d(model.n_iter_) < most).tolist()
            begun, bound = learned_by(model), machine.C
            self._long = not any(done)  # else those that are not long would have to be solved too
        found = self._finished(machine, problem, begun, bound / machine.C, done)
        return found or learned_by(self._fitted(machine))

    def _fitted(self, machine: Any, **limits: int) -> Any:
        """Let LIBSVM solve a machine."""
        params: dict[str, Any] = own_params(machine) | {"kernel": "precomputed"} | limits
        copy = type(machine)(**params)
        with config_context(assume_finite=True), warnings.catch_warnings():
            if limits:
                warnings.simplefilter("ignore", ConvergenceWarning)
            return fit_one(copy, self._kernel, self._y, self._sample_weight)

    def _finished(
        self, machine: Any, problem: Classes, begun: Learned, share: float, done: list[bool]
    ) -> Learned | None:
        """Solve the pairs of classes that are not done, from what was begun; None if one fails.

        It was begun with bounds that are a share of the machine's own.
        """
        if all(done):
            return begun
        planes = problem.planes(begun)
        for at, pair in enumerate(problem.pairs):
            if not done[at]:
                start = planes[at].multipliers
                start = np.where(start >= BELOW_BOUND * share * pair.bounds, np.inf, start)
                kernel = self._kernel
                if len(pair.rows) < len(kernel):
                    kernel = part_of(kernel, pair.rows)
                found = solve_kernel(kernel, pair.signs, pair.bounds, start, machine.tol)
                if found is None:
                    return None
                planes[at] = found
        return problem.learned(planes)
