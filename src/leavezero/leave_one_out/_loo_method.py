"""The interface of leave-one-out methods: predictions for training rows from one fitted model."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from inspect import signature
from typing import Any, Literal, TypeVar

import numpy as np
from scipy import sparse
from scipy.special import softmax
from sklearn.utils import check_array
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_is_fitted

from leavezero._typing import AnyArray, Bools, Floats, Ints, Table
from leavezero._warnings import warn_caller

Method = TypeVar("Method", bound="LeaveOneOutMethod")
MethodName = Literal["exact", "approximate", "out-of-bag", "folds"]
MAX_CELLS = 50_000_000  # floats in memory at the same time: 400 MB
NO_PREDICTION = "no row has a prediction without itself: classes or neighborhoods are too small"
TOO_LARGE = "X is too large: more than 400 MB would be needed"


@dataclass(frozen=True, eq=False)
class LOOPredictions:
    """Predictions for each training row by a model fitted without that row.

    Parameters
    ----------
    method : "exact", "approximate", "out-of-bag" or "folds"
        How they were computed. Exact predictions equal those of a fit without the row, up to ties
        and rounding. Approximate ones take one step from the fit on all rows. Out-of-bag ones come
        from the members of an ensemble that were not trained on the row. Folds leave out the
        labels of several rows at a time.
    predictions : mapping of str to array
        Arrays by method name ("predict", "predict_proba", "decision_function"), as that method
        returns them, with one entry per training row, or per entry of ``rows``.
    has_prediction : array of bool of shape (n_samples,) or None, default=None
        Rows that have a prediction; None if all have.
    unreliable : str or None, default=None
        Why the predictions should not be used for this model; None if they may be used.
    rows : array of int or None, default=None
        The training row of each prediction, if they are not each row once and in order.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.leave_one_out import LOOPredictions
    >>> LOOPredictions("exact", {"predict": np.array([0, 1])}).unreliable is None
    True
    """

    method: MethodName
    predictions: Mapping[str, AnyArray] = field(repr=False)
    has_prediction: Bools | None = field(default=None, repr=False)
    unreliable: str | None = None
    rows: Ints | None = field(default=None, repr=False)


class LeaveOneOutMethod(ABC):
    """Base class: leave-one-out or out-of-bag predictions of one model type, without refitting.

    A subclass implements ``_predict``, sets ``estimator_types`` or implements :meth:`handles`, and
    implements :meth:`unsupported_reason` where some parameters are not supported.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyRegressor
    >>> from leavezero.leave_one_out import LeaveOneOutMethod, LOOPredictions
    >>> class MeanMethod(LeaveOneOutMethod):
    ...     name = "mean"
    ...     estimator_types = (DummyRegressor,)
    ...     def _predict(self, model, X, y, sample_weight):
    ...         return LOOPredictions("exact", {"predict": (y.sum() - y) / (len(y) - 1)})
    >>> y = np.array([1.0, 2.0, 6.0])
    >>> model = DummyRegressor().fit(np.zeros((3, 1)), y)
    >>> MeanMethod().predict(model, np.zeros((3, 1)), y).predictions["predict"]
    array([4. , 3.5, 1.5])
    """

    name: str = "unnamed"
    estimator_types: tuple[type, ...] = ()

    def handles(self, estimator: Any) -> bool:
        """Return True if the estimator, fitted or not, is of this model type.

        By default its type, not that of a base class, must be in ``estimator_types``.
        """
        return type(estimator) in self.estimator_types

    def unsupported_reason(self, estimator: Any) -> str | None:
        """Return why predictions are not available for these parameters; None if they are."""
        return None

    def check_supported(self, model: Any) -> None:
        """Raise if a model is not fitted or its parameters are not supported."""
        check_is_fitted(model)
        reason = self.unsupported_reason(model)
        if reason is not None:
            raise ValueError(
                f"Leave-one-out predictions of {type(model).__name__} are not available: {reason}."
            )

    def predict(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> LOOPredictions:
        """Return the leave-one-out predictions of a fitted model.

        ``X``, ``y`` and ``sample_weight`` are those that the model was fitted to; a ValueError is
        raised if they are not, as far as that can be seen, or if the model is not supported.
        """
        self.check_supported(model)
        return self._predict(model, X, y, sample_weight)

    def predict_many(
        self, models: Sequence[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> list[LOOPredictions]:
        """Return the predictions of several models fitted to the same rows.

        Subclasses override it where models share work, such as a decomposition of X.
        """
        return [self.predict(model, X, y, sample_weight) for model in models]

    @abstractmethod
    def _predict(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None
    ) -> LOOPredictions:
        """Return the predictions of a supported model."""


@dataclass(frozen=True, eq=False)
class TrainingData:
    """X as floats, dense or CSR; y as class codes or as the values of one target; weights."""

    X: Any
    y: AnyArray
    weights: Floats

    @classmethod
    def of(cls, model: Any, X: Table, y: AnyArray, sample_weight: Any) -> "TrainingData":
        """Convert the data that a model was fitted to."""
        rows = training_rows(model, X)
        n_rows = rows.shape[0]
        read = class_codes if hasattr(model, "classes_") else target_values
        return cls(rows, read(model, y, n_rows), row_weights(sample_weight, n_rows))


class OneTargetMethod(LeaveOneOutMethod):
    """Base class of methods for models of one target, which get their training data converted."""

    takes_weights = True

    def _predict(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None
    ) -> LOOPredictions:
        if not self.takes_weights:
            reject_weights(model, sample_weight)
        return self._predict_rows(model, TrainingData.of(model, X, y, sample_weight))

    @abstractmethod
    def _predict_rows(self, model: Any, data: TrainingData) -> LOOPredictions: ...


_REGISTERED: list[LeaveOneOutMethod] = []  # by users; the latest first


def register_leave_one_out(method: Method) -> Method:
    """Add a leave-one-out method, which takes precedence over the built-in ones.

    Parameters
    ----------
    method : LeaveOneOutMethod
        Method for one model type. Methods registered later take precedence.

    Returns
    -------
    LeaveOneOutMethod
        The same method.

    Examples
    --------
    >>> from leavezero.leave_one_out import LeaveOneOutMethod, register_leave_one_out
    >>> class MyMethod(LeaveOneOutMethod):
    ...     name = "mine"
    ...     def _predict(self, model, X, y, sample_weight): ...
    >>> register_leave_one_out(MyMethod()).name
    'mine'
    """
    _REGISTERED.insert(0, method)
    return method


def find_leave_one_out(estimator: Any) -> LeaveOneOutMethod | None:
    """Return the leave-one-out method for an estimator, or None.

    Parameters
    ----------
    estimator : estimator
        Any estimator, fitted or not.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from leavezero.leave_one_out import find_leave_one_out
    >>> find_leave_one_out(Ridge()).name
    'ridge'
    >>> find_leave_one_out(object()) is None
    True
    """
    from leavezero.leave_one_out._loo_methods import METHODS  # which import this module

    methods = (*_REGISTERED, *METHODS)
    return next((method for method in methods if method.handles(estimator)), None)


def leave_one_out_predict(
    estimator: Any,
    X: Table,
    y: AnyArray,
    *,
    method: str = "predict",
    sample_weight: Floats | None = None,
) -> AnyArray:
    """Return leave-one-out or out-of-bag predictions of a fitted estimator, without refitting.

    For many scikit-learn estimators the prediction for a training row by a model fitted without
    that row follows from the model fitted to all rows, exactly or to good approximation. It takes
    the place of ``cross_val_predict`` with ``LeaveOneOut()``. Ensembles of bootstrap samples use
    the members that were not trained on the row.

    Parameters
    ----------
    estimator : estimator
        Fitted to X, y and sample_weight.
    X, y : array-like
        The training data of the estimator.
    method : "predict", "predict_proba" or "decision_function", default="predict"
        Which prediction to return.
    sample_weight : array of shape (n_samples,) or None, default=None
        The weights of the fit.

    Returns
    -------
    array
        As the method of the estimator returns it. Floats are NaN for rows that have no
        prediction, such as rows in every bootstrap sample.

    Raises
    ------
    ValueError
        If the estimator, its parameters or the method are not supported, if it was fitted to
        other data, or if rows have no predicted label.

    Warns
    -----
    UserWarning
        If the predictions are unreliable.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from leavezero import leave_one_out_predict
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 5.0]
    >>> leave_one_out_predict(LinearRegression().fit(X, y), X, y).round(3)
    array([-3. ,  2.5,  2. ])
    """
    name = type(estimator).__name__
    what = f"Leave-one-out predictions of {name}"
    found = find_leave_one_out(estimator)
    if found is None:
        raise ValueError(
            f"estimator must be of a type with a leave-one-out method, got {name}. Use "
            "sklearn.model_selection.cross_val_predict, or add a method by register_leave_one_out."
        )
    result = found.predict(estimator, X, y, sample_weight)
    if method not in result.predictions and result.unreliable is not None:
        raise ValueError(f"{what} are not available: {result.unreliable}.")
    if method not in result.predictions:
        raise ValueError(
            f"method must be one of {sorted(result.predictions)} for {name}, got {method!r}."
        )
    if result.unreliable is not None:
        warn_caller(f"{what} are unreliable: {result.unreliable}.")
    return _one_per_row(result, method, len(y))


def _one_per_row(result: LOOPredictions, method: str, n_rows: int) -> AnyArray:
    """Return one prediction per training row, the first one of several."""
    values = np.asarray(result.predictions[method])
    known = result.has_prediction
    if result.rows is not None:
        rows, first = np.unique(result.rows, return_index=True)
        known = np.isin(np.arange(n_rows), rows)
        by_row = np.empty((n_rows, *values.shape[1:]), dtype=values.dtype)
        by_row[rows] = values[first]
        values = by_row
    if known is None or known.all():
        return values
    if values.dtype.kind != "f":
        missing = np.flatnonzero(~known)
        raise ValueError(
            f"{len(missing)} of {n_rows} rows have no leave-one-out prediction, the first is row "
            f"{missing[0]}. Use method='predict_proba', or an ensemble with more members."
        )
    values = values.copy()
    values[~known] = np.nan
    return values


def to_dense(X: Any) -> AnyArray:
    """Return an array from an array or a sparse matrix."""
    return np.asarray(X.toarray() if sparse.issparse(X) else X)


def mismatch_error(model: Any, why: str) -> ValueError:
    """Return the error for rows that the model was not fitted to."""
    return ValueError(
        f"{type(model).__name__} was not fitted to these rows: {why}. "
        "Pass the X, y and sample_weight that it was fitted to."
    )


def training_rows(model: Any, X: Table, dtype: Any = np.float64, **checks: Any) -> Any:
    """Return X as an array of floats or a CSR matrix, with as many columns as the model has."""
    rows = check_array(X, accept_sparse="csr", dtype=dtype, **checks)
    n_columns = getattr(model, "n_features_in_", rows.shape[1])  # absent with a kernel function
    if rows.shape[1] != n_columns:
        raise mismatch_error(model, f"X has {rows.shape[1]} columns, the model {n_columns}")
    return rows


def class_codes(model: Any, y: AnyArray, n_rows: int) -> Ints:
    """Return the index of each row's class in ``model.classes_``."""
    labels = _column(model, y, n_rows)
    codes = np.minimum(np.searchsorted(model.classes_, labels), len(model.classes_) - 1)
    unknown = model.classes_[codes] != labels
    if unknown.any():
        raise mismatch_error(model, f"class {labels[unknown][0].item()!r} is not in its classes_")
    return codes


