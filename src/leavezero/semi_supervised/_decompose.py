"""Two eigendecompositions of a kernel, which serve every gamma and offset.

With the kernel matrix K = U diag(e) U', its row sums D and P = K^1/2 D^-1 K^1/2, SMIR (Niu et al.
2013, equation 6) is kernel ridge regression of the labels with the kernel

    C = P (lambda I - (gamma c / n) P)^-1,

because its values are f = K^1/2 D^-1/2 A and its penalty is A' (lambda I - (gamma c / n) M) A with
M = D^-1/2 K D^-1/2, whose spectrum is that of P. In the basis U the second decomposition is that
of diag(e)^1/2 U' D^-1 U diag(e)^1/2, no larger than the rank of K.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils import gen_batches

from leavezero._typing import Floats, Ints
from leavezero.semi_supervised._kernels import Kernel, rectangles, square

DEGREE_ROWS = 10_000  # of which the row sums are estimated when there are more
_DIAGONAL_ROWS = 256  # small squares, of which only the diagonal is used
_NOT_PSD = 1e-6  # a smallest eigenvalue below minus this share of the largest is no rounding


@dataclass(frozen=True, eq=False)
class Decomposition:
    """A kernel matrix of rank r, or its approximation, ready for any gamma and offset.

    Parameters
    ----------
    basis : array of shape (n_support, r)
        The kernel of any rows with the support, times the basis, are the rows' coordinates,
        whose inner products are the kernel. If exact, the support is all rows.
    values : array of shape (r,)
        e, the eigenvalues of K: squared lengths of the coordinates' columns.
    inverse_degrees : array of shape (r, r)
        U' D^-1 U.
    rotation, spectrum : arrays of shape (r, r) and (r,)
        Eigenvectors and eigenvalues of P in the basis U; the latter are in [0, 1].
    totals : array of shape (r,)
        U' 1.
    n_rows : int
        n, all rows.
    exact : bool
        Whether it is the kernel matrix itself.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.semi_supervised import decompose
    >>> decompose(np.array([[1.0, 0.5], [0.5, 1.0]])).spectrum.round(6).tolist()
    [0.333333, 1.0]
    """

    basis: Floats = field(repr=False)
    values: Floats = field(repr=False)
    inverse_degrees: Floats = field(repr=False)
    rotation: Floats = field(repr=False)
    spectrum: Floats = field(repr=False)
    totals: Floats = field(repr=False)
    n_rows: int
    exact: bool


def decompose(matrix: Any) -> Decomposition:
    """Return the decomposition of a kernel matrix of non-negative numbers.

    Parameters
    ----------
    matrix : array of shape (n_rows, n_rows)
        Symmetric and positive semi-definite.

    Returns
    -------
    Decomposition

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.semi_supervised import decompose
    >>> decompose(np.ones((3, 3))).values.round(6).tolist()
    [3.0]
    """
    return decompose_checked(square(Kernel("precomputed"), np.asarray(matrix, dtype=np.float64)))


def decompose_checked(matrix: Floats) -> Decomposition:
    """Return the decomposition of a checked matrix."""
    degrees = matrix.sum(axis=1)
    values, vectors = np.linalg.eigh(matrix)
    rank = _rank(values)
    values, vectors = values[-rank:], vectors[:, -rank:]
    scaled = vectors * np.sqrt(_inverse(degrees))[:, None]
    inverse_degrees, totals = scaled.T @ scaled, vectors.sum(axis=0)
    vectors /= np.sqrt(values)
    return _finish(vectors, values, inverse_degrees, totals, len(degrees), exact=True)


def approximate(
    kernel: Kernel, rows: Any, landmarks: Ints, rng: np.random.Generator
) -> Decomposition:
    """Return the decomposition of the Nyström approximation of a kernel matrix.

    The approximation is K_nm K_mm^+ K_mn with m landmarks. Neither it nor K is ever stored: sums
    over rows are made in blocks. The row sums D are the kernel's own, not the approximation's,
    which may be near zero or below it far from the landmarks. Beyond 10,000 rows they are
    estimated from as many random rows, and made larger by one factor if the objective would not
    be convex with them.

    Parameters
    ----------
    kernel : Kernel
    rows : array or sparse matrix of shape (n_rows, n_features)
    landmarks : array of int
        Positions of the rows that represent all.
    rng : numpy.random.Generator
        For the rows that the row sums are estimated from.

    Returns
    -------
    Decomposition

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.semi_supervised._decompose import approximate
    >>> from leavezero.semi_supervised._kernels import Kernel
    >>> rows = np.linspace(0, 1, 9)[:, None]
    >>> half = approximate(Kernel("rbf"), rows, np.arange(0, 9, 2), np.random.default_rng(0))
    >>> half.n_rows, half.basis.shape[0], half.exact
    (9, 5, False)
    """
    support = support_rows(kernel, rows, landmarks)
    values, vectors = np.linalg.eigh(_between_landmarks(kernel, rows, support))
    rank = _rank(values)
    to_features = vectors[:, -rank:] / np.sqrt(values[-rank:])
    inverse = _inverse(_degrees(kernel, rows, rng))
    products, weighted = np.zeros((rank, rank)), np.zeros((rank, rank))
    totals = np.zeros(rank)
    for batch, block in rectangles(kernel, rows, support, len(landmarks)):
        features = block @ to_features
        products += features.T @ features
        scaled = features * np.sqrt(inverse[batch])[:, None]
        weighted += scaled.T @ scaled
        totals += features.sum(axis=0)
    values, turn = np.linalg.eigh(products)
    rank = _rank(values)
    values, turn = values[-rank:], turn[:, -rank:]
    to_vectors = turn / np.sqrt(values)
    return _finish(
        to_features @ turn,
        values,
        to_vectors.T @ weighted @ to_vectors,
        to_vectors.T @ totals,
        rows.shape[0],
        exact=False,
    )


def support_rows(kernel: Kernel, rows: Any, landmarks: Ints) -> Any:
    """Return what the kernel is computed with: rows, or positions in a given kernel."""
    return landmarks if kernel.kind == "precomputed" else rows[landmarks]


def vectors_at(
    decomposition: Decomposition, kernel: Kernel, rows: Any, support: Any, positions: Ints
) -> Floats:
    """Return the rows of U at some positions of the table."""
    roots = np.sqrt(decomposition.values)
    if decomposition.exact:
        return np.asarray(decomposition.basis[positions] * roots)
    return kernel.between(rows[positions], support) @ (decomposition.basis / roots)


def _between_landmarks(kernel: Kernel, rows: Any, support: Any) -> Floats:
    if kernel.kind == "precomputed":
        return square(kernel, rows[support][:, support])
    return square(kernel, support)


def _degrees(kernel: Kernel, rows: Any, rng: np.random.Generator) -> Floats:
    """Return the row sums of the kernel: exact, or n times a mean over random other rows."""
    n_rows = rows.shape[0]
    if n_rows <= DEGREE_ROWS:
        return _row_sums(kernel, rows, np.arange(n_rows))
    chosen = np.sort(rng.choice(n_rows, DEGREE_ROWS, replace=False))
    others = _row_sums(kernel, rows, chosen)
    # A row's own entry is the largest, so that a sum without it may be near zero.
    own = _diagonal(kernel, rows)
    others[chosen] -= own[chosen]
    counts = np.full(n_rows, len(chosen))
    counts[chosen] -= 1
    return np.asarray(own + np.maximum(others, 0.0) * (n_rows - 1) / counts)


def _row_sums(kernel: Kernel, rows: Any, chosen: Ints) -> Floats:
    support = support_rows(kernel, rows, chosen)
    blocks = rectangles(kernel, rows, support, len(chosen))
    return np.concatenate([block.sum(axis=1) for _, block in blocks])


def _diagonal(kernel: Kernel, rows: Any) -> Floats:
    if kernel.kind == "precomputed":
        return np.asarray(rows.diagonal(), dtype=np.float64)
    some = [rows[batch] for batch in gen_batches(rows.shape[0], _DIAGONAL_ROWS)]
    return np.concatenate([np.diagonal(kernel.between(part, part)) for part in some])


def _finish(
    basis: Floats,
    values: Floats,
    inverse_degrees: Floats,
    totals: Floats,
    n_rows: int,
    exact: bool,
) -> Decomposition:
    roots = np.sqrt(values)
    spectrum, rotation = np.linalg.eigh(inverse_degrees * roots * roots[:, None])
    top = max(1.0, float(spectrum[-1]))
    return Decomposition(
        basis,
        values,
        inverse_degrees / top,
        rotation,
        np.maximum(spectrum / top, 0.0),
        totals,
        n_rows,
        exact,
    )


def _rank(values: Floats) -> int:
    """Return how many of the ascending eigenvalues are not rounding."""
    largest = float(values[-1])
    if largest <= 0:
        raise ValueError("kernel of SMIRClassifier must have entries above 0, got none.")
    if values[0] < -_NOT_PSD * largest:
        raise ValueError(
            "kernel of SMIRClassifier must be positive semi-definite, got the eigenvalues "
            f"{values[0]:.3g} to {largest:.3g}."
        )
    return int((values > len(values) * np.finfo(np.float64).eps * largest).sum())


def _inverse(degrees: Floats) -> Floats:
    """Return 1 / D, 0 for a row that is like none, not even itself, as an empty text."""
    return np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0)
