"""Leave-zero-out and cross validation on the same candidates, judged by rows held back."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.metrics import get_scorer
from sklearn.model_selection import ParameterGrid

from leavezero._typing import AnyArray, Floats, Ints
from leavezero.tabular._cost import Cost, measured, start_workers
from leavezero.tabular._errors import TableError
from leavezero.tabular._folds import Judged, by_folds
from leavezero.tabular._judging import refuse_unjudged
from leavezero.tabular._preparation import Prepared
from leavezero.tabular._selection import fit_search, search_of
from leavezero.tabular._split import Plan
from leavezero.tabular._store import versions
from leavezero.tabular._warned import listening, worth_telling
from leavezero.tabular._watch import Heard, hearing, label_of
from leavezero.tabular._wish import Wish
from leavezero.tabular._words import counted

LEAVE_ZERO_OUT = "leave-zero-out"
_LUCK = 1.96  # standard errors that chance alone seldom exceeds


@dataclass(frozen=True)
class Way:
    """One way of choosing: its choice, what it says of it, what rows held back say, and its cost.

    Examples
    --------
    >>> from leavezero.tabular import Way
    >>> Way("leave-zero-out", 0, "tree", 0.9, 0.85, 0.02, 12, 1.0, None).said
    0.9
    """

    name: str
    at: int  # the candidate's place
    label: str
    said: float
    test: float
    regret: float
    n_fits: int
    wall_seconds: float
    cpu_seconds: float | None


@dataclass(frozen=True, eq=False)
class Compared:
    """What two ways of choosing made of one table.

    Examples
    --------
    >>> from leavezero.tabular import Compared
    >>> "ways" in Compared.__dataclass_fields__
    True
    """

    prepared: Prepared
    wish: Wish
    plan: Plan
    ways: tuple[Way, Way]
    candidates: list[dict[str, Any]]
    nearer: tuple[int, int]  # test rows that one choice predicts better than the other
    notices: tuple[str, ...]

    @property
    def best(self) -> dict[str, Any]:
        """The candidate that is best on the rows held back."""
        known = [one for one in self.candidates if one["test_score"] is not None]
        return max(known, key=lambda one: float(one["test_score"]))

    def sentences(self) -> list[str]:
        """Return what the table shows, and how far one split can show it."""
        return [_choices(self), *_rows(self), _costs(self), _luck(self.wish.seed)]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        prepared = self.prepared
        return {
            "table": {
                "path": str(prepared.source.path),
                "sha256": prepared.digest,
                "n_rows": prepared.n_rows,
                "n_learned": len(self.plan.inside),
                "n_test": len(self.plan.outside),
            },
            "target": prepared.target.name,
            "task": prepared.target.task,
            "metric": prepared.metric,
            "seed": self.wish.seed,
            "n_folds": self.plan.folds.n_splits,
            "test_share": self.plan.test_share,
            "ways": [asdict(way) for way in self.ways],
            "best_on_test": self.best["label"],
            "test_rows_nearer": list(self.nearer),
            "sentences": self.sentences(),
            "candidates": self.candidates,
            "notices": list(self.notices),
            "versions": versions(),
        }


def compare_ways(
    prepared: Prepared,
    wish: Wish,
    plan: Plan,
    watch: Callable[[str, Heard], None] | None = None,
) -> Compared:
    r"""Let leave-zero-out and cross validation choose, and score every candidate on other rows.

    Parameters
    ----------
    prepared : Prepared
        The table.
    wish : Wish
        What the user wants.
    plan : Plan
        Which rows are held back, and the folds of the others.
    watch : callable or None, default=None
        Called with a way's name and every candidate that it is done with.

    Returns
    -------
    Compared

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from leavezero.tabular import Wish, compare_ways, plan_comparison, prepare
    >>> path = Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = path.write_text("\n".join(["x,y", *(f"{at}.5,{at > 20}" for at in range(40))]))
    >>> wish = Wish("y", models=("bayes",))
    >>> prepared = prepare(path, wish)
    >>> compared = compare_ways(prepared, wish, plan_comparison(prepared.target, n_folds=5))
    >>> [(way.name, way.n_fits) for way in compared.ways]
    [('leave-zero-out', 3), ('5-fold CV', 16)]
    """
    refuse_unjudged(prepared, plan)
    prepared = replace(prepared, candidates=_seeded(prepared.candidates, wish.seed))
    X, y = prepared.X.iloc[plan.inside].reset_index(drop=True), prepared.target.values[plan.inside]
    names = (LEAVE_ZERO_OUT, f"{plan.folds.n_splits}-fold CV")
    first, second = (_heard_as(name, watch) for name in names)
    with listening() as heard:
        start_workers(wish.jobs)
        with hearing(first):
            ours, cost = measured(lambda: _by_search(prepared, wish, X, y), wish.jobs)
        theirs, others_cost = measured(
            lambda: by_folds(prepared, wish.jobs, X, y, plan.folds, second), wish.jobs
        )
        scores = _test_scores(prepared, wish.jobs, plan)
    ours = ours.along(theirs.params)
    return Compared(
        prepared,
        wish,
        plan,
        (_way(names[0], ours, cost, scores), _way(names[1], theirs, others_cost, scores)),
        _rows_of_all(ours, theirs, scores),
        _nearer(prepared, ours.model, theirs.model, plan.outside),
        (*prepared.notices, *plan.notices, *worth_telling(heard)),
    )


def _seeded(candidates: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return candidates whose chance is fixed, so that both ways judge the same models."""
    found = {}
    for name, (pipeline, grid) in candidates.items():
        free = [
            key
            for key, value in pipeline.get_params().items()
            if key.rpartition("__")[2] == "random_state" and value is None
        ]
        found[name] = clone(pipeline).set_params(**dict.fromkeys(free, seed)), grid
    return found


