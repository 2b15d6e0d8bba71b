"""Code in README, docs and examples runs; links, numbers and names in them are right."""

import ast
import doctest
import inspect
import re
import runpy
from pathlib import Path

import pytest
from sklearn.datasets import load_wine
from typer.testing import CliRunner

from leavezero import CandidateSearchLZO, GridSearchLZO
from leavezero.cli._commands import app
from leavezero.diagnostics import Check
from leavezero.diagnostics._diagnostic_report import TITLES

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
ON_A_CLUSTER = {"dask_cluster"}  # tests/search/test_clusters.py runs it
MAX_WORDS = {"README": 550, "pages of users": 12_000}
ROOT_PAGES = ("CONTRIBUTING", "SECURITY", "CODE_OF_CONDUCT", "CHANGELOG")
MAX_LINE = 120  # characters of prose; tables and code are not wrapped
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


def blocks_of_code(page, language="python"):
    """Return the blocks of code of a page."""
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(), flags=re.DOTALL)


def run_blocks(page, blocks):
    """Run blocks from top to bottom in one namespace and compare their output."""
    names = {}
    for block in blocks:
        test = doctest.DocTestParser().get_doctest(block, names, page.name, str(page), 0)
        assert test.examples, f"{page.name} has a block of code without >>>"
        assert any(one.want for one in test.examples), f"{page.name} has a block without output"
        output = []
        runner = doctest.DocTestRunner(optionflags=DOCTEST_OPTIONS, verbose=False)
        runner.run(test, out=output.append, clear_globs=False)
        assert not runner.failures, "".join(output)
        names = test.globs
    return names


@pytest.mark.parametrize("page", pages(), ids=lambda path: path.stem)
def test_code_of_a_page_runs_and_gives_the_shown_output(page):
    run_blocks(page, blocks_of_code(page))


def test_best_candidate_of_readme_is_inside_its_grid():
    names = run_blocks(ROOT / "README.md", blocks_of_code(ROOT / "README.md"))
    for name, value in names["search"].best_params_.items():
        assert min(names["grid"][name]) < value < max(names["grid"][name])


def run_with_libraries(page, *libraries):
    """Run all blocks; those in pycon require groups of pyproject.toml."""
    for library in libraries:
        pytest.importorskip(library)
    run_blocks(page, blocks_of_code(page, "(?:python|pycon)"))


def test_code_with_further_libraries_runs():
    run_with_libraries(DOCS / "libraries.md", "catboost", "imblearn", "polars", "skorch")


@pytest.mark.filterwarnings("ignore")  # of the clusters
def test_code_with_clusters_runs(monkeypatch):
    monkeypatch.setenv("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")  # as the page advises
    run_with_libraries(DOCS / "long-searches.md", "distributed", "ray")


def test_output_of_select_is_as_shown(tmp_path, monkeypatch):
    """Apart from its time; the report is not written."""
    page = DOCS / "command-line.md"
    command = re.search(r"`leavezero (select .*?)`", page.read_text())[1]
    (shown,) = blocks_of_code(page, "text")
    wine = load_wine(as_frame=True).frame.rename(columns={"target": "cultivar"})
    wine.to_csv(tmp_path / "wine.csv", index=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(CandidateSearchLZO, "to_html", lambda self, **options: "")
    result = CliRunner().invoke(app, [*command.split(), "--jobs", "1"])
    printed, shown = (
        re.sub(r"in [\d.]+ s\.", "", " ".join(text.split())) for text in (result.stdout, shown)
    )
    assert printed == shown


def without_code(text):
    """Return a text without blocks of code."""
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


def prose(page):
    """Return the text of a page without code, and without tables that are filled in."""
    text = re.sub(r"<!-- measured.*?<!-- end", "", without_code(page.read_text()), flags=re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", text)


def measured():
    """Return the text of all results."""
    return "".join(page.read_text() for page in (ROOT / "results").rglob("*.md"))


@needs_repository
def test_measured_tables_are_those_of_the_results():
    """After a change of results: uv run python docs/_measured.py."""
    module = runpy.run_path(str(DOCS / "_measured.py"))
    pages = module["pages"]()
    assert {page.stem for page in pages} >= {"README", "results"}
    assert [
        page.name for page in pages if page.read_text() != module["filled"](page.read_text())
    ] == []


@needs_repository
def test_results_support_the_claims_of_readme_and_faq():
    """Regret like that of CV, a score closer to the test score, less time than 5-fold CV."""
    module = runpy.run_path(str(DOCS / "_measured.py"))
    regret, *differences, bias, _, cost = module["summary"]("reporting-300")
    assert len(differences) == 2  # with and without neural networks
    assert not any(module["sign"](cell) > 0 for row in differences for cell in row[2:])
    assert float(regret[1]) <= 1.1 * min(map(float, regret[2:]))
    assert abs(float(bias[1])) <= abs(float(bias[3]))
    assert float(bias[1]) < min(map(float, bias[2:]))  # "less optimistic"
    assert 1.5 * float(cost[1]) <= float(cost[2])
    ratios = [
        float(row["ratio"]) for row in module["read_table"]("speed/speed.md", "current").values()
    ]
    assert sorted(ratios)[len(ratios) // 2] >= 3.5  # "about four times faster"


@needs_repository
def test_cells_with_numbers_come_from_the_results():
    """A score with its interval is quoted as it is in a file under results."""
    known = measured()
    cells = [
        (page.name, cell.strip())
        for page in pages()
        for row in re.findall(r"^\|.*\|$", prose(page), flags=re.MULTILINE)
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
    text = without_code(page.read_text())
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


def for_developers():
    """Return the pages that are linked from the page for developers only."""
    return {file.resolve() for file, _ in links(DOCS / "developers.md")} | {DOCS / "developers.md"}


def n_words(page):
    """Return the number of words, code included; bars and rules of tables are no words."""
    return sum(bool(re.search(r"\w", word)) for word in page.read_text().split())


def test_documents_are_short():
    """README fits two screens, and all pages for users can be read in about an hour."""
    assert n_words(ROOT / "README.md") <= MAX_WORDS["README"]
    users = [page for page in DOCS.glob("*.md") if page.resolve() not in for_developers()]
    assert sum(map(n_words, users)) <= MAX_WORDS["pages of users"]


def test_lines_of_prose_are_short():
    """So that changes of a sentence are readable; links may be longer than a line."""
    long = [
        (page.name, line)
        for page in [*pages(), *(ROOT / f"{name}.md" for name in ROOT_PAGES)]
        if page.exists()  # the sdist has only some
        for line in without_code(page.read_text()).splitlines()
        if len(line) > MAX_LINE and " " in line.strip() and not line.startswith("|")
    ]
    assert long == []


def test_every_check_has_a_heading():
    """The address in its message; there are no headings of other checks."""
    addresses = [Check(code, "ok", "").page.split("#") for code in TITLES]
    (page,) = {file for file, _ in addresses}
    headings = {anchor for anchor in anchors(ROOT / page) if anchor.startswith("lz")}
    assert headings == {anchor for _, anchor in addresses}


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
