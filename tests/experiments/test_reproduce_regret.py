"""The regret study behind the command."""

from dataclasses import replace

import pytest

from leavezero.experiments import REPRODUCTIONS, STUDIES, Wish, plan, read_lines, run_all
from leavezero.experiments._families import classifier_families


@pytest.fixture(autouse=True)
def no_variable(monkeypatch):
    monkeypatch.delenv("LEAVEZERO_DATA", raising=False)


def line(data="toy", split=0, **ways):
    scores = {"test": [0.7, 0.9], "5-fold CV": [0.6, 0.8], **ways}
    families = {name: {"accuracy": scores} for name in ("tree", "k-NN")}
    return {"key": {"data": data, "split": split}, "result": {"families": families}}


def test_it_is_the_study_of_the_project():
    """The same protocol, so that its lines are continued; quick has one split of bundled sets."""
    full = plan(REPRODUCTIONS["regret"], Wish())
    known = STUDIES["held-back"](None, None)
    assert full.studies["held-back"].protocol() == known.protocol()
    assert full.studies["held-back"].data == ("wine",)
    assert "glass" in full.missing
    quick = plan(REPRODUCTIONS["regret"], Wish(quick=True)).studies["held-back"]
    keys = quick.keys()
    assert [(key["data"], key["split"]) for key in keys] == [("wine", 0), ("iris", 0)]
    asked = plan(REPRODUCTIONS["regret"], Wish(data=("iris",), repeats=3, seed=4))
    assert len(asked.studies["held-back"].keys()) == 3
    assert asked.studies["held-back"].seed == 4
    assert asked.studies["unseen"].study == asked.studies["held-back"]


def test_lines_become_pages_and_figures(tmp_path):
    """Regret, the difference to folds, and bias; metrics without a line have none."""
    lines = [line(name, auto=[0.8, 0.6]) for name in ("iris", "wine")]
    pages = REPRODUCTIONS["regret"].report({"held-back": lines}, {"glass": "gone"}, tmp_path)
    assert [page.title for page in pages] == [
        "held-back, accuracy: regret in points",
        "held-back, accuracy: regret minus that of 5-fold CV, points",
        "held-back, accuracy: score minus test score of the chosen model, points",
    ]
    regret, gap, bias = pages
    assert regret.rows[1] == ("auto", "20.00", "20.00", "20.00", "20.00")
    assert regret.notes[0].endswith("Sets that the default was designed on: iris.")
    assert regret.notes[1] == "glass: not available. gone"
    assert gap.rows == (("auto", "+20.00 (+20.00 to +20.00)", "+20.00 (+20.00 to +20.00)"),)
    assert bias.rows[1][1] == "+10.00"
    assert [path.name for path in tmp_path.iterdir()] == ["held-back-accuracy.svg"]


def test_unseen_rows_and_folds_speak_of_the_same_candidates(tmp_path):
    """One that cannot tell is left out of both; a run that was not looked at too."""
    scores = {"test": [0.7, 0.9], "5-fold CV": [0.6, 0.8], "10-fold CV": [0.5, 0.9]}
    judged = [line("iris", **scores), line("wine", **scores)]
    families = {
        name: {"accuracy": {"unseen alone": found}}
        for name, found in {"tree": [-1e6, -1e6], "k-NN": [-1e6, 0.95]}.items()
    }
    looked = [{"key": judged[0]["key"], "result": {"families": families}}]
    report = REPRODUCTIONS["regret"].report
    [*_, page] = report({"held-back": judged, "unseen": looked}, {}, tmp_path)
    assert page.rows == (("k-NN", "1 of 2", "+5.00", "-10.00", "+0.00"),)


def test_one_data_set_has_no_interval(tmp_path):
    """Only its difference."""
    found = {"held-back": [line(auto=[0.8, 0.6])]}
    pages = REPRODUCTIONS["regret"].report(found, {}, tmp_path)
    assert pages[1].rows == (("auto", "+20.00", "+20.00"),)


def test_a_run_goes_the_same_path(tmp_path, monkeypatch):
    """Two families and two ways of a bundled set."""
    monkeypatch.setattr(
        "leavezero.experiments._regret.classifier_families",
        lambda n: {name: classifier_families(n)[name][:2] for name in ("k-NN", "naive Bayes")},
    )
    planned = plan(REPRODUCTIONS["regret"], Wish(quick=True, data=("iris",)))
    study = replace(planned.studies["held-back"], selectors=("mix-up", "copula"))
    path = tmp_path / "held-back.jsonl"
    list(run_all(study.keys(), study, path, protocol=study.protocol()))
    pages = REPRODUCTIONS["regret"].report({"held-back": read_lines(path)}, {}, tmp_path)
    assert {row[0] for row in pages[0].rows} >= {"mix-up", "copula", "5-fold CV", "10-fold CV"}
