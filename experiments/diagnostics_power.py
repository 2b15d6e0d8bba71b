"""Power of the diagnostics: how much larger regret is where a check warns."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.markdown import (
    MarkdownTable,
    format_interval,
    format_number,
    make_frame,
    missing_notes,
)
from experiments.model_types import ModelType, model_types
from experiments.regret import quiet_single_thread
from experiments.regret_data import PARTS, Split, make_split
from experiments.regret_methods import TEST, run_search
from experiments.regret_report import POOL
from experiments.runner import Experiment, Line, Options
from leavezero import CandidateSearchLZO, GridSearchLZO
from leavezero._typing import Bools, Floats, Ints
from leavezero.augment import LabelInvariantMixup
from leavezero.diagnostics import THRESHOLDS, Thresholds

AUGMENTERS = {"mix-up, LOO": LabelInvariantMixup(), "default": "auto"}
N_RESAMPLES = 2_000
MIN_SELECTIONS = 5  # with and without a warning, for an interval

WARNING = {code: t for code, t in THRESHOLDS.items() if t.warning is not None}
NOTES_AS_WARNINGS = {"LZ07": Thresholds(1.0, 1.0)}


@dataclass(frozen=True)
class DiagnosticsStudy:
    """The checks of searches over each model type and the pool, and the regret of each search."""

    part: str
    data: tuple[str, ...]
    n_splits: int
    seed: int = 0
    folder: str | None = None

    def protocol(self) -> dict[str, Any]:
        """Return what all runs share; data sets and splits can be added to a file."""
        return {
            "study": "diagnostics",
            "methods": list(AUGMENTERS),
            "validation set": "the default of the search",
            "seed": self.seed,
        }

    def keys(self) -> list[dict[str, Any]]:
        """Return the runs, first splits first."""
        return [
            {"data": name, "split": split} for split in range(self.n_splits) for name in self.data
        ]

    def __call__(self, key: dict[str, Any]) -> dict[str, Any]:
        """Return for each method and model type the regret, and each check's value and level."""
        started = time.perf_counter()
        part = PARTS[self.part]
        with quiet_single_thread():
            split = make_split(part, key["data"], key["split"], seed=self.seed, folder=self.folder)
            types = model_types(part.task, split.X)
            test = {name: _test_scores(types[name], split) for name in types}
            test[POOL] = np.concatenate([*test.values()])
            methods = {
                method: {
                    name: _checked(candidates, augmenter, split, test[name])
                    for name, candidates in {**types, POOL: types}.items()
                }
                for method, augmenter in AUGMENTERS.items()
            }
        return {"methods": methods, "wall_seconds": round(time.perf_counter() - started, 3)}


def _test_scores(model_type: ModelType, split: Split) -> Floats:
    found = run_search(TEST, model_type, split, ["accuracy"])
    return np.array(found["accuracy"]["columns"][TEST])


