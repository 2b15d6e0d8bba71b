"""The regret study: how much a way of choosing costs, and whether "auto" keeps its promise.

    uv run python benchmarks/regret.py run held-back --data DIRECTORY     # resumes where it stopped
    uv run python benchmarks/regret.py show held-back

The lines go to results/regret/NAME.jsonl; "show" computes tables and figures from them alone.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

from leavezero.experiments import (
    STUDIES,
    alarms,
    draw_regret,
    read_lines,
    regret_table,
    run_all,
    with_confirmed,
    with_unseen,
)
from leavezero.trust import LIMITS, Limits

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results" / "regret"
GUIDE = ROOT / "docs" / "choosing-an-augmenter.md"
SIX = ("linear SVM", "RBF SVM", "k-NN", "logistic", "forest", "naive Bayes")
SUMMARY = (
    "mix-up",
    "mixture and copula",
    "mixture and copula and unseen",
    "auto",
    "auto and unseen",
    "5-fold CV",
    "10-fold CV",
)
METRICS = ("accuracy", "balanced_accuracy", "roc_auc", "neg_log_loss", "r2")


def run(name, directory, jobs, splits):
    study = STUDIES[name](directory, splits)
    keys = study.keys()
    lines = run_all(keys, study, RESULTS / f"{name}.jsonl", protocol=study.protocol(), n_jobs=jobs)
    for done, line in enumerate(lines, start=1):
        print(f"{done} of at most {len(keys)}: {line['key']}", file=sys.stderr)


def show_confirm():
    """Write what a few folds add: regret, and the mean number of fits a candidate."""
    lines, looked = (read_lines(RESULTS / f"{name}.jsonl") for name in ("held-back", "confirm"))
    joined = with_confirmed(lines, looked)
    table = regret_table(joined)
    fits = _confirm_fits(lines, looked)
    parts = [
        f"## held-back, accuracy: what a few folds add, {len(table.data)} data sets, "
        f"{len(joined)} runs",
        "",
        table.markdown(),
        "",
        "| way | fits a candidate, one family | fits a candidate, pool | mean minus 10-fold CV "
        "(90 %) | pool minus 10-fold CV (90 %) |",
        "|---|---|---|---|---|",
    ]
    for way in table.ways:
        cells = [f"{count:.2f}" for count in fits[way]]
        cells += [_interval(table.difference(way, "10-fold CV", f)) for f in ("mean", "pool")]
        parts.append(f"| {way} | " + " | ".join(cells) + " |")
    text = "\n".join(parts) + "\n"
    (RESULTS / "confirm.md").write_text(text)
    fill(ROOT / "docs" / "from-gridsearchcv.md", "confirm", "\n".join(parts[2:]))
    print(text)


def show_unseen(name):
    """Write what rows that a model has not seen add, by metric."""
    base = {"unseen": "held-back"}.get(name, name.removeprefix("unseen-"))
    generators = {"held-back": "mixture and copula"}.get(base, "copula")
    lines, looked = (read_lines(RESULTS / f"{n}.jsonl") for n in (base, name))
    joined = with_unseen(lines, looked, (generators, "auto", "5-fold CV", "10-fold CV"))
    present = {m for line in joined for found in line["result"]["families"].values() for m in found}
    pages = []
    for metric in [m for m in METRICS if m in present]:
        table = regret_table(joined, metric)
        pages.append(_unseen_page(base, table, len(joined)))
        fill(ROOT / "docs" / "unseen-rows.md", f"{name} {metric}", table.markdown())
    (RESULTS / f"{name}.md").write_text("\n\n".join(pages) + "\n")
    print("\n\n".join(pages))


WARNING = {code: limits for code, limits in LIMITS.items() if limits.warning is not None}
AS_WARNINGS = {  # what the notes would tell as warnings
    "LZ02": Limits(0.70, 0.85),
    "LZ06": Limits(0.6, 0.2, falling=True),
    "LZ07": Limits(1.0, 1.0),
}
TRUST_HEAD = (
    "| finding | warns in | regret with | without | difference (95 %) |\n|---|---|---|---|---|"
)


def show_trust():
    """Write what each finding's warnings tell of regret, on both halves of the data sets."""
    pages = []
    for name in ("trust-tuned-on", "trust-held-back"):
        path = RESULTS / f"{name}.jsonl"
        if not path.exists():
            continue
        lines = read_lines(path)
        n_sets = len({line["key"]["data"] for line in lines})
        looks = (
            ("all ways", None, WARNING),
            ("auto", ["auto"], WARNING),
            ("as warnings", None, AS_WARNINGS),
        )
        for title, ways, limits in looks:
            rows = [_alarm_row(alarm) for alarm in alarms(lines, ways, limits)]
            table = "\n".join([TRUST_HEAD, *rows])
            runs = f"{n_sets} data sets, {len(lines)} runs"
            pages.append(f"## {name}, {title}: accuracy regret in points, {runs}\n\n{table}")
            fill(ROOT / "docs" / "trust.md", f"{name} {title}", table)
    text = "\n\n".join(pages) + "\n"
    (RESULTS / "trust.md").write_text(text)
    print(text)


