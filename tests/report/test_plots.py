from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from leavezero.report import plot_checks, plot_comparison, plot_scores, plot_validation_set, to_svg
from leavezero.report._plots import COLORS

SVG = "{http://www.w3.org/2000/svg}"
SCORES = st.one_of(st.none(), st.floats(-5, 1))
NASTY = ["<script>alert(1)</script>", "\"'&", "🙂" * 200, "$x_{$", "a\nb"]


def comparison(scores, selected=(), metric="accuracy", label="C=1"):
    """Return triples of leave-zero-out, cross-validation and test scores as a comparison."""
    candidates = [
        {
            "leave_zero_out_score": scored[0],
            "cross_validation_score": scored[1],
            "test_score": scored[2],
            "selected_by_leave_zero_out": at in selected,
            "selected_by_cross_validation": at in selected,
        }
        for at, scored in enumerate(scores)
    ]
    searches = [{"name": "leave-zero-out", "label": label}, {"name": "CV", "label": label}]
    return {"metric": metric, "searches": searches, "candidates": candidates}


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(SCORES, SCORES, SCORES), max_size=6))
def test_comparison_marks_every_score_of_either_method(scores):
    """A circle for leave-zero-out, a square for cross-validation; missing scores have no mark."""
    ax = plot_comparison(comparison(scores, selected=[0]), Figure().subplots())
    for at in (0, 1):
        marks = np.ma.concatenate([c.get_offsets() for c in ax.collections[2 * at : 2 * at + 2]])
        known = [one for one in scores if one[at] is not None and one[2] is not None]
        assert np.isfinite(np.ma.filled(marks, np.nan)).all(axis=1).sum() == len(known)


def test_comparison_emphasizes_selected_candidates():
    data = comparison([(0.9, 0.8, 0.7), (0.5, 0.6, 0.4)], selected=[0])
    ax = plot_comparison(data, Figure().subplots())
    others, selected = ax.collections[:2]
    np.testing.assert_array_equal(selected.get_offsets(), [[0.9, 0.7]])
    assert selected.get_sizes() > others.get_sizes()
    assert selected.get_zorder() > others.get_zorder()


@pytest.mark.parametrize("text", NASTY)
def test_texts_of_users_are_only_text(text):
    """Whatever a name contains, the SVG is well-formed and has neither markup nor formulas."""
    data = comparison([(0.9, 0.8, 0.7)], selected=[0], metric=text, label=text)
    root = ElementTree.fromstring(to_svg(plot_comparison, data, label=text))
    assert root.find(f".//{SVG}script") is None
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert any(" ".join(text.split())[:30] in found for found in texts)


def test_svg_is_deterministic_and_has_no_date():
    one, two = (to_svg(plot_comparison, comparison([(0.9, 0.8, 0.7)]), label="a") for _ in "12")
    assert one == two
    assert "metadata" not in one


def test_svg_ignores_the_style_of_the_user():
    import matplotlib

    plain = to_svg(plot_scores, [{"label": "C=1", "score": 0.9}], "accuracy", label="a")
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "black"}):
        assert to_svg(plot_scores, [{"label": "C=1", "score": 0.9}], "accuracy", label="a") == plain


def test_scores_have_intervals_and_the_color_of_their_kind():
    candidates = [
        {"label": "a", "score": 0.9, "low": 0.8, "high": 0.95, "best": True},
        {"label": "b", "score": 0.85, "low": None, "high": None, "tied": True},
        {"label": "c", "score": 0.5},
    ]
    ax = plot_scores(candidates, "accuracy", Figure().subplots())
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b", "c"]
    colors = [to_hex(container.lines[0].get_color()) for container in ax.containers]
    assert colors == [COLORS["soft"], COLORS["tied"], COLORS["accent"]]
    (interval,) = ax.containers[-1].lines[2][0].get_segments()
    np.testing.assert_allclose(interval[:, 0], [0.8, 0.95])


def test_checks_are_further_right_the_more_serious_they_are():
    levels = ["warning", "ok", "note", "not applicable"]
    checks = [{"code": f"LZ0{at}", "title": "x", "level": level} for at, level in enumerate(levels)]
    ax = plot_checks(checks, Figure().subplots())
    assert ax.collections[0].get_offsets()[:, 0].tolist() == [3, 1, 2, 0]


def test_validation_set_without_spread_has_no_lines():
    projection = {"x_edges": [0, 1, 2], "y_edges": [0, 1, 2]}
    projection |= {"training": [[0.5, 0.0], [0.0, 0.5]], "validation": [[0.25, 0.25]] * 2}
    assert len(plot_validation_set(projection, Figure().subplots()).collections) == 1
