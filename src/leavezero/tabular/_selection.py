"""A search over a table, and what came of it."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid

from leavezero._typing import AnyArray
from leavezero.exceptions import AllCandidatesFailedError
from leavezero.search import CandidateSearchLZO
from leavezero.tabular._errors import TableError
from leavezero.tabular._named import named_augmenter
from leavezero.tabular._preparation import Prepared
from leavezero.tabular._store import TableModel, versions
from leavezero.tabular._warned import listening, worth_telling
from leavezero.tabular._watch import Heard, hearing, own_params
from leavezero.tabular._wish import Wish
from leavezero.tabular._words import in_options

N_FOLDS = 10  # of the cross validation that the costs are set beside


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
    def n_planned(self) -> int:
        """The number of candidates that were to be tried."""
        return sum(len(ParameterGrid(grid)) for _, grid in self.prepared.candidates.values())

    @property
    def n_done(self) -> int:
        """The number of candidates that the search is through with."""
        return len(self.search.cv_results_["params"])

    @property
    def n_judged(self) -> int:
        """The number of candidates that have a score; some fail, or time is spent before them."""
        return int(np.isfinite(self.search.cv_results_["mean_test_score"]).sum())

    @property
    def confirmed(self) -> bool:
        """Whether folds had a word in the choice."""
        return "mean_confirm_score" in self.search.cv_results_

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
            "n_fits_of_10_fold_cv": N_FOLDS * self.n_judged + 1,
            "trust": None if self.trust is None else in_options(self.trust.to_dict()),
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
            "failed": self._reason(at),
        }

    def _reason(self, at: int) -> str | None:
        """Return why a candidate has no score, in a line; None if it has one."""
        lines = self.search.failures_.get(at, "").splitlines()
        return lines[-1] if lines else None


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
    search = search_of(prepared, wish)
    started, interrupted = time.perf_counter(), False
    with listening() as heard, hearing(watch):
        try:
            fit_search(search, prepared.X, prepared.target.values, wish)
        except KeyboardInterrupt:
            if not hasattr(search, "best_estimator_"):
                raise
            interrupted = True
        searched = time.perf_counter()
        trust, interrupted = _trust(search, interrupted)
    seconds = {"search": searched - started, "trust": time.perf_counter() - searched}
    notices = (*prepared.notices, *worth_telling(heard))
    return Selected(prepared, wish, search, trust, interrupted, notices, seconds)


def search_of(prepared: Prepared, wish: Wish) -> CandidateSearchLZO:
    """Return the search that a wish asks for, not fitted yet."""
    return CandidateSearchLZO(
        prepared.candidates,
        augmenter=named_augmenter(wish.augmenter),
        scoring=prepared.scoring,
        confirm=wish.confirm,
        n_jobs=wish.jobs,
        random_state=wish.seed,
        journal=wish.journal,
        time_budget=wish.time_budget,
    )


def fit_search(search: CandidateSearchLZO, X: Any, y: AnyArray, wish: Wish) -> None:
    """Search; a grid, a journal or a budget that will not do is said as other wrong words are."""
    try:
        search.fit(X, y)
    except AllCandidatesFailedError as error:
        if "time_budget was spent" not in str(error):
            if wish.grid is None:
                raise
            raise TableError(
                f"Every candidate failed; the first ended with {_reason(error)}. Mend {wish.grid}."
            ) from error
        raise TableError(
            f"No candidate was finished in {wish.time_budget:g} seconds. Give a longer "
            "--time-budget, or name quick models in --models."
        ) from error
    except (ValueError, PermissionError) as error:
        if wish.journal is None or str(wish.journal) not in str(error):
            raise
        owner = f"journal of {type(search).__name__}, the file "
        raise TableError(f"--journal: {str(error).replace(owner, '')}") from error


def _reason(error: Exception) -> str:
    """Return the last line of a traceback, its error without the module."""
    kind, colon, words = str(error).strip().splitlines()[-1].partition(": ")
    return f"{kind.rpartition('.')[2]}{colon}{words}".rstrip(".")


def _trust(search: CandidateSearchLZO, interrupted: bool) -> tuple[Any, bool]:
    """Return the report on the score, unless the user has no patience for it."""
    try:
        return search.trust(optimism=not interrupted), interrupted
    except KeyboardInterrupt:
        return None, True


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
