"""Exact arithmetic of the Jensen-Shannon divergence: labels, chain rule, Corollary 1."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import jensenshannon

from leavezero._typing import AnyArray, Floats

LN2 = float(np.log(2.0))  # the largest Jensen-Shannon divergence, in nats


def jensen_shannon_labels(y: AnyArray, y_val: AnyArray) -> float:
    """Return the Jensen-Shannon divergence between the labels of two samples.

    It is exact for the observed frequencies, in nats, between 0 and ln 2. (SciPy's
    ``jensenshannon`` returns its square root.)

    Parameters
    ----------
    y, y_val : array of shape (n_rows,) or (n_rows, n_classes)
        Labels, or class probabilities with the same columns in both.

    Examples
    --------
    >>> from leavezero.diagnostics import jensen_shannon_labels
    >>> round(jensen_shannon_labels(["a", "a", "b", "b"], ["a", "b"]), 3)
    0.0
    >>> round(jensen_shannon_labels(["a", "a"], ["b", "b"]), 3)
    0.693
    """
    first, second = np.asarray(y), np.asarray(y_val)
    if len(first) == 0 or len(second) == 0 or first.shape[1:] != second.shape[1:]:
        raise ValueError(
            "y and y_val of jensen_shannon_labels must not be empty, and both must be labels or "
            f"both class probabilities, got shapes {first.shape} and {second.shape}."
        )
    if first.ndim == 2:
        return _divergence(first.mean(axis=0), second.mean(axis=0))
    classes, codes = np.unique(np.concatenate([first, second]), return_inverse=True)
    p, q = (np.bincount(part, minlength=len(classes)) for part in np.split(codes, [len(first)]))
    return _divergence(p, q)


def joint_divergence(
    proportions: ArrayLike, proportions_val: ArrayLike, by_class: ArrayLike
) -> float:
    """Return the divergence of features and labels from those of the classes (chain rule).

    ``JS(x, y) = JS(y) + sum_y M(y) JS_w(x | y)`` is exact, with M = (P + Q) / 2 and the skewed
    divergence ``JS_w = H(w P + (1 - w) Q) - w H(P) - (1 - w) H(Q)`` at
    ``w = P(y) / (P(y) + Q(y))``, the usual one where both samples have equal class proportions.

    Parameters
    ----------
    proportions, proportions_val : sequence of float
        The class proportions P(y) of the training data and Q(y) of the validation set.
    by_class : sequence of float
        JS_w(x | y) of each class, in the same order. Entries of classes that occur in one sample
        only are ignored.

    Examples
    --------
    >>> from leavezero.diagnostics import joint_divergence
    >>> round(joint_divergence([0.5, 0.5], [0.5, 0.5], [0.1, 0.3]), 3)
    0.2
    """
    p, q, inner = _check_classes(proportions, proportions_val, by_class, "joint_divergence")
    inner = np.where((p == 0) | (q == 0), 0.0, inner)
    return min(LN2, _divergence(p, q) + float((p + q) / 2 @ inner))


def corollary_divergence(
    proportions: ArrayLike, proportions_val: ArrayLike, by_class: ArrayLike
) -> float:
    """Return the upper bound of JS(x, y) in Corollary 1 (Li, Geng and Chen 2020).

    It is ``(sqrt(E_P JS(x | y) + E_Q JS(x | y)) + sqrt(JS(y))) ** 2``. It is valid but loose: the
    sum of both expectations counts each class twice, which gives 2 JS(x, y) at equal proportions,
    and more than ln 2 for samples that hardly overlap. :func:`joint_divergence` is exact.

    Parameters
    ----------
    proportions, proportions_val : sequence of float
        The class proportions P(y) of the training data and Q(y) of the validation set.
    by_class : sequence of float
        JS(x | y) of each class, in the same order, with equal weights of both samples.

    Examples
    --------
    >>> from leavezero.diagnostics import corollary_divergence
    >>> round(corollary_divergence([0.5, 0.5], [0.5, 0.5], [0.1, 0.3]), 3)
    0.4
    """
    p, q, inner = _check_classes(proportions, proportions_val, by_class, "corollary_divergence")
    return float((np.sqrt((p + q) @ inner) + np.sqrt(_divergence(p, q))) ** 2)


def _divergence(p: AnyArray, q: AnyArray) -> float:
    """Return the Jensen-Shannon divergence of two histograms."""
    # Rounding can make SciPy take the square root of a tiny negative number.
    with np.errstate(invalid="ignore"):
        return float(np.nan_to_num(jensenshannon(p, q)) ** 2)


def _check_classes(
    proportions: ArrayLike, proportions_val: ArrayLike, by_class: ArrayLike, owner: str
) -> tuple[Floats, Floats, Floats]:
    p, q, inner = (np.asarray(a, dtype=float) for a in (proportions, proportions_val, by_class))
    if not p.shape == q.shape == inner.shape or not np.allclose([p.sum(), q.sum()], 1.0):
        raise ValueError(
            f"proportions and proportions_val of {owner} must sum to 1, with one entry per class "
            f"as in by_class, got {p}, {q} and {inner}."
        )
    if not ((inner >= 0) & (inner <= LN2 + 1e-12)).all():
        raise ValueError(
            f"by_class of {owner} must be between 0 and ln 2 = {LN2:.4f} nats, got {inner}."
        )
    return p, q, inner
