"""Tables and figures of the regret study.

Regret is the best test score among the candidates minus the test score of the selected one; tied
candidates are selected with equal probability. Bias is the selected candidate's own score minus its
test score. Both are in points (hundredths of a score) and are averaged over the splits of a data
set first; intervals are over data sets.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.figures import new_figure, plot_intervals, save
from experiments.markdown import (
    NO_VALUE,
    Interval,
    MarkdownTable,
    format_interval,
    format_number,
    make_frame,
    missing_notes,
)
from experiments.model_types import WITH_LOO
from experiments.rank_tests import mean_and_interval
from experiments.regret_data import TUNING
from experiments.regret_methods import FOLDS, METHODS, TEST, Method
from experiments.runner import Line, read_lines
from leavezero._typing import Floats

POOL = "pool"
MEAN = "mean"  # over model types and the pool
MEAN_WITH_LOO = "mean, types with LOO"
METRICS = ("accuracy", "balanced_accuracy", "roc_auc", "neg_log_loss", "r2")
BASELINES = ("5-fold CV", "10-fold CV", "mix-up")
LEVEL = 0.9


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


def regret_frame(lines: Iterable[Line], metric: str = "accuracy") -> pd.DataFrame:
    """Return regret and bias in points, one row per data set, model type and method.

    The pool has all candidates; methods that depend on the other candidates have scores of their
    own there. The model type "mean" has the mean over model types and the pool.
    """
    records = [
        {
            "data": line["key"]["data"],
            "model_type": model_type,
            "method": method,
            **dict(zip(("regret", "bias"), regret_and_bias(scores[TEST], score), strict=True)),
        }
        for line in lines
        for model_type, scores in _with_pool(line["result"]["scores"], metric).items()
        for method, score in scores.items()
        if method in METHODS
    ]
    frame = pd.DataFrame(records, columns=["data", "model_type", "method", "regret", "bias"])
    frame[["regret", "bias"]] *= 100
    frame = frame.groupby(["data", "model_type", "method"], as_index=False).mean()
    return pd.concat([frame, _means(frame, None, MEAN), _means(frame, WITH_LOO, MEAN_WITH_LOO)])


def _means(frame: pd.DataFrame, types: Sequence[str] | None, name: str) -> pd.DataFrame:
    """Return means over model types; NaN where a method has no score for one of them."""
    if types is not None:
        if not {*types} <= {*frame["model_type"]}:
            return frame.iloc[:0]
        frame = frame[frame["model_type"].isin(types)]
    grouped = frame.groupby(["data", "method"])[["regret", "bias"]]
    means = grouped.agg(lambda values: values.mean(skipna=False)).reset_index()
    return means.assign(model_type=name)


def _with_pool(scores: Mapping[str, Any], metric: str) -> dict[str, dict[str, Floats]]:
    """Return the arrays of each model type that has the metric, and those of the pool."""
    found = {
        name: {m: np.array(values, dtype=float) for m, values in by_metric[metric].items()}
        for name, by_metric in sorted(scores.items())
        if metric in by_metric and name != POOL
    }
    if len(found) > 1:
        common = set.intersection(*(set(methods) for methods in found.values()))
        pool = {
            method: np.concatenate([methods[method] for methods in found.values()])
            for method in common
            if method not in METHODS or not _is_corrected(METHODS[method])
        }
        own = scores.get(POOL, {}).get(metric, {})
        found[POOL] = pool | {name: np.array(values, dtype=float) for name, values in own.items()}
    return found


def _is_corrected(method: Method) -> bool:
    """Return whether the score of a candidate depends on the scores of the others."""
    return method.depends_on_pool and method.column in ("test", "cv")


def joined(lines: Iterable[Line], others: Iterable[Line]) -> list[Line]:
    """Return lines with the methods that other lines of the same runs have in addition."""
    known = {tuple(sorted(line["key"].items())): line["result"]["scores"] for line in others}
    found = []
    for line in lines:
        scores = line["result"]["scores"]
        more = known.get(tuple(sorted(line["key"].items())), {})
        both = {
            name: {
                metric: {**more.get(name, {}).get(metric, {}), **by_method}
                for metric, by_method in by_metric.items()
            }
            for name, by_metric in {POOL: more.get(POOL, {}), **scores}.items()
        }
        found.append({**line, "result": {**line["result"], "scores": both}})
    return found


def difference(frame: pd.DataFrame, method: str, baseline: str, model_type: str) -> Interval:
    """Return the mean difference of two methods' regrets, with a paired interval over data sets."""
    wide = frame[frame["model_type"] == model_type].pivot(
        index="data", columns="method", values="regret"
    )
    if not {method, baseline} <= {*wide.columns}:
        return float("nan"), float("nan"), float("nan")
    return mean_and_interval((wide[method] - wide[baseline]).dropna(), LEVEL)


