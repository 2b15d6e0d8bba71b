"""Solutions of SMIR for many settings, by systems no larger than the labelled set."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_factor, cho_solve

from leavezero._typing import Floats, Ints
from leavezero.semi_supervised._decompose import Decomposition
from leavezero.semi_supervised._labels import class_prior, one_hot

NO_EVIDENCE = 1e-8  # of the prior is added to each class, which decides far from all rows
_CANCELED = 1e-8  # a mass below this share of what labelled rows suggest is only rounding


@dataclass(frozen=True)
class Setting:
    """What a solution depends on beside the kernel and the labels.

    Parameters
    ----------
    gamma : float, default=0.1
        Weight of the squared-loss mutual information of rows and classes.
    offset : float, default=1e-6
        How far the weight of the penalty, lambda = gamma c / n + offset, is above the limit of
        convexity.
    prior : "empirical", "uniform" or array, default="empirical"
        Share of each class that the values are scaled to.

    Examples
    --------
    >>> from leavezero.semi_supervised import Setting
    >>> Setting(gamma=1.0)
    Setting(gamma=1.0, offset=1e-06, prior='empirical')
    """

    gamma: float = 0.1
    offset: float = 1e-6
    prior: str | ArrayLike = "empirical"


@dataclass(frozen=True, eq=False)
class Solution:
    """The minimizer for one setting.

    Parameters
    ----------
    coef : array of shape (n_support, n_classes)
        The kernel of any rows with the support, times this, are the values of the classes.
    coordinates : array of shape (r, n_classes)
        The same in the basis of the decomposition.
    scale : array of shape (n_classes,)
        By which both were multiplied, so that the values of each class have its prior as mean.
    prior : array of shape (n_classes,)
        Share of each class.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.semi_supervised import Setting, decompose, solve
    >>> kernel = np.array([[1.0, 0.1, 0.9], [0.1, 1.0, 0.1], [0.9, 0.1, 1.0]])
    >>> (solution,) = solve(decompose(kernel), [0, 1], [0, 1], [Setting()])
    >>> (kernel @ solution.coef).mean(axis=0).round(6).tolist()
    [0.5, 0.5]
    """

    coef: Floats = field(repr=False)
    coordinates: Floats = field(repr=False)
    scale: Floats
    prior: Floats


@dataclass(frozen=True, eq=False)
class LabeledRows:
    """What the decomposition says of the labelled rows; all that folds need.

    Parameters
    ----------
    vectors : array of shape (n_labeled, r)
        The eigenvectors of P at the labelled rows.
    spectrum : array of shape (r,)
        The eigenvalues of P.
    totals : array of shape (r,)
        The sums of the eigenvectors over all rows.
    n_rows : int
        n, all rows.
    """

    vectors: Floats = field(repr=False)
    spectrum: Floats = field(repr=False)
    totals: Floats = field(repr=False)
    n_rows: int

    def inverse_penalties(self, setting: Setting, n_classes: int) -> Floats:
        """Return 1 / (lambda - (gamma c / n) mu), mu the spectrum, without cancellation."""
        limit = setting.gamma * n_classes / self.n_rows
        return np.asarray(1.0 / (setting.offset + limit * (1.0 - np.minimum(self.spectrum, 1.0))))


def solve(
    decomposition: Decomposition,
    rows: Ints | Sequence[int],
    codes: Ints | Sequence[int],
    settings: Sequence[Setting],
) -> list[Solution]:
    """Return the minimizers for many settings of one exactly decomposed kernel.

    Parameters
    ----------
    decomposition : Decomposition
        From :func:`decompose`.
    rows : array of int of shape (n_labeled,)
        Positions of the rows that have a label.
    codes : array of int of shape (n_labeled,)
        Their classes, numbered from 0.
    settings : sequence of Setting

    Returns
    -------
    list of Solution

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.semi_supervised import Setting, decompose, solve
    >>> x = np.array([0.0, 0.1, 0.2, 2.0, 2.1, 2.2])
    >>> kernel = np.exp(-((x[:, None] - x) ** 2))
    >>> settings = [Setting(gamma) for gamma in (0.01, 1.0)]
    >>> solutions = solve(decompose(kernel), [0, 3], [0, 1], settings)
    >>> [(kernel @ solution.coef).argmax(axis=1).tolist() for solution in solutions]
    [[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1]]
    """
    if not decomposition.exact:
        raise ValueError(
            "decomposition of solve must be exact, got an approximation. Use SMIRClassifier."
        )
    vectors = decomposition.basis[np.asarray(rows)] * np.sqrt(decomposition.values)
    labeled = labeled_rows(decomposition, vectors)
    return solve_labeled(decomposition, labeled, np.asarray(codes), int(max(codes)) + 1, settings)


def labeled_rows(decomposition: Decomposition, vectors: Floats) -> LabeledRows:
    """Return what is needed of the labelled rows, from their rows of U."""
    return LabeledRows(
        vectors @ decomposition.rotation,
        decomposition.spectrum,
        decomposition.totals @ decomposition.rotation,
        decomposition.n_rows,
    )


def solve_labeled(
    decomposition: Decomposition,
    labeled: LabeledRows,
    codes: Ints,
    n_classes: int,
    settings: Sequence[Setting],
) -> list[Solution]:
    """Return the minimizers for many settings, with one pass over the decomposition for all."""
    targets = one_hot(codes, n_classes)
    priors = [class_prior(setting.prior, codes, n_classes) for setting in settings]
    scales, turned = [], []
    for setting, prior in zip(settings, priors, strict=True):
        penalties = labeled.inverse_penalties(setting, n_classes)
        loads = _loads(labeled, penalties, targets)
        masses, values = _masses(labeled, penalties, loads), _values(labeled, penalties, loads)
        scales.append(class_scale(masses, values, prior, labeled.n_rows))
        turned.append(penalties[:, None] * loads * scales[-1])
    stacked = _coordinates(decomposition, np.hstack(turned))
    coordinates = np.split(stacked, len(settings), axis=1)
    coefs = np.split(decomposition.basis @ stacked, len(settings), axis=1)
    return [Solution(*parts) for parts in zip(coefs, coordinates, scales, priors, strict=True)]


def given_values(decomposition: Decomposition, solutions: Sequence[Solution]) -> list[Floats]:
    """Return each solution's values at all rows of an exactly decomposed kernel."""
    stacked = np.hstack([solution.coordinates for solution in solutions])
    values = decomposition.basis @ (decomposition.values[:, None] * stacked)
    return np.split(values, len(solutions), axis=1)


