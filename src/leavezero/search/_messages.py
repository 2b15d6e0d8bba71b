"""Messages of a search: errors in parameters and data, progress, and failed candidates."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from numbers import Integral, Real
from os import PathLike
from typing import Any

import numpy as np
import sklearn
from scipy import sparse
from sklearn import model_selection
from sklearn.base import is_classifier, is_outlier_detector, is_regressor
from sklearn.metrics import get_scorer_names
from sklearn.pipeline import Pipeline
from sklearn.utils import assert_all_finite, check_array, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from leavezero._tables import count_rows, has_columns, is_text, plain
from leavezero._typing import AnyArray, Table
from leavezero._warnings import warn_caller
from leavezero.augment import FixedValidationSet
from leavezero.evaluation import CandidateResult, Run, Scoring, Trial, final_estimator, is_pairwise
from leavezero.exceptions import (
    AllCandidatesFailedError,
    CandidateFailedWarning,
    TimeBudgetError,
)
from leavezero.execution import Checkpoint
from leavezero.search._routing import RoutedParams
from leavezero.unsupervised import UnsupervisedScore, find_score

# Splitters of exchangeable rows. Others, and iterables, have a reason: order, groups, fixed rows.
EXCHANGEABLE = (
    model_selection.KFold,
    model_selection.LeaveOneOut,
    model_selection.LeavePOut,
    model_selection.RepeatedKFold,
    model_selection.RepeatedStratifiedKFold,
    model_selection.ShuffleSplit,
    model_selection.StratifiedKFold,
    model_selection.StratifiedShuffleSplit,
)

# In the oldest supported version, estimators that accept sparse matrices do not have the tag.
HAS_SPARSE_TAG = not sklearn.__version__.startswith("1.6.")
LARGEST_TARGET = 1e150  # of a regression: sums of squared errors must be finite
NUMERIC = [np.float64, np.float32, np.int64, np.int32, bool]  # the first for any other type

_LOGGER = logging.getLogger("leavezero")


# Parameters and data


def check_parameter(search: Any, name: str, is_valid: bool, required: str) -> None:
    """Raise if a parameter of a search is invalid."""
    if not is_valid:
        value = getattr(search, name)
        raise ValueError(f"{name} of {type(search).__name__} must be {required}, got {value!r}.")


def check_parameters(search: Any, estimator: Any) -> None:
    """Raise if a common parameter of a search is invalid."""
    methods = ("fit",) if search.scoring is not None else ("fit", "score")
    missing = [name for name in methods if not hasattr(estimator, name)]
    if missing and (missing != ["score"] or find_score([estimator]) is None):
        hint = ""
        if missing == ["score"] and is_outlier_detector(estimator):
            hint = " No default score selects it reliably: keep its default parameters, or use "
            hint += "scoring=leavezero.unsupervised.OutlierScore()."
        raise TypeError(
            f"estimator of {type(search).__name__} must have the method fit and, if no scoring is "
            f"specified, the method score; {estimator!r} has no {' and no '.join(missing)}.{hint}"
        )
    error_score, n_jobs, finalists = search.error_score, search.n_jobs, search.cv_finalists
    is_error_score = isinstance(error_score, Real) or error_score == "raise"
    check_parameter(search, "error_score", is_error_score, 'a number or "raise"')
    check_parameter(search, "verbose", isinstance(search.verbose, Real), "an int")
    is_n_jobs = n_jobs is None or (_is_int(n_jobs) and n_jobs != 0)
    check_parameter(search, "n_jobs", is_n_jobs, "None or an int other than 0")
    is_loo = search.loo is False or search.loo in ("auto", "only")
    check_parameter(search, "loo", is_loo, '"auto", False or "only"')
    is_finalists = is_count(finalists, 0) or (
        isinstance(finalists, str) and finalists in ("auto", "all")
    )
    required = '"auto", "all" or an int of at least 0'
    check_parameter(search, "cv_finalists", is_finalists, required)
    is_single = search.scoring is None or isinstance(search.scoring, str | UnsupervisedScore)
    if is_single or callable(search.scoring):  # whose names are known once it was called
        check_refit(search, [], multimetric=False)
    else:
        check_refit(search, list(search.scoring), multimetric=True)
    is_auto = isinstance(search.augmenter, str) and search.augmenter == "auto"
    if search.loo != "only" and not is_auto:
        _check_augmenter(search, estimator)


def check_refit(search: Any, names: list[str], *, multimetric: bool) -> None:
    """Raise unless refit determines the best candidate; a single metric may have any name."""
    refit = search.refit
    if not multimetric:
        is_valid = isinstance(refit, bool | str) or callable(refit)
        check_parameter(search, "refit", is_valid, "True, False, a str or a callable")
    elif not (refit is False or callable(refit) or (isinstance(refit, str) and refit in names)):
        raise ValueError(
            "For multi-metric scoring, the parameter refit must be set to a scorer key or a "
            f"callable to refit, or to False. The keys of {type(search).__name__} are "
            f"{', '.join(names)}; got {refit!r}."
        )


def _check_augmenter(search: Any, estimator: Any) -> None:
    owner, augmenter = type(search).__name__, search.augmenter
    if is_pairwise(estimator) and not hasattr(augmenter, "fixed_rows"):
        raise ValueError(
            f"{owner} cannot generate validation rows for an estimator with precomputed "
            'similarities. Use augmenter="auto", which cross-validates all candidates, or '
            "augmenter=FixedValidationSet(X_val, y_val)."
        )
    is_valid = hasattr(augmenter, "fit") and hasattr(augmenter, "sample")
    required = '"auto" or an object with fit(X, y) and sample(n_samples)'
    check_parameter(search, "augmenter", is_valid, required)
    if isinstance(augmenter, FixedValidationSet) and count_rows(augmenter.X) == 0:
        raise ValueError(f"augmenter of {owner} is a FixedValidationSet without rows.")


def check_checkpoint(search: Any) -> Checkpoint | None:
    """Return the checkpoint of a path or a Checkpoint; it requires an int as random_state."""
    checkpoint = search.checkpoint
    if checkpoint is None:
        return None
    if not isinstance(checkpoint, Checkpoint):
        is_path = isinstance(checkpoint, str | PathLike) and str(checkpoint) != ""
        is_path = is_path and "\0" not in str(checkpoint)
        check_parameter(search, "checkpoint", is_path, "None, a path or a Checkpoint")
        checkpoint = Checkpoint(checkpoint)
    # A resumed search must generate the same validation set.
    is_seed = _is_int(search.random_state)
    check_parameter(search, "random_state", is_seed, "an int if there is a checkpoint")
    return checkpoint


def no_validation_set_reason(
    search: Any, estimator: Any, X: Table, y: AnyArray | None
) -> str | None:
    """Return why no rows can be generated from such data; None if they can, or need not be."""
    if not isinstance(search.augmenter, str) or search.loo == "only":
        return None
    if y is None:
        return "there is no target"
    if is_pairwise(estimator):
        return "kernels or distances are precomputed"
    if getattr(getattr(y, "dtype", None), "names", None) or getattr(y, "ndim", 1) > 2:
        return "y has fields or more than two dimensions"
    if not has_columns(X):
        return 'X has no columns (for scores without folds, use loo="only")'
    if is_text(X) and not any(len(row.split()) > 1 for row in X):
        return "X has strings without spaces, such as names or paths of files"
    return None


def has_numbers_or_steps(X: Table, estimators: Sequence[Any]) -> bool:
    """Return whether X is a table of numbers, or pipelines may make one of it."""
    if all(isinstance(estimator, Pipeline) for estimator in estimators):
        return has_columns(X)
    if any(map(is_pairwise, estimators)):
        return False
    try:
        check_array(X, accept_sparse=True, dtype=np.float64, ensure_all_finite=False)
    except (TypeError, ValueError):
        return False
    return True


def check_own_score(search: Any, estimators: Sequence[Any]) -> None:
    """Raise if candidates without a default score cannot be scored in folds either."""
    for estimator in estimators:
        if not hasattr(estimator, "score"):
            raise ValueError(
                f"{type(search).__name__} requires scoring for {estimator!r}: it has no method "
                "score, and there is no default score from one fit for these candidates, data and "
                "options."
            )


def check_scorers_without_target(scoring: Scoring, owner: str) -> None:
    """Raise if y is missing and a metric is one of scikit-learn's, which all compare with y."""
    names = [one.name for one in scoring.metrics.values() if one.name in get_scorer_names()]
    if names:
        raise ValueError(
            f"scoring of {owner} requires y for {', '.join(names)}, but the target y is None."
        )


