"""Two ways of choosing compared on a table, from the command line."""

import json
import re
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from leavezero.cli import _compare
from leavezero.cli._app import app

runner = CliRunner()
N = 60
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")


def table(n_rows=N):
    rng = np.random.default_rng(0)
    kinds = rng.choice(["good", "<b>&\x1b[31m"], n_rows)
    return pd.DataFrame(
        {
            "x": rng.normal(size=n_rows) + 2 * (kinds == "good"),
            "color": rng.choice(["red", "blue", None], n_rows),
            "kind": kinds,
        }
    )


def compare(path, *words):
    return runner.invoke(app, ["compare", str(path), "--jobs", "1", *words])


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """One comparison that several tests look at."""
    folder = tmp_path_factory.mktemp("compare")
    table().to_csv(folder / "train.csv", index=False)
    words = ("--target", "kind", "--models", "bayes,tree", "--cv", "3", "--out", str(folder / "o"))
    return folder / "o", compare(folder / "train.csv", *words)


def test_both_ways_stand_side_by_side(run):
    """Choice, score said, test score, regret and cost of each; and what one split can show."""
    _, result = run
    assert result.exit_code == 0, result.output
    assert "18 of 60 rows are held back to test by; 42 are to learn from." in result.stderr
    for told in (
        "accuracy on 18 rows held back",
        "leave-zero-out",
        "3-fold CV",
        "best on test rows",
        "regret",
        "CPU seconds",
        "Leave-zero-out made 12 fits in ",
        "cross validation 37 in ",
        "One split is one draw of luck: before a small difference is believed, run this again with "
        "--seed 1 and others.",
    ):
        assert told in result.stdout
    for stream in (result.stdout, result.stderr):
        assert CONTROL.search(stream) is None


def test_a_comparison_leaves_a_table_a_figure_and_all_that_repeats_it(run):
    """Every candidate has three scores, and each way one choice."""
    folder, _ = run
    names = {path.name for path in folder.iterdir()}
    assert names == {"compare.csv", "compare.json", "compare.svg"}
    rows = pd.read_csv(folder / "compare.csv")
    assert len(rows) == 12
    assert rows["test_score"].is_monotonic_decreasing
    for way in ("leave_zero_out", "cross_validation"):
        assert rows[f"chosen_by_{way}"].sum() == 1
        assert rows[f"{way}_score"].between(0, 1).all()
    page = json.loads((folder / "compare.json").read_text())
    assert page["command"].startswith("leavezero compare ")
    assert page["command"].split()[-6:-2] == ["--cv", "3", "--test-share", "0.3"]
    for way in page["ways"]:
        assert way["regret"] == pytest.approx(rows["test_score"].max() - way["test"])
    figure = ElementTree.parse(folder / "compare.svg").getroot()
    assert figure.tag == "{http://www.w3.org/2000/svg}svg"


def test_json_is_all_that_stdout_holds_and_the_seed_repeats_it(tmp_path):
    """A regression from Parquet, twice."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=40)
    pd.DataFrame({"x": x, "y": x + rng.normal(size=40)}).to_parquet(tmp_path / "a.parquet")
    words = ("--target", "y", "--models", "tree", "--cv", "2", "--json", "--quiet")
    words += ("--out", str(tmp_path / "out"), "--seed", "3", "--test-share", "0.5")
    pages = []
    for _ in range(2):
        result = compare(tmp_path / "a.parquet", *words)
        assert result.exit_code == 0, result.output
        assert result.stderr.strip() == ""
        pages.append(json.loads(result.stdout))
    assert pages[0]["candidates"] == pages[1]["candidates"]
    assert (pages[0]["task"], pages[0]["table"]["n_test"]) == ("regression", 20)
    assert pages[0]["seed"] == 3


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["none.csv"], "There is no file 'none.csv'. Check the name and the folder."),
        (["a.csv", "--cv", "1"], "--cv must be from 2 to 24, the rows of the largest class, got 1"),
        (["a.csv", "--cv", "99"], "--cv must be from 2 to 24, the rows of the largest class, got "),
        (
            ["a.csv", "--test-share", "1.5"],
            "--test-share must be between 0 and 1, got 1.5. Use 0.3",
        ),
        (
            ["a.csv", "--test-share", "0.9"],
            "--test-share 0.9 of 60 rows leaves 6 to learn from, and",
        ),
        (["a.csv", "--models", "magic"], "--models names 'magic', which is unknown. There are"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(words, told, tmp_path, monkeypatch):
    """Exit code 2, no traceback, nothing written."""
    monkeypatch.chdir(tmp_path)
    table().to_csv("a.csv", index=False)
    before = set(tmp_path.iterdir())
    result = compare(*words, "--target", "kind")
    assert result.exit_code == 2, result.output
    assert set(tmp_path.iterdir()) == before
    assert told in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


def test_the_user_stops_and_hears_that_nothing_is_left(tmp_path, monkeypatch):
    """Half a comparison says nothing."""
    table().to_csv(tmp_path / "a.csv", index=False)

    def at_once(*words):
        raise KeyboardInterrupt

    monkeypatch.setattr(_compare, "compare_ways", at_once)
    result = compare(tmp_path / "a.csv", "--target", "kind", "--out", str(tmp_path / "out"))
    assert result.exit_code == 1
    assert "Stopped before both had chosen. Nothing was written." in result.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("classes", "metric", "told"),
    [
        (
            ["lone", *["p", "n"] * 29, "p"],
            "neg_log_loss",
            "--metric neg_log_loss cannot judge the rows held back: class 'lone' is not among the "
            "rows to learn from. Use",
        ),
        (
            [f"k{at % 30}" for at in range(120)],
            "roc_auc_ovr",
            "--metric roc_auc_ovr cannot judge each of the 3 folds: class 'k0' is not there. Use",
        ),
    ],
)
def test_rows_that_a_metric_cannot_judge_are_told_before_a_fit(classes, metric, told, tmp_path):
    """A class that is only among them, or that they lack; the reason is said."""
    table(len(classes)).assign(kind=classes).to_csv(tmp_path / "a.csv", index=False)
    words = ("--target", "kind", "--models", "tree", "--cv", "3", "--metric", metric)
    result = compare(tmp_path / "a.csv", *words, "--out", str(tmp_path / "out"))
    assert result.exit_code == 2, result.output
    assert told in result.stderr
    assert result.stderr.endswith(
        ". Use accuracy or balanced_accuracy, or leave out classes of few rows.\n"
    )
    assert "Warning" not in result.stderr
    assert not (tmp_path / "out").exists()


def test_one_row_is_no_rows(tmp_path):
    """Held back, or of a class."""
    table().assign(kind=["lone", *["p", "n"] * 29, "p"]).to_csv(tmp_path / "a.csv", index=False)
    words = ("--target", "kind", "--models", "bayes", "--cv", "2", "--test-share", "0.01")
    result = compare(tmp_path / "a.csv", *words, "--out", str(tmp_path / "out"))
    assert result.exit_code == 0, result.output
    assert "The smallest class has 1 row to learn from" in result.stderr
    assert "accuracy on 1 row held back" in result.stdout
