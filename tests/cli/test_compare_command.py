"""Leave-zero-out against cross-validation on a table, from the command line."""

import json
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from leavezero.cli import _compare_command
from leavezero.cli._commands import app

runner = CliRunner()


def table(n_rows=60):
    rng = np.random.default_rng(0)
    kinds = rng.choice(["good", "<b>&"], n_rows)
    return pd.DataFrame(
        {
            "x": rng.normal(size=n_rows) + 2 * (kinds == "good"),
            "color": rng.choice(["red", "blue", None], n_rows),
            "kind": kinds,
        }
    )


def compare(path, *words):
    return runner.invoke(app, ["compare", str(path), "--jobs", "1", *map(str, words)])


def test_both_searches_are_compared_and_written(tmp_path):
    table().to_csv(tmp_path / "a.csv", index=False)
    words = ("--target", "kind", "--models", "bayes,tree", "--cv", 3, "--out", tmp_path / "o")
    result = compare(tmp_path / "a.csv", *words)
    assert result.exit_code == 0, result.output
    assert "42 rows are for training; 18 rows are held out." in result.stderr
    for text in ("leave-zero-out", "3-fold CV", "best on held-out rows", "regret", "40 fits in"):
        assert text in result.stdout
    rows = pd.read_csv(tmp_path / "o" / "compare.csv")
    assert len(rows) == 13
    assert rows["test_score"].is_monotonic_decreasing
    for search in ("leave_zero_out", "cross_validation"):
        assert rows[f"selected_by_{search}"].sum() == 1
        assert rows[f"{search}_score"].between(0, 1).all()
    found = json.loads((tmp_path / "o" / "compare.json").read_text())
    for one in found["searches"]:
        assert one["regret"] == pytest.approx(rows["test_score"].max() - one["test_score"])
    figure = ElementTree.parse(tmp_path / "o" / "compare.svg").getroot()
    assert figure.tag == "{http://www.w3.org/2000/svg}svg"


def test_a_regression_is_repeated_by_its_seed(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=40)
    pd.DataFrame({"x": x, "y": x + rng.normal(size=40)}).to_parquet(tmp_path / "a.parquet")
    words = ("--target", "y", "--models", "tree,linear", "--cv", 2, "--json", "--quiet")
    words += ("--out", tmp_path / "out", "--seed", 3, "--test-size", 0.5)
    runs = [compare(tmp_path / "a.parquet", *words) for _ in range(2)]
    assert [one.exit_code for one in runs] == [0, 0], runs[0].output
    assert runs[0].stderr.strip() == ""
    first, second = (json.loads(one.stdout) for one in runs)
    assert first["candidates"] == second["candidates"]
    assert (first["task"], first["n_test"], first["seed"]) == ("regression", 20, 3)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--cv", "1"], "--cv must be between 2 and"),
        (["--cv", "99"], "the number of training rows of the largest class, got 99"),
        (["--test-size", "1.5"], "--test-size must be between 0 and 1"),
        (["--test-size", "0.9"], "leave at least 10 of 60 rows for training, got 0.9"),
        (["--target", "rare", "--metric", "roc_auc"], "has no value on the held-out rows"),
        (["--models", "magic"], "--models must name models, got 'magic'"),
    ],
)
def test_wrong_options_are_explained(words, message, tmp_path, monkeypatch):
    """Exit code 2, nothing written."""
    monkeypatch.chdir(tmp_path)
    table().assign(rare=["a"] + ["b"] * 59).to_csv("a.csv", index=False)
    result = compare("a.csv", *([] if "--target" in words else ["--target", "kind"]), *words)
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_failing_candidates_have_no_score(tmp_path):
    table().to_csv(tmp_path / "a.csv", index=False)
    (tmp_path / "grid.toml").write_text('[bad]\nestimator = "sklearn.svm.SVC"\ngrid = {C = [-1]}\n')
    words = ("--target", "kind", "--models", "bayes", "--cv", 2, "--grid", tmp_path / "grid.toml")
    result = compare(tmp_path / "a.csv", *words, "--json", "--out", tmp_path / "o")
    assert result.exit_code == 0, result.output
    last = json.loads(result.stdout)["candidates"][-1]
    assert (last["model"], last["test_score"]) == ("bad", None)


def test_an_interrupted_comparison_writes_nothing(tmp_path, monkeypatch):
    table().to_csv(tmp_path / "a.csv", index=False)

    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(_compare_command, "_cross_validate", interrupted)
    result = compare(
        tmp_path / "a.csv", "--target", "kind", "--models", "bayes", "--out", tmp_path / "o"
    )
    assert result.exit_code == 1
    assert "Nothing was written." in result.stderr
    assert not (tmp_path / "o").exists()
