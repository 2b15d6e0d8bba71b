"""Functions that score one estimator, without a search."""

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np

from leavezero._typing import AnyArray, Floats, RandomState, Table
from leavezero.augment import ValidationSet
from leavezero.evaluation import predict_in_blocks
from leavezero.search._base import BaseSearchLZO
from leavezero.search._grid import GridSearchLZO


def leave_zero_out_score(
    estimator: Any,
    X: Table,
    y: AnyArray,
    *,
    augmenter: Any = "auto",
    n_replicates: int = 10,
    validation_size: float | str = "auto",
    loo: bool | str = "auto",
    scoring: Any = None,
    params: dict[str, Any] | None = None,
    error_score: Any = np.nan,
    random_state: RandomState = None,
    timeout: float | None = None,
    memory_limit: int | str | None = None,
) -> Floats:
    """Return the score of an estimator on each replicate of a generated validation set.

    The estimator is fitted once, on all rows; ``cross_val_score`` fits it K times on parts. The
    scores are corrected by the leave-one-out or out-of-bag score of the estimator. They are not
    corrected, and may be far too high, if it has none (trees, boosting, neural networks): prefer
    ``cross_val_score`` then.

    Parameters
    ----------
    estimator : classifier or regressor
        The estimator; it is cloned.
    X : array, dataframe, sparse matrix or sequence of strings
        The features.
    y : array of shape (n_samples,) or (n_samples, n_outputs)
        The target.
    params : dict or None, default=None
        Further parameters of ``GridSearchLZO.fit``, for example ``sample_weight`` or ``groups``.
    augmenter, n_replicates, validation_size, loo, scoring, error_score, random_state
        See :class:`GridSearchLZO`; one metric.
    timeout, memory_limit
        See :class:`GridSearchLZO`.

    Returns
    -------
    array of shape (n_replicates,)
        Their mean is the score of the estimator.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from leavezero import leave_zero_out_score
    >>> X, y = load_iris(return_X_y=True)
    >>> scores = leave_zero_out_score(LogisticRegression(max_iter=1000), X, y, random_state=0)
    >>> scores.shape
    (10,)
    """
    arguments = locals()
    if not (scoring is None or isinstance(scoring, str) or callable(scoring)):
        raise ValueError(
            f"scoring of leave_zero_out_score must be one metric, got {scoring!r}. Use "
            "leave_zero_out_validate for several metrics."
        )
    return leave_zero_out_validate(**arguments)["test_score"]


def leave_zero_out_validate(
    estimator: Any,
    X: Table,
    y: AnyArray,
    *,
    augmenter: Any = "auto",
    n_replicates: int = 10,
    validation_size: float | str = "auto",
    loo: bool | str = "auto",
    scoring: Any = None,
    params: dict[str, Any] | None = None,
    return_train_score: bool = False,
    return_estimator: bool = False,
    error_score: Any = np.nan,
    random_state: RandomState = None,
    timeout: float | None = None,
    memory_limit: int | str | None = None,
) -> dict[str, Any]:
    """Return scores and times of an estimator, as ``cross_validate`` does, from one fit.

    Parameters
    ----------
    estimator, X, y, params
        See :func:`leave_zero_out_score`.
    scoring : str, callable, list, dict or None, default=None
        One metric or several.
    return_train_score : bool, default=False
        Whether to return training scores too.
    return_estimator : bool, default=False
        Whether to return the fitted estimator.
    augmenter, n_replicates, validation_size, loo, error_score, random_state
        See :class:`GridSearchLZO`.
    timeout, memory_limit
        See :class:`GridSearchLZO`.

    Returns
    -------
    dict
        ``test_score`` (with several metrics ``test_NAME``), an array with one entry per
        replicate; ``fit_time`` and ``score_time``, each replicate's share of the one fit and of its
        scoring; on request ``train_score``, the same for all replicates, and ``estimator``, the one
        fitted estimator repeated.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from leavezero import leave_zero_out_validate
    >>> X, y = load_iris(return_X_y=True)
    >>> results = leave_zero_out_validate(SVC(), X, y, n_replicates=3, random_state=0)
    >>> sorted(results), results["test_score"].shape
    (['fit_time', 'score_time', 'test_score'], (3,))
    """
    search = _fit_search(locals(), {}, refit=(lambda results: 0) if return_estimator else False)
    table, n_splits = search.cv_results_, search.n_splits_
    results: dict[str, Any] = {
        name: np.full(n_splits, table[f"mean_{name}"][0] / n_splits)
        for name in ("fit_time", "score_time")
    }
    if return_estimator:
        results["estimator"] = [search.best_estimator_] * n_splits
    for name in [key[len("mean_test_") :] for key in table if key.startswith("mean_test_")]:
        results[f"test_{name}"] = _splits(table, name, n_splits)[0]
        if return_train_score:
            results[f"train_{name}"] = np.full(n_splits, table[f"mean_train_{name}"][0])
    return results


