import json
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leavezero.report import summarize, to_fragment, to_html
from leavezero.report._figures import draw_all

NASTY = (
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(2)>",
    "</script><script>alert(3)</script>",
    "{{ 7 * 7 }}{% raw %}",
    "🙂 \"quoted\" & 'so'",
    "=cmd()|' /C calc'!A0",
    "https://example.org/a.js",
)
VOID = {"meta", "link", "input", "br", "img"}


class Reader(HTMLParser):
    """Collects what a browser would make of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.texts, self.open = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))

    def scripts(self):
        return [attrs for tag, attrs in self.tags if tag == "script"]

    def text(self):
        return "\n".join(text for tag, text in self.texts if tag not in ("script", "style"))


def summary_of(word="x", n_candidates=3, **changes):
    """Return a summary with a word in every place that a user's text can reach."""
    params = [{word: f"{word}{at}", "C": 1.1 ** (at % 50)} for at in range(n_candidates)]
    scores = [0.5 + 0.4 * at / n_candidates for at in range(n_candidates)]
    table = {
        "params": params,
        "mean_test_score": scores,
        "low_test_score": [score - 0.1 for score in scores],
        "high_test_score": [score + 0.1 for score in scores],
        "mean_augmented_score": scores,
        "mean_unseen_score": scores,
        "mean_train_score": scores,
        "mean_fit_time": [0.1] * n_candidates,
        f"mean_test_{word}": scores,
    }
    finding = {"code": "LZ08", "title": word, "level": "warning", "sentence": word, "advice": word}
    plane = {"x_edges": [0, 1, 2], "y_edges": [0, 1, 2]}
    plane |= {"given": [[0.5, 0.0], [0.0, 0.5]], "drawn": [[0.4, 0.1], [0.1, 0.4]]}
    bins = {"edges": [0.0, 1.0, 2.0], "given": [0.5, 0.5], "drawn": [0.25, 0.75]}
    validation = {
        "sentence": word,
        "note": word,
        "classes": [{"label": word, "given": 0.5, "drawn": 0.5}],
        "n_classes": 1,
        "projection": plane,
        "points": {"given": [[0.5, 0.5]], "drawn": [[1.5, 1.5]]},
        "histograms": [bins | {"label": word}],
        "target": bins,
        "rows": {"columns": [word], "given": [[word]], "drawn": [[word]]},
    }
    run = {
        "title": word,
        "metric": word,
        "data": {"sentence": word, "columns": [word], "more_columns": 0},
        "fits": {"sentence": word},
        "seconds": [{"part": word, "seconds": 1.0}],
        "repeat": {"python": word, "shell": word, "notes": [word]},
        "made_with": word,
    }
    trust = {"findings": [finding], "next_step": word, "seconds": 0.1, "n_fits": 0}
    parts = {"trust": trust, "validation": validation, "run": run} | changes
    return summarize(table, best=n_candidates - 1, **parts)


@pytest.mark.parametrize("word", NASTY)
def test_a_users_text_is_shown_as_text(word):
    """No place lets markup through, and every place shows the word itself."""
    page = to_html(summary_of(word))
    reader = Reader(page)
    assert reader.open == []
    assert reader.text().count(word) > 15
    assert reader.scripts() == [{"type": "application/json", "id": "summary"}, {}]
    assert not [tag for tag, _ in reader.tags if tag == "img"]
    assert not [name for _, attrs in reader.tags for name in attrs if name.startswith("on")]


@pytest.fixture(scope="module")
def usual_tags():
    return [tag for tag, _ in Reader(to_html(summary_of("w"))).tags]


@given(st.text(st.characters(codec=None), max_size=20))
@settings(max_examples=15)
def test_any_text_leaves_the_page_as_it_is(usual_tags, word):
    """The elements are the same whatever a column is called, and the page can be written."""
    page = to_html(summary_of(f"w{word}"))
    page.encode("utf-8")
    assert [tag for tag, _ in Reader(page).tags] == usual_tags


@pytest.mark.parametrize("word", NASTY)
def test_the_fragment_for_notebooks_shows_text_as_text(word):
    """It is put into a page of somebody else."""
    reader = Reader(to_fragment(summary_of(word)))
    assert reader.scripts() == []
    assert {tag for tag, _ in reader.tags} <= {"div", "p", "strong", "ul", "li", "b"}
    assert word in reader.text()


