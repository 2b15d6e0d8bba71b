import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

from leavezero import CandidateSearchLZO
from leavezero.augment import GaussianAugmenter
from leavezero.cli._app import app

X, Y = load_iris(return_X_y=True)


def show(path):
    """Return what the command prints, and its exit code."""
    done = CliRunner().invoke(app, ["journal", "show", str(path)])
    return done.output, done.exit_code


def test_a_journal_is_shown_without_being_changed(tmp_path):
    """The search, each finished candidate, and no markup or control character of theirs."""
    path = tmp_path / "search.sqlite"
    odd = "[red]\x1b[31mtree"
    candidates = {odd: (DecisionTreeClassifier(), {"max_depth": [1, 2]})}
    params = {"augmenter": GaussianAugmenter(), "n_replicates": 2, "random_state": 7}
    CandidateSearchLZO(candidates, journal=path, **params).fit(X, Y)
    before = path.read_bytes()
    said, code = show(path)
    assert code == 0
    assert "2 finished, 0 in work" in said
    assert "of shape (150, 4)" in said
    assert "[red]" in said
    assert "\x1b" not in said
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "There is no file"), (b"Dear diary", "is no journal"), (b"", "is no journal")],
)
def test_what_is_no_journal_is_said_in_one_sentence(tmp_path, content, said):
    """With the exit code of a mistaken call."""
    path = tmp_path / "other"
    if content is not None:
        path.write_bytes(content)
    printed, code = show(path)
    assert code == 2
    assert said in printed
    assert "Traceback" not in printed
