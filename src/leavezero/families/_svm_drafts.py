"""Support vector machines solved together, which answer before any of them is fitted.

A draft has what a fit learns and says what the fitted machine would say, but only LIBSVM makes a
machine of the user's class: the draft that wins is fitted.
"""

from collections import defaultdict
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.svm import SVC, SVR, NuSVC, NuSVR
from sklearn.utils.validation import validate_data

from leavezero._tables import count_rows
from leavezero._typing import AnyArray, Floats, Ints, Table
from leavezero.families._fitted_to import fitted_weights
from leavezero.families._interior import solve_linear
from leavezero.families._shared_svm import (
    note_gamma,
    remember,
    said_together,
    scattered_coefs,
)
from leavezero.families._svm_kernel import is_positive, kernel_gamma, kernel_values
from leavezero.families._svm_pairs import Learned, classes_of
from leavezero.families._svm_path import KernelPath
from leavezero.families._together import fit_one, own_params, settings_key

FEWEST = 4  # machines, so that fitting one of them again is little
SHORT = 500  # rows, below which a fit is a matter of milliseconds
MOST_COLUMNS = 500  # of a system that takes a step over all rows


class Draft:
    """What one machine has learned, without LIBSVM's own object."""

    width: float
    support_: Ints
    counts: Ints
    sums: Floats | None = None  # of the given rows, a column for each score: all but the intercept

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
        solved = [_solved_planes(draft, rows, y, weights) for draft in drafts]
    elif _has_room(estimators, n_rows):
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


def _has_room(estimators: list[Any], n_rows: int) -> bool:
    """Tell whether the kernel of all rows is no larger than what LIBSVM may keep of it."""
    room = min(float(estimator.cache_size) for estimator in estimators)  # MiB
    return 8 * n_rows**2 <= room * 2**20


def _blank(estimator: Any, X: Table) -> Any:
    draft = DRAFTS[type(estimator)](**own_params(estimator))
    _rows(draft, X)
    return draft


def _rows(draft: Any, X: Table) -> Floats:
    """Return the rows as the fit takes them, and let the draft know their columns."""
    return np.asarray(validate_data(draft, X, dtype=np.float64, order="C"))


def _learn(draft: Any, rows: Floats, learned: Learned) -> None:
    """Give a draft what its machine has learned."""
    draft.support_, draft.support_vectors_ = learned.support_, rows[learned.support_]
    draft.counts, draft.shape_fit_ = learned.n_support_, rows.shape
    draft.dual_coef_, draft.intercept_ = learned.dual_coef_, learned.intercept_
    if learned.classes_ is not None:
        draft.classes_, draft.class_weight_ = learned.classes_, learned.class_weight_
    draft.width = kernel_gamma(draft, rows)


def _solved_by_kernel(
    drafts: list[Any], rows: Floats, y: AnyArray, sample_weight: Floats | None
) -> list[bool]:
    """Solve all machines on one kernel matrix, from the smallest penalty to the largest."""
    first = drafts[0]
    kernel = kernel_values(first, rows, rows, kernel_gamma(first, rows))
    begin = partial(KernelPath, kernel, y, sample_weight, is_positive(first))
    paths: defaultdict[Any, KernelPath] = defaultdict(begin)
    for draft in sorted(drafts, key=_penalty):
        path = paths[settings_key(draft, "C") or draft]
        _learn(draft, rows, path.learned(_plain(draft)))
    coefs = [scattered_coefs(draft, draft.support_, len(rows)) for draft in drafts]
    ends = np.cumsum([own.shape[1] for own in coefs])
    for draft, sums in zip(
        drafts, np.split(kernel @ np.hstack(coefs), ends[:-1], axis=1), strict=True
    ):
        draft.sums = sums
    return [True] * len(drafts)


def _penalty(draft: Any) -> float:
    return float(getattr(draft, "C", 0.0))


def _plain(draft: Any) -> Any:
    """Return an unfitted machine of scikit-learn's class with a draft's parameters."""
    kind = next(kind for kind, drafted in DRAFTS.items() if type(draft) is drafted)
    return kind(**own_params(draft))


def _solved_planes(draft: Any, rows: Floats, y: AnyArray, weights: Floats) -> bool:
    """Solve a linear machine by an interior point method; tell whether that went well."""
    problem = classes_of(draft, y, weights) if draft.max_iter == -1 else None
    if problem is None:
        return False
    planes = []
    for pair in problem.pairs:
        plane = solve_linear(rows[pair.rows], pair.signs, pair.bounds, draft.tol)
        if plane is None:
            return False
        planes.append(plane)
    _learn(draft, rows, problem.learned(planes))
    return True
