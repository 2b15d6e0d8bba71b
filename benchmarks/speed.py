"""What a search by GridSearchLZO costs, against the searches that one would use otherwise.

    uv run python benchmarks/speed.py                          # every row, n = 500 and 1500
    uv run python benchmarks/speed.py --rows 5000 --only k-NN  # one row of the table
    uv run python benchmarks/speed.py --growth                 # with more and more candidates

CPU and wall seconds on one thread, m = 10 n, the default augmenter; all ways of a row take turns in
one process, after each was run once on few rows, so that no import is timed. A row that is run
again replaces the old one in results/speed/speed.json, and results/speed/speed.md is written from
it. Peak memory is what Python and NumPy hold above the caller's data at most, in a run of its own.
dask-ml's search is measured too where it is installed.
"""

import argparse
import itertools
import json
import math
import statistics
import time
import tracemalloc
import warnings
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.experimental import enable_halving_search_cv  # noqa: F401  (makes the next import work)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import (
    ElasticNet,
    ElasticNetCV,
    LogisticRegression,
    LogisticRegressionCV,
    Ridge,
    RidgeCV,
)
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    ParameterGrid,
    RandomizedSearchCV,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from leavezero import GridSearchLZO, SMIRClassifier

RESULTS = Path(__file__).parents[1] / "results" / "speed"
OURS = "GridSearchLZO"
CV5, CV10, HALVING = "GridSearchCV, 5 folds", "GridSearchCV, 10 folds", "HalvingGridSearchCV"
ONLY, SPECIAL, BARE = "unseen only", "specialized", "bare fits"
AUTO, RANDOM, DASK = "n_replicates auto", "RandomizedSearchCV, 5 folds", "dask-ml, 10 folds"
DRAWN = 4  # candidates of the random search; its cost is scaled to all
FEW = 300  # rows that every way is tried on before it is timed
LONG_FIT = 0.05  # seconds, from which on the overhead beside fits is told
STRENGTHS = list(np.logspace(-3, 3, 10))  # as many as LogisticRegressionCV tries by default
PATH = list(np.logspace(-3, 3, 100))  # as many as ElasticNetCV tries by default
SHARES = [0.1, 0.5, 0.9]


@dataclass(frozen=True)
class Row:
    """One search: what is tuned, on which data, and the class made for it, if there is one."""

    estimator: Any
    grid: dict[str, Any]
    data: str = "classes"
    special: Any = None  # an estimator, or a list of them that are all fitted
    every: int = 1  # only each so-manieth candidate has folds; the cost is scaled
    halving: bool = True
    params: dict[str, Any] = field(default_factory=dict)

    @property
    def candidates(self) -> list[dict[str, Any]]:
        """All settings of the grid."""
        return list(ParameterGrid(self.grid))


def out_of_bag(grid):
    forest = RandomForestClassifier(oob_score=True, random_state=0)
    return [clone(forest).set_params(**params) for params in ParameterGrid(grid)]


