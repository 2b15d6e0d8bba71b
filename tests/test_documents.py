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


def test_the_code_in_readme_runs():
    """Each block stands on its own."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})


def test_every_regret_in_the_guide_comes_from_the_results():
    """A row of figures stands to the letter in a file that a command made."""
    made = "".join(page.read_text() for page in (ROOT / "results" / "regret").glob("*.md"))
    rows = [
        row
        for page in ("README.md", "docs/choosing-an-augmenter.md")
        for row in (ROOT / page).read_text().splitlines()
        if re.fullmatch(r"\|[^|]+(\| *[-+]?\d+\.\d+ *)+\|", row)
    ]
    assert rows
    assert [row for row in rows if row not in made] == []
