"""Out-of-bag predictions of random forests, extra-trees and bagging.

About 37 % of the members were fitted without a given row; its prediction is their mean. A small
ensemble therefore scores a little worse out of bag than all of its members do on new rows.
"""

from typing import Any

import numpy as np
from sklearn.ensemble import BaggingClassifier, BaggingRegressor

from leavezero._typing import AnyArray, Bools, Floats, Table
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
        if classes is None:
            target_values(model, y, n_rows)
        else:
            class_codes(model, y, n_rows)
        in_bag = _in_bag(model, n_rows, sample_weight)
        if is_forest:
            _check_leaves(model, rows, in_bag[0], sample_weight)
        values, counts = _out_of_bag(model, rows, in_bag, 1 if classes is None else len(classes))
        has_prediction = counts > 0
        predictions: dict[str, AnyArray] = {"predict": values[:, 0]}
        if classes is not None:
            labels = classes[values.argmax(axis=1)]
            predictions = {"predict": labels, "predict_proba": values}
        number = float(counts.mean())
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


def _out_of_bag(model: Any, rows: Any, in_bag: Bools, n_outputs: int) -> tuple[Floats, Floats]:
    """Return the mean prediction of the members not fitted to each row, and their number.

    The mean is zero where there is no such member.
    """
    sums, counts = np.zeros((rows.shape[0], n_outputs)), np.zeros(rows.shape[0])
    for number, mask in enumerate(in_bag):
        rest = np.flatnonzero(~mask)
        if len(rest):
            sums[rest] += member_values(model, number, rows[rest]).reshape(len(rest), -1)
            counts[rest] += 1
    return sums / np.maximum(counts, 1.0)[:, None], counts