def not_exchangeable_reason(search: Any, params: RoutedParams) -> str | None:
    """Return why only training rows can be scored; None if the caller chose other scores."""
    if not isinstance(search.augmenter, str) or search.loo != "auto":
        return None
    if search.cv_finalists not in ("auto", "all"):
        return None
    if params.weights_differ or params.has_metadata:
        return "metrics have different weights or other metadata of training rows"
    if params.groups is not None:
        return "rows are grouped, and generated rows or leaving out single rows would leak"
    if search.cv is None or _is_int(search.cv) or type(search.cv) in EXCHANGEABLE:
        return None
    return f"cv is a {type(search.cv).__name__}, whose rows need not be exchangeable"


@contextmanager
def _naming(name: str, owner: str) -> Iterator[None]:
    """Add the name of an argument to the errors of functions that check or convert it."""
    try:
        yield
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{name} passed to {owner} cannot be used: {error}") from error


def check_tables(X: Any, y: Any, owner: str) -> None:
    """Raise unless X has rows, and no values that neither estimators nor augmenters support."""
    for name, table in (("X", X), ("y", y)):
        if hasattr(table, "collect") and not hasattr(table, "shape"):
            lazy = type(table).__name__
            raise TypeError(f"{name} passed to {owner} is a lazy {lazy}. Pass {name}.collect().")
    has_rows = hasattr(X, "__len__") or hasattr(X, "__array__") or hasattr(X, "shape")
    has_rows = has_rows and len(getattr(X, "shape", (1,))) > 0
    if not has_rows or isinstance(X, str | bytes | Mapping | np.matrix):
        raise TypeError(
            f"X passed to {owner} must be an array, a dataframe, a sparse matrix or a sequence "
            f"with one entry per row, got {type(X).__name__}."
        )
    dtype = getattr(X, "dtype", None)
    if getattr(dtype, "kind", "") in ("c", "S"):
        raise ValueError(
            f"X passed to {owner} must have numbers or text. Complex data not supported, nor "
            f"bytes: got an array of type {dtype}."
        )


