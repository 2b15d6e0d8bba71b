"""From a table to a fitted search: what a model is chosen by, and what came of it."""

import os
import shlex
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from leavezero.exceptions import CandidateFailedWarning, SmallClassWarning
from leavezero.search import CandidateSearchLZO
from leavezero.tabular._errors import TableError
from leavezero.tabular._grid_file import read_grid
from leavezero.tabular._kinds import MANY_CATEGORIES, describe_columns
from leavezero.tabular._models import candidates
from leavezero.tabular._named import named_augmenter, named_metric
from leavezero.tabular._read import Source
from leavezero.tabular._schema import Schema
from leavezero.tabular._store import TableModel, versions
from leavezero.tabular._target import MIN_ROWS, Target, decide_target
from leavezero.tabular._watch import Heard, hearing, own_params
from leavezero.tabular._words import counted, listed

N_FOLDS = 10  # of the cross validation that the costs are set beside


@dataclass(frozen=True)
class Wish:
    """What a user wants of a selection.

    Examples
    --------
    >>> from leavezero.tabular import Wish
    >>> Wish("price").augmenter
    'auto'
    """

    target: str
    task: str | None = None
    models: tuple[str, ...] | None = None
    grid: Path | None = None
    metric: str | None = None
    augmenter: str = "auto"
    confirm: int | str | None = None
    jobs: int = 1
    seed: int = 0
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()


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


