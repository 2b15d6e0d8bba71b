"""Words to calls and an exit code."""

import sys

import pytest
from typer.testing import CliRunner

from leavezero import __version__
from leavezero.cli import _datasets, _main, _reproduce
from leavezero.cli._app import app

runner = CliRunner()


@pytest.fixture(autouse=True)
def no_variable(monkeypatch):
    monkeypatch.delenv("LEAVEZERO_DATA", raising=False)


def test_the_demo_prints_its_table():
    """Both ways, both data sets, and what it cost."""
    result = runner.invoke(app, ["demo", "--quick", "--jobs", "1", "--seed", "1"])
    assert result.exit_code == 0, result.output
    for word in ("breast cancer", "wine", "LZO", "10-fold CV", "fits", "seconds", "54 fits"):
        assert word in result.output


def test_the_version_is_told():
    """One place holds it."""
    assert runner.invoke(app, ["--version"]).output.strip() == f"leavezero {__version__}"


@pytest.mark.parametrize(
    "words", [["demo", "--seed", "x"], ["demo", "--seed", "-1"], ["dance"], ["reproduce"]]
)
def test_wrong_words_end_with_2(words):
    """Wrong usage is told apart from failure."""
    assert runner.invoke(app, words).exit_code == 2


def test_help_names_the_commands():
    """A newcomer finds the way."""
    result = runner.invoke(app, ["--help"])
    assert result.exit_code == 0
    for word in ("demo", "reproduce", "datasets"):
        assert word in result.output


def test_missing_tools_are_named(monkeypatch, capsys):
    """Without the extra the command says what to install."""
    monkeypatch.setattr(_main, "_NEEDED", ("rich", "no_such_tool"))
    monkeypatch.setattr(sys, "argv", ["leavezero", "demo"])
    with pytest.raises(SystemExit) as stop:
        _main.main()
    assert stop.value.code == 1
    expected = 'The command needs no_such_tool. Install it with: pip install "leavezero[app]"\n'
    assert capsys.readouterr().err == expected


def test_a_table_is_reproduced_and_continued(tmp_path):
    """Ours beside the paper's; what is missing is named; the second call runs nothing again."""
    words = ["reproduce", "table3", "--quick", "--set", "iris", "--set", "dim", "--repeats", "1"]
    words += ["--part", "scaled", "--jobs", "1", "--out", str(tmp_path)]
    first = runner.invoke(app, words)
    assert first.exit_code == 0, first.output
    folder = tmp_path / "table3-quick"
    lines = (folder / "scaled.jsonl").read_text()
    for word in ("iris", "94.45 ± 0.70", "not available", "the paper's printed figures"):
        assert word in first.stdout
    assert "dim is left out. No data set 'dim': no public copy" in first.stderr
    made = sorted(path.name for path in folder.iterdir())
    assert made == ["scaled-differences.svg", "scaled-time.svg", "scaled.jsonl", "tables.md"]
    tables = (folder / "tables.md").read_text()
    (folder / "scaled.jsonl").write_text(lines + '{"key"')
    again = runner.invoke(app, words)
    assert again.exit_code == 0, again.output
    assert "is torn and was dropped" in again.stderr
    assert (folder / "scaled.jsonl").read_text() == lines
    assert (folder / "tables.md").read_text() == tables
    (folder / "tables.md").unlink()
    assert runner.invoke(app, [*words[:2], "--quick", "--report", *words[-2:]]).exit_code == 0
    assert (folder / "tables.md").exists()
    (folder / "unscaled.jsonl").write_text(lines)  # a part that is not asked for now stays told
    assert runner.invoke(app, words).exit_code == 0
    assert "## unscaled" in (folder / "tables.md").read_text()
    other = runner.invoke(app, [*words, "--seed", "1"])
    assert other.exit_code == 2
    assert "belongs to another protocol (seed: 0 there, 1 here)" in other.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["table9"], "Nothing is called 'table9'. Known are table3"),
        (["table3", "--set", "moon"], "table3 has no data set 'moon'. Known are balance, breast"),
        (["table3", "--part", "raw"], "table3 has no part 'raw'. Known are scaled"),
        (["table3", "--report"], "table3 holds no finished run yet. Leave --report out to begin."),
        (["table3", "--data", "/nowhere"], "directory must be a folder of files NAME.csv.gz, got"),
    ],
)
def test_a_wrong_table_lists_the_known_ones(words, told, tmp_path):
    """One sentence, no traceback, and nothing is written."""
    result = runner.invoke(app, ["reproduce", *words, "--out", str(tmp_path / "out")])
    assert result.exit_code == 2
    assert told in result.stderr
    assert not (tmp_path / "out").exists()


def test_the_data_sets_are_listed(tmp_path):
    """With their shape and where they would come from."""
    result = runner.invoke(app, ["datasets", "list"])
    assert result.exit_code == 0, result.output
    rows = {row.split()[0]: row.split()[1:] for row in result.output.splitlines() if row.split()}
    assert rows["wine"] == ["178", "13", "3", "scikit-learn"]
    assert rows["diabetes"][:3] == ["442", "10", "numbers"]
    assert " ".join(rows["dim"][3:]).startswith("no public copy")
    assert "leavezero datasets fetch" in " ".join(rows["sonar"])
    (tmp_path / "own.csv.gz").touch()
    own = runner.invoke(app, ["datasets", "list", "--data", str(tmp_path)]).output
    assert "  own  " in own


def test_fetching_says_what_it_cannot_do(tmp_path, monkeypatch):
    """Wrong words end with 2, an unreachable OpenML with 1."""
    result = runner.invoke(app, ["datasets", "fetch", "dim", "--to", str(tmp_path)])
    assert result.exit_code == 2
    assert "OpenML is not known to hold the data set 'dim'" in result.stderr

    def nobody(name, directory):
        raise ConnectionError("OpenML could not be reached")

    monkeypatch.setattr(_datasets, "fetch", nobody)
    result = runner.invoke(app, ["datasets", "fetch", "sonar", "--to", str(tmp_path)])
    assert result.exit_code == 1
    assert "OpenML could not be reached" in result.stderr
    monkeypatch.setattr(_datasets, "fetch", lambda name, directory: directory / name)
    result = runner.invoke(app, ["datasets", "fetch", "sonar", "--to", str(tmp_path)])
    assert result.stdout.strip() == str(tmp_path / "sonar")


def test_durations_read_well():
    """Hours without seconds, minutes with them."""
    assert _reproduce._duration(75) == "1 min 15 s"
    assert _reproduce._duration(7300) == "2 h 1 min"
