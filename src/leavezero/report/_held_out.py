"""Predictions of the selected model for rows that it was not fitted to, and what they show."""

import logging
import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy import stats
from sklearn import metrics
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from threadpoolctl import threadpool_limits  # required by scikit-learn

from leavezero._tables import is_pandas, take_rows
from leavezero._typing import AnyArray, Floats, Ints, Table
from leavezero.leave_one_out import leave_one_out_predict

Fold = tuple[Ints, Ints]  # training rows and test rows

MAX_TRAIN, MAX_TEST = 16_000, 4_000  # rows of one fold
MIN_TRAIN = 1_000  # if there is little time
MAX_FOLDS = 10
MAX_PERMUTED = 300  # columns
MAX_PERMUTED_ROWS, MAX_PERMUTED_CELLS = 20_000, 2_000_000  # of all copies of a fold's test rows
N_REPEATS = 3  # permutations of a column in each fold
MAX_CLASSES, MAX_CURVES, MAX_COLUMNS = 10, 6, 10
N_BINS, N_POINTS = 25, 60
RARE = 0.1  # share of a class below which precision is shown instead of the false positive rate

_log = logging.getLogger("leavezero")


def describe_predictions(
    estimator: Any,
    X: Table,
    y: AnyArray,
    *,
    folds: Sequence[Fold],
    scorer: Any,
    classes: AnyArray | None = None,
    use_loo: bool = True,
    n_jobs: int | None = None,
    seed: int = 0,
    seconds: float | None = None,
    fit_seconds: float = 0.0,
) -> dict[str, Any] | None:
    """Return what predictions of a fitted estimator for held-out rows show.

    These are leave-one-out or out-of-bag predictions if the estimator has reliable ones, else those
    of models fitted to the training rows of the folds. Permutation importances always use the
    latter. None if a fold fails, or if there is no time for one fit to few rows.

    Parameters
    ----------
    estimator : estimator
        Fitted to X and y.
    X, y : table and array of shape (n_samples,)
        The training data.
    folds : sequence of pairs of arrays
        Training rows and test rows; of large folds a sample is used.
    scorer : callable
        A scorer of scikit-learn.
    classes : array or None, default=None
        The sorted classes; None for regression.
    use_loo : bool, default=True
        Whether leave-one-out predictions are valid: not for rows in groups or in order.
    n_jobs, seed : int
        The number of workers and the random seed.
    seconds : float or None, default=None
        The time for all folds. At least one is used, and as many others as there is time for.
    fit_seconds : float, default=0.0
        The time that the estimator took to fit all rows. If it is more than the time for the folds,
        they have fewer training rows.
    """
    rng = np.random.default_rng(seed)
    n_train = MAX_TRAIN
    if seconds is not None and fit_seconds * min(1, MIN_TRAIN / len(y)) > max(seconds, 1.0):
        return None
    if seconds is not None and fit_seconds > 0:  # half of the time is for predictions
        n_train = int(np.clip(len(y) * seconds / (2 * fit_seconds), MIN_TRAIN, MAX_TRAIN))
    folds = [(_sample(train, n_train, rng), _sample(test, MAX_TEST, rng)) for train, test in folds]
    folds = folds[:MAX_FOLDS]
    permuted = is_pandas(X) or (isinstance(X, np.ndarray) and X.ndim == 2)
    permuted = permuted and X.shape[1] <= MAX_PERMUTED
    samples = (  # of rows, so that a worker does not receive the whole table
        [(take_rows(X, rows), y[rows]) for rows in fold] for fold in folds
    )
    tasks = (
        delayed(_use_fold)(estimator, *sample, scorer, classes, permuted, seed + at, seconds)
        for at, sample in enumerate(samples)
    )
    # workers take seconds to start
    n_workers = n_jobs if len(y) > MAX_TEST and seconds is None else 1
    started, found = time.monotonic(), []
    try:
        for one in Parallel(n_workers, return_as="generator")(tasks):
            found.append(one)
            passed = time.monotonic() - started
            if seconds is not None and passed * (1 + 1 / len(found)) > seconds:
                break
    except (ValueError, TypeError):  # such as a fold without one of the classes
        _log.warning("A fold failed; the report shows no held-out predictions.", exc_info=True)
        return None
    folds = folds[: len(found)]
    values, importances = zip(*found, strict=True)
    baseline = baseline_score(y, scorer, is_regression=classes is None)
    use_loo = use_loo and len(y) <= MAX_TRAIN + MAX_TEST  # they may take long for more rows
    use_loo = use_loo and (seconds is None or time.monotonic() - started < seconds)
    predicted = _leave_one_out(estimator, X, y, classes) if use_loo else None
    source, rows = "leave-one-out or out-of-bag predictions of the model", np.arange(len(y))
    if predicted is None:
        n_folds = f"{len(folds)} fold{'s' * (len(folds) > 1)}"
        source = f"predictions of the model fitted to the training rows of {n_folds}"
        predicted, rows = np.concatenate(values), np.concatenate([test for _, test in folds])
    known = np.isfinite(predicted if predicted.ndim == 1 else predicted[:, 0])
    y, predicted = y[rows][known], predicted[known]
    described: dict[str, Any] = {
        "source": f"{len(y):,} {source}",
        "n_fits": len(folds),
        "baseline": baseline,
        "importances": _importances(X, importances, folds) if permuted else None,
    }
    if classes is None:
        return described | _regression(y, predicted)
    return described | _classification(y, predicted, classes)