@dataclass(frozen=True, eq=False)
class Selected:
    """What a search over a table found.

    Examples
    --------
    >>> from leavezero.tabular import Selected
    >>> "trust" in Selected.__dataclass_fields__
    True
    """

    prepared: Prepared
    wish: Wish
    search: CandidateSearchLZO
    trust: Any
    interrupted: bool
    notices: tuple[str, ...]
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def model(self) -> TableModel:
        """The winner, as it can be stored."""
        prepared = self.prepared
        return TableModel(
            self.search.best_estimator_,
            prepared.schema,
            prepared.target.name,
            prepared.target.task,
            versions(),
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return a plain row for each candidate, the best first."""
        table = self.search.cv_results_
        best = int(self.search.best_index_)
        order = sorted(
            range(len(table["params"])), key=lambda at: (at != best, table["rank_test_score"][at])
        )
        return [self._row(table, at, at == best) for at in order]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: the data, the wish, the candidates and what to think of them."""
        prepared, target = self.prepared, self.prepared.target
        n_candidates = len(self.search.cv_results_["params"])
        rows = self.rows()
        return {
            "table": {
                "path": str(prepared.source.path),
                "sha256": prepared.digest,
                "format": prepared.source.format,
                "dialect": prepared.source.dialect.to_dict(),
                "n_rows": prepared.n_rows,
                "n_learned": len(target.values),
                "columns": prepared.schema.to_list(),
            },
            "target": target.name,
            "task": target.task,
            "why": target.why,
            "classes": target.classes,
            "metric": prepared.metric,
            "augmenter": repr(self.search.augmenter_),
            "seed": self.wish.seed,
            "models": _plain_grids(prepared.candidates),
            "interrupted": self.interrupted,
            "best": rows[0],
            "candidates": rows,
            "fits": dict(self.search.fits_),
            "n_fits": self.search.n_fits_,
            "n_fits_of_10_fold_cv": N_FOLDS * n_candidates + 1,
            "trust": None if self.trust is None else self.trust.to_dict(),
            "notices": list(self.notices),
            "seconds": {name: round(value, 3) for name, value in self.seconds.items()},
            "versions": versions(),
        }

    def _row(self, table: dict[str, Any], at: int, chosen: bool) -> dict[str, Any]:
        model, params = own_params(table["params"][at])
        return {
            "rank": int(table["rank_test_score"][at]),
            "chosen": chosen,
            "model": model,
            "params": {name: _plain(value) for name, value in params.items()},
            "score": _figure(table, "mean_test_score", at),
            "low": _figure(table, "low_test_score", at),
            "high": _figure(table, "high_test_score", at),
            "augmented_score": _figure(table, "mean_augmented_score", at),
            "unseen_score": _figure(table, "mean_unseen_score", at),
            "confirm_score": _figure(table, "mean_confirm_score", at),
            "fit_seconds": _figure(table, "mean_fit_time", at),
        }


def prepare(path: str | Path, wish: Wish) -> Prepared:
    r"""Read a table and decide everything that can be decided before a fit.

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
    frame = source.read()
    target = decide_target(frame, wish.target, wish.task, min_rows=MIN_ROWS)
    features = frame.loc[target.known].drop(columns=wish.target).reset_index(drop=True)
    schema = Schema(describe_columns(features, keep=wish.keep, drop=wish.drop))
    if not schema.used:
        raise TableError(
            f"No column is left to predict {wish.target!r} from: {_reasons(schema)}. "
            "Keep one with --keep."
        )
    own = None if wish.grid is None else read_grid(wish.grid, target.task)
    chosen, left_out = candidates(schema, target, wish.models, own)
    metric, scoring, said = named_metric(wish.metric, target)
    notices = (*_target_notices(target, len(frame)), *_column_notices(schema, features))
    return Prepared(
        source,
        source.digest(),
        len(frame),
        schema.frame(features, learning=True),
        target,
        schema,
        chosen,
        metric,
        scoring,
        (*notices, *left_out, *said),
    )


def select_model(
    prepared: Prepared, wish: Wish, watch: Callable[[Heard], None] | None = None
) -> Selected:
    r"""Search the candidates, and ask how far the result can be believed.

    Ctrl-C keeps the best so far; before the first candidate is done there is nothing to keep, and
    KeyboardInterrupt goes on.

    Parameters
    ----------
    prepared : Prepared
        The table.
    wish : Wish
        What the user wants.
    watch : callable or None, default=None
        Called with every candidate that is done.

    Returns
    -------
    Selected

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from leavezero.tabular import Wish, prepare, select_model
    >>> path = Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = path.write_text("\n".join(["x,y", *(f"{at}.5,{at > 20}" for at in range(40))]))
    >>> wish = Wish("y", models=("bayes",))
    >>> selected = select_model(prepare(path, wish), wish)
    >>> selected.to_dict()["n_fits_of_10_fold_cv"]
    31
    """
    search = CandidateSearchLZO(
        prepared.candidates,
        augmenter=named_augmenter(wish.augmenter),
        scoring=prepared.scoring,
        confirm=wish.confirm,
        n_jobs=wish.jobs,
        random_state=wish.seed,
    )
    started, interrupted = time.perf_counter(), False
    with warnings.catch_warnings(record=True) as heard, _silent_workers(), hearing(watch):
        warnings.simplefilter("always")
        try:
            search.fit(prepared.X, prepared.target.values)
        except KeyboardInterrupt:
            if not hasattr(search, "best_estimator_"):
                raise
            interrupted = True
        searched = time.perf_counter()
        trust, interrupted = _trust(search, interrupted)
    seconds = {"search": searched - started, "trust": time.perf_counter() - searched}
    notices = (*prepared.notices, *_warned([warning.message for warning in heard]))
    return Selected(prepared, wish, search, trust, interrupted, notices, seconds)


def _trust(search: CandidateSearchLZO, interrupted: bool) -> tuple[Any, bool]:
    """Return the report on the score, unless the user has no patience for it."""
    try:
        return search.trust(optimism=not interrupted), interrupted
    except KeyboardInterrupt:
        return None, True


@contextmanager
def _silent_workers() -> Iterator[None]:
    """Keep warnings of other processes off the terminal; those that matter are told in the end."""
    name = "PYTHONWARNINGS"
    before = os.environ.get(name)
    os.environ[name] = "ignore"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def _warned(heard: Sequence[Any]) -> list[str]:
    """Return what is worth hearing of the warnings of a search, each as one line."""
    told = [
        str(one).partition("\n")[0]
        for one in heard
        if isinstance(one, CandidateFailedWarning | SmallClassWarning)
    ]
    early = sum(isinstance(one, ConvergenceWarning) for one in heard)
    if early:
        told.append(
            f"{counted(early, 'fit')} stopped before converging; they were judged as they are."
        )
    return list(dict.fromkeys(told))


def _no_rows(names: list[str]) -> Any:
    import pandas as pd

    return pd.DataFrame(columns=names)


def _target_notices(target: Target, n_rows: int) -> list[str]:
    classes = target.classes
    what = "is numbers" if classes is None else f"has {len(classes)} classes"
    told = [f"{target.task}: {target.name!r} {what}, for {target.why}."]
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


def _plain_grids(found: dict[str, tuple[Any, dict[str, list[Any]]]]) -> dict[str, Any]:
    return {
        name: {
            "estimator": repr(pipeline[-1]),
            "grid": {key.removeprefix("model__"): values for key, values in grid.items()},
        }
        for name, (pipeline, grid) in found.items()
    }


def _figure(table: dict[str, Any], name: str, at: int) -> float | None:
    if name not in table or not np.isfinite(table[name][at]):
        return None
    return float(table[name][at])


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, str | int | float | bool | None) else repr(value)
