"""A model chosen for a table and used on another, from the command line."""

import json
import os
import re
import shlex
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from leavezero import CandidateSearchLZO
from leavezero.cli import _select, _telling
from leavezero.cli._app import app
from leavezero.cli._paths import default_folder, plain_name
from leavezero.cli._wishing import wish_of
from leavezero.engine import _conclude
from leavezero.exceptions import CandidateFailedWarning
from leavezero.tabular import MODELS, TableError

runner = CliRunner()
N = 48
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")


def table(n_rows=N):
    rng = np.random.default_rng(0)
    kinds = rng.choice(["good", 'say "hi" \u2603'], n_rows)
    frame = pd.DataFrame(
        {
            "id": np.arange(n_rows),
            "<script>alert(1)</script>": rng.normal(size=n_rows) + 2 * (kinds == "good"),
            "color\x1b[31m[bold]": rng.choice(["red", "blue", None], n_rows),
            "gone": None,
            "mixed": rng.choice(["1", "2", "three"], n_rows),
            "kind": kinds,
        }
    )
    frame.loc[3, "kind"] = None
    return frame


def select(path, *words):
    return runner.invoke(app, ["select", str(path), "--jobs", "1", *words])


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """One selection that several tests look at."""
    folder = tmp_path_factory.mktemp("select")
    table().to_csv(folder / "train.csv", index=False)
    words = ("--target", "kind", "--models", "bayes,tree", "--out", str(folder / "out"))
    return folder, select(folder / "train.csv", *words)


def test_a_selection_says_what_it_did(run):
    """Notices on stderr; candidates, costs and findings on stdout."""
    _, result = run
    assert result.exit_code == 0, result.output
    for told in (
        "classification: 'kind' has 2 classes, for its cells are words.",
        "1 row without a value in 'kind' is left out.",
        "Column 'id' is dropped: its name says so and every cell differs. Keep it with --keep id.",
        "Column 'gone' is dropped: every cell is missing.",
        "Column 'mixed' is read as category: it holds numbers and words (",
    ):
        assert told in result.stderr
    for told in ("bayes, var_smoothing=", "95 % interval", "14 fits (12 candidate, 2 optimism)"):
        assert told in result.stdout
    assert "10-fold cross validation of these candidates takes 121 fits." in result.stdout
    assert "checks of the score found nothing to doubt." in result.stdout
    assert "Next: leavezero predict" in result.stdout


def test_output_that_is_no_terminal_has_no_control_characters(run):
    """Not even those in the names of columns."""
    _, result = run
    assert CONTROL.search(result.stdout) is None
    assert CONTROL.search(result.stderr) is None


def test_a_selection_leaves_all_that_repeats_it(run):
    """Model, candidates and the run's own page; nothing half-written."""
    folder, _ = run
    names = {path.name for path in (folder / "out").iterdir()}
    assert names == {"model.skops", "report.html", "results.csv", "run.json"}
    report = (folder / "out" / "report.html").read_text()
    assert "kind of train.csv" in report
    assert re.search(r'class="what">\s*(bayes, var_smoothing|tree, max_depth)=', report)
    assert "<script>alert(1)" not in report
    results = pd.read_csv(folder / "out" / "results.csv")
    assert len(results) == 12
    assert results["chosen"].tolist() == [True] + [False] * 11
    page = json.loads((folder / "out" / "run.json").read_text())
    assert page["seed"] == 0
    assert page["command"].startswith("leavezero select ")
    assert len(page["table"]["sha256"]) == 64
    assert [column["kind"] for column in page["table"]["columns"]].count("dropped") == 2
    assert page["best"]["score"] == pytest.approx(results["score"].iloc[0])
    assert page["versions"]["scikit-learn"]


