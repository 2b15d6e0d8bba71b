import json
import re
import sys
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leavezero.report import summarize, to_fragment, to_html
from leavezero.report._plots import page_figures

NASTY = (
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(2)>",
    "</script><script>alert(3)</script>",
    "{{ 7 * 7 }}{% raw %}",
    "🙂 \"quoted\" & 'single'",
    "=cmd()|' /C calc'!A0",
    "https://example.org/a.js",
    "$x_{$ $",
)
VOID = {"meta", "link", "input", "br", "img"}


class Reader(HTMLParser):
    """Collect the elements and texts of a page, and check that elements are closed."""

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


def summary_of(name="x", n_candidates=3, **changes):
    """Return a summary with a name in every place that a text of the user can reach."""
    params = [{name: f"{name}{at}", "C": 1.1 ** (at % 50)} for at in range(n_candidates)]
    scores = [0.5 + 0.4 * at / n_candidates for at in range(n_candidates)]
    table = {
        "params": params,
        "mean_test_score": scores,
        "low_test_score": [score - 0.1 for score in scores],
        "high_test_score": [score + 0.1 for score in scores],
        "mean_validation_score": scores,
        "mean_loo_score": scores,
        "mean_train_score": scores,
        "mean_fit_time": [0.1] * n_candidates,
        f"mean_test_{name}": scores,
    }
    check = {"code": "LZ08", "title": name, "level": "warning", "message": name, "advice": name}
    diagnostics = {"checks": [check], "next_step": name, "seconds": 0.1, "n_fits": 0}
    plane = {"x_edges": [0, 1, 2], "y_edges": [0, 1, 2]}
    plane |= {"training": [[0.5, 0.0], [0.0, 0.5]], "validation": [[0.4, 0.1], [0.1, 0.4]]}
    columns = [{"label": name, "score": 0.1, "low": 0.0, "high": 0.2}]
    held_out = {
        "source": name,
        "n_fits": 5,
        "baseline": 0.5,
        "importances": columns,
        "confusion": {"labels": [name, "b"], "n_classes": 2, "counts": [[3, 1], [0, 4]]},
        "curves": {
            "kind": "ROC",
            "share": 0.5,
            "lines": [{"label": name, "x": [0, 0, 1], "y": [0, 1, 1], "area": 1.0}],
        },
        "reliability": {
            "predicted": [0.6, 0.9],
            "observed": [0.5, 1.0],
            "low": [0.4, 0.9],
            "high": [0.6, 1.0],
            "counts": [4, 4],
        },
    }
    validation = {
        "sentence": name,
        "note": name,
        "classes": [{"label": name, "training": 0.5, "validation": 0.5}],
        "n_classes": 1,
        "projection": plane,
    }
    run = {
        "title": name,
        "metric": name,
        "target": name,
        "model_type": name,
        "data": {"sentence": name, "columns": [name], "more_columns": 0, "notes": [name]},
        "fits": {"sentence": name},
        "seconds": [{"part": name, "seconds": 1.0}],
        "code": {"model": name, "search": name, "shell": name, "notes": [name]},
        "made_with": name,
    }
    parts = {"diagnostics": diagnostics, "validation": validation, "held_out": held_out, "run": run}
    parts |= changes
    return summarize(table, best=n_candidates - 1, **parts)


@pytest.mark.parametrize("name", NASTY)
def test_texts_of_users_are_only_text(name):
    """The page shows them in every place, and contains the summary as JSON."""
    summary = summary_of(name)
    page = to_html(summary)
    reader = Reader(page)
    assert reader.open == []
    assert reader.text().count(name) > 15
    assert reader.scripts() == [{"type": "application/json", "id": "summary"}, {}]
    assert not [tag for tag, _ in reader.tags if tag == "img"]
    assert not [key for _, attrs in reader.tags for key in attrs if key.startswith("on")]
    data = re.search(r'<script type="application/json" id="summary">(.*?)</script>', page)
    assert json.loads(data.group(1)) == json.loads(json.dumps(summary))


@pytest.fixture(scope="module")
def usual_tags():
    return [tag for tag, _ in Reader(to_html(summary_of("w"))).tags]


@given(st.text(st.characters(codec=None), max_size=20))
@settings(max_examples=4, deadline=None)
def test_any_text_gives_the_same_elements(usual_tags, name):
    page = to_html(summary_of(f"w{name}"))
    page.encode("utf-8")
    assert [tag for tag, _ in Reader(page).tags] == usual_tags


@pytest.mark.parametrize("name", NASTY)
def test_texts_of_users_are_only_text_in_the_fragment(name):
    reader = Reader(to_fragment(summary_of(name)))
    assert reader.scripts() == []
    assert {tag for tag, _ in reader.tags} <= {"div", "p", "strong", "ul", "li", "b"}
    assert name in reader.text()


def test_page_is_deterministic():
    assert to_html(summary_of()) == to_html(summary_of())


def test_page_uses_no_network():
    """All addresses are inside the page; the namespace of SVG is only a name."""
    page = to_html(summary_of()).replace('xmlns="http://www.w3.org/2000/svg"', "")
    for tag, attrs in Reader(page).tags:
        assert not {"src", "srcset", "action", "data", "xlink:href"} & set(attrs), tag
        assert attrs.get("href", "#").startswith("#")
    assert "http:" not in page
    assert "https:" not in page
    assert not re.search(r"url\((?!#)", page)
    assert "@import" not in page
    assert "default-src 'none'" in page


