"""Leave-one-out of linear and quadratic discriminant analysis by rank-one downdates.

Let class c have n rows, mean m and scatter T = sum (x - m)(x - m)', and d = x - m for the row x
that is left out. Then the mean moves by -d / (n - 1) and the scatter loses n / (n - 1) d d'. All
other changes of the covariance are the same for all rows of a class, so one eigendecomposition per
class and the Sherman-Morrison formula suffice (Lachenbruch 1967, Biometrics 23).
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)

from leavezero._typing import Bools, Floats, Ints
from leavezero.leave_one_out._loo_method import (
    LOOPredictions,
    OneTargetMethod,
    TrainingData,
    check_statistic,
    class_predictions,
    loo_class_totals,
    mismatch_error,
    nearly_equal,
    singletons,
)

_MIN_DENOMINATOR = 1e-9  # of the Sherman-Morrison formula
_MIN_EIGENVALUE = 1e-10  # of the correlation matrix within classes, relative to the largest
_COLLINEAR = "its columns are collinear within the classes"
_COPLANAR = "the class means are so nearly coplanar that its solver drops a direction or not"


class _DiscriminantMethod(OneTargetMethod):
    """Parameters and data checks that both analyses share."""

    takes_weights = False

    def unsupported_reason(self, estimator: Any) -> str | None:
        if getattr(estimator, "covariance_estimator", None) is not None:
            return "a custom covariance_estimator has no closed form without a row"
        if getattr(estimator, "shrinkage", None) == "auto":
            return "shrinkage='auto' is estimated anew without each row"
        return None

    def _predict_rows(self, model: Any, data: TrainingData) -> LOOPredictions:
        codes, classes = data.y, range(len(model.classes_))
        origin = data.X.mean(axis=0)
        rows = data.X - origin  # features far from zero keep their digits
        means = np.array([rows[codes == k].mean(axis=0) for k in classes])
        check_statistic(model, "means_", means + origin)
        deviations = rows - means[codes]
        parts = [deviations[codes == k] for k in classes]
        scatters = np.array([part.T @ part for part in parts])
        counts = np.bincount(codes, minlength=len(classes))
        moments = _Moments(rows, codes, origin, counts, means, scatters)
        return self._predict_from_moments(model, moments)

    @abstractmethod
    def _predict_from_moments(self, model: Any, moments: "_Moments") -> LOOPredictions:
        """Return the predictions of a supported model."""


@dataclass(frozen=True, eq=False)
class _Moments:
    """Rows relative to their mean ``origin``; counts, means and scatters of the classes."""

    rows: Floats
    codes: Ints
    origin: Floats
    counts: Ints
    means: Floats
    scatters: Floats

    def rescale(self, units: Floats) -> "_Moments":
        """Return the moments of columns divided by ``units``."""
        rows, origin, means = self.rows / units, self.origin / units, self.means / units
        scatters = self.scatters / np.outer(units, units)
        return _Moments(rows, self.codes, origin, self.counts, means, scatters)


class LDAMethod(_DiscriminantMethod):
    """Exact leave-one-out of LDA, for all solvers, fixed shrinkage and any priors."""

    name = "linear discriminant analysis"
    estimator_types = (LinearDiscriminantAnalysis,)

    def _predict_from_moments(self, model: Any, moments: _Moments) -> LOOPredictions:
        covariance = _lda_covariance(model, moments)
        reason = _lda_unreliable(model, moments, covariance)
        if reason is not None:
            return LOOPredictions("exact", {}, unreliable=reason)
        ddof = _lda_ddof(model, moments, covariance)
        if not model.shrinkage:  # then units do not matter, and standard ones round best
            moments = moments.rescale(np.sqrt(np.diag(covariance)))
        codes, n_rows, n_classes = moments.codes, len(moments.rows), len(moments.counts)
        scores, valid = np.empty((n_rows, n_classes)), np.empty(n_rows, dtype=bool)
        for code in range(n_classes):
            own = codes == code
            scores[own], valid[own] = _lda_scores(model, moments, ddof, code)
        vanished = singletons(codes)
        scores[vanished, codes[vanished]] = -np.inf
        valid &= n_rows - 1 > n_classes - vanished
        if model.priors is not None:  # they do not fit fewer classes
            valid &= ~vanished
        return class_predictions(model, scores, valid)


def _lda_covariance(model: Any, moments: _Moments) -> Floats:
    """Return the covariance within classes of the fit on all rows."""
    weights = np.full(len(moments.counts), 1.0 / len(moments.rows))
    if model.solver != "svd" and model.priors is not None:
        weights = model.priors_ / moments.counts
    pooled = np.tensordot(weights, moments.scatters, axes=1)
    shrinkage, n_columns = float(model.shrinkage or 0.0), len(pooled)
    level = np.trace(pooled) / n_columns
    return np.asarray((1 - shrinkage) * pooled + shrinkage * level * np.eye(n_columns))


def _lda_unreliable(model: Any, moments: _Moments, covariance: Floats) -> str | None:
    """Return why the covariance cannot be downdated, if so."""
    units = np.sqrt(np.diag(covariance))
    units = np.where(units > 0, units, 1.0)
    eigenvalues = np.linalg.eigvalsh(covariance / np.outer(units, units))
    if eigenvalues[0] <= max(_MIN_EIGENVALUE * eigenvalues[-1], _min_variance(model)):
        return _COLLINEAR
    if model.solver == "svd":
        # Directions between the means that are shorter than tol times the longest are dropped.
        priors = model.priors_[:, None]
        spread = np.sqrt(priors) * (moments.means - (priors * moments.means).sum(axis=0))
        lengths = np.linalg.svd(spread @ np.linalg.inv(np.linalg.cholesky(covariance)).T)[1]
        relative = lengths / max(lengths[0], np.finfo(float).tiny)
        if np.any((relative > 1e-12) & (relative < 10 * model.tol)):
            return _COPLANAR
    return None


def _min_variance(model: Any) -> float:
    return float(model.tol**2) if model.solver == "svd" else 0.0


def _lda_ddof(model: Any, moments: _Moments, covariance: Floats) -> int | None:
    """Return d if the svd solver divides scatters by n_samples - d n_classes; None: other solver.

    It depends on the version of scikit-learn; ``coef_`` shows which. Raise if none fits.
    """
    expected = np.linalg.solve(covariance, np.diff(moments.means, axis=0).T).T
    coef = np.diff(model.coef_, axis=0) if len(moments.counts) > 2 else model.coef_
    if nearly_equal(expected, coef):
        return 0 if model.solver == "svd" else None
    factor = 1 - len(moments.counts) / len(moments.rows)
    if model.solver == "svd" and nearly_equal(expected * factor, coef):
        return 1
    raise mismatch_error(model, "its coef_ would be different")


def _lda_scores(model: Any, moments: _Moments, ddof: int | None, code: int) -> tuple[Floats, Bools]:
    """Return scores of the rows of one class without each, and which of them are valid.

    The score of class k is log p_k - D(x, m_k) / 2 + D(x, o) / 2, where D is the squared
    Mahalanobis distance and o the mean that the svd solver centers at, or zero.
    """
    shrinkage, n_classes = float(model.shrinkage or 0.0), len(moments.counts)
    rest = moments.counts - (np.arange(n_classes) == code)
    others = max(moments.counts[code] - 1, 1)
    priors = model.priors_ if model.priors is not None else rest / rest.sum()
    if ddof is None:
        weights = priors / np.maximum(rest, 1)
    else:
        weights = np.full(n_classes, 1.0 / max(rest.sum() - ddof * (rest > 0).sum(), 1))

    # Covariance without a row: Q diag(eigenvalues) Q' - scale d d'. Shrinkage adds the mean
    # variance, which loses the row's part, too.
    rows = moments.rows[moments.codes == code]
    deviations = rows - moments.means[code]
    pooled = np.tensordot(weights, moments.scatters, axes=1)
    removed = weights[code] * moments.counts[code] / others
    eigenvalues, Q = np.linalg.eigh(pooled)
    level = (np.trace(pooled) - removed * (deviations**2).sum(axis=1)) / len(pooled)
    values = (1 - shrinkage) * np.maximum(eigenvalues, 0.0) + shrinkage * level[:, None]
    rotated, scale = deviations @ Q, (1 - shrinkage) * removed
    denominator = 1 - scale * (rotated**2 / values).sum(axis=1)

    def half_distances(gaps: Floats) -> Floats:
        turned = gaps @ Q
        along = (turned * rotated / values).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            correction = scale * along**2 / denominator
        return np.asarray(0.5 * ((turned**2 / values).sum(axis=1) + correction))

    center = -moments.origin
    if model.solver == "svd":
        center = moments.means.T @ priors - priors[code] * deviations / others
    scores = np.tile(half_distances(rows - center)[:, None], n_classes)
    with np.errstate(divide="ignore"):
        scores += np.log(priors)
    for k in range(n_classes):
        own = deviations * (1 + 1 / others)
        scores[:, k] -= half_distances(own if k == code else rows - moments.means[k])
    valid = denominator > _MIN_DENOMINATOR
    return scores, valid & (denominator * values.min(axis=1) > _min_variance(model))


class QDAMethod(_DiscriminantMethod):
    """Exact leave-one-out of QDA with ``reg_param`` or fixed shrinkage.

    Rows without which the fit fails have no prediction.
    """

    name = "quadratic discriminant analysis"
    estimator_types = (QuadraticDiscriminantAnalysis,)

    def _predict_from_moments(self, model: Any, moments: _Moments) -> LOOPredictions:
        rule = _qda_rule(model, moments)
        n_rows, n_classes = len(moments.rows), len(moments.counts)
        scores, valid = np.empty((n_rows, n_classes)), np.empty(n_rows, dtype=bool)
        for code in range(n_classes):
            values, Q = rule.decompose(moments, code)
            rotated = (moments.rows - moments.means[code]) @ Q
            scores[:, code] = -0.5 * ((rotated**2 / values).sum(axis=1) + np.log(values).sum())
            own = moments.codes == code
            scores[own, code], valid[own] = _qda_own_scores(moments, rule, code)
        priors = model.priors_
        if model.priors is None:
            counts = loo_class_totals(moments.codes, np.ones(n_rows), n_classes)
            priors = np.maximum(counts, 1.0) / (n_rows - 1)
        return class_predictions(model, scores + np.log(priors), valid)


@dataclass(frozen=True, eq=False)
class _QDARule:
    """Covariance: keep * scatter / (n - ddof) + shift + shrinkage * mean variance.

    ``shift`` is ``reg_param``; ``ddof`` is 1 before scikit-learn 1.8.
    """

    ddof: int
    shift: float
    shrinkage: float
    tol: float

    @property
    def keep(self) -> float:
        return 1 - self.shift - self.shrinkage

    def decompose(self, moments: _Moments, code: int) -> tuple[Floats, Floats]:
        """Return eigenvalues and eigenvectors of the covariance of one class."""
        divisor = max(moments.counts[code] - self.ddof, 1)
        values, Q = np.linalg.eigh(moments.scatters[code] / divisor)
        values = np.maximum(values, 0.0)
        return self.keep * values + self.shift + self.shrinkage * values.mean(), Q


def _qda_rule(model: Any, moments: _Moments) -> _QDARule:
    """Return the rule that reproduces the fitted ``scalings_``; raise if none does."""
    fitted = np.array([np.sum(scalings) for scalings in model.scalings_])
    shift, shrinkage = model.reg_param, 0.0
    if getattr(model, "solver", "svd") == "eigen":  # scikit-learn >= 1.8
        shift, shrinkage = 0.0, float(model.shrinkage or 0.0)
    for ddof in (0, 1):
        rule = _QDARule(ddof, shift, shrinkage, model.tol)
        expected = [rule.decompose(moments, k)[0].sum() for k in range(len(fitted))]
        if nearly_equal(np.array(expected), fitted):
            return rule
    raise mismatch_error(model, "its scalings_ would be different")


def _qda_own_scores(moments: _Moments, rule: _QDARule, code: int) -> tuple[Floats, Bools]:
    """Return log densities of the rows of a class in their class without each, and the valid ones.

    The covariance without a row is C - b d d', b = keep n / (n - 1) / (n - 1 - ddof), and the row
    is n / (n - 1) d from the mean. With q = d' C^-1 d, the distance d' (C - b d d')^-1 d is
    q / (1 - b q), and the determinant is multiplied by 1 - b q.
    """
    count, n_columns = moments.counts[code], moments.rows.shape[1]
    divisor = count - 1 - rule.ddof
    if count - 1 < max(2, n_columns):
        return np.zeros(count), np.zeros(count, dtype=bool)
    removed = count / (count - 1) / divisor
    deviations = moments.rows[moments.codes == code] - moments.means[code]
    eigenvalues, Q = np.linalg.eigh(moments.scatters[code] / divisor)
    eigenvalues = np.maximum(eigenvalues, 0.0)
    level = (eigenvalues.sum() - removed * (deviations**2).sum(axis=1)) / n_columns
    values = rule.keep * eigenvalues + rule.shift + rule.shrinkage * level[:, None]
    valid = values.min(axis=1) > rule.tol
    values = np.where(valid[:, None], values, 1.0)
    q = ((deviations @ Q) ** 2 / values).sum(axis=1)
    denominator = 1 - rule.keep * removed * q
    valid &= denominator > _MIN_DENOMINATOR
    valid &= denominator * values.min(axis=1) > rule.tol
    denominator = np.where(valid, denominator, 1.0)
    distances = (count / (count - 1)) ** 2 * q / denominator
    return -0.5 * (distances + np.log(values).sum(axis=1) + np.log(denominator)), valid