def test_the_model_is_used_on_another_table(run, tmp_path):
    """Other order, other columns, unknown words; labels come back as they were."""
    folder, _ = run
    new = table(9).drop(columns=["kind", "gone", "id"])[::-1].assign(mixed="new", more=1)
    new.to_csv(tmp_path / "new.csv", index=False)
    model, out = str(folder / "out" / "model.skops"), tmp_path / "out.csv"
    result = runner.invoke(app, ["predict", model, str(tmp_path / "new.csv"), "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert (
        "1 column that the model does not know is passed on and not read: 'more'." in result.stderr
    )
    assert "9 rows with prediction, probability_good, probability_say" in result.stdout
    found = pd.read_csv(out)
    assert set(found["prediction"]) <= {"good", 'say "hi" \u2603'}
    assert np.allclose(found.filter(like="probability_").sum(axis=1), 1)


def test_predictions_end_beside_where_the_user_is(run, tmp_path, monkeypatch):
    """Without --out the name follows the table's; --json says it to programs."""
    folder, _ = run
    monkeypatch.chdir(tmp_path)
    model, path = str(folder / "out" / "model.skops"), str(folder / "train.csv")
    result = runner.invoke(app, ["predict", model, path, "--json"])
    assert json.loads(result.stdout)["out"] == "train-predictions.csv"
    assert (tmp_path / "train-predictions.csv").exists()
    quiet = runner.invoke(app, ["predict", model, path, "--quiet"])
    assert (quiet.exit_code, quiet.output.strip()) == (0, "")
    table(9).head(1).to_csv(tmp_path / "sales.2023.csv", index=False)
    result = runner.invoke(app, ["predict", model, "sales.2023.csv"])
    assert result.stdout.startswith("1 row with prediction, ")
    assert (tmp_path / "sales.2023-predictions.csv").exists()


@pytest.mark.parametrize(
    ("table_name", "name"),
    [
        ("sales.csv", "sales"),
        ("sales.2023.csv", "sales.2023"),
        ("sales.2024.CSV.gz", "sales.2024"),
        ("v1.2.parquet", "v1.2"),
        (".hidden.csv", ".hidden"),
        (".csv", ".csv"),
        ("table", "table"),
        ("a.b", "a.b"),
        ("a.csv.tsv", "a.csv"),
        ("a.gz", "a"),
    ],
)
def test_results_are_called_as_the_table_is(table_name, name):
    """Only what says how it is written goes, so that tables of two years have two folders."""
    path = Path("somewhere") / table_name
    assert plain_name(path) == name
    assert default_folder(path) == Path(f"leavezero-{name}")


def test_json_is_all_that_stdout_holds(tmp_path):
    """A regression from Parquet, repeated by its seed."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=40)
    pd.DataFrame({"x": x, "y": x + rng.normal(size=40)}).to_parquet(tmp_path / "a.parquet")
    words = ("--target", "y", "--models", "bayes", "--json", "--out", str(tmp_path / "out"))
    first = select(tmp_path / "a.parquet", *words, "--quiet", "--metric", "neg_mean_absolute_error")
    assert first.exit_code == 0, first.output
    assert first.stderr.strip() == ""
    page = json.loads(first.stdout)
    assert (page["task"], page["metric"]) == ("regression", "neg_mean_absolute_error")
    assert page["best"]["score"] < 0
    assert page["notices"][0] == "regression: 'y' is numbers, for its numbers are not all whole."


def test_the_user_stops_and_keeps_the_best_so_far(tmp_path, monkeypatch):
    """The folder is told; before the first candidate there is nothing to keep."""
    table().to_csv(tmp_path / "a.csv", index=False)
    words = ("--target", "kind", "--models", "bayes", "--out", str(tmp_path / "out"))

    def stops_after(n_done):
        real = _select.select_model

        def stopping(prepared, wish, watch):
            def heard(one):
                watch(one)
                if one.n_done == n_done:
                    raise KeyboardInterrupt

            return real(prepared, wish, heard)

        return stopping

    monkeypatch.setattr(_select, "select_model", stops_after(2))
    result = select(tmp_path / "a.csv", *words)
    assert result.exit_code == 1, result.output
    assert f"The best of 2 candidates so far is in {tmp_path / 'out'}." in result.stderr
    assert (tmp_path / "out" / "model.skops").exists()
    assert json.loads((tmp_path / "out" / "run.json").read_text())["interrupted"]

    def at_once(prepared, wish, watch):
        raise KeyboardInterrupt

    monkeypatch.setattr(_select, "select_model", at_once)
    result = select(tmp_path / "a.csv", *words)
    assert result.exit_code == 1
    assert "Stopped before the first candidate was done. Nothing was written." in result.stderr
    assert (tmp_path / "out" / "model.skops").exists()
    result = select(tmp_path / "a.csv", *words[:-1], str(tmp_path / "new" / "one"))
    assert result.exit_code == 1
    assert not (tmp_path / "new").exists()
    (tmp_path / "mine").mkdir()
    select(tmp_path / "a.csv", *words[:-1], str(tmp_path / "mine"))
    assert (tmp_path / "mine").exists()


def test_what_is_finished_is_not_lost(tmp_path, monkeypatch):
    """With a journal the same command goes on after Ctrl-C, and ends as if there had been none."""
    table().to_csv(tmp_path / "a.csv", index=False)
    words = ("--target", "kind", "--models", "bayes,tree", "--json", "--quiet")
    journal = ("--journal", str(tmp_path / "run.sqlite"), "--out", str(tmp_path / "out"))
    real = _select.select_model

    def stopping(prepared, wish, watch):
        def heard(one):
            if one.n_done == 3:
                raise KeyboardInterrupt

        return real(prepared, wish, heard)

    monkeypatch.setattr(_select, "select_model", stopping)
    stopped = select(tmp_path / "a.csv", *words, *journal)
    assert stopped.exit_code == 1, stopped.output
    assert f"is in {tmp_path / 'out'}. Give the same command again to go on." in stopped.stderr
    monkeypatch.setattr(_select, "select_model", real)
    resumed = select(tmp_path / "a.csv", *words, *journal)
    assert resumed.exit_code == 0, resumed.output
    whole = select(tmp_path / "a.csv", *words, "--out", str(tmp_path / "other"))
    page, reference = json.loads(resumed.stdout), json.loads(whole.stdout)
    assert page["fits"]["candidate"] < reference["fits"]["candidate"] == 12
    assert page["best"]["params"] == reference["best"]["params"]
    scores = [[one["score"] for one in found["candidates"]] for found in (page, reference)]
    assert scores[0] == scores[1]
    assert f"--journal {tmp_path / 'run.sqlite'}" in page["command"]


def test_a_journal_of_another_search_is_refused(tmp_path):
    """As wrong words are: exit code 2, and what differs."""
    table().to_csv(tmp_path / "a.csv", index=False)
    words = ("--target", "kind", "--models", "bayes", "--quiet", "--out", str(tmp_path / "out"))
    journal = ("--journal", str(tmp_path / "run.sqlite"))
    assert select(tmp_path / "a.csv", *words, *journal).exit_code == 0
    other = select(tmp_path / "a.csv", *words, *journal, "--seed", "1")
    assert other.exit_code == 2, other.output
    assert "run.sqlite', belongs to another search: " in other.stderr
    assert "CandidateSearchLZO" not in other.stderr
    (tmp_path / "text").write_text("no journal")
    text = select(tmp_path / "a.csv", *words, "--journal", str(tmp_path / "text"))
    assert text.exit_code == 2, text.output
    assert text.stderr.strip().startswith("--journal: The file ")
    nowhere = select(tmp_path / "a.csv", *words, "--journal", str(tmp_path / "no" / "file"))
    assert nowhere.exit_code == 2, nowhere.output
    assert "The journal cannot be written. Name a file in a folder" in nowhere.stderr


def test_a_budget_of_time_is_passed_on_and_its_end_is_told(tmp_path, monkeypatch):
    """In the words of the command line."""
    table().to_csv(tmp_path / "a.csv", index=False)
    words = ("--target", "kind", "--models", "bayes", "--time-budget", "2h")
    real, given = CandidateSearchLZO.fit, []

    def in_time(search, X, y):
        given.append(search.time_budget)
        warnings.warn(
            "2 of 3 candidates of CandidateSearchLZO were not judged, because its time_budget was "
            "spent, and were given the score nan.",
            CandidateFailedWarning,
            stacklevel=2,
        )
        return real(search.set_params(time_budget=None), X, y)  # which needs no processes

    monkeypatch.setattr(CandidateSearchLZO, "fit", in_time)
    result = select(tmp_path / "a.csv", *words, "--out", str(tmp_path / "out"))
    assert result.exit_code == 0, result.output
    assert given == [7_200]
    told = "2 of 3 candidates were not judged, because --time-budget was spent, and were given"
    assert told in result.stderr
    page = json.loads((tmp_path / "out" / "run.json").read_text())
    assert "--time-budget 7200" in page["command"]
    assert page["best"]["failed"] is None


def test_a_budget_that_ends_before_the_first_candidate_asks_for_other_words(tmp_path):
    """Exit code 2, and what to give instead."""
    table().to_csv(tmp_path / "a.csv", index=False)
    words = ("--target", "kind", "--models", "bayes", "--time-budget", "0.00001")
    result = select(tmp_path / "a.csv", *words, "--out", str(tmp_path / "out"))
    assert result.exit_code == 2, result.output
    told = "No candidate was finished in 1e-05 seconds. Give a longer --time-budget, or name quick"
    assert told in result.stderr


def test_why_a_candidate_failed_stands_in_the_results(tmp_path):
    """In a line, beside the scores of the others."""
    table().to_csv(tmp_path / "a.csv", index=False)
    (tmp_path / "grid.toml").write_text("[tree]\ngrid = {max_depth = [-1, 2]}\n")
    words = (
        "--target",
        "kind",
        "--grid",
        str(tmp_path / "grid.toml"),
        "--out",
        str(tmp_path / "o"),
    )
    result = select(tmp_path / "a.csv", *words)
    assert result.exit_code == 0, result.output
    told = "1 of 2 candidates failed and were given the score nan. The first ended with "
    assert told + "sklearn.utils._param_validation.InvalidParameterError: " in result.stderr
    assert "error_score" not in result.stderr
    assert "max_depth=2" in result.stdout
    assert "max_depth=-1" not in result.stdout
    assert "1 more in results.csv" in result.stdout
    assert "10-fold cross validation of these candidates takes 11 fits." in result.stdout
    rows = pd.read_csv(tmp_path / "o" / "results.csv")
    assert rows["failed"].isna().tolist() == [True, False]
    assert "max_depth" in rows["failed"].iloc[1]


@pytest.mark.parametrize(
    ("word", "seconds"), [("90", 90), ("90s", 90), ("1.5m", 90), ("10M", 600), (" 2h ", 7_200)]
)
def test_times_are_read(word, seconds):
    """Seconds, minutes or hours."""
    assert wish_of(None, None, word, target="y").time_budget == seconds


@pytest.mark.parametrize("word", ["", "0", "0m", "-5m", "soon", "10 days", "1e3", "٣m"])
def test_what_is_no_time_is_refused(word):
    """The message shows how to write one."""
    with pytest.raises(
        TableError, match="--time-budget must be a time such as 90s, 10m or 2h, got"
    ):
        wish_of(None, None, word, target="y")


def test_folds_that_the_user_stops_leave_the_choice(tmp_path, monkeypatch):
    """The choice without them is written, and it is said where."""
    table().to_csv(tmp_path / "a.csv", index=False)

    def stopped(*words, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(_conclude, "fold_scores", stopped)
    words = ("--target", "kind", "--models", "bayes", "--confirm", "2")
    result = select(tmp_path / "a.csv", *words, "--out", str(tmp_path / "out"))
    assert result.exit_code == 1, result.output
    assert (
        "Stopped before --confirm was done. The choice among all 3 candidates without it is in "
        f"{tmp_path / 'out'}." in result.stderr
    )
    assert (tmp_path / "out" / "model.skops").exists()


def test_findings_that_the_user_stops_leave_the_choice(tmp_path, monkeypatch):
    """Only the findings are missing, and the report if the user stops that too."""
    table().to_csv(tmp_path / "a.csv", index=False)

    def stopped(search, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(CandidateSearchLZO, "trust", stopped)
    words = ("--target", "kind", "--models", "bayes", "--out", str(tmp_path / "out"))
    result = select(tmp_path / "a.csv", *words)
    assert result.exit_code == 1, result.output
    told = "Stopped before all findings were made. The choice among all 3 candidates is in "
    assert told in result.stderr
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"model.skops", "results.csv", "run.json"}
    assert json.loads((tmp_path / "out" / "run.json").read_text())["trust"] is None


def test_a_terminal_shows_how_far_the_reading_is(tmp_path, monkeypatch):
    """Bytes first, then candidates with their count and the best so far; --quiet shows neither."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    table().to_csv(tmp_path / "a.csv", index=False)
    words = ("--target", "kind", "--models", "bayes", "--out", str(tmp_path / "out"))
    shown = select(tmp_path / "a.csv", *words).stderr
    assert "looking at its columns" in shown
    assert "3/3" in shown
    assert re.search(r"best so far 0\.\d+: bayes, ", shown)
    assert select(tmp_path / "a.csv", *words, "--quiet").stderr.strip() == ""


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["none.csv", "--target", "y"],
            "There is no file 'none.csv'. Check the name and the folder.",
        ),
        (
            ["empty.csv", "--target", "y"],
            "empty.csv is empty. Give a table with names in its first",
        ),
        (["a.csv", "--target", "knd"], "The table has no column 'knd'. Did you mean 'kind'?"),
        (["a.csv", "--target", "one"], "The target 'one' has one value only, '7'. Give rows of at"),
        (["a.csv", "--target", "gone"], "0 rows with a value in 'gone' are too few to choose a mo"),
        (["five.csv", "--target", "kind"], "5 rows with a value in 'kind' are too few to choose a"),
        (["twins.csv", "--target", "y"], "has 1 column name more than once: 'x'. Give each column"),
        (
            ["only.csv", "--target", "y"],
            "No column is left to predict 'y' from: 'x': every cell is",
        ),
        (
            ["a.csv", "--target", "kind", "--confirm", "0"],
            "--confirm must be a positive whole numb",
        ),
        (["a.csv"], "Name the column to predict with --target. a.csv has 'id', '<script>alert(1)"),
        (
            ["a.csv", "--target", "kind", "--metric", "r2"],
            "--metric r2 does not suit a classification: ",
        ),
        (
            ["a.csv", "--target", "one", "--task", "regression"],
            "The target 'one' has one value only",
        ),
        (["a.csv", "--target", "kind", "--models", ","], "--models names nothing. Give names with"),
        (
            ["a.csv", "--target", "kind", "--models", "magic"],
            "--models names 'magic', which is unknown. There are 'linear', 'svm', 'forest', "
            "'boosting', 'knn', 'bayes', 'tree'.",
        ),
        (
            ["a.csv", "--target", "kind", "--augmenter", "x"],
            "--augmenter 'x' is unknown. There are 'auto', 'mixup', 'neighbor-mixup', 'gaussian', "
            "'gaussian-mixture', 'copula', 'portfolio', 'teacher-copula'.",
        ),
        (
            ["a.csv", "--target", "kind", "--augmenter", "gaussian"],
            "--augmenter gaussian takes complete numbers only, and column 'color\\x1b[31m[bold]' "
            "holds categories. Use --augmenter copula.",
        ),
        (
            ["a.csv", "--target", "kind", "--grid", "native.toml"],
            'prepare = "native" is for models with categorical_features, which '
            'LogisticRegression has not. Use prepare = "plain".',
        ),
        (
            ["a.csv", "--target", "kind", "--grid", "grid.toml"],
            "Every candidate failed; the first ended with InvalidParameterError: The 'max_depth' "
            "parameter of DecisionTreeClassifier must be ",
        ),
        (
            ["pipe", "--target", "kind"],
            "'pipe' is a pipe or a device, and a table is read more than once. Save it to a file "
            "first.",
        ),
        (["pipe"], "'pipe' is a pipe or a device"),
        (
            ["a.csv", "--target", "kind", "--out", "a.csv"],
            "--out 'a.csv' cannot be made a folder: ",
        ),
        (
            ["a.csv", "--target", "kind", "--grid", "none"],
            "There is no file 'none', which --grid na",
        ),
        (["a.csv", "--target", "kind", "--jobs", "0"], "--jobs must be a number of workers, or -1"),
        (["a.csv", "--target", "kind", "--seed", f"{2**32}"], "Invalid value for '--seed': "),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(words, told, tmp_path, monkeypatch):
    """Exit code 2, no traceback, nothing written."""
    monkeypatch.chdir(tmp_path)
    table().assign(one=7).to_csv("a.csv", index=False)
    table(5).assign(kind=list("ababa")).to_csv("five.csv", index=False)
    (tmp_path / "empty.csv").touch()
    (tmp_path / "twins.csv").write_text("x,x,y\n1,2,3\n")
    (tmp_path / "only.csv").write_text("x,y\n" + "1,a\n1,b\n" * 8)
    (tmp_path / "grid.toml").write_text("[tree]\ngrid = {max_depth = [-1]}\n")
    (tmp_path / "native.toml").write_text(
        '[m]\nestimator = "sklearn.linear_model.LogisticRegression"\nprepare = "native"\n'
    )
    os.mkfifo("pipe")
    before = set(tmp_path.iterdir())
    result = select(*words)
    assert result.exit_code == 2, result.output
    assert told in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""
    assert set(tmp_path.iterdir()) == before