@pytest.mark.parametrize("word", NASTY)
def test_the_data_in_the_page_are_the_summary(word):
    """A program can read back what the page shows."""
    summary = summary_of(word)
    inside = re.search(
        r'<script type="application/json" id="summary">(.*?)</script>', to_html(summary)
    )
    assert json.loads(inside.group(1)) == json.loads(json.dumps(summary))


def test_nothing_is_asked_of_the_network():
    """No element has an address, but for places inside the page."""
    page = to_html(summary_of())
    for tag, attrs in Reader(page).tags:
        assert not {"src", "srcset", "action", "data", "xlink:href"} & set(attrs), tag
        assert attrs.get("href", "#").startswith("#")
    assert "http:" not in page
    assert "https:" not in page
    assert "url(" not in page
    assert "@import" not in page
    assert "default-src 'none'" in page


def test_headings_lead_a_screen_reader():
    """Every column and picture has a name, every region of its own can be reached by keys."""
    tags = Reader(to_html(summary_of())).tags
    assert all("scope" in attrs for tag, attrs in tags if tag == "th")
    assert all(attrs.get("aria-label") for tag, attrs in tags if tag == "svg")
    regions = [attrs for _, attrs in tags if attrs.get("role") == "region"]
    assert regions
    assert all(attrs["tabindex"] == "0" and attrs["aria-label"] for attrs in regions)
    ids = [attrs["id"] for _, attrs in tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    targets = {attrs["href"][1:] for tag, attrs in tags if tag == "a"}
    assert targets <= set(ids)


def test_without_trust_and_validation_the_page_still_stands():
    """A pickled search has lost the rows that both need."""
    page = to_html(summary_of(trust=None, validation=None))
    assert 'id="trust"' not in page
    assert 'id="validation"' not in page
    assert Reader(page).open == []


def test_the_smallest_summary_has_a_page():
    """One candidate without parameters, and nothing else known."""
    page = to_html(summarize({"params": [{}], "mean_test_score": [0.5]}, best=0))
    assert "as given" in Reader(page).text()


def test_where_nothing_was_chosen_the_page_says_so():
    """Several metrics, and none was named."""
    summary = summarize({"params": [{}], "mean_test_score": [0.5]})
    assert "No candidate was chosen" in to_html(summary)
    assert "No candidate was chosen" in to_fragment(summary)


def test_a_long_table_is_cut_and_says_so():
    """The page stays light; nothing is left out of the summary."""
    summary = summary_of(n_candidates=2_003)
    page = to_html(summary)
    assert len(summary["candidates"]) == 2_003
    assert "3 more are not" in page


def test_without_jinja2_the_error_says_what_to_install(monkeypatch):
    """The extra is named."""
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"needs jinja2.*pip install 'leavezero\[app\]'"):
        to_html(summary_of())


def drawings(found):
    """Yield every drawing, however deep."""
    if isinstance(found, str):
        yield found
    elif found is not None:
        for one in found.values() if isinstance(found, dict) else found:
            yield from drawings(one)


VALUES = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-(10**9), 10**9),
    st.text(max_size=5),
    st.booleans(),
    st.none(),
)


@given(
    st.lists(
        st.tuples(
            st.dictionaries(st.sampled_from(["a", "b", "c"]), VALUES),
            st.floats(-1e6, 1e6) | st.just(float("nan")),
        ),
        min_size=1,
        max_size=12,
    )
)
@settings(max_examples=30)
def test_any_search_can_be_drawn(trials):
    """Every figure is well-formed, whatever was tried and whatever came of it."""
    table = {"params": [params for params, _ in trials]}
    table["mean_test_score"] = [score for _, score in trials]
    for drawing in drawings(draw_all(summarize(table, best=0))):
        root = ElementTree.fromstring(drawing)
        assert "nan" not in " ".join(root.attrib.values())


def test_the_winner_is_marked_in_every_picture():
    """Dot, line and cell."""
    found = draw_all(summary_of(n_candidates=4))
    for name in ("intervals", "parallel", "train", "unseen"):
        assert 'won"' in found[name]
    assert all('won"' in drawing for drawing in [*found["one"], *found["two"]])


def test_many_values_stand_by_their_size():
    """A random search tries each number once."""
    params = [{"C": 1.5**at, "gamma": float(at)} for at in range(60)]
    table = {"params": params, "mean_test_score": [at / 60 for at in range(60)]}
    found = draw_all(summarize(table, best=59))
    assert len(found["two"]) == 1
    assert found["two"][0].count('class="cell') == 60
