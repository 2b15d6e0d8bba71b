"""Run an experiment from the command line.

uv run python -m experiments list
uv run python -m experiments table3 --quick --data DIR
"""

import argparse
import sys
from pathlib import Path

from joblib import effective_n_jobs

from experiments.data_sets import data_set_names, fetch, find_source, registry
from experiments.diagnostics_power import DIAGNOSTICS
from experiments.few_labels import FEW_LABELS
from experiments.markdown import page
from experiments.regret import AUGMENTER_COMPARISON, REGRET
from experiments.runner import (
    Experiment,
    Line,
    Options,
    Study,
    make_plan,
    open_lines,
    read_lines,
    run_all,
    time_left,
)
from experiments.selection_rules import RULES_TRIED
from experiments.small_samples import SMALL
from experiments.table3 import TABLE3
from experiments.table5 import TABLE5

EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        TABLE3,
        TABLE5,
        FEW_LABELS,
        SMALL,
        REGRET,
        AUGMENTER_COMPARISON,
        RULES_TRIED,
        DIAGNOSTICS,
    )
}
RESULTS = Path(__file__).parents[1] / "results"


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return the exit code."""
    options = _parser().parse_args(arguments)
    try:
        if options.command == "list":
            _list(options.data)
        elif options.command == "fetch":
            for name in options.names:
                print(fetch(name, options.data))
        else:
            run_experiment(
                EXPERIMENTS[options.command],
                Options(
                    options.data,
                    tuple(options.set),
                    tuple(options.part),
                    options.repeats,
                    options.seed,
                    options.quick,
                ),
                out=options.out,
                n_jobs=options.n_jobs,
                run=not options.report,
            )
    except (LookupError, ValueError) as error:
        print(f"experiments: {error}", file=sys.stderr)
        return 1
    return 0


def run_experiment(
    experiment: Experiment,
    options: Options,
    *,
    out: Path = RESULTS,
    n_jobs: int = 1,
    run: bool = True,
) -> None:
    """Run what is not finished yet, then write figures and pages from all lines, and print them.

    Without ``run`` only the figures and pages are written.
    """
    plan = make_plan(experiment, options, check=run)
    name = experiment.folder or experiment.name
    folder = out / (f"{name}-quick" if options.quick else name)
    lines: dict[str, list[Line]] = {}
    for part in experiment.data:
        path = folder / f"{part}.jsonl"
        if run and part in plan.studies:
            lines[part] = _run_part(part, plan.studies[part], path, n_jobs)
        elif path.exists() and (part in options.parts or not options.parts):
            lines[part] = read_lines(path)
    lines = {part: found for part, found in lines.items() if found}
    if not lines:
        raise LookupError(f"{folder} has no finished run. Call without --report to run some.")
    known = {line["key"]["data"] for found in lines.values() for line in found}
    wanted = {name for part in lines for name in experiment.data[part]} - known
    missing = {name: reason for name, reason in plan.missing.items() if name in wanted}
    for title, tables in experiment.report(lines, missing, folder).items():
        text = page(tables)
        (folder / f"{title}.md").write_text(text, encoding="utf-8")
        print(text)


def _run_part(part: str, study: Study, path: Path, n_jobs: int) -> list[Line]:
    """Run what is not finished of a part and return its lines."""
    keys, protocol = study.keys(), study.protocol()
    done = [line for line in open_lines(path, protocol) if line["key"] in keys]
    for line in run_all(keys, study, path, protocol=protocol, n_jobs=n_jobs):
        done.append(line)
        left = time_left(keys, done, effective_n_jobs(n_jobs)) or 0.0
        progress = f"{len(done)} of {len(keys)} runs, about {left:.0f} s left"
        print(f"{part}: {progress} ({line['key']})", file=sys.stderr)
    return [line for line in read_lines(path) if line["key"] in keys]


def _list(folder: str | None) -> None:
    """Print experiments with their parts, and data sets with their sources."""
    for experiment in EXPERIMENTS.values():
        print(f"{experiment.name:12} {experiment.title} (parts: {', '.join(experiment.data)})")
    print()
    for name in data_set_names(folder):
        description = registry().get(name)
        shape = "" if description is None else " x ".join(map(str, description.shape[:2]))
        try:
            source = find_source(name, folder)
        except LookupError as error:
            source = str(error).partition(": ")[2]
        print(f"{name:24} {shape:14} {source}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("list", "fetch"):
        text = {"list": "list experiments and data sets", "fetch": "download from OpenML to --data"}
        command = commands.add_parser(name, help=text[name])
        command.add_argument("--data", metavar="DIR", required=name == "fetch")
        if name == "fetch":
            command.add_argument("names", nargs="+", metavar="NAME")
    for experiment in EXPERIMENTS.values():
        command = commands.add_parser(experiment.name, help=experiment.title)
        command.add_argument("--quick", action="store_true", help="fewer data sets and repeats")
        command.add_argument("--data", metavar="DIR", help="folder with files NAME.csv.gz")
        command.add_argument("--out", metavar="DIR", type=Path, default=RESULTS)
        command.add_argument("--set", action="append", default=[], metavar="NAME", help="data set")
        parts = list(experiment.data)
        command.add_argument("--part", action="append", default=[], choices=parts)
        command.add_argument("--repeats", type=int, help="splits or samples")
        command.add_argument("--seed", type=int, default=0)
        command.add_argument("--n-jobs", type=int, default=1)
        command.add_argument("--report", action="store_true", help="only write the pages again")
    return parser


if __name__ == "__main__":
    sys.exit(main())
