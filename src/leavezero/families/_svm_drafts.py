"""Support vector machines solved together, which answer before any of them is fitted.

A draft has what a fit learns and says what the fitted machine would say, but only LIBSVM makes a
machine of the user's class: the draft that wins is fitted.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import config_context
from sklearn.base import is_classifier
from sklearn.svm import SVC, SVR, NuSVC, NuSVR
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import validate_data

from leavezero._tables import count_rows
from leavezero._typing import AnyArray, Floats, Ints, Table
from leavezero.families._fitted_to import fitted_weights
from leavezero.families._interior import solve_linear
from leavezero.families._shared_svm import note_gamma, remember, said_together
from leavezero.families._svm_kernel import kernel_gamma, kernel_values
from leavezero.families._svm_votes import dense_coefs
from leavezero.families._together import fit_one, settings_key

FEWEST = 4  # machines, so that fitting one of them again is little
SHORT = 500  # rows, below which a fit is a matter of milliseconds
KERNEL_CELLS = 2**23  # of the kernel of all rows: 64 MiB
MOST_COLUMNS = 500  # of a system that takes a step over all rows
BELOW_BOUND = 1.0 - 1e-9


class Draft:
    """What one machine has learned, without LIBSVM's own object."""

    width: float
    support_: Ints
    counts: Ints

    @property
    def n_support_(self) -> Ints:
        """The number of support vectors of each class."""
        return self.counts

    def predict(self, X: Table) -> AnyArray:
        """Return labels, or numbers of a regression."""
        return self._said(X, "predict")

    def decision_function(self, X: Table) -> AnyArray:
        """Return decision values."""
        return self._said(X, "decision_function")

    def _said(self, X: Table, method: str) -> AnyArray:
        note_gamma(self, self.width)
        said = said_together([self], X)
        if said is None:
            raise ValueError(f"{type(self).__name__} has learned from rows of another kind.")
        return said[0][method]


class DraftSVC(Draft, SVC):
    """A draft of SVC."""


class DraftNuSVC(Draft, NuSVC):
    """A draft of NuSVC."""


class DraftSVR(Draft, SVR):
    """A draft of SVR."""


class DraftNuSVR(Draft, NuSVR):
    """A draft of NuSVR."""


DRAFTS: dict[type, type] = {SVC: DraftSVC, NuSVC: DraftNuSVC, SVR: DraftSVR, NuSVR: DraftNuSVR}


def draft_together(
    estimators: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None
) -> list[Any] | None:
    """Return machines of one kernel, solved but not fitted; None where plain fits cost no more.

    A machine that cannot be solved so is fitted plainly.
    """
    n_rows = count_rows(X)
    if len(estimators) < FEWEST or n_rows < SHORT or sparse.issparse(X):
        return None
    if any(getattr(one, "probability", False) is True for one in estimators):
        return None
    weights = fitted_weights(sample_weight, n_rows)
    if np.any(weights <= 0.0):  # such rows are no rows
        return None
    drafts = [_blank(estimator, X) for estimator in estimators]
    rows = _rows(drafts[0], X)
    if _pays_by_planes(estimators[0], rows, y):
        solved = [_solved_plane(draft, rows, y, weights) for draft in drafts]
    elif n_rows**2 <= KERNEL_CELLS:
        solved = _solved_by_kernel(drafts, rows, y, sample_weight)
    else:
        return None
    models = [
        draft if done else fit_one(estimator, X, y, sample_weight)
        for draft, done, estimator in zip(drafts, solved, estimators, strict=True)
    ]
    remember(models, rows)
    return models


def _pays_by_planes(estimator: Any, rows: Floats, y: AnyArray) -> bool:
    """Tell whether linear machines have few columns, and pairs of classes that are not short."""
    if estimator.kernel != "linear" or type(estimator) is not SVC:
        return False
    n_rows, n_columns = rows.shape
    in_a_pair = 2 * n_rows / len(np.unique(np.asarray(y)))
    return n_columns <= min(n_rows, MOST_COLUMNS) and in_a_pair >= SHORT


def _blank(estimator: Any, X: Table) -> Any:
    draft = DRAFTS[type(estimator)](**estimator.get_params(deep=False))
    _rows(draft, X)
    return draft


def _rows(draft: Any, X: Table) -> Floats:
    """Return the rows as the fit takes them, and let the draft know their columns."""
    return np.asarray(validate_data(draft, X, dtype=np.float64, order="C"))


