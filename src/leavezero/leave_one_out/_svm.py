"""SVMs: approximate leave-one-out.

LinearSVC and LinearSVR with a squared loss take one Newton step. For SVC, NuSVC, SVR and NuSVR the
larger of two changes is used, by the span rule and by a smoothed loss.

Span rule: as its dual coefficient falls to zero, the decision value of support vector p falls at
the rate S_p^2, its squared distance from the affine combinations of the free support vectors. If
the other rows keep their state (free, at their bound, no support vector), it falls by the
coefficient times S_p^2 (Vapnik and Chapelle 2000, theorem 3; Chapelle et al. 2002, equation 17).
Rows that are no support vectors change nothing. If some other row becomes free on the way, the
value falls more slowly from there on; the one such row with the largest effect is taken into
account.

Smoothed loss: in few columns some free support vectors span everything, and the span rule sees no
change at all although the SVM would rest on other rows. There the Hessian is the density of rows at
the points where the loss is not differentiable (Koo, Lee, Kim and Park 2008), estimated by a
Gaussian kernel, and one Newton step gives the change.
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from scipy import linalg
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR

from leavezero._typing import AnyArray, Bools, Floats, Ints
from leavezero.joint_fit import pair_coefs, svm_decision_values, svm_gamma, svm_labels
from leavezero.leave_one_out._loo_method import (
    MAX_CELLS,
    LOOPredictions,
    OneTargetMethod,
    TrainingData,
    class_weighted,
    mismatch_error,
    to_dense,
)
from leavezero.leave_one_out._newton import (
    NewtonMethod,
    append_constant,
    convergence_reason,
    leverage_reason,
    newton_columns,
    newton_step,
)

SQUARED = ("squared_hinge", "squared_epsilon_insensitive")
NO_CURVATURE = "this loss has no second derivative, and liblinear returns no dual coefficients"
AT_BOUND = 1.0 - 1e-9
OFF_MARGIN = 0.1  # LIBSVM leaves free support vectors within its tolerance, 1e-3, of the margin
MIN_FREE, FEW_FREE = 3, 20  # free support vectors; measured against refits
MAX_LOST = 0.15  # rows of an SVM with few free vectors that the span rule misclassifies
FULL_KERNELS = ("rbf", "linear")  # few vectors do not span rbf, and linear is smoothed
TOO_MANY = "the kernel of its support vectors would need more than 400 MB"
TOO_MANY_PAIRS = "the decision values of all pairs of classes would need more than 400 MB"
JITTER = 1e-10
TINY = 1e-300
BLOCK = 256  # rows whose kernel is computed at the same time
BLOCK_CELLS = 4_000_000
MAX_IDLE = 20  # rows near the margin that may become support vectors
NORMAL_IQR = 1.34  # interquartile range of a normal distribution in standard deviations


@dataclass(frozen=True, eq=False)
class BinarySVM:
    """A two-class SVM or a regression; one entry per training row of it."""

    rows: Ints  # index in X
    dual_coef: Floats  # signed
    free: Bools  # dual coefficient between zero and its bound
    rise_limit: Floats  # how far the decision value of a row that is not free may rise or fall
    fall_limit: Floats  # until it becomes a free support vector; infinite if it never does
    margin: Floats  # the fall that misclassifies a row; infinite if it is, 0 in a regression
    upper_bound: Floats  # of the absolute dual coefficient
    distances: Floats  # from the points where the loss is not differentiable, one column each

    @property
    def n_bounded(self) -> int:
        return int(((self.dual_coef != 0.0) & ~self.free).sum())

    def take(self, which: Ints) -> "BinarySVM":
        """Return the SVM with some of its rows."""
        return BinarySVM(*(getattr(self, field.name)[which] for field in fields(self)))


@dataclass(frozen=True, eq=False)
class SVMKernel:
    """Kernel of a fitted SVM between its training rows."""

    model: Any
    X: Any
    gamma: float | None

    def between(self, left: Ints, right: Ints) -> Floats:
        """Return the kernel of some rows with others."""
        kernel, X = self.model.kernel, self.X
        if not len(left) or not len(right):
            return np.zeros((len(left), len(right)))
        if isinstance(kernel, str) and kernel == "precomputed":
            return to_dense(X[left][:, right])
        if callable(kernel):
            return np.asarray(kernel(X[left], X[right]))
        if X.shape[0] ** 2 <= BLOCK_CELLS:  # many classes need thousands of small parts
            return self._whole[left[:, None], right]
        return self._computed(X[left], X[right])

    @cached_property
    def _whole(self) -> Floats:
        return self._computed(self.X, self.X)

    def _computed(self, left: Any, right: Any) -> Floats:
        params = {"gamma": self.gamma, "degree": self.model.degree, "coef0": self.model.coef0}
        kernel = self.model.kernel
        return to_dense(pairwise_kernels(left, right, metric=kernel, filter_params=True, **params))

    def diagonal(self, rows: Ints) -> Floats:
        """Return the kernel of each row with itself."""
        if self.model.kernel == "rbf":
            return np.ones(len(rows))
        blocks = np.split(rows, range(BLOCK, len(rows), BLOCK))
        return np.concatenate([np.diagonal(self.between(block, block)) for block in blocks])

    def decision_values(self, support: Ints, dual_coef: Floats) -> Floats:
        """Return kernel sums over support vectors for all rows, without intercept.

        Products of blocks of the kernel take a fraction of the time of ``decision_function``.
        """
        n_rows = self.X.shape[0]
        blocks = np.split(np.arange(n_rows), range(BLOCK, n_rows, BLOCK))
        return np.concatenate([self.between(block, support) @ dual_coef for block in blocks])


class _KernelSVMMethod(OneTargetMethod):
    """Base class of methods for kernel SVMs."""

    def _predict_rows(self, model: Any, data: TrainingData) -> LOOPredictions:
        support = _support_rows(model, data)
        kernel = SVMKernel(model, data.X, svm_gamma(model, data.X))
        return self._predict_svm(model, data, support, kernel)

    @abstractmethod
    def _predict_svm(
        self, model: Any, data: TrainingData, support: Ints, kernel: SVMKernel
    ) -> LOOPredictions: ...


class SVCMethod(_KernelSVMMethod):
    """SVC and NuSVC with any kernel; several classes by one-vs-one votes, as the model predicts.

    ``predict_proba`` is not available, because ``probability=True`` calibrates on folds inside the
    fit. For NuSVC the SVC with the same solution is used.
    """

    name = "support vector classifier"
    estimator_types = (SVC, NuSVC)

    def _predict_svm(
        self, model: Any, data: TrainingData, support: Ints, kernel: SVMKernel
    ) -> LOOPredictions:
        codes = data.y
        if 4 * len(codes) * len(model.intercept_) > MAX_CELLS:  # coefficients, scores and votes
            return LOOPredictions("approximate", {}, unreliable=TOO_MANY_PAIRS)
        expected = np.repeat(np.arange(len(model.classes_)), model.n_support_)
        if not np.array_equal(codes[support], expected):
            raise mismatch_error(model, "its support vectors have other classes in y")
        weights = data.weights * model.class_weight_[codes]
        coefs = pair_coefs(model)
        scores = kernel.decision_values(support, coefs) + model.intercept_
        dual_coef = np.zeros((len(codes), coefs.shape[1]))
        dual_coef[support] = coefs
        svms = list(_pairs(model, codes, weights, dual_coef, scores))
        if _is_too_large(svms):
            return LOOPredictions("approximate", {}, unreliable=TOO_MANY)
        n_lost = np.zeros(len(svms), dtype=int)
        for pair, svm in enumerate(svms):
            changes, n_lost[pair] = decision_changes(svm, kernel)
            scores[svm.rows, pair] -= changes
        predictions = {
            "predict": svm_labels(model, scores),
            "decision_function": svm_decision_values(model, scores),
        }
        n_correct = int(np.sum(predictions["predict"] == model.classes_[codes]))
        share = (n_correct + 1.0) / (len(codes) + 2.0)  # positive error of a perfect score, too
        error = float(np.sqrt(len(codes) * share * (1.0 - share)))
        reason = _free_vectors_reason(model, svms, n_lost, error)
        return LOOPredictions("approximate", predictions, unreliable=reason)


class SVRMethod(_KernelSVMMethod):
    """SVR and NuSVR with any kernel."""

    name = "support vector regression"
    estimator_types = (SVR, NuSVR)

    def _predict_svm(
        self, model: Any, data: TrainingData, support: Ints, kernel: SVMKernel
    ) -> LOOPredictions:
        targets, bounds = data.y, model.C * data.weights
        dual_coef = np.zeros(len(targets))
        dual_coef[support] = to_dense(model.dual_coef_)[0]
        scores = kernel.decision_values(support, dual_coef[support]) + model.intercept_
        svm = _regression(model, dual_coef, bounds, targets - scores).take(np.flatnonzero(bounds))
        if _is_too_large([svm]):
            return LOOPredictions("approximate", {}, unreliable=TOO_MANY)
        changes, _ = decision_changes(svm, kernel)
        reason = _free_vectors_reason(model, [svm], np.zeros(1, dtype=int), 0.0)
        if np.abs(changes).max() > np.ptp(targets):
            reason = "leaving out a row changes its prediction by more than the range of y"
        scores[svm.rows] -= changes
        return LOOPredictions("approximate", {"predict": scores}, unreliable=reason)


def _support_rows(model: Any, data: TrainingData) -> Ints:
    """Return the rows of the support vectors; raise if they are other ones in X.

    LIBSVM removes rows without weight before it numbers the others.
    """
    rows, used = data.X, np.flatnonzero(data.weights > 0.0)
    if tuple(rows.shape) != tuple(model.shape_fit_):
        raise mismatch_error(model, f"it had {model.shape_fit_[0]} rows, X has {rows.shape[0]}")
    if np.max(model.support_, initial=-1) >= len(used):
        raise mismatch_error(model, f"only {len(used)} rows have a weight")
    support = used[model.support_]
    if model.kernel == "precomputed" or callable(model.kernel) or not len(support):
        return support
    fitted = model.support_vectors_
    if abs(rows[support] - fitted).max() > 1e-6 * abs(fitted).max():
        raise mismatch_error(model, "its support vectors are other rows of X")
    return support


def _is_too_large(svms: Sequence[BinarySVM]) -> bool:
    counts = [(int(svm.free.sum()), svm.n_bounded) for svm in svms]
    return any(2 * free * (free + bounded) > MAX_CELLS for free, bounded in counts)


def _pairs(
    model: Any, codes: Ints, weights: Floats, dual_coef: Floats, scores: Floats
) -> Iterator[BinarySVM]:
    """Yield the SVM of each pair of classes."""
    first_sign = -1.0 if len(model.classes_) == 2 else 1.0  # binary: above zero is the second
    for pair, (one, other) in enumerate(combinations(range(len(model.classes_)), 2)):
        rows = np.flatnonzero(((codes == one) | (codes == other)) & (weights > 0.0))
        signs = np.where(codes[rows] == one, first_sign, -first_sign)
        coefs, margins = dual_coef[rows, pair], signs * scores[rows, pair]
        sizes = np.abs(coefs) / weights[rows]
        bound = model.C if isinstance(model, SVC) else sizes.max(initial=0.0)
        bounded = sizes >= bound * AT_BOUND
        free = (sizes > 0.0) & ~bounded
        slack = np.abs(margins - 1.0)
        if 2 * np.sum(slack[free] > OFF_MARGIN) > np.sum(free):
            raise mismatch_error(model, "its free support vectors are not on the margin")
        rises = bounded == (signs > 0.0)
        yield BinarySVM(
            rows,
            coefs,
            free,
            rise_limit=np.where(rises, slack, np.inf),
            fall_limit=np.where(rises, np.inf, slack),
            margin=np.where(margins > 0.0, margins, np.inf),
            upper_bound=bound * weights[rows],
            distances=(margins - 1.0)[:, None],
        )


def _regression(model: Any, dual_coef: Floats, bounds: Floats, residuals: Floats) -> BinarySVM:
    """Return the SVM of a regression, whose free vectors are on the boundary of the tube."""
    sizes = np.abs(dual_coef)
    bounded = sizes >= bounds * AT_BOUND
    free = (sizes > 0.0) & ~bounded
    # NuSVR learns epsilon, so that it is read off the free vectors.
    epsilon = float(np.median(np.abs(residuals[free]))) if free.any() else 0.0
    scale = float(np.std(residuals)) + epsilon
    off = np.abs(np.abs(residuals[free]) - epsilon)
    if free.any() and np.median(off) > OFF_MARGIN * scale:
        raise mismatch_error(model, "its free support vectors are not on the boundary of the tube")
    rise_limit = np.abs(np.where(bounded, residuals - epsilon, epsilon + residuals))
    fall_limit = np.abs(np.where(bounded, residuals + epsilon, epsilon - residuals))
    rise_limit[bounded & (dual_coef < 0)] = np.inf
    fall_limit[bounded & (dual_coef > 0)] = np.inf
    return BinarySVM(
        np.arange(len(dual_coef)),
        dual_coef,
        free,
        rise_limit,
        fall_limit,
        margin=np.zeros(len(dual_coef)),
        upper_bound=bounds,
        distances=np.column_stack([residuals - epsilon, residuals + epsilon]),
    )


def _free_vectors_reason(
    model: Any, svms: Sequence[BinarySVM], n_lost: Ints, error: float
) -> str | None:
    """Return why few free support vectors make the predictions unreliable.

    If these cannot span everything, a few are enough unless most rows are at their bound, so that
    the free ones alone determine the intercept, or the span rule misclassifies many rows
    (``n_lost``, by SVM). ``error`` is the standard error of the number of correct rows.
    """
    counts = [int(svm.free.sum()) for svm in svms]
    if model.kernel in FULL_KERNELS:
        few = [
            n_free
            for svm, n_free, lost in zip(svms, counts, n_lost, strict=True)
            if (n_free < MIN_FREE and 2 * svm.n_bounded > len(svm.rows))
            or (n_free < FEW_FREE and lost > MAX_LOST * len(svm.rows))
        ]
    else:
        few = [n for n in counts if n < (FEW_FREE if sum(n_lost) > error else MIN_FREE)]
    if not few:
        return None
    return f"the SVM has only {min(few)} free support vectors, too few for the span rule"


def is_smoothed(svm: BinarySVM, kernel: SVMKernel) -> bool:
    """Return True for a linear SVM with fewer columns than rows, which may be spanned."""
    return bool(kernel.model.kernel == "linear" and kernel.X.shape[1] < len(svm.rows))


def decision_changes(svm: BinarySVM, kernel: SVMKernel) -> tuple[Floats, int]:
    """Return by how much the decision value of each row falls when it is left out.

    The span rule misses changes where free vectors span everything, the smoothed loss where the SVM
    separates its rows, so that the larger change is used. The second value counts the rows that the
    span rule misclassifies, 0 where the loss is smoothed.
    """
    smoothed = _smoothed_changes(svm, kernel)
    if not svm.free.any():
        return smoothed, 0
    by_span, n_lost = _span_changes(svm, kernel)
    changes = np.where(np.abs(smoothed) > np.abs(by_span), smoothed, by_span)
    return changes, 0 if is_smoothed(svm, kernel) else n_lost


def _smoothed_changes(svm: BinarySVM, kernel: SVMKernel) -> Floats:
    n_rows, n_columns = len(svm.rows), kernel.X.shape[1]
    width = _bandwidth(svm.distances[:, 0]) if is_smoothed(svm, kernel) else 0.0
    if not width > 0.0:
        return np.zeros(n_rows)
    density = np.exp(-0.5 * (svm.distances / width) ** 2).sum(axis=1)
    step = newton_step(
        append_constant(kernel.X[svm.rows]),
        np.zeros(n_rows),
        -svm.dual_coef,
        svm.upper_bound * density / (np.sqrt(2.0 * np.pi) * width),
        np.append(np.ones(n_columns), 0.0),
        np.zeros(n_columns + 1),
    )
    return -step.scores


def _bandwidth(values: Floats) -> float:
    """Return the bandwidth of a Gaussian density estimate (Silverman 1986, equation 3.31)."""
    low, high = np.quantile(values, [0.25, 0.75])
    spread, iqr = float(np.std(values)), float(high - low) / NORMAL_IQR
    return 0.9 * (min(spread, iqr) if iqr > 0.0 else spread) * len(values) ** -0.2


def _span_changes(svm: BinarySVM, kernel: SVMKernel) -> tuple[Floats, int]:
    kept = _relevant_rows(svm)
    part = svm.take(kept)
    span = _Span.from_svm(part, kernel)
    squares = np.concatenate([span.free_squares, span.other_squares])
    diameter = 4.0 * float(np.abs(kernel.diagonal(part.rows)).max())  # bounds every squared span
    falls = np.abs(part.dual_coef) * np.minimum(squares, diameter)
    lost = np.flatnonzero((falls > 0.0) & (part.margin <= falls))
    falls[lost] = np.maximum(falls[lost] - span.relief(lost), 0.0)
    changes = np.zeros(len(svm.rows))
    changes[kept] = np.sign(part.dual_coef) * falls
    return changes, len(lost)


def _relevant_rows(svm: BinarySVM) -> Ints:
    """Return free support vectors first, then bounded ones, then the nearest other rows."""
    idle = np.flatnonzero(svm.dual_coef == 0.0)
    if len(idle) > MAX_IDLE:
        limits = np.minimum(svm.rise_limit[idle], svm.fall_limit[idle])
        idle = idle[np.argpartition(limits, MAX_IDLE)[:MAX_IDLE]]
    bounded = np.flatnonzero(~svm.free & (svm.dual_coef != 0.0))
    return np.concatenate([np.flatnonzero(svm.free), bounded, idle])


@dataclass(frozen=True, eq=False)
class _Span:
    """Spans of an SVM whose rows are sorted as by ``_relevant_rows``; K is the free kernel."""

    svm: BinarySVM
    kernel: SVMKernel
    half: Floats  # A with A'A = K^-1
    sums: Floats  # K^-1 1
    total: float  # 1'K^-1 1
    free_squares: Floats  # squared spans of the free vectors
    projected: Floats  # A times the kernel of free vectors with the others
    missing: Floats  # one minus the sums of the others' weights in combinations of free vectors
    own: Floats  # kernel of each other row with itself
    other_squares: Floats  # squared spans of the others

    @classmethod
    def from_svm(cls, svm: BinarySVM, kernel: SVMKernel) -> "_Span":
        n_free = int(svm.free.sum())
        free, others = svm.rows[:n_free], svm.rows[n_free:]
        half = _inverse_root(kernel.between(free, free))
        sums = half.sum(axis=1) @ half
        total = float(sums.sum())
        # 1 / S_p^2 is the diagonal of the inverse of K bordered by ones.
        entries = np.einsum("ij,ij->j", half, half) - sums**2 / total
        free_squares = 1.0 / np.maximum(entries, JITTER * np.abs(entries).max() + TINY)
        projected = half @ kernel.between(free, others)
        missing = 1.0 - half.sum(axis=1) @ projected
        own = kernel.diagonal(others)
        explained = np.einsum("ij,ij->j", projected, projected) - missing**2 / total
        other_squares = np.maximum(own - explained, 0.0)
        return cls(
            svm, kernel, half, sums, total, free_squares, projected, missing, own, other_squares
        )

    def relief(self, lost: Ints) -> Floats:
        """Return by how much less the values of some rows fall because another row becomes free.

        As the dual coefficient a of p falls by t, the value of row q moves by t k_pq, k the part of
        the kernel outside the span. Once q is free, at t_q, p falls at the rate
        S_p^2 - k_pq^2 / S_q^2 for the rest of the way, a - t_q.
        """
        n_free, coefs = len(self.free_squares), self.svm.dual_coef
        rise, fall = self.svm.rise_limit[n_free:], self.svm.fall_limit[n_free:]
        relief = np.zeros(len(lost))
        is_free, size = lost < n_free, max(1, BLOCK_CELLS // max(1, len(self.own)))
        for which, commons in ((is_free, self._free_common), (~is_free, self._common)):
            for part in np.split(np.flatnonzero(which), range(size, int(which.sum()), size)):
                common, squares = commons(lost[part])
                coef = coefs[lost[part], None]
                limits = np.where((common < 0.0) != (coef < 0.0), rise, fall)
                squares = np.where(squares > JITTER * np.maximum(self.own, TINY), squares, np.inf)
                reach = np.abs(common)
                with np.errstate(invalid="ignore"):  # 0 / 0 of rows that never become free
                    reductions = (np.abs(coef) * reach - limits) * reach / squares
                relief[part] = np.fmax.reduce(reductions, axis=1, initial=0.0)
        return relief

    def _free_common(self, rows: Ints) -> tuple[Floats, Floats]:
        """Return k_pq and S_q^2 without p in the span, for free vectors p."""
        weights = self.half[:, rows].T @ self.projected
        weights += np.outer(self.sums[rows], self.missing) / self.total
        squares = self.free_squares[rows, None]
        return -weights * squares, self.other_squares + weights**2 * squares

    def _common(self, rows: Ints) -> tuple[Floats, Floats]:
        """Return k_pq and S_q^2 for support vectors p at their bound."""
        which, others = rows - len(self.free_squares), self.svm.rows[len(self.free_squares) :]
        common = self.kernel.between(self.svm.rows[rows], others)
        common -= self.projected[:, which].T @ self.projected
        common += np.outer(self.missing[which] / self.total, self.missing)
        common[np.arange(len(rows)), which] = 0.0
        return common, self.other_squares


def _inverse_root(matrix: Floats) -> Floats:
    """Return A with A'A the inverse, or the pseudo-inverse of a matrix that is not positive."""
    scale = max(float(np.abs(np.diagonal(matrix)).mean()), TINY)
    try:
        lower = linalg.cholesky(matrix + JITTER * scale * np.eye(len(matrix)), lower=True)
        (invert,) = linalg.get_lapack_funcs(("trtri",), (lower,))  # a third of a solve's work
        return np.asarray(invert(lower, lower=True)[0])
    except linalg.LinAlgError:  # few columns, or a kernel that is not an inner product
        values, vectors = np.linalg.eigh(matrix)
        kept = values > values.max(initial=0.0) * JITTER * len(matrix)
        return np.asarray((vectors[:, kept] / np.sqrt(values[kept])).T)


