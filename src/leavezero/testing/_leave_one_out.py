"""Conformance check of leave-one-out methods, against refits on small data."""

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from leavezero._tables import count_rows, take_rows
from leavezero._typing import AnyArray, Bools, Floats, Table
from leavezero.leave_one_out import LeaveOneOutMethod, LOOPredictions

EXACT = 1e-8  # tolerance of exact predictions
_METHODS = ("predict", "predict_proba", "decision_function")
_Data = tuple[Table, AnyArray, Floats | None]


def check_leave_one_out(
    method: LeaveOneOutMethod,
    estimator: Any,
    X: Table = None,
    y: AnyArray | None = None,
    sample_weight: Floats | None = None,
    *,
    tolerance: float = 0.1,
) -> None:
    """Raise an AssertionError if a leave-one-out method violates its contract.

    Predictions must have the shape and dtype of the model's own. Exact ones must equal those of
    refits without the row up to ties and rounding, approximate ones up to ``tolerance``, and
    out-of-bag ones must not follow a target that is noise. Rows that the model was not fitted to
    must raise a ValueError or give a reason in ``unreliable``. ``predict_many`` must agree with
    ``predict``. Models and data must not be changed.

    Parameters
    ----------
    method : LeaveOneOutMethod
        Method to check.
    estimator : estimator
        Estimator that the method handles; it is cloned. If it is not supported, nothing is checked.
    X, y, sample_weight : arrays or None, default=None
        Training data. If X is None, small simulated data is used, with weights if the estimator
        supports them.
    tolerance : float, default=0.1
        Largest mean error of approximate predictions: as a share of different labels, in
        probability, or in standard deviations of the refits' predictions.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from leavezero.leave_one_out import find_leave_one_out
    >>> from leavezero.testing import check_leave_one_out
    >>> model = KNeighborsClassifier(3)
    >>> check_leave_one_out(find_leave_one_out(model), model)
    """
    assert method.handles(estimator), f"{method.name} does not handle {estimator!r}."
    if method.unsupported_reason(estimator) is not None:
        return
    seeded = clone(estimator)
    if seeded.get_params(deep=False).get("random_state", 0) is None:
        seeded.set_params(random_state=0)
    for data in _simulate(seeded) if X is None else [(X, np.asarray(y), sample_weight)]:
        _check_data(method, seeded, data, tolerance)


def refit_predictions(
    estimator: Any, X: Table, y: AnyArray, sample_weight: Floats | None, methods: Sequence[str]
) -> tuple[dict[str, AnyArray], Bools]:
    """Return the predictions of refits without each row, and the rows for which a refit exists."""
    data = X, np.asarray(y), sample_weight
    refits = [_refit_without(estimator, data, row, methods) for row in range(count_rows(X))]
    exists = np.array([refit is not None for refit in refits])
    filler = next((refit for refit in refits if refit is not None), dict.fromkeys(methods))
    rows = [refit or filler for refit in refits]
    return {name: np.array([row[name] for row in rows]) for name in methods}, exists


def _refit_without(
    estimator: Any, data: _Data, row: int, methods: Sequence[str]
) -> dict[str, Any] | None:
    """Return the predictions of a refit for the row left out; None if it fails."""
    X, y, _ = data
    others = np.delete(np.arange(len(y)), row)
    left_out = take_rows(X, np.array([row]))
    if get_tags(estimator).input_tags.pairwise:
        left_out = left_out[:, others]
    try:
        model = _fit(estimator, _subset(estimator, data, others))
        values = {name: _silent(getattr(model, name), left_out)[0] for name in methods}
    except (ArithmeticError, LookupError, ValueError):  # with too few rows fits fail in many ways
        return None
    if any(np.asarray(v).dtype.kind == "f" and np.isnan(v).any() for v in values.values()):
        return None
    return {name: _all_classes(model, y, value, name) for name, value in values.items()}


