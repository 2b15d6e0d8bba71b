"""A model on disk: saved by ``select``, loaded without running code, used by ``predict``."""

import json
import lzma
import sys
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from platform import python_version
from typing import Any, get_args

import numpy as np
import pandas as pd
from sklearn.exceptions import InconsistentVersionWarning
from skrub import StringEncoder

from leavezero._version import __version__
from leavezero.cli._output import (
    TableError,
    counted,
    escape_formulas,
    part_file,
    print_notice,
    print_results,
    progress_bar,
    quoted,
)
from leavezero.cli._read_table import (
    MAX_EXPANSION,
    SMALL_SIZE,
    Kind,
    ReadOptions,
    TableFile,
    base_name,
    is_missing,
    open_table,
    to_features,
    to_numbers,
)

FORMAT = 4
STDOUT = Path("-")
_MEMBER = "leavezero.json"  # next to the files that skops writes into the same archive
_ABOUT = {  # fields with their types
    "target": str,
    "task": str,
    "columns": dict,
    "profile": dict,
    "source": dict,
    "versions": dict,
}
_SUFFIXES = (".csv", ".tsv", ".parquet")  # of tables with predictions
_MIN_DRIFT_ROWS, _DRIFT = 30, 0.4  # share of values outside the middle 80 % of the training data
_SHOWN_VERSIONS = ("leavezero", "scikit-learn", "skrub")


@dataclass(frozen=True, eq=False)
class TableModel:
    """A fitted pipeline that starts with skrub's Cleaner, and what it expects of a table."""

    pipeline: Any
    target: str
    task: str
    columns: dict[str, Kind]
    profile: dict[str, Any]
    source: dict[str, Any]
    versions: dict[str, str]

    @property
    def classes(self) -> list[Any]:
        """The classes that have probabilities."""
        if self.task != "classification" or not hasattr(self.pipeline, "predict_proba"):
            return []
        return list(self.pipeline.classes_)

    def new_columns(self, proba: bool = False) -> list[str]:
        """Return the names of the columns that :meth:`predict` returns."""
        return ["prediction", *(f"probability_{name}" for name in self.classes if proba)]

    def predict(self, X: Any, *, proba: bool = False, threshold: float | None = None) -> Any:
        """Return predictions, and probabilities of classes on request, for converted columns.

        With a threshold, the second of two classes is predicted from this probability on.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of unknown categories and unreadable dates
            if not proba and threshold is None:
                return pd.DataFrame({"prediction": self.pipeline.predict(X)}, index=X.index)
            probabilities = np.asarray(self.pipeline.predict_proba(X))
        chosen = probabilities.argmax(axis=1)
        if threshold is not None:
            chosen = (probabilities[:, 1] >= threshold).astype(int)
        found = {"prediction": np.asarray(self.classes)[chosen]}
        if proba:
            found |= dict(zip(self.new_columns(True)[1:], probabilities.T, strict=True))
        return pd.DataFrame(found, index=X.index)


class Vocabulary(Mapping[str, int]):
    """The columns of a text vectorizer's terms, written as one text.

    Of a dict skops writes and reads each item by itself, which takes seconds for long texts.
    """

    def __init__(self, terms: str) -> None:
        self._terms = terms
        self._columns = {term: column for column, term in enumerate(json.loads(terms))}

    def __reduce__(self) -> tuple[Any, ...]:
        return Vocabulary, (self._terms,)

    def __getitem__(self, term: str) -> int:
        return self._columns[term]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)


@dataclass
class DataNotices:
    """Counts of cells in which new data differ from the training data, by column."""

    model: TableModel
    decimal: str = "."
    n_rows: int = 0
    unread: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    outside: Counter[str] = field(default_factory=Counter)

    def convert(self, block: Any) -> Any:
        """Return the features of a block of rows, and count what is unusual in them."""
        X = to_features(block, self.model.columns, self.decimal)
        self.n_rows += len(X)
        for name, kind in self.model.columns.items():
            values = X[name]
            if kind != "string":
                lost = values.isna().to_numpy() & ~is_missing(block[name])
                self.unread[name] += int(lost.sum())
            if name in self.model.profile["categories"]:
                known = values.isin(self.model.profile["categories"][name]).to_numpy()
                self.unknown[name] += int((~known & ~is_missing(values)).sum())
            if name in self.model.profile["ranges"]:
                low, high = self.model.profile["ranges"][name]
                numbers = to_numbers(values)
                self.outside[name] += int(((numbers < low) | (numbers > high)).sum())
        return X

    def __iter__(self) -> Iterator[str]:
        for name, count in (+self.unread).items():
            yield (
                f"{counted(count, 'cell')} of column {name!r} cannot be read as "
                f"{self.model.columns[name]}; treated as missing."
            )
        for name, count in (+self.unknown).items():
            cells = counted(count, "cell")
            yield f"{cells} of column {name!r} with a category that the training data do not have."
        for name, count in self.outside.items():
            if self.n_rows >= _MIN_DRIFT_ROWS and count > _DRIFT * self.n_rows:
                yield (
                    f"Column {name!r} has drifted: {count:,} of {self.n_rows:,} values are outside "
                    "the middle 80 % of the training data (expected: 20 %)."
                )


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

    for vectorizer in _text_vectorizers(model.pipeline):
        terms = sorted(vectorizer.vocabulary_, key=vectorizer.vocabulary_.get)
        vectorizer.vocabulary_ = Vocabulary(json.dumps(terms))
    about = {name: getattr(model, name) for name in _ABOUT} | {"format": FORMAT}
    with part_file(path) as part:
        # level 1: a large forest is saved in a third of the time, and is a fifth larger
        io.dump(model.pipeline, part, compression=zipfile.ZIP_DEFLATED, compresslevel=1)
        with zipfile.ZipFile(part, "a") as archive:
            archive.writestr(_MEMBER, json.dumps(about, indent=1))
    return [name for name in io.get_untrusted_types(file=path) if name not in trusted_types()]


def _text_vectorizers(pipeline: Any) -> Iterator[Any]:
    """Yield the fitted vectorizers of skrub's encoders of strings."""
    columns = pipeline.named_steps.get("columns")
    used = {} if columns is None else columns.named_transformers_
    if "vectorize" in used:
        for encoder in used["vectorize"].transformers_.values():
            if isinstance(encoder, StringEncoder):
                yield encoder.vectorizer_


