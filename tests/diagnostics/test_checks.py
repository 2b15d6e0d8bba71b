"""The checks of a search: what they measure and when they warn."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from leavezero.augment import (
    CopulaAugmenter,
    FixedValidationSet,
    LabelInvariantMixup,
    PseudoLabeled,
    ValidationSet,
)
from leavezero.diagnostics import (
    THRESHOLDS,
    CandidateScores,
    CheckInputs,
    PermutationScores,
    run_checks,
)

CODES = [f"LZ{number:02}" for number in (1, 3, 4, 5, 7, 8, 10, 11, 12, 13)]


def two_normal_classes(n_rows=120, n_columns=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.tile([0, 1], n_rows // 2)
    return rng.normal(size=(n_rows, n_columns)) + y[:, None], y


def make_inputs(augmenter=None, **changes):
    X, y = two_normal_classes()
    augmenter = (augmenter or CopulaAugmenter()).fit(X, y)
    return CheckInputs(X, y, np.array([0, 1]), augmenter.sample(300, 0), augmenter, **changes)


def make_scores(scores=(0.7, 0.9, 0.8), **changes):
    scores = np.asarray(scores, dtype=float)
    best = int(scores.argmax())
    fields = {
        "metric": "accuracy",
        "params": [{"C": 10.0**index} for index in range(len(scores))],
        "scores": scores,
        "resampled": np.tile(scores[:, None], 50),
        "validation": scores,
        "held_out": np.full(len(scores), np.nan),
        "best": best,
        "tied": (best,),
        "bias_corrected": float(scores.max()),
        "standard_error": 0.02,
    }
    return CandidateScores(**fields | changes)


def run(code, inputs):
    return run_checks(inputs, [code])[code]


def run_on_scores(code, *args, **changes):
    X, y = two_normal_classes(20)
    scores = make_scores(*args, **changes)
    return run(code, CheckInputs(X, y, np.array([0, 1]), None, None, scores))


def test_report_has_every_check_once_in_order():
    X, y = two_normal_classes()
    minimal = run_checks(CheckInputs(X, y, np.array([0, 1]), None, None))
    assert [check.code for check in minimal] == CODES
    applicable = {check.code for check in minimal if check.level != "not applicable"}
    assert applicable == {"LZ08", "LZ11"}
    assert [check.code for check in run_checks(make_inputs(candidates=make_scores()))] == CODES


@pytest.mark.parametrize("code", sorted(THRESHOLDS))
@given(values=st.tuples(st.floats(-2, 50), st.floats(-2, 50)))
def test_worse_values_never_have_a_lower_level(code, values):
    order = {"ok": 0, "note": 1, "warning": 2}
    better, worse = sorted(values, reverse=THRESHOLDS[code].low_is_bad)
    assert order[THRESHOLDS[code].level(better)] <= order[THRESHOLDS[code].level(worse)]


def test_label_distribution_counts_labels_and_weights():
    inputs = make_inputs()
    validation_set = inputs.validation_set
    assert run("LZ01", inputs).level == "ok"
    one_class = replace(validation_set, y=np.zeros(300, dtype=int))
    assert run("LZ01", replace(inputs, validation_set=one_class)).level == "warning"
    weighted = replace(validation_set, sample_weight=np.where(validation_set.y == 0, 1.0, 0.1))
    assert run("LZ01", replace(inputs, validation_set=weighted)).level == "warning"


def test_label_distribution_bins_regression_targets(rng):
    X, y = rng.normal(size=(200, 2)), rng.normal(size=200)
    validation_set = ValidationSet(rng.normal(size=(500, 2)), rng.normal(size=500))
    inputs = CheckInputs(X, y, None, validation_set, FixedValidationSet(X, y))
    assert run("LZ01", inputs).level == "ok"
    shifted = replace(validation_set, y=validation_set.y + 1)
    assert run("LZ01", replace(inputs, validation_set=shifted)).level == "warning"


def test_leakage_is_0_for_copies_and_1_for_new_rows():
    X, y = two_normal_classes(n_columns=12)
    copies = CheckInputs(X, y, np.array([0, 1]), ValidationSet(X[:50], y[:50]), None)
    assert run("LZ03", copies).value == 0.0
    new_rows = replace(copies, validation_set=ValidationSet(*two_normal_classes(400, 12, seed=1)))
    assert run("LZ03", new_rows).value == pytest.approx(1.0, abs=0.1)
    mixup = LabelInvariantMixup().fit(X, y)
    mixed = replace(copies, validation_set=mixup.sample(300, 0), augmenter=mixup)
    assert run("LZ03", mixed).level == "warning"
    assert 'augmenter="auto"' in run("LZ03", mixed).advice
    assert "cv_finalists=5" in run("LZ03", replace(mixed, default_augmenter=True)).advice


def test_permuted_labels_are_compared_with_the_margin_of_the_best_candidate():
    fair = make_inputs(
        candidates=make_scores(), permutation=PermutationScores((0.51, 0.5), (0.5, 0.5))
    )
    assert run("LZ04", fair).level == "ok"
    optimistic = replace(fair, permutation=PermutationScores((0.9, 0.5), (0.5, 0.5)))
    assert run("LZ04", optimistic).level == "warning"
    assert run("LZ04", optimistic).value == pytest.approx(1.0)
    assert run_checks(optimistic, ["LZ04"]).n_fits == 2
    assert "permutation=True" in run_on_scores("LZ04").message


def test_stability_warns_if_the_best_candidate_is_seldom_first(rng):
    assert run_on_scores("LZ05").level == "ok"
    tied = run_on_scores("LZ05", (0.9, 0.9, 0.9), tied=(0, 1, 2))
    assert tied.level == "note"
    assert "2 other candidates are statistically tied" in tied.message
    unstable = {"resampled": rng.normal(size=(3, 200)), "tied": (1, 2)}
    assert run_on_scores("LZ05", **unstable).level == "warning"
    assert run_on_scores("LZ05", **unstable, cross_validated=True).level == "note"
    assert run_on_scores("LZ05", (0.9,)).level == "not applicable"


def test_boundary_of_the_grid_is_noted_unless_an_inner_candidate_is_tied():
    scores = (0.7, 0.8, 0.9)
    check = run_on_scores("LZ07", scores)
    assert check.message == "The best candidate is on the boundary of the grid (C=100.0)."
    assert check.advice == "Extend the grid."
    inside = run_on_scores("LZ07", scores, tied=(2, 1))
    assert (inside.level, "or one that is tied" in inside.message) == ("ok", True)
    strings = [{"kernel": name} for name in ("a", "b", "c")]
    assert run_on_scores("LZ07", params=strings).level == "not applicable"


@pytest.mark.parametrize(
    ("name", "values", "best", "level"),
    [
        ("C", [1e-4, 1e-3, 1], 1, "note"),
        ("C", [1.0, 10.0, 100.0], 1.0, "note"),
        ("svc__C", [0.01, 0.1, 1.0], 1.0, "note"),
        ("shift", [-2, -1, 0], 0, "note"),
        ("alpha", [0.0, 0.1, 1.0], 0.0, "ok"),
        ("max_depth", [1, 2, 3], 1, "ok"),
        ("l1_ratio", [0.1, 0.5, 1.0], 1.0, "ok"),
        ("forest__max_features", [0.3, 0.6, 1.0], 1.0, "ok"),
    ],
)
def test_natural_limits_of_parameters_are_no_boundary(name, values, best, level):
    scores = [0.9 if value == best else 0.5 for value in values]
    assert run_on_scores("LZ07", scores, params=[{name: v} for v in values]).level == level


@pytest.mark.parametrize(("n_rows", "shown"), [(5, "5 rows"), (1, "1 row")])
def test_small_classes_are_counted(n_rows, shown):
    y = np.array(["common"] * (120 - n_rows) + ["rare"] * n_rows)
    check = run("LZ08", CheckInputs(two_normal_classes()[0], y, np.unique(y), None, None))
    assert check.level == "warning"
    assert check.message == f"The smallest class, 'rare', has {shown}."


def test_selection_bias_is_measured_in_standard_errors():
    check = run_on_scores("LZ10", bias_corrected=0.85)
    assert (check.level, check.value) == ("warning", pytest.approx(2.5))
    message = "Selection makes the best score 0.0500 too high (2.50 standard errors)."
    assert check.message == message
    assert check.advice == "Report search.selection_.bias_corrected_score."
    assert run_on_scores("LZ10").level == "ok"
    rounding = {"bias_corrected": 0.9 - 1e-14, "standard_error": 1e-17}
    assert run_on_scores("LZ10", **rounding).level == "ok"


def test_exchangeable_rows_have_no_order_groups_or_duplicates(rng):
    X, y = two_normal_classes()
    inputs = CheckInputs(X, y, np.array([0, 1]), None, None)
    days = pd.date_range("2020-01-01", periods=len(y))
    dated = pd.DataFrame({"when": days, "x": X[:, 0]})
    assert "'when'" in run("LZ11", replace(inputs, X=dated)).message
    shuffled = dated.sample(frac=1.0, random_state=0)
    assert run("LZ11", replace(inputs, X=shuffled)).level == "ok"
    counted = np.column_stack([X, np.arange(len(y))])
    assert run("LZ11", replace(inputs, X=counted)).level == "warning"
    unsigned = rng.permutation(240)[:120].astype(np.uint8)[:, None]
    assert run("LZ11", replace(inputs, X=unsigned)).level == "ok"
    repeated = replace(inputs, X=np.vstack([X[:60], X[:60]]))
    assert "100% of the rows have a duplicate" in run("LZ11", repeated).message
    names = pd.DataFrame({"name": [f"name {i}" for i in rng.permutation(len(y))]})
    assert "0% are duplicates" in run("LZ11", replace(inputs, X=names)).message
    assert run("LZ11", replace(inputs, grouped=True)).level == "note"
    assert "sorted by the target" in run("LZ11", replace(inputs, y=np.sort(y))).message
    assert run("LZ11", replace(inputs, y=rng.permutation(y))).level == "ok"
    trend = replace(inputs, y=np.linspace(0, 1, len(y)), classes=None)
    assert run("LZ11", trend).level == "note"


def test_label_models_of_the_type_of_the_best_model_are_noted():
    X, y = two_normal_classes()
    augmenter = PseudoLabeled(CopulaAugmenter(), LogisticRegression(), random_state=0)
    inputs = make_inputs(augmenter, winner=LogisticRegression().fit(X, y))
    assert (run("LZ12", inputs).level, run("LZ12", inputs).value) == ("note", 1.0)
    assert run("LZ12", replace(inputs, winner=MLPClassifier())).level == "ok"
    assert run("LZ12", replace(inputs, winner=None)).level == "not applicable"


def test_level_of_held_out_scores():
    """A warning if no candidate has one, or all are far too low, a note if the best has none."""
    none, all_known = np.full(3, np.nan), np.array([0.6, 0.8, 0.7])
    for held_out, level, share, part in (
        (none, "warning", 0.0, "No candidate has a held-out score"),
        (np.array([0.6, np.nan, 0.7]), "note", 2 / 3, "The best candidate has no held-out score"),
        (np.array([np.nan, 0.8, np.nan]), "ok", 1 / 3, "has a held-out score of 0.8"),
        (all_known, "ok", 1.0, "on the generated validation set is 0.9"),
        (all_known - 0.3, "warning", 1.0, "Validation scores exceed held-out scores by 0."),
    ):
        check = run("LZ13", make_inputs(candidates=make_scores(held_out=held_out)))
        assert (check.level, check.value) == (level, pytest.approx(share))
        assert part in check.message
        assert (check.advice is not None) == (level == "warning")


def test_held_out_scores_are_needed_only_with_a_generated_validation_set():
    assert run_on_scores("LZ13").level == "not applicable"
    X, y = two_normal_classes(60)
    fixed = make_inputs(FixedValidationSet(X, y), candidates=make_scores())
    assert run("LZ13", fixed).message == "The validation set was given."


def test_repeated_rows_have_no_leakage_ratio():
    X, y = two_normal_classes()
    X, y = np.repeat(X[:50], 3, axis=0), np.repeat(y[:50], 3)
    validation_set = ValidationSet(*two_normal_classes(60, seed=1))
    inputs = CheckInputs(X, y, np.array([0, 1]), validation_set, None)
    report = run_checks(inputs, ["LZ03", "LZ11"])
    assert report["LZ03"].message == "Every training row has a duplicate."
    assert report["LZ11"].value == 1.0


@pytest.mark.parametrize("size", [1e155, 1e300])
def test_values_too_large_for_distances(size, rng):
    X, y = two_normal_classes()
    X, y = X[rng.permutation(120)] * [size, 1.0, 1.0], rng.permutation(y)
    fixed = ValidationSet(X[:50], y[:50])
    augmenter = FixedValidationSet(fixed.X, fixed.y)
    report = run_checks(CheckInputs(X, y, np.array([0, 1]), fixed, augmenter))
    assert report["LZ03"].message == "Values are too large for distances between rows."
    assert report["LZ11"].level == "ok"


@pytest.mark.parametrize(
    "X",
    [
        np.ones((120, 2)),
        sparse.csr_matrix(np.abs(two_normal_classes()[0])),
        np.array([f"word{index % 7} and word{index % 11}" for index in range(120)]),
        two_normal_classes()[0].reshape(60, 2, 3).repeat(2, axis=0),
    ],
    ids=["constant", "sparse", "text", "images"],
)
def test_every_type_of_rows_gets_a_report(X):
    y = two_normal_classes()[1]
    fixed = ValidationSet(X[:50], y[:50])
    inputs = CheckInputs(X, y, np.array([0, 1]), fixed, FixedValidationSet(fixed.X, fixed.y))
    report = run_checks(inputs)
    assert [check.code for check in report] == CODES


def test_one_row_per_class_gets_a_report():
    X, y = np.array([[0.0], [1.0]]), np.array([0, 1])
    mixup = LabelInvariantMixup()
    with pytest.warns(UserWarning, match="single row"):
        mixup.fit(X, y)
    report = run_checks(CheckInputs(X, y, y, mixup.sample(4, 0), mixup))
    assert report["LZ08"].level == "warning"
