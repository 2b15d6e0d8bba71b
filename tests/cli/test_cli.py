"""Words to calls and an exit code."""

import sys

import pytest
from typer.testing import CliRunner

from leavezero import __version__
from leavezero.cli import _main
from leavezero.cli._app import app

runner = CliRunner()


def test_the_demo_prints_its_table():
    """Both ways, both data sets, and what it cost."""
    result = runner.invoke(app, ["demo", "--quick", "--jobs", "1", "--seed", "1"])
    assert result.exit_code == 0, result.output
    for word in ("breast cancer", "wine", "LZO", "10-fold CV", "fits", "seconds", "54 fits"):
        assert word in result.output


def test_the_version_is_told():
    """One place holds it."""
    assert runner.invoke(app, ["--version"]).output.strip() == f"leavezero {__version__}"


@pytest.mark.parametrize("words", [["demo", "--seed", "x"], ["demo", "--seed", "-1"], ["dance"]])
def test_wrong_words_end_with_2(words):
    """Wrong usage is told apart from failure."""
    assert runner.invoke(app, words).exit_code == 2


def test_help_names_the_commands():
    """A newcomer finds the way."""
    result = runner.invoke(app, ["--help"])
    assert result.exit_code == 0
    assert "demo" in result.output


def test_missing_tools_are_named(monkeypatch, capsys):
    """Without the extra the command says what to install."""
    monkeypatch.setattr(_main, "_NEEDED", ("rich", "no_such_tool"))
    monkeypatch.setattr(sys, "argv", ["leavezero", "demo"])
    with pytest.raises(SystemExit) as stop:
        _main.main()
    assert stop.value.code == 1
    expected = 'The command needs no_such_tool. Install it with: pip install "leavezero[app]"\n'
    assert capsys.readouterr().err == expected
