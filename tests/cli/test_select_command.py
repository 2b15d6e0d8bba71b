"""A model selected for a table and used on another one, from the command line."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import ParameterGrid
from typer.testing import CliRunner

from leavezero.cli import _output, _search_table, _select_command
from leavezero.cli._commands import app
from leavezero.cli._output import progress_bar
from leavezero.cli._prepare_table import TableOptions, prepare_table
from leavezero.cli._read_table import to_features
from leavezero.cli._saved_model import TableModel, current_versions, load_model, save_model
from leavezero.diagnostics import Check, DiagnosticReport
from leavezero.search import CandidateSearchLZO

runner = CliRunner()
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
SIZES = {"forest": "n_estimators", "boosting": "max_iter", "lightgbm": "n_estimators"}
SNOW = 'say "hi" ☃'
FAST = ("--augmenter", "copula", "--cv-finalists", "0")


def table(n_rows=48):
    rng = np.random.default_rng(0)
    kinds = rng.choice(["good", SNOW], n_rows)
    frame = pd.DataFrame(
        {
            "id": np.arange(n_rows),
            "<script>alert(1)</script>": rng.normal(size=n_rows) + 2 * (kinds == "good"),
            "color\x1b[31m[bold]": rng.choice(["red", "blue", None], n_rows),
            "day": pd.date_range("2024-01-01", periods=n_rows).strftime("%d/%m/%Y"),
            "sent": pd.date_range("2024-01-01", periods=n_rows, freq="h").strftime("%FT%TZ"),
            "gone": None,
            "flag": rng.choice([True, False], n_rows),
            "kind": kinds,
        }
    )
    frame.loc[3, "kind"] = None
    return frame


def select(path, *words):
    return runner.invoke(app, ["select", str(path), "--jobs", "1", *map(str, words)])


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """One selection that several tests look at."""
    directory = tmp_path_factory.mktemp("select")
    table().to_csv(directory / "train.csv", index=False)
    words = ("--target", "kind", "--models", "bayes,tree", "--out", directory / "out")
    return directory, select(directory / "train.csv", *words)


def test_a_selection_is_summarized(run):
    _, result = run
    assert result.exit_code == 0, result.output
    for text in (
        "Left out: 1 row without a value in 'kind'.",
        "Column 'id' is dropped: its values number the rows; use it with --keep id.",
        "Column 'gone' is dropped: all values are missing.",
    ):
        assert text in result.stderr
    for text in (
        "Classification of 'kind' (2 classes) by 5 columns, from 47 rows: 13 candidates in ",
        "Best model: ",
        "Expected accuracy on new rows: 0.",
        "95 % interval",
        "; baseline 0.",
        "Next: leavezero predict",
    ):
        assert text in result.stdout
    for name in ("bayes", "tree", "baseline"):  # one row each
        assert len(re.findall(rf"^ *{name} ", result.stdout, re.MULTILINE)) == 1
    assert len(result.stdout.splitlines()) <= 25
    assert CONTROL.search(result.stdout + result.stderr) is None


@pytest.mark.parametrize("width", [80, 120])
def test_the_summary_has_25_lines_with_wrapped_warnings(run, monkeypatch, width):
    """Warnings beyond these lines are only named."""
    monkeypatch.setattr(_output, "_WIDTH", width)
    values = json.loads((run[0] / "out" / "run.json").read_text())
    long = {"level": "warning", "is_detail": False, "message": 40 * "word ", "advice": "Do it."}
    checks = [long | {"title": f"title {at}"} for at in range(5)]
    label = "lightgbm, learning_rate=0.15, num_leaves=31"
    types = [values["model_types"][0] | {"name": "lightgbm", "label": label}] * 9
    values |= {"model_types": types, "diagnostics": {"checks": checks}}
    options = TableOptions(run[0] / "train.csv", "kind")
    lines = _select_command._summary(values, options, 25)
    assert 24 <= _output.count_lines(*lines) <= 25
    shown = [line for line in lines if str(line).startswith("Warning: ")]
    assert len(shown) == {80: 1, 120: 3}[width]
    named = ", ".join(f"title {at}" for at in range(len(shown), 5))
    assert f"Warnings in the report: {named}." in lines
    verbose = _select_command._summary(values, replace(options, verbose=True), 25)
    assert sum(str(line).startswith("Warning: ") for line in verbose) == 5


@pytest.mark.parametrize(
    ("given", "augmenter", "shown"),
    [
        # the search has followed its advice already
        (None, "auto", "Report the score of rows that are not in this table."),
        ("Python", "auto", "Add --cv-finalists 5."),
        ("Python", "copula", "Use --augmenter auto."),
    ],
)
def test_every_warning_names_what_to_do(given, augmenter, shown):
    checks = (Check("LZ03", "warning", "", 0.3, given), Check("LZ04", "ok", ""))
    options = TableOptions("a.csv", "y", augmenter=augmenter)
    report = _select_command._with_options(DiagnosticReport(checks, 0.0), options)
    assert [check.advice for check in report] == [shown, None]


def test_a_selection_writes_model_report_and_metadata(run):
    directory, _ = run
    out = directory / "out"
    names = {path.name for path in out.iterdir()}
    assert names == {"model.skops", "report.html", "results.csv", "run.json"}
    assert "<script>alert(1)" not in (out / "report.html").read_text()
    results = pd.read_csv(out / "results.csv")
    assert len(results) == 13
    assert results["best"].tolist() == [True] + [False] * 12
    metadata = json.loads((out / "run.json").read_text())
    assert len(metadata["table"]["sha256"]) == 64
    assert set(metadata["table"]["dropped"]) == {"id", "gone"}
    assert metadata["best"]["score"] == pytest.approx(results["score"].iloc[0])
    expected = metadata["expected"]
    assert expected["low"] < expected["score"] <= expected["high"] <= 1
    assert {one["name"] for one in metadata["model_types"]} == {"bayes", "tree", "baseline"}
    assert metadata["model_types"][0]["difference"] == 0
    assert metadata["fit_counts"]["candidate"] == 13
    assert metadata["versions"]["skrub"]
    assert {check["code"] for check in metadata["diagnostics"]["checks"]} >= {"LZ03", "LZ05"}


def test_the_report_has_the_code_of_export(run):
    directory, _ = run
    words = ["export", directory / "out" / "model.skops", "--out", directory / "model.py"]
    assert runner.invoke(app, list(map(str, words))).exit_code == 0
    report = (directory / "out" / "report.html").read_text()
    summary = json.loads(re.search(r'id="summary">(.*?)</script>', report)[1])
    assert summary["run"]["code"]["model"] == (directory / "model.py").read_text().strip()


@pytest.mark.usefixtures("no_report")
def test_results_are_the_same_for_the_same_seed_and_on_stdout_with_json(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=40)
    pd.DataFrame({"x": x, "y": x + rng.normal(size=40)}).to_parquet(tmp_path / "a.parquet")
    words = ("--target", "y", "--models", "bayes,tree", "--json", "--quiet", "--out", tmp_path)
    words = (*words, *FAST, "--metric", "neg_mean_absolute_error")
    runs = [select(tmp_path / "a.parquet", *words) for _ in range(2)]
    assert [one.exit_code for one in runs] == [0, 0]
    assert runs[0].stderr.strip() == ""
    first, second = (json.loads(one.stdout) for one in runs)
    assert (first["task"], first["metric"]) == ("regression", "neg_mean_absolute_error")
    for one, other in zip(first["candidates"], second["candidates"], strict=True):
        assert (one["params"], one["score"]) == (other["params"], other["score"])


# scikit-learn 1.6 warns so for every LightGBM that predicts an array.
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize(
    ("task", "models", "columns"),
    [
        ("classification", (), "numbers"),
        ("regression", (), "numbers"),
        # skrub transforms other columns in different ways for these
        ("classification", ("linear", "forest", "boosting", "lightgbm"), "all"),
    ],
    ids=["classification", "regression", "columns"],
)
def test_every_model_is_saved_and_loaded_with_the_same_predictions(task, models, columns, tmp_path):
    """All types in built-in models are known, so that none has to be trusted by name."""
    frame = table(60).assign(text=[f"a b c {at}" for at in range(60)])
    frame["y"] = np.random.default_rng(1).normal(size=60)
    target = "y" if task == "regression" else "kind"
    if columns == "numbers":
        frame = frame.select_dtypes(["number", "bool"]).assign(**{target: frame[target]})
    frame.to_csv(tmp_path / "a.csv", index=False)
    found = prepare_table(TableOptions(tmp_path / "a.csv", target, task=task, models=models))
    for name, (pipeline, grid) in found.candidates.items():
        fitted = pipeline.set_params(**next(iter(ParameterGrid(grid))))
        if name in SIZES:
            fitted.set_params(**{f"model__{SIZES[name]}": 5})
        fitted.fit(found.X, found.target.values)
        fitted.steps.insert(0, ("clean", found.cleaner))
        parts = (found.kinds, found.profile, found.source, current_versions())
        model = TableModel(fitted, "y", task, *parts)
        assert save_model(model, tmp_path / "m.skops") == [], name
        X = to_features(pd.read_csv(tmp_path / "a.csv", dtype=str), found.kinds)
        loaded = load_model(tmp_path / "m.skops").predict(X.loc[found.target.known])
        expected = fitted[1:].predict(found.X)
        assert (loaded["prediction"].to_numpy() == expected).all(), name


@pytest.mark.usefixtures("no_report")
def test_verbose_prints_candidates_fits_and_notes(tmp_path):
    table().to_csv(tmp_path / "a.csv", index=False)
    words = ("--target", "kind", "--models", "bayes", "--out", tmp_path / "o", "--verbose")
    result = select(tmp_path / "a.csv", *words)
    assert result.exit_code == 0, result.output
    for text in ("bayes, var_smoothing=0.001", "candidate: 4", "requires 41.", "ok, "):
        assert text in result.stdout


@pytest.mark.usefixtures("no_report")
def test_rows_in_time_order_are_tested_on_later_rows(tmp_path):
    """A trend that no model can continue: random folds would hide it."""
    rng = np.random.default_rng(0)
    days = pd.Series(pd.date_range("2024-01-01", periods=120)).dt.strftime("%d/%m/%Y")
    y = np.arange(120) / 10 + rng.normal(size=120)
    frame = pd.DataFrame({"day": days, "x": rng.normal(size=120), "y": y})
    frame.sample(frac=1, random_state=0).to_csv(tmp_path / "a.csv", index=False)
    (tmp_path / "grid.toml").write_text("[tree]\ngrid = {max_depth = [3, 6]}\n")
    words = ("--target", "y", "--grid", tmp_path / "grid.toml", "--json", "--out", tmp_path / "o")
    scores = []
    for more in ((), ("--time-column", "day")):
        result = select(tmp_path / "a.csv", *words, *more)
        assert result.exit_code == 0, result.output
        scores.append(json.loads(result.stdout)["model_types"])
    random, ordered = ({one["name"]: one["score"] for one in found} for found in scores)
    assert random["tree"] > 0.7
    assert ordered["tree"] < 0.3
    fits = json.loads(result.stdout)["fit_counts"]
    assert sum(fits.values()) == 5 * 3 + 1  # with the best on all rows


@pytest.mark.usefixtures("no_report")
def test_rows_of_a_group_are_kept_together(tmp_path):
    """Rows of a person are near each other and have one label, which a new person does not have."""
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(30), 4)
    X = rng.normal(size=(30, 3))[person] + 0.01 * rng.normal(size=(120, 3))
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(
        person=[f"p{one}" for one in person], y=rng.choice(["u", "v"], 30)[person]
    )
    frame = pd.concat([frame, frame.head(60)])  # duplicates
    frame.to_csv(tmp_path / "a.csv", index=False)
    words = ("--target", "y", "--models", "knn", "--json", "--out", tmp_path / "o")
    scores = {}
    for option in ("--drop", "--group-column"):
        result = select(tmp_path / "a.csv", *words, option, "person")
        assert result.exit_code == 0, result.output
        found = json.loads(result.stdout)
        assert "person" not in found["table"]["columns"]
        advice = [check["advice"] or "" for check in found["diagnostics"]["checks"]]
        assert any("--group-column" in text for text in advice) == (option == "--drop")
        scores[option] = found["best"]["score"]
    assert scores["--drop"] > 0.95
    assert scores["--group-column"] < 0.85


def interrupt_after(n_done, monkeypatch):
    """Let the search be interrupted when so many candidates have finished."""
    real = _search_table._ProgressHandler.emit

    def emit(self, record):
        real(self, record)
        if record.__dict__.get("n_done") == n_done:
            raise KeyboardInterrupt

    monkeypatch.setattr(_search_table._ProgressHandler, "emit", emit)


@pytest.mark.usefixtures("no_report")
def test_an_interrupted_search_keeps_the_best_so_far_and_continues(tmp_path, monkeypatch):
    table().to_csv(tmp_path / "a.csv", index=False)
    words = ("--target", "kind", "--models", "bayes", "--json", "--quiet", *FAST)
    checkpoint = ("--checkpoint", tmp_path / "run.sqlite", "--out", tmp_path / "out")
    with monkeypatch.context() as patch:
        interrupt_after(2, patch)
        stopped = select(tmp_path / "a.csv", *words, *checkpoint)
    assert stopped.exit_code == 1, stopped.output
    assert "Interrupted after 2 of 4 candidates. The best of these is in" in stopped.stderr
    assert "Run the same command again to continue." in stopped.stderr
    assert json.loads((tmp_path / "out" / "run.json").read_text())["interrupted"]
    resumed = select(tmp_path / "a.csv", *words, *checkpoint)
    assert resumed.exit_code == 0, resumed.output
    whole = select(tmp_path / "a.csv", *words, "--out", tmp_path / "other")
    first, second = json.loads(resumed.stdout), json.loads(whole.stdout)
    assert first["fit_counts"]["candidate"] < second["fit_counts"]["candidate"]
    scores = [[one["score"] for one in found["candidates"]] for found in (first, second)]
    assert scores[0] == scores[1]
    other = select(tmp_path / "a.csv", *words, *checkpoint, "--seed", 1)
    assert other.exit_code == 2
    assert "run.sqlite" in other.stderr
    shown = runner.invoke(app, ["checkpoint", "show", str(tmp_path / "run.sqlite")])
    assert shown.exit_code == 0, shown.output
    assert "4 finished, 0 damaged" in shown.output


def test_nothing_is_left_if_no_candidate_has_finished(tmp_path, monkeypatch):
    table().to_csv(tmp_path / "a.csv", index=False)

    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(_select_command, "fit_search", interrupted)
    words = ("--target", "kind", "--models", "bayes", "--out")
    result = select(tmp_path / "a.csv", *words, tmp_path / "new" / "one")
    assert result.exit_code == 1
    assert "Interrupted before the first candidate finished." in result.stderr
    assert not (tmp_path / "new").exists()
    (tmp_path / "mine").mkdir()
    select(tmp_path / "a.csv", *words, tmp_path / "mine")
    assert (tmp_path / "mine").exists()


@pytest.mark.parametrize(("step", "missing"), [("diagnose", None), ("to_html", "report.html")])
def test_interrupted_diagnostics_or_report_leave_the_model(step, missing, tmp_path, monkeypatch):
    table().to_csv(tmp_path / "a.csv", index=False)

    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(CandidateSearchLZO, step, interrupted)
    words = ("--target", "kind", "--models", "bayes", *FAST, "--out", tmp_path / "out")
    result = select(tmp_path / "a.csv", *words)
    assert "Interrupted" in result.stderr
    assert (tmp_path / "out" / "model.skops").exists()
    assert (tmp_path / "out" / "report.html").exists() == (missing is None)


@pytest.mark.usefixtures("no_report")
def test_a_failed_candidate_is_listed_with_its_error(tmp_path):
    table().to_csv(tmp_path / "a.csv", index=False)
    (tmp_path / "grid.toml").write_text("[tree]\ngrid = {max_depth = [-1, 2]}\n")
    words = ("--target", "kind", "--grid", tmp_path / "grid.toml", *FAST, "--out", tmp_path / "o")
    result = select(tmp_path / "a.csv", *words)
    assert result.exit_code == 0, result.output
    assert "First error: sklearn.utils._param_validation.InvalidParameterError: " in result.stderr
    rows = pd.read_csv(tmp_path / "o" / "results.csv")
    assert rows["error"].notna().sum() == 1


@pytest.mark.usefixtures("no_report")
def test_a_terminal_shows_progress(tmp_path, monkeypatch):
    for name, value in {"FORCE_COLOR": "1", "COLUMNS": "80", "TERM": "xterm"}.items():
        monkeypatch.setenv(name, value)
    table().to_csv(tmp_path / "a.csv", index=False)
    words = ("--target", "kind", "--models", "bayes", *FAST, "--out", tmp_path / "out")
    shown = select(tmp_path / "a.csv", *words).stderr
    assert "4/4" in shown
    assert "best so far" in shown
    assert "checking" in shown  # by folds, after the last candidate
    assert progress_bar(quiet=True).disable


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.csv", "--target", "y"], "TABLE must be a file; 'none.csv' does not exist."),
        (["a.csv"], "--target is required. Columns of a.csv: 'id', '<script>alert(1)</script>'"),
        (["a.csv", "--target", "knd"], "got 'knd'. Did you mean 'kind'?"),
        (
            ["a.csv", "--target", "kind", "--cv-finalists", "x"],
            "--cv-finalists must be auto, all",
        ),
        (["a.csv", "--target", "kind", "--jobs", "0"], "--jobs must be a positive number"),
        (["a.csv", "--target", "kind", "--seed", f"{2**32}"], "Invalid value for '--seed'"),
        (
            ["a.csv", "--target", "kind", "--time-budget", "soon"],
            "such as 90s, 10m or 2h, got 'soon'",
        ),
        (["a.csv", "--target", "kind", "--augmenter", "x"], "--augmenter must name an augmenter"),
        (["a.csv", "--target", "kind", "--augmenter", "gaussian"], "Gaussian"),
        (["a.csv", "--target", "kind", "--id", "ID9"], "--id must be a column of the table"),
        (["a.csv", "--target", "kind", "--time-column", "flag"], "must hold a date, a time or"),
        (
            ["a.csv", "--target", "kind", "--time-column", "day", "--cv-finalists", "3"],
            "--time-column cannot be combined with",
        ),
        (
            ["a.csv", "--target", "kind", "--group-column", "gone"],
            "'gone' has 0 values and 48 gaps",
        ),
        (["a.csv", "--target", "kind", "--out", "a.csv"], "--out must be a directory that"),
        (
            ["a.csv", "--target", "kind", "--grid", "grid.toml"],
            "Only the baseline has a score. First",
        ),
    ],
)
def test_wrong_input_is_explained(words, message, tmp_path, monkeypatch):
    """Exit code 2, no traceback, nothing written."""
    monkeypatch.chdir(tmp_path)
    table().to_csv("a.csv", index=False)
    (tmp_path / "grid.toml").write_text('[bad]\nestimator = "sklearn.svm.SVC"\ngrid = {C = [-1]}\n')
    if "gaussian" in words:
        words = [*words, "--models", "bayes"]
    before = set(tmp_path.iterdir())
    result = select(*words)
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""
    assert set(tmp_path.iterdir()) == before


@pytest.mark.parametrize("budget", ["4s", "0.00001s"])
@pytest.mark.usefixtures("no_report")
def test_a_budget_that_no_model_meets_gives_the_baseline_and_advice(budget, tmp_path):
    table().to_csv(tmp_path / "a.csv", index=False)
    endless = "params = {max_iter = 100000000, n_iter_no_change = 100000000}"
    grid = f'[slow]\nestimator = "sklearn.neural_network.MLPClassifier"\n{endless}\n'
    (tmp_path / "grid.toml").write_text(grid)
    words = ("--target", "kind", "--grid", tmp_path / "grid.toml", "--out", tmp_path / "out")
    result = select(tmp_path / "a.csv", *words, "--time-budget", budget)
    assert result.exit_code == 0, result.output
    assert "Best model: baseline" in result.stdout
    assert "allowed no model but the baseline" in result.stderr
    assert "Use a longer --time-budget" in result.stderr
    assert "CandidateSearchLZO" not in result.output


def test_failures_exit_with_1_and_debug_shows_the_traceback(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table().to_csv("a.csv", index=False)

    def failing(*args):
        raise MemoryError("not enough")

    monkeypatch.setattr(_select_command, "fit_search", failing)
    result = select("a.csv", "--target", "kind")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-2:] == [
        "MemoryError: not enough",
        "Add --debug to see the traceback.",
    ]
    assert isinstance(select("a.csv", "--target", "kind", "--debug").exception, MemoryError)