def _heard_as(
    name: str, watch: Callable[[str, Heard], None] | None
) -> Callable[[Heard], None] | None:
    return None if watch is None else lambda heard: watch(name, heard)


def _by_search(prepared: Prepared, wish: Wish, X: Any, y: AnyArray) -> Judged:
    search = search_of(prepared, wish)
    fit_search(search, X, y, wish)
    table = search.cv_results_
    return Judged(
        list(table["params"]),
        np.asarray(table["mean_test_score"], dtype=np.float64),
        int(search.best_index_),
        search.best_estimator_,
        search.n_fits_,
    )


def _test_scores(prepared: Prepared, jobs: int, plan: Plan) -> Floats:
    """Return what each candidate, fitted as both ways would, scores on the rows held back."""
    scorer, y = get_scorer(prepared.scoring), prepared.target.values
    parts = [(prepared.X.iloc[rows], y[rows]) for rows in (plan.inside, plan.outside)]
    tasks = (
        delayed(_test_score)(pipeline, params, scorer, *parts)
        for pipeline, grid in prepared.candidates.values()
        for params in ParameterGrid(grid)
    )
    scores = np.array(Parallel(n_jobs=jobs)(tasks), dtype=np.float64)
    if np.isnan(scores).all():
        raise TableError(
            f"No candidate has a score by {prepared.metric} on the rows held back. "
            "Use another --metric, or other models."
        )
    return scores


def _test_score(
    pipeline: Any, params: dict[str, Any], scorer: Any, learned: Any, held_back: Any
) -> float:
    try:
        model = clone(pipeline).set_params(**params).fit(*learned)
        return float(scorer(model, *held_back))
    except Exception:  # both ways have told of a candidate that fails
        return np.nan


def _way(name: str, judged: Judged, cost: Cost, scores: Floats) -> Way:
    test, at = float(scores[judged.best]), judged.best
    return Way(
        name,
        at,
        label_of(*judged.own(at)),
        float(judged.scores[at]),
        test,
        float(np.nanmax(scores)) - test,
        judged.n_fits,
        cost.wall_seconds,
        cost.cpu_seconds,
    )


def _rows_of_all(ours: Judged, theirs: Judged, scores: Floats) -> list[dict[str, Any]]:
    """Return a plain row for each candidate, the best on the rows held back first."""
    rows = []
    for at in range(len(scores)):
        model, params = ours.own(at)
        rows.append(
            {
                "label": label_of(model, params),
                "model": model,
                "params": params,
                "test_score": _finite(scores[at]),
                "leave_zero_out_score": _finite(ours.scores[at]),
                "cross_validation_score": _finite(theirs.scores[at]),
                "chosen_by_leave_zero_out": at == ours.best,
                "chosen_by_cross_validation": at == theirs.best,
            }
        )
    order = np.argsort(-np.where(np.isnan(scores), -np.inf, scores), kind="stable")
    return [rows[at] for at in order]


def _finite(score: float) -> float | None:
    return float(score) if np.isfinite(score) else None


def _nearer(prepared: Prepared, first: Any, second: Any, rows: Ints) -> tuple[int, int]:
    """Return how many rows each of two models predicts better than the other."""
    X, y = prepared.X.iloc[rows], prepared.target.values[rows]
    said = [np.asarray(model.predict(X)) for model in (first, second)]
    if prepared.target.task == "classification":
        one, other = (answers == y for answers in said)
    else:
        errors = [np.abs(answers - y) for answers in said]
        one, other = errors[0] < errors[1], errors[1] < errors[0]
    return int(np.sum(one & ~other)), int(np.sum(other & ~one))


def _choices(compared: Compared) -> str:
    ours, theirs = compared.ways
    if ours.at == theirs.at:
        return f"Both chose the same candidate, {ours.label}."
    for way in compared.ways:
        if np.isnan(way.test):
            return f"The choice of {way.name}, {way.label}, has no score on the rows held back."
    gain = ours.test - theirs.test
    told = "the same score" if gain == 0 else f"{abs(gain):.4g} {'more' if gain > 0 else 'less'}"
    return (
        f"On {counted(len(compared.plan.outside), 'row')} that neither saw, the choice of "
        f"leave-zero-out has {told} {'as' if gain == 0 else 'than'} that of cross validation."
    )


def _rows(compared: Compared) -> list[str]:
    """Return how many rows the two choices differ on, and whether that could be chance."""
    one, other = compared.nearer
    if compared.ways[0].at == compared.ways[1].at:
        return []
    chance = abs(one - other) <= _LUCK * np.sqrt(one + other)
    verb = "is" if chance else "is not"
    return [
        f"It predicts {one:,} of these rows better and {other:,} worse, which {verb} within what "
        "chance alone gives."
    ]


def _costs(compared: Compared) -> str:
    ours, theirs = compared.ways
    return (
        f"Leave-zero-out made {ours.n_fits:,} fits in {ours.wall_seconds:.1f} s, cross validation "
        f"{theirs.n_fits:,} in {theirs.wall_seconds:.1f} s."
    )


def _luck(seed: int) -> str:
    return (
        "One split is one draw of luck: before a small difference is believed, run this again "
        f"with --seed {seed + 1} and others."
    )