def _alarm_row(alarm):
    middle = f"{alarm.difference:+.2f} ({alarm.low:+.2f} to {alarm.high:+.2f})"
    if np.isnan(alarm.low):
        middle = "too few to tell"
    cells = [f"{100 * alarm.share:.0f} %", *(_points(p) for p in (alarm.warned, alarm.silent))]
    return f"| {alarm.code} | " + " | ".join([*cells, middle]) + " |"


def _points(value):
    return "-" if np.isnan(value) else f"{value:.2f}"


def _unseen_page(base, table, n_runs):
    parts = [
        f"## {base}, {table.metric}: two witnesses, {len(table.data)} data sets, {n_runs} runs",
        "",
        table.markdown(),
        "",
        "| way | six families | mean minus 5-fold CV (90 %) | pool minus 5-fold CV (90 %) "
        "| mean minus 10-fold CV (90 %) | pool minus 10-fold CV (90 %) |",
        "|---|---|---|---|---|---|",
    ]
    six = [family for family in SIX if family in table.families]
    for way in table.ways:
        cells = [f"{np.mean([table.mean(way, family) for family in six]):.2f}" if six else "-"]
        for other in ("5-fold CV", "10-fold CV"):
            cells += [_interval(table.difference(way, other, f)) for f in ("mean", "pool")]
        parts.append(f"| {way} | " + " | ".join(cells) + " |")
    return "\n".join(parts)


def _confirm_fits(lines, looked):
    """Fits a candidate, in one family and in the pool; the final fit of CV included."""
    teachers = np.mean([line["result"]["teacher_fits"]["auto"] for line in lines])
    found = [line["result"] for line in looked]
    sizes = [len(scores) for result in found for scores in result["2-fold CV"].values()]
    few = [len(rows) for result in found for rows in result["contenders"].values()]
    whole = np.mean([sum(len(s) for s in result["2-fold CV"].values()) for result in found])
    pool = np.mean([len(result["pool"]) for result in found])
    one = np.mean(sizes)
    return {
        "auto": (1 + teachers / one, 1 + teachers / whole),
        "5-fold CV": (5 + 1 / one, 5 + 1 / whole),
        "10-fold CV": (10 + 1 / one, 10 + 1 / whole),
        "auto, confirm=5": (
            1 + (teachers + 5 * np.mean(few)) / one,
            1 + (teachers + 5 * pool) / whole,
        ),
        "auto and 2-fold CV of all": (3 + teachers / one, 3 + teachers / whole),
    }