def _learn(draft: Any, rows: Floats, support: Ints, counts: Ints, **learned: Any) -> None:
    """Give a draft what its machine has learned."""
    draft.support_, draft.support_vectors_ = support, rows[support]
    draft.counts, draft.shape_fit_ = counts, rows.shape
    vars(draft).update(learned)
    draft.width = kernel_gamma(draft, rows)


def _solved_by_kernel(
    drafts: list[Any], rows: Floats, y: AnyArray, sample_weight: Floats | None
) -> list[bool]:
    """Let LIBSVM solve all machines on one kernel matrix."""
    first = drafts[0]
    kernel = kernel_values(first, rows, rows, kernel_gamma(first, rows))
    last: dict[Any, tuple[Any, Any]] = {}  # of the machines that differ in C only
    for draft in sorted(drafts, key=_penalty):
        key = settings_key(draft, "C")
        solved = last.get(key)
        if solved is None or not _is_free(*solved, y, sample_weight):
            machine = _plain(draft).set_params(kernel="precomputed")
            with config_context(assume_finite=True):  # as the rows were checked to be
                solved = draft, fit_one(machine, kernel, y, sample_weight)
            last[key] = solved
        machine = solved[1]
        learned = {"dual_coef_": machine.dual_coef_, "intercept_": machine.intercept_}
        if is_classifier(machine):
            learned |= {"classes_": machine.classes_, "class_weight_": machine.class_weight_}
        _learn(draft, rows, machine.support_, machine.n_support_, **learned)
    return [True] * len(drafts)


def _penalty(draft: Any) -> float:
    return float(getattr(draft, "C", 0.0))


def _plain(draft: Any) -> Any:
    """Return an unfitted machine of scikit-learn's class with a draft's parameters."""
    kind = next(kind for kind, drafted in DRAFTS.items() if type(draft) is drafted)
    return kind(**draft.get_params(deep=False))


def _is_free(draft: Any, machine: Any, y: AnyArray, sample_weight: Floats | None) -> bool:
    """Tell whether no row is at its bound, so that a larger bound changes nothing."""
    if isinstance(draft, NuSVC):
        return False
    bounds = fitted_weights(sample_weight, len(y))[machine.support_] * draft.C
    if is_classifier(machine):
        codes = np.repeat(np.arange(len(machine.classes_)), machine.n_support_)
        bounds = bounds * machine.class_weight_[codes]
    return bool(np.all(np.abs(dense_coefs(machine)) < BELOW_BOUND * bounds))


def _solved_plane(draft: Any, rows: Floats, y: AnyArray, weights: Floats) -> bool:
    """Solve a linear machine by an interior point method; tell whether that went well."""
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    if draft.max_iter != -1 or len(classes) < 2:
        return False
    by_class = compute_class_weight(draft.class_weight, classes=classes, y=y)
    bounds = draft.C * weights * by_class[codes]
    planes = _planes(rows, codes, bounds, draft.tol) if np.all(bounds > 0.0) else None
    if planes is None:
        return False
    dual = _dual(codes, len(classes), planes)
    turn = -1.0 if len(classes) == 2 else 1.0  # of two classes the second is above zero
    support = np.flatnonzero(np.any(dual != 0.0, axis=0))
    support = support[np.argsort(codes[support], kind="stable")]
    _learn(
        draft,
        rows,
        support,
        np.bincount(codes[support], minlength=len(classes)),
        classes_=classes,
        class_weight_=by_class,
        dual_coef_=turn * dual[:, support],
        intercept_=turn * np.array([intercept for *_, intercept in planes]),
    )
    return True


def _planes(
    rows: Floats, codes: Ints, bounds: Floats, tol: float
) -> list[tuple[Ints, Floats, float]] | None:
    """Return the rows, coefficients and intercept of each pair of classes; None if one fails."""
    planes: list[tuple[Ints, Floats, float]] = []
    for one, other in combinations(range(int(codes.max()) + 1), 2):
        inside = np.flatnonzero((codes == one) | (codes == other))
        signs = np.where(codes[inside] == one, 1.0, -1.0)
        plane = solve_linear(rows[inside], signs, bounds[inside], tol)
        if plane is None:
            return None
        planes.append((inside, signs * plane.multipliers, plane.intercept))
    return planes


def _dual(codes: Ints, n_classes: int, planes: Sequence[tuple[Ints, Floats, float]]) -> Floats:
    """Return the coefficients of all pairs of classes as LIBSVM lays them out."""
    dual = np.zeros((n_classes - 1, len(codes)))
    pairs = combinations(range(n_classes), 2)
    for (one, other), (inside, coefs, _) in zip(pairs, planes, strict=True):
        against = np.where(codes[inside] == one, other - 1, one)
        dual[against, inside] = coefs
    return dual
