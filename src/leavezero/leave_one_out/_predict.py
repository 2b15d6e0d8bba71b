"""Leave-one-out predictions for users."""

from typing import Any

import numpy as np

from leavezero._typing import AnyArray, Floats, Table
from leavezero._warnings import warn_caller
from leavezero.leave_one_out._loo_method import LOOPredictions, find_leave_one_out


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
    >>> from leavezero.leave_one_out import leave_one_out_predict
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 5.0]
    >>> leave_one_out_predict(LinearRegression().fit(X, y), X, y).round(3)
    array([-3. ,  2.5,  2. ])
    """
    name = type(estimator).__name__
    found = find_leave_one_out(estimator)
    if found is None:
        raise ValueError(
            f"estimator must be of a type with a leave-one-out method, got {name}. Use "
            "sklearn.model_selection.cross_val_predict, or register_leave_one_out a method for it."
        )
    result = found.predict(estimator, X, y, sample_weight)
    if method not in result.predictions:
        if result.unreliable is not None:
            raise ValueError(
                f"Leave-one-out predictions of {name} are not available: {result.unreliable}."
            )
        raise ValueError(
            f"method must be one of {sorted(result.predictions)} for {name}, got {method!r}."
        )
    if result.unreliable is not None:
        warn_caller(f"Leave-one-out predictions of {name} are unreliable: {result.unreliable}.")
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