def load_model(path: Path, trusted: Collection[str] = ()) -> TableModel:
    """Read a model from a file if all types in it are known or trusted by name."""
    from skops import io
    from skops.io.exceptions import UntrustedTypesFoundException

    about, known = _read_about(path), trusted_types() | set(trusted)
    try:
        with warnings.catch_warnings():
            # version_notice reports this
            warnings.simplefilter("ignore", InconsistentVersionWarning)
            pipeline = io.load(path, trusted=sorted(known))
        for name, value in pipeline.get_params().items():
            if name.rpartition("__")[2] == "input" and value != "content":
                raise ValueError(f"{name}={value!r} would open the cells of a table as files")
    except UntrustedTypesFoundException as error:
        unknown = [name for name in io.get_untrusted_types(file=path) if name not in known]
        options = " ".join(f"--trusted {name}" for name in unknown)
        raise TableError(
            f"{path} contains types that built-in models do not have: {quoted(unknown)}. If its "
            f"source is known to you, add {options}"
        ) from error
    except Exception as error:  # skops raises anything for a damaged file or another version
        raise TableError(
            f"{path} cannot be loaded ({type(error).__name__}: {error}). It was saved with "
            f"{_shown(about['versions'])}; installed are {_shown(current_versions())}."
        ) from error
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
            size = sum(member.file_size for member in archive.infolist())
            if size > max(SMALL_SIZE, MAX_EXPANSION * path.stat().st_size):
                raise ValueError(f"it expands to {size:,} bytes")
            if archive.testzip():
                raise ValueError("the size or the checksum of a part is false")
            about: dict[str, Any] = json.loads(archive.read(_MEMBER))
        found = f"format {about['format']!r}, saved with {_shown(about['versions'])}"
        if not all(isinstance(about.get(name), kind) for name, kind in _ABOUT.items()):
            raise TypeError("its description has other types")
        if not set(about["columns"].values()) <= set(get_args(Kind)):
            raise TypeError("its columns have other kinds")
    except (
        *(zipfile.BadZipFile, KeyError, ValueError, TypeError, AttributeError),
        *(zlib.error, lzma.LZMAError, EOFError, OSError),
        RuntimeError,  # of nested JSON, and of encrypted parts
    ) as error:
        raise TableError(
            f"{path} is not a model written by select. Use a model.skops from its output."
        ) from error
    if about["format"] != FORMAT:
        raise TableError(f"{path} must have format {FORMAT}, got {found}. Run select again.")
    return about