def test_page_is_accessible():
    """Columns and figures have names, scrollable regions can be focused, ids are unique."""
    tags = Reader(to_html(summary_of())).tags
    assert all("scope" in attrs for tag, attrs in tags if tag == "th")
    figures = [attrs for tag, attrs in tags if tag == "svg"]
    assert all(attrs["role"] == "img" and attrs["aria-label"] for attrs in figures)
    regions = [attrs for _, attrs in tags if attrs.get("role") == "region"]
    assert regions
    assert all(attrs["tabindex"] == "0" and attrs["aria-label"] for attrs in regions)
    ids = [attrs["id"] for _, attrs in tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert {attrs["href"][1:] for _, attrs in tags if "href" in attrs} <= set(ids)


def test_figures_take_their_colors_from_the_page():
    """Fixed colors would be unreadable on a dark page."""
    for figures in page_figures(summary_of()).values():
        for _, svg in figures:
            assert not re.search(r"(fill|stroke): #", svg)


def test_page_without_diagnostics_and_validation_set():
    """A pickled search has lost the rows that both need."""
    page = to_html(summary_of(diagnostics=None, validation=None, held_out=None))
    assert 'id="checks"' not in page
    assert 'id="held-out"' not in page
    assert "Validation set compared" not in page
    assert Reader(page).open == []


def test_page_of_a_single_candidate_without_parameters():
    page = to_html(summarize({"params": [{}], "mean_test_score": [0.5]}, best=0))
    assert "no parameters" in Reader(page).text()


def test_page_without_selection():
    """Several metrics without refit."""
    summary = summarize({"params": [{}], "mean_test_score": [0.5]})
    assert "No candidate was selected" in to_html(summary)
    assert "No candidate was selected" in to_fragment(summary)


def test_long_tables_are_cut():
    summary = summary_of(n_candidates=2_003)
    page = to_html(summary)
    assert len(summary["candidates"]) == 2_003
    assert "3 more candidates are not listed" in page


@pytest.mark.parametrize("module", ["jinja2", "matplotlib.figure"])
def test_missing_dependencies_are_named_and_the_fragment_needs_none(monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    name = module.partition(".")[0]
    with pytest.raises(ImportError, match=rf'requires {name}.*pip install "leavezero\[app\]"'):
        to_html(summary_of())
    assert "LZ08" in to_fragment(summary_of())


VALUES = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-(10**9), 10**9),
    st.text(max_size=5),
    st.booleans(),
    st.none(),
)
TRIALS = st.tuples(
    st.dictionaries(st.sampled_from(["a", "b", "c"]), VALUES),
    st.floats(-1e6, 1e6) | st.just(float("nan")),
)


@given(st.lists(TRIALS, min_size=1, max_size=30))
@settings(max_examples=8, deadline=None)
def test_any_search_can_be_drawn(trials):
    """All figures are well-formed for any parameters and scores."""
    table = {"params": [params for params, _ in trials]}
    table["mean_test_score"] = [score for _, score in trials]
    for figures in page_figures(summarize(table, best=0)).values():
        for _, svg in figures:
            root = ElementTree.fromstring(svg)
            values = " ".join(value for one in root.iter() for value in one.attrib.values())
            assert "nan" not in values


def test_differences_have_the_decimals_of_the_scores():
    """0.0004 less than 0.9, not 0.0004136."""
    table = {"params": [{"candidate": "a"}, {"candidate": "b"}]}
    table["mean_test_score"] = [0.9, 0.8995864]
    selection = {"margin": 0.0004136, "margin_low": -0.0001234, "margin_high": 0.001, "tied": [1]}
    selection |= {"new_data_low": None, "new_data_high": None, "bias_corrected_score": None}
    page = to_html(summarize(table, best=0, selection=selection))
    assert "<dd>-0.0004</dd>" in page
    assert "0.0004 above the second best (95 % interval -0.0001 to 0.0010)" in page


def test_best_candidate_is_marked_in_the_figures_of_candidates():
    found = page_figures(summary_of(n_candidates=4))
    for name in ("scores", "params"):
        assert all("var(--accent)" in svg for _, svg in found[name])


def test_parameters_are_shown_of_the_best_model_type_on_one_scale():
    """Parameters with two values are not shown."""
    params = [
        {"candidate": "a", "C": c, "g": g, "two": c > 1} for c in (1, 2, 3) for g in (1, 2, 3)
    ]
    params += [{"candidate": "b", "k": k} for k in (1, 2, 3)]
    scores = [0.6 + 0.01 * at for at in range(9)] + [0.1, 0.2, 0.3]
    found = page_figures(summarize({"params": params, "mean_test_score": scores}, best=8))["params"]
    assert [title for title, _ in found] == ["score by C", "score by g"]
    heights = [re.findall(r">(0\.\d+)</text>", svg) for _, svg in found]
    assert heights[0] == heights[1]
    assert len(heights[0]) > 1


def test_regression_has_figures_of_predictions_and_an_error_in_units_of_the_target():
    cells = {"x": [1.0, 2.0], "y": [1.0, 3.0], "counts": [1, 5]}
    held_out = {"source": "x", "n_fits": 5, "baseline": 0.0, "importances": None}
    held_out |= {"observed": cells, "residuals": cells}
    held_out |= {"mean_absolute_error": 1.5, "baseline_absolute_error": 20_000.0}
    summary = summary_of(held_out=held_out)
    assert len(page_figures(summary)["held_out"]) == 2
    text = to_html(summary)
    assert "Predictions are wrong by 1.5 on average, the mean of the target by 20,000." in text