class LinearSVCMethod(NewtonMethod):
    """LinearSVC with the squared hinge loss, one class against the rest."""

    name = "linear support vector classifier"
    estimator_types = (LinearSVC,)

    def unsupported_reason(self, estimator: Any) -> str | None:
        if estimator.penalty != "l2":
            return "one Newton step requires a smooth penalty, got penalty='l1'"
        if estimator.multi_class != "ovr":
            return f"multi_class={estimator.multi_class!r} has one loss for all classes"
        if estimator.loss not in SQUARED:
            return f"{NO_CURVATURE}; SVC(kernel='linear') is supported"
        return None

    def _step(self, model: Any, data: TrainingData) -> tuple[dict[str, AnyArray], str | None]:
        weights = model.C * class_weighted(model, data)
        X, coefs, _ = newton_columns(model, data.X, model.coef_, 1.0, liblinear=True)
        fitted = np.asarray(X @ coefs.T)
        separated = bool(np.all(_predicted_codes(fitted) == data.y))
        scores = np.empty_like(fitted)
        reasons = []
        for k, coef in enumerate(coefs):
            signs = np.where(data.y == (k if len(coefs) > 1 else 1), 1.0, -1.0)
            errors = -signs * np.maximum(1.0 - signs * fitted[:, k], 0.0)
            scores[:, k], reason = _squared_loss_step(
                model, X, coef, errors, weights, float(weights.sum()), separated
            )
            reasons.append(reason)
        predictions = {
            "predict": model.classes_[_predicted_codes(scores)],
            "decision_function": scores if len(coefs) > 1 else scores[:, 0],
        }
        return predictions, next(filter(None, reasons), None)


