"""The paper's Table 3, its runs, its tables, and what it prints itself."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from leavezero.experiments import (
    REPRODUCTIONS,
    Page,
    Table3,
    Wish,
    count_wins,
    pages_markdown,
    paper_pages,
    plan,
    read_lines,
    run_all,
    table3_pages,
    table3_results,
    time_left,
)
from leavezero.experiments._paper_figures import TABLE3_ACCURACY, TABLE3_SECONDS, TABLE5_ERROR
from leavezero.experiments._table3 import first_halves
from leavezero.experiments._table3_ways import WAYS, Choosing, choose


@pytest.fixture(autouse=True)
def no_variable(monkeypatch):
    monkeypatch.delenv("LEAVEZERO_DATA", raising=False)


def line(name, split=0, draw=0, seconds=1.0, unconverged=0, **accuracies):
    ways = {
        way: {"accuracy": value, "seconds": seconds, "unconverged": unconverged, "power": 0}
        for way, value in accuracies.items()
    }
    result = {"ways": ways, "n_train": 70, "n_test": 30, "source": "made"}
    return {"key": {"data": name, "split": split, "draw": draw}, "result": result}


def two(name, folds, lzo, **words):
    return line(name, **words, **{"10-fold CV": folds, "mix-up, m = n": lzo})


def without_times(result):
    return {
        way: {name: value for name, value in found.items() if name != "seconds"}
        for way, found in result["ways"].items()
    }


def test_splits_and_draws_are_told_apart():
    """A key holds one split and one draw; only the first split has several draws."""
    keys = Table3(("iris", "wine"), repeats=3, draws=2).keys()
    assert [(key["split"], key["draw"]) for key in keys[::2]] == [(0, 0), (1, 0), (2, 0), (0, 1)]
    published = Table3(("iris",), repeats=9, draws=2, published=True).keys()
    assert [(key["split"], key["draw"]) for key in published] == [(0, 0), (0, 1)]


def test_a_run_repeats_and_every_way_has_its_say():
    """Same key, same numbers; a draw changes V and the folds, not the rows."""
    study = Table3(("iris",))
    key, other = {"data": "iris", "split": 0, "draw": 0}, {"data": "iris", "split": 0, "draw": 1}
    one, again, drawn = study(key), study(key), study(other)
    assert without_times(one) == without_times(again)
    assert tuple(one["ways"]) == study.ways
    assert (one["n_train"], one["n_test"]) == (105, 45) == (drawn["n_train"], drawn["n_test"])
    assert one["source"] == "scikit-learn"
    assert all(-5 <= found["power"] <= 5 for found in one["ways"].values())


def test_folds_are_grid_search_cvs():
    """The first way is scikit-learn's own."""
    X, y = load_iris(return_X_y=True)
    chosen = choose("10-fold CV", Choosing(X, y, range(-3, 3), -1, 7))
    folds = StratifiedKFold(10, shuffle=True, random_state=7)
    grid = {"C": [2.0**power for power in range(-3, 3)]}
    expected = GridSearchCV(SVC(kernel="linear"), grid, cv=folds).fit(X, y)
    assert 2.0**chosen.power == expected.best_params_["C"]


def test_fits_that_do_not_converge_are_counted():
    """By each way, its refit included."""
    X, y = load_iris(return_X_y=True)
    given = Choosing(1000 * X, y, range(2), 3, 0)
    assert choose("10-fold CV", given).unconverged == 21
    assert choose("mix-up, m = n", given).unconverged == 2
    assert choose("shifted labels, m = n", given).unconverged == 2
    with pytest.warns(ConvergenceWarning):
        given.model.fit(given.X, given.y)


def test_the_published_slip_praises_taking_one_class_for_the_next():
    """Of two separable classes the worst C wins: only an error can match a shifted label."""
    X, y = load_iris(return_X_y=True)
    rows = (y > 0) & (np.arange(150) % 3 > 0)
    given = Choosing(X[rows], np.where(y[rows] == 1, "a", "b"), range(-9, 6), -1, 0)
    right = choose("mix-up, m = 10 n", given)
    wrong = choose("shifted labels, m = 10 n", given)
    errors = [
        np.mean(
            SVC(kernel="linear", C=2.0**p).fit(given.X, given.y).predict(given.X)[given.y == "a"]
            == "b"
        )
        for p in (right.power, wrong.power)
    ]
    assert errors[1] >= errors[0]
    assert wrong.model.score(given.X, given.y) <= right.model.score(given.X, given.y)


def test_ties_go_to_the_largest_c_as_published():
    """Two far classes are told apart by every C."""
    X = np.concatenate([np.zeros((20, 1)), np.full((20, 1), 99.0)]) + np.arange(40)[:, None] / 99
    y = np.repeat([3, 8], 20)
    given = Choosing(X, y, range(0, 4), -1, 0)
    assert choose("10-fold CV, largest C", given).power == 3
    assert choose("shifted labels, m = n", given).power == 3
    assert choose("10-fold CV", given).power == 0


