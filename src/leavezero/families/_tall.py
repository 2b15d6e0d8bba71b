"""A Newton step over many sparse rows with many columns, such as texts.

The inverse of the Hessian is found once; x'H^-1 x then needs its entries at pairs of columns that
a row x has, which are few. Single precision is enough where the Hessian's condition says so.
"""

from typing import Any

import numpy as np
from scipy import linalg, sparse

from leavezero._typing import AnyArray, Floats

MANY_COLUMNS = 300  # with fewer, rows that are not sparse are as fast
SPARSE = 8  # times fewer entries than columns
STEADY = 1e-4  # reciprocal condition down to which single precision hardly moves a score
CELLS = 2**18  # pairs of columns at once


def steps_sparse(rows: Any) -> bool:
    """Tell whether rows are sparse enough, and have columns enough, to stay as they are."""
    n_rows, n_columns = rows.shape
    if not sparse.issparse(rows) or not MANY_COLUMNS <= n_columns <= n_rows:
        return False
    return bool(SPARSE * rows.nnz <= n_rows * n_columns)


def solve_tall(
    rows: Any, second: Floats, penalties: Floats, gradient: Floats, pull: Floats | None
) -> tuple[Floats, Floats | None, float]:
    """Return x'H^-1 x for each row x, H^-1 times the pull, and g'H^-1 g.

    Raises LinAlgError where H is not positive.
    """
    rows = sparse.csr_array(rows).sorted_indices()  # a copy: the caller's may not be written to
    curved = rows.copy()
    curved.data *= np.repeat(second, np.diff(rows.indptr))
    hessian = np.asarray((curved.T @ rows).toarray())
    at = np.arange(len(hessian))
    hessian[at, at] += penalties
    factor = _factor(hessian)
    solve_with, inverse_of = linalg.get_lapack_funcs(("potrs", "potri"), (factor,))
    known = [gradient] if pull is None else [gradient, pull]
    solved = solve_with(factor, np.column_stack(known).astype(factor.dtype))[0].astype(np.float64)
    upper = inverse_of(factor, overwrite_c=True)[0]
    decrement = float(gradient @ solved[:, 0])
    return _quadratic_forms(rows, upper), None if pull is None else solved[:, 1], decrement


def _factor(hessian: Floats) -> AnyArray:
    """Return the upper factor of Cholesky, in single precision where that is enough."""
    size = float(np.abs(hessian).sum(axis=0).max(initial=0.0))
    for kind in (np.float32, np.float64):
        matrix = hessian.astype(kind)
        factor_of, condition_of = linalg.get_lapack_funcs(("potrf", "pocon"), (matrix,))
        factor, failed = factor_of(matrix.T, overwrite_a=True)
        if not failed and (kind is np.float64 or condition_of(factor, size)[0] >= STEADY):
            return np.asarray(factor)
    raise linalg.LinAlgError("the Hessian is not positive")


def _quadratic_forms(rows: Any, upper: AnyArray) -> Floats:
    """Return x'Ax for each row x, from the upper triangle of A.

    Rows with as many entries as others are looked at together, some at a time.
    """
    entries, values = upper.ravel(order="F"), rows.data.astype(upper.dtype)
    counts, found = np.diff(rows.indptr), np.zeros(rows.shape[0])
    for count in np.unique(counts[counts > 0]):
        first, second = np.triu_indices(count)
        twice = np.where(first == second, 1, 2).astype(upper.dtype)
        alike, size = np.flatnonzero(counts == count), max(1, CELLS // len(first))
        for some in np.split(alike, range(size, len(alike), size)):
            places = rows.indptr[some][:, None] + np.arange(count)
            columns, own = rows.indices[places].astype(np.intp), values[places]
            cells = columns[:, first] + len(upper) * columns[:, second]
            parts = entries.take(cells), own[:, first], own[:, second] * twice
            found[some] = np.einsum("ij,ij,ij->i", *parts)
    return found