def baseline_score(y: AnyArray, scorer: Any, *, is_regression: bool) -> float:
    """Return the score of class frequencies, or of the mean, for the rows they are computed from.

    It is hardly optimistic, as no features are used. Without a row, the majority of two classes of
    equal size is the other one: the leave-one-out accuracy is 0 then.
    """
    model = DummyRegressor() if is_regression else DummyClassifier(strategy="prior")
    no_features = np.zeros((len(y), 1))
    return float(scorer(model.fit(no_features, y), no_features, y))


def _sample(rows: Ints, limit: int, rng: np.random.Generator) -> Ints:
    return rows if len(rows) <= limit else np.sort(rng.choice(rows, limit, replace=False))


def _use_fold(
    estimator: Any,
    train: tuple[Table, AnyArray],
    test: tuple[Table, AnyArray],
    scorer: Any,
    classes: AnyArray | None,
    permuted: bool,
    seed: int,
    seconds: float | None,
) -> tuple[Floats, Floats | None]:
    """Return predictions for the test rows, and importances by column."""
    # if other programs use the cores, waiting BLAS threads make small fits up to 50 times slower
    with warnings.catch_warnings(), threadpool_limits(1, user_api="blas"):
        warnings.simplefilter("ignore")
        model = clone(estimator).fit(*train)
        started, n_rows = time.perf_counter(), MAX_PERMUTED_ROWS
        predicted = _predict(model, test[0], classes)
        if seconds is not None:  # half of them are for permuted rows, at least one second
            per_row = (time.perf_counter() - started) / len(predicted)
            n_rows = int(min(n_rows, max(seconds / 2, 1.0) / per_row))
        importances = None
        if permuted:
            rng = np.random.default_rng(seed)
            importances = _score_decreases(model, *test, scorer, rng, n_rows)
    return predicted, importances


def _score_decreases(
    model: Any, X: Any, y: AnyArray, scorer: Any, rng: np.random.Generator, max_rows: int
) -> Floats:
    """Return the mean decrease of the score when each column is permuted (Breiman 2001).

    The model predicts all permuted copies of the rows at once, about ``max_rows``: many calls of a
    pipeline with a few rows take far longer.
    """
    n_columns = X.shape[1]
    n_copies = 1 + N_REPEATS * n_columns
    limit = min(max_rows, MAX_PERMUTED_CELLS // n_columns) // n_copies
    rows = _sample(np.arange(len(y)), max(limit, 20), rng)
    n_rows = len(rows)
    source = np.tile(rows, (n_columns, n_copies, 1))  # of each cell: column, copy, row
    for column in range(n_columns):
        for copy in range(1 + N_REPEATS * column, 1 + N_REPEATS * (column + 1)):
            source[column, copy] = rng.permutation(rows)
    predictions = _StoredPredictions(model, _take_cells(X, source.reshape(n_columns, -1)))
    at = np.arange(n_copies * n_rows).reshape(n_copies, n_rows, 1)
    scores = np.array([scorer(predictions, one, y[rows]) for one in at])
    return np.asarray(scores[0] - scores[1:].reshape(n_columns, N_REPEATS).mean(axis=1))


def _take_cells(X: Any, source: Ints) -> Any:
    """Return a table whose columns have cells of chosen rows of X."""
    if not is_pandas(X):
        return np.stack([X[rows, at] for at, rows in enumerate(source)], axis=1)
    import pandas as pd  # installed, since X is a frame

    columns = [X.iloc[:, at].take(rows).reset_index(drop=True) for at, rows in enumerate(source)]
    return pd.concat(columns, axis=1)


class _StoredPredictions:
    """A model whose predictions for a table are computed once; scorers give row numbers as X."""

    def __init__(self, model: Any, X: Table) -> None:
        self._model, self._X = model, X
        self._values: dict[str, AnyArray] = {}

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._model, name)
        if name == "score":  # of an estimator without a scorer
            return lambda at, *args: found(take_rows(self._X, at[:, 0]), *args)
        if name not in ("predict", "predict_proba", "decision_function"):
            return found

        def look_up(at: Ints) -> AnyArray:
            if name not in self._values:
                self._values[name] = np.asarray(found(self._X))
            return self._values[name][at[:, 0]]

        look_up.__name__ = name  # by which scorers ask for it
        return look_up