def show(name):
    if name == "confirm":
        show_confirm()
        return
    if name.startswith("trust"):
        show_trust()
        return
    if name.startswith("unseen"):
        show_unseen(name)
        return
    lines = read_lines(RESULTS / f"{name}.jsonl")
    present = {m for line in lines for f in line["result"]["families"].values() for m in f}
    pages = []
    for metric in METRICS:
        if metric not in present:
            continue
        table = regret_table(lines, metric)
        pages.append(_page(name, table, len(lines)))
        if "MLP" in table.families and metric == "accuracy":
            rest = regret_table(lines, metric, without=("MLP",))
            pages.append(_page(f"{name} without MLP", rest, len(lines)))
        figure = RESULTS / f"{name}-{metric}.svg"
        draw_regret(table, figure, title=f"{name}: {len(table.data)} data sets, {metric}")
    if name == "held-back":
        pages.append(_summary(name, lines))
    text = "\n\n".join(pages) + "\n"
    (RESULTS / f"{name}.md").write_text(text)
    for metric in sorted(present):
        fill(GUIDE, f"{name} {metric}", regret_table(lines, metric).markdown())
    if name == "held-back":
        fill(GUIDE, "held-back bias", regret_table(lines).bias_markdown())
        fill(ROOT / "README.md", "held-back summary", _summary_table(lines))
    print(text)


def fill(page, name, table):
    """Put a table between the two marks that name it in a page of the documentation."""
    first, last = f"<!-- {name} -->\n", "<!-- end -->"
    text = page.read_text()
    if first in text:
        head, _, tail = text.partition(first)
        _, _, tail = tail.partition(last)
        page.write_text(f"{head}{first}{table}\n{last}{tail}")


def _page(name, table, n_runs):
    parts = [
        f"## {name}, {table.metric}: regret in points, {len(table.data)} data sets, {n_runs} runs",
        table.markdown(),
        "| way | mean minus 5-fold CV (90 %) | pool minus 5-fold CV (90 %) "
        "| mean minus mix-up (90 %) | pool minus mix-up (90 %) | bias, pool |",
        "|---|---|---|---|---|---|",
    ]
    family = "pool" if "pool" in table.families else "mean"
    for way in table.ways:
        cells = [
            _interval(table.difference(way, "5-fold CV", "mean")),
            _interval(table.difference(way, "5-fold CV", family)),
            _interval(table.difference(way, "mix-up", "mean")),
            _interval(table.difference(way, "mix-up", family)),
            f"{table.mean_bias(way, family):+.2f}",
        ]
        parts.append(f"| {way} | " + " | ".join(cells) + " |")
    bias = ["", "Signed bias: the chosen candidate's own score minus its test score.", ""]
    return "\n".join([parts[0], "", parts[1], "", *parts[2:], *bias, table.bias_markdown()])


def _summary(name, lines):
    return f"## {name}, accuracy, in short: regret in points\n\n{_summary_table(lines)}"


def _summary_table(lines):
    """Return the ways in short, both witnesses among them where they have been heard."""
    looked = RESULTS / "unseen.jsonl"
    kept = [way for way in SUMMARY if not way.endswith("unseen")]
    table = regret_table(with_unseen(lines, read_lines(looked), kept) if looked.exists() else lines)
    parts = [
        "| way of choosing | nine families and pool | six families with unseen rows | pool |",
        "|---|---|---|---|",
    ]
    for way in [way for way in SUMMARY if way in table.ways]:
        six = np.mean([table.mean(way, family) for family in SIX])
        cells = [table.mean(way, "mean"), six, table.mean(way, "pool")]
        parts.append(f"| {way} | " + " | ".join(f"{cell:.2f}" for cell in cells) + " |")
    return "\n".join(parts)


def _interval(triple):
    middle, low, high = triple
    return f"{middle:+.2f} ({low:+.2f} to {high:+.2f})"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["run", "show"])
    parser.add_argument("name", choices=sorted(STUDIES))
    parser.add_argument("--data", default=None, help="a folder of NAME.csv.gz files")
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--splits", type=int, default=None)
    words = parser.parse_args()
    if words.what == "run":
        run(words.name, words.data, words.jobs, words.splits)
    show(words.name)
