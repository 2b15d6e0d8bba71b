"""Nearest centroid: the middle of a class moves when one of its rows leaves."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestCentroid

from leavezero._typing import AnyArray, Bools, Floats, Ints, Table
from leavezero.families._base import Family, Unseen
from leavezero.families._class_scores import alone, forget_own_class, unseen_classes
from leavezero.families._fingerprint import check_answers, check_no_weights, check_same
from leavezero.families._fitted_to import fitted_codes, fitted_rows


class NearestCentroidFamily(Family):
    """Nearest centroid, by means or medians, with shrinkage and any priors.

    Examples
    --------
    >>> from sklearn.neighbors import NearestCentroid
    >>> from leavezero.families._centroid import NearestCentroidFamily
    >>> X, y = [[0.0], [1.0], [3.0], [5.0]], ["a", "a", "b", "b"]
    >>> model = NearestCentroid().fit(X, y)
    >>> NearestCentroidFamily().unseen(model, X, y).responses["predict"].tolist()
    ['a', 'a', 'b', 'b']
    """

    name = "nearest centroid"

    def covers(self, estimator: Any) -> bool:
        """Tell whether it is scikit-learn's."""
        return type(estimator) is NearestCentroid

    def refuses(self, estimator: Any) -> None:
        """Refuse nothing."""

    def unseen(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> Unseen:
        """Return responses with the own class's centroid, spread and prior downdated."""
        check_answers(self, model)
        check_no_weights(model, sample_weight)
        rows = fitted_rows(model, X)
        rows = rows.toarray() if sparse.issparse(rows) else rows  # as the fit itself does
        codes = fitted_codes(model, y, len(rows))
        origin = rows.mean(axis=0)  # sums of squares stay small
        parts = _Parts.of(rows - origin, codes, len(model.classes_), model.metric == "manhattan")
        check_same(model, "within_class_std_dev_", parts.spread())
        variances = 1.0 / parts.counts - 1.0 / len(rows)
        centroids = _shrunk(model, parts.centroids, 0.0 * origin, variances, parts.spread())
        check_same(model, "centroids_", centroids + origin)
        return _respond(model, parts)


@dataclass(frozen=True, eq=False)
class _Parts:
    """Sums over all rows: ``centroids``, ``means`` and ``squares`` (about the means) by class.

    ``own`` is the centroid of each row's class without the row.
    """

    rows: Floats
    codes: Ints
    counts: Ints
    means: Floats
    centroids: Floats
    squares: Floats
    own: Floats

    @classmethod
    def of(cls, rows: Floats, codes: Ints, n_classes: int, medians: bool) -> "_Parts":
        """Return the sums; the centroids are medians or means."""
        means, centroids, squares = (np.zeros((n_classes, rows.shape[1])) for _ in range(3))
        own = np.zeros_like(rows)
        for code in range(n_classes):
            members = rows[codes == code]
            means[code] = members.mean(axis=0)
            squares[code] = ((members - means[code]) ** 2).sum(axis=0)
            centroids[code] = np.median(members, axis=0) if medians else means[code]
            own[codes == code] = _medians_without(members) if medians else _means_without(members)
        counts = np.bincount(codes, minlength=n_classes)
        return cls(rows, codes, counts, means, centroids, squares, own)

    def spread(self) -> Floats:
        """Return the standard deviation within the classes, of all rows."""
        about = self.squares + self.counts[:, None] * (self.means - self.centroids) ** 2
        return np.sqrt(about.sum(axis=0) / (len(self.rows) - len(self.counts)))

    def spread_without(self) -> Floats:
        """Return the same without each row, from sum (x - a)^2 = sum (x - m)^2 + n (m - a)^2."""
        count = self.counts[self.codes][:, None]
        left = np.maximum(count - 1, 1)
        away = self.rows - self.means[self.codes]
        mean = self.means[self.codes] - away / left
        about = self.squares + self.counts[:, None] * (self.means - self.centroids) ** 2
        others = about.sum(axis=0) - about[self.codes]
        squares = self.squares[self.codes] - away**2 * count / left
        mine = np.maximum(squares, 0.0) + left * (mean - self.own) ** 2
        freedom = len(self.rows) - 1 - (len(self.counts) - alone(self.codes))
        total = np.maximum(others + np.where(count > 1, mine, 0.0), 0.0)
        exact = np.where(total < 1e-12 * about.sum(axis=0), 0.0, total)  # only rounding is left
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.sqrt(exact / freedom[:, None])


def _means_without(members: Floats) -> Floats:
    middle = members.mean(axis=0)
    return middle - (members - middle) / max(len(members) - 1, 1)


def _medians_without(members: Floats) -> Floats:
    """Return the median of each column without each row, from one sort."""
    count = len(members) - 1
    if count == 0:
        return members
    order = members.argsort(axis=0, kind="stable")
    ranks = order.argsort(axis=0, kind="stable")
    ranked = np.take_along_axis(members, order, axis=0)
    low, high = (count - 1) // 2, count // 2
    # Ranks above the one that left move down by one.
    at_low = np.take_along_axis(ranked, low + (ranks <= low), axis=0)
    at_high = np.take_along_axis(ranked, high + (ranks <= high), axis=0)
    return np.asarray(at_low + (at_high - at_low) / 2)


def _respond(model: Any, parts: _Parts) -> Unseen:
    n_classes = len(parts.counts)
    gone = alone(parts.codes)
    spread = parts.spread_without()
    unit = np.where(spread == 0, 1.0, spread)
    priors, uniform = _priors_without(model, parts, gone)
    plain, scores = np.empty((2, len(parts.rows), n_classes))
    for code in range(n_classes):
        away = np.abs(parts.rows - _centroid_without(model, parts, spread, code))
        plain[:, code] = -_norm(away, model.metric)
        with np.errstate(divide="ignore"):
            scores[:, code] = -(_norm(away / unit, model.metric) ** 2) + 2 * np.log(priors[:, code])
    forget_own_class(plain, parts.codes, gone)
    forget_own_class(scores, parts.codes, gone)
    known = ~gone if model.priors not in ("empirical", "uniform") else np.ones(len(gone), bool)
    unseen = unseen_classes(model, scores, known)
    # With equal priors scikit-learn's predict measures plain distances, its scores scaled ones.
    nearest = model.classes_.take(np.where(uniform[:, None], plain, scores).argmax(axis=1))
    return replace(unseen, responses={**unseen.responses, "predict": nearest})


def _norm(away: Floats, metric: str) -> Floats:
    return np.asarray(away.sum(axis=1) if metric == "manhattan" else np.sqrt((away**2).sum(axis=1)))


def _priors_without(model: Any, parts: _Parts, gone: Bools) -> tuple[Floats, Bools]:
    """Return the priors without each row, and where they are equal."""
    n_rows, n_classes = len(parts.rows), len(parts.counts)
    if isinstance(model.priors, str) and model.priors == "empirical":
        priors = np.tile(parts.counts, (n_rows, 1)) - np.eye(n_classes)[parts.codes]
        priors /= n_rows - 1
    elif isinstance(model.priors, str):
        return np.tile(1.0 / (n_classes - gone)[:, None], (1, n_classes)), np.ones(n_rows, bool)
    else:
        priors = np.tile(model.class_prior_, (n_rows, 1))
    equal = np.isclose(priors, 1.0 / (n_classes - gone)[:, None]) | (priors == 0)
    return priors, equal.all(axis=1)


def _centroid_without(model: Any, parts: _Parts, spread: Floats, code: int) -> Floats:
    """Return the centroid of one class without each row."""
    mine = parts.codes == code
    centroids = np.where(mine[:, None], parts.own, parts.centroids[code])
    n_left = len(parts.rows) - 1
    left = np.maximum(parts.counts[code] - mine, 1)
    middle = -parts.rows / n_left  # all rows together have mean 0
    return _shrunk(model, centroids, middle, 1.0 / left - 1.0 / n_left, spread)


def _shrunk(
    model: Any, centroids: Floats, middle: Floats, variances: Floats, spread: Floats
) -> Floats:
    """Return centroids moved towards that of all rows, as the model asks.

    Tibshirani et al. (2002): by soft thresholding of the difference in units of m_k (s_j + s_0),
    m_k^2 the ``variances`` of the centroids, s_0 the median of the spreads s_j.
    """
    if not model.shrink_threshold:
        return centroids
    units = spread + np.median(spread, axis=-1, keepdims=True)
    units = np.sqrt(variances)[:, None] * units
    away = (centroids - middle) / units
    shrunk = np.sign(away) * np.maximum(np.abs(away) - model.shrink_threshold, 0.0)
    return np.asarray(middle + units * shrunk)


FAMILIES = (NearestCentroidFamily(),)
