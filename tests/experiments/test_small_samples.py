"""Small samples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from experiments.small_samples import (
    ReplicateSpread,
    Sample,
    SmallSamples,
    assign_folds,
    n_samples,
    score_candidates,
    select,
    small_model_types,
    spread_over_samples,
    take_sample,
)
from experiments.small_samples_report import (
    METHODS,
    mixup_method,
    replicate_tables,
    report,
    small_results,
    small_tables,
)

FOLDS, MIXUP = "10-fold CV", mixup_method(1.0, 10)


def line(data="toy", n=20, sample=0, best=0.9, **methods):
    found = {"k-NN": {"best": best, "methods": methods}}
    return {"key": {"data": data, "n": n, "sample": sample}, "result": {"model_types": found}}


@given(st.lists(st.integers(0, 4), min_size=10, max_size=40), st.integers(0, 99))
def test_folds_are_balanced_in_every_class(labels, seed):
    y = np.array(labels)
    folds = assign_folds(y, 10, seed)
    for rows in (folds, *(folds[y == label] for label in np.unique(y))):
        sizes = np.bincount(rows, minlength=10)
        assert sizes.max() - sizes.min() <= 1


def test_every_method_scores_every_candidate():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = StandardScaler().fit_transform(X[::9][:60]), y[::9]
    sample = Sample(X[:40], y[:40], X[40:], y[40:60], seed=3)
    model_type = small_model_types(X.shape[1])["k-NN"]
    scores = score_candidates(model_type, sample)
    assert set(scores) == {"test", *METHODS}
    assert all(len(found) == 5 for found in scores.values())
    assert scores["resubstitution"][0] == 1.0
    first = sample.mixup_scores(model_type, 1.0, 10)
    assert scores[mixup_method(1.0, 1)] == pytest.approx(first[:, 0])
    assert scores[MIXUP] == pytest.approx(first.mean(axis=1))


def test_tied_candidates_have_equal_probability():
    scores, test = np.array([0.5, 0.7, 0.7]), np.array([0.9, 0.6, 0.8])
    assert select(scores, test) == (0.7, pytest.approx(0.7))
    assert select(np.array([np.nan, 0.7]), np.array([0.9, 0.6])) == (0.7, 0.6)


@settings(max_examples=20)
@given(st.integers(0, 2**31 - 1))
def test_spread_falls_with_the_size_of_the_validation_set(seed):
    scores = np.random.default_rng(seed).random((1, 1000))
    small, large = (spread_over_samples(scores, np.array([0.8]), factor) for factor in (1, 10))
    assert small[0] / large[0] == pytest.approx(np.sqrt(10), rel=0.35)
    assert small[1:] == large[1:] == [0.0, 0.8]


def test_larger_samples_are_fewer_and_need_test_rows():
    assert [n_samples(n, 8) for n in (20, 100, 500)] == [8, 4, 2]
    keys = SmallSamples(("breast_cancer", "digits"), sizes=(200, 500), repeats=1).keys()
    assert [(k["data"], k["n"]) for k in keys] == [
        ("breast_cancer", 200),
        ("digits", 200),
        ("digits", 500),
    ]


def test_sample_is_standardized_and_reproducible():
    key = {"data": "digits", "n": 50, "sample": 1}
    first, source = take_sample(key, 0, None)
    second, _ = take_sample(key, 0, None)
    other, _ = take_sample({**key, "sample": 2}, 0, None)
    assert source == "scikit-learn"
    assert np.abs(first.X.mean(axis=0)).max() < 1e-9
    assert (len(first.y), len(first.y_test)) == (50, 1747)
    assert np.array_equal(first.X, second.X)
    assert not np.array_equal(first.X, other.X)


def test_means_over_samples_come_before_means_over_data_sets():
    lines = [
        line("a", best=0.9, **{FOLDS: [0.7, 0.8, -0.06, 0.08]}),
        line("a", sample=1, best=0.8, **{FOLDS: [0.9, 0.8, 0.02, 0.04]}),
        line("b", best=1.0, **{FOLDS: [1.0, 0.9, 0.10, 0.10]}),
    ]
    results = small_results(lines)
    assert results.values("bias", "k-NN", FOLDS, 20).tolist() == pytest.approx([-2, 10])
    assert results.mean("bias of the selected", "k-NN", FOLDS, 20) == pytest.approx(5)
    assert results.mean("absolute error", "k-NN", FOLDS, 20) == pytest.approx(8)
    assert results.mean("regret", "mean of model types", FOLDS, 20) == pytest.approx(7.5)


def test_intervals_are_over_data_sets():
    methods = {FOLDS: [0.7, 0.8, -0.06, 0.1], MIXUP: [0.9, 0.8, 0.05, 0.1]}
    lines = [line(name, **methods) for name in "abc"]
    lines[0]["result"]["model_types"]["k-NN"]["methods"][FOLDS] = [0.7, 0.8, -0.03, 0.1]
    results = small_results(lines)
    assert results.least_biased([FOLDS, MIXUP], 20) == {FOLDS: 1, MIXUP: 2}
    middle, _, high = results.interval("bias", FOLDS, 20)
    assert (middle, high - middle) == pytest.approx((-5, 4.302653))  # t, two degrees of freedom
    assert results.interval("bias", MIXUP, 20, FOLDS)[0] == pytest.approx(10)
    assert small_results(lines[:2]).interval("bias", FOLDS, 20)[1:] == (-np.inf, np.inf)


def test_missing_method_is_a_dash():
    lines = [
        line(n=20, **{FOLDS: [0.7, 0.8, -0.06, 0.1], "leave-one-out": [0.7, 0.8, -0.01, 0.1]}),
        line(n=500, **{FOLDS: [0.7, 0.8, -0.02, 0.1]}),
    ]
    tables = small_tables(small_results(lines), {"mushroom": "no file"})
    assert tables[0].rows == [(FOLDS, "-6.00", "-2.00"), ("leave-one-out", "-1.00", "-")]
    assert "mushroom: not available. no file" in tables[0].notes
    assert tables[7].rows == [(FOLDS, "0", "0"), ("leave-one-out", "1", "0")]


def test_replicate_tables_are_means_over_samples():
    first = {"k-NN": {"1": [0.1, 0.02, 0.8], "10": [0.04, 0.01, 0.8], "100": [0.01, 0.0, 0.9]}}
    second = {"k-NN": {"1": [0.3, 0.02, 0.6], "10": [0.04, 0.01, 0.6], "100": [0.01, 0.0, 0.7]}}
    lines = [
        {"key": {"data": "toy", "n": 20, "sample": at}, "result": {"model_types": found}}
        for at, found in enumerate((first, second))
    ]
    score, test, mean = replicate_tables(lines)
    assert score.rows == [("k-NN, n = 20", "20.00", "4.00", "1.00")]
    assert test.rows == [("k-NN, n = 20", "2.00", "1.00", "0.00")]
    assert mean.rows == [("k-NN, n = 20", "70.00", "70.00", "80.00")]


def test_both_parts_run_and_draw_their_figures(tmp_path):
    lines = {}
    for part, study in {
        "scores": SmallSamples(("simulated_gaussians",), (20,), 1),
        "replicates": ReplicateSpread(("simulated_gaussians",), (20,), 1),
    }.items():
        [key] = study.keys()
        lines[part] = [{"key": key, "result": study(key)}]
    tables = report(lines, {}, tmp_path)["tables"]
    assert {path.stem for path in tmp_path.glob("*.svg")} == {"calibration", "bias", "spread"}
    assert [row[0] for row in tables[0].rows] == list(METHODS)
