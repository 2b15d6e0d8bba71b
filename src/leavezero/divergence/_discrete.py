"""The Jensen-Shannon divergence of labels, and what it says of the total variation."""

import numpy as np
from scipy.optimize import brentq
from scipy.special import xlogy

from leavezero._typing import AnyArray, Floats

LARGEST = float(np.log(2.0))


def jensen_shannon_labels(y: AnyArray, y_v: AnyArray) -> float:
    """Return the Jensen-Shannon divergence between the labels of two samples, from their counts.

    The natural logarithm is used, so that it is at most ln 2. (scipy's function returns the root.)

    Parameters
    ----------
    y, y_v : array of shape (n_rows,) or (n_rows, n_classes)
        Labels; or soft labels, a row of probabilities each, with the same columns in both.

    Returns
    -------
    float

    Examples
    --------
    >>> from leavezero.divergence import jensen_shannon_labels
    >>> round(jensen_shannon_labels(["a", "a", "b", "b"], ["a", "b"]), 3)
    0.0
    >>> round(jensen_shannon_labels(["a", "a"], ["b", "b"]), 3)
    0.693
    """
    first, second = np.asarray(y), np.asarray(y_v)
    for name, part in (("y", first), ("y_v", second)):
        if len(part) == 0:
            raise ValueError(f"{name} of jensen_shannon_labels has no rows. Give at least one.")
    if first.ndim == second.ndim == 2:
        if first.shape[1] != second.shape[1]:
            raise ValueError(
                f"y and y_v of jensen_shannon_labels must have the same classes, got "
                f"{first.shape[1]} and {second.shape[1]} columns."
            )
        return _jensen_shannon(first.mean(axis=0), second.mean(axis=0))
    if first.ndim != 1 or second.ndim != 1:
        raise ValueError(
            "y and y_v of jensen_shannon_labels must both be labels or both be rows of "
            f"probabilities, got {first.ndim} and {second.ndim} dimensions."
        )
    classes, codes = np.unique(np.concatenate([first, second]), return_inverse=True)
    shares = [
        np.bincount(part, minlength=len(classes)) / len(part)
        for part in (codes[: len(first)], codes[len(first) :])
    ]
    return _jensen_shannon(*shares)


def total_variation_limit(divergence: float) -> float:
    """Return the largest total variation that a Jensen-Shannon divergence allows.

    The inverse of ``phi(t) = ((1 + t) ln(1 + t) + (1 - t) ln(1 - t)) / 2``, which two points reach;
    it is never above 1, and never above ``sqrt(2 * divergence)``.

    Parameters
    ----------
    divergence : float
        Between 0 and ln 2, in nats.

    Examples
    --------
    >>> from leavezero.divergence import total_variation_limit
    >>> round(total_variation_limit(0.02014), 3)
    0.2
    """
    if not 0.0 <= divergence <= LARGEST + 1e-12:
        raise ValueError(
            f"divergence must be between 0 and ln 2 = {LARGEST:.4f} nats, got {divergence!r}. "
            "Square the distance that scipy returns."
        )
    if divergence >= LARGEST:
        return 1.0
    return float(brentq(lambda t: _phi(t) - divergence, 0.0, 1.0, xtol=1e-14))


def _phi(t: float) -> float:
    return float(xlogy(1.0 + t, 1.0 + t) + xlogy(1.0 - t, 1.0 - t)) / 2.0


def _jensen_shannon(p: Floats, q: Floats) -> float:
    middle = (p + q) / 2.0

    def entropy(shares: Floats) -> float:
        return -float(xlogy(shares, shares).sum())

    return max(0.0, entropy(middle) - (entropy(p) + entropy(q)) / 2.0)
