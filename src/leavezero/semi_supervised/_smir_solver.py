"""Solve squared-loss mutual information regularization (SMIR) for many parameters.

Niu et al. (2013): K is the kernel matrix of n rows, of which l are labeled, D the diagonal matrix
of its row sums, c the number of classes, Y the l x c indicator matrix of the labels, B the n x l
matrix that selects the labeled rows, M = D^-1/2 K D^-1/2 and T = D^-1/2 K^1/2 B. Their equation 6,

    min_A  -tr(Y' T' A) / l + tr(A' T T' A) / (2 l) - gamma c / (2 n) tr(A' M A)
           + lambda / 2 tr(A' A),

is strictly convex for lambda > gamma c / n (theorem 1). The values of the classes are
f = K^1/2 D^-1/2 A at the n rows and k(x)' beta with beta = K^-1/2 D^-1/2 A at any x.

In terms of f this is kernel ridge regression with the kernel C = P (lambda I - (gamma c / n) P)^-1,
P = K^1/2 D^-1 K^1/2, which has the eigenvalues of M. So the eigendecompositions K = U diag(e) U'
and P = U W diag(mu) W' U' do for all gamma and lambda. With Q = U W and
p = 1 / (lambda - gamma c mu / n), each needs one linear system:

    R = Q_l diag(mu p) Q_l'  (C between labeled rows),  Z = (l I + R)^-1 Y,
    f = Q diag(mu p) Q_l' Z.

Niu, Jitkrittum, Dai, Hachiya, Sugiyama (2013). Squared-loss mutual information regularization: a
novel information-theoretic approach to semi-supervised learning. ICML.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_factor, cho_solve

from leavezero._typing import Floats, Ints
from leavezero.semi_supervised._smir_kernels import Kernel
from leavezero.semi_supervised._smir_labels import class_prior

PRIOR_WEIGHT = 1e-8  # times the prior is added to each class's value: decides far from all rows
CANCELLATION = 1e-8  # a class sum below this share of its estimate is a rounding error
NOT_PSD = 1e-6  # a smallest eigenvalue below minus this share of the largest is no rounding error


@dataclass(frozen=True)
class SMIRParams:
    """Parameters that do not change the decomposition; lambda = gamma c / n + offset."""

    gamma: float = 0.1
    offset: float = 1e-6
    prior: str | ArrayLike = "empirical"


@dataclass(frozen=True, eq=False)
class Decomposition:
    """Eigendecompositions of a kernel matrix K of rank r, or of its Nyström approximation, and P.

    The kernel of any rows with the support, times ``basis``, is U diag(e)^1/2 at those rows. If
    exact, the support is all rows.
    """

    basis: Floats  # (n_support, r)
    eigenvalues: Floats  # e
    inverse_degrees: Floats  # U' D^-1 U
    rotation: Floats  # W
    spectrum: Floats  # mu, in [0, 1]
    sums: Floats  # U' 1
    n_rows: int
    exact: bool

    def labeled_rows(self, kernel: Kernel, X: Any, support: Any, rows: Ints) -> "LabeledRows":
        """Return the part of the decomposition that belongs to the labeled rows."""
        roots = np.sqrt(self.eigenvalues)
        if self.exact:
            vectors = self.basis[rows] * roots
        else:
            vectors = kernel.between(X[rows], support) @ (self.basis / roots)
        return LabeledRows(
            vectors @ self.rotation, self.spectrum, self.sums @ self.rotation, self.n_rows
        )

    def values(self, solutions: "Sequence[Solution]") -> list[Floats]:
        """Return f of each solution at all rows of an exact decomposition."""
        stacked = np.hstack([solution.coordinates for solution in solutions])
        values = self.basis @ (self.eigenvalues[:, None] * stacked)
        return np.split(values, len(solutions), axis=1)


@dataclass(frozen=True, eq=False)
class LabeledRows:
    """The part of the decomposition that suffices for R and for held-out values."""

    vectors: Floats  # Q at the labeled rows
    spectrum: Floats  # mu
    sums: Floats  # Q' 1
    n_rows: int

    def inverse_penalties(self, params: SMIRParams, n_classes: int) -> Floats:
        """Return p."""
        bound = params.gamma * n_classes / self.n_rows
        # lambda - bound * mu without cancellation at mu near 1
        penalties = params.offset + bound * (1.0 - np.minimum(self.spectrum, 1.0))
        return np.asarray(1.0 / penalties)


@dataclass(frozen=True, eq=False)
class Solution:
    """The minimizer for one set of parameters, scaled by one factor per class."""

    coef: Floats  # beta
    coordinates: Floats  # diag(e)^-1/2 U' f
    scale: Floats  # factors that make the mean of each class's values its prior
    prior: Floats  # of each class


def decompose(matrix: Floats) -> Decomposition:
    """Return the decomposition of a checked kernel matrix."""
    degrees = matrix.sum(axis=1)
    eigenvalues, vectors = _positive_eigh(matrix)
    scaled = vectors * np.sqrt(_reciprocal(degrees))[:, None]
    inverse_degrees, sums = scaled.T @ scaled, vectors.sum(axis=0)
    vectors = vectors / np.sqrt(eigenvalues)
    return _decomposition(vectors, eigenvalues, inverse_degrees, sums, len(degrees), exact=True)


def decompose_nystrom(
    kernel: Kernel, X: Any, landmarks: Ints, rng: np.random.Generator
) -> Decomposition:
    """Return the decomposition of the Nyström approximation K_nm K_mm^+ K_mn with m landmarks."""
    # Neither the approximation nor K is stored: sums over rows are computed in blocks. D has the
    # row sums of K, because those of the approximation may be near zero or negative.
    support = kernel.support(X, landmarks)
    precomputed = kernel.kind == "precomputed"
    between = kernel.matrix(X[landmarks][:, landmarks] if precomputed else support)
    eigenvalues, vectors = _positive_eigh(between)
    # Rows of K_nm @ to_features are features whose inner products are the approximation.
    to_features = vectors / np.sqrt(eigenvalues)
    inverse = _reciprocal(kernel.degrees(X, rng))
    rank = len(eigenvalues)
    products, weighted, sums = np.zeros((rank, rank)), np.zeros((rank, rank)), np.zeros(rank)
    for batch, block in kernel.blocks(X, support, len(landmarks)):
        features = block @ to_features
        products += features.T @ features
        scaled = features * np.sqrt(inverse[batch])[:, None]
        weighted += scaled.T @ scaled
        sums += features.sum(axis=0)
    eigenvalues, turn = _positive_eigh(products)
    to_vectors = turn / np.sqrt(eigenvalues)
    return _decomposition(
        to_features @ turn,
        eigenvalues,
        to_vectors.T @ weighted @ to_vectors,
        to_vectors.T @ sums,
        X.shape[0],
        exact=False,
    )


def solve(
    decomposition: Decomposition,
    labeled: LabeledRows,
    codes: Ints,
    n_classes: int,
    params: Sequence[SMIRParams],
) -> list[Solution]:
    """Return the minimizer for each set of parameters."""
    Y = np.eye(n_classes)[codes]
    priors = [class_prior(one.prior, codes, n_classes) for one in params]
    scales, turned = [], []
    for one, prior in zip(params, priors, strict=True):
        p = labeled.inverse_penalties(one, n_classes)
        loads = _loads(labeled, p, Y)
        sums = (labeled.sums * labeled.spectrum * p) @ loads
        values = labeled.vectors @ ((labeled.spectrum * p)[:, None] * loads)
        scales.append(class_scale(sums, values, prior, labeled.n_rows))
        turned.append(p[:, None] * loads * scales[-1])
    # diag(e)^-1/2 U' f, written without a division by the roots of e, which may be tiny
    roots = np.sqrt(decomposition.eigenvalues)[:, None]
    rotated = decomposition.rotation @ np.hstack(turned)
    stacked = decomposition.inverse_degrees @ (roots * rotated)
    coordinates = np.split(stacked, len(params), axis=1)
    coefs = np.split(decomposition.basis @ stacked, len(params), axis=1)
    return [Solution(*parts) for parts in zip(coefs, coordinates, scales, priors, strict=True)]


def class_scale(sums: Floats, labeled_values: Floats, prior: Floats, n_rows: int) -> Floats:
    """Return the factors n pi_y / (1' f_y) of Niu et al. (2013), pi_y the prior of class y."""
    # Replaces a sum over all rows that is not positive.
    estimates = n_rows * np.maximum(labeled_values, 0.0).mean(axis=0)
    sums = np.where(sums > CANCELLATION * estimates, sums, estimates)
    return np.where(sums > 0, n_rows * prior / np.where(sums > 0, sums, 1.0), 1.0)


def probabilities(values: Floats, prior: Floats) -> Floats:
    """Return the normalized positive parts of the values; where all are 0, the prior."""
    positive = np.maximum(values, 0.0) + PRIOR_WEIGHT * prior
    return np.asarray(positive / positive.sum(axis=-1, keepdims=True))


def labeled_kernel(labeled: LabeledRows, p: Floats) -> Floats:
    """Return R."""
    return np.asarray((labeled.vectors * (labeled.spectrum * p)) @ labeled.vectors.T)


def _loads(labeled: LabeledRows, p: Floats, Y: Floats) -> Floats:
    """Return Q_l' Z, solving the smaller of two equivalent systems."""
    n_labeled, rank = labeled.vectors.shape
    if n_labeled <= rank:
        system = labeled_kernel(labeled, p)
        system[np.diag_indices(n_labeled)] += n_labeled
        return labeled.vectors.T @ cho_solve(cho_factor(system, overwrite_a=True), Y)
    # Woodbury identity: (l I + S S')^-1 = (I - S (l I + S' S)^-1 S') / l
    scaled = labeled.vectors * np.sqrt(labeled.spectrum * p)
    system = scaled.T @ scaled
    system[np.diag_indices(rank)] += n_labeled
    inner = cho_solve(cho_factor(system, overwrite_a=True), scaled.T @ Y)
    return labeled.vectors.T @ (Y - scaled @ inner) / n_labeled


def _decomposition(
    basis: Floats,
    eigenvalues: Floats,
    inverse_degrees: Floats,
    sums: Floats,
    n_rows: int,
    exact: bool,
) -> Decomposition:
    roots = np.sqrt(eigenvalues)
    spectrum, rotation = np.linalg.eigh(inverse_degrees * roots * roots[:, None])
    # Estimated row sums may give mu > 1, with which the objective would not be convex.
    top = max(1.0, float(spectrum[-1]))
    spectrum = np.maximum(spectrum / top, 0.0)
    return Decomposition(
        basis, eigenvalues, inverse_degrees / top, rotation, spectrum, sums, n_rows, exact
    )


def _positive_eigh(matrix: Floats) -> tuple[Floats, Floats]:
    """Return the eigenvalues that are not rounding errors, ascending, and their eigenvectors."""
    values, vectors = np.linalg.eigh(matrix)
    largest = float(values[-1])
    if largest <= 0:
        raise ValueError("kernel of SMIRClassifier must have positive entries, got none.")
    if values[0] < -NOT_PSD * largest:
        raise ValueError(
            "kernel of SMIRClassifier must be positive semi-definite, got the eigenvalues "
            f"{values[0]:.3g} to {largest:.3g}."
        )
    rank = int((values > len(values) * np.finfo(np.float64).eps * largest).sum())
    return values[-rank:], vectors[:, -rank:]


def _reciprocal(degrees: Floats) -> Floats:
    """Return 1 / D, and 0 for a row without any similarity, such as an empty text."""
    return np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0)
