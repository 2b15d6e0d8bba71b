"""An estimate of a divergence, from what cross-fitted classifiers say."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy
from scipy.stats import rankdata

from leavezero._random import integer_seed
from leavezero._typing import Floats
from leavezero.divergence._folds import Fold
from leavezero.divergence._samples import Features
from leavezero.divergence._tellers import LARGEST_LOG_ODDS, Teller, fit_teller


@dataclass(frozen=True)
class DivergenceEstimate:
    """An estimate of a Jensen-Shannon divergence, which errs downward.

    Its expected value is at most the divergence, whatever the classifier: one that does not suit
    the difference sees less of it. It is not an upper bound and cannot be made one.

    Parameters
    ----------
    value : float
        The estimate in nats, between 0 and ln 2.
    standard_error : float
        Of ``raw``, over the rows. It says nothing of how much the classifiers missed.
    auc : float
        How well the classifiers tell the samples apart on rows they were not fitted to: 0.5 by
        chance, 1 without error.
    model : str
        The kind of classifier that was chosen, in most folds if they differ.
    raw : float
        The estimate before it is floored at 0.
    n_rows, n_rows_v : int
        The rows of the data and of V that were asked about.
    neighbors : float or None
        A second estimate by nearest neighbours (Ross 2014) where there are at most five columns,
        all numbers; it may be negative. None otherwise.

    Examples
    --------
    >>> from leavezero.divergence import DivergenceEstimate
    >>> estimate = DivergenceEstimate(0.0, 0.01, 0.51, "logistic", -0.002, 200, 200)
    >>> estimate.value, estimate.neighbors is None
    (0.0, True)
    """

    value: float
    standard_error: float
    auc: float
    model: str
    raw: float
    n_rows: int
    n_rows_v: int
    neighbors: float | None = None


@dataclass(frozen=True, eq=False)
class Answers:
    """Log odds of the rows asked about, each by classifiers that have not seen it."""

    given: Floats
    drawn: Floats
    auc: float
    model: str

    def estimate(
        self, share: float = 0.5, neighbors: float | None = None, most_drawn: int | None = None
    ) -> DivergenceEstimate:
        """Return the divergence with weights ``share`` and 1 - ``share``.

        With equal weights it is ln 2 + (mean ln D over given rows + mean ln(1 - D) over drawn
        ones) / 2. ``most_drawn`` is how many drawn rows the standard error may count.
        """
        shift = np.log(share) - np.log1p(-share)
        given, drawn = -_softplus(-self.given - shift), -_softplus(self.drawn + shift)
        entropy = -float(xlogy(share, share) + xlogy(1.0 - share, 1.0 - share))
        raw = entropy + share * float(given.mean()) + (1.0 - share) * float(drawn.mean())
        counted = min(len(drawn), most_drawn or len(drawn))
        variance = share**2 * given.var() / len(given) + (1.0 - share) ** 2 * drawn.var() / counted
        return DivergenceEstimate(
            value=max(0.0, raw),
            standard_error=float(np.sqrt(variance)),
            auc=self.auc,
            model=self.model,
            raw=raw,
            n_rows=len(given),
            n_rows_v=len(drawn),
            neighbors=neighbors,
        )


def cross_fitted(
    features: Features, folds: Sequence[Fold], root: np.random.SeedSequence
) -> tuple[Answers, list[Teller]]:
    """Return what the classifier of each fold says of the part it has not seen."""
    tellers = [
        fit_teller(features, fold, integer_seed(root, "fold", at)) for at, fold in enumerate(folds)
    ]
    given, drawn, areas = [], [], []
    for teller, fold in zip(tellers, folds, strict=True):
        sides = [features.take(rows) for rows in (fold.test.given, fold.test.drawn)]
        given.append(clipped(teller.log_odds(sides[0])))
        drawn.append(clipped(teller.log_odds(sides[1])))
        areas.append(_area(*(teller.score(side) for side in sides)))
    sizes = [fold.test.fewest() for fold in folds]
    model = Counter(teller.name for teller in tellers).most_common(1)[0][0]
    answers = Answers(
        np.concatenate(given), np.concatenate(drawn), float(np.average(areas, weights=sizes)), model
    )
    return answers, tellers


def clipped(log_odds: Floats) -> Floats:
    """Return log odds of probabilities between 0.001 and 0.999."""
    return np.clip(log_odds, -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS)


def _area(given: Floats, drawn: Floats) -> float:
    """Return the share of pairs that are in the right order; ties count half."""
    ranks = rankdata(np.concatenate([given, drawn]))[: len(given)]
    return float((ranks.mean() - (len(given) + 1) / 2.0) / len(drawn))


def _softplus(values: Floats) -> Floats:
    return np.logaddexp(0.0, values)
