"""Tables and figures of the regret study.

Regret is the best test score among the candidates minus the test score of the selected one, in
points (hundredths of a score). The default selects as it does for users; where other scores are
tied, candidates are selected with equal probability. Bias is the selected candidate's own score
minus its test score. Splits of a data set are averaged first; intervals are over data sets.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.figures import new_figure, plot_intervals, save
from experiments.markdown import (
    Interval,
    MarkdownTable,
    format_interval,
    format_number,
    make_frame,
    missing_notes,
)
from experiments.regret_methods import (
    AUGMENTERS,
    DEFAULT,
    FOLDS,
    MAIN_METRICS,
    OTHER_FOLDS,
    TEST,
)
from experiments.runner import Line
from leavezero._typing import Floats

POOL = "pool"
MLP = "MLP"  # settings that do not converge cost so much that they decide the mean
WITHOUT_MLP = "mean without MLP"
MEAN = "mean"  # over model types and the pool
LOO, LOO_OR_CV = "LOO score", "LOO, else 5-fold CV"
METHODS = (DEFAULT, "validation score", LOO, LOO_OR_CV, *AUGMENTERS, *FOLDS, OTHER_FOLDS)
METRICS = (*MAIN_METRICS, "roc_auc", "neg_log_loss")
BASELINES = ("10-fold CV", "5-fold CV")
LEVEL = 0.9
N_RESAMPLES = 10_000

Scores = dict[str, Floats]  # by method


def regret_and_bias(test: Floats, score: Floats) -> tuple[float, float]:
    """Return the regret and the bias of selecting by a score; NaN if there is no score.

    Examples
    --------
    >>> import numpy as np
    >>> regret, bias = regret_and_bias(np.array([0.5, 0.9, 0.7]), np.array([0.1, 0.2, 0.8]))
    >>> round(regret, 2), round(bias, 2)
    (0.2, 0.1)
    """
    if np.all(np.isnan(score)):
        return float("nan"), float("nan")
    best = np.nanmax(score)
    selected = float(test[score == best].mean())
    return float(test.max() - selected), float(best - selected)


def joined_runs(lines: Iterable[Line]) -> dict[tuple[str, int], dict[str, Any]]:
    """Return the results of all searches by name, for each split where none is missing."""
    runs: dict[tuple[str, int], dict[str, Any]] = {}
    for line in lines:
        key = line["key"]
        runs.setdefault((key["data"], key["split"]), {})[key["search"]] = line["result"]["types"]
    n_searches = max(map(len, runs.values()))
    return {key: run for key, run in runs.items() if len(run) == n_searches}


def regret_frame(lines: Iterable[Line], metric: str) -> pd.DataFrame:
    """Return regret and bias in points, one row per data set, model type and method.

    The model type "pool" has the candidates of all types, "mean" the mean over types and pool,
    "mean without MLP" that over the others.
    """
    records = [
        (data, model_type, method, *regret_and_bias(scores[TEST], scores[method]))
        for (data, _), run in joined_runs(lines).items()
        for model_type, scores in _with_pool(run, metric).items()
        for method in METHODS
        if method in scores
    ]
    columns = ["data", "model_type", "method", "regret", "bias"]
    frame = pd.DataFrame(records, columns=columns)
    frame[["regret", "bias"]] *= 100
    frame = frame.groupby(columns[:3], as_index=False).mean()
    averaged = {MEAN: frame}
    if MLP in set(frame["model_type"]):
        averaged[WITHOUT_MLP] = frame[frame["model_type"] != MLP]
    means = [
        types.groupby(["data", "method"], as_index=False)[["regret", "bias"]]
        .agg(_complete_mean)
        .assign(model_type=name)
        for name, types in averaged.items()
    ]
    return pd.concat([frame, *means], ignore_index=True)


def _with_pool(run: Mapping[str, Any], metric: str) -> dict[str, Scores]:
    """Return the scores of each model type that has the metric, and those of the pool."""
    types = sorted(name for name, found in run[TEST].items() if metric in found)
    found = {name: _columns(run, name, metric) for name in types}
    for scores in found.values():
        if {LOO, "5-fold CV"} <= {*scores}:
            has_loo = np.isfinite(scores[LOO]).all()
            scores[LOO_OR_CV] = scores[LOO if has_loo else "5-fold CV"]
    if len(found) > 1:
        common = set.intersection(*(set(scores) for scores in found.values()))
        pool = {m: np.concatenate([scores[m] for scores in found.values()]) for m in common}
        pool.pop(DEFAULT, None)  # candidates of other types change its scores
        found[POOL] = pool | _columns(run, POOL, metric)
    return found


def _columns(run: Mapping[str, Any], model_type: str, metric: str) -> Scores:
    """Return the columns of all searches; that of the default has only the selected candidate."""
    found: Scores = {}
    for result in (types.get(model_type, {}).get(metric) for types in run.values()):
        if result is not None:
            columns = result["columns"].items()
            found |= {name: np.array(scores, dtype=float) for name, scores in columns}
            if DEFAULT in result["columns"]:
                found.setdefault(LOO, np.full(len(found[DEFAULT]), np.nan))
                found[DEFAULT] = np.full(len(found[DEFAULT]), np.nan)
                found[DEFAULT][result["selected"]] = result["best_score"]
    return found


def _complete_mean(values: pd.Series) -> float:
    return float(values.mean(skipna=False))


def differences(frame: pd.DataFrame, baseline: str, method: str = DEFAULT) -> pd.DataFrame:
    """Return regret of a method minus that of a baseline: data sets by model types."""
    wide = frame.pivot(index="data", columns=["method", "model_type"], values="regret")
    found = (wide[method] - wide[baseline])[_types(frame)]
    return found.round(6) + 0.0  # without -0.0


def mean_and_bootstrap_interval(values: pd.Series) -> Interval:
    """Return a mean with its bootstrap interval over data sets; infinite for one data set."""
    found = values.dropna().to_numpy()
    if len(found) < 2:
        return (float(found[0]) if len(found) else np.nan), -np.inf, np.inf
    drawn = np.random.default_rng(0).integers(len(found), size=(N_RESAMPLES, len(found)))
    low, high = np.quantile(found[drawn].mean(axis=1), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(found.mean()), float(low), float(high)


def _types(frame: pd.DataFrame) -> list[str]:
    names, last = frame["model_type"].unique(), (POOL, WITHOUT_MLP, MEAN)
    return [*sorted({*names} - {*last}), *(name for name in last if name in names)]


def method_table(frame: pd.DataFrame, value: str, title: str, *notes: str) -> MarkdownTable:
    """Return the mean of "regret" or "bias" by model type, for each method."""
    means = frame.pivot_table(value, "model_type", "method", aggfunc=_complete_mean, dropna=False)
    methods = [name for name in METHODS if name in means.columns]
    sign = "+" if value == "bias" else ""
    rows = {
        name: [format_number(means.loc[name, method], sign) for method in methods]
        for name in _types(frame)
    }
    return MarkdownTable(title, make_frame("model type", methods, rows), notes)


def difference_table(
    frame: pd.DataFrame, title: str, method: str = DEFAULT, baselines: Sequence[str] = BASELINES
) -> MarkdownTable:
    """Return the regret of a method minus that of the baselines, and where it loses most."""
    by_baseline = {baseline: differences(frame, baseline, method) for baseline in baselines}
    found = by_baseline[baselines[0]]
    pairs = found.drop(columns=[WITHOUT_MLP, MEAN], errors="ignore").stack()
    rows = {}
    for name in found.columns:
        values = found[name].dropna()
        signs = np.sign(pairs if name == MEAN else values)
        shares = " / ".join(f"{100 * (signs == sign).mean():.0f}" for sign in (1, 0, -1))
        intervals = (mean_and_bootstrap_interval(d[name]) for d in by_baseline.values())
        worst = f"{values.idxmax()} {values.max():+.2f}" if len(values) else ""
        rows[name] = [*map(format_interval, intervals), shares, worst]
    columns = [f"minus {baseline}" for baseline in baselines]
    columns += ["worse / equal / better, %", "largest loss"]
    data, model_type = pairs.idxmax()
    return MarkdownTable(
        title,
        make_frame("model type", columns, rows),
        (
            f"In parentheses {LEVEL:.0%} bootstrap intervals over data sets, paired. Shares of "
            "data sets (in the last row: of pairs of data set and model type) and the largest "
            f"loss are against {baselines[0]}.",
            f"Largest loss of one pair: {pairs.max():+.2f} ({data}, {model_type}).",
        ),
    )


def cost_table(lines: Iterable[Line], metric: str, title: str) -> MarkdownTable:
    """Return fits per candidate and CPU seconds of the default and of cross-validation."""
    records = [
        {
            "model_type": name,
            "candidates": len(found[metric]["columns"][DEFAULT]),
            "fits": found[metric]["fits"],
            "cpu": found[metric]["seconds"],
            # All types one after the other is the cross-validation of the pool.
            **{
                fold: sum(
                    run[fold][one][metric]["seconds"]
                    for one in (run[fold] if name == POOL else [name])
                )
                for fold in FOLDS
            },
        }
        for run in joined_runs(lines).values()
        if {DEFAULT, *FOLDS} <= {*run}
        for name, found in run[DEFAULT].items()
        if metric in found
    ]
    sums = pd.DataFrame(records).groupby("model_type").agg(["sum", "mean"])
    rows = {
        name: [
            f"{sums.loc[name, ('candidates', 'mean')]:.0f}",
            f"{sums.loc[name, ('fits', 'sum')] / sums.loc[name, ('candidates', 'sum')]:.2f}",
            *(f"{sums.loc[name, (search, 'mean')]:.2f}" for search in ("cpu", *FOLDS)),
            f"{sums.loc[name, ('cpu', 'sum')] / sums.loc[name, ('10-fold CV', 'sum')]:.2f}",
        ]
        for name in [*sorted({*sums.index} - {POOL}), POOL]
    }
    columns = ["candidates", "fits per candidate", "CPU seconds", *FOLDS, "relative to 10-fold CV"]
    note = "Means per search on one core; the fits are all fits of the default, the final one too."
    return MarkdownTable(title, make_frame("model type", columns, rows), (note,))


def coverage_table(lines: Iterable[Line], metric: str, title: str) -> MarkdownTable | None:
    """Return how often the default's interval for new rows contains the test score."""
    records = []
    for run in joined_runs(lines).values():
        scores = _with_pool(run, metric)
        for name, found in run[DEFAULT].items():
            if "interval" in found.get(metric, {}):
                low, high = found[metric]["interval"]
                test = scores[name][TEST][found[metric]["selected"]]
                records.append((name, low <= test <= high, 100 * (high - low)))
    if not records:
        return None
    frame = pd.DataFrame(records, columns=["model type", "covered", "width"])
    frame = pd.concat([frame, frame.assign(**{"model type": MEAN})])
    found = frame.groupby("model type").mean()
    rows = {
        name: [f"{found.loc[name, 'covered']:.0%}", f"{found.loc[name, 'width']:.1f}"]
        for name in [*sorted({*found.index} - {POOL, MEAN}), POOL, MEAN]
    }
    note = "Scores on test rows vary, too: an exact 95 % interval contains slightly fewer of them."
    columns = ["intervals that contain the test score", "mean width, points"]
    return MarkdownTable(title, make_frame("model type", columns, rows), (note,))


