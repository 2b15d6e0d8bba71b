"""Gaussian naive Bayes: means, variances and the smoothing term without each row."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.naive_bayes import GaussianNB

from leavezero._typing import AnyArray, Floats, Ints, Table
from leavezero.families._base import Family, Unseen
from leavezero.families._class_scores import alone, forget_own_class, unseen_classes
from leavezero.families._fingerprint import check_answers, check_same
from leavezero.families._fitted_to import fitted_codes, fitted_rows, fitted_weights

_LOST_DIGITS = 1e-3  # a sum of squares this much smaller than before is added up again


class GaussianNBFamily(Family):
    """Gaussian naive Bayes with weights and any priors.

    The smoothing term, a part of the largest variance of all rows, is the one without the row.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from leavezero.families._naive_bayes import GaussianNBFamily
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [9.0], [11.0], [12.0]], list("aaaabbb")
    >>> model = GaussianNB().fit(X, y)
    >>> GaussianNBFamily().unseen(model, X, y).responses["predict"].tolist()
    ['a', 'a', 'a', 'a', 'b', 'b', 'b']
    """

    name = "gaussian naive bayes"

    def covers(self, estimator: Any) -> bool:
        """Tell whether it is scikit-learn's."""
        return type(estimator) is GaussianNB

    def refuses(self, estimator: Any) -> None:
        """Refuse nothing."""

    def unseen(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> Unseen:
        """Return labels and probabilities without each row."""
        check_answers(self, model)
        rows = fitted_rows(model, X)
        codes = fitted_codes(model, y, len(rows))
        weights = fitted_weights(sample_weight, len(rows))
        origin = rows.mean(axis=0)
        moments = [
            _Moments.of(rows[codes == k] - origin, weights[codes == k])
            for k in range(len(model.classes_))
        ]
        smoothing = model.var_smoothing * _variances_without(rows - origin)
        check_same(model, "class_count_", [m.total for m in moments])
        check_same(model, "theta_", np.array([m.mean for m in moments]) + origin)
        check_same(model, "var_", np.array([m.variance for m in moments]) + model.epsilon_)
        scores, empty = _scores(rows - origin, codes, moments, smoothing)
        priors = _log_priors(model, codes, weights)
        forget_own_class(scores, codes, empty)
        known = np.ones(len(rows), bool) if model.priors is None else ~empty
        return unseen_classes(model, scores + priors, known)


@dataclass(frozen=True, eq=False)
class _Moments:
    """Total weight, mean and variance of the rows of one class, about a common origin."""

    rows: Floats
    weights: Floats
    total: float
    mean: Floats
    variance: Floats

    @classmethod
    def of(cls, rows: Floats, weights: Floats) -> "_Moments":
        """Return the moments; without any weight they are zero."""
        total = float(weights.sum())
        if total <= 0:
            zeros = np.zeros(rows.shape[1])
            return cls(rows, weights, 0.0, zeros, zeros)
        mean = weights @ rows / total
        return cls(rows, weights, total, mean, weights @ (rows - mean) ** 2 / total)

    def without(self) -> tuple[Floats, Floats, Floats]:
        """Return weight, means and variances without each row.

        With weight w, total W and d = x - m the mean moves by -w d / (W - w), and the sum of
        squares loses w W / (W - w) d^2 (Welford's update, backwards).
        """
        left = self.total - self.weights
        left = np.where(left <= 1e-12 * self.total, 0.0, left)
        share = (self.weights / np.where(left > 0, left, 1.0))[:, None]
        away = self.rows - self.mean
        means = self.mean - share * away
        squares = self.variance * self.total - share * self.total * away**2
        variances = np.maximum(squares, 0.0) / np.where(left > 0, left, 1.0)[:, None]
        lost = squares <= _LOST_DIGITS * self.variance * self.total
        for row, column in np.argwhere(lost & (self.variance > 0) & (left > 0)[:, None]):
            # At most a few a column: such a row holds nearly all of the column's variance.
            others = np.delete(np.arange(len(self.rows)), row)
            own = _Moments.of(self.rows[others][:, [column]], self.weights[others])
            means[row, column], variances[row, column] = own.mean[0], own.variance[0]
        return left, means, variances


def _variances_without(rows: Floats) -> Floats:
    """Return the largest variance of all columns without each row, not weighted."""
    moments = _Moments.of(rows, np.ones(len(rows)))
    return np.asarray(moments.without()[2].max(axis=1))


def _scores(
    rows: Floats, codes: Ints, moments: list[_Moments], smoothing: Floats
) -> tuple[Floats, AnyArray]:
    """Return log densities of each row in each class, and which rows leave theirs empty."""
    scores = np.empty((len(rows), len(moments)))
    empty = alone(codes)
    for code, moment in enumerate(moments):
        mine = codes == code
        means = np.tile(moment.mean, (len(rows), 1))
        variances = np.tile(moment.variance, (len(rows), 1))
        left, means[mine], variances[mine] = moment.without()
        empty[mine] |= left == 0
        variances += smoothing[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):  # without smoothing, variance 0
            densities = np.log(2 * np.pi * variances) + (rows - means) ** 2 / variances
        scores[:, code] = -0.5 * densities.sum(axis=1)
    return scores, empty


def _log_priors(model: Any, codes: Ints, weights: Floats) -> Floats:
    if model.priors is not None:
        return np.asarray(np.log(model.class_prior_))
    n_classes = len(model.classes_)
    counts = np.bincount(codes, weights, minlength=n_classes)
    left = counts - weights[:, None] * np.eye(n_classes)[codes]
    left = np.where(left <= 1e-12 * counts, 0.0, left)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(left / left.sum(axis=1, keepdims=True)))


FAMILIES = (GaussianNBFamily(),)
