"""The paper's bound on the risk, term by term, as printed and as it holds."""

from dataclasses import dataclass

import numpy as np

from leavezero.divergence import CorollaryDivergence, total_variation_limit

_LARGEST = float(np.log(2.0))


@dataclass(frozen=True)
class RiskBound:
    """How far a candidate's risk may be from its loss on V (Li et al. 2020).

    With a divergence it is Theorem 1, with the terms of a :class:`CorollaryDivergence` it is
    Corollary 1. Every figure holds only if the divergence is the true one; an estimate of it errs
    downward.

    Parameters
    ----------
    shift_as_printed, shift, shift_tight : float
        What V's distribution adds: B sqrt(JS / 2) as printed, which is too small by a factor of
        two; B sqrt(2 JS); and its tight form, which is never above B.
    sampling_as_printed, sampling : float
        What the m rows of V add for a class of VC dimension v: as printed; and with B, the
        effective m and all candidates taken into account.
    effective_rows : int
        The rows of V that may be counted: rows mixed of n given ones tell as much as n / 2.
    loss_width : float
        The width B of the loss.
    hold_out : float
        What held-out rows, as many as were given, would leave open instead (Hoeffding).

    Examples
    --------
    >>> from leavezero.trust import risk_bound
    >>> bound = risk_bound(0.0, n_rows=1000, dimension=21)
    >>> round(bound.tight, 3), bound.vacuous, round(bound.hold_out, 3)
    (0.696, False, 0.043)
    """

    shift_as_printed: float
    shift: float
    shift_tight: float
    sampling_as_printed: float
    sampling: float
    effective_rows: int
    loss_width: float
    hold_out: float

    @property
    def as_printed(self) -> float:
        """The bound as the paper prints it; it does not hold in general."""
        return self.shift_as_printed + self.sampling_as_printed

    @property
    def corrected(self) -> float:
        """The bound with the right constant."""
        return self.shift + self.sampling

    @property
    def tight(self) -> float:
        """The bound with the tight form of the shift."""
        return self.shift_tight + self.sampling

    @property
    def vacuous(self) -> bool:
        """Whether it says no more than that the loss has a width."""
        return self.tight >= self.loss_width


def risk_bound(
    divergence: float | CorollaryDivergence,
    *,
    n_rows: int,
    dimension: float | None,
    n_given: int | None = None,
    mixed: bool = False,
    loss_width: float = 1.0,
    delta: float = 0.05,
    n_candidates: int = 1,
) -> RiskBound:
    """Return the terms of the bound between the risk and the loss on V.

    It is what the right-hand side would be if the divergence were exact. Estimates of it err
    downward, so that with one of them it is no bound; see :func:`jensen_shannon_augmenter`.

    Parameters
    ----------
    divergence : float or CorollaryDivergence
        The Jensen-Shannon divergence between the law of the data and that of V, in nats
        (Theorem 1); or what Corollary 1 puts in the place of its root.
    n_rows : int
        The rows of V, the paper's m.
    dimension : float or None
        The VC dimension v of the candidates, infinite where it is, None where it is not known: see
        :func:`vc_dimension`. For a loss that is not 0-1, the pseudo-dimension.
    n_given : int or None, default=None
        The given rows; None for as many as V has. A hold-out of that size is shown beside.
    mixed : bool, default=False
        Whether V's rows are mixed of given ones. Then at most half of the given rows count.
    loss_width : float, default=1.0
        The width B of the loss; 1 for 0-1 loss.
    delta : float, default=0.05
        The chance that the bound fails.
    n_candidates : int, default=1
        How many candidates the bound is to hold for together.

    Returns
    -------
    RiskBound

    Examples
    --------
    >>> from leavezero.trust import risk_bound
    >>> bound = risk_bound(0.1537, n_rows=10_000, dimension=21, n_given=1000, mixed=True)
    >>> bound.effective_rows, bound.vacuous
    (500, True)
    """
    _check(n_rows=n_rows, n_given=n_given, n_candidates=n_candidates)
    if not 0.0 < delta < 1.0:
        raise ValueError(f"delta of risk_bound must be between 0 and 1, got {delta!r}. Use 0.05.")
    if not 0.0 < loss_width < np.inf:
        raise ValueError(
            f"loss_width of risk_bound must be positive and finite, got {loss_width!r}. A loss "
            "without bounds has no such bound."
        )
    if dimension is not None and not dimension > 0:
        raise ValueError(
            f"dimension of risk_bound must be positive, infinite or None, got {dimension!r}."
        )
    given = n_rows if n_given is None else n_given
    effective = min(n_rows, given // 2) if mixed else n_rows
    if isinstance(divergence, CorollaryDivergence):
        # The sum may pass what a divergence can be; beyond ln 2 no more can be said.
        root, limit = divergence.root, min(divergence.root**2, _LARGEST)
    else:
        root, limit = float(np.sqrt(max(0.0, divergence))), divergence
    variation = total_variation_limit(limit)
    return RiskBound(
        shift_as_printed=loss_width * root / float(np.sqrt(2.0)),
        shift=loss_width * root * float(np.sqrt(2.0)),
        shift_tight=loss_width * variation,
        sampling_as_printed=_sampling(n_rows, dimension, delta),
        sampling=loss_width * _sampling(effective, dimension, delta / n_candidates),
        effective_rows=effective,
        loss_width=loss_width,
        hold_out=loss_width * float(np.sqrt(np.log(2.0 * n_candidates / delta) / (2.0 * given))),
    )


def _sampling(n_rows: int, dimension: float | None, delta: float) -> float:
    """Return sqrt(4 / m (v ln(2 e m / v) + ln(4 / delta))); infinite where v is not below m."""
    if dimension is None or n_rows < max(1.0, dimension):
        return float("inf")
    growth = dimension * np.log(2.0 * np.e * n_rows / dimension)
    return float(np.sqrt(4.0 / n_rows * (growth + np.log(4.0 / delta))))


def _check(**counts: int | None) -> None:
    for name, count in counts.items():
        if count is not None and (not isinstance(count, int | np.integer) or count < 1):
            raise ValueError(f"{name} of risk_bound must be a positive int, got {count!r}.")
