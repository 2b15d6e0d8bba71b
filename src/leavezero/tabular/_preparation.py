"""From a table on disk to candidates that can be searched, everything decided before a fit."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leavezero.tabular._errors import TableError
from leavezero.tabular._grid_file import read_grid
from leavezero.tabular._kinds import MANY_CATEGORIES, describe_columns
from leavezero.tabular._marks import MARK_NAMES
from leavezero.tabular._models import candidates
from leavezero.tabular._named import named_augmenter, named_metric, refuse_augmenter
from leavezero.tabular._read import Source, Watch
from leavezero.tabular._schema import Schema
from leavezero.tabular._target import MIN_ROWS, Target, decide_target
from leavezero.tabular._wish import Wish
from leavezero.tabular._words import counted, listed

_SHARE = r"[-+]?\d+([.,]\d+)?\s*%"  # a number with a percent sign


@dataclass(frozen=True, eq=False)
class Prepared:
    """A table that is ready to be searched.

    Examples
    --------
    >>> from leavezero.tabular import Prepared
    >>> "notices" in Prepared.__dataclass_fields__
    True
    """

    source: Source
    digest: str
    n_rows: int
    X: Any
    target: Target
    schema: Schema
    candidates: dict[str, tuple[Any, dict[str, list[Any]]]]
    metric: str
    scoring: Any
    notices: tuple[str, ...]


def prepare(path: str | Path, wish: Wish, watch: Watch | None = None) -> Prepared:
    r"""Read a table and decide everything that can be decided before a fit.

    Parameters
    ----------
    path : str or Path
        The table.
    wish : Wish
        What the user wants.
    watch : callable or None, default=None
        Called with the number of bytes that are read.

    Returns
    -------
    Prepared

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from leavezero.tabular import Wish, prepare
    >>> path = Path(tempfile.mkdtemp()) / "a.csv"
    >>> lines = ["id,size,kind", *(f"{at},{at % 7}.5,{'ab'[at % 2]}" for at in range(40))]
    >>> _ = path.write_text("\n".join(lines))
    >>> print("\n".join(prepare(path, Wish("kind", models=("tree",))).notices))
    classification: 'kind' has 2 classes, for its cells are words.
    Column 'id' is dropped: its name says so and every cell differs. Keep it with --keep id.
    """
    source = Source.of(path)
    if wish.target not in source.names:  # before a large file is read
        decide_target(_no_rows(source.names), wish.target)
    named_augmenter(wish.augmenter)  # as is a name that is unknown
    frame, thousands = source.read_with_marks(watch)
    decimal = source.dialect.decimal
    target = decide_target(frame, wish.target, wish.task, min_rows=MIN_ROWS, decimal=decimal)
    features = frame.loc[target.known].drop(columns=wish.target).reset_index(drop=True)
    schema = Schema(
        describe_columns(
            features, keep=wish.keep, drop=wish.drop, decimal=decimal, thousands=thousands
        )
    )
    if not schema.used:
        raise TableError(
            f"No column is left to predict {wish.target!r} from: {_reasons(schema)}. "
            "Keep one with --keep."
        )
    X = schema.frame(features, learning=True)
    refuse_augmenter(wish.augmenter, schema, X)
    own = None if wish.grid is None else read_grid(wish.grid, target.task)
    chosen, left_out = candidates(schema, target, wish.models, own)
    metric, scoring, said = named_metric(wish.metric, target)
    mark = thousands.get(wish.target, "")
    notices = (*_target_notices(target, len(frame), mark), *_column_notices(schema, features))
    return Prepared(
        source,
        source.digest(),
        len(frame),
        X,
        target,
        schema,
        chosen,
        metric,
        scoring,
        (*notices, *left_out, *said),
    )


def _no_rows(names: list[str]) -> Any:
    import pandas as pd

    return pd.DataFrame(columns=names)


def _target_notices(target: Target, n_rows: int, mark: str) -> list[str]:
    classes = target.classes
    what = "is numbers" if classes is None else f"has {len(classes)} classes"
    told = [f"{target.task}: {target.name!r} {what}, for {target.why}."]
    if mark:
        told.append(f"A {MARK_NAMES[mark]} in the cells of {target.name!r} parts thousands.")
    if len(target.values) < n_rows:
        gone = n_rows - len(target.values)
        verb = "is" if gone == 1 else "are"
        told.append(f"{counted(gone, 'row')} without a value in {target.name!r} {verb} left out.")
    return told


def _column_notices(schema: Schema, features: Any) -> list[str]:
    told = []
    for column in schema.columns:
        if not column.why:
            continue
        taken = "dropped" if column.kind == "dropped" else f"read as {column.kind}"
        names_rows = column.kind == "dropped" and (
            "differs" in column.why or "counts" in column.why
        )
        advice = f" Keep it with --keep {shlex.quote(column.name)}." if names_rows else ""
        told.append(f"Column {column.name!r} is {taken}: {column.why}.{advice}")
    shares = [
        column.name
        for column in schema.columns
        if (column.kind == "category" or "differs" in column.why)
        and features[column.name].dropna().astype(str).str.fullmatch(_SHARE).all()
    ]
    if shares:
        told.append(
            f"Percent signs make words of the numbers in {listed(shares)}. Leave the signs out to "
            "have them read as numbers."
        )
    repeated = schema.of_kind("text") + [
        name for name in schema.of_kind("category") if features[name].nunique() >= MANY_CATEGORIES
    ]
    if repeated:
        told.append(
            f"New rows repeat given cells of {listed(repeated)}, which flatters models that learn "
            "cells by heart. Add --confirm 5 to have the best checked by folds."
        )
    return told


def _reasons(schema: Schema) -> str:
    return "; ".join(f"{column.name!r}: {column.why}" for column in schema.columns[:3]) or "none"
