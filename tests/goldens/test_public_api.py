"""Snapshot of the public names with their parameters and defaults.

Rewrite public_api.json with ``uv run python tests/goldens/test_public_api.py``.
"""

import importlib
import inspect
import json
import re
from pathlib import Path

import pytest

PACKAGES = [
    "leavezero",
    "leavezero.augment",
    "leavezero.diagnostics",
    "leavezero.exceptions",
    "leavezero.leave_one_out",
    "leavezero.search",
    "leavezero.semi_supervised",
    "leavezero.testing",
    "leavezero.unsupervised",
]
SNAPSHOT = Path(__file__).with_name("public_api.json")


def described(thing):
    """Return the parameters of a class or function, or the type of a constant."""
    if inspect.isclass(thing) and issubclass(thing, BaseException):
        return "exception"
    if inspect.isclass(thing) or callable(thing):
        return list(_written(inspect.signature(thing).parameters.values()))
    return type(thing).__name__


def _written(parameters):
    """Yield parameters as in a signature, with their defaults but without their types."""
    named_only = False
    for one in parameters:
        if one.kind is one.KEYWORD_ONLY and not named_only:
            yield "*"
        named_only |= one.kind in (one.KEYWORD_ONLY, one.VAR_POSITIONAL)
        stars = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        default = re.sub(r" at 0x[0-9a-f]+", "", repr(one.default))
        yield f"{stars}{one.name}" + ("" if one.default is one.empty else f"={default}")


def public_names(package):
    module = importlib.import_module(package)
    return {name: described(getattr(module, name)) for name in sorted(module.__all__)}


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_are_the_recorded_ones(package):
    recorded = json.loads(SNAPSHOT.read_text(encoding="utf-8"))[package]
    assert public_names(package) == recorded


def test_every_recorded_package_is_checked():
    assert sorted(json.loads(SNAPSHOT.read_text(encoding="utf-8"))) == PACKAGES


def record_snapshot():
    """Write the snapshot, one name per line."""
    packages = []
    for package in PACKAGES:
        names = public_names(package).items()
        lines = [f"  {json.dumps(name)}: {json.dumps(thing)}" for name, thing in names]
        packages.append(f" {json.dumps(package)}: {{\n" + ",\n".join(lines) + "\n }")
    SNAPSHOT.write_text("{\n" + ",\n".join(packages) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    record_snapshot()
