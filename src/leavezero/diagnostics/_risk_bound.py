"""The paper's bound on the risk (Theorem 1, Corollary 1)."""

from dataclasses import dataclass
from math import e

import numpy as np
from scipy.optimize import brentq
from scipy.special import xlogy

from leavezero.diagnostics._jensen_shannon import LN2, check_int


@dataclass(frozen=True)
class RiskBound:
    """Bound on the difference between a candidate's risk and its loss on the validation set.

    It is Theorem 1 of Li, Geng and Chen (2020). The published constant of the first term,
    B sqrt(JS / 2), is too small by a factor of two: two distributions on two points are a
    counterexample.

    Parameters
    ----------
    shift_published : term of the distribution shift as published, B sqrt(JS / 2)
    shift : B sqrt(2 JS), which is valid
    shift_tight : the largest total variation that JS allows, times B; at most B
    sampling_published : term of the sample size m for VC dimension v, as published
    sampling : the same, corrected for B, the effective m and the number of candidates
    n_effective : effective m; rows generated from n training rows count as at most n / 2
    loss_range : the range B of the loss
    hold_out : for comparison, the bound of a hold-out set of n_train rows (Hoeffding)

    Examples
    --------
    >>> from leavezero.diagnostics import risk_bound
    >>> bound = risk_bound(0.0, n_validation=1000, dimension=21)
    >>> round(bound.tight, 3), bound.vacuous, round(bound.hold_out, 3)
    (0.696, False, 0.043)
    """

    shift_published: float
    shift: float
    shift_tight: float
    sampling_published: float
    sampling: float
    n_effective: int
    loss_range: float
    hold_out: float

    @property
    def published(self) -> float:
        """The bound as published, which does not hold in general."""
        return self.shift_published + self.sampling_published

    @property
    def corrected(self) -> float:
        """The bound with the corrected constant."""
        return self.shift + self.sampling

    @property
    def tight(self) -> float:
        """The bound with the tight form of the shift."""
        return self.shift_tight + self.sampling

    @property
    def vacuous(self) -> bool:
        """Whether the bound is not below the range of the loss."""
        return self.tight >= self.loss_range


def risk_bound(
    divergence: float,
    *,
    n_validation: int,
    dimension: float | None,
    n_train: int | None = None,
    generated: bool = False,
    loss_range: float = 1.0,
    delta: float = 0.05,
    n_candidates: int = 1,
) -> RiskBound:
    """Return the terms of the bound between the risk and the loss on the validation set.

    The bound holds for the true divergence. Estimates of it are biased downward, so with an
    estimate the result is the value that the bound would have if the estimate were exact.

    Parameters
    ----------
    divergence : float
        The Jensen-Shannon divergence between the distributions of the data and of the validation
        set, in nats (Theorem 1), or its upper bound :func:`corollary_divergence` (Corollary 1).
    n_validation : int
        The number m of validation rows.
    dimension : float or None
        The VC dimension v of the candidates, such as d + 1 for linear classifiers of d columns;
        infinite for nearest neighbors and Gaussian kernels, None if unknown. For a loss other than
        the 0-1 loss, the pseudo-dimension.
    n_train : int or None, default=None
        The number of training rows; None for ``n_validation``.
    generated : bool, default=False
        Whether the validation rows are generated from the training rows.
    loss_range : float, default=1.0
        The range B of the loss.
    delta : float, default=0.05
        The probability that the bound fails.
    n_candidates : int, default=1
        The number of candidates for which the bound must hold simultaneously.

    Examples
    --------
    >>> from leavezero.diagnostics import risk_bound
    >>> bound = risk_bound(0.1537, n_validation=10_000, dimension=21, n_train=1000, generated=True)
    >>> bound.n_effective, bound.vacuous
    (500, True)
    """
    n_train = n_validation if n_train is None else n_train
    counts = {"n_validation": n_validation, "n_train": n_train, "n_candidates": n_candidates}
    for name, count in counts.items():
        check_int(count, 1, name, "risk_bound")
    for name, value, is_valid, requirement in (
        ("divergence", divergence, 0.0 <= divergence < np.inf, "at least 0 and finite"),
        ("delta", delta, 0.0 < delta < 1.0, "between 0 and 1"),
        ("loss_range", loss_range, 0.0 < loss_range < np.inf, "positive and finite"),
        ("dimension", dimension, dimension is None or dimension > 0, "positive or None"),
    ):
        if not is_valid:
            raise ValueError(f"{name} of risk_bound must be {requirement}, got {value!r}.")
    n_effective = min(n_validation, n_train // 2) if generated else n_validation
    root = float(np.sqrt(2.0 * divergence))
    return RiskBound(
        shift_published=loss_range * root / 2.0,
        shift=loss_range * root,
        shift_tight=loss_range * _max_total_variation(divergence),
        sampling_published=_sampling_term(n_validation, dimension, delta),
        sampling=loss_range * _sampling_term(n_effective, dimension, delta / n_candidates),
        n_effective=n_effective,
        loss_range=loss_range,
        hold_out=loss_range * float(np.sqrt(np.log(2 * n_candidates / delta) / (2 * n_train))),
    )


def _max_total_variation(divergence: float) -> float:
    """Return the largest total variation distance that a Jensen-Shannon divergence allows."""
    # The inverse of phi(t) = ((1 + t) ln(1 + t) + (1 - t) ln(1 - t)) / 2, attained by two
    # distributions on two points; at most sqrt(2 divergence) (Pinsker).
    if divergence >= LN2:
        return 1.0

    def excess(t: float) -> float:
        return float(xlogy(1 + t, 1 + t) + xlogy(1 - t, 1 - t)) / 2 - divergence

    return float(brentq(excess, 0.0, 1.0, xtol=1e-14))


def _sampling_term(m: int, v: float | None, delta: float) -> float:
    """Return sqrt(4 / m (v ln(2 e m / v) + ln(4 / delta))), infinite for v unknown or above m."""
    if v is None or m < max(1.0, v):
        return float("inf")
    return float(np.sqrt(4.0 / m * (v * np.log(2 * e * m / v) + np.log(4.0 / delta))))