def target_values(model: Any, y: AnyArray, n_rows: int) -> Floats:
    """Return a regression target as floats of shape (n_rows,)."""
    return np.asarray(_column(model, y, n_rows), dtype=np.float64)


def row_weights(sample_weight: Any, n_rows: int) -> Floats:
    """Return the weight of each row, ones if None."""
    if sample_weight is None:
        return np.ones(n_rows)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight must have shape ({n_rows},), got {weights.shape}.")
    return weights


def class_weighted(model: Any, data: TrainingData) -> Floats:
    """Return the weight of each row times that of its class, as scikit-learn computes it."""
    if model.class_weight is None:
        return data.weights
    options: dict[str, Any] = {}
    if "sample_weight" in signature(compute_class_weight).parameters:  # scikit-learn >= 1.7
        options["sample_weight"] = data.weights
    labels, classes = model.classes_[data.y], model.classes_
    by_class = compute_class_weight(model.class_weight, classes=classes, y=labels, **options)
    return np.asarray(data.weights * by_class[data.y])


def reject_weights(model: Any, sample_weight: Floats | None) -> None:
    """Raise if there are weights although the model is fitted without."""
    if sample_weight is not None:
        raise ValueError(
            f"sample_weight must be None: {type(model).__name__} is fitted without weights."
        )