# Grids of the size that people search: the paper's own for linear SVMs and SMIR, penalties as many
# as the specialized classes try, k up to 30, members of ensembles by tens, a network's alpha as
# scikit-learn's guide says. What a finer or coarser grid does to the ratio is told by --growth.
STAGES = list(range(10, 101, 10))
FOREST = {"n_estimators": STAGES, "max_features": ["sqrt", 0.5]}
POLYNOMIAL = make_pipeline(
    StandardScaler(), PolynomialFeatures(2), PCA(), LogisticRegression(max_iter=500)
)
TEXT = make_pipeline(TfidfVectorizer(), LogisticRegression())
SMIR = {
    "width": [1 / 15, 1 / 10, 1 / 5, 1 / 2, 1.0],
    "gamma": [1e-7, 1e-3, 1e-1, 1e1, 1e3],
    "offset": [1e-10, 1e-8, 1e-6, 1e-4, 1e-2],
}
ROWS = {
    "linear SVC": Row(SVC(kernel="linear"), {"C": [2.0**power for power in range(-5, 6)]}),
    "RBF SVC": Row(
        SVC(),
        {"C": [0.1, 1.0, 10.0, 100.0, 1000.0], "gamma": [0.001, 0.003, 0.01, 0.03, 0.1]},
    ),
    "k-NN": Row(
        KNeighborsClassifier(),
        {"n_neighbors": list(range(1, 31)), "weights": ["uniform", "distance"]},
    ),
    "logistic": Row(
        LogisticRegression(max_iter=500),
        {"C": STRENGTHS},
        special=LogisticRegressionCV(Cs=STRENGTHS, cv=5, max_iter=500),
    ),
    "polynomial, PCA, logistic": Row(
        POLYNOMIAL, {"pca__n_components": [5, 10, 20, 40], "logisticregression__C": STRENGTHS}
    ),
    "forest": Row(RandomForestClassifier(random_state=0), FOREST, special=out_of_bag(FOREST)),
    "gradient boosting": Row(
        GradientBoostingClassifier(random_state=0),
        {"n_estimators": STAGES, "learning_rate": [0.1, 0.3]},
    ),
    "histogram boosting": Row(
        HistGradientBoostingClassifier(random_state=0),
        {"max_iter": STAGES, "max_depth": [2, 4]},
    ),
    "decision tree": Row(
        DecisionTreeClassifier(random_state=0),
        {"max_depth": [2, 3, 5, 8, None], "min_samples_leaf": [1, 5, 20]},
    ),
    "MLP": Row(
        MLPClassifier(max_iter=50, random_state=0),
        {"alpha": list(10.0 ** -np.arange(1, 7)), "hidden_layer_sizes": [(50,), (100,)]},
    ),
    "ridge": Row(Ridge(), {"alpha": PATH}, "numbers", RidgeCV(alphas=PATH)),
    "elastic net": Row(
        ElasticNet(),
        {"alpha": PATH, "l1_ratio": SHARES},
        "numbers",
        ElasticNetCV(alphas=PATH, l1_ratio=SHARES, cv=5),
    ),
    "SMIR, 125 settings": Row(SMIRClassifier(), SMIR, "few labels", every=25, halving=False),
    "TF-IDF, logistic": Row(
        TEXT, {"tfidfvectorizer__min_df": [1, 3], "logisticregression__C": STRENGTHS}, "text"
    ),
}


def data_of(kind, n_rows):
    """Return X and y."""
    if kind == "numbers":
        return make_regression(n_rows, 20, n_informative=8, noise=20.0, random_state=0)
    X, y = make_classification(n_rows, 20, n_informative=8, flip_y=0.1, random_state=0)
    if kind == "few labels":
        known = np.random.default_rng(0).permutation(n_rows)[:40]
        y = np.where(np.isin(np.arange(n_rows), known), y, -1)
    if kind == "text":
        return texts(y), y
    return X, y


def texts(y):
    """Return a text for each label: sixty words, of which a class prefers some."""
    rng = np.random.default_rng(0)
    words = np.array([f"w{at}" for at in range(2000)])
    common = 1.0 / np.arange(1.0, len(words) + 1.0)
    tastes = [common * rng.gamma(2.0, 0.5, len(words)) for _ in range(2)]
    return np.array(
        [" ".join(rng.choice(words, 60, p=tastes[code] / tastes[code].sum())) for code in y],
        dtype=object,
    )


def folds_of(y, n_folds):
    """Return folds; where few rows have a label, only those are held out."""
    if not np.any(y == -1):
        return n_folds
    labeled = np.random.default_rng(0).permutation(np.flatnonzero(y != -1))
    parts = np.array_split(labeled, n_folds)
    return [(np.setdiff1d(np.arange(len(y)), part), part) for part in parts]


