"""The divergence of features and labels together, from that of labels and those of the classes."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from leavezero._typing import Floats
from leavezero.divergence._discrete import LARGEST, jensen_shannon_labels


def joint_divergence(shares: ArrayLike, shares_v: ArrayLike, by_class: ArrayLike) -> float:
    """Return JS(x, y) by its exact chain rule.

    ``JS(x, y) = JS(y) + sum_y M(y) JS_w(x | y)`` with M = (P + Q) / 2 and the skewed divergence
    ``JS_w = H(w P + (1 - w) Q) - w H(P) - (1 - w) H(Q)`` at ``w = P(y) / (P(y) + Q(y))``, which
    is the usual one where the classes have the same shares on both sides.

    Parameters
    ----------
    shares, shares_v : sequence of float
        The shares of the classes, P(y) in the data and Q(y) in V.
    by_class : sequence of float
        JS_w(x | y) of each class, in the same order; what stands for a class that one side lacks
        does not matter.

    Returns
    -------
    float
        In nats. Estimates that err downward give a sum that does.

    Examples
    --------
    >>> from leavezero.divergence import joint_divergence
    >>> round(joint_divergence([0.5, 0.5], [0.5, 0.5], [0.1, 0.3]), 3)
    0.2
    """
    p, q, inside = _checked(shares, shares_v, by_class, "joint_divergence")
    inside = np.where((p == 0) | (q == 0), 0.0, inside)
    return min(LARGEST, jensen_shannon_labels(p[None], q[None]) + float((p + q) / 2.0 @ inside))


class CorollaryDivergence(NamedTuple):
    """What stands for the root of JS(x, y) in the paper's Corollary 1, term by term.

    Parameters
    ----------
    features : float
        ``sqrt(E_P JS(x | y) + E_Q JS(x | y))``, over the classes' shares in the data and in V.
    labels : float
        ``sqrt(JS(y))``.

    Examples
    --------
    >>> from leavezero.divergence import CorollaryDivergence
    >>> CorollaryDivergence(features=0.3, labels=0.1).root
    0.4
    """

    features: float
    labels: float

    @property
    def root(self) -> float:
        """The sum of both, which is at least the root of JS(x, y)."""
        return self.features + self.labels


def corollary_divergence(
    shares: ArrayLike, shares_v: ArrayLike, by_class: ArrayLike
) -> CorollaryDivergence:
    """Return the terms of Corollary 1 as printed (Li et al. 2020).

    They are valid but loose: the printed sum of both expectations counts the classes twice, 1.41
    times the root of JS(x, y) at equal shares. :func:`joint_divergence` is exact.

    Parameters
    ----------
    shares, shares_v : sequence of float
        The shares of the classes, P(y) in the data and Q(y) in V.
    by_class : sequence of float
        JS(x | y) of each class, in the same order, with equal weights for both sides.

    Returns
    -------
    CorollaryDivergence

    Examples
    --------
    >>> from leavezero.divergence import corollary_divergence
    >>> round(corollary_divergence([0.5, 0.5], [0.5, 0.5], [0.1, 0.3]).root ** 2, 3)
    0.4
    """
    p, q, inside = _checked(shares, shares_v, by_class, "corollary_divergence")
    return CorollaryDivergence(
        features=float(np.sqrt((p + q) @ inside)),
        labels=float(np.sqrt(jensen_shannon_labels(p[None], q[None]))),
    )


def _checked(
    shares: ArrayLike, shares_v: ArrayLike, by_class: ArrayLike, owner: str
) -> tuple[Floats, Floats, Floats]:
    p, q, inside = (np.asarray(part, dtype=np.float64) for part in (shares, shares_v, by_class))
    if not p.shape == q.shape == inside.shape or p.ndim != 1:
        raise ValueError(
            f"shares, shares_v and by_class of {owner} must be of one length, got shapes "
            f"{p.shape}, {q.shape} and {inside.shape}. Give one entry for each class."
        )
    for name, part in (("shares", p), ("shares_v", q)):
        if (part < 0).any() or not np.isclose(part.sum(), 1.0):
            raise ValueError(f"{name} of {owner} must sum to 1 and not be negative, got {part!r}.")
    if not ((inside >= 0) & (inside <= LARGEST + 1e-12)).all():
        raise ValueError(
            f"by_class of {owner} must be between 0 and ln 2 = {LARGEST:.4f} nats, got {inside!r}."
        )
    return p, q, inside
