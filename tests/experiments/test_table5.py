"""Table 5 of the paper."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs, make_moons
from sklearn.model_selection import ParameterGrid

from experiments.paper_values import TABLE5_ERROR
from experiments.table5 import (
    GRID,
    Table5,
    labeled_fold_accuracy,
    method_scores,
    run_methods,
    sampled_rows,
    selected,
)
from experiments.table5_report import METHODS, report, table5_results
from leavezero import GridSearchLZO
from leavezero.semi_supervised import SMIRClassifier

SMALL_GRID = {"width": [0.2, 1.0], "gamma": [1e-3, 1e-1, 1e1], "offset": [1e-6]}


def moons(n_labels=12, n_rows=60):
    """Return rows, and codes with -1 where there is no label."""
    X, y = make_moons(n_rows, noise=0.2, random_state=0)
    return X, np.where(np.arange(n_rows) < n_labels, y, -1)


def line(name, folds, default, split=0, least_labels=2):
    methods = {"2-fold CV": {"error": folds}, "default": {"error": default}}
    result = {"methods": methods, "oracle": 0.1, "least_labels": least_labels}
    return {"key": {"data": name, "split": split}, "result": result}


@pytest.mark.parametrize("drop_held_out", [False, True])
def test_labels_of_a_fold_are_hidden(drop_held_out):
    """A kernel so narrow that only a row's own label counts has no better than chance accuracy."""
    X, y = moons(40)
    narrow = [SMIRClassifier(width=1e-3)]
    found = labeled_fold_accuracy(narrow, X, y, n_folds=5, drop_held_out=drop_held_out)
    assert found[0] < 0.8
    assert SMIRClassifier(width=1e-3).fit(X, y).score(X[:40], y[:40]) == 1.0


def test_class_with_labels_in_one_fold_is_never_predicted():
    X = np.array([[0.0], [0.1], [5.0], [5.1]])
    found = labeled_fold_accuracy([SMIRClassifier()], X, np.array([0, 0, 1, -1]))
    assert_allclose(found, [2 / 3])


@pytest.mark.parametrize(("n_rows", "sizes"), [(1500, (400, 100, 40)), (400, (320, 80, 32))])
def test_samples_have_the_sizes_of_the_paper_on_smir(n_rows, sizes):
    y = np.arange(n_rows) % 6
    for split in range(5):
        train, test, labeled = sampled_rows(y, 0, split)
        assert (len(train), len(test), len(labeled)) == sizes
        assert set(labeled) <= set(train)
        assert not set(test) & set(train)
        assert len(np.unique(y[labeled])) == 6
    assert_array_equal(sampled_rows(y, 0, 1)[2], sampled_rows(y, 0, 1)[2])


def test_default_is_the_search_of_users():
    X, y = moons()
    search = GridSearchLZO(SMIRClassifier(), SMALL_GRID, random_state=0).fit(X, y)
    scores = method_scores(X, y, 0, full=False, grid=SMALL_GRID)["default"]
    params = list(ParameterGrid(SMALL_GRID))
    assert params[selected("default", scores, params)] == search.best_params_


def test_ties_go_to_the_widest_kernel_except_in_the_search():
    params = list(ParameterGrid(GRID))
    first, last = (params[selected(m, np.zeros(125), params)] for m in ("2-fold CV", "default"))
    assert first == {"width": 1.0, "gamma": 1e-7, "offset": 1e-10}
    assert last == {"width": 1 / 15, "gamma": 1e-7, "offset": 1e-10}


def test_run_has_every_method_and_no_error_below_the_oracle():
    X, y = moons()
    test = make_moons(50, noise=0.2, random_state=1)
    run = run_methods(X, y, test, 0, full=True, grid=SMALL_GRID)
    assert set(run["methods"]) == set(METHODS)
    assert min(found["error"] for found in run["methods"].values()) >= run["oracle"]
    assert (run["n_labels"], run["n_test"]) == (12, 50)
    short = run_methods(X, y, test, 0, full=False, grid=SMALL_GRID)
    assert set(short["methods"]) < set(METHODS)


@pytest.mark.filterwarnings("ignore::leavezero.exceptions.SmallClassWarning")
def test_without_loo_scores_the_validation_score_decides():
    """A class with one label has no LOO score."""
    X, y = make_blobs(60, centers=3, random_state=0)
    few = np.full(60, -1)
    for label, count in enumerate((1, 3, 3)):
        few[np.flatnonzero(y == label)[:count]] = label
    scores = method_scores(X, few, 0, full=False, grid=SMALL_GRID)
    assert not scores["LOO score"].any()
    assert_allclose(scores["default"], scores["validation score, m = 10 n"])


def test_book_has_twelve_splits():
    assert len(Table5(("bci", "coil"), repeats=30).keys()) == 60
    assert len(Table5(("bci",), repeats=30, n_labels=10).keys()) == 12


def test_run_on_a_split_of_the_book():
    study = Table5(("bci",), repeats=1, n_labels=10)
    result = study(study.keys()[0])
    assert (result["n_train"], result["n_test"], result["n_labels"]) == (400, 390, 10)


def test_regret_is_the_error_above_the_oracle():
    lines = [line("a", 0.3, 0.2), line("a", 0.5, 0.2, split=1), line("b", 0.2, 0.1)]
    results = table5_results(lines)
    assert results.regrets("2-fold CV").to_dict() == pytest.approx({"a": 30.0, "b": 10.0})
    assert results.regrets("default").to_dict() == pytest.approx({"a": 10.0, "b": 0.0})
    middle, low, high = results.difference("default")
    assert middle == pytest.approx(-15.0)
    assert low < middle < high
    assert results.difference_over_splits("default") == pytest.approx((-10.0, -np.inf, np.inf))


def test_tables_have_the_values_of_the_paper(tmp_path):
    lines = [line("usps", 0.3, 0.2), line("usps", 0.4, 0.2, split=1), line("bci", 0.2, 0.1)]
    errors, regrets, comparison = report({"sampled": lines}, {"text": "No file."}, tmp_path)[
        "tables"
    ]
    assert errors.rows[1][1] == "35.00 ± 5.00"
    assert errors.rows[1][-3:] == tuple(map(str, TABLE5_ERROR["usps"]))
    assert errors.rows[0][-3:] == ("-", "-", "-")
    assert "text: not available. No file." in errors.notes
    assert regrets.rows[-1] == ("mean", "17.50", "5.00")
    assert comparison.rows[1][4] == "2 of 2"


def test_tables_of_the_book_have_none(tmp_path):
    lines = [line("usps", 0.3, 0.2), line("usps", 0.4, 0.2, split=1, least_labels=1)]
    [errors, _, comparison] = report({"book-10": lines}, {}, tmp_path)["tables"]
    assert errors.header == ("data", "2-fold CV", "default", "oracle")
    assert any("usps 50%" in note for note in errors.notes)
    assert comparison.rows[0][1:] == ("25.00", "-", "-", "-", "-")