def ways_of(row, y):
    """Return what to run for a row: a name, an object to fit or several, and a scale."""
    grid = (
        row.grid
        if row.every == 1
        else [
            {name: [value] for name, value in params.items()}
            for params in row.candidates[:: row.every]
        ]
    )
    ours = GridSearchLZO(row.estimator, row.grid, random_state=0)
    ways = {OURS: ([ours], 1), AUTO: ([clone(ours).set_params(n_replicates="auto")], 1)}
    for name, n_folds in ((CV5, 5), (CV10, 10)):
        search = GridSearchCV(row.estimator, grid, cv=folds_of(y, n_folds), refit=row.every == 1)
        ways[name] = ([search], row.every)
    if find_spec("dask_ml") and row.every == 1:
        from dask_ml.model_selection import GridSearchCV as DaskSearchCV

        ways[DASK] = ([DaskSearchCV(row.estimator, grid, cv=10, scheduler="synchronous")], 1)
    if row.every == 1:
        options = {"n_iter": min(DRAWN, len(row.candidates)), "cv": 5, "refit": False}
        some = RandomizedSearchCV(row.estimator, grid, random_state=0, **options)
        ways[RANDOM] = ([some], len(row.candidates) / some.n_iter)
    if row.halving:
        ways[HALVING] = ([HalvingGridSearchCV(row.estimator, grid, cv=5, random_state=0)], 1)
    if row.special is not None:
        alone = row.special if isinstance(row.special, list) else [row.special]
        ways |= {SPECIAL: (alone, 1), ONLY: ([clone(ours).set_params(unseen="only")], 1)}
    fits = [clone(row.estimator).set_params(**params) for params in row.candidates[:: row.every]]
    return ways | {BARE: (fits, row.every)}


def run(objects, X, y):
    """Fit fresh copies, and return CPU and wall seconds and the last of them."""
    copies = [clone(thing) for thing in objects]
    cpu, wall = time.process_time(), time.perf_counter()
    # What searches say of their own times is then CPU time too.
    with mock.patch("time.perf_counter", time.process_time):
        for copy in copies:
            copy.fit(X, y)
    return time.process_time() - cpu, time.perf_counter() - wall, copies[-1]


def measure(name, n_rows, repeats, memory):
    """Return the record of one row."""
    row = ROWS[name]
    X, y = data_of(row.data, n_rows)
    ways = ways_of(row, y)
    warm_up(row)
    cpu, wall, draws, beside = {way: [] for way in ways}, {way: [] for way in ways}, [], []
    n_replicates = None
    for _ in range(repeats):
        for way, (objects, scale) in ways.items():
            spent, waited, last = run(objects, X, y)
            cpu[way].append(spent * scale)
            wall[way].append(waited * scale)
            if way == AUTO:
                n_replicates = last.n_splits_
            if way == OURS:
                table, n_candidates = last.cv_results_, len(row.candidates)
                asked = table["mean_fit_time"].mean() + table["mean_score_time"].mean()
                draws.append(last.draw_time_)
                beside.append(spent - asked * n_candidates - last.refit_time_)
    return {
        "search": name,
        "n": n_rows,
        "candidates": len(row.candidates),
        "scaled": row.every > 1,
        "cpu": cpu,
        "wall": wall,
        "draw_cpu": draws,
        "beside_cpu": beside,
        "n_replicates": n_replicates,
        "peak_mib": peak_mib(row, X, y) if memory else None,
    }


def warm_up(row):
    X, y = data_of(row.data, FEW)
    for objects, _ in ways_of(row, y).values():
        run(objects[:1], X, y)