@pytest.mark.skipif(not Path("/sys/kernel").is_dir(), reason="needs a folder that takes no files")
def test_a_folder_that_takes_no_files_is_refused_before_the_search(tmp_path, monkeypatch):
    """While nothing is lost yet."""
    table().to_csv(tmp_path / "a.csv", index=False)
    monkeypatch.setattr(_select, "select_model", None)
    result = select(tmp_path / "a.csv", "--target", "kind", "--out", "/sys/kernel")
    assert result.exit_code == 2, result.output
    assert "--out '/sys/kernel' cannot be written to: " in result.stderr
    assert result.stderr.endswith(". Name another folder.\n")


def test_what_to_do_next_can_be_copied(tmp_path):
    """A folder with a blank in its name is quoted."""
    table().to_csv(tmp_path / "a.csv", index=False)
    out = tmp_path / "o s"
    words = ("--target", "kind", "--models", "bayes", "--out", str(out))
    shown = " ".join(select(tmp_path / "a.csv", *words).stdout.split())
    quoted = shlex.quote(str(out / "model.skops"))
    assert f"Next: leavezero predict {quoted} TABLE" in shown


def test_no_pipe_is_read_for_predictions(tmp_path):
    """It is refused as select refuses it."""
    os.mkfifo(tmp_path / "pipe")
    result = runner.invoke(app, ["predict", "m.skops", str(tmp_path / "pipe")])
    assert result.exit_code == 2
    assert "is a pipe or a device, and a table is read more than once." in result.stderr