def check_values(X: Table, y: AnyArray, estimators: Iterable[Any], owner: str) -> None:
    """Raise if no estimator accepts X and y, as far as tags of scikit-learn say so.

    Whether a pipeline or an estimator of another package accepts them is not known before it is
    fitted.
    """
    errors: dict[Any, Exception] = {}
    for estimator in estimators:
        tags = get_tags(estimator)
        inputs, labels = tags.input_tags, tags.classifier_tags
        if tags.no_validation or inputs.string or inputs.pairwise or not _has_tags(estimator):
            return
        takes_outputs = (
            tags.target_tags.multi_output
            or bool(labels and labels.multi_label)
            # the tag need not hold if there are others inside, such as in BaggingRegressor
            or not {"estimator", "estimators"}.isdisjoint(estimator.get_params())
        )
        key = (inputs.sparse, inputs.allow_nan, inputs.three_d_array, takes_outputs)
        if key in errors:
            continue
        try:
            with _naming("X", owner):
                check_array(
                    X,
                    accept_sparse=inputs.sparse or not HAS_SPARSE_TAG,
                    dtype=NUMERIC,
                    # Of scikit-learn's estimators, none accepts missing values of sparse matrices.
                    ensure_all_finite="allow-nan"
                    if inputs.allow_nan and not sparse.issparse(X)
                    else True,
                    allow_nd=inputs.three_d_array,
                    input_name="X",
                    estimator=estimator,
                )
            with _naming("y", owner):
                check_array(y, dtype=None, ensure_2d=False, ensure_all_finite=False)
                if y.ndim == 2 and not takes_outputs:
                    column_or_1d(y)
            return
        except (TypeError, ValueError) as error:
            errors[key] = error
    if errors:
        raise next(iter(errors.values()))


