"""Leave-one-out log-likelihood of kernel densities and Gaussian mixtures, from one fit."""

from typing import Any, ClassVar

import numpy as np
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.metrics import pairwise_distances_chunked
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
from sklearn.neighbors import KernelDensity

from leavezero._typing import Floats, Ints
from leavezero.unsupervised._unsupervised_score import UnsupervisedScore

METRICS = ("euclidean", "manhattan", "chebyshev", "minkowski")
TINY = np.finfo(float).tiny
KERNELS = {  # logarithm of the share of the largest value, by distance / bandwidth
    "gaussian": lambda u: -0.5 * u**2,
    "exponential": lambda u: -u,
    "tophat": lambda u: np.log(u < 1),
    "epanechnikov": lambda u: np.log(np.maximum(1 - u**2, 0)),
    "linear": lambda u: np.log(np.maximum(1 - u, 0)),
    "cosine": lambda u: np.log(np.cos(np.pi / 2 * np.minimum(u, 1)) * (u < 1)),
}
BLOCK_CELLS = 2**22  # rows times components times columns that are in memory at once
UNBOUNDED = ("gaussian", "exponential")  # kernels of which a tree skips few pairs of rows
DIRECT_ROWS = 5_000  # up to these, sums over all pairs of rows are then faster
CANCELLATION = 1e-6  # below this share of a row's own kernel, the others are summed one by one


class DensityScore(UnsupervisedScore):
    """Leave-one-out log-likelihood of `KernelDensity` and Gaussian mixtures.

    For each row, the logarithm of the density that the other rows give it; the score is the mean.
    Copies of a row are left out with it, since they would favor the smallest bandwidth.

    Notes
    -----
    It is exact for `KernelDensity`: the row's own kernel is subtracted. The bandwidth is kept, also
    if it is computed from the data. Of a Gaussian mixture, the row is taken out of the
    weights, means and covariances of all components by its responsibilities, as one M step without
    the row does; sums of responsibilities are replaced by sums of their squares, since those of the
    other rows would change as well.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import KernelDensity
    >>> from leavezero import GridSearchLZO
    >>> X = np.random.default_rng(0).normal(size=(200, 1))
    >>> search = GridSearchLZO(KernelDensity(), {"bandwidth": [0.01, 0.3, 3.0]}).fit(X)
    >>> search.best_params_, search.n_fits_
    ({'bandwidth': 0.3}, 3)
    """

    name: ClassVar[str] = "leave-one-out log-likelihood"
    per_row: ClassVar[bool] = True
    not_finite: ClassVar[str] = (
        "Some row has a density of zero without itself: use larger bandwidths, or a Gaussian "
        "kernel."
    )

    def handles(self, estimator: Any) -> bool:
        """Return True for kernel densities, by a norm, and for Gaussian mixtures."""
        if isinstance(estimator, KernelDensity):
            return estimator.metric in METRICS
        return isinstance(estimator, GaussianMixture | BayesianGaussianMixture)

    def score(self, model: Any, X: Floats, rng: np.random.Generator) -> Floats:
        """Return the leave-one-out log-density of each row."""
        _, kind, counts = np.unique(X, axis=0, return_inverse=True, return_counts=True)
        kind = kind.ravel()  # NumPy 2.0 returns a column
        if isinstance(model, KernelDensity):
            return _kernel_log_densities(model, X, kind, counts[kind])
        return _mixture_log_densities(model, X, counts[kind])


def _kernel_log_densities(model: KernelDensity, X: Floats, kind: Ints, copies: Ints) -> Floats:
    """Return ``log((n f(x) - c K(0)) / (n - c))``: c copies of a row, each with the kernel K."""
    kernel = clone(model).set_params(bandwidth=model.bandwidth_).fit(np.zeros((1, X.shape[1])))
    own = kernel.score_samples(np.zeros((1, X.shape[1])))[0]
    if model.kernel in UNBOUNDED and len(X) <= DIRECT_ROWS:
        return own + _sums_of_kernels(model, X, np.arange(len(X)), kind) - np.log(len(X) - copies)
    # Both terms relative to the kernel's largest value.
    others = len(X) * np.exp(model.score_samples(X) - own) - copies
    values = own + np.log(np.maximum(others, CANCELLATION))
    rows = np.flatnonzero(others < CANCELLATION * copies)
    if len(rows):
        values[rows] = own + _sums_of_kernels(model, X, rows, kind)
    return values - np.log(len(X) - copies)


def _sums_of_kernels(model: KernelDensity, X: Floats, rows: Ints, kind: Ints) -> Floats:
    """Return the logarithm of the sum of the other rows' kernels at some rows, one by one."""
    options = {} if model.metric_params is None else model.metric_params

    def sums(distances: Floats, start: int) -> Floats:
        with np.errstate(divide="ignore"):
            terms = KERNELS[model.kernel](distances / model.bandwidth_)
        terms[kind[rows[start : start + len(distances)], None] == kind] = -np.inf
        return logsumexp(terms, axis=1)

    chunks = pairwise_distances_chunked(
        X[rows], X, reduce_func=sums, metric=model.metric, working_memory=16, **options
    )
    return np.concatenate(list(chunks))


