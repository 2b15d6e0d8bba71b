"""Code, figures and links in README, docs and examples."""

import ast
import importlib.util
import inspect
import re
import runpy
from pathlib import Path

import pytest

from leavezero import GridSearchLZO

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
NEEDS_CLUSTER = {"dask_cluster"}  # tests/search/test_clusters.py runs it
in_repository = pytest.mark.skipif(
    not (ROOT / "benchmarks").is_dir(), reason="requires the repository, not only the package"
)


@pytest.mark.parametrize(
    "script", [one for one in EXAMPLES if one.stem not in NEEDS_CLUSTER], ids=lambda path: path.stem
)
def test_example_runs(script, capsys):
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_example_has_a_title(script):
    """Required by sphinx-gallery."""
    title, line, *_ = ast.get_docstring(ast.parse(script.read_text())).splitlines()
    assert title
    assert line == "=" * len(title)


def pages():
    """Return README and all pages of the documentation."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *decisions()]


def decisions():
    """Return the decision records."""
    return sorted((ROOT / "docs" / "decisions").glob("*.md"))


def prose(page):
    """Return a page's text without its code."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", text)


@pytest.mark.parametrize("page", pages(), ids=lambda path: path.stem)
def test_code_runs(page):
    """The blocks of a page are run in order and share their names."""
    names = {}
    for block in re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL):
        exec(compile(block, page.name, "exec"), names)


def result_pages():
    """Return the text of all files in results."""
    return "".join(page.read_text() for page in (ROOT / "results").rglob("*.md"))


def test_rows_of_tables_are_from_the_results():
    results = result_pages()
    rows = [
        row
        for page in pages()
        for row in page.read_text().splitlines()
        if re.fullmatch(r"\|[^|]+(\| *[-+]?\d+\.\d+( \([^|]*\))? *)+\|", row)
    ]
    assert rows
    assert [row for row in rows if row not in results] == []


def test_decimals_in_sentences_are_from_the_results():
    """Signs are ignored; values of parameters are written as code."""
    known = set(re.findall(r"\d+\.\d+", result_pages()))
    unknown = []
    for page in pages():
        text = re.sub(r"arxiv\S*", "", prose(page), flags=re.IGNORECASE)
        decimals = re.findall(r"(?<![\w.])\d+\.\d+(?![\w.]\w)", text)
        unknown += [(page.name, figure) for figure in decimals if figure not in known]
    assert unknown == []


@in_repository
def test_summary_is_up_to_date():
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
    """Return the anchors of the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}


@in_repository
def test_links_are_valid():
    """Files and headings that relative links name exist."""
    others = [ROOT / name for name in ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")]
    missing = [
        (page.name, str(file), anchor)
        for page in [*pages(), *others]
        for file, anchor in links(page)
        if not file.exists() or (anchor and anchor not in anchors(file))
    ]
    assert missing == []


def test_every_page_is_linked():
    """From the index, the guide, or the page for contributors."""
    starts = [ROOT / "docs" / f"{name}.md" for name in ("index", "guide", "taking-part")]
    found = {file.resolve() for start in starts for file, _ in links(start)}
    assert [p.name for p in pages()[1:] if p.resolve() not in found | set(decisions())] == [
        "index.md"
    ]


def test_every_decision_is_listed():
    index = ROOT / "docs" / "decisions" / "index.md"
    listed = {file.name for file, _ in links(index)}
    assert listed == {page.name for page in decisions()} - {"index.md"}


def test_readme_is_short_and_its_pictures_are_small():
    readme = ROOT / "README.md"
    pictures = re.findall(r"!\[[^]]*\]\(([^)]*)\)", readme.read_text())
    assert pictures == ["docs/images/how-it-works.svg", "docs/images/report.png"]
    assert len(readme.read_text().splitlines()) < 150
    assert max((ROOT / picture).stat().st_size for picture in pictures) < 150_000


def test_comparison_with_gridsearchcv_has_every_parameter_and_attribute():
    page = (ROOT / "docs" / "from-gridsearchcv.md").read_text()
    parameters = inspect.signature(GridSearchLZO).parameters
    fitted = re.findall(r"^    (\w+_) :", inspect.getsource(GridSearchLZO), flags=re.MULTILINE)
    assert fitted
    assert [name for name in [*parameters, *fitted] if f"`{name}`" not in page] == []


@in_repository
def test_files_named_in_the_architecture_exist():
    text = (ROOT / "docs" / "architecture.md").read_text()
    files = set(re.findall(r"`([a-z_]+/_\w+\.py)`", text))
    assert files
    assert [file for file in files if not (ROOT / "src" / "leavezero" / file).exists()] == []
