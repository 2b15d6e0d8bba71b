"""Leave-zero-out and cross validation on the same candidates, judged by rows held back."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import GridSearchCV

from leavezero.tabular import (
    TableError,
    Wish,
    compare_ways,
    decide_target,
    plan_comparison,
    prepare,
)
from leavezero.tabular._comparison import _test_scores
from leavezero.tabular._folds import Judged, by_folds
from leavezero.tabular._split import hold_back, make_folds


def labels(counts):
    return np.repeat(np.arange(len(counts)), counts)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(1, 30), min_size=2, max_size=5).filter(lambda counts: sum(counts) >= 30),
    st.floats(0.1, 0.6),
    st.integers(0, 9),
)
def test_rows_held_back_are_a_share_of_each_class(counts, share, seed):
    """Every row is on one side; a class of two rows or more is on both where there is room."""
    words = np.array(["a", "b", "c", "d", "e"])[labels(counts)]
    target = decide_target(pd.DataFrame({"y": words}), "y")
    inside, outside, told = hold_back(target, share, seed)
    assert sorted([*inside, *outside]) == list(range(len(words)))
    assert len(outside) == round(share * len(words))
    assert told[0].startswith(f"{len(outside)} of {len(words)} rows ")
    for name, count in zip("abcde", counts, strict=False):
        assert (words[outside] == name).sum() == pytest.approx(share * count, abs=1.5)


def test_numbers_are_held_back_by_chance():
    """The seed decides which."""
    target = decide_target(pd.DataFrame({"y": np.arange(40) + 0.5}), "y")
    draws = [hold_back(target, 0.3, seed)[1].tolist() for seed in (0, 0, 1)]
    assert draws[0] == draws[1] != draws[2]


def test_too_few_rows_to_learn_from_are_refused():
    """The message says how many are left."""
    target = decide_target(pd.DataFrame({"y": ["a", "b"] * 6}), "y")
    with pytest.raises(TableError, match="of 12 rows leaves 8 to learn from, and 10 are needed"):
        hold_back(target, 0.3, 0)


def test_a_class_with_fewer_rows_than_folds_is_told():
    """Folds are made all the same."""
    _, told = make_folds("classification", labels([20, 3]), 5, 0)
    assert told == [
        "The smallest class has 3 rows to learn from, so that some of the 5 folds lack it."
    ]
    with pytest.raises(TableError, match="--cv must be from 2 to 4, the rows to learn from, got 5"):
        make_folds("regression", np.arange(4.0), 5, 0)


def test_equal_candidates_are_found_again():
    """One that is listed twice has one score; the winner keeps its parameters."""
    judged = Judged([{"c": 1}, {"c": 2}], np.array([0.5, 0.7]), 1, None, 2)
    found = judged.along([{"c": 2}, {"c": 1}, {"c": 1.0}])
    assert found.scores.tolist() == [0.7, 0.5, 0.5]
    assert found.best == 0


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """Return a table whose class is a threshold on x."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=80)
    path = tmp_path_factory.mktemp("comparison") / "a.csv"
    pd.DataFrame({"x": x, "z": rng.normal(size=80), "y": np.where(x > 0, "p", "n")}).to_csv(path)
    wish = Wish("y", models=("bayes", "tree"), drop=("unnamed_1",))
    return prepare(path, wish), wish


def test_folds_say_what_gridsearchcv_says(prepared):
    """Each model's scores are those of its own GridSearchCV with the same folds."""
    table, _ = prepared
    folds, _ = make_folds("classification", table.target.values, 4, 0)
    heard = []
    judged = by_folds(table, 1, table.X, table.target.values, folds, heard.append)
    pipeline, grid = table.candidates["bayes"]
    search = GridSearchCV(pipeline, grid, cv=folds).fit(table.X, table.target.values)
    assert judged.scores[:3].tolist() == search.cv_results_["mean_test_score"].tolist()
    assert [(one.n_done, one.n_all) for one in heard] == [(at, 12) for at in range(1, 13)]
    assert judged.n_fits == 4 * 12 + 1