def draw_differences(frame: pd.DataFrame, path: Path, title: str) -> None:
    """Draw the default's regret minus that of the baselines by model type, with intervals."""
    types = _types(frame)[::-1]  # the mean at the bottom
    figure, [axes] = new_figure(7.5, 0.32 * len(types) + 1.4)
    series = {
        baseline: [mean_and_bootstrap_interval(found[name]) for name in types]
        for baseline, found in ((name, differences(frame, name)) for name in BASELINES)
    }
    plot_intervals(axes, types, {f"minus {name}": found for name, found in series.items()})
    axes.set_xlabel("regret of the default minus that of CV, points; left is better")
    save(figure, [axes], path, title)


def report(
    lines: Mapping[str, list[Line]], missing: Mapping[str, str], folder: Path
) -> dict[str, list[MarkdownTable]]:
    """Return one page per part, and draw one figure per part for the main metric."""
    pages: dict[str, list[MarkdownTable]] = {}
    for part, found in lines.items():
        pages[part] = []
        known = {m for line in found for by in line["result"]["types"].values() for m in by}
        for metric in (metric for metric in METRICS if metric in known):
            frame = regret_frame(found, metric)
            pages[part] += _metric_tables(frame, f"{part}, {metric}", missing)
            if DEFAULT in {*frame["method"]}:
                title = f"{part}, {metric}: 95 % intervals for new rows"
                pages[part] += filter(None, [coverage_table(found, metric, title)])
            if metric in MAIN_METRICS and {DEFAULT, *BASELINES} <= {*frame["method"]}:
                pages[part].append(cost_table(found, metric, f"{part}, {metric}: cost of a search"))
                draw_differences(frame, folder / f"{part}.svg", f"{part}, {metric}")
    return pages