def peak_mib(row, X, y):
    search = GridSearchLZO(row.estimator, row.grid, random_state=0)
    tracemalloc.start()
    search.fit(X, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 2**20


def overhead(record):
    """Return what is done beside fits and answers as a share of the bare fits, where long."""
    bare = statistics.median(record["cpu"][BARE])
    if bare / record["candidates"] < LONG_FIT:
        return "short fits"
    return f"{statistics.median(record['beside_cpu']) / bare:.0%}"


def middle(record, way):
    """Return the median over repeats of the ratio of a way to ours."""
    return statistics.median(ratios(record, way))


def ratios(record, way, kind="cpu"):
    """Return the ratio of a way to ours for each repeat."""
    pairs = zip(record[kind][way], record[kind][OURS], strict=True)
    return [a / b for a, b in pairs]


def ratio(record, way, kind="cpu"):
    """Return the ratio of a way to ours with its spread over repeats; a dash if it was not run."""
    if way not in record[kind]:
        return "-"
    found = ratios(record, way, kind)
    shown = f"{statistics.median(found):.1f}"
    return shown if len(found) == 1 else f"{shown} ({min(found):.1f} to {max(found):.1f})"


def table(records):
    """Return the lines of the tables."""
    lines = [
        "# What searches cost as a multiple of GridSearchLZO",
        "",
        "CPU time on one thread, m = 10 n, drawing V included: medians over repeats, least and "
        "most in brackets. Seconds are of GridSearchLZO, drawing V among them. `bare` is one "
        "plain fit of each candidate; `specialized` is LogisticRegressionCV, RidgeCV, ElasticNetCV "
        'or forests with out-of-bag scores, and beside it how long `unseen="only"` takes on the '
        'same row; `auto m` is `n_replicates="auto"`, with the replicates it drew. `random` is '
        f"RandomizedSearchCV with 5 folds of {DRAWN} candidates, scaled to all; `dask-ml` is its "
        "GridSearchCV with 10 folds, where it was installed. `beside` is what "
        "the search does beside fits, answers and scores, drawing V included, as a share of the "
        "bare fits. The folds and bare fits of SMIR are measured on five settings and scaled.",
        "",
        "| search | n | C | CPU s | wall s | draw V s | beside | peak MiB | 10 folds "
        "| 10 folds, wall | 5 folds | random | halving | dask-ml | specialized | unseen only "
        "| auto m | bare |",
        "|" + "---|" * 18,
    ]
    lines += [line(record) for record in records]
    return lines + means(records) + growth_in_n(records)


def means(records):
    """Return a table of geometric means over the searches of one n."""
    lines = ["", "## Geometric means over searches, 10 folds as a multiple of GridSearchLZO", ""]
    lines += ["| n | searches | CPU | least | most |", "|---|---|---|---|---|"]
    for n_rows in sorted({record["n"] for record in records}):
        found = [middle(record, CV10) for record in records if record["n"] == n_rows]
        mean = math.exp(statistics.fmean(map(math.log, found)))
        lines.append(
            f"| {n_rows} | {len(found)} | {mean:.1f} | {min(found):.1f} | {max(found):.1f} |"
        )
    return lines


def growth_in_n(records):
    """Return a table of how times grow with n: exponents between the least n and the largest."""
    lines = ["", "## Growth with n: exponents of CPU time between the least and the largest n", ""]
    lines += ["| search | n | GridSearchLZO | bare fits | 10 folds |", "|---|---|---|---|---|"]
    for name in ROWS:
        found = sorted((one for one in records if one["search"] == name), key=lambda r: r["n"])
        if len(found) < 2:
            continue
        first, last = found[0], found[-1]
        step = math.log(last["n"] / first["n"])
        powers = [
            math.log(statistics.median(last["cpu"][way]) / statistics.median(first["cpu"][way]))
            / step
            for way in (OURS, BARE, CV10)
        ]
        shown = " | ".join(f"{power:.2f}" for power in powers)
        lines.append(f"| {name} | {first['n']} to {last['n']} | {shown} |")
    return lines


def line(record):
    cpu, wall = (statistics.median(record[kind][OURS]) for kind in ("cpu", "wall"))
    peak = "-" if record["peak_mib"] is None else f"{record['peak_mib']:.0f}"
    cells = [
        record["search"],
        str(record["n"]),
        str(record["candidates"]),
        f"{cpu:.2f}",
        f"{wall:.2f}",
        f"{statistics.median(record['draw_cpu']):.2f}",
        overhead(record),
        peak,
        ratio(record, CV10),
        ratio(record, CV10, "wall"),
        *(ratio(record, way) for way in (CV5, RANDOM, HALVING, DASK, SPECIAL, ONLY)),
        f"{ratio(record, AUTO)} [m = {record['n_replicates']} n]",
        ratio(record, BARE),
    ]
    return "| " + " | ".join(cells) + " |"


GROWING = {
    "decision tree": (DecisionTreeClassifier(random_state=0), "min_samples_leaf", 1.0, 64.0),
    "linear SVC": (SVC(kernel="linear"), "C", 2.0**-5, 2.0**2),
    "RBF SVC": (SVC(), "C", 0.1, 100.0),
    "k-NN": (KNeighborsClassifier(), "n_neighbors", 1.0, 64.0),
    "logistic": (LogisticRegression(max_iter=500), "C", 1e-3, 1e3),
    "boosting by depth": (
        GradientBoostingClassifier(n_estimators=10, random_state=0),
        "max_depth",
        1.0,
        32.0,
    ),
    "boosting by stages": (
        GradientBoostingClassifier(random_state=0),
        "n_estimators",
        1.0,
        100.0,
    ),
}


def growth_in_candidates(repeats, n_rows=500, sizes=(2, 4, 8, 16, 32)):
    """Write how CPU time grows with the number of candidates, and what ten folds take beside it."""
    X, y = data_of("classes", n_rows)
    head = " | ".join(f"C = {size}" for size in sizes)
    rule = "|" + "---|" * (len(sizes) + 1)
    seconds = [f"| search | {head} | exponent |", rule + "---|"]
    multiples = [f"| search | {head} |", rule]
    for name, (estimator, parameter, low, high) in GROWING.items():
        found = [
            grown(estimator, parameter, spread(parameter, low, high, size), X, y, repeats)
            for size in sizes
        ]
        spent = [beside for beside, _ in found]
        power = math.log(spent[-1] / spent[0]) / math.log(sizes[-1] / sizes[0])
        cells = [name, *(f"{one:.2f}" for one in spent), f"{power:.2f}"]
        seconds.append("| " + " | ".join(cells) + " |")
        multiples.append("| " + " | ".join([name, *(f"{one:.1f}" for _, one in found)]) + " |")
        print(seconds[-1], multiples[-1], flush=True)
    lines = [
        "# Growth with candidates",
        "",
        f"CPU seconds of GridSearchLZO without drawing V, n = {n_rows}, m = 10 n, least of "
        f"{repeats} runs, and the exponent between the least and the largest number of candidates; "
        "by `benchmarks/speed.py --growth`. All grids of a row have the same ends.",
        "",
        *seconds,
        "",
        "## GridSearchCV with 10 folds as a multiple of GridSearchLZO, drawing V included",
        "",
        *multiples,
    ]
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "candidates.md").write_text("\n".join(lines) + "\n")