def _mixture_log_densities(model: Any, X: Floats, copies: Ints) -> Floats:
    """Return the log-density of each row by the model, minus the share of its copies in it."""
    shares = model.predict_proba(X)
    sums = shares.sum(axis=0), np.maximum((shares**2).sum(axis=0), TINY)
    found = model.score_samples(X)
    size = max(1, BLOCK_CELLS // model.means_.size)
    for start in range(0, len(X), size):
        rows = slice(start, start + size)
        taken = shares[rows] * copies[rows, None]
        for sign, removed in ((-1, np.zeros_like(taken)), (1, taken)):
            found[rows] += sign * _gaussian_log_densities(model, X[rows], removed, len(X), *sums)
    return found


def _gaussian_log_densities(
    model: Any, X: Floats, removed: Floats, n_rows: int, totals: Floats, sizes: Floats
) -> Floats:
    """Return the log-density of each row after its responsibilities r are taken out.

    A component has a mean of precision b and a covariance S of v degrees of freedom: the sum of
    squared responsibilities, plus a prior's. A row at offset d from the mean is taken out by
    ``x - mean' = b / (b - r) d`` and ``(v - r) S' = v S - r b / (b - r) d d'``. One M step without
    the row has sums of responsibilities instead of squares, which are the information that is left
    when it is unknown which component a row is from.
    """
    n_columns = X.shape[1]
    rest = totals - sizes  # what the squares lack
    precisions = getattr(model, "mean_precision_", totals) - rest
    is_tied = model.covariance_type == "tied"
    freedoms: Any = getattr(model, "degrees_of_freedom_", n_rows if is_tied else totals)
    freedoms = freedoms if is_tied else freedoms - rest
    offsets = X[:, None, :] - model.means_  # rows, components, columns
    left = removed.sum(axis=1, keepdims=True) if is_tied else removed
    without_row = {"full": _full, "tied": _tied}.get(model.covariance_type, _diagonal)
    weights = np.maximum(n_rows * model.weights_ - removed, 0)
    # A component of this row alone has no covariance without it, and no share in the density.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        stretch = precisions / np.maximum(precisions - removed, TINY)
        downdate = removed * stretch / freedoms
        scale = freedoms / np.maximum(freedoms - left, TINY)
        log_det, squares = without_row(model.covariances_, offsets, downdate)
        log_det = log_det + n_columns * np.log(2 * np.pi * scale)
        terms = np.log(weights) - 0.5 * (log_det + stretch**2 / scale * squares)
    terms = np.where(np.isfinite(terms), terms, -np.inf)
    return logsumexp(terms, axis=1) - np.log(weights.sum(axis=1))


def _full(covariances: Floats, offsets: Floats, downdate: Floats) -> tuple[Floats, Floats]:
    """Return ``log |S - c d d'|`` and ``d' (S - c d d')^-1 d`` of rows and components."""
    factors = np.linalg.cholesky(covariances)
    whitened = np.linalg.solve(factors, offsets.transpose(1, 2, 0))
    squares = (whitened**2).sum(axis=1).T
    diagonals = np.diagonal(factors, axis1=1, axis2=2)
    left = 1 - downdate * squares  # matrix determinant lemma, Sherman and Morrison
    return 2 * np.log(diagonals).sum(axis=1) + np.log(left), squares / left


def _diagonal(covariances: Floats, offsets: Floats, downdate: Floats) -> tuple[Floats, Floats]:
    """Return the same for one variance per column, or one per component."""
    squares = offsets**2
    is_spherical = covariances.ndim == 1
    variances = covariances[:, None] if is_spherical else covariances
    taken = squares.mean(axis=2, keepdims=True) if is_spherical else squares
    left = np.broadcast_to(variances - downdate[:, :, None] * taken, squares.shape)
    return np.log(left).sum(axis=2), (squares / left).sum(axis=2)


def _tied(covariance: Floats, offsets: Floats, downdate: Floats) -> tuple[Floats, Floats]:
    """Return the same for one covariance, out of which a row is taken in all components."""
    log_det, squares = np.empty((len(offsets), 1)), np.empty(offsets.shape[:2])
    for row, (own, share) in enumerate(zip(offsets, downdate, strict=True)):
        left = covariance - (own.T * share) @ own
        sign, log_det[row] = np.linalg.slogdet(left)
        if sign <= 0:
            log_det[row], squares[row] = np.inf, 0
            continue
        squares[row] = (own * np.linalg.solve(left, own.T).T).sum(axis=1)
    return log_det, squares
