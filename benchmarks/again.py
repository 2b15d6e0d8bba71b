"""Let the default choose again in runs that are finished, after a change of the search.

    uv run python benchmarks/again.py table3/scaled --data DIRECTORY     # or table3/unscaled
    uv run python benchmarks/again.py small/judged --data DIRECTORY
    leavezero reproduce TABLE --report --data DIRECTORY                  # then the tables

Folds and mix-ups of those runs stay as they are, and so do all times: a time is worth something
beside those of the same hour only. A line is replaced as soon as it is done; whoever stops it may
go on with --from, the number of lines that were done.
"""

import argparse
import json
import warnings
from dataclasses import dataclass
from pathlib import Path

from joblib import Parallel, delayed
from sklearn import config_context

from leavezero.experiments import Table3
from leavezero.experiments._regret import quiet_and_single
from leavezero.experiments._small import _figures, take_sample
from leavezero.experiments._small_ways import _accuracies, _by_default, small_families
from leavezero.experiments._table3_ways import AUTO, AUTO_10

RESULTS = Path(__file__).parents[1] / "results"
TIMES = ("seconds",)


@dataclass(frozen=True)
class Defaults(Table3):
    """Table 3 with the default alone."""

    @property
    def ways(self):
        return AUTO, AUTO_10


def table3(key, result, protocol, directory):
    """Return the result of a run of Table 3 with the default's choices of now."""
    same = {name: protocol[name] for name in ("scaled", "max_iter", "seed")}
    found = Defaults((key["data"],), directory=directory, **same)(key)["ways"]
    old = result["ways"]
    kept = {way: {**new, **{n: old[way][n] for n in TIMES}} for way, new in found.items()}
    return {**result, "ways": {**old, **kept}}


def small(key, result, protocol, directory):
    """Return the result of a run on few rows with the default's scores of now."""
    families = {}
    with quiet_and_single(), config_context(assume_finite=True, skip_parameter_validation=True):
        sample, _ = take_sample(key, 0, directory)
        for name, family in small_families(sample.X.shape[1]).items():
            models = [model.fit(sample.X, sample.y) for model in family.candidates()]
            scores = {"test": _accuracies(models, sample.X_test, sample.y_test)}
            own = _figures(scores | _by_default(family, sample))
            ways = {**result["families"][name]["ways"], **own["ways"]}
            families[name] = {**result["families"][name], "ways": ways}
    return {**result, "families": families}


WORKS = {"table3/scaled": table3, "table3/unscaled": table3, "small/judged": small}


def again(work, at, line, protocol, directory):
    warnings.simplefilter("ignore")
    key, result = line["key"], line["result"]
    return at, {"key": key, "result": work(key, result, protocol, directory)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", choices=WORKS)
    parser.add_argument("--data", help="a folder of files NAME.csv.gz")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--from", type=int, default=0, dest="start", help="lines that were done")
    options = parser.parse_args()
    path = RESULTS / f"{options.runs}.jsonl"
    lines = [json.loads(text) for text in path.read_text().splitlines()]
    work, protocol = WORKS[options.runs], lines[0]["protocol"]
    rest = range(1 + options.start, len(lines))
    tasks = (delayed(again)(work, at, lines[at], protocol, options.data) for at in rest)
    n_moved = 0
    for at, line in Parallel(n_jobs=options.jobs, return_as="generator", pre_dispatch="n_jobs")(
        tasks
    ):
        n_moved += line["result"] != lines[at]["result"]
        lines[at] = line
        path.write_text("".join(json.dumps(one, sort_keys=True) + "\n" for one in lines))
        print(f"{at} of {len(lines) - 1}, {n_moved} chose otherwise", flush=True)


if __name__ == "__main__":
    main()