def _predict(model: Any, X: Table, classes: AnyArray | None) -> Floats:
    """Return numbers, or one score per class: probabilities, decision values or 0 and 1."""
    if classes is None:
        return np.asarray(model.predict(X), dtype=float)
    for method in ("predict_proba", "decision_function"):
        if hasattr(model, method):
            found = _by_class(getattr(model, method)(X), len(model.classes_))
            scores = np.full(
                (len(found), len(classes)), 0.0 if method == "predict_proba" else -np.inf
            )
            scores[:, np.searchsorted(classes, model.classes_)] = found
            return scores
    return (np.asarray(model.predict(X))[:, None] == classes).astype(float)


def _by_class(values: AnyArray, n_classes: int) -> Floats:
    """Return one column per class; two classes share one column of decision values."""
    values = np.asarray(values, dtype=float)
    if values.ndim == 1:
        return np.stack([-values, values], axis=1)
    if values.shape[1] != n_classes:
        raise ValueError("Decision values of pairs of classes cannot be used.")
    return values


def _leave_one_out(
    estimator: Any, X: Table, y: AnyArray, classes: AnyArray | None
) -> Floats | None:
    """Return leave-one-out predictions as _predict does; None without reliable ones."""
    methods = ("predict",) if classes is None else ("predict_proba", "decision_function")
    for method in methods:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", UserWarning)  # of unreliable predictions
                found = leave_one_out_predict(estimator, X, y, method=method)
            return np.asarray(found) if classes is None else _by_class(found, len(classes))
        except (ValueError, UserWarning):
            _log.debug("No leave-one-out predictions by %s.", method, exc_info=True)
    return None


def _importances(
    X: Any, by_fold: Sequence[Floats | None], folds: Sequence[Fold]
) -> list[dict[str, Any]]:
    """Return the most important columns: mean decrease of the score and its 95 % interval."""
    values = np.stack([one for one in by_fold if one is not None])
    mean, n_folds = values.mean(axis=0), len(values)
    half = np.full(len(mean), np.nan)
    if n_folds > 1:
        # training rows of folds overlap: corrected variance of Nadeau and Bengio (2003)
        ratio = np.mean([len(test) / len(train) for train, test in folds])
        error = values.std(axis=0, ddof=1) * np.sqrt(1 / n_folds + ratio)
        half = stats.t.ppf(0.975, n_folds - 1) * error
    names = [str(name) for name in getattr(X, "columns", [])]
    names = names or [f"column {at}" for at in range(X.shape[1])]
    return [
        {
            "label": names[at],
            "score": mean[at],
            "low": mean[at] - half[at],
            "high": mean[at] + half[at],
        }
        for at in np.argsort(-mean, kind="stable")[:MAX_COLUMNS]
    ]


def _classification(y: AnyArray, scores: Floats, classes: AnyArray) -> dict[str, Any]:
    predicted = classes[scores.argmax(axis=1)]
    counts = metrics.confusion_matrix(y, predicted, labels=classes)
    n_errors = counts.sum(axis=0) + counts.sum(axis=1) - 2 * counts.diagonal()
    shown = np.sort(np.lexsort([-counts.sum(axis=1), -n_errors])[:MAX_CLASSES])
    described: dict[str, Any] = {
        "confusion": {"labels": [str(name) for name in classes[shown]], "n_classes": len(classes)},
        "curves": None,
        "reliability": None,
    }
    described["confusion"]["counts"] = counts[np.ix_(shown, shown)]
    has_steps = not np.isin(scores, (0, 1)).all()  # else these are predicted labels
    if has_steps:
        described["curves"] = _curves(y, scores, classes, shown)
    if has_steps and np.allclose(scores.sum(axis=1), 1) and scores.min() >= 0:
        described["reliability"] = _reliability(y, scores, classes)
    return described