def spread(parameter, low, high, size):
    """Return so many values of a parameter between two ends."""
    if parameter == "C":
        return np.geomspace(low, high, size).tolist()
    return np.linspace(low, high, size).round().astype(int).tolist()


def grown(estimator, parameter, values, X, y, repeats):
    """Return CPU seconds without drawing V, and those of ten folds as a multiple of all."""
    ours = GridSearchLZO(estimator, {parameter: values}, random_state=0)
    theirs = GridSearchCV(estimator, {parameter: values}, cv=10)
    pairs = [(run([ours], X, y), run([theirs], X, y)) for _ in range(repeats)]
    beside = min(spent - last.draw_time_ for (spent, _, last), _ in pairs)
    multiple = statistics.median(folds[0] / spent for (spent, *_), folds in pairs)
    return beside, multiple


def keep(record):
    """Put a record into the file in the place of an older one, and write the table."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / "speed.json"
    known = json.loads(path.read_text()) if path.exists() else []
    new = (record["n"], record["search"])
    known = [old for old in known if (old["n"], old["search"]) != new] + [record]
    order = list(ROWS)
    known.sort(key=lambda one: (one["n"], order.index(one["search"])))
    path.write_text(json.dumps(known, indent=1) + "\n")
    (RESULTS / "speed.md").write_text("\n".join(table(known)) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, action="append", help="n; 500 and 1500 if not given")
    parser.add_argument("--only", action="append", choices=list(ROWS), help="a row of the table")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--no-memory", action="store_true", help="skip the run for peak memory")
    parser.add_argument("--growth", action="store_true", help="measure growth with candidates")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of models that are poor or not converged; so are all ways
    if options.growth:
        with threadpool_limits(limits=1):
            growth_in_candidates(options.repeats)
        return
    for n_rows, name in itertools.product(options.rows or [500, 1500], options.only or ROWS):
        with threadpool_limits(limits=1):
            record = measure(name, n_rows, options.repeats, not options.no_memory)
        keep(record)
        print(line(record), flush=True)


if __name__ == "__main__":
    main()
