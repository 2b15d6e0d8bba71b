"""The command itself: help, version, demo, exit codes and imports."""

import json
import shlex
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from leavezero import __version__
from leavezero.cli import _compare_command, _main
from leavezero.cli._commands import _parse_seconds, app
from leavezero.cli._model_specs import MODELS
from leavezero.cli._output import TableError
from leavezero.execution import OpenCheckpoint

runner = CliRunner()


def test_help_names_commands_and_models():
    first = runner.invoke(app, ["--help"])
    assert first.exit_code == 0
    for name in ("demo", "select", "predict", "compare", "checkpoint"):
        assert name in first.output
    narrow = runner.invoke(app, ["select", "--help"], env={"COLUMNS": "80", "TERM": "dumb"})
    for name in (*MODELS["classification"], "--target", "--time-budget"):
        assert name in narrow.output
    assert runner.invoke(app, ["--version"]).output.strip() == f"leavezero {__version__}"


def test_help_imports_no_heavy_package():
    code = "import sys, leavezero.cli._commands; print(sys.modules.keys() & set(sys.argv))"
    heavy = ["numpy", "pandas", "scipy", "sklearn", "skrub", "skops", "matplotlib"]
    run = subprocess.run([sys.executable, "-c", code, *heavy], capture_output=True, text=True)
    assert run.stdout.strip() == "set()"


@pytest.mark.parametrize("words", [["demo", "--seed", "x"], ["demo", "--seed", "-1"], ["dance"]])
def test_wrong_usage_exits_with_2(words):
    assert runner.invoke(app, words).exit_code == 2


def test_the_demo_prints_both_searches(monkeypatch):
    monkeypatch.setattr(_compare_command, "_DEMO_MODELS", ("bayes",))
    result = runner.invoke(app, ["demo", "--quick", "--jobs", "1", "--seed", "1"])
    assert result.exit_code == 0, result.output
    for text in ("breast cancer", "leave-zero-out", "10-fold CV", "instead of 41 fits in"):
        assert text in result.output


def test_missing_packages_are_named(monkeypatch, capsys):
    monkeypatch.setattr(_main, "_REQUIRED", ("rich", "no_such_package"))
    with pytest.raises(SystemExit) as stop:
        _main.main()
    assert stop.value.code == 1
    assert "requires no_such_package. Install with: pip install" in capsys.readouterr().err


def test_durations_are_parsed():
    for text, seconds in {"90": 90, "90s": 90, "1.5m": 90, "10M": 600, " 2h ": 7_200}.items():
        assert _parse_seconds(text) == seconds
    for text in ("", "0", "-5m", "soon", "10 days", "1e3", "٣m"):
        with pytest.raises(TableError, match="--time-budget must be a duration"):
            _parse_seconds(text)


@pytest.mark.parametrize("content", [None, b"text", b""])
def test_a_file_that_is_no_checkpoint_is_rejected(content, tmp_path):
    path = tmp_path / "other"
    if content is not None:
        path.write_bytes(content)
    result = runner.invoke(app, ["checkpoint", "show", str(path)])
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_a_checkpoint_that_no_search_has_written_is_rejected(tmp_path):
    for number, result in enumerate((5, {"params": 5}, {"params": "a", "error": 3})):
        path = tmp_path / str(number)
        with OpenCheckpoint(path, {"X": "1"}, "a search") as checkpoint:
            checkpoint.save({"key": result})
        shown = runner.invoke(app, ["checkpoint", "show", str(path)])
        assert shown.exit_code == 2
        assert "contains results that no search has written" in shown.stderr


def test_a_real_process_selects_a_model_that_predicts(tmp_path, monkeypatch):
    """With a time budget."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=80)
    frame = pd.DataFrame({"x": x, "c": rng.choice(["a", "b"], 80), "y": x + rng.normal(size=80)})
    monkeypatch.chdir(tmp_path)
    frame.to_csv("a.csv", index=False)
    words = ["select", "a.csv", "--target", "y", "--models", "bayes", "--time-budget", "2m"]
    run = [sys.executable, "-c", "from leavezero.cli import main; main()", *words, "--jobs", "1"]
    selected = subprocess.run(run, capture_output=True, text=True)
    assert selected.returncode == 0, selected.stderr
    assert "Expected r2 on new rows: " in selected.stdout
    metadata = json.loads((tmp_path / "leavezero-a" / "run.json").read_text())
    assert shlex.split(metadata["command"]) == ["leavezero", *words, "--jobs", "1"]
    predicted = runner.invoke(app, ["predict", "leavezero-a/model.skops", "a.csv"])
    assert predicted.exit_code == 0, predicted.output
    found = pd.read_csv("a-predictions.csv")
    assert np.corrcoef(found["prediction"], found["y"])[0, 1] > 0.5