def test_first_halves_hold_every_class():
    """In the order of the rows."""
    train, test = first_halves(np.array([0, 0, 1, 1, 1, 0, 0]))
    assert (train.tolist(), test.tolist()) == ([0, 1, 2, 3], [4, 5, 6])


def test_the_published_variant_runs():
    """Other ways, other rows, other values of C."""
    study = Table3(("iris",), published=True, scaled=False, max_iter=1000)
    run = study(study.keys()[0])
    assert (run["n_train"], run["n_test"]) == (75, 75)
    assert tuple(run["ways"]) == study.ways
    assert study.protocol()["powers of C"][-1] == 15
    assert study.protocol()["training rows"] == "first half of each class"


def test_means_errors_and_spread_are_what_they_say():
    """Splits and draws never mix."""
    lines = [two("toy", 0.5, 0.6), two("toy", 0.5, 0.8, split=1), two("toy", 0.5, 0.1, draw=1)]
    results = table3_results(lines)
    assert results.mean("mix-up, m = n", "toy") == pytest.approx(70)
    assert results.error("mix-up, m = n", "toy") == pytest.approx(10)
    assert results.draws["mix-up, m = n"]["toy"].tolist() == pytest.approx([60, 10])
    assert table3_results(lines, over="draws").mean("mix-up, m = n", "toy") == pytest.approx(35)


def test_intervals_are_corrected_for_shared_rows():
    """Variance times 1/J + test rows over training rows (Nadeau and Bengio 2003)."""
    lines = [two("toy", 0.5, 0.5 + at / 10, split=at) for at in range(5)]
    middle, low, high = table3_results(lines).difference("mix-up, m = n", "toy")
    scale = np.sqrt(250 * (1 / 5 + 30 / 70))
    assert middle == pytest.approx(20)
    assert high - middle == pytest.approx(2.776445 * scale)  # t, four degrees of freedom
    assert middle - low == pytest.approx(high - middle)
    few = table3_results(lines[:4]).difference("mix-up, m = n", "toy")
    assert few[1:] == (-np.inf, np.inf)


def test_the_tables_show_ours_beside_the_papers():
    """And a set that could not be had keeps its row, without a number of ours."""
    lines = [two("iris", 0.9, 0.95, unconverged=2), two("wine", 0.8, 0.8)]
    pages = table3_pages(table3_results(lines), "scaled", {"dim": "nobody has it"})
    accuracy = pages[0]
    assert accuracy.rows[0] == (
        "dim", "not available", "not available", "77.37 ± 1.52", "81.25 ± 0.00", "81.25 ± 0.00"
    )  # fmt: skip
    assert accuracy.rows[1][:3] == ("iris", "90.00", "95.00")
    assert accuracy.rows[-1] == ("wins", "1", "2", "9", "7", "11")
    assert "dim: not available. nobody has it" in accuracy.notes
    titles = [page.title for page in pages]
    assert titles == [
        "scaled: accuracy in percent",
        "scaled: accuracy minus that of 10-fold CV, points",
        "scaled: ways compared over 2 data sets",
        "scaled: distance from the paper's printed accuracy, points",
        "scaled: seconds of the processor",
        "scaled: standard deviation of the accuracy over splits / over draws, points",
        "scaled: fits that reached the solver's limit, mean number in a choice",
    ]
    assert pages[3].rows[0] == ("10-fold CV", "10-fold", "11.68", "11.68", "0 of 2")
    text = pages_markdown(pages)
    assert "| iris | 90.00 | 95.00 | 94.45 ± 0.70 | 94.34 ± 2.10 | 97.33 ± 0.32 |" in text


def test_a_set_that_the_paper_lacks_has_no_printed_figure():
    """A dash stands there."""
    pages = table3_pages(table3_results([two("segment7", 0.9, 0.95)]), "scaled")
    assert pages[0].rows[0] == ("segment7", "90.00", "95.00", "-", "-", "-")
    assert [page.title for page in pages][-1].endswith("over splits / over draws, points")


def test_the_printed_figures_are_complete():
    """20 and 7 rows; the wins that follow from them are not those that are printed."""
    assert len(TABLE3_ACCURACY) == len(TABLE3_SECONDS) == 20
    assert len(TABLE5_ERROR) == 7
    columns = {at: [row[at].value for row in TABLE3_ACCURACY.values()] for at in range(3)}
    assert count_wins(columns) == {0: 8, 1: 5, 2: 11}
    [page] = paper_pages()
    assert [row[2] for row in page.rows] == ["8", "5", "11"]
    assert page.notes[-1] == "The paper prints 9, 7, 11 wins, which are its bold cells."


def test_no_lines_are_refused():
    """Nothing is made of nothing."""
    with pytest.raises(ValueError, match="Table 3 has no finished run to look at"):
        table3_results([])


