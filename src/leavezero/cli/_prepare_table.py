"""From a table on disk to features, a target, a metric and candidates."""

import hashlib
import re
import shlex
import time
import warnings
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import pandas as pd
from sklearn import metrics
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.model_selection import TimeSeriesSplit
from skrub import Cleaner

from leavezero._typing import AnyArray, Bools
from leavezero.cli._model_specs import build_candidates, read_grid_file
from leavezero.cli._output import TableError, check_name, counted, quoted
from leavezero.cli._read_table import (
    Kind,
    ReadOptions,
    TableFile,
    column_kind,
    is_missing,
    is_text,
    open_table,
    to_features,
    to_numbers,
)

Task = Literal["classification", "regression"]

MIN_ROWS = 10
_MAX_CLASS_NUMBERS = 20  # whole numbers with at most this many values are classes
_MIN_KEY_ROWS = 20  # with fewer rows all values may differ by chance
_MAX_CATEGORIES = 200  # of a column whose new categories are counted
_ID_NAME = re.compile(r"(.*[_\W])?(id|uuid|guid|index|key|rownum|row)|.*[a-z]ID")
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+(,\d+)?\s*")
_POSITIVE_CLASS_METRICS = ("f1", "precision", "recall", "jaccard")


@dataclass(frozen=True)
class TableOptions:
    """The options of ``select`` and ``compare``, named as on the command line."""

    table: Path
    target: str
    task: str | None = None
    models: tuple[str, ...] = ()
    grid: Path | None = None
    metric: str | None = None
    augmenter: str = "auto"
    cv_finalists: int | str = "auto"
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    id: tuple[str, ...] = ()
    time_column: str | None = None
    group_column: str | None = None
    sep: str | None = None
    decimal: str = "."
    encoding: str = "utf-8"
    sheet: str | None = None
    time_budget: float | None = None  # seconds
    checkpoint: Path | None = None
    jobs: int = 1
    seed: int = 0
    cv: int = 10  # of compare, as repeats and test_size
    repeats: int = 5
    test_size: float = 0.3
    out: Path = Path("leavezero-table")
    quiet: bool = False
    verbose: bool = False
    as_json: bool = False
    command: str = ""  # the whole command line
    started: float = field(default_factory=time.perf_counter)  # before packages were imported

    @property
    def reading(self) -> ReadOptions:
        """How the table is written."""
        return ReadOptions(self.sep, self.decimal, self.encoding, self.sheet)


@dataclass(frozen=True, eq=False)
class Target:
    """The column to predict: ``values`` of the rows in which it is ``known``."""

    name: str
    task: Task
    reason: str
    values: AnyArray
    known: Bools

    @property
    def classes(self) -> list[Any] | None:
        """The sorted classes; None for regression."""
        return np.unique(self.values).tolist() if self.task == "classification" else None


@dataclass(frozen=True, eq=False)
class PreparedTable:
    """Everything that is decided before the first fit."""

    X: Any
    target: Target
    kinds: dict[str, Kind]  # of the columns that are used, as read
    dropped: dict[str, str]  # reasons
    cleaner: Any
    candidates: dict[str, tuple[Any, dict[str, list[Any]]]]
    metric: str
    scoring: Any
    notices: list[str]
    profile: dict[str, Any]  # of the columns that are used, to recognize other data
    source: dict[str, Any]  # the file and how it is written
    groups: AnyArray | None = None
    ordered: bool = False  # rows are sorted by --time-column

    @property
    def cv(self) -> Any:
        """The folds of cross-validated candidates."""
        return TimeSeriesSplit(5) if self.ordered else 5


def prepare_table(options: TableOptions) -> PreparedTable:
    """Read a table, decide task, columns and metric, and build the candidates."""
    file = open_table(options.table, options.reading)
    _check_columns(file, options)  # before large files are read
    with file.path.open("rb") as content:
        sha256 = hashlib.file_digest(content, "sha256").hexdigest()
    source = {"path": str(options.table), "format": file.format, "sha256": sha256}
    return prepare_frame(file.read(), options, source | asdict(file.options))


def _check_columns(file: TableFile, options: TableOptions) -> None:
    where = f"sheet {file.options.sheet!r}" if file.format == "excel" else "the table"
    check_name(options.target, file.names, f"--target must be a column of {where}")
    features = [name for name in file.names if name != options.target]
    named = {"--keep": options.keep, "--drop": options.drop, "--id": options.id}
    single = {"--time-column": options.time_column, "--group-column": options.group_column}
    named |= {option: (name,) for option, name in single.items() if name is not None}
    for option, names in named.items():
        for name in names:
            check_name(name, features, f"{option} must be a column of {where}")