def _checked(candidates: Any, augmenter: Any, split: Split, test: Floats) -> dict[str, Any]:
    params = {"augmenter": augmenter, "scoring": "accuracy", "random_state": split.number}
    if isinstance(candidates, Mapping):
        search: Any = CandidateSearchLZO(candidates, **params)
    else:
        search = GridSearchLZO(*candidates, **params)
    search.fit(split.X, split.y)
    checks = search.diagnose(permutation=True)
    return {
        "regret": round(100 * float(test.max() - test[search.best_index_]), 3),
        "checks": {check.code: [_rounded(check.value), check.level] for check in checks},
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else round(float(value), 5)


@dataclass(frozen=True)
class CheckPower:
    """Mean regret in points with and without a check's warning.

    ``low`` and ``high`` are the 95 % interval of the difference over data sets; NaN if the check
    warns in too few or too many selections.
    """

    code: str
    n_selections: int
    warning_share: float
    with_warning: float
    without: float
    low: float
    high: float

    @property
    def difference(self) -> float:
        """How much larger regret is with the warning."""
        return self.with_warning - self.without


def check_power(
    lines: Iterable[Line],
    methods: Sequence[str],
    thresholds: Mapping[str, Thresholds] = WARNING,
    seed: int = 0,
) -> list[CheckPower]:
    """Return the power of each check; levels are computed from the stored values."""
    selections = [
        (line["key"]["data"], found["regret"], found["checks"])
        for line in lines
        for method in methods
        for found in line["result"]["methods"].get(method, {}).values()
    ]
    powers = []
    for code in sorted({code for *_, checks in selections for code in checks} & {*thresholds}):
        known = [
            (data, regret, checks[code][0])
            for data, regret, checks in selections
            if code in checks and checks[code][0] is not None
        ]
        if known:
            powers.append(_power(code, thresholds[code], known, seed))
    return powers


def _power(
    code: str, thresholds: Thresholds, known: Sequence[tuple[str, float, float]], seed: int
) -> CheckPower:
    names, data = np.unique([data for data, *_ in known], return_inverse=True)
    regrets = np.array([regret for _, regret, _ in known])
    warned = np.array([thresholds.level(value) == "warning" for *_, value in known])
    low = high = float("nan")
    if min(warned.sum(), (~warned).sum()) >= MIN_SELECTIONS:
        low, high = _interval(data, len(names), regrets, warned, seed)
    with_warning, without = (
        float(regrets[part].mean()) if part.any() else float("nan") for part in (warned, ~warned)
    )
    return CheckPower(code, len(known), float(warned.mean()), with_warning, without, low, high)


def _interval(
    data: Ints, n_data: int, regrets: Floats, warned: Bools, seed: int
) -> tuple[float, float]:
    """Return the bootstrap interval of the difference over data sets."""
    sums, counts = (
        np.array([np.bincount(data[p], w, minlength=n_data) for p, w in parts])
        for parts in (
            [(part, regrets[part]) for part in (warned, ~warned)],
            [(part, None) for part in (warned, ~warned)],
        )
    )
    drawn = np.random.default_rng(seed).integers(n_data, size=(N_RESAMPLES, n_data))
    totals, sizes = sums[:, drawn].sum(axis=2), counts[:, drawn].sum(axis=2)
    usable = (sizes > 0).all(axis=0)
    means = totals[:, usable] / sizes[:, usable]
    low, high = np.quantile(means[0] - means[1], [0.025, 0.975])
    return float(low), float(high)


def report(
    lines: Mapping[str, list[Line]], missing: Mapping[str, str], folder: Path
) -> dict[str, list[MarkdownTable]]:
    """Return the power of every check on both halves of the data sets."""
    tables = []
    for part, found in lines.items():
        n_data = len({line["key"]["data"] for line in found})
        for title, methods, thresholds in (
            ("both methods", tuple(AUGMENTERS), WARNING),
            ("default", ("default",), WARNING),
            ("notes as warnings", tuple(AUGMENTERS), NOTES_AS_WARNINGS),
        ):
            powers = check_power(found, methods, thresholds)
            name = f"{part}, {title}: accuracy regret in points, {n_data} data sets"
            tables.append(_table(powers, f"{name}, {len(found)} runs", missing))
    return {"power": tables}


def _table(powers: Sequence[CheckPower], title: str, missing: Mapping[str, str]) -> MarkdownTable:
    rows = {}
    for power in powers:
        cells = [f"{100 * power.warning_share:.0f} %"]
        cells += [format_number(value) for value in (power.with_warning, power.without)]
        interval = format_interval((power.difference, power.low, power.high))
        rows[power.code] = [*cells, "too few" if np.isnan(power.low) else interval]
    columns = ("warns in", "regret with warning", "without", "difference (95 %)")
    return MarkdownTable(title, make_frame("check", columns, rows), missing_notes(missing))


def _study(part: str, data: tuple[str, ...], options: Options) -> DiagnosticsStudy:
    return DiagnosticsStudy(part, data, options.repeats or 1, options.seed, options.folder)


DIAGNOSTICS = Experiment(
    "diagnostics",
    "Power of the diagnostics: regret with and without a warning of each check",
    data={name: PARTS[name].data for name in ("tuning-300", "reporting-300")},
    quick_data={"tuning-300": ("breast_cancer",)},
    study=_study,
    report=report,
)