def _metric_tables(
    frame: pd.DataFrame, name: str, missing: Mapping[str, str]
) -> list[MarkdownTable]:
    data, methods = frame["data"].unique(), {*frame["method"]}
    notes = (
        f"{len(data)} data sets: {', '.join(data)}.",
        "A dash: a model type without LOO predictions.",
        *missing_notes(missing),
    )
    tables = [method_table(frame, "regret", f"{name}: regret in points", *notes)]
    if {DEFAULT, *BASELINES} <= methods:
        tables.append(difference_table(frame, f"{name}: regret of the default minus that of CV"))
    if OTHER_FOLDS in methods:
        title = f"{name}: regret of 10-fold CV with other folds minus that of 10-fold CV"
        tables.append(difference_table(frame, title, OTHER_FOLDS, BASELINES[:1]))
    title = f"{name}: score minus test score of the selected candidate, points"
    return [*tables, method_table(frame, "bias", title)]


def augmenters_report(
    lines: Mapping[str, list[Line]], missing: Mapping[str, str], folder: Path
) -> dict[str, list[MarkdownTable]]:
    """Return one page per part: numeric data sets, then those that some augmenters do not take."""
    pages = {}
    for part, found in lines.items():
        mixed = {line["key"]["data"] for line in found if not line["result"]["types"]}
        groups = {
            f"{part}, numeric": [line for line in found if line["key"]["data"] not in mixed],
            f"{part}, mixed": [
                line for line in found if line["key"]["data"] in mixed and line["result"]["types"]
            ],
        }
        tables = report({name: of for name, of in groups.items() if of}, missing, folder)
        pages[part] = [table for found in tables.values() for table in found]
    return pages