def prepare_frame(frame: Any, options: TableOptions, source: dict[str, Any]) -> PreparedTable:
    """Return what :func:`prepare_table` does, for a table in memory."""
    if options.time_column is not None:
        frame = _sort_by_time(frame, options.time_column)
    target = find_target(frame[options.target], options.task)
    metric, scoring, metric_notices = find_metric(options.metric, target)
    X, kinds, dropped, cleaner, profile = _clean(frame.drop(columns=target.name), target, options)
    own = {} if options.grid is None else read_grid_file(options.grid, target.task)
    candidates, skipped = build_candidates(
        X, target.task, target.values, models=options.models, own=own, seed=options.seed
    )
    notices = []
    n_missing = int((~target.known).sum())
    if n_missing:
        notices.append(f"Left out: {counted(n_missing, 'row')} without a value in {target.name!r}.")
    notices += [f"Column {name!r} is dropped: {reason}." for name, reason in dropped.items()]
    commas = [name for name in kinds if _has_decimal_commas(frame[name])]
    if commas:
        notices.append(
            f"Numbers with a decimal comma are read as strings: {quoted(commas)}. Add --decimal ,"
        )
    notices += [*skipped, *metric_notices]
    groups = None
    if options.group_column is not None:
        groups = _group_codes(frame[options.group_column])[target.known]
    return PreparedTable(
        X,
        target,
        kinds,
        dropped,
        cleaner,
        candidates,
        metric,
        scoring,
        notices,
        profile,
        source,
        groups,
        ordered=options.time_column is not None,
    )


def _sort_by_time(frame: Any, name: str) -> Any:
    times = Cleaner().fit_transform(frame[[name]])[name]
    if column_kind(times) not in ("datetime", "number") or times.isna().any():
        raise TableError(
            f"--time-column must hold a date, a time or a number in every row; {name!r} does not."
        )
    return frame.iloc[np.argsort(times.to_numpy(), kind="stable")].reset_index(drop=True)


def _group_codes(column: Any) -> AnyArray:
    codes, groups = pd.factorize(column)
    n_gaps = int((codes < 0).sum())
    if n_gaps or len(groups) < 5:
        raise TableError(
            "--group-column must have a value in every row and at least five different values; "
            f"{column.name!r} has {len(groups)} values and {counted(n_gaps, 'gap')}."
        )
    return np.asarray(codes)


def find_target(column: Any, task: str | None = None) -> Target:
    """Return the target and its task.

    Strings and booleans are classes, and so are whole numbers with at most 20 distinct values;
    all other numbers are a regression target. ``task`` overrides this.
    """
    if task not in (None, "classification", "regression"):
        raise TableError(f"--task must be classification or regression, got {task!r}.")
    name, kind, known = str(column.name), column_kind(column), ~is_missing(column)
    present = column[known]
    if len(present) < MIN_ROWS or present.nunique() == 1:
        raise TableError(
            f"The target must have a value in at least {MIN_ROWS} rows and two different values; "
            f"{name!r} has {counted(len(present), 'value')}, {present.nunique()} different."
        )
    if task != "classification" and _has_decimal_commas(present):
        raise TableError(f"{name!r} holds numbers with a decimal comma. Add --decimal ,")
    if kind != "number" and task != "classification" and _is_date(present):
        raise TableError(
            f"The target must hold classes or numbers; {name!r} holds dates. Derive a number or a "
            "class from them, or use --task classification for one class per date."
        )
    whole = kind == "number" and bool((present == present.round()).all())
    if task is not None:
        reason = "set by --task"
    elif kind != "number":
        task, reason = "classification", f"its values are {kind}s"
    elif not whole:
        task, reason = "regression", "its values are not all whole numbers"
    else:
        n_values = present.nunique()
        task = "classification" if n_values <= _MAX_CLASS_NUMBERS else "regression"
        reason = f"it has {n_values:,} different whole numbers"
    values = _class_values(present, whole) if task == "classification" else _numbers(present, name)
    return Target(name, cast(Task, task), reason, values, known)


def find_metric(name: str | None, target: Target) -> tuple[str, Any, list[str]]:
    """Return a metric's name, what a search takes as ``scoring``, and notices."""
    name = name or ("accuracy" if target.task == "classification" else "r2")
    check_name(name, metrics.get_scorer_names(), "--metric must be a scorer of scikit-learn")
    classes = target.classes
    if classes is not None and len(classes) == 2 and name in _POSITIVE_CLASS_METRICS:
        score = getattr(metrics, f"{name}_score")
        scorer = metrics.make_scorer(score, pos_label=classes[1], zero_division=0)
        return name, scorer, [f"The positive class of {name} is {classes[1]!r}."]
    reason = metric_failure(name, target.task, target.values, target.values)
    if reason:
        known = "accuracy, f1_macro or neg_log_loss" if classes else "r2 or max_error"
        raise TableError(
            f"--metric {name} cannot be used for this {target.task}: {reason} Use {known}, for "
            "example."
        )
    return name, name, []


