"""The size and order of the source tree, and the words that are used in it."""

import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "leavezero"
MODULES = sorted(SOURCE.rglob("*.py"))

MAX_MODULES = 117
MAX_LINES = 24_700
MAX_MODULES_PER_PACKAGE = 22

in_repository = pytest.mark.skipif(
    not (ROOT / "docs").is_dir(), reason="requires the repository, not only the package"
)


# Layout


def packages():
    """Return the packages and modules directly below leavezero."""
    names = {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in MODULES}
    return names - {"__init__", "_version"}


def test_number_of_modules_and_lines():
    assert len(MODULES) <= MAX_MODULES
    assert sum(len(path.read_text().splitlines()) for path in MODULES) <= MAX_LINES


def test_packages_are_small():
    sizes = Counter(path.parent.name for path in MODULES)
    assert {name: n for name, n in sizes.items() if n > MAX_MODULES_PER_PACKAGE} == {}


def test_module_names_are_unique():
    counts = Counter(path.stem for path in MODULES)
    del counts["__init__"]
    assert [name for name, n in counts.items() if n > 1] == []


@in_repository
def test_architecture_lists_the_packages_in_the_order_of_the_layers():
    table = re.findall(r"^\| (`.*?) \|", (ROOT / "docs/architecture.md").read_text(), re.MULTILINE)
    listed = [name for cell in table for name in re.findall(r"`(\w+)`", cell)]
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    order = [set(re.findall(r"\w+", layer)) for layer in layers]
    assert set(listed) == packages() == set().union(*order)
    ranks = [next(at for at, layer in enumerate(order) if name in layer) for name in listed]
    assert ranks == sorted(ranks)


# Vocabulary

# Terms that have a standard name, as whole words or parts of identifiers.
TERMS = """ballot beside cargo contender contenders crew curse dear doubt doubts draft drafts
faculty families family finding findings gains given_rows hear heard hears honest house journal
kink luck machines mend mended mold nugget nursery origins room rooms said says sides speak speaks
stranger strangers taste teacher teachers tell tells testimony told trust twin twins unseen verdict
verdicts wish witness witnesses"""

# Phrases in which one of these words is the standard name.
ALLOWED = {
    r"\.tell\(|def tell\(|`tell`|``tell``|`tell\(": "the ask-and-tell interface; files",
    r"Journal(Storage|FileBackend)|storages\.journal": "classes of Optuna",
    r"V\. (?=[A-Z])": "an initial",
    r"[Ss]upport vector machines": "SVMs",
    r"-journal": "the suffix of SQLite's rollback file",
    r"font-family": "CSS",
    r"exponential family|family of (probability )?distributions": "statistics",
    r"house prices?|houses": "data",
    r"avg_price_per_room": "a column of data",
}

CLEAN = [
    "README.md",
    "CHANGELOG.md",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "pyproject.toml",
    ".github",
    "benchmarks",
    "changes",
    "conda",
    "docs",
    "examples",
    "experiments",
    "src",
    "tests",
]
TEXT = {".html", ".j2", ".js", ".md", ".py", ".rst", ".toml", ".yaml", ".yml"}


def old_terms(text):
    """Return the terms in a text. A part of CamelCase counts as a word, as in snake_case."""
    for phrase in ALLOWED:
        text = re.sub(phrase, "", text)
    # The letter V stands for the validation set in formulas only, which are code.
    found = re.findall(r"(?<![\w`(\[\"'.])V(?:'s)?(?![\w`)\]=\"(])", text)
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", text)
    terms = [term.replace("_", "[ _]") for term in TERMS.split()]
    return found + re.findall(rf"(?<![A-Za-z])(?:{'|'.join(terms)})(?![A-Za-z])", words, re.I)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("what a model said of unseen rows", ["said", "unseen"]),
        ("trust_report TrustReport trusted", ["trust", "Trust"]),
        ("given rows of V, V's bias", ["V", "V's", "given rows"]),
        ("def tell(results); support vector machines; V=3; `V`", []),
    ],
)
def test_old_terms_are_found(text, expected):
    assert old_terms(text) == expected


@in_repository
@pytest.mark.parametrize("path", CLEAN)
def test_standard_terms_are_used(path):
    root = ROOT / path
    files = [root] if root.is_file() else sorted(root.rglob("*"))
    found = {
        (str(file.relative_to(ROOT)), number): terms
        for file in files
        if file.suffix in TEXT and file != Path(__file__)
        if not {"_build", "_generated"} & set(file.parts)  # what the site is built from
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if (terms := old_terms(line))
    }
    assert files
    assert found == {}
