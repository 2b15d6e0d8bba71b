"""Save a fitted pipeline with what it expects of a table, and load it without running code."""

import json
import warnings
import zipfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from platform import python_version
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import InconsistentVersionWarning

from leavezero._version import __version__
from leavezero.cli._output import TableError, part_file, quoted
from leavezero.cli._read_table import Kind

FORMAT = 2
_MEMBER = "leavezero.json"  # next to the files that skops writes into the same archive
_ABOUT = ("target", "task", "columns", "versions")
_SHOWN_VERSIONS = ("leavezero", "scikit-learn", "skrub")


@dataclass(frozen=True, eq=False)
class TableModel:
    """A fitted pipeline that starts with skrub's Cleaner, and what it expects of a table."""

    pipeline: Any
    target: str
    task: str
    columns: dict[str, Kind]
    versions: dict[str, str]

    @property
    def new_columns(self) -> list[str]:
        """The names of the columns that :meth:`predict` returns."""
        return ["prediction", *(f"probability_{name}" for name in self._classes())]

    def predict(self, X: Any) -> Any:
        """Return predictions, and probabilities of classes if available, as a frame.

        X is what :func:`to_features` returns for the columns of the model.
        """
        found = {"prediction": self.pipeline.predict(X)}
        if self._classes():
            probabilities = np.asarray(self.pipeline.predict_proba(X))
            found |= dict(zip(self.new_columns[1:], probabilities.T, strict=True))
        return pd.DataFrame(found, index=X.index)

    def _classes(self) -> list[Any]:
        if self.task != "classification" or not hasattr(self.pipeline, "predict_proba"):
            return []
        return list(self.pipeline.classes_)


def trusted_types() -> set[str]:
    """Return the types that models may contain; the file states why."""
    text = files("leavezero.cli").joinpath("trusted_types.txt").read_text(encoding="utf-8")
    return {line for line in text.splitlines() if not line.startswith("#")}


def current_versions() -> dict[str, str]:
    """Return the versions in use."""
    packages = ("scikit-learn", "skrub", "numpy", "pandas")
    found = {name: version(name) for name in packages}
    return {"leavezero": __version__, **found, "python": python_version()}


def save_model(model: TableModel, path: Path) -> list[str]:
    """Write a model to a file; return the types that must be trusted by name to load it.

    ``skops.io.load`` reads the same file as a pipeline.
    """
    from skops import io

    about = {name: getattr(model, name) for name in _ABOUT} | {"format": FORMAT}
    with part_file(path) as part:
        io.dump(model.pipeline, part, compression=zipfile.ZIP_DEFLATED)
        with zipfile.ZipFile(part, "a") as archive:
            archive.writestr(_MEMBER, json.dumps(about, indent=1))
    return [name for name in io.get_untrusted_types(file=path) if name not in trusted_types()]


def load_model(path: Path, trusted: Collection[str] = ()) -> TableModel:
    """Read a model from a file if all types in it are known or trusted by name."""
    from skops import io

    about = _read_about(path)
    try:
        types = io.get_untrusted_types(file=path)
        unknown = [name for name in types if name not in trusted_types() | set(trusted)]
        if not unknown:
            with warnings.catch_warnings():
                # version_notice reports this
                warnings.simplefilter("ignore", InconsistentVersionWarning)
                pipeline = io.load(path, trusted=types)
    except Exception as error:  # skops raises anything for a damaged file or another version
        raise TableError(
            f"{path} cannot be loaded ({type(error).__name__}: {error}). It was saved with "
            f"{_shown(about['versions'])}; installed are {_shown(current_versions())}."
        ) from error
    if unknown:
        options = " ".join(f"--trusted {name}" for name in unknown)
        raise TableError(
            f"{path} contains types that built-in models do not have: {quoted(unknown)}. If its "
            f"source is known to you, add {options}"
        )
    return TableModel(pipeline, *(about[name] for name in _ABOUT))


def version_notice(model: TableModel) -> Iterator[str]:
    """Yield a notice if a model was saved with other versions."""
    saved, here = _shown(model.versions), _shown(current_versions())
    if saved != here:
        yield (
            f"The model was saved with {saved}; installed are {here}. Predictions may differ; run "
            "select again to be sure."
        )


def _shown(versions: dict[str, str]) -> str:
    return ", ".join(f"{name} {versions.get(name, '?')}" for name in _SHOWN_VERSIONS)


def _read_about(path: Path) -> dict[str, Any]:
    """Return what is stored next to the pipeline."""
    if not path.is_file():
        raise TableError(f"There is no file {str(path)!r}. Use a model.skops written by select.")
    try:
        with zipfile.ZipFile(path) as archive:
            about: dict[str, Any] = json.loads(archive.read(_MEMBER))
        found = f"format {about['format']!r}, saved with {_shown(about['versions'])}"
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, AttributeError) as error:
        raise TableError(
            f"{path} is not a model written by select. Use a model.skops from its output."
        ) from error
    if about["format"] != FORMAT:
        raise TableError(f"{path} must have format {FORMAT}, got {found}. Run select again.")
    return about