class LinearSVRMethod(NewtonMethod):
    """LinearSVR with the squared epsilon-insensitive loss."""

    name = "linear support vector regression"
    estimator_types = (LinearSVR,)

    def unsupported_reason(self, estimator: Any) -> str | None:
        if estimator.loss in SQUARED:
            return None
        return f"{NO_CURVATURE}; SVR(kernel='linear') is supported"

    def _step(self, model: Any, data: TrainingData) -> tuple[dict[str, AnyArray], str | None]:
        weights = model.C * data.weights
        X, (coef,), _ = newton_columns(model, data.X, model.coef_[None], 1.0, liblinear=True)
        residuals = X @ coef - data.y
        errors = np.sign(residuals) * np.maximum(np.abs(residuals) - model.epsilon, 0.0)
        at_zero = float(weights @ np.maximum(np.abs(data.y) - model.epsilon, 0.0) ** 2)
        scores, reason = _squared_loss_step(model, X, coef, errors, weights, at_zero, False)
        return {"predict": scores}, reason


def _squared_loss_step(
    model: Any,
    X: Any,
    coef: Floats,
    errors: Floats,
    weights: Floats,
    objective_at_zero: float,
    separated: bool,
) -> tuple[Floats, str | None]:
    """Return the scores without each row, and why they are unreliable.

    The objective is sum_i w_i e_i^2 + |b|^2 / 2, e the errors beyond the margin or the tube. The
    decrement is relative to it, because this loss has no unit of its own. liblinear may stop far
    above the minimum, but not above the objective of zero coefficients: then the rows are others.
    """
    slopes, curvatures = 2.0 * weights * errors, 2.0 * weights * (errors != 0.0)
    gradient = slopes @ X + coef
    step = newton_step(X, X @ coef, slopes, curvatures, np.ones(X.shape[1]), gradient)
    objective = float(weights @ errors**2 + coef @ coef / 2.0)
    excess = np.inf if objective > objective_at_zero else 0.0
    decrement = step.decrement / max(objective, 1e-300)
    reason = convergence_reason(model, decrement, excess)
    return step.scores, reason or leverage_reason(step.leverages, separated)


def _predicted_codes(scores: Floats) -> Ints:
    if scores.shape[1] == 1:
        return (scores[:, 0] > 0).astype(np.intp)
    return np.asarray(scores.argmax(axis=1))