def metric_failure(scoring: Any, task: Task, y_train: AnyArray, y_test: AnyArray) -> str | None:
    """Return why a metric has no value for a constant model; None if it has one."""
    model = DummyClassifier(strategy="prior") if task == "classification" else DummyRegressor()
    model.fit(np.zeros((len(y_train), 1)), y_train)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            score = metrics.get_scorer(scoring)(model, np.zeros((len(y_test), 1)), y_test)
    except (AttributeError, ValueError) as error:
        return f"{str(error).partition(chr(10))[0].rstrip('.')}."
    return None if np.isfinite(score) else "its value is not finite."


def _clean(
    frame: Any, target: Target, options: TableOptions
) -> tuple[Any, dict[str, Kind], dict[str, str], Any, dict[str, Any]]:
    """Return the cleaned features, their kinds, why others are dropped, cleaner and profile."""
    dropped = dict.fromkeys(options.drop, "named by --drop")
    dropped |= dict.fromkeys(options.id, "named by --id")
    if options.group_column is not None:
        dropped[options.group_column] = "named by --group-column"
    kinds = {name: column_kind(frame[name]) for name in frame.columns if name not in dropped}
    features = to_features(frame, kinds)
    rows = features.loc[target.known].reset_index(drop=True)
    found = Cleaner(drop_if_constant=True).fit_transform(rows)
    for name in kinds:
        if name not in found.columns:
            known = rows[name].notna().any()
            dropped[name] = "all values are equal" if known else "all values are missing"
        elif name not in options.keep and (reason := _identifies_rows(features[name], found[name])):
            dropped[name] = f"{reason}; use it with --keep {shlex.quote(name)}"
    kinds = {name: kind for name, kind in kinds.items() if name not in dropped}
    if not kinds:
        reasons = [f"{name!r}: {reason}" for name, reason in list(dropped.items())[:3]]
        why = "; ".join(reasons) or "the table has no other column"
        raise TableError(f"No column is left to predict {target.name!r} from: {why}.")
    cleaner = Cleaner()  # only of columns that a table to predict must have
    used = rows[list(kinds)]
    return cleaner.fit_transform(used), kinds, dropped, cleaner, column_profile(used)


def column_profile(X: Any) -> dict[str, Any]:
    """Return categories of strings, the middle 80 % of other columns, and those with gaps."""
    categories: dict[str, list[str]] = {}
    ranges: dict[str, list[float]] = {}
    for name in X.columns:
        values = X[name].dropna()
        if column_kind(values) == "string":
            found = sorted(set(values))
            if len(found) <= _MAX_CATEGORIES:
                categories[name] = found
        elif len(values):
            ranges[name] = np.quantile(to_numbers(values), [0.1, 0.9]).tolist()
    missing = [name for name in X.columns if X[name].isna().any()]
    return {"categories": categories, "ranges": ranges, "missing": missing}


def _identifies_rows(column: Any, cleaned: Any) -> str | None:
    """Return why a column is a key or a row number; None if it is not."""
    n_rows = len(column)
    if n_rows < _MIN_KEY_ROWS or column.nunique() < n_rows:
        return None
    if pd.api.types.is_integer_dtype(column.dtype):
        # consecutive in any order, so that a shuffled table is recognized too
        if int(column.max()) - int(column.min()) == n_rows - 1:
            return "its values number the rows"
        names = (column.name, column.name.lower())
        return "its name and values identify rows" if any(map(_ID_NAME.fullmatch, names)) else None
    if column_kind(cleaned) != "string" or is_text(cleaned):
        return None
    return f"all values are different strings, such as {cleaned.iloc[0]!r}"


def _has_decimal_commas(column: Any) -> bool:
    """Return whether all strings are numbers such as 1,5; 1,500 may have another meaning."""
    cells = column.dropna()
    if column_kind(cells) != "string" or not len(cells):
        return False
    texts = cells.astype(str)
    if not texts.str.fullmatch(_DECIMAL_COMMA).all():
        return False
    digits = texts.str.strip().str.partition(",")[2].str.len()
    return bool(((digits > 0) & (digits != 3)).any())


def _is_date(present: Any) -> bool:
    return column_kind(Cleaner().fit_transform(present.to_frame("y"))["y"]) == "datetime"


def _numbers(present: Any, name: str) -> AnyArray:
    values = to_features(present.to_frame("y"), {"y": "number"})["y"].to_numpy(np.float64)
    wrong = np.flatnonzero(~np.isfinite(values))
    if len(wrong):
        raise TableError(
            f"A regression target must hold finite numbers; {name!r} has "
            f"{str(present.iloc[wrong[0]])!r}. Use --task classification, or fix the column."
        )
    return np.asarray(values)


def _class_values(present: Any, whole: bool) -> AnyArray:
    """Return whole numbers as integers and all other labels as strings."""
    if whole:
        values = present.to_numpy(dtype=np.int64)
    else:
        values = np.array([str(label).strip() for label in present], dtype=str)
    n_classes = len(np.unique(values))
    if n_classes > max(_MAX_CLASS_NUMBERS, len(values) / 3):
        raise TableError(
            f"A class requires about three rows; the target has {n_classes:,} classes in "
            f"{len(values):,} rows. Use another column, or --task regression for numbers."
        )
    return np.asarray(values)
