"""Code in README, docs and examples runs; links, numbers and names in them are right."""

import ast
import doctest
import inspect
import re
import runpy
from pathlib import Path

import pytest

from leavezero import GridSearchLZO

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
ON_A_CLUSTER = {"dask_cluster"}  # tests/search/test_clusters.py runs it
MAX_WORDS = {"README": 600, "pages of users": 14_000}
DOCTEST_OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
needs_repository = pytest.mark.skipif(
    not (ROOT / "benchmarks").is_dir(), reason="the sdist does not contain the repository"
)


def decisions():
    """Return the pages of decisions."""
    return sorted((DOCS / "decisions").glob("*.md"))


def pages():
    """Return README and every page of the documentation."""
    return [ROOT / "README.md", *sorted(DOCS.glob("*.md")), *decisions()]


@pytest.mark.parametrize(
    "script", [one for one in EXAMPLES if one.stem not in ON_A_CLUSTER], ids=lambda path: path.stem
)
def test_example_runs_and_prints(script, capsys):
    """Every example runs as a script."""
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_example_begins_with_a_title(script):
    """The gallery requires an underlined title."""
    title, line, *_ = ast.get_docstring(ast.parse(script.read_text())).splitlines()
    assert title
    assert line == "=" * len(title)


@pytest.mark.parametrize("page", pages(), ids=lambda path: path.stem)
def test_code_of_a_page_runs_and_gives_the_shown_output(page):
    """Blocks run from top to bottom in one namespace."""
    names = {}
    for block in re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL):
        test = doctest.DocTestParser().get_doctest(block, names, page.name, str(page), 0)
        assert test.examples, f"{page.name} has a block of code without >>>"
        output = []
        runner = doctest.DocTestRunner(optionflags=DOCTEST_OPTIONS, verbose=False)
        runner.run(test, out=output.append, clear_globs=False)
        assert not runner.failures, "".join(output)
        names = test.globs


def prose(page):
    """Return the text of a page without code."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", text)


def measured():
    """Return the text of all results."""
    return "".join(page.read_text() for page in (ROOT / "results").rglob("*.md"))


@needs_repository
def test_cells_with_numbers_come_from_the_results():
    """A score with its interval is quoted as it is in a file under results."""
    known = measured()
    cells = [
        (page.name, cell.strip())
        for page in pages()
        for row in re.findall(r"^\|.*\|$", page.read_text(), flags=re.MULTILINE)
        for cell in row.strip("|").split("|")
        if re.fullmatch(r" *[-+]?\d+\.\d+( \([^|]*\))? *", cell)
    ]
    assert cells
    assert [(page, cell) for page, cell in cells if f"| {cell} |" not in known] == []


@needs_repository
def test_decimals_in_prose_come_from_the_results():
    """Signs aside; settings are written as code."""
    known = set(re.findall(r"\d+\.\d+", measured()))
    unknown = []
    for page in pages():
        if page.parent.name == "decisions" or page.stem in ("architecture", "support"):
            continue  # constants and versions
        text = re.sub(r"arxiv\S*", "", prose(page), flags=re.IGNORECASE)
        decimals = re.findall(r"(?<![\w.])\d+\.\d+(?![\w.]\w)", text)
        unknown += [(page.name, number) for number in decimals if number not in known]
    assert unknown == []


def links(page):
    """Yield the file and the anchor of every relative link of a page."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\((?![a-z]+:)([^)\s]+)\)", text):
        file, _, anchor = target.partition("#")
        yield (page.parent / file if file else page), anchor


def anchors(page):
    """Return the anchors of the headings of a page, as code hosts and the site create them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}


@needs_repository
def test_links_inside_the_repository_are_valid():
    """Files and headings exist."""
    others = [ROOT / name for name in ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")]
    missing = [
        (page.name, str(file), anchor)
        for page in [*pages(), *others]
        for file, anchor in links(page)
        if not file.exists() or (anchor and anchor not in anchors(file))
    ]
    assert missing == []


def test_every_page_is_linked():
    """The index, the guide and the page for developers link all pages."""
    lists = [DOCS / f"{name}.md" for name in ("index", "guide", "developers")]
    found = {file.resolve() for page in lists for file, _ in links(page)}
    assert {page.name for page in DOCS.glob("*.md") if page.resolve() not in found} == {"index.md"}


def test_every_decision_is_listed():
    """The index of decisions has a line for each page, with its title."""
    index = DOCS / "decisions" / "index.md"
    titles = {
        f"[{page.read_text().splitlines()[0].removeprefix('# ')}]({page.name})"
        for page in decisions()
        if page != index
    }
    assert set(re.findall(r"\[.*?\]\(0\d{3}.*?\.md\)", index.read_text())) == titles


def n_words(page):
    """Return the number of words as ``wc -w`` counts them."""
    return len(page.read_text().split())


def test_documents_are_short():
    """README fits two screens, and all pages can be read in about an hour."""
    assert n_words(ROOT / "README.md") <= MAX_WORDS["README"]
    assert sum(map(n_words, DOCS.glob("*.md"))) <= MAX_WORDS["pages of users"]


def test_from_gridsearchcv_lists_every_parameter_and_attribute():
    """The tables of the page are complete."""
    page = (DOCS / "from-gridsearchcv.md").read_text()
    parameters = inspect.signature(GridSearchLZO).parameters
    fitted = re.findall(r"^    (\w+_) :", inspect.getsource(GridSearchLZO), flags=re.MULTILINE)
    assert fitted
    assert [name for name in [*parameters, *fitted] if f"`{name}`" not in page] == []


@needs_repository
def test_files_named_in_the_architecture_exist():
    """One call is followed through existing files."""
    text = (DOCS / "architecture.md").read_text()
    files = set(re.findall(r"`([a-z_]+/_\w+\.py)`", text))
    assert files
    assert [file for file in files if not (ROOT / "src" / "leavezero" / file).exists()] == []
