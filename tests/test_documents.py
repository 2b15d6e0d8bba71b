"""What README, the guide and the examples show, runs; what they link to, is there."""

import ast
import importlib.util
import inspect
import re
import runpy
import tomllib
from pathlib import Path

import pytest

from leavezero import GridSearchLZO

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
ON_A_CLUSTER = {"dask_cluster"}  # tests/search/test_clusters.py runs it
beside_the_sources = pytest.mark.skipif(
    not (ROOT / "benchmarks").is_dir(), reason="the installed package has no repository beside it"
)


@pytest.mark.parametrize(
    "script", [one for one in EXAMPLES if one.stem not in ON_A_CLUSTER], ids=lambda path: path.stem
)
def test_an_example_runs_and_prints(script, capsys):
    """A reader can start from any of them."""
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_begins_with_a_title(script):
    """The gallery of the site shows it under that."""
    title, line, *_ = ast.get_docstring(ast.parse(script.read_text())).splitlines()
    assert title
    assert line == "=" * len(title)


def pages():
    """Return README and every page of the documentation."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *decisions()]


def decisions():
    """Return the pages on decisions."""
    return sorted((ROOT / "docs" / "decisions").glob("*.md"))


def prose(page):
    """Return a page's text without its code."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", text)


@pytest.mark.parametrize("page", pages(), ids=lambda path: path.stem)
def test_the_code_in_readme_and_docs_runs(page):
    """A page is read from its beginning; a block may use what stands above it."""
    names = {}
    for block in re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL):
        exec(compile(block, page.name, "exec"), names)


def made_figures():
    """Return the text of all results that commands made."""
    return "".join(page.read_text() for page in (ROOT / "results").rglob("*.md"))


def test_every_figure_in_a_table_comes_from_the_results():
    """A row of figures stands to the letter in a file that a command made."""
    made = made_figures()
    rows = [
        row
        for page in pages()
        for row in page.read_text().splitlines()
        if re.fullmatch(r"\|[^|]+(\| *[-+]?\d+\.\d+( \([^|]*\))? *)+\|", row)
    ]
    assert rows
    assert [row for row in rows if row not in made] == []


def test_every_decimal_in_the_guide_comes_from_the_results():
    """A sentence quotes figures that a command made, signs aside; settings are set as code."""
    known = set(re.findall(r"\d+\.\d+", made_figures()))
    unknown = []
    for page in pages():
        text = re.sub(r"arxiv\S*", "", prose(page), flags=re.IGNORECASE)
        told = re.findall(r"(?<![\w.])\d+\.\d+(?![\w.]\w)", text)
        unknown += [(page.name, figure) for figure in told if figure not in known]
    assert unknown == []


@beside_the_sources
def test_the_short_table_is_made_from_the_results_beside_it():
    """After a new measurement, run benchmarks/summary.py."""
    summary = loaded("benchmarks/summary.py").summary()
    assert (ROOT / "results" / "summary.md").read_text() == summary


def loaded(script):
    """Return a script as a module."""
    spec = importlib.util.spec_from_file_location(Path(script).stem, ROOT / script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def links(page):
    """Yield the file and the anchor of every relative link of a page."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\((?![a-z]+:)([^)\s]+)\)", text):
        file, _, anchor = target.partition("#")
        yield (page.parent / file if file else page), anchor


def anchors(page):
    """Return the anchors of a page's headings, as code hosts and the site make them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}


@beside_the_sources
def test_links_inside_the_repository_lead_somewhere():
    """A file is there, and so is the heading that a link names."""
    beside = [ROOT / name for name in ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")]
    missing = [
        (page.name, str(file), anchor)
        for page in [*pages(), *beside]
        for file, anchor in links(page)
        if not file.exists() or (anchor and anchor not in anchors(file))
    ]
    assert missing == []


def test_every_page_is_found_from_the_guide():
    """The guide, the page for who takes part, and the front door name all pages."""
    doors = [ROOT / "docs" / f"{name}.md" for name in ("index", "guide", "taking-part")]
    found = {file.resolve() for door in doors for file, _ in links(door)}
    assert [p.name for p in pages()[1:] if p.resolve() not in found | set(decisions())] == [
        "index.md"
    ]


def test_every_decision_is_listed():
    """One page for each decision, and a line for each page."""
    index = ROOT / "docs" / "decisions" / "index.md"
    listed = {file.name for file, _ in links(index)}
    assert listed == {page.name for page in decisions()} - {"index.md"}


def test_readme_is_short_and_its_pictures_are_small():
    """It is read in a minute and loads at once: how it works, and what a report looks like."""
    readme = ROOT / "README.md"
    pictures = re.findall(r"!\[[^]]*\]\(([^)]*)\)", readme.read_text())
    assert pictures == ["docs/images/how-it-works.svg", "docs/images/report.png"]
    assert len(readme.read_text().splitlines()) < 150
    assert max((ROOT / picture).stat().st_size for picture in pictures) < 150_000


def test_the_page_for_newcomers_has_every_parameter_and_attribute():
    """Who comes from GridSearchCV finds all of GridSearchLZO there."""
    page = (ROOT / "docs" / "from-gridsearchcv.md").read_text()
    taken = inspect.signature(GridSearchLZO).parameters
    fitted = re.findall(r"^    (\w+_) :", inspect.getsource(GridSearchLZO), flags=re.MULTILINE)
    assert fitted
    assert [name for name in [*taken, *fitted] if f"`{name}`" not in page] == []


@beside_the_sources
def test_the_picture_of_the_house_has_its_layers():
    """The boxes of docs/architecture.md are the layers that import-linter holds."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    named = [re.findall(r"\w+", layer) for layer in layers]
    picture = (ROOT / "docs" / "architecture.md").read_text().split("```")[1]
    drawn = [line.rpartition("│")[0] for line in picture.splitlines() if line.startswith("│")]
    assert [re.findall(r"\w+", line) for line in drawn] == named


@beside_the_sources
def test_files_that_the_house_names_are_there():
    """One call is followed through files that exist."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    files = set(re.findall(r"`([a-z_]+/_\w+\.py)`", text))
    assert files
    assert [file for file in files if not (ROOT / "src" / "leavezero" / file).exists()] == []