def _curves(y: AnyArray, scores: Floats, classes: AnyArray, shown: Ints) -> dict[str, Any]:
    """Return the ROC curve of each class against the others, or precision if a class is rare."""
    chosen = shown[:MAX_CURVES]
    if len(classes) == 2:
        chosen = np.array([0 if np.mean(y == classes[0]) < 0.5 else 1])  # the rarer class
    rare = len(classes) == 2 and np.mean(y == classes[chosen[0]]) < RARE
    lines = []
    for at in chosen:
        is_class = y == classes[at]
        if not 0 < is_class.sum() < len(y):
            continue
        if rare:
            precision, recall, _ = metrics.precision_recall_curve(is_class, scores[:, at])
            horizontal, vertical = recall[::-1], precision[::-1]
            area = metrics.average_precision_score(is_class, scores[:, at])
        else:
            horizontal, vertical, _ = metrics.roc_curve(is_class, scores[:, at])
            area = metrics.auc(horizontal, vertical)
        points = np.unique(np.linspace(0, len(horizontal) - 1, N_POINTS).round().astype(int))
        line = {"x": horizontal[points].round(4), "y": vertical[points].round(4)}
        lines.append(line | {"label": str(classes[at]), "area": float(area)})
    share = float(np.mean(y == classes[chosen[0]]))
    return {"kind": "precision-recall" if rare else "ROC", "lines": lines, "share": share}


def _reliability(y: AnyArray, probabilities: Floats, classes: AnyArray) -> dict[str, Any]:
    """Return how often the predicted class is right, in bins of its probability."""
    confidence = probabilities.max(axis=1)
    right = classes[probabilities.argmax(axis=1)] == y
    n_bins = int(np.clip(len(y) // 30, 2, 10))
    edges = np.unique(np.quantile(confidence, np.linspace(0, 1, n_bins + 1)))
    bins = np.clip(np.searchsorted(edges, confidence, side="right") - 1, 0, max(0, len(edges) - 2))
    counts = np.bincount(bins)
    used = counts > 0
    means = [np.bincount(bins, value)[used] / counts[used] for value in (confidence, right)]
    # Wilson's interval of a proportion
    n, share, z = counts[used], means[1], 1.96
    center = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    columns = {
        "predicted": means[0],
        "observed": share,
        "low": center - half,
        "high": center + half,
    }
    return {name: np.round(value, 4) for name, value in columns.items()} | {"counts": n}


def _regression(y: AnyArray, predicted: Floats) -> dict[str, Any]:
    y = np.asarray(y, dtype=float)
    edges = round_edges(np.concatenate([y, predicted]), N_BINS)
    residuals = y - predicted
    return {
        "observed": _count_cells(predicted, y, edges, edges),
        "residuals": _count_cells(predicted, residuals, edges, round_edges(residuals, N_BINS)),
        "mean_absolute_error": float(np.abs(residuals).mean()),
        "baseline_absolute_error": float(np.abs(y - y.mean()).mean()),
    }


def _count_cells(x: Floats, y: Floats, x_edges: Floats, y_edges: Floats) -> dict[str, Any]:
    """Return the centers of cells with rows, and the numbers of rows; values are clipped."""
    points = [np.clip(x, x_edges[0], x_edges[-1]), np.clip(y, y_edges[0], y_edges[-1])]
    counts = np.histogramdd(points, bins=[x_edges, y_edges])[0]
    at = np.nonzero(counts)
    centers = [(edges[1:] + edges[:-1]) / 2 for edges in (x_edges, y_edges)]
    return {"x": centers[0][at[0]], "y": centers[1][at[1]], "counts": counts[at].astype(int)}


def round_edges(values: Floats, n_bins: int) -> Floats:
    """Return edges of about so many bins at round numbers, which contain 98 % of the values."""
    low, high = (float(end) for end in np.quantile(values, [0.01, 0.99]))
    if high - low <= 1e-12 * max(1.0, abs(low), abs(high)):
        low, high = low - 0.5, high + 0.5
    width = (high - low) / n_bins
    power = 10.0 ** np.floor(np.log10(width))
    step = power * min((1, 2, 5, 10), key=lambda factor: abs(factor * power - width))
    return np.round(np.arange(np.floor(low / step), np.ceil(high / step) + 1) * step, 12)