def leave_zero_out_predict(
    estimator: Any,
    X: Table,
    y: AnyArray,
    *,
    method: str = "predict",
    augmenter: Any = "auto",
    n_replicates: int = 10,
    validation_size: float | str = "auto",
    params: dict[str, Any] | None = None,
    random_state: RandomState = None,
    timeout: float | None = None,
    memory_limit: int | str | None = None,
) -> tuple[AnyArray, ValidationSet]:
    """Return the predictions of an estimator fitted to all rows for a validation set, and that set.

    Parameters
    ----------
    estimator, X, y, params
        See :func:`leave_zero_out_score`.
    method : str, default="predict"
        The method to call: "predict", "predict_proba", "decision_function" and the like.
    augmenter, n_replicates, validation_size, random_state, timeout, memory_limit
        See :class:`GridSearchLZO`.

    Returns
    -------
    predictions : array with one entry per validation row
    validation_set : ValidationSet
        The rows of all replicates.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from leavezero import leave_zero_out_predict
    >>> X, y = load_iris(return_X_y=True)
    >>> y_pred, rows = leave_zero_out_predict(SVC(), X, y, n_replicates=2, random_state=0)
    >>> y_pred.shape, bool((y_pred == rows.y).mean() > 0.8)
    ((300,), True)
    """
    search = _fit_search(locals(), {}, loo=False, scoring=_no_score, error_score="raise")
    fitted, validation_set = search.best_estimator_, search.validation_set_
    if validation_set is None:
        raise ValueError(
            "leave_zero_out_predict requires a target and features that rows can be generated from."
        )
    if not hasattr(fitted, method):
        raise ValueError(
            "method of leave_zero_out_predict must be a method of the estimator, "
            f"{type(fitted).__name__} has no {method!r}."
        )
    return predict_in_blocks(getattr(fitted, method), validation_set.X), validation_set


def leave_zero_out_curve(
    estimator: Any,
    X: Table,
    y: AnyArray,
    *,
    param_name: str,
    param_range: Sequence[Any],
    augmenter: Any = "auto",
    n_replicates: int = 10,
    validation_size: float | str = "auto",
    loo: bool | str = "auto",
    scoring: Any = None,
    params: dict[str, Any] | None = None,
    error_score: Any = np.nan,
    n_jobs: int | None = None,
    random_state: RandomState = None,
    timeout: float | None = None,
    time_budget: float | None = None,
    memory_limit: int | str | None = None,
) -> tuple[Floats, Floats]:
    """Return training and validation scores for the values of one parameter.

    The shapes are those of ``validation_curve``, with one fit per value.

    Parameters
    ----------
    estimator, X, y, params
        See :func:`leave_zero_out_score`.
    param_name : str
        The parameter.
    param_range : sequence
        Its values.
    augmenter, n_replicates, validation_size, loo, scoring, error_score, n_jobs, random_state
        See :class:`GridSearchLZO`; one metric.
    timeout, time_budget, memory_limit
        See :class:`GridSearchLZO`.

    Returns
    -------
    train_scores : array of shape (n_values, n_replicates)
        Training scores; the same for all replicates.
    test_scores : array of shape (n_values, n_replicates)
        Scores on each replicate of the validation set.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from leavezero import leave_zero_out_curve
    >>> X, y = load_iris(return_X_y=True)
    >>> train, test = leave_zero_out_curve(
    ...     SVC(), X, y, param_name="C", param_range=[0.01, 1, 100], random_state=0
    ... )
    >>> test.shape
    (3, 10)
    """
    values = list(param_range)
    search = _fit_search(locals(), {param_name: values}, refit=False, return_train_score=True)
    table, n_splits = search.cv_results_, search.n_splits_
    rows = [_row_of(table["params"], param_name, value) for value in values]
    train = np.repeat(table["mean_train_score"][rows][:, None], n_splits, axis=1)
    return train, _splits(table, "score", n_splits)[rows]


def _fit_search(arguments: dict[str, Any], grid: Any, **options: Any) -> GridSearchLZO:
    """Return a search, fitted with the arguments of a function of this module and further options.

    Those arguments that are parameters of searches are passed on.
    """
    known = inspect.signature(BaseSearchLZO).parameters
    common = {name: value for name, value in arguments.items() if name in known}
    search = GridSearchLZO(arguments["estimator"], grid, **common | options)
    return search.fit(arguments["X"], arguments["y"], **(arguments["params"] or {}))


def _splits(table: dict[str, Any], name: str, n_replicates: int) -> Floats:
    return np.column_stack([table[f"split{r}_test_{name}"] for r in range(n_replicates)])


def _row_of(params: list[dict[str, Any]], name: str, value: Any) -> int:
    """Return the row of a value; equal values have one row."""
    same = [row for row, one in enumerate(params) if one[name] is value]
    return same[0] if same else next(row for row, one in enumerate(params) if one[name] == value)


def _no_score(estimator: Any, X: Table, y: AnyArray | None = None) -> float:
    return 0.0
