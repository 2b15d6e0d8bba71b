"""The regret study as something that can be run again."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from leavezero._typing import Floats
from leavezero.experiments._pages import Page
from leavezero.experiments._regret import CLASS_METRICS, RegretStudy
from leavezero.experiments._regret_figure import draw_regret
from leavezero.experiments._regret_table import MEAN, POOL, RegretTable, regret_table
from leavezero.experiments._reproductions import Reproduction, Runnable, Wish
from leavezero.experiments._runner import Line
from leavezero.experiments._studies import HELD_BACK, STUDIES, TUNED_ON
from leavezero.experiments._unseen import UNSEEN, UnseenStudy

JUDGED, LOOKED = "held-back", "unseen"
_BASELINE = "5-fold CV"
_FOLDS = ("5-fold CV", "10-fold CV")


def _study(part: str, names: tuple[str, ...], wish: Wish) -> Runnable:
    """Return the study of the project with the data sets, splits and seed that were asked for."""
    splits = wish.repeats or (1 if wish.quick else None)
    study = STUDIES[JUDGED](wish.directory, splits)
    if not isinstance(study, RegretStudy):
        raise TypeError(f"{JUDGED} is not a regret study.")
    asked = replace(study, data=names, seed=wish.seed)
    return asked if part == JUDGED else UnseenStudy(asked)


def _report(
    lines: Mapping[str, list[Line]], missing: Mapping[str, str], folder: Path
) -> list[Page]:
    """Draw a figure for each metric, and return its tables and what unseen rows say."""
    pages: list[Page] = []
    found = lines.get(JUDGED, [])
    for metric in CLASS_METRICS:
        if not _has(found, metric):
            continue
        table = regret_table(found, metric)
        title = f"{JUDGED}: {len(table.data)} data sets, {metric}"
        draw_regret(table, folder / f"{JUDGED}-{metric}.svg", title=title)
        pages += regret_pages(table, JUDGED, len(found), missing)
    if found and lines.get(LOOKED):
        pages.append(unseen_page(found, lines[LOOKED]))
    return pages


def regret_pages(
    table: RegretTable, part: str, n_runs: int, missing: Mapping[str, str]
) -> list[Page]:
    """Return regret, bias and the difference to folds, each a page."""
    notes = (
        f"{n_runs} runs on {', '.join(table.data)}. Sets that the default was designed on: "
        f"{', '.join(name for name in table.data if name in TUNED_ON) or 'none'}.",
        *(f"{name}: not available. {reason}" for name, reason in missing.items()),
    )
    families = [*table.families, MEAN]

    def page(title: str, cells: dict[str, list[str]], words: tuple[str, ...] = ()) -> Page:
        rows = tuple((way, *cells[way]) for way in table.ways)
        return Page(f"{part}, {table.metric}: {title}", ("way", *families), rows, words)

    regrets = {way: [f"{table.mean(way, name):.2f}" for name in families] for way in table.ways}
    biases = {way: [f"{table.mean_bias(way, n):+.2f}" for n in families] for way in table.ways}
    return [
        page("regret in points", regrets, notes),
        _differences(table, part),
        page("score minus test score of the chosen model, points", biases),
    ]


def _differences(table: RegretTable, part: str) -> Page:
    families = [MEAN, *(name for name in (POOL,) if name in table.families)]
    rows = [
        (way, *(_words(table.difference(way, _BASELINE, name)) for name in families))
        for way in table.ways
        if way != _BASELINE
    ]
    title = f"{part}, {table.metric}: regret minus that of {_BASELINE}, points"
    note = "In parentheses 90 % intervals over data sets."
    return Page(title, ("way", *families), tuple(rows), (note,))


def _words(found: tuple[float, float, float]) -> str:
    middle, low, high = found
    if low == float("-inf"):  # one data set has no interval
        return f"{middle:+.2f}"
    return f"{middle:+.2f} ({low:+.2f} to {high:+.2f})"


def unseen_page(lines: Sequence[Line], looked: Sequence[Line]) -> Page:
    """Return the bias of what models say of rows as if not seen, and of folds, side by side.

    Only candidates that can tell are counted, for folds too, so that both speak of the same.
    """
    told = {_key(line): line["result"]["families"] for line in looked}
    families = sorted({name for found in told.values() for name in found} - {POOL})
    rows: list[tuple[str, ...]] = []
    for family in families:
        both = [line for line in lines if _key(line) in told]
        gaps = np.vstack([_gaps(line, told[_key(line)], family) for line in both])
        heard = gaps[~np.isnan(gaps[:, 0])]
        if len(heard):
            means = (f"{gap:+.2f}" for gap in heard.mean(axis=0))
            rows.append((family, f"{len(heard)} of {len(gaps)}", *means))
    return Page(
        f"{JUDGED}, accuracy: score minus test score of the same model, points",
        ("family", "candidates that can tell", UNSEEN, *_FOLDS),
        tuple(rows),
        ("Mean over those candidates of all runs, chosen or not.",),
    )


def _gaps(line: Line, told: Mapping[str, Any], family: str) -> Floats:
    """Return a row for each candidate: by how many points unseen rows and folds are off."""
    scores = line["result"]["families"][family]["accuracy"]
    unseen = np.array(told[family]["accuracy"][UNSEEN])
    unseen = np.where(unseen < 0, np.nan, unseen)  # one that cannot tell is far below
    ways = [unseen, *(np.array(scores[way]) for way in _FOLDS)]
    return np.asarray(100 * (np.column_stack(ways) - np.array(scores["test"])[:, None]))


def _key(line: Line) -> tuple[Any, ...]:
    return tuple(sorted(line["key"].items()))


def _has(lines: list[Line], metric: str) -> bool:
    return any(metric in f for line in lines for f in line["result"]["families"].values())


REGRET = Reproduction(
    "regret",
    "Regret of every way of choosing, nine families of models and all of them pooled",
    data=HELD_BACK,
    quick_data=("wine", "iris"),
    parts=(JUDGED, LOOKED),
    study=_study,
    report=_report,
    extra_data=TUNED_ON,
)