def check_statistic(model: Any, attribute: str, value: Any) -> None:
    """Raise if a statistic of the rows differs from the fitted attribute."""
    if not nearly_equal(np.asarray(value), np.asarray(getattr(model, attribute))):
        raise mismatch_error(model, f"its {attribute} would be different")


def nearly_equal(value: AnyArray, fitted: AnyArray, scale: float | None = None) -> bool:
    """Return True if arrays agree up to rounding relative to ``scale``, the fitted maximum."""
    if value.shape != fitted.shape:
        return False
    tolerance = 1e-3 if fitted.dtype == np.float32 else 1e-6
    scale = float(np.abs(fitted).max(initial=0.0)) if scale is None else scale
    with np.errstate(invalid="ignore"):  # infinities: the values of X are too large
        return bool(np.all(np.abs(value - fitted) <= tolerance * scale + 1e-300))


def _column(model: Any, y: AnyArray, n_rows: int) -> AnyArray:
    column = np.asarray(y)
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1:
        raise ValueError(
            f"Leave-one-out predictions of {type(model).__name__} are available for one target, "
            f"got y of shape {column.shape}."
        )
    if len(column) != n_rows:
        raise mismatch_error(model, f"X has {n_rows} rows, y {len(column)}")
    return column


# Predictions of a classifier from one score per class


