"""Two ways of choosing in one figure."""

from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leavezero.report import draw_comparison

SVG = "{http://www.w3.org/2000/svg}"
SCORES = st.one_of(st.none(), st.floats(-5, 1))


def candidate(label, said, other, test, chosen=(False, False)):
    return {
        "label": label,
        "test_score": test,
        "leave_zero_out_score": said,
        "cross_validation_score": other,
        "chosen_by_leave_zero_out": chosen[0],
        "chosen_by_cross_validation": chosen[1],
    }


def drawn(candidates, metric="accuracy"):
    ways = [{"name": "leave-zero-out", "label": "a"}, {"name": "10-fold CV", "label": "b"}]
    made = draw_comparison({"metric": metric, "ways": ways, "candidates": candidates})
    return ElementTree.fromstring(made)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(SCORES, SCORES, SCORES), max_size=6))
def test_every_score_that_both_axes_know_has_a_mark(scores):
    """A circle for one way, a square for the other, and one of each in the legend."""
    figure = drawn([candidate("x", *three) for three in scores])
    for at, shape in enumerate(("circle", "rect")):
        known = [one for one in scores if one[at] is not None and one[2] is not None]
        assert len(figure.findall(f"{SVG}{shape}")) == 1 + len(known)


def test_the_chosen_stand_out_and_lie_on_top():
    """They are larger, and drawn last."""
    figure = drawn([candidate("a", 0.9, 0.8, 0.7, (True, False)), candidate("b", 0.5, 0.6, 0.4)])
    marks = [one for one in figure if one.tag in (f"{SVG}circle", f"{SVG}rect")][2:]
    assert [mark.get("class") for mark in marks].index("ours won") == len(marks) - 1
    assert marks[-1].get("r") == "7"


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "\"'&", "🙂" * 200])
def test_names_are_text(name):
    """Whatever they hold, the file is well-formed and nothing in it runs."""
    figure = drawn([candidate(name, 0.9, 0.8, 0.7, (True, True))], metric=name)
    assert figure.find(f".//{SVG}script") is None
    assert any((title.text or "").startswith(name) for title in figure.iter(f"{SVG}title"))