def test_every_way_of_a_study_is_known():
    """In the order of the columns."""
    for study in (Table3(()), Table3((), published=True)):
        assert [way for way in WAYS if way in study.ways] == list(study.ways)


def test_the_plan_names_what_it_cannot_have():
    """The rest runs."""
    found = plan(REPRODUCTIONS["table3"], Wish(quick=True))
    assert found.studies["scaled"].data == ("iris", "wine")
    assert "no public copy" in found.missing["dim"]
    assert "leavezero datasets fetch sonar" in found.missing["sonar"]
    with pytest.raises(ValueError, match=r"No data set of table3 is available. .*'dim'"):
        plan(REPRODUCTIONS["table3"], Wish(data=("dim",)))


def test_the_plan_refuses_what_it_does_not_know(tmp_path):
    """The message lists what it knows, and a file of another shape is found before any run."""
    with pytest.raises(
        ValueError, match=r"table3 has no data set 'moon'. Known are balance, .*7\."
    ):
        plan(REPRODUCTIONS["table3"], Wish(data=("moon",)))
    with pytest.raises(ValueError, match=r"no part 'raw'. Known are scaled, unscaled, as-publ"):
        plan(REPRODUCTIONS["table3"], Wish(parts=("raw",)))
    frame = pd.DataFrame({"a": [1.0, 2.0], "target": [0, 1]})
    frame.to_csv(tmp_path / "iris.csv.gz", index=False)
    with pytest.raises(ValueError, match="has 2 rows, 1 columns and 2 classes; expected are 150"):
        plan(REPRODUCTIONS["table3"], Wish(directory=str(tmp_path), data=("wine", "iris")))


def test_quick_and_full_share_the_protocol():
    """So that a quick run is the same path; only its keys are fewer."""
    quick, full = (
        plan(REPRODUCTIONS["table3"], Wish(quick=q, data=("iris",))).studies for q in (True, False)
    )
    for part, study in quick.items():
        assert study.protocol() == full[part].protocol()
        assert len(study.keys()) < len(full[part].keys())


def test_the_time_left_is_that_of_like_runs():
    """A data set without a finished run takes the mean."""
    keys = [{"data": name, "split": split} for name in "abc" for split in (0, 1)]
    done = [
        {"key": keys[0], "result": {"wall_seconds": 2.0}},
        {"key": keys[2], "result": {"wall_seconds": 4.0}},
    ]
    assert time_left(keys, done) == pytest.approx(2 + 4 + 3 + 3)
    assert time_left(keys, done, n_workers=2) == pytest.approx(6)
    assert time_left(keys, []) is None
    assert time_left(keys[:1], done) == 0


def test_an_empty_page_is_its_title():
    """Nothing to show is shown as nothing."""
    assert Page("None", ("a",), ()).markdown() == "## None"


def test_a_killed_table_ends_as_an_uninterrupted_one(tmp_path):
    """Kill -9 at any moment, then the same call: the same tables, times excepted."""
    path = tmp_path / "scaled.jsonl"
    script = tmp_path / "work.py"
    script.write_text(
        "from leavezero.experiments import Table3, run_all\n"
        "study = Table3(('iris',), repeats=2, draws=1)\n"
        f"for _ in run_all(study.keys(), study, {str(path)!r}, protocol=study.protocol()):\n"
        "    pass\n"
    )
    process = subprocess.Popen([sys.executable, str(script)])
    while not path.exists() or path.read_text().count("\n") < 2:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert 1 <= len(read_lines(path)) < 2
    with path.open("a") as file:
        file.write('{"key": {"da')  # as if it had been writing
    study = Table3(("iris",), repeats=2, draws=1)
    with pytest.warns(UserWarning, match="is torn and was dropped"):
        list(run_all(study.keys(), study, path, protocol=study.protocol()))
    keys = study.keys()
    whole = [{"key": key, "result": study(key)} for key in keys]
    killed, straight = (
        table3_pages(table3_results(found), "x") for found in (read_lines(path), whole)
    )
    assert len(read_lines(path)) == 2
    assert [page for page in killed if "seconds" not in page.title] == [
        page for page in straight if "seconds" not in page.title
    ]


def test_another_protocol_is_refused_with_the_difference(tmp_path):
    """Scaled and unscaled lines never mix; more repeats may be added."""
    path = tmp_path / "lines.jsonl"
    study, other = Table3(("iris",)), Table3(("iris",), scaled=False, max_iter=7)
    list(run_all([], study, path, protocol=study.protocol()))
    with pytest.raises(ValueError, match=r"max_iter: 1000000 there, 7 here; scaled: True there"):
        list(run_all([], other, path, protocol=other.protocol()))
    more = Table3(("wine",), repeats=5)
    assert list(run_all([], more, path, protocol=more.protocol())) == []
