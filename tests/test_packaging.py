"""Version, dependencies and files of a release agree with each other."""

import re
import tomllib
from pathlib import Path

import pytest

from leavezero import __version__

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.skipif(
    not (ROOT / "conda").is_dir(), reason="requires the repository, not only the package"
)


def text(name):
    return (ROOT / name).read_text()


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("CITATION.cff", r"^version: (.*)$"),
        ("CHANGELOG.md", r"^## (\S+) \("),
        ("conda/recipe.yaml", r'^  version: "(.*)"$'),
    ],
)
def test_version_is_the_same_everywhere(name, pattern):
    assert re.findall(pattern, text(name), flags=re.MULTILINE)[0] == __version__


def test_conda_recipe_has_the_dependencies_of_the_package():
    project = tomllib.loads(text("pyproject.toml"))["project"]
    required = {re.sub(r"(?=[<>=])", " ", one, count=1) for one in project["dependencies"]}
    run = re.search(r"^  run:\n(.*?)^  \w", text("conda/recipe.yaml"), re.MULTILINE | re.DOTALL)
    listed = set(re.findall(r"^    - (.*)$", run[1], flags=re.MULTILINE))
    assert listed == required | {f"python {project['requires-python']}"}
    scripts = [f"{name} = {target}" for name, target in project["scripts"].items()]
    assert all(script in text("conda/recipe.yaml") for script in scripts)


def test_news_fragments_have_a_known_type():
    kinds = [
        one["directory"]
        for one in tomllib.loads(text("pyproject.toml"))["tool"]["towncrier"]["type"]
    ]
    names = [path.name for path in (ROOT / "changes").glob("*.md") if path.name != "README.md"]
    assert [name for name in names if name.split(".")[-2] not in kinds] == []
