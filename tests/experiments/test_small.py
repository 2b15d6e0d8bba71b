"""Few rows: what every way says of the candidates, and what is made of it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from leavezero.experiments import (
    REPRODUCTIONS,
    SmallDraws,
    SmallStudy,
    Wish,
    draws_pages,
    plan,
    read_lines,
    run_all,
    small_pages,
    small_results,
)
from leavezero.experiments._small import (
    choose,
    samples_of,
    spread_over_draws,
    take_sample,
)
from leavezero.experiments._small_ways import (
    DEFAULT,
    FOLDS,
    LEAVE_ONE_OUT,
    RESUBSTITUTION,
    SmallSample,
    deal_folds,
    draw_all,
    leave_one_out_hits,
    mixup_way,
    score_candidates,
    small_families,
    small_ways,
)

MIXUP = mixup_way(1.0, 10)


@pytest.fixture(autouse=True)
def no_variable(monkeypatch):
    monkeypatch.delenv("LEAVEZERO_DATA", raising=False)


def line(data="toy", n=20, sample=0, best=0.9, family="k-NN", **ways):
    found = {family: {"best": best, "ways": ways}}
    return {"key": {"data": data, "n": n, "sample": sample}, "result": {"families": found}}


def few_rows(n=60):
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X[:n]), y[:n]


@given(st.lists(st.integers(0, 4), min_size=10, max_size=40), st.integers(0, 99))
def test_folds_are_dealt_out_class_by_class(labels, seed):
    """Folds differ by one row at most, in all and in every class that stands in a row."""
    y = np.array(labels)
    folds = deal_folds(y, 10, seed)
    sizes = np.bincount(folds, minlength=10)
    assert sizes.max() - sizes.min() <= 1
    for label in np.unique(y):
        inside = np.bincount(folds[y == label], minlength=10)
        assert inside.max() - inside.min() <= 1


@pytest.mark.parametrize(
    "model",
    [SVC(kernel="linear", C=0.1), SVC(C=10.0, gamma=0.03), *map(KNeighborsClassifier, (1, 5))],
    ids=str,
)
def test_leaving_one_out_is_what_as_many_fits_say(model):
    """Whatever is saved on the way."""
    X, y = few_rows()
    hits = leave_one_out_hits(model.fit(X, y), X, y)
    expected = cross_val_predict(model, X, y, cv=LeaveOneOut()) == y
    assert hits.tolist() == expected.tolist()


def test_leaving_many_rows_out_is_dear():
    """An SVM says nothing then; neighbors always do."""
    X, y = few_rows(201)
    assert leave_one_out_hits(SVC().fit(X, y), X, y) is None
    assert len(leave_one_out_hits(KNeighborsClassifier().fit(X, y), X, y)) == 201


def test_every_way_scores_every_candidate():
    """Of 5 candidates, and a larger V begins with the smaller one."""
    X, y = few_rows()
    given = SmallSample(X[:40], y[:40], X[40:], y[40:], seed=3)
    family = small_families(X.shape[1])["k-NN"]
    scores = score_candidates(family, given, draw_all(given))
    assert set(scores) == {"test", *small_ways()}
    assert all(len(found) == 5 for found in scores.values())
    assert scores[RESUBSTITUTION][0] == 1.0
    rows, labels = given.draw(1.0, 10)
    models = [model.fit(given.X, given.y) for model in family.candidates()]
    first = [np.mean(model.predict(rows[:40]) == labels[:40]) for model in models]
    whole = [np.mean(model.predict(rows) == labels) for model in models]
    assert scores[mixup_way(1.0, 1)] == pytest.approx(first)
    assert scores[MIXUP] == pytest.approx(whole)


def test_mixed_rows_have_the_given_classes():
    """Every replicate has the label marginal of the data."""
    X, y = load_iris(return_X_y=True)
    rows, labels = SmallSample(X, y, X, y, seed=0).draw(0.1, 3)
    assert rows.shape == (450, 4)
    for replicate in range(3):
        assert np.bincount(labels[150 * replicate :][:150]).tolist() == [50, 50, 50]


def test_tied_candidates_are_chosen_with_equal_chance():
    """A candidate without a score is never chosen."""
    assert choose(np.array([0.5, 0.7, 0.7]), np.array([0.9, 0.6, 0.8])) == (
        0.7,
        pytest.approx(0.7),
    )
    assert choose(np.array([np.nan, 0.7]), np.array([0.9, 0.6])) == (0.7, 0.6)


@settings(max_examples=20)
@given(st.integers(0, 2**31 - 1))
def test_the_spread_falls_as_a_draw_grows(seed):
    """With one candidate the score of m = 10 n is a mean of ten, and its test never changes."""
    scores = np.random.default_rng(seed).random((1, 1000))
    small, large = (spread_over_draws(scores, np.array([0.8]), factor) for factor in (1, 10))
    assert small[0] / large[0] == pytest.approx(np.sqrt(10), rel=0.35)
    assert small[1:] == large[1:] == [0.0, 0.8]


def test_fewer_samples_of_more_rows_and_none_of_too_many():
    """A set needs as many rows to test on as to choose on."""
    assert [samples_of(n, 1) for n in (20, 500)] == [1, 1]
    assert [samples_of(n, 8) for n in (20, 100, 500)] == [8, 4, 2]
    keys = SmallStudy(("breast_cancer", "digits"), sizes=(200, 500), repeats=1).keys()
    assert [(key["data"], key["n"]) for key in keys] == [
        ("breast_cancer", 200),
        ("digits", 200),
        ("digits", 500),
    ]


def test_a_sample_is_standardised_by_its_own_rows():
    """And depends on its number and the seed alone."""
    key = {"data": "digits", "n": 50, "sample": 1}
    one, source = take_sample(key, 0, None)
    again, _ = take_sample(key, 0, None)
    other, _ = take_sample({**key, "sample": 2}, 0, None)
    assert source == "scikit-learn"
    assert np.abs(one.X.mean(axis=0)).max() < 1e-9
    assert (len(one.y), len(one.y_test)) == (50, 1747)
    assert np.array_equal(one.X, again.X)
    assert not np.array_equal(one.X, other.X)


def test_bias_is_signed_and_regret_is_not():
    """Means over samples first, then over data sets."""
    lines = [
        line("a", best=0.9, **{FOLDS: [0.7, 0.8, -0.06, 0.08]}),
        line("a", sample=1, best=0.8, **{FOLDS: [0.9, 0.8, 0.02, 0.04]}),
        line("b", best=1.0, **{FOLDS: [1.0, 0.9, 0.10, 0.10]}),
    ]
    results = small_results(lines)
    assert results.values("bias", "k-NN", FOLDS, 20).tolist() == pytest.approx([-2, 10])
    assert results.mean("bias of the chosen", "k-NN", FOLDS, 20) == pytest.approx(5)
    assert results.mean("absolute error", "k-NN", FOLDS, 20) == pytest.approx(8)
    assert results.mean("regret", "mean of families", FOLDS, 20) == pytest.approx(7.5)


def test_the_least_biased_is_counted_and_intervals_are_over_data_sets():
    """Three data sets have an interval, two have none."""
    ways = {FOLDS: [0.7, 0.8, -0.06, 0.1], MIXUP: [0.9, 0.8, 0.05, 0.1]}
    lines = [line(name, **ways) for name in "abc"]
    lines[0]["result"]["families"]["k-NN"]["ways"][FOLDS] = [0.7, 0.8, -0.03, 0.1]
    results = small_results(lines)
    assert results.least_biased([FOLDS, MIXUP], 20) == {FOLDS: 1, MIXUP: 2}
    middle, low, high = results.interval("bias", FOLDS, 20)
    assert (middle, high - middle) == pytest.approx((-5, 4.302653))  # t, two degrees of freedom
    assert middle - low == pytest.approx(high - middle)
    assert results.interval("bias", MIXUP, 20, FOLDS)[0] == pytest.approx(10)
    two = small_results(lines[:2])
    assert two.interval("bias", FOLDS, 20)[1:] == (-np.inf, np.inf)


def test_a_way_that_a_size_lacks_has_a_dash():
    """In the tables over families too."""
    lines = [
        line(n=20, **{FOLDS: [0.7, 0.8, -0.06, 0.1], LEAVE_ONE_OUT: [0.7, 0.8, -0.01, 0.1]}),
        line(n=500, **{FOLDS: [0.7, 0.8, -0.02, 0.1]}),
    ]
    pages = small_pages(small_results(lines), {"mushroom": "nobody has it"})
    assert pages[0].rows == ((FOLDS, "-6.00", "-2.00"), (LEAVE_ONE_OUT, "-1.00", "-"))
    assert "mushroom: not available. nobody has it" in pages[0].notes
    assert pages[7].rows == ((FOLDS, "0", "0"), (LEAVE_ONE_OUT, "1", "0"))


def test_draws_are_means_over_samples():
    """By family, n and m."""
    found = {"k-NN": {"1": [0.1, 0.02, 0.8], "10": [0.04, 0.01, 0.8], "100": [0.01, 0.0, 0.9]}}
    more = {"k-NN": {"1": [0.3, 0.02, 0.6], "10": [0.04, 0.01, 0.6], "100": [0.01, 0.0, 0.7]}}
    lines = [
        {"key": {"data": "toy", "n": 20, "sample": at}, "result": {"families": one}}
        for at, one in enumerate((found, more))
    ]
    score, test, mean = draws_pages(lines)
    assert score.rows == (("k-NN, n = 20", "20.00", "4.00", "1.00"),)
    assert test.rows == (("k-NN, n = 20", "2.00", "1.00", "0.00"),)
    assert mean.rows == (("k-NN, n = 20", "70.00", "70.00", "80.00"),)


def test_the_study_runs_repeats_and_reports(tmp_path):
    """Both parts, their tables and their figures, from lines alone."""
    reproduction = REPRODUCTIONS["small"]
    found = plan(reproduction, Wish(data=("made_gaussians",), repeats=1, quick=True))
    lines = {}
    for part, study in found.studies.items():
        keys, path = study.keys()[:1], tmp_path / f"{part}.jsonl"
        list(run_all(keys, study, path, protocol=study.protocol()))
        lines[part] = read_lines(path)
        again = study(keys[0])
        assert lines[part][0]["result"]["families"] == again["families"]
    pages = reproduction.report(lines, found.missing, tmp_path)
    assert {path.name for path in tmp_path.glob("*.svg")} == {
        "calibration.svg",
        "bias.svg",
        "spread.svg",
    }
    assert [row[0] for row in pages[0].rows] == small_ways()
    assert DEFAULT in [row[0] for row in pages[0].rows]


def test_quick_and_full_share_the_protocol():
    """Sizes, samples and sets may be added to a file."""
    quick, full = (
        plan(REPRODUCTIONS["small"], Wish(quick=q, data=("digits",))).studies for q in (True, False)
    )
    for part, study in quick.items():
        assert study.protocol() == full[part].protocol()
        assert len(study.keys()) < len(full[part].keys())
    assert SmallDraws(("digits",)).protocol() != SmallStudy(("digits",)).protocol()
    assert isinstance(quick["judged"], SmallStudy)