def test_what_fails_ends_with_1_and_debug_shows_where(tmp_path, monkeypatch):
    """One sentence, unless the user wants the traceback."""
    monkeypatch.chdir(tmp_path)
    table().to_csv("a.csv", index=False)

    def failing(prepared, wish, watch):
        raise MemoryError("no room")

    monkeypatch.setattr(_select, "select_model", failing)
    words = ("--target", "kind")
    result = select("a.csv", *words)
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-2] == "MemoryError: no room"
    assert result.stderr.endswith("Add --debug to see where.\n")
    assert "Traceback" not in result.stderr
    assert not isinstance(select("a.csv", *words, "--debug").exception, SystemExit)


def test_missing_tools_are_named(monkeypatch):
    """Without the extra both commands say what to install."""
    monkeypatch.setattr(_telling, "_TOOLS", ("pandas", "no_such_tool"))
    for words in (["select", "a.csv", "--target", "y"], ["predict", "m", "a.csv"]):
        result = runner.invoke(app, words)
        assert result.exit_code == 1
        assert "This command needs no_such_tool. Install it with: pip install" in result.stderr


def test_wrong_models_are_refused(tmp_path):
    """A model of 0 bytes ends with 2."""
    (tmp_path / "m.skops").touch()
    result = runner.invoke(app, ["predict", str(tmp_path / "m.skops"), "a.csv"])
    assert result.exit_code == 2
    assert "m.skops is empty: no model was written to it. Run select again." in result.stderr


def test_help_leads_a_newcomer():
    """Both commands stand in the first page, and each names what it needs."""
    first = runner.invoke(app, ["--help"]).output
    assert "select" in first
    assert "predict" in first
    assert "--target" in runner.invoke(app, ["select", "--help"]).output


def test_help_names_all_models_on_a_narrow_terminal():
    """None is cut off at 80 columns."""
    shown = runner.invoke(app, ["select", "--help"], env={"COLUMNS": "80", "TERM": "dumb"}).output
    for name in MODELS:
        assert re.search(rf"\b{name}\b", shown), name
