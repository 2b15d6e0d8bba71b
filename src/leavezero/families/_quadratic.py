"""Quadratic discriminant analysis: only the own class changes when a row leaves."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from leavezero._typing import AnyArray, Bools, Floats, Table
from leavezero.families._base import Family, Unseen
from leavezero.families._class_scores import unseen_classes
from leavezero.families._discriminant import LITTLE_ROOM, Groups, refuses_covariance
from leavezero.families._fingerprint import check_answers, check_no_weights, check_same, close
from leavezero.families._fitted_to import fitted_codes, fitted_rows, other_rows


class QuadraticDiscriminantFamily(Family):
    """Quadratic discriminant analysis, regularised by ``reg_param`` or a fixed shrinkage.

    A row without which its class would have fewer rows than columns, or a covariance below
    ``tol``, has no response: the fit without it fails.

    Examples
    --------
    >>> from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
    >>> from leavezero.families._quadratic import QuadraticDiscriminantFamily
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [9.0], [11.0], [12.0]], list("aaaabbb")
    >>> model = QuadraticDiscriminantAnalysis().fit(X, y)
    >>> QuadraticDiscriminantFamily().unseen(model, X, y).responses["predict"].tolist()
    ['a', 'a', 'a', 'a', 'b', 'b', 'b']
    """

    name = "quadratic discriminant"

    def covers(self, estimator: Any) -> bool:
        """Tell whether it is scikit-learn's."""
        return type(estimator) is QuadraticDiscriminantAnalysis

    def refuses(self, estimator: Any) -> str | None:
        """Refuse covariances that are not sums over rows."""
        return refuses_covariance(estimator)

    def unseen(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> Unseen:
        """Return responses with the own class's mean, covariance and prior downdated."""
        check_answers(self, model)
        check_no_weights(model, sample_weight)
        rows = fitted_rows(model, X)
        codes = fitted_codes(model, y, len(rows))
        groups = Groups.of(rows, codes, len(model.classes_))
        check_same(model, "means_", groups.means + groups.origin)
        plan = _Plan.of(model, groups)
        scores = np.empty((len(rows), len(groups.counts)))
        known = np.empty(len(rows), dtype=bool)
        for code in range(len(groups.counts)):
            mine = codes == code
            scores[:, code] = _class_scores(groups, plan, code)
            scores[mine, code], known[mine] = _own_scores(groups, plan, code)
        return unseen_classes(model, scores + _log_priors(model, groups), known)


@dataclass(frozen=True, eq=False)
class _Plan:
    """How a covariance is made of a scatter: keep * scatter / (n - ddof) + shift.

    ``ddof`` is 1 before scikit-learn 1.8. ``shrinkage`` adds its share of the mean variance,
    ``shift`` is ``reg_param``.
    """

    ddof: int
    keep: float
    shift: float
    shrinkage: float
    tol: float

    @classmethod
    def of(cls, model: Any, groups: Groups) -> "_Plan":
        """Return the one with which the model comes out as it is; raise if none does."""
        learned = np.array([np.sum(scalings) for scalings in model.scalings_])
        own = model.reg_param, 0.0
        if getattr(model, "solver", "svd") == "eigen":
            own = 0.0, float(model.shrinkage or 0.0)
        for ddof in (0, 1):
            plan = cls(ddof, 1 - sum(own), *own, tol=model.tol)
            found = np.array([plan.variances(groups, k)[0].sum() for k in range(len(learned))])
            if close(found, learned):
                return plan
        raise other_rows(model, "its scalings_ would be different")

    def variances(self, groups: Groups, code: int) -> tuple[Floats, Floats]:
        """Return variances and directions of the covariance of one class."""
        count = groups.counts[code]
        values, vectors = np.linalg.eigh(groups.scatters[code] / max(count - self.ddof, 1))
        values = np.maximum(values, 0.0)
        return self.keep * values + self.shift + self.shrinkage * values.mean(), vectors


def _class_scores(groups: Groups, plan: _Plan, code: int) -> Floats:
    """Return log densities of all rows in one class as it is."""
    values, vectors = plan.variances(groups, code)
    turned = (groups.rows - groups.means[code]) @ vectors
    return np.asarray(-0.5 * ((turned**2 / values).sum(axis=1) + np.log(values).sum()))


def _own_scores(groups: Groups, plan: _Plan, code: int) -> tuple[Floats, Bools]:
    """Return log densities of the rows of a class in their class without them.

    With d = x - m, n rows and C the covariance of the scatter of all, the covariance without the
    row is C - b d d' (b = keep n / (n - 1) / (n - 1 - ddof)) and the row is n / (n - 1) d away; q =
    d' C^-1 d gives d' (C - b d d')^-1 d = q / (1 - b q), and the determinant loses 1 - b q.
    """
    count, n_columns = groups.counts[code], groups.rows.shape[1]
    away = groups.rows[groups.codes == code] - groups.means[code]
    freedom = count - 1 - plan.ddof
    if count - 1 < max(2, n_columns):
        return np.zeros(count), np.zeros(count, dtype=bool)
    taken = count / (count - 1) / freedom
    values, vectors = np.linalg.eigh(groups.scatters[code] / freedom)
    values = np.maximum(values, 0.0)
    level = values.sum() - taken * (away**2).sum(axis=1)
    spread = plan.keep * values + plan.shift + plan.shrinkage * level[:, None] / n_columns
    known = spread.min(axis=1) > plan.tol
    spread = np.where(known[:, None], spread, 1.0)
    turned = away @ vectors
    length = (turned**2 / spread).sum(axis=1)
    room = 1 - plan.keep * taken * length
    known &= (room > LITTLE_ROOM) & (room * spread.min(axis=1) > plan.tol)
    room = np.where(known, room, 1.0)
    distance = (count / (count - 1)) ** 2 * length / room
    return -0.5 * (distance + np.log(spread).sum(axis=1) + np.log(room)), known


def _log_priors(model: Any, groups: Groups) -> Floats:
    if model.priors is not None:
        return np.asarray(np.log(model.priors_))
    counts = groups.counts - np.eye(len(groups.counts))[groups.codes]
    return np.asarray(np.log(np.maximum(counts, 1.0) / (len(groups.rows) - 1)))


FAMILIES = (QuadraticDiscriminantFamily(),)
