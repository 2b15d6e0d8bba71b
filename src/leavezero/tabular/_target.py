"""The column to predict: which it is, classes or numbers, and why."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from leavezero._typing import AnyArray, Bools
from leavezero.tabular._cells import is_words, numbers, stripped, time_formats
from leavezero.tabular._errors import TableError
from leavezero.tabular._words import counted, did_you_mean

Task = Literal["classification", "regression"]

MIN_ROWS = 10
FEW_VALUES = 20  # whole numbers of at most so many values are classes


@dataclass(frozen=True, eq=False)
class Target:
    """What is to be predicted.

    Parameters
    ----------
    name : str
        The column.
    task : "classification" or "regression"
        What its values are.
    why : str
        The reason for this.
    values : array
        The target of each row that has one.
    known : array of bool
        The rows that have one.

    Examples
    --------
    >>> import pandas as pd
    >>> from leavezero.tabular import decide_target
    >>> frame = pd.DataFrame({"x": range(12), "y": ["a", "b", None] * 4})
    >>> target = decide_target(frame, "y")
    >>> target.task, target.why, len(target.values)
    ('classification', 'its cells are words', 8)
    """

    name: str
    task: Task
    why: str
    values: AnyArray
    known: Bools

    @property
    def classes(self) -> list[Any] | None:
        """The classes in order, as plain values; None where the target is numbers."""
        return np.unique(self.values).tolist() if self.task == "classification" else None


def decide_target(
    frame: Any, name: str, task: str | None = None, *, min_rows: int = 1, decimal: str = "."
) -> Target:
    """Find the target in a table, and say whether it is classes or numbers.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    name : str
        The column to predict.
    task : "classification", "regression" or None, default=None
        The user's word; None looks at the values.
    min_rows : int, default=1
        The fewest rows with a target that will do.
    decimal : str, default="."
        What stands before decimals in cells that are words.

    Returns
    -------
    Target

    Examples
    --------
    >>> import pandas as pd
    >>> from leavezero.tabular import decide_target
    >>> decide_target(pd.DataFrame({"y": [0.5, 1.5, 2.0]}), "y").why
    'its numbers are not all whole'
    """
    names = list(frame.columns)
    if name not in names:
        raise TableError(f"The table has no column {name!r}. {did_you_mean(name, names)}")
    series = frame[name]
    known = series.notna().to_numpy()
    present = series[known]
    _refuse_few(present, name, min_rows)
    if _are_dates(present):
        _refuse_dates(present, name, task)
        present = present.astype(str)
    found, why = _task(present, task)
    if found == "regression":
        return Target(name, found, why, _as_numbers(present, name, decimal), known)
    return Target(name, found, why, _as_classes(present, name), known)


def _refuse_few(present: Any, name: str, min_rows: int) -> None:
    if len(present) < min_rows:
        raise TableError(
            f"{counted(len(present), 'row')} with a value in {name!r} "
            f"{'is' if len(present) == 1 else 'are'} too few to choose a model by. "
            f"Give at least {min_rows}."
        )
    if present.nunique() == 1:
        raise TableError(
            f"The target {name!r} has one value only, {str(present.iloc[0])!r}. "
            "Give rows of at least two classes, or numbers that differ."
        )


def _are_dates(present: Any) -> bool:
    if pd.api.types.is_datetime64_any_dtype(present.dtype):
        return True
    return is_words(present) and bool(time_formats(stripped(present)))


def _refuse_dates(present: Any, name: str, wish: str | None) -> None:
    """Raise unless the user wants classes and there are few."""
    few = present.nunique() <= _most_classes(len(present))
    if few and wish == "classification":
        return
    classes = ", or add --task classification to make each date a class" if few else ""
    raise TableError(
        f"The target {name!r} holds dates, which cannot be predicted as they are. Derive a number "
        f"or a class from them, such as days or the month{classes}."
    )


def _most_classes(n_rows: int) -> float:
    return max(FEW_VALUES, n_rows / 3)


def _task(present: Any, wish: str | None) -> tuple[Task, str]:
    if wish == "classification":
        return "classification", "--task says so"
    if wish == "regression":
        return "regression", "--task says so"
    if wish is not None:
        raise TableError(f"--task must be classification or regression, got {wish!r}.")
    if is_words(present):
        return "classification", "its cells are words"
    if not (present == present.round()).all():
        return "regression", "its numbers are not all whole"
    n_distinct = present.nunique()
    if n_distinct <= FEW_VALUES:
        return "classification", f"it has {n_distinct} different whole numbers"
    return "regression", f"it has {n_distinct:,} different whole numbers"


def _as_numbers(present: Any, name: str, decimal: str) -> AnyArray:
    found, wrong = numbers(present, decimal)
    if wrong.any():
        example = str(present.iloc[int(np.flatnonzero(wrong)[0])])
        raise TableError(
            f"The target {name!r} must hold numbers for a regression, and has {example!r}. "
            "Use --task classification, or mend the column."
        )
    return found.to_numpy(dtype=np.float64)


def _as_classes(present: Any, name: str) -> AnyArray:
    """Return whole numbers as such, everything else as words."""
    if not is_words(present) and (present == present.round()).all():
        values = present.to_numpy(dtype=np.int64)
    else:
        values = np.array(stripped(present).tolist(), dtype=str)
    n_classes = len(np.unique(values))
    if n_classes > _most_classes(len(values)):
        raise TableError(
            f"The target {name!r} has {n_classes:,} classes in {len(values):,} rows, too many to "
            "learn one from another. Name another column, or use --task regression for numbers."
        )
    return values
