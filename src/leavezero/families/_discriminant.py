"""Linear discriminant analysis: class means and covariance without each row, by rank one.

A row of class c that leaves moves its mean m_c by -d / (n_c - 1), d = x - m_c, and takes
n_c / (n_c - 1) d d' from its scatter T_c. What else changes in the covariance is alike for all
rows of the class, so that one eigendecomposition a class and the Sherman-Morrison formula are
enough.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from leavezero._typing import AnyArray, Bools, Floats, Ints, Table
from leavezero.families._base import Family, Unseen
from leavezero.families._class_scores import alone, forget_own_class, unseen_classes
from leavezero.families._fingerprint import check_answers, check_no_weights, check_same, close
from leavezero.families._fitted_to import fitted_codes, fitted_rows, other_rows

LITTLE_ROOM = 1e-9  # of what Sherman-Morrison divides by
_COLLINEAR = 1e-10  # smallest against largest variance of standardised columns
_NO_INVERSE = "its columns depend on one another within the classes"
_NO_PLANE = "the means of its classes lie so nearly in a plane that its solver rounds"


class LinearDiscriminantFamily(Family):
    """Linear discriminant analysis with all solvers, a fixed shrinkage and any priors.

    Examples
    --------
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> from leavezero.families._discriminant import LinearDiscriminantFamily
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [5.0], [6.0]], list("aaabbb")
    >>> model = LinearDiscriminantAnalysis().fit(X, y)
    >>> LinearDiscriminantFamily().unseen(model, X, y).responses["predict"].tolist()
    ['a', 'a', 'a', 'a', 'b', 'b']
    """

    name = "linear discriminant"

    def covers(self, estimator: Any) -> bool:
        """Tell whether it is scikit-learn's."""
        return type(estimator) is LinearDiscriminantAnalysis

    def refuses(self, estimator: Any) -> str | None:
        """Refuse covariances that are not sums over rows."""
        return refuses_covariance(estimator)

    def unseen(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> Unseen:
        """Return responses with means, covariance and empirical priors downdated."""
        check_answers(self, model)
        check_no_weights(model, sample_weight)
        rows = fitted_rows(model, X)
        codes = fitted_codes(model, y, len(rows))
        groups = Groups.of(rows, codes, len(model.classes_))
        check_same(model, "means_", groups.means + groups.origin)
        plan = _Plan.of(model, groups)
        if plan.doubt is not None:
            return Unseen("exact", {}, doubt=plan.doubt)
        scores, known = _scores(model, groups, plan)
        gone = alone(codes)
        forget_own_class(scores, codes, gone)
        enough = len(rows) - 1 > len(model.classes_) - gone
        return unseen_classes(model, scores, known & enough & (model.priors is None or ~gone))


def refuses_covariance(estimator: Any) -> str | None:
    """Return why a discriminant analysis with these parameters has no closed form."""
    if getattr(estimator, "covariance_estimator", None) is not None:
        return "an own covariance_estimator may do anything with the row that leaves"
    if getattr(estimator, "shrinkage", None) == "auto":
        return "shrinkage='auto' learns another shrinkage from every set of rows"
    return None


@dataclass(frozen=True, eq=False)
class Groups:
    """Rows about their common mean ``origin``, with means and scatters of the classes."""

    rows: Floats
    codes: Ints
    origin: Floats
    counts: Ints
    means: Floats
    scatters: Floats

    @classmethod
    def of(cls, rows: Floats, codes: Ints, n_classes: int) -> "Groups":
        """Return the sums of each class, all about means, so that far features stay exact."""
        origin = rows.mean(axis=0)
        rows = rows - origin
        counts = np.bincount(codes, minlength=n_classes)
        means = np.array([rows[codes == k].mean(axis=0) for k in range(n_classes)])
        away = rows - means[codes]
        scatters = np.array([away[codes == k].T @ away[codes == k] for k in range(n_classes)])
        return cls(rows, codes, origin, counts, means, scatters)

    def scaled(self, units: Floats) -> "Groups":
        """Return the same with columns in other units."""
        return Groups(
            self.rows / units,
            self.codes,
            self.origin / units,
            self.counts,
            self.means / units,
            self.scatters / np.outer(units, units),
        )


@dataclass(frozen=True, eq=False)
class _Plan:
    """How the model weighs the scatters of its classes.

    The svd solver divides by the number of rows minus ``ddof`` times that of the classes (1 in old
    releases of scikit-learn, 0 in new ones); None is for the other solvers.
    """

    shrinkage: float
    ddof: int | None = None
    doubt: str | None = None

    @classmethod
    def of(cls, model: Any, groups: Groups) -> "_Plan":
        """Return the one with which the model comes out as it is; raise if none does."""
        shrinkage = float(model.shrinkage or 0.0)
        covariance = _covariance(model, groups, shrinkage)
        units = np.sqrt(np.diag(covariance))
        units = np.where(units > 0, units, 1.0)
        values = np.linalg.eigvalsh(covariance / np.outer(units, units))
        least = model.tol**2 if model.solver == "svd" else 0.0
        if values[0] <= max(_COLLINEAR * values[-1], least):
            return cls(shrinkage, doubt=_NO_INVERSE)
        if model.solver == "svd" and _truncates(model, groups, covariance):
            return cls(shrinkage, doubt=_NO_PLANE)
        steps = np.diff(groups.means, axis=0)
        found = np.linalg.solve(covariance, steps.T).T
        learned = np.diff(model.coef_, axis=0) if len(groups.counts) > 2 else model.coef_
        if close(found, learned):
            return cls(shrinkage, 0 if model.solver == "svd" else None)
        n_rows, n_classes = len(groups.rows), len(groups.counts)
        if model.solver == "svd" and close(found * (1 - n_classes / n_rows), learned):
            return cls(shrinkage, 1)
        raise other_rows(model, "its coef_ would be different")

    def divisor(self, left: Ints) -> int:
        """Return what the svd solver divides scatters by, from the counts of the classes."""
        return max(int(left.sum() - (self.ddof or 0) * (left > 0).sum()), 1)


def _truncates(model: Any, groups: Groups, covariance: Floats) -> bool:
    """Tell whether a direction between the means is about as short as those that svd drops."""
    priors = model.priors_[:, None]
    away = np.sqrt(priors) * (groups.means - (priors * groups.means).sum(axis=0))
    lengths = np.linalg.svd(away @ np.linalg.inv(np.linalg.cholesky(covariance)).T)[1]
    return bool(np.any((lengths > 1e-12 * lengths[0]) & (lengths < 10 * model.tol * lengths[0])))


def _covariance(model: Any, groups: Groups, shrinkage: float) -> Floats:
    """Return the covariance within classes that the model uses on all rows."""
    if model.solver == "svd" or model.priors is None:
        weights = np.full(len(groups.counts), 1.0 / len(groups.rows))
    else:
        weights = model.priors_ / groups.counts
    pooled = np.tensordot(weights, groups.scatters, axes=1)
    level = np.trace(pooled) / len(pooled)
    return np.asarray((1 - shrinkage) * pooled + shrinkage * level * np.eye(len(pooled)))


def _scores(model: Any, groups: Groups, plan: _Plan) -> tuple[Floats, Bools]:
    """Return log posteriors without each row, and which rows have them."""
    if plan.shrinkage == 0:  # units do not matter, and standard ones round best
        covariance = _covariance(model, groups, 0.0)
        groups = groups.scaled(np.sqrt(np.diag(covariance)))
    scores = np.empty((len(groups.rows), len(groups.counts)))
    known = np.empty(len(groups.rows), dtype=bool)
    for code in range(len(groups.counts)):
        mine = groups.codes == code
        scores[mine], known[mine] = _class_scores(model, groups, plan, code)
    return scores, known


def _class_scores(model: Any, groups: Groups, plan: _Plan, code: int) -> tuple[Floats, Bools]:
    """Return the scores of the rows of one class.

    The score of class k is log p_k - D(x, m_k) / 2 + D(x, o) / 2, D the squared distance in the
    covariance; o is the mean that the svd solver centres at, else the origin.
    """
    rows = groups.rows[groups.codes == code]
    left, stay = _left(groups, code), max(groups.counts[code] - 1, 1)
    priors = model.priors_ if model.priors is not None else left / left.sum()
    away = rows - groups.means[code]
    space = _Space.of(_class_weights(plan, left, priors), groups, code, plan.shrinkage, away)
    middle = groups.means.T @ priors - priors[code] * away / stay  # this is the mean without
    centre = middle if model.solver == "svd" else -groups.origin
    ahead = 0.5 * space.distances(rows - centre)
    scores = np.empty((len(rows), len(left)))
    for k in range(len(left)):
        gap = away * (1 + 1 / stay) if k == code else rows - groups.means[k]
        with np.errstate(divide="ignore"):
            scores[:, k] = np.log(priors[k]) - 0.5 * space.distances(gap) + ahead
    least = model.tol**2 if model.solver == "svd" else 0.0
    return scores, (space.room > LITTLE_ROOM) & (space.room * space.values.min(axis=1) > least)


def _left(groups: Groups, code: int) -> Ints:
    return groups.counts - (np.arange(len(groups.counts)) == code)


def _class_weights(plan: _Plan, left: Ints, priors: Floats) -> Floats:
    """Return the weight of each scatter once a row of a class has left."""
    if plan.ddof is not None:
        return np.full(len(left), 1.0 / plan.divisor(left))
    return np.asarray(priors / np.maximum(left, 1))


@dataclass(frozen=True, eq=False)
class _Space:
    """The covariance without each row of one class: V diag(values) V' - scale d d'.

    ``ratio`` is V'd / values, ``room`` 1 - scale d'(V diag(1 / values) V')d.
    """

    vectors: Floats
    values: Floats
    ratio: Floats
    room: Floats
    scale: float

    @classmethod
    def of(
        cls, weights: Floats, groups: Groups, code: int, shrinkage: float, away: Floats
    ) -> "_Space":
        """Return the decomposition; shrinkage adds the mean variance, which loses the row's."""
        pooled = np.tensordot(weights, groups.scatters, axes=1)
        taken = weights[code] * groups.counts[code] / max(groups.counts[code] - 1, 1)
        values, vectors = np.linalg.eigh(pooled)
        level = (np.trace(pooled) - taken * (away**2).sum(axis=1)) / len(pooled)
        spread = (1 - shrinkage) * np.maximum(values, 0.0) + shrinkage * level[:, None]
        turned, scale = away @ vectors, (1 - shrinkage) * taken
        ratio = turned / spread
        return cls(vectors, spread, ratio, 1 - scale * (turned * ratio).sum(axis=1), scale)

    def distances(self, gaps: Floats) -> Floats:
        """Return the squared length of each row's gap in its covariance (Sherman-Morrison)."""
        turned = gaps @ self.vectors
        along = (turned * self.ratio).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            back = self.scale * along**2 / self.room
        return np.asarray((turned**2 / self.values).sum(axis=1) + back)


FAMILIES = (LinearDiscriminantFamily(),)