def class_scale(masses: Floats, values: Floats, prior: Floats, n_rows: int) -> Floats:
    """Return the factor of each class that makes the mean of its values its prior.

    The mean can be zero or below, if rarely. The mean over labelled rows, of the positive values
    only, stands in for it then.
    """
    expected = n_rows * np.maximum(values, 0.0).mean(axis=0)
    masses = np.where(masses > _CANCELED * expected, masses, expected)
    return np.where(masses > 0, n_rows * prior / np.where(masses > 0, masses, 1.0), 1.0)


def probabilities(values: Floats, prior: Floats) -> Floats:
    """Return the shares of the positive values; far from all rows the prior."""
    positive = np.maximum(values, 0.0) + NO_EVIDENCE * prior
    return np.asarray(positive / positive.sum(axis=-1, keepdims=True))


def gram(labeled: LabeledRows, penalties: Floats) -> Floats:
    """Return R, the kernel C between labelled rows."""
    return np.asarray((labeled.vectors * (labeled.spectrum * penalties)) @ labeled.vectors.T)


def row_masses(labeled: LabeledRows, penalties: Floats) -> Floats:
    """Return the sum over all rows of the kernel C with each labelled row."""
    return np.asarray(labeled.vectors @ (labeled.spectrum * penalties * labeled.totals))


def _loads(labeled: LabeledRows, penalties: Floats, targets: Floats) -> Floats:
    """Return V_L' Z with Z = (l I + R)^-1 Y, by the smaller of two systems."""
    n_labeled, rank = labeled.vectors.shape
    if n_labeled <= rank:
        system = gram(labeled, penalties)
        system[np.diag_indices(n_labeled)] += n_labeled
        return labeled.vectors.T @ cho_solve(cho_factor(system, overwrite_a=True), targets)
    # The same by Woodbury's identity: with many labels the rank is the smaller number.
    scaled = labeled.vectors * np.sqrt(labeled.spectrum * penalties)
    system = scaled.T @ scaled
    system[np.diag_indices(rank)] += n_labeled
    inner = cho_solve(cho_factor(system, overwrite_a=True), scaled.T @ targets)
    return labeled.vectors.T @ (targets - scaled @ inner) / n_labeled


def _masses(labeled: LabeledRows, penalties: Floats, loads: Floats) -> Floats:
    return np.asarray((labeled.totals * labeled.spectrum * penalties) @ loads)


def _values(labeled: LabeledRows, penalties: Floats, loads: Floats) -> Floats:
    return np.asarray(labeled.vectors @ ((labeled.spectrum * penalties)[:, None] * loads))


def _coordinates(decomposition: Decomposition, turned: Floats) -> Floats:
    """Return diag(e)^-1/2 U' f, without a division by the roots, which may be tiny."""
    roots = np.sqrt(decomposition.values)[:, None]
    return decomposition.inverse_degrees @ (roots * (decomposition.rotation @ turned))
