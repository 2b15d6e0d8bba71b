"""What README and the examples show, runs."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_prints(script, capsys):
    """A reader can start from any of them."""
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out


def pages():
    """Return README and every page of the documentation."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_the_code_in_readme_and_docs_runs():
    """A page is read from its beginning; a block may use what stands above it."""
    for page in pages():
        names = {}
        for block in re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL):
            exec(compile(block, page.name, "exec"), names)


def test_every_figure_in_a_table_comes_from_the_results():
    """A row of figures stands to the letter in a file that a command made."""
    made = "".join(page.read_text() for page in (ROOT / "results").rglob("*.md"))
    rows = [
        row
        for page in pages()
        for row in page.read_text().splitlines()
        if re.fullmatch(r"\|[^|]+(\| *[-+]?\d+\.\d+( \([^|]*\))? *)+\|", row)
    ]
    assert rows
    assert [row for row in rows if row not in made] == []


def test_every_decimal_on_the_page_of_results_comes_from_them():
    """A verdict quotes figures that a command made, signs aside."""
    made = "".join(page.read_text() for page in (ROOT / "results").rglob("*.md"))
    known = set(re.findall(r"\d+\.\d+", made))
    text = re.sub(r"```.*?```", "", (ROOT / "docs" / "results.md").read_text(), flags=re.DOTALL)
    told = re.findall(r"(?<![\w.])\d+\.\d+(?![\w.]\w)", text)
    assert told
    assert sorted(set(told) - known) == []
