"""Leave-zero-out against cross-validation on a table, from the command line."""

import json

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


def test_both_searches_are_compared_on_each_split(tmp_path):
    table().to_csv(tmp_path / "a.csv", index=False)
    words = ("--target", "kind", "--models", "bayes", "--cv", 3, "--out", tmp_path / "o")
    result = compare(tmp_path / "a.csv", *words, "--repeats", 2, "--augmenter", "copula")
    assert result.exit_code == 0, result.output
    assert "42 rows are for training; 18 rows are held out." in result.stderr
    for text in ("leave-zero-out", "3-fold CV", "over 2 splits, 18 held-out rows each", "13"):
        assert text in result.stdout
    assert "Mean difference in held-out accuracy, leave-zero-out minus CV: " in result.stdout
    rows = pd.read_csv(tmp_path / "o" / "compare.csv")
    assert rows["split"].tolist() == [1, 1, 2, 2]
    assert rows["held_out_score"].between(0.5, 1).all()
    found = json.loads((tmp_path / "o" / "compare.json").read_text())
    for one in found["methods"]:
        own = rows[rows["method"] == one["method"]]
        assert one["held_out_score"] == pytest.approx(own["held_out_score"].mean())
        assert one["seconds"] > 0
    ours, theirs = (rows["held_out_score"][first::2].to_numpy() for first in (0, 1))
    assert found["difference"]["mean"] == pytest.approx((ours - theirs).mean())
    assert (tmp_path / "o" / "compare.png").read_bytes().startswith(b"\x89PNG")


def test_a_regression_is_repeated_by_its_seed(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=40)
    pd.DataFrame({"x": x, "y": x + rng.normal(size=40)}).to_parquet(tmp_path / "a.parquet")
    words = ("--target", "y", "--models", "tree,linear", "--cv", 2, "--json", "--quiet")
    words += ("--out", tmp_path / "out", "--seed", 3, "--test-size", 0.5, "--repeats", 1)
    runs = [compare(tmp_path / "a.parquet", *words) for _ in range(2)]
    assert [one.exit_code for one in runs] == [0, 0], runs[0].output
    assert runs[0].stderr.strip() == ""
    first, second = (json.loads(one.stdout) for one in runs)
    for one, other in zip(first["splits"], second["splits"], strict=True):
        assert (one | {"seconds": 0}) == (other | {"seconds": 0})
    assert (first["task"], first["n_test"], first["seed"]) == ("regression", 20, 3)
    assert first["difference"]["half_width"] is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--cv", "1"], "--cv must be between 2 and"),
        (["--cv", "99"], "the number of training rows of the largest class, got 99"),
        (["--repeats", "0"], "--repeats must be at least 1, got 0"),
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


def test_failing_candidates_are_not_selected(tmp_path):
    table().to_csv(tmp_path / "a.csv", index=False)
    (tmp_path / "grid.toml").write_text('[bad]\nestimator = "sklearn.svm.SVC"\ngrid = {C = [-1]}\n')
    words = ("--target", "kind", "--models", "bayes", "--cv", 2, "--grid", tmp_path / "grid.toml")
    words += ("--repeats", 1, "--json", "--out", tmp_path / "o")
    result = compare(tmp_path / "a.csv", *words)
    assert result.exit_code == 0, result.output
    for row in json.loads(result.stdout)["splits"]:
        assert row["selected"].startswith("bayes")


def test_an_interrupted_comparison_writes_nothing(tmp_path, monkeypatch):
    table().to_csv(tmp_path / "a.csv", index=False)

    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(_compare_command, "_grid_search", interrupted)
    result = compare(
        tmp_path / "a.csv", "--target", "kind", "--models", "bayes", "--out", tmp_path / "o"
    )
    assert result.exit_code == 1
    assert "Nothing was written." in result.stderr
    assert not (tmp_path / "o").exists()
