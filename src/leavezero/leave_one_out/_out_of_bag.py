"""Out-of-bag predictions of random forests, extra-trees and bagging, extrapolated to all members.

Only about 37 % of the members were fitted without a given row, so a small ensemble would look worse
out of bag than it is, and candidates with different ``n_estimators`` would not be comparable. The
expected loss of a mean of v predictions is a + b / v, and the same predictions in two halves give
the loss at v / 2. The loss of all T members follows:

    loss(T) = loss(v) - (1 - v / T) (loss(v / 2) - loss(v)).

Regression values and probabilities are moved towards the target, all by the same share, until their
squared loss is loss(T). Wrong labels are corrected, the smallest margins first, until the number of
errors is loss(T).
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import BaggingClassifier, BaggingRegressor

from leavezero._typing import AnyArray, Bools, Floats, Ints, Table
from leavezero.joint_fit import FORESTS, member_values
from leavezero.leave_one_out._loo_method import (
    LeaveOneOutMethod,
    LOOPredictions,
    class_codes,
    mismatch_error,
    target_values,
    training_rows,
)

_MIN_MEMBERS = 3.0  # out-of-bag members per row, on average


class OutOfBagMethod(LeaveOneOutMethod):
    """Out-of-bag predictions of forests with bootstrap, and of bagging.

    A row that every member was fitted to has no prediction.
    """

    name = "out-of-bag"
    estimator_types = (*FORESTS, BaggingClassifier, BaggingRegressor)

    def unsupported_reason(self, estimator: Any) -> str | None:
        if estimator.bootstrap:
            return None
        if type(estimator) in FORESTS:
            return "without bootstrap every tree is fitted to all rows"
        size = estimator.max_samples  # None, the default since scikit-learn 1.8, is all rows
        if size is None or (isinstance(size, float) and size == 1.0):
            return "without bootstrap and max_samples every member is fitted to all rows"
        return None

    def _predict(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None
    ) -> LOOPredictions:
        is_forest, classes = type(model) in FORESTS, getattr(model, "classes_", None)
        # Trees read float32; converted once, their own checks can be skipped.
        dtype = np.float32 if is_forest else None
        rows = training_rows(model, X, dtype=dtype, ensure_all_finite=False)
        n_rows = rows.shape[0]
        if getattr(model, "n_outputs_", 1) > 1:
            raise ValueError(
                "Leave-one-out predictions are available for one target; "
                f"{type(model).__name__} was fitted to {model.n_outputs_}."
            )
        in_bag = _in_bag(model, n_rows, sample_weight)
        if is_forest:
            _check_leaves(model, rows, in_bag[0], sample_weight)
        if classes is None:
            target = target_values(model, y, n_rows)[:, None]
        else:
            target = np.eye(len(classes))[class_codes(model, y, n_rows)]
        members = _out_of_bag(model, rows, in_bag, target.shape[1])
        has_prediction = members.counts[0] > 0
        values = target + _error_ratio(members, target) * (members.means() - target)
        values[~has_prediction] = 0.0
        predictions: dict[str, AnyArray] = {"predict": values[:, 0]}
        if classes is not None:
            labels = classes[_corrected_codes(members, target.argmax(axis=1))]
            predictions = {"predict": labels, "predict_proba": values}
        number = float(members.counts.sum(axis=0).mean())
        unreliable = None
        if number < _MIN_MEMBERS:
            unreliable = f"only {number:.1f} members per row were fitted without it"
        mask = None if has_prediction.all() else has_prediction
        return LOOPredictions("out-of-bag", predictions, mask, unreliable)


def _in_bag(model: Any, n_rows: int, sample_weight: Floats | None) -> Bools:
    """Return the rows that each member was fitted to, of shape (n_members, n_rows)."""
    samples = list(model.estimators_samples_)
    weighted = sample_weight is not None or getattr(model, "class_weight", None) is not None
    # Shares below 1 and of weights are rounded differently by different scikit-learn versions.
    all_rows = isinstance(model.max_samples, float) and model.max_samples == 1.0 and not weighted
    if (model.max_samples is None or all_rows) and len(samples[0]) != n_rows:
        raise mismatch_error(model, f"each member sampled {len(samples[0])} rows, X has {n_rows}")
    if max(int(np.max(rows, initial=0)) for rows in samples) >= n_rows:
        raise mismatch_error(model, f"its members sampled rows beyond the {n_rows} of X")
    in_bag = np.zeros((len(samples), n_rows), dtype=np.bool_)
    for mask, rows in zip(in_bag, samples, strict=True):
        mask[rows] = True
    return in_bag


def _check_leaves(model: Any, rows: Any, in_bag: Bools, sample_weight: Any) -> None:
    """Raise if the rows fill the leaves of the first tree with other counts than it stored."""
    if sample_weight is not None:
        in_bag = in_bag & (np.asarray(sample_weight) > 0)
    tree = model.estimators_[0].tree_
    counts = np.bincount(tree.apply(rows[np.flatnonzero(in_bag)]), minlength=tree.node_count)
    if np.any((counts != tree.n_node_samples) & (tree.children_left < 0)):
        raise mismatch_error(model, "the leaves of its first tree contain other rows")


class _Members(NamedTuple):
    """Sums and numbers of out-of-bag predictions per row, in two halves."""

    sums: Floats  # (2, n_rows, n_outputs)
    counts: Floats  # (2, n_rows)
    n_members: int

    def means(self) -> Floats:
        """Return the mean of each row, zero without a prediction."""
        counts = np.maximum(self.counts.sum(axis=0), 1.0)
        return np.asarray(self.sums.sum(axis=0) / counts[:, None])

    def half_means(self) -> tuple[Bools, Floats]:
        """Return the rows with predictions in both halves, and the means of the halves there."""
        both = self.counts[1] > 0
        return both, self.sums[:, both] / self.counts[:, both, None]

    def missing(self) -> float:
        """Return 1 - v / T, the share of members that were fitted to a row."""
        return 1.0 - float(self.counts.sum(axis=0).mean()) / self.n_members


def _out_of_bag(model: Any, rows: Any, in_bag: Bools, n_outputs: int) -> _Members:
    """Return the predictions of each member for the rows that it was not fitted to."""
    sums, counts = np.zeros((2, rows.shape[0], n_outputs)), np.zeros((2, rows.shape[0]))
    for number, mask in enumerate(in_bag):
        rest = np.flatnonzero(~mask)
        if len(rest):
            half = (counts[0, rest] > counts[1, rest]).astype(np.intp)  # in turn
            sums[half, rest] += member_values(model, number, rows[rest]).reshape(len(rest), -1)
            counts[half, rest] += 1
    return _Members(sums, counts, len(in_bag))


def _error_ratio(members: _Members, target: Floats) -> float:
    """Return sqrt(loss(T) / loss(v)) for the squared loss, between 0 and 1."""
    both, halves = members.half_means()
    loss = float(((members.means()[both] - target[both]) ** 2).sum())
    half_loss = float(((halves - target[both]) ** 2).sum()) / 2.0
    if loss <= 0.0:
        return 1.0
    return float(np.sqrt(np.clip(1.0 - members.missing() * (half_loss - loss) / loss, 0.0, 1.0)))


def _corrected_codes(members: _Members, codes: Ints) -> Ints:
    """Return predicted classes with as many errors corrected as all members would."""
    means = members.means()
    predicted = means.argmax(axis=1)
    both, halves = members.half_means()
    half_errors = float((halves.argmax(axis=2) != codes[both]).mean(axis=0).sum())
    errors = float((predicted[both] != codes[both]).sum())
    n_corrected = max(round(members.missing() * (half_errors - errors)), 0)
    wrong = np.flatnonzero((predicted != codes) & (members.counts[0] > 0))
    margins = means[wrong].max(axis=1) - means[wrong, codes[wrong]]
    nearest = wrong[np.argsort(margins, kind="stable")[:n_corrected]]
    predicted[nearest] = codes[nearest]
    return predicted