def singletons(codes: Ints) -> Bools:
    """Return the rows that are the only one of their class."""
    return np.asarray(np.bincount(codes)[codes] == 1)


def subtract(total: Floats, removed: Floats) -> Floats:
    """Return total - removed, exactly zero where only a rounding error would remain."""
    rest = total - removed
    return np.where(rest <= 1e-12 * total, 0.0, rest)


def loo_class_totals(codes: Ints, weights: Floats, n_classes: int) -> Floats:
    """Return the total weight of each class without each row, of shape (n_samples, n_classes)."""
    totals = np.bincount(codes, weights, minlength=n_classes).astype(np.float64)
    return subtract(totals, weights[:, None] * np.eye(n_classes)[codes])


def class_predictions(model: Any, scores: Floats, valid: Bools) -> LOOPredictions:
    """Return exact predictions from log posteriors, each up to a constant of its row.

    The score -inf marks a class that vanishes with its only row: it has probability 0 and the
    lowest float as its decision, as in scikit-learn's ``cross_val_predict``. Rows for which only
    one class remains have no prediction.
    """
    valid = valid & ~np.isnan(scores).any(axis=1) & (np.isfinite(scores).sum(axis=1) > 1)
    scores = np.where(valid[:, None], scores, 0.0)
    predictions: dict[str, AnyArray] = {"predict": model.classes_.take(scores.argmax(axis=1))}
    if hasattr(model, "predict_proba"):
        predictions["predict_proba"] = softmax(scores, axis=1)
    if hasattr(model, "decision_function"):
        predictions["decision_function"] = decision_values(scores)
    return partial_predictions("exact", predictions, valid)


def partial_predictions(
    method: MethodName, predictions: dict[str, AnyArray], valid: Bools, reason: str | None = None
) -> LOOPredictions:
    """Return predictions of which only some are valid; unreliable if none is."""
    reason = reason if valid.any() else reason or NO_PREDICTION
    return LOOPredictions(method, predictions, None if valid.all() else valid, reason)


def decision_values(scores: Floats) -> Floats:
    """Return ``decision_function`` of class scores: with two classes the difference."""
    if scores.shape[1] == 2:
        return np.asarray(scores[:, 1] - scores[:, 0])
    return np.maximum(scores, np.finfo(scores.dtype).min)
