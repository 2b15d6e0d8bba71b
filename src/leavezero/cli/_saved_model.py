"""A model on disk: saved by ``select``, loaded without running code, used by ``predict``."""

import json
import warnings
import zipfile
from collections import Counter
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
from leavezero.cli._output import (
    TableError,
    counted,
    part_file,
    print_notice,
    print_results,
    progress_bar,
    quoted,
)
from leavezero.cli._read_table import (
    Kind,
    ReadOptions,
    TableFile,
    base_name,
    is_missing,
    open_table,
    to_features,
)

FORMAT = 2
_MEMBER = "leavezero.json"  # next to the files that skops writes into the same archive
_ABOUT = ("target", "task", "columns", "versions")
_SUFFIXES = (".csv", ".tsv", ".parquet")  # of tables with predictions
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
        """Return predictions, and probabilities of classes if available, for converted columns."""
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
    """Write a model for ``skops.io.load``; return the types that must be trusted by name."""
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


def run_predict(
    model_path: Path,
    table: Path,
    options: ReadOptions,
    *,
    out: Path | None,
    trusted: Collection[str],
    quiet: bool,
    as_json: bool,
) -> None:
    """Write a table with predictions in addition to its own columns."""
    model, file = load_model(model_path, trusted), open_table(table, options)
    if out is None:
        arrow = file.format in ("parquet", "feather")
        out = Path(f"{base_name(table)}-predictions{'.parquet' if arrow else '.csv'}")
    _check_table(model, file, out)
    unread: Counter[str] = Counter()
    n_rows = _write_blocks(_predict_blocks(model, file, unread, quiet), out, file)
    if not quiet:
        print_notice(*_predict_notices(model, file, unread))
    found = {"out": str(out), "n_rows": n_rows, "added": model.new_columns}
    line = f"{counted(n_rows, 'row')} with {', '.join(model.new_columns)} written to {out}"
    print_results(found, [line], quiet=quiet, as_json=as_json)


def _check_table(model: TableModel, file: TableFile, out: Path) -> None:
    missing = [name for name in model.columns if name not in file.names]
    if missing:
        raise TableError(
            f"The model requires columns that {file.path} does not have: {quoted(missing)}."
        )
    existing = [name for name in model.new_columns if name in file.names]
    if existing:
        raise TableError(f"{file.path} already has columns {quoted(existing)}. Rename them.")
    if out.suffix.lower() not in _SUFFIXES:
        raise TableError(f"--out must end in {', '.join(_SUFFIXES)}, got {str(out)!r}.")
    if out.exists() and out.samefile(file.path):
        raise TableError("--out must differ from the table itself.")
    if not out.parent.is_dir():
        raise TableError(f"The directory of --out {str(out)!r} does not exist.")


def _predict_blocks(
    model: TableModel, file: TableFile, unread: Counter[str], quiet: bool
) -> Iterator[Any]:
    """Yield blocks with predictions; count the cells that are not of their column's kind."""
    with progress_bar(quiet) as progress:
        task = progress.add_task("predicting", total=None, text="")
        for block in file.blocks():
            converted = to_features(block, model.columns, file.options.decimal)
            for name, kind in model.columns.items():
                if kind != "string":
                    lost = converted[name].isna().to_numpy() & ~is_missing(block[name])
                    unread[name] += int(lost.sum())
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of unknown categories and unreadable dates
                found = model.predict(converted)
            yield pd.concat([block, found], axis=1)
            progress.advance(task, len(block))


def _predict_notices(model: TableModel, file: TableFile, unread: Counter[str]) -> Iterator[str]:
    yield from version_notice(model)
    extra = [name for name in file.names if name not in (*model.columns, model.target)]
    if extra:
        yield f"Columns that the model does not use: {quoted(extra)}."
    for name, count in (+unread).items():
        yield (
            f"{counted(count, 'cell')} of column {name!r} cannot be read as "
            f"{model.columns[name]}; treated as missing."
        )


def _write_blocks(blocks: Iterator[Any], out: Path, file: TableFile) -> int:
    """Write blocks to a file completely or not at all; return the number of rows."""
    suffix, n_rows = out.suffix.lower(), 0
    sep, decimal = "\t" if suffix == ".tsv" else ",", "."
    if suffix == ".csv" and file.format == "csv" and file.options.sep != "\t":
        sep, decimal = str(file.options.sep), file.options.decimal  # as the table itself
    with part_file(out) as part:
        if suffix == ".parquet":
            # at once: types that pandas infers from a block may differ, such as integers with gaps
            whole = pd.concat(list(blocks))
            whole.to_parquet(part, index=False)
            return len(whole)
        with part.open("w", encoding="utf-8", newline="") as stream:
            for block in blocks:
                block.to_csv(stream, sep=sep, decimal=decimal, index=False, header=n_rows == 0)
                n_rows += len(block)
    return n_rows
