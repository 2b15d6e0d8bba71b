from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from leavezero.report import plot_comparison, plot_scores, plot_validation_set
from leavezero.report._plots import COLORS, to_svg

SIZE = (560, 470)
SVG = "{http://www.w3.org/2000/svg}"
NASTY = ["<script>alert(1)</script>", "\"'&", "🙂" * 200, "$x_{$", "a\nb"]


def comparison(scores=((0.9, 0.8), (0.7, 0.6)), metric="accuracy", name="leave-zero-out"):
    """Return pairs of held-out scores as a comparison of two methods."""
    names = (name, "10-fold CV")
    return {
        "metric": metric,
        "methods": [
            {"method": one, "held_out_score": float(np.mean(column)), "seconds": 2.0}
            for one, column in zip(names, zip(*scores, strict=True), strict=True)
        ],
        "splits": [
            {"split": at, "method": one, "held_out_score": score}
            for at, pair in enumerate(scores, start=1)
            for one, score in zip(names, pair, strict=True)
        ],
    }


def test_comparison_shows_both_scores_of_each_split_and_the_means():
    ax = plot_comparison(comparison(), Figure().subplots())
    for marks, expected in zip(ax.collections, ([0.9, 0.7, 0.8], [0.8, 0.6, 0.7]), strict=False):
        np.testing.assert_allclose(marks.get_offsets()[:, 0], expected)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["split 1", "split 2", "mean"]
    texts = [text.get_text() for text in ax.figure.legends[0].get_texts()]
    assert texts == [
        "leave-zero-out: mean 0.8, 2 s per search",
        "10-fold CV: mean 0.7, 2 s per search",
    ]


@pytest.mark.parametrize("text", NASTY)
def test_texts_of_users_are_only_text(text):
    """Whatever a name contains, the SVG is well-formed and has neither markup nor formulas."""
    data = comparison(metric=text, name=text)
    root = ElementTree.fromstring(to_svg(plot_comparison, data, label=text, size=SIZE))
    assert root.find(f".//{SVG}script") is None
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert any(" ".join(text.split())[:30] in found for found in texts)


def test_svg_is_deterministic_and_has_no_date():
    one, two = (to_svg(plot_comparison, comparison(), label="a", size=SIZE) for _ in "12")
    assert one == two
    assert "metadata" not in one


def test_svg_ignores_the_style_of_the_user():
    import matplotlib

    arguments = (plot_scores, [{"label": "C=1", "score": 0.9}], "accuracy")
    plain = to_svg(*arguments, label="a", size=SIZE)
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "black"}):
        assert to_svg(*arguments, label="a", size=SIZE) == plain


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


def test_validation_set_without_spread_has_no_lines():
    projection = {"x_edges": [0, 1, 2], "y_edges": [0, 1, 2]}
    projection |= {"training": [[0.5, 0.0], [0.0, 0.5]], "validation": [[0.25, 0.25]] * 2}
    assert len(plot_validation_set(projection, Figure().subplots()).collections) == 1
