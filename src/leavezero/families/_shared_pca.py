"""One decomposition for all numbers of components that are asked of PCA."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA

from leavezero._tables import is_pandas
from leavezero._typing import Table
from leavezero.families._together import hand_on

WHOLE = ("auto", "covariance_eigh", "full")  # solvers that find all components, or may
# Shapes by which "auto" chooses: many rows a column and few columns, small, or neither.
TALL, NARROW, SMALL, MOST = 10, 1_000, 500, 0.8
UNSURE = 1e-6  # shares of variance so close may be counted differently by releases and precisions

_EACH = ("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_")


def is_cuttable(step: Any) -> bool:
    """Tell whether a step is a PCA that may be the first components of another.

    Subclasses are not, nor is one that overwrites its rows or guesses its number ("mle").

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> is_cuttable(PCA(3)), is_cuttable(PCA(0.9)), is_cuttable(PCA(3, svd_solver="randomized"))
    (True, True, False)
    """
    if type(step) is not PCA or step.svd_solver not in WHOLE or step.copy is not True:
        return False
    number = step.n_components
    if number is None or _is_share(number):
        return True
    is_count = isinstance(number, int | np.integer) and not isinstance(number, bool)
    return is_count and bool(number >= 1)


def without_number(pca: Any) -> Any:
    """Return an unfitted copy that asks for all components."""
    return clone(pca).set_params(n_components=None)


def number_asked(pca: Any) -> tuple[float, str]:
    """Return the number of components, to be sorted by, and as it was written."""
    number = pca.n_components
    return np.inf if number is None else float(number), repr(number)


def fit_transform_many(pcas: Sequence[Any], rows: Table) -> list[Table]:
    """Fit PCAs that differ in their number of components; return what each makes of the rows.

    Bit for bit what plain fits learn and make. Those with a solver whose answer depends on the
    number are fitted plainly.
    """
    solvers = [_whole_solver(pca, rows) for pca in pcas]
    if len(pcas) - solvers.count(None) < 2:
        return [pca.fit_transform(rows) for pca in pcas]
    whole = without_number(pcas[0])
    # The singular vectors of the rows are what a plain fit by SVD hands on, not a product.
    by_svd = "full" in solvers
    made = whole.fit_transform(rows) if by_svd else whole.fit(rows)
    results = []
    for pca, solver in zip(pcas, solvers, strict=True):
        number = None if solver is None else _count(pca.n_components, whole)
        if number is None:
            results.append(pca.fit_transform(rows))
            continue
        _cut(whole, pca, number)
        results.append(_first_columns(made, number) if by_svd else pca.transform(rows))
    return results


def transform_many(pcas: Sequence[Any], rows: Table) -> list[Table]:
    """Return what fitted PCAs make of rows, cut from what the largest of them makes.

    Equal to what each makes by itself up to rounding. One that is not the beginning of the largest
    is asked by itself.
    """
    largest = max(pcas, key=lambda pca: len(pca.components_))
    made = largest.transform(rows)
    return [
        _first_columns(made, len(pca.components_)) if _begins(pca, largest) else pca.transform(rows)
        for pca in pcas
    ]


def _is_share(number: Any) -> bool:
    """Tell whether a number of components is given as a share of variance."""
    return isinstance(number, float) and 0.0 < number < 1.0


def _whole_solver(pca: Any, rows: Table) -> str | None:
    """Return the solver that a PCA takes for rows; None if it does not find all components."""
    n_rows, n_columns = np.shape(rows)
    solver = pca.svd_solver
    if solver == "auto":
        solver = None if sparse.issparse(rows) else _auto(pca.n_components, n_rows, n_columns)
    # With fewer rows than columns the covariance has more components than are handed out.
    return None if solver == "covariance_eigh" and n_rows < n_columns else solver


def _auto(number: Any, n_rows: int, n_columns: int) -> str | None:
    """Return what "auto" is for so many dense rows, as scikit-learn documents it."""
    if n_columns <= NARROW and n_rows >= TALL * n_columns:
        return "covariance_eigh"
    few = number is not None and 1 <= number < MOST * min(n_rows, n_columns)
    return None if few and max(n_rows, n_columns) > SMALL else "full"


def _count(number: Any, whole: Any) -> Any:
    """Return how many components are meant; None if that is not clear, or more than there are."""
    most = len(whole.components_)
    if number is None:
        return most
    if not _is_share(number):
        return number if number <= most else None
    shares = np.cumsum(whole.explained_variance_ratio_, dtype=np.float64)
    clear = np.abs(shares - number).min() > UNSURE  # not so where there is no variance at all
    return np.searchsorted(shares, number, side="right") + 1 if clear else None


def _cut(whole: Any, pca: Any, number: Any) -> None:
    """Give a PCA the first components of the whole decomposition."""
    rest = whole.explained_variance_[number:]
    learned: dict[str, Any] = {name: np.array(getattr(whole, name)[:number]) for name in _EACH}
    learned["n_components_"] = number
    learned["noise_variance_"] = np.mean(rest) if len(rest) else 0.0
    hand_on(whole, pca, learned)


def _begins(pca: Any, largest: Any) -> bool:
    """Tell whether a fitted PCA is the beginning of the largest."""
    number = len(pca.components_)
    return np.array_equal(pca.mean_, largest.mean_) and all(
        np.array_equal(getattr(pca, name), getattr(largest, name)[:number])
        for name in ("components_", "explained_variance_")
    )


def _first_columns(rows: Table, number: int) -> Table:
    return rows.iloc[:, :number] if is_pandas(rows) else rows[:, :number]
