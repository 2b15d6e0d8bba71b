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
    SoftLabeled,
    ValidationSet,
)
from leavezero.trust import Ballot, Evidence, Finding, Optimism, TrustReport, examine
from leavezero.trust._finding import TITLES
from leavezero.trust._levels import LIMITS, level_of

CODES = [f"LZ{number:02}" for number in range(1, 13)]


def made(n_rows=120, n_columns=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.tile([0, 1], n_rows // 2)
    return rng.normal(size=(n_rows, n_columns)) + y[:, None], y


def drawn(augmenter=None, n_rows=300, **more):
    X, y = made()
    fitted = (augmenter or CopulaAugmenter()).fit(X, y)
    V = fitted.sample(n_rows, 0)
    return replace(Evidence(X, y, np.array([0, 1]), V, fitted), **more)


def ballot(scores=(0.7, 0.9, 0.8), **more):
    scores = np.asarray(scores, dtype=float)
    best = int(scores.argmax())
    parts = {
        "metric": "accuracy",
        "params": [{"C": 10.0**at} for at in range(len(scores))],
        "scores": scores,
        "splits": np.tile(scores[:, None], 4),
        "resampled": np.tile(scores[:, None], 50),
        "augmented": scores,
        "unseen": np.full(len(scores), np.nan),
        "by_member": None,
        "best": best,
        "contenders": (best,),
        "corrected": float(scores.max()),
        "standard_error": 0.02,
    }
    return Ballot(**parts | more)


def finding(code, evidence):
    return examine(evidence, [code])[code]


def test_a_report_has_every_finding_once_and_in_order():
    """Twelve codes, whatever is known."""
    X, y = made()
    bare = examine(Evidence(X, y, np.array([0, 1]), None, None))
    assert [f.code for f in bare] == [f.code for f in examine(drawn(ballot=ballot()))] == CODES
    assert set(TITLES) == set(CODES)
    silent = {f.code for f in bare if f.level == "not applicable"}
    assert silent == set(CODES) - {"LZ08", "LZ11"}


@pytest.mark.parametrize("code", sorted(LIMITS))
@given(figures=st.tuples(st.floats(-2, 50), st.floats(-2, 50)))
def test_a_worse_figure_is_never_judged_more_mildly(code, figures):
    """Levels follow figures in one direction."""
    order = {"ok": 0, "note": 1, "warning": 2}
    better, worse = sorted(figures, reverse=LIMITS[code].falling)
    assert order[level_of(code, better)] <= order[level_of(code, worse)]


def test_labels_in_other_shares_are_warned_of():
    """LZ01 counts labels, soft ones and weights too."""
    fine = drawn()
    assert finding("LZ01", fine).level == "ok"
    one_sided = ValidationSet(fine.V.X, np.zeros(len(fine.V), dtype=int))
    assert finding("LZ01", replace(fine, V=one_sided)).level == "warning"
    even = np.full((len(fine.V), 2), 0.5)
    assert (
        finding("LZ01", replace(fine, V=replace(one_sided, class_probabilities=even))).level == "ok"
    )
    weight = np.where(fine.V.y == 0, 1.0, 0.1)
    assert finding("LZ01", replace(fine, V=replace(fine.V, sample_weight=weight))).level != "ok"


def test_numbers_are_counted_in_bins():
    """LZ01 of a regression compares the targets' distributions."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), rng.normal(size=200)
    V = ValidationSet(rng.normal(size=(500, 2)), rng.normal(size=500))
    base = Evidence(X, y, None, V, FixedValidationSet(V.X, V.y))
    assert finding("LZ01", base).level == "ok"
    assert finding("LZ01", replace(base, V=replace(V, y=V.y + 1))).level == "warning"


def test_rows_that_no_data_would_hold_are_told_apart():
    """LZ02 asks a classifier."""
    real = drawn()
    assert finding("LZ02", real).level == "ok"
    far = replace(real.V, X=real.V.X + 5.0)
    own = replace(real, V=far, augmenter=FixedValidationSet(far.X, far.y))
    assert finding("LZ02", own).level == "note"
    assert finding("LZ02", own).figure > 0.95


def test_copies_leak_and_generated_rows_do_not():
    """LZ03 is 0 for copies and about 1 for fresh rows."""
    X, y = made(n_columns=12)
    copies = Evidence(X, y, np.array([0, 1]), ValidationSet(X[:50], y[:50]), None)
    copies = replace(copies, augmenter=FixedValidationSet(X[:50], y[:50]))
    assert finding("LZ03", copies).figure == 0.0
    fresh = made(400, 12, seed=1)
    own = replace(copies, V=ValidationSet(*fresh), augmenter=FixedValidationSet(*fresh))
    assert finding("LZ03", own).figure == pytest.approx(1.0, abs=0.1)
    mixup = LabelInvariantMixup().fit(X, y)
    mixed = replace(copies, V=mixup.sample(300, 0), augmenter=mixup)
    assert finding("LZ03", mixed).level == "warning"
    assert finding("LZ03", mixed).advice == 'Draw V in another way: augmenter="auto".'
    assert "confirm=5" in finding("LZ03", replace(mixed, by_auto=True)).advice


def test_optimism_is_a_share_of_what_the_winner_is_above_chance():
    """LZ04 warns where candidates that learned nothing do as well."""
    honest = drawn(ballot=ballot(), optimism=Optimism((0.51, 0.5), (0.5, 0.5)))
    assert finding("LZ04", honest).level == "ok"
    flattered = replace(honest, optimism=Optimism((0.9, 0.5), (0.5, 0.5)))
    assert finding("LZ04", flattered).level == "warning"
    assert finding("LZ04", flattered).figure == pytest.approx(1.0)
    assert examine(flattered, ["LZ04"]).n_fits == 2
    assert "trust(optimism=True)" in finding("LZ04", drawn(ballot=ballot())).sentence


def test_a_winner_that_seldom_wins_is_warned_of_and_a_tie_is_noted():
    """LZ05 counts resamples."""
    clear = drawn(ballot=ballot())
    assert finding("LZ05", clear).level == "ok"
    tied = replace(clear, ballot=ballot((0.9, 0.9, 0.9), contenders=(0, 1, 2)))
    assert finding("LZ05", tied).level == "note"
    rng = np.random.default_rng(0)
    shaky = ballot(resampled=rng.normal(size=(3, 200)), contenders=(1, 2))
    assert finding("LZ05", replace(clear, ballot=shaky)).level == "warning"
    one = ballot((0.9,))
    assert finding("LZ05", replace(clear, ballot=one)).level == "not applicable"


def test_witnesses_that_turn_the_order_round_are_noted():
    """LZ06 correlates ranks, of V with unseen rows and of members with each other."""
    scores = np.array([0.7, 0.9, 0.8])
    assert finding("LZ06", drawn(ballot=ballot(unseen=scores))).level == "ok"
    turned = drawn(ballot=ballot(unseen=1 - scores))
    assert finding("LZ06", turned).level == "note"
    members = drawn(ballot=ballot(by_member=np.stack([scores, 1 - scores])))
    assert "the members of the portfolio -1.00" in finding("LZ06", members).sentence
    flat = drawn(ballot=ballot(unseen=np.full(3, 0.5)))
    assert finding("LZ06", flat).level == "not applicable"


def test_the_edge_of_the_grid_is_noted_unless_the_inside_does_as_well():
    """LZ07 looks at parameters with three numbers or more."""
    scores = (0.7, 0.8, 0.9)
    at_edge = drawn(ballot=ballot(scores))
    assert "C=100.0 (highest tried)" in finding("LZ07", at_edge).sentence
    tied = drawn(ballot=ballot(scores, contenders=(2, 1)))
    assert finding("LZ07", tied).level == "ok"
    natural = [{"k": 1}, {"k": 2}, {"k": 3}]
    one = drawn(ballot=ballot((0.9, 0.8, 0.7), params=natural))
    assert finding("LZ07", one).level == "ok"
    names = [{"kernel": name} for name in ("a", "b", "c")]
    assert finding("LZ07", drawn(ballot=ballot(params=names))).level == "not applicable"


@pytest.mark.parametrize(
    ("name", "values", "won", "level"),
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
def test_an_end_is_natural_where_the_parameter_ends(name, values, won, level):
    """LZ07 knows the first of a count, the whole of a share and nothing at all."""
    scores = [0.9 if value == won else 0.5 for value in values]
    tried = drawn(ballot=ballot(scores, params=[{name: value} for value in values]))
    assert finding("LZ07", tried).level == level


@pytest.mark.parametrize("n_columns", [3, 20])
def test_rows_that_come_several_times_are_no_measure(n_columns):
    """LZ03 does not divide by the rounding of a distance, and LZ11 counts them all."""
    X, y = made(n_columns=n_columns)
    X, y = np.repeat(X[:50], 3, axis=0), np.repeat(y[:50], 3)
    V = ValidationSet(*made(60, n_columns, seed=1))
    found = examine(Evidence(X, y, np.array([0, 1]), V, None), ["LZ03", "LZ11"])
    assert found["LZ03"].level == "not applicable"
    assert found["LZ03"].sentence == "Every given row has a twin."
    assert found["LZ11"].figure == 1.0


@pytest.mark.parametrize("size", [1e155, 1e160, 1e200, 1e300])
def test_numbers_too_large_for_distances_get_a_report(size):
    """Findings about distances do not apply, and say so."""
    X, y = made()
    rng = np.random.default_rng(0)
    X, y = X[rng.permutation(120)] * [size, 1.0, 1.0], rng.permutation(y)
    V = ValidationSet(X[:50], y[:50])
    report = examine(Evidence(X, y, np.array([0, 1]), V, FixedValidationSet(V.X, V.y)))
    for code in ("LZ03", "LZ11"):
        assert report[code].level == "not applicable"
        assert report[code].sentence == "Numbers are too large for distances between rows."
    assert "\n" not in report["LZ02"].sentence


def test_small_classes_are_counted():
    """LZ08 names the smallest class."""
    X, _ = made()
    y = np.array(["often"] * 115 + ["rare"] * 5)
    small = finding("LZ08", Evidence(X, y, np.unique(y), None, None))
    assert small.level == "warning"
    assert small.sentence == "The smallest class, 'rare', has 5 rows."


def test_the_bound_is_there_for_two_classes_of_accuracy_and_known_dimension():
    """LZ09 gives a number or the reason why there is none."""
    X, y = made()
    linear = drawn(ballot=ballot(), winner=LogisticRegression().fit(X, y))
    found = finding("LZ09", linear)
    assert found.level == "note"
    assert "which says nothing" in found.sentence
    unknown = replace(linear, winner=MLPClassifier())
    assert finding("LZ09", unknown).sentence == (
        "The VC dimension of MLPClassifier is unknown: there is no bound."
    )
    loss = replace(linear, ballot=ballot(metric="neg_log_loss"))
    assert (
        "neg_log_loss is not a mean over rows of a loss with bounds"
        in finding("LZ09", loss).sentence
    )


def test_luck_on_v_is_counted_in_standard_errors():
    """LZ10 compares the best score with the corrected one."""
    lucky = finding("LZ10", drawn(ballot=ballot(corrected=0.85)))
    assert (lucky.level, lucky.figure) == ("warning", pytest.approx(2.5))
    assert finding("LZ10", drawn(ballot=ballot())).level == "ok"
    steady = ballot(corrected=0.9 - 1e-14, standard_error=1e-17)
    assert finding("LZ10", drawn(ballot=steady)).level == "ok"


def test_times_twins_groups_and_sorted_targets_are_noticed():
    """LZ11 says what neither leave-zero-out nor random folds can bear."""
    X, y = made()
    base = Evidence(X, y, np.array([0, 1]), None, None)
    days = pd.date_range("2020-01-01", periods=len(y))
    dated = pd.DataFrame({"when": days, "x": X[:, 0]})
    assert "'when'" in finding("LZ11", replace(base, X=dated)).sentence
    mixed_up = dated.sample(frac=1.0, random_state=0)
    assert finding("LZ11", replace(base, X=mixed_up)).level == "ok"
    rising = np.column_stack([X, np.arange(len(y))])
    assert finding("LZ11", replace(base, X=rising)).level == "warning"
    twice = replace(base, X=np.vstack([X[:60], X[:60]]))
    assert "100% of the rows have an equal row" in finding("LZ11", twice).sentence
    assert finding("LZ11", replace(base, grouped=True)).level == "note"
    ordered = replace(base, y=np.sort(y))
    assert "sorted by its target" in finding("LZ11", ordered).sentence
    shuffled = replace(base, y=np.random.default_rng(0).permutation(y))
    assert finding("LZ11", shuffled).level == "ok"
    trend = replace(base, y=np.linspace(0, 1, len(y)), classes=None)
    assert finding("LZ11", trend).level == "note"


def test_teachers_of_the_winners_kind_are_noted():
    """LZ12 adds up their shares."""
    X, y = made()
    own = SoftLabeled(CopulaAugmenter(), label_models=[LogisticRegression()], random_state=0)
    taught = drawn(own, winner=LogisticRegression().fit(X, y))
    assert (finding("LZ12", taught).level, finding("LZ12", taught).figure) == ("note", 1.0)
    assert finding("LZ12", replace(taught, winner=MLPClassifier())).level == "ok"
    assert finding("LZ12", replace(taught, winner=None)).level == "not applicable"


@pytest.mark.parametrize(
    "X",
    [
        np.ones((120, 2)),
        sparse.csr_matrix(np.abs(made()[0])),
        np.array([f"word{at % 7} and word{at % 11}" for at in range(120)]),
        made()[0].reshape(60, 2, 3).repeat(2, axis=0),
    ],
    ids=["constant", "sparse", "text", "images"],
)
def test_any_kind_of_rows_gets_a_report(X):
    """What cannot be compared is said to be not applicable."""
    y = made()[1]
    V = ValidationSet(X[:50], y[:50])
    report = examine(Evidence(X, y, np.array([0, 1]), V, FixedValidationSet(V.X, V.y)))
    assert [f.code for f in report] == CODES


def test_v_with_other_columns_is_refused():
    """The error says both numbers."""
    base = drawn()
    with pytest.raises(ValueError, match="must have the same columns, got 3 and 2"):
        replace(base, V=ValidationSet(base.V.X[:, :2], base.V.y))


def test_one_row_a_class_gets_a_report():
    """Nothing can be compared, and nothing fails."""
    X, y = np.array([[0.0], [1.0]]), np.array([0, 1])
    mixup = LabelInvariantMixup()
    with pytest.warns(UserWarning, match="single row"):
        mixup.fit(X, y)
    report = examine(Evidence(X, y, y, mixup.sample(4, 0), mixup))
    assert report["LZ08"].level == "warning"


def some_report():
    bad = Finding("LZ03", "warning", "Rows <b>leak</b>.", 0.1, "Draw V in another way.")
    worse = Finding("LZ05", "warning", "It is a tie.", 0.2, "Confirm.")
    return TrustReport((Finding("LZ01", "ok", "Fine.", 0.0), bad, worse), 1.25, 1)


def test_a_report_is_text_a_table_a_dict_and_html():
    """Four readers, one content; nothing in it is run by a browser."""
    report = some_report()
    assert str(report).splitlines()[-1] == "The report took 1.2 s and 1 fit."
    assert report.to_frame().loc["LZ03", "level"] == "warning"
    assert report.to_dict()["findings"][1]["title"] == "leakage"
    assert "&lt;b&gt;leak" in report.to_html()
    assert "<b>" not in report.to_html()
    assert report._repr_html_() == report.to_html()


def test_the_next_step_is_the_cheapest_cure():
    """Another V costs less than folds."""
    assert some_report().next_step == "Draw V in another way."
    assert TrustReport((), 0.0).next_step is None


def test_an_unknown_code_is_refused():
    """The error lists what there is."""
    with pytest.raises(KeyError, match=r"'LZ99' is no finding of this report\. It has LZ01, LZ03"):
        some_report()["LZ99"]