def metrics_of(lines: Iterable[Line]) -> list[str]:
    """Return the metrics that lines have, in the order of the pages."""
    found = {m for line in lines for scores in line["result"]["scores"].values() for m in scores}
    return [metric for metric in METRICS if metric in found]


def regret_tables(
    lines: Sequence[Line], part: str, metric: str, missing: Mapping[str, str]
) -> list[MarkdownTable]:
    """Return regret, differences to other methods, and bias by one metric."""
    frame = regret_frame(lines, metric)
    data = list(frame["data"].unique())
    tuning = ", ".join(name for name in data if name in TUNING) or "none"
    notes = (
        f"{len(lines)} runs on {', '.join(data)}. Data sets that defaults were set on: {tuning}.",
        "A dash: a model type without LOO predictions.",
        *missing_notes(missing),
    )
    name = f"{part}, {metric}"
    return [
        _by_type(frame, "regret", f"{name}: regret in points", notes),
        _difference_table(frame, name),
        _by_type(frame, "bias", f"{name}: score minus test score of the selected model, points"),
    ]


def _by_type(
    frame: pd.DataFrame, value: str, title: str, notes: tuple[str, ...] = ()
) -> MarkdownTable:
    means = frame.pivot_table(value, "method", "model_type", aggfunc=_complete_mean, dropna=False)
    types = [name for name in means.columns if name not in (POOL, MEAN, MEAN_WITH_LOO)]
    columns = [*types, *(n for n in (POOL, MEAN, MEAN_WITH_LOO) if n in means.columns)]
    sign = "+" if value == "bias" else ""
    rows = {
        method: [format_number(means.loc[method, column], sign) for column in columns]
        for method in METHODS
        if method in means.index
    }
    return MarkdownTable(title, make_frame("method", columns, rows), notes)


def _complete_mean(values: pd.Series) -> float:
    return float(values.mean(skipna=False))


def _difference_table(frame: pd.DataFrame, name: str) -> MarkdownTable:
    methods = [method for method in METHODS if method in set(frame["method"])]
    types = [t for t in (MEAN, MEAN_WITH_LOO, POOL) if t in set(frame["model_type"])]
    pairs = [(base, t) for base in BASELINES if base in methods for t in types]
    rows = {
        method: [
            NO_VALUE if method == base else format_interval(difference(frame, method, base, t))
            for base, t in pairs
        ]
        for method in methods
    }
    return MarkdownTable(
        f"{name}: regret minus that of another method, points",
        make_frame("method", [f"{t}, minus {base}" for base, t in pairs], rows),
        (f"In parentheses {LEVEL:.0%} intervals over data sets, paired.",),
    )


def cost_table(lines: Sequence[Line], part: str) -> MarkdownTable | None:
    """Return fits per candidate and CPU seconds of each search; None if lines have neither."""
    records = [
        {
            "search": search,
            "fits": fits / len(next(iter(result["scores"][model_type].values()))[TEST]),
            "seconds": result["seconds"][model_type][search],
        }
        for result in (line["result"] for line in lines)
        for model_type, by_search in result.get("fits", {}).items()
        for search, fits in by_search.items()
        if search != TEST
    ]
    if not records:
        return None
    means = pd.DataFrame(records).groupby("search").mean()
    rows = {
        search: [f"{means.loc[search, 'fits']:.2f}", f"{means.loc[search, 'seconds']:.2f}"]
        for search in means.index
    }
    return MarkdownTable(
        f"{part}: cost of a search over one model type",
        make_frame("search", ("fits per candidate", "CPU seconds"), rows),
        ("Means over model types and runs; reference models and the final fit are counted.",),
    )