def _has_tags(estimator: Any) -> bool:
    """Return whether an estimator and all inside of it are scikit-learn's and validate X."""
    params = estimator.get_params()
    parts = [estimator, *(value for value in params.values() if hasattr(value, "get_params"))]
    is_composed = any(hasattr(part, "steps") or hasattr(part, "transformers") for part in parts)
    is_own = all(map(is_from_sklearn, parts))
    return is_own and not is_composed and "categorical_features" not in params


def is_from_sklearn(estimator: Any) -> bool:
    """Return whether the class of an estimator is scikit-learn's own."""
    return type(estimator).__module__.startswith("sklearn.")


def check_target(
    estimator: Any,
    X: Table,
    y: AnyArray | None,
    owner: str,
    *,
    semi_supervised: bool,
    is_generated: bool = True,
) -> AnyArray:
    """Return y as an array with one entry per row of X; zeros if there is none.

    A regression target becomes float, by which augmenters recognize it. Labels of semi-supervised
    estimators are checked once it is known which rows have one. Any target is accepted if no rows
    are generated.
    """
    if y is None and (is_generated or get_tags(estimator).target_tags.required):
        raise ValueError(f"{owner} requires y to be passed, but the target y is None.")
    n_rows = count_rows(X)
    if n_rows < 2:
        samples = "1 sample" if n_rows == 1 else "0 samples"
        raise ValueError(f"{owner} requires at least 2 samples, got {samples}.")
    shape = tuple(getattr(X, "shape", ()))
    if 0 in shape[1:]:
        raise ValueError(
            f"Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required by "
            f"{owner}."
        )
    if y is None:
        return np.zeros(n_rows)
    with _naming("y", owner):
        check_consistent_length(X, y)
    if sparse.issparse(y):
        raise ValueError(f"{owner} requires a dense y, got a sparse one. Pass y.toarray().")
    with _naming("y", owner):
        target = y.to_numpy() if hasattr(y, "to_numpy") else np.asarray(y)
    if target.dtype.names or target.ndim > 2:
        if is_generated:
            raise ValueError(
                f"{owner} cannot generate rows for a y with fields or more than two dimensions. "
                'Use augmenter="auto" and loo="auto", which cross-validate all candidates.'
            )
        return target
    with _naming("y", owner):
        if target.ndim != 2 or target.shape[1] == 1:
            target = column_or_1d(target, warn=is_from_sklearn(final_estimator(estimator)))
        if semi_supervised and target.ndim == 1 and not is_regressor(estimator):
            return target
        assert_all_finite(target, input_name="y")
        if is_regression(estimator, target):
            numbers = target.astype(np.float64)
            if np.abs(numbers).max(initial=0.0) > LARGEST_TARGET:
                raise ValueError(
                    f"numbers must be at most {LARGEST_TARGET:g} in absolute value, since their "
                    f"squares overflow; got {np.abs(numbers).max():g}."
                )
            return numbers
        check_classification_targets(target)
    if is_classifier(estimator) and target.ndim == 1:
        classes = np.unique(target)
        if len(classes) < 2:
            raise ValueError(
                f"{owner} requires at least 2 classes in y, got 1 class: {plain(classes[0])!r}."
            )
    return target


def is_regression(estimator: Any, y: AnyArray) -> bool:
    """Return True for a regressor, and for a model of no type whose target has fractions."""
    if is_regressor(estimator) or is_classifier(estimator) or y.dtype.kind != "f":
        return is_regressor(estimator)
    return bool(np.any(y % 1 > 0))


def is_count(value: Any, least: int = 1) -> bool:
    """Return True for an integer that is not too small."""
    return _is_int(value) and value >= least