def test_both_ways_judge_the_same_candidates(prepared):
    """Regret is what the best candidate has more; the rows tell how far the choices differ."""
    table, wish = prepared
    heard = []
    plan = plan_comparison(table.target, 3, 0.25)
    compared = compare_ways(table, wish, plan, lambda way, one: heard.append(way))
    assert len(compared.plan.outside) == 20
    assert heard == ["leave-zero-out"] * 12 + ["3-fold CV"] * 12
    for way in compared.ways:
        assert way.test + way.regret == pytest.approx(compared.best["test_score"])
        assert way.cpu_seconds is not None
    again = compare_ways(table, wish, plan)
    assert again.candidates == compared.candidates


def test_sentences_follow_the_figures(prepared):
    """The same choice, a gain, a loss, within chance or beyond it."""
    table, wish = prepared
    compared = compare_ways(table, wish, plan_comparison(table.target, 2))
    ours, theirs = compared.ways
    same = replace(compared, ways=(ours, replace(theirs, at=ours.at)))
    assert same.sentences()[0] == f"Both chose the same candidate, {ours.label}."
    assert len(same.sentences()) == 3
    worse = replace(theirs, at=ours.at + 1, test=ours.test - 0.125)
    told = replace(compared, ways=(ours, worse), nearer=(20, 4)).sentences()
    assert "the choice of leave-zero-out has 0.125 more than that of cross validation." in told[0]
    assert told[1].startswith(
        "It predicts 20 of these rows better and 4 worse, which is not within"
    )
    told = replace(compared, ways=(worse, replace(ours, at=9)), nearer=(4, 6)).sentences()
    assert "has 0.125 less than" in told[0]
    assert "which is within what chance alone gives" in told[1]
    failed = replace(ours, at=9, label="tree", test=np.nan)
    assert replace(compared, ways=(failed, theirs)).sentences()[0] == (
        "The choice of leave-zero-out, tree, has no score on the rows held back."
    )


def test_a_candidate_that_fails_has_no_score(prepared, tmp_path):
    """The others are compared without it."""
    table, wish = prepared
    grid = tmp_path / "grid.toml"
    grid.write_text("[bayes]\ngrid = {var_smoothing = [1e-9]}\n[tree]\ngrid = {max_depth = [-1]}\n")
    own = replace(wish, models=None, grid=grid)
    ready = prepare(table.source.path, own)
    compared = compare_ways(ready, own, plan_comparison(ready.target, 2))
    failed = next(one for one in compared.candidates if one["model"] == "tree")
    assert failed["test_score"] is failed["cross_validation_score"] is None
    assert compared.best["model"] == "bayes"
    assert any("1 of 2 candidates failed" in notice for notice in compared.notices)


def test_candidates_of_which_none_can_be_judged_are_told(prepared, tmp_path):
    """By folds and by the rows held back."""
    table, wish = prepared
    grid = tmp_path / "grid.toml"
    grid.write_text("[tree]\ngrid = {max_depth = [-1]}\n")
    ready = prepare(table.source.path, replace(wish, models=None, grid=grid))
    plan = plan_comparison(ready.target, 2)
    with pytest.raises(TableError, match=r"^Every candidate failed in cross validation\. Use anot"):
        by_folds(ready, 1, ready.X, ready.target.values, plan.folds)
    with pytest.raises(
        TableError, match=r"^No candidate has a score by accuracy on the rows held "
    ):
        _test_scores(ready, 1, plan)


def test_one_row_has_no_r2(tmp_path):
    """Which is told before a fit."""
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["x,y", *(f"{at * 7 % 40}.5,{at}.25" for at in range(40))]))
    wish = Wish("y", models=("bayes",))
    ready = prepare(path, wish)
    told = (
        "--metric r2 cannot judge the rows held back: its score there is no number. Use "
        "neg_mean_absolute_error, or hold back more rows in fewer folds."
    )
    with pytest.raises(TableError, match=f"^{re.escape(told)}$"):
        compare_ways(ready, wish, plan_comparison(ready.target, 2, 0.01))
