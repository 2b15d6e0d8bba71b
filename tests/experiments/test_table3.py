"""Table 3 of the paper."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from experiments.markdown import page
from experiments.paper_values import TABLE3_ACCURACY, TABLE3_COLUMNS, TABLE5_ERROR
from experiments.table3 import METHODS, PUBLISHED_METHODS, Problem, Table3, _scored, first_halves
from experiments.table3_report import printed_table, report, table3_results, table3_tables

ALL_METHODS = METHODS | PUBLISHED_METHODS


def line(data, folds, mixup, split=0, sample=0, unconverged=0):
    methods = {
        name: {"accuracy": accuracy, "power": 0, "seconds": 1.0, "unconverged": unconverged}
        for name, accuracy in {"10-fold CV": folds, "mix-up, m = n": mixup}.items()
    }
    key = {"data": data, "split": split, "sample": sample}
    return {"key": key, "result": {"methods": methods, "n_train": 70, "n_test": 30}}


def without_times(result):
    methods = {
        name: {key: value for key, value in found.items() if key != "seconds"}
        for name, found in result["methods"].items()
    }
    return {**result, "methods": methods, "wall_seconds": None}


def test_only_the_first_split_has_several_samples():
    keys = Table3(("iris", "wine"), repeats=3, samples=2).keys()
    assert [(k["split"], k["sample"]) for k in keys[::2]] == [(0, 0), (1, 0), (2, 0), (0, 1)]
    published = Table3(("iris",), repeats=9, samples=2, published=True).keys()
    assert [(key["split"], key["sample"]) for key in published] == [(0, 0), (0, 1)]


def test_run_is_reproducible_and_has_every_method():
    study = Table3(("iris",))
    key = {"data": "iris", "split": 0, "sample": 0}
    first, second, other = study(key), study(key), study({**key, "sample": 1})
    assert without_times(first) == without_times(second)
    assert tuple(first["methods"]) == tuple(METHODS)
    assert (first["n_train"], first["n_test"]) == (105, 45) == (other["n_train"], other["n_test"])
    assert all(-5 <= found["power"] <= 5 for found in first["methods"].values())


def test_cross_validation_is_that_of_scikit_learn():
    X, y = load_iris(return_X_y=True)
    model = METHODS["10-fold CV"](Problem(X, y, range(-3, 3), -1, 7))
    folds = StratifiedKFold(10, shuffle=True, random_state=7)
    grid = {"C": [2.0**power for power in range(-3, 3)]}
    expected = GridSearchCV(SVC(kernel="linear"), grid, cv=folds).fit(X, y)
    assert expected.best_params_["C"] == model.C


def test_unconverged_fits_are_counted():
    X, y = load_iris(return_X_y=True)
    problem = Problem(1000 * X, y, range(2), 3, 0)
    counts = {
        name: _scored(ALL_METHODS[name], problem, X, y)["unconverged"]
        for name in ("10-fold CV", "mix-up, m = n", "shifted labels, m = n")
    }
    assert counts == {"10-fold CV": 21, "mix-up, m = n": 2, "shifted labels, m = n": 2}


def test_shifted_labels_reward_confusion_of_classes():
    X, y = load_iris(return_X_y=True)
    rows = (y > 0) & (np.arange(150) % 3 > 0)
    problem = Problem(X[rows], np.where(y[rows] == 1, "a", "b"), range(-9, 6), -1, 0)
    right = METHODS["mix-up, m = 10 n"](problem)
    wrong = PUBLISHED_METHODS["shifted labels, m = 10 n"](problem)
    assert wrong.score(problem.X, problem.y) <= right.score(problem.X, problem.y)


def test_ties_go_to_the_largest_c_in_the_published_code():
    X = np.concatenate([np.zeros((20, 1)), np.full((20, 1), 99.0)]) + np.arange(40)[:, None] / 99
    problem = Problem(X, np.repeat([3, 8], 20), range(4), -1, 0)
    assert PUBLISHED_METHODS["10-fold CV, largest C"](problem).C == 8
    assert PUBLISHED_METHODS["shifted labels, m = n"](problem).C == 8
    assert METHODS["10-fold CV"](problem).C == 1


def test_published_part_runs_on_the_first_half_of_each_class():
    train, test = first_halves(np.array([0, 0, 1, 1, 1, 0, 0]))
    assert (train.tolist(), test.tolist()) == ([0, 1, 2, 3], [4, 5, 6])
    study = Table3(("iris",), published=True, scaled=False, max_iter=1000)
    run = study(study.keys()[0])
    assert (run["n_train"], run["n_test"]) == (75, 75)
    assert tuple(run["methods"]) == tuple(PUBLISHED_METHODS)
    assert study.protocol()["powers of C"][-1] == 15


def test_splits_and_samples_are_kept_apart():
    lines = [
        line("toy", 0.5, 0.6),
        line("toy", 0.5, 0.8, split=1),
        line("toy", 0.5, 0.1, sample=1),
    ]
    assert table3_results(lines).means("mix-up, m = n") == pytest.approx([70])
    assert table3_results(lines, "samples").means("mix-up, m = n") == pytest.approx([35])


def test_intervals_are_corrected_for_shared_rows():
    """Variance times 1/J + test rows over training rows (Nadeau and Bengio 2003)."""
    lines = [line("toy", 0.5, 0.5 + at / 10, split=at) for at in range(5)]
    middle, low, high = table3_results(lines).difference("mix-up, m = n", "toy")
    scale = np.sqrt(250 * (1 / 5 + 30 / 70))
    assert middle == pytest.approx(20)
    assert high - middle == pytest.approx(2.776445 * scale)  # t, four degrees of freedom
    assert middle - low == pytest.approx(high - middle)
    few = table3_results(lines[:4]).difference("mix-up, m = n", "toy")
    assert few[1:] == (-np.inf, np.inf)


def test_tables_have_the_values_of_the_paper():
    lines = [line("iris", 0.9, 0.95, unconverged=2), line("wine", 0.8, 0.8)]
    tables = table3_tables(table3_results(lines), "scaled", {"dim": "no copy"})
    accuracy = tables[0]
    assert accuracy.rows[0] == (
        "dim", "not available", "not available", "77.37 ± 1.52", "81.25 ± 0.00", "81.25 ± 0.00"
    )  # fmt: skip
    assert accuracy.rows[-1] == ("wins", "1", "2", "9", "7", "11")
    assert "dim: not available. no copy" in accuracy.notes
    assert len(tables) == 7
    assert tables[3].rows[0] == ("10-fold CV", "10-fold", "11.68", "11.68", "0 of 2")
    assert "| iris | 90.00 | 95.00 | 94.45 ± 0.70 | 94.34 ± 2.10 | 97.33 ± 0.32 |" in page(tables)


def test_data_set_that_the_paper_lacks_has_no_printed_value():
    [accuracy, *_] = table3_tables(table3_results([line("segment7", 0.9, 0.95)]), "scaled", {})
    assert accuracy.rows[0] == ("segment7", "90.00", "95.00", "-", "-", "-")


def test_printed_values_are_complete():
    """The wins that follow from the printed values differ from the printed wins."""
    assert (len(TABLE3_ACCURACY), len(TABLE5_ERROR)) == (20, 7)
    assert all(len(row) == len(TABLE3_COLUMNS) for row in TABLE3_ACCURACY.values())
    table = printed_table()
    assert [row[0] for row in table.rows] == list(TABLE3_COLUMNS)
    assert "The paper prints 9, 7, 11 wins" in table.notes[-1]


def test_report_draws_its_figures(tmp_path):
    lines = [line(name, 0.5, 0.6, split=s) for name in ("iris", "wine") for s in range(5)]
    report({"scaled": lines}, {}, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        "scaled-differences.svg",
        "scaled-ranks.svg",
        "scaled-time.svg",
    }