def run_predict(
    path: Path, table: Path, options: ReadOptions, trusted: Collection[str], **kwargs: Any
) -> None:
    """Write a table with predictions in addition to its own columns, and print what was done."""
    as_json, out = kwargs.pop("as_json"), kwargs.pop("out")
    if out is None:
        arrow = table.suffix.lower() in (".parquet", ".feather", ".arrow")
        out = Path(f"{base_name(table)}-predictions{'.parquet' if arrow else '.csv'}")
    found = predict_table(load_model(path, trusted), table, options, out, **kwargs)
    if not kwargs["quiet"]:
        print_notice(*found["notices"])
    if out != STDOUT:
        line = (
            f"{counted(found['n_rows'], 'row')} with {', '.join(found['added'])} written to {out}"
        )
        print_results(found, [line], quiet=kwargs["quiet"], as_json=as_json)


def predict_table(
    model: TableModel,
    table: Path,
    options: ReadOptions,
    out: Path,
    *,
    proba: bool = False,
    threshold: float | None = None,
    quiet: bool = False,
) -> dict[str, Any]:
    """Write a table with predictions; return what was added and notices on the data."""
    if (proba or threshold is not None) and not model.classes:
        raise TableError("--proba and --threshold require a model with probabilities of classes.")
    if threshold is not None and (len(model.classes) != 2 or not 0 <= threshold <= 1):
        raise TableError("--threshold must be between 0 and 1 and requires two classes.")
    file, new = open_table(table, options), model.new_columns(proba)
    _check_table(model, file, out, new)
    counts = DataNotices(model, file.options.decimal)
    blocks = _predict_blocks(counts, file, quiet, proba=proba, threshold=threshold)
    n_rows = _write_blocks(blocks, out, file)
    extra = [name for name in file.names if name not in (*model.columns, model.target)]
    unused = [f"Columns that the model does not use: {quoted(extra)}."] if extra else []
    notices = [*version_notice(model), *unused, *counts]
    return {"out": str(out), "n_rows": n_rows, "added": new, "notices": notices}


def _check_table(model: TableModel, file: TableFile, out: Path, new: list[str]) -> None:
    missing = [name for name in model.columns if name not in file.names]
    if missing:
        raise TableError(
            f"The model requires columns that {file.path} does not have: {quoted(missing)}."
        )
    existing = [name for name in new if name in file.names]
    if existing:
        raise TableError(f"{file.path} already has columns {quoted(existing)}. Rename them.")
    if out == STDOUT:
        return
    if out.suffix.lower() not in _SUFFIXES:
        raise TableError(f"--out must end in {', '.join(_SUFFIXES)}, got {str(out)!r}.")
    if out.exists() and out.samefile(file.path):
        raise TableError("--out must differ from the table itself.")
    if not out.parent.is_dir():
        raise TableError(f"The directory of --out {str(out)!r} does not exist.")


def _predict_blocks(
    notices: DataNotices, file: TableFile, quiet: bool, **options: Any
) -> Iterator[Any]:
    """Yield blocks with predictions."""
    with progress_bar(quiet) as progress:
        task = progress.add_task("predicting", total=None, text="")
        for block in file.blocks():
            found = notices.model.predict(notices.convert(block), **options)
            yield pd.concat([block, found], axis=1)
            progress.advance(task, len(block))


def _write_blocks(blocks: Iterator[Any], out: Path, file: TableFile) -> int:
    """Write blocks to a file completely or not at all; return the number of rows."""
    suffix = out.suffix.lower()
    sep, decimal = "\t" if suffix == ".tsv" else ",", "."
    if suffix != ".tsv" and file.format == "csv" and file.options.sep != "\t":
        sep, decimal = str(file.options.sep), file.options.decimal  # as the table itself

    def write(stream: Any) -> int:
        n_written = 0
        for block in map(escape_formulas, blocks):
            header = n_written == 0
            block.to_csv(stream, sep=sep, decimal=decimal, index=False, header=header)
            n_written += len(block)
        return n_written

    if out == STDOUT:
        return write(sys.stdout)
    with part_file(out) as part:
        if suffix == ".parquet":
            # at once: types that pandas infers from a block may differ, such as integers with gaps
            whole = pd.concat(list(blocks))
            whole.to_parquet(part, index=False)
            return len(whole)
        with part.open("w", encoding="utf-8", newline="") as stream:
            return write(stream)
