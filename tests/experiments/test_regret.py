"""The regret study scores what it says it scores."""

import pytest
from sklearn.datasets import load_iris

from leavezero.experiments import (
    HELD_BACK,
    STUDIES,
    TUNED_ON,
    RegretStudy,
    draw_regret,
    read_lines,
    regret_table,
    run_all,
)
from leavezero.experiments import _regret as regret_module


@pytest.fixture
def few_candidates(monkeypatch):
    """Keep two candidates of three families, so that a run takes a second."""
    full = regret_module.classifier_families

    def few(n_columns):
        return {name: full(n_columns)[name][:2] for name in ("k-NN", "logistic", "tree")}

    monkeypatch.setattr(regret_module, "classifier_families", few)


def line(data, split=0, **ways):
    scores = {"test": [0.5, 0.9, 0.7], **ways}
    return {
        "key": {"data": data, "split": split},
        "result": {"families": {"tree": {"accuracy": scores}, "k-NN": {"accuracy": scores}}},
    }


def test_regret_and_bias_are_what_they_say():
    """Best minus chosen, and own score minus test score, in points."""
    table = regret_table([line("one", auto=[0.1, 0.2, 0.8])])
    assert table.mean("auto", "tree") == pytest.approx(20)
    assert table.mean_bias("auto", "tree") == pytest.approx(10)
    assert table.mean("auto", "pool") == pytest.approx(20)
    assert table.mean("auto", "mean") == pytest.approx(20)


def test_tied_candidates_are_chosen_with_equal_chance():
    """NaN is never chosen."""
    table = regret_table([line("one", auto=[0.8, 0.8, float("nan")])])
    assert table.mean("auto", "tree") == pytest.approx(90 - 70)


def test_splits_are_averaged_before_data_sets():
    """A data set with many splits counts once."""
    lines = [line("one", split, auto=[1, 0, 0]) for split in range(3)]
    lines.append(line("two", auto=[0, 1, 0]))
    assert regret_table(lines).mean("auto", "tree") == pytest.approx((40 + 0) / 2)


def test_the_paired_interval_is_students():
    """Two data sets with differences of 0 and 40 points."""
    lines = [
        line("one", auto=[0, 1, 0], cv=[0, 1, 0]),
        line("two", auto=[1, 0, 0], cv=[0, 1, 0]),
    ]
    middle, low, high = regret_table(lines).difference("auto", "cv", "tree")
    assert middle == pytest.approx(20)
    assert high - middle == pytest.approx(6.313752 * 20, rel=1e-5)  # t with one degree of freedom
    assert low < 0 < high
    one = regret_table(lines[:1]).difference("auto", "cv", "tree")
    assert one[1:] == (float("-inf"), float("inf"))


@pytest.mark.usefixtures("few_candidates")
def test_a_run_repeats_and_can_be_drawn(tmp_path):
    """From data to a figure."""
    study = RegretStudy(("iris", "breast_cancer"), "classes", ("mix-up",), n_splits=1, max_rows=60)
    path = tmp_path / "study.jsonl"
    for _ in run_all(study.keys(), study, path, protocol=study.protocol()):
        pass
    [cancer, iris] = read_lines(path)
    again = study(iris["key"])
    assert again["families"] == iris["result"]["families"]
    assert set(iris["result"]["families"]["k-NN"]) == {
        "accuracy",
        "balanced_accuracy",
        "neg_log_loss",
    }
    assert "roc_auc" in cancer["result"]["families"]["k-NN"]
    scores = iris["result"]["families"]["k-NN"]["accuracy"]
    assert list(scores) == sorted(scores)
    assert scores["resubstitution"][0] == 1.0
    table = regret_table([cancer, iris])
    draw_regret(table, tmp_path / "figure.svg", title="iris")
    assert "<svg" in (tmp_path / "figure.svg").read_text()
    assert table.markdown().count("\n") == 1 + len(table.ways)


def test_folds_score_as_grid_search_does():
    """The mean over folds, each by scikit-learn's own scorer."""
    X, y = load_iris(return_X_y=True)
    study = RegretStudy(("iris",), "classes", ())
    run = regret_module.RegretRun(study, (X, X, y, y), 0)
    tree = regret_module.classifier_families(4)["tree"][0]
    found = run.by_folds(tree, 5, ["accuracy"])
    assert 0.9 < found["accuracy"] <= 1


def test_the_halves_share_no_data():
    """Heart and clever share rows and stand on one side."""
    assert not set(TUNED_ON) & set(HELD_BACK)
    assert {"heart", "clever"} <= set(HELD_BACK)
    for name, make in STUDIES.items():
        keys = make(None, 1).keys()
        assert {key["split"] for key in keys} == {0}, name