def _all_classes(model: Any, y: AnyArray, value: Any, name: str) -> Any:
    """Return scores by class of y; a class without rows gets probability 0 or the lowest float."""
    fitted, classes = getattr(model, "classes_", None), np.unique(y)
    if name == "predict" or fitted is None or len(fitted) == len(classes):
        return value
    if np.ndim(value) == 0:  # two classes remain: the score is that of the second
        value = [-value, value]
    scores = np.full(len(classes), 0.0 if name == "predict_proba" else np.finfo(np.float64).min)
    scores[np.searchsorted(classes, fitted)] = value
    return scores


def _subset(estimator: Any, data: _Data, rows: AnyArray) -> _Data:
    X, y, sample_weight = data
    X = take_rows(X, rows)
    X = X[:, rows] if get_tags(estimator).input_tags.pairwise else X
    return X, y[rows], None if sample_weight is None else sample_weight[rows]


def _fit(estimator: Any, data: _Data) -> Any:
    X, y, sample_weight = data
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    return _silent(clone(estimator).fit, X, y, **weights)


def _silent(function: Any, *arguments: Any, **named: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # poor models warn; they are checked all the same
        return function(*arguments, **named)


def _simulate(estimator: Any) -> Iterator[_Data]:
    """Yield small data sets that the estimator can be fitted to."""
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(24, 3)), np.arange(24) % 3
    if get_tags(estimator).input_tags.positive_only:
        X = rng.poisson(np.exp(X)).astype(np.float64)
    weights = rng.integers(1, 4, size=24).astype(np.float64)
    supported = weights if has_fit_parameter(estimator, "sample_weight") else None
    if is_classifier(estimator):
        X = X + codes[:, None] * np.eye(3)[0]
        yield X, np.array(["one", "three", "two"])[codes], None
        yield X, (codes == 0).astype(np.int64), supported
    else:
        target = X @ [1.0, 2.0, -1.0] + rng.normal(size=24) + 5.0
        target = np.exp(target / 4) if get_tags(estimator).target_tags.positive_only else target
        yield X, target, None
        yield X, target, supported


def _check_data(method: LeaveOneOutMethod, estimator: Any, data: _Data, tolerance: float) -> None:
    model = _fit(estimator, data)
    before = joblib.hash((_attributes(model), data))
    loo = method.predict(model, *data)
    unchanged = before == joblib.hash((_attributes(model), data))
    assert unchanged, f"{method.name} changes {model!r} or its data."
    _check_shapes(method, model, loo, data[0])
    _check_many(method, [model, _fit(estimator, data)], data, loo)
    _check_other_rows(method, model, data, loo.method)
    if loo.unreliable is not None:
        return
    if loo.method == "out-of-bag":
        _check_noise(method, estimator, data[0])
        return
    refits, exists = refit_predictions(estimator, *data, list(loo.predictions))
    has_prediction = np.ones_like(exists) if loo.has_prediction is None else loo.has_prediction
    impossible = np.flatnonzero(has_prediction & ~exists)
    assert not len(impossible), (
        f"{method.name} has a prediction of {model!r} for row {impossible[0]}, but a fit without "
        "that row fails."
    )
    if has_prediction.any():
        _check_close(method, model, loo, refits, has_prediction, tolerance)


def _attributes(model: Any) -> dict[str, Any]:
    """Return parameters and fitted attributes; private ones include counters of neighbor trees."""
    return {name: value for name, value in vars(model).items() if not name.startswith("_")}


def _check_shapes(method: LeaveOneOutMethod, model: Any, loo: LOOPredictions, X: Table) -> None:
    valid = ("exact", "approximate", "out-of-bag")
    assert loo.method in valid, f"{method.name} has method {loo.method!r}, not one of {valid}."
    unknown = sorted(set(loo.predictions) - set(_METHODS))
    assert not unknown, f"{method.name} has predictions for {unknown}."
    assert loo.predictions or loo.unreliable, f"{method.name} has no predictions of {model!r}."
    for name, values in loo.predictions.items():
        own = _silent(getattr(model, name), X)
        found = f"{method.name}'s {name} has"
        same = values.shape == own.shape
        assert same, f"{found} shape {values.shape}, the model's {own.shape}."
        same = values.dtype.kind == own.dtype.kind
        assert same, f"{found} dtype {values.dtype}, the model's {own.dtype}."
    if loo.has_prediction is not None:
        full = loo.has_prediction.shape == (count_rows(X),) and loo.has_prediction.dtype == bool
        assert full, f"{method.name}'s has_prediction must have one bool per row."