def _is_int(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


# Progress


def log(message: str, level: int, verbose: int, **fields: Any) -> None:
    """Log a message with extra fields, and print it if verbose is at least the level."""
    _LOGGER.log(logging.INFO if level == 1 else logging.DEBUG, message, extra=fields)
    if verbose >= level:
        print(message, flush=True)


class Progress:
    """Receives every result: prints a line, informs callbacks, returns True to stop."""

    def __init__(self, search: Any, X: Table, y: Any, metadata: Any, n_trials: int) -> None:
        self._search = search
        self._data = {"X": X, "y": y, "metadata": metadata or None}
        self._n_trials = n_trials
        self._n_done = 0
        self._best_so_far: dict[str, Any] = {}
        self._tasks: dict[int, Any] = {}  # contexts of trials that have begun, by row
        self._root: Any = None
        if hasattr(search, "_init_callback_context"):  # the names of tasks are scikit-learn's
            self._root = search._init_callback_context(max_subtasks=1 + (search.refit is not False))
            self._root.call_on_fit_task_begin(estimator=search, **self._data)
            self._context = self._root.subcontext(task_name="search", max_subtasks=None)
            self._context.call_on_fit_task_begin(estimator=search)

    def on_start(self, trial: Trial) -> Trial:
        """Return the trial with the context that callbacks are propagated by, if there are any."""
        estimators = (self._search, trial.candidate.estimator)
        is_supported = self._root is not None and hasattr(estimators[1], "set_callbacks")
        if not is_supported or not any(getattr(e, "_skl_callbacks", ()) for e in estimators):
            return trial
        self._tasks[trial.row] = self._begin_trial()
        return replace(trial, context=self._tasks[trial.row])

    def _begin_trial(self) -> Any:
        task = self._context.subcontext(task_name="candidate-split-evaluation")
        task.call_on_fit_task_begin(estimator=self._search, **self._data)
        return task

    def on_result(self, result: CandidateResult) -> bool:
        """Report a result; return True if a callback requests to stop."""
        self._n_done += 1
        self._print(result)
        if self._root is None:
            return False
        task = self._tasks.pop(result.trial.row, None) or self._begin_trial()
        best = self._best_so_far.get("best_score_", -np.inf)
        if result.model is not None and (result.main_score > best or not self._best_so_far):
            self._best_so_far = {
                "best_estimator_": result.model,
                "best_params_": result.trial.candidate.params,
                "best_score_": result.main_score,
            }
        return bool(
            task.call_on_fit_task_end(
                estimator=self._search,
                reconstruction_attributes=self._best_so_far or None,
                **self._data,
            )
        )

    def end_search(self) -> None:
        """Inform callbacks that all candidates were evaluated."""
        if self._root is not None:
            self._context.call_on_fit_task_end(estimator=self._search)

    def end(self) -> None:
        """Inform callbacks that the best estimator is known, and that the search has ended."""
        if self._root is None:
            return
        tasks = [self._root]
        if hasattr(self._search, "best_estimator_"):
            tasks.insert(0, self._root.subcontext(task_name="refit-with-best-params"))
            tasks[0].call_on_fit_task_begin(estimator=self._search, **self._data)
        for task in tasks:
            task.call_on_fit_task_end(estimator=self._search, **self._data)

    def _print(self, result: CandidateResult) -> None:
        owner, verbose = type(self._search).__name__, self._search.verbose
        params, seconds = result.trial.candidate.params, result.fit_time + result.score_time
        outcome = "failed" if result.error else f"score {result.main_score:.4g}"
        log(
            f"{owner}: {self._n_done} of at most {self._n_trials}, {params}: {outcome}, "
            f"{seconds:.2g} s",
            2,
            verbose,
            n_done=self._n_done,
            n_trials=self._n_trials,
            candidate_row=result.trial.row,
            candidate_params=params,
            candidate_score=None if result.error else result.main_score,
            candidate_seconds=seconds,
        )
        if verbose < 3:
            return
        for name, scores in result.scores.items():
            log(f"    {name}: {np.array2string(scores.replicates, precision=3)}", 3, verbose)
        for traceback in (result.error, *result.scoring_errors.values()):
            if traceback:
                log(f"    {traceback}", 3, verbose)


# Failed candidates


def report_failures(results: Sequence[CandidateResult], run: Run, owner: str) -> None:
    """Warn about candidates that failed; raise if no candidate is left."""
    errors = [r.error for r in results if r.error is not None and r.was_started]
    unscored = [error for result in results for error in result.scoring_errors.values()]
    _raise_if_all_failed(results, run, owner, errors, unscored)
    n_not_started = sum(not result.was_started for result in results)
    n_unscored = sum(bool(result.scoring_errors) for result in results)
    for n_failed, reason, tracebacks in (
        (len(errors), "failed", errors),
        (n_not_started, "were not evaluated within time_budget", []),
        (n_unscored, "could not be scored by a metric", unscored),
    ):
        if n_failed:
            hint = ' Set error_score="raise" to debug. First error:\n' if tracebacks else ""
            warn_caller(
                f"{n_failed} of {len(results)} candidates of {owner} {reason}; their score is "
                f"{run.error_score!r}.{hint}{''.join(tracebacks[:1])}",
                CandidateFailedWarning,
            )
    n_not_finite = sum(
        not all(np.all(np.isfinite(scores.replicates)) for scores in result.scores.values())
        for result in results
    )
    if n_not_finite:
        warn_caller(
            f"One or more of the test scores are non-finite: those of {n_not_finite} of "
            f"{len(results)} candidates of {owner}. They are never selected; check the scorer and "
            "the data.",
            CandidateFailedWarning,
        )


def _raise_if_all_failed(
    results: Sequence[CandidateResult],
    run: Run,
    owner: str,
    errors: list[str],
    unscored: list[str],
) -> None:
    started = [result for result in results if result.was_started]
    if len(errors) == len(started) < len(results) or not results:
        raise TimeBudgetError(
            f"No candidate of {owner} was finished within time_budget: {len(errors)} failed, "
            f"{len(results) - len(started)} were not started."
            f"{chr(10).join(['', *errors[:1]])}"
        )
    able = [result for result in started if result.trial.may_win] or started
    lost = [result.error for result in able if result.error is not None]
    if (lost and len(lost) == len(able)) or len(errors) == len(results):
        raise AllCandidatesFailedError(
            f"All {len(lost) or len(errors)} candidates of {owner} failed. First error:\n"
            f"{(lost or errors)[0]}"
        )
    is_loo_only = not run.use_validation_set and not run.folds and run.unsupervised is None
    if is_loo_only and not any(result.loo.scores for result in able):
        notes = "; ".join(dict.fromkeys(str(result.loo.note) for result in able))
        raise AllCandidatesFailedError(
            f'loo="only" of {owner} requires candidates with leave-one-out predictions: {notes}. '
            'Use loo="auto".'
        )
    has_metric = any(run.main_metric in (*r.scores, *r.scoring_errors) for r in able)
    if has_metric and not any(np.isfinite(result.main_score) for result in able):
        if run.unsupervised is not None:
            reason = f"First error:\n{unscored[0]}" if unscored else run.unsupervised.not_finite
            raise AllCandidatesFailedError(
                f"No candidate of {owner} has a finite {run.unsupervised.name}. {reason}"
            )
        hint = " First error:\n"
        if run.use_validation_set:
            hint = (
                " If the estimator cannot predict rows outside the range of the training data, use "
                f"augmenter=LabelInvariantMixup().{hint}"
            )
        raise AllCandidatesFailedError(
            f"All scores of {owner} are NaN. Check the scorer, or the estimator's score method."
            f"{hint + unscored[0] if unscored else ''}"
        )


def failures(results: Sequence[CandidateResult]) -> dict[int, str]:
    """Return the tracebacks of failed candidates by their row in ``cv_results_``."""
    messages = {
        row: "\n".join([result.error or "", *result.scoring_errors.values()]).strip()
        for row, result in enumerate(results)
    }
    return {row: message for row, message in messages.items() if message}


def check_index(index: Any, results: Sequence[CandidateResult], owner: str) -> int:
    """Return the row that a callable refit selected; raise if its candidate cannot win."""
    if not _is_int(index):
        raise TypeError(
            f"best_index_ returned is not an integer: refit of {owner} returned {index!r}."
        )
    if not 0 <= int(index) < len(results):
        raise IndexError(
            f"best_index_ index out of range: refit of {owner} returned {index!r}, but "
            f"cv_results_ has {len(results)} rows."
        )
    error = results[int(index)].error
    if error is not None:
        reason = error.strip().splitlines()[-1].rstrip(".")
        raise ValueError(
            f"refit of {owner} returned row {index}, whose candidate failed: {reason}."
        )
    return int(index)