def loo_table(lines: Iterable[Line], part: str) -> MarkdownTable:
    """Return the bias of LOO and CV scores of the same models, selected or not."""
    methods = ("LOO score", *FOLDS)
    gaps: dict[str, list[Floats]] = {}
    for line in lines:
        for model_type, by_metric in line["result"]["scores"].items():
            scores = by_metric.get("accuracy", {})
            if model_type != POOL and {TEST, *methods} <= {*scores}:
                columns = np.array([scores[method] for method in methods], dtype=float)
                test = np.array(scores[TEST], dtype=float)
                gaps.setdefault(model_type, []).append(100 * (columns - test).T)
    rows = {}
    for model_type in sorted(gaps):
        found = np.vstack(gaps[model_type])
        known = found[~np.isnan(found[:, 0])]
        if len(known):
            means = (f"{gap:+.2f}" for gap in known.mean(axis=0))
            rows[model_type] = [f"{len(known)} of {len(found)}", *means]
    return MarkdownTable(
        f"{part}, accuracy: score minus test score of the same model, points",
        make_frame("model type", ("candidates with LOO score", *methods), rows),
        ("Means over the candidates of all runs that have a LOO score.",),
    )


def draw_regret(frame: pd.DataFrame, path: Path, title: str, baseline: str = "5-fold CV") -> None:
    """Draw each method's regret minus the baseline's, with paired intervals over data sets."""
    known = frame[frame["model_type"] == MEAN].groupby("method")["regret"].mean()
    methods = [m for m in known.dropna().sort_values(ascending=False).index if m != baseline]
    figure, [axes] = new_figure(7.5, 0.42 * len(methods) + 1.4)
    shown = {MEAN: "mean over model types and pool", POOL: "all model types pooled"}
    series = {
        label: [difference(frame, method, baseline, t) for method in methods]
        for t, label in shown.items()
        if t in set(frame["model_type"])
    }
    plot_intervals(axes, methods, series)
    axes.set_xlabel(f"regret minus that of {baseline}, points; left is better")
    save(figure, [axes], path, title)


def report(
    lines: Mapping[str, list[Line]], missing: Mapping[str, str], folder: Path
) -> dict[str, list[MarkdownTable]]:
    """Return one page per part, and draw one figure per part and metric."""
    pages = {}
    for part, found in lines.items():
        tables: list[MarkdownTable] = []
        for metric in metrics_of(found):
            tables += regret_tables(found, part, metric, missing)
            frame = regret_frame(found, metric)
            n_data = frame["data"].nunique()
            if "5-fold CV" in set(frame["method"]) and n_data > 1:
                title = f"{part}: {n_data} data sets, {metric}"
                draw_regret(frame, folder / f"{part}-{metric}.svg", title)
        cost = cost_table(found, part)
        pages[part] = tables if cost is None else [*tables, cost]
    return pages


def augmenters_report(
    lines: Mapping[str, list[Line]], missing: Mapping[str, str], folder: Path
) -> dict[str, list[MarkdownTable]]:
    """Return the pages of the augmenters, with the methods of the regret study next to them."""
    more = {part: _stored(folder, part.removeprefix("augmenters-")) for part in lines}
    return report({part: joined(lines[part], more[part]) for part in lines}, missing, folder)


def finalists_report(
    lines: Mapping[str, list[Line]], missing: Mapping[str, str], folder: Path
) -> dict[str, list[MarkdownTable]]:
    """Return the page of the finalists, with the methods of the regret study next to them."""
    found = joined(lines["finalists"], _stored(folder, "held-out"))
    tables = regret_tables(found, "held-out", "accuracy", missing)
    cost = cost_table(found, "held-out")
    return {"finalists": tables if cost is None else [*tables, cost]}


def loo_report(
    lines: Mapping[str, list[Line]], missing: Mapping[str, str], folder: Path
) -> dict[str, list[MarkdownTable]]:
    """Return the page of LOO scores."""
    return {"loo": [loo_table(found, part) for part, found in lines.items()]}


def _stored(folder: Path, part: str) -> list[Line]:
    path = folder / f"{part}.jsonl"
    return read_lines(path) if path.exists() else []