def _check_many(method: LeaveOneOutMethod, models: Any, data: _Data, loo: LOOPredictions) -> None:
    results = method.predict_many(models, *data)
    assert len(results) == len(models), f"{method.name}'s predict_many loses models."
    for result in results:
        for name, values in loo.predictions.items():
            same = np.array_equal(result.predictions[name], values)
            if values.dtype.kind == "f":
                same = np.allclose(result.predictions[name], values, EXACT, EXACT, equal_nan=True)
            assert same, f"{method.name}'s predict_many differs from predict for {models[0]!r}."


def _check_other_rows(method: LeaveOneOutMethod, model: Any, data: _Data, kind: str) -> None:
    X, y, sample_weight = data
    trials = {"fewer rows": _subset(model, data, np.arange(len(y) - 3))}
    if kind != "out-of-bag":
        shifted = take_rows(X, np.roll(np.arange(len(y)), 1))
        trials["rows in another order than the target"] = (shifted, y, sample_weight)
    for name, trial in trials.items():
        try:
            result = method.predict(model, *trial)
        except ValueError:
            continue
        assert result.unreliable is not None, f"{method.name} accepts {name} for {model!r}."


def _check_noise(method: LeaveOneOutMethod, estimator: Any, X: Table) -> None:
    """Fail if out-of-bag predictions follow a target that is independent of the rows."""
    rng = np.random.default_rng(0)
    X = take_rows(X, np.tile(np.arange(count_rows(X)), 3))
    X = np.asarray(X, dtype=np.float64) + rng.uniform(0, 0.5, size=np.shape(X))
    noise = rng.normal(size=count_rows(X))
    target = (noise > 0).astype(np.int64) if is_classifier(estimator) else noise
    loo = method.predict(_fit(estimator, (X, target, None)), X, target)
    rows = slice(None) if loo.has_prediction is None else loo.has_prediction
    predicted = loo.predictions["predict"][rows].astype(np.float64)
    correlation = float(np.corrcoef(predicted, target[rows])[0, 1])
    assert correlation < 0.5, (
        f"{method.name}'s predictions have correlation {correlation:.2g} with a target that is "
        "noise: they use members that were fitted to the row."
    )


def _check_close(
    method: LeaveOneOutMethod,
    model: Any,
    loo: LOOPredictions,
    refits: dict[str, AnyArray],
    rows: Bools,
    tolerance: float,
) -> None:
    for name, values in loo.predictions.items():
        found, expected = f"{method.name}'s {name} of {model!r}", refits[name][rows]
        labels = name == "predict" and is_classifier(model)
        if labels:
            error = (values[rows] != expected) & ~_tied(refits, rows, expected)
        else:
            error = np.abs(values[rows] - expected)
        if loo.method == "exact":
            limit = 0 if labels else EXACT * np.maximum(1.0, np.abs(expected))
            most = f"refits differ by up to {error.max():.3g}"
            assert np.all(error <= limit), f"{found} is not exact: {most}."
            continue
        unit = 1.0 if labels or name == "predict_proba" else max(float(expected.std()), 1e-12)
        mean = float(np.mean(error)) / unit
        most = f"more than the tolerance of {tolerance:g}"
        assert mean <= tolerance, f"{found} has a mean error of {mean:.3g}, {most}."


def _tied(refits: dict[str, AnyArray], rows: Bools, labels: AnyArray) -> Bools:
    """Return the rows for which two classes share the highest score, so that either is right."""
    scores = refits.get("predict_proba", refits.get("decision_function"))
    if scores is None or labels.ndim == 2:
        return np.zeros(labels.shape, dtype=bool)
    scores = scores[rows] if scores.ndim == 2 else np.outer(scores[rows], [0.0, 1.0])
    ordered = np.sort(scores, axis=1)
    return np.asarray(ordered[:, -1] - ordered[:, -2] <= EXACT)
