"""A model with all that is needed to use it tomorrow, in one file without code in it."""

import json
import os
import warnings
import zipfile
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from platform import python_version
from typing import Any

import numpy as np
import pandas as pd
import sklearn
from sklearn.exceptions import InconsistentVersionWarning

from leavezero._version import __version__
from leavezero.engine import TRUSTED_TYPES
from leavezero.tabular._errors import TableError
from leavezero.tabular._schema import Schema
from leavezero.tabular._words import listed

FORMAT = 1
_MEMBER = "leavezero.json"  # beside what skops writes into the same archive
# What the curated models are made of and skops does not know by itself. A type that runs code of
# its choice at loading is not among them: what partial calls is listed, and asked for, by itself.
TRUSTED = (
    "functools.partial",
    "leavezero.tabular._dates.DateParts",
    "sklearn.utils.validation.check_array",
    *sorted(TRUSTED_TYPES),
)


@dataclass(frozen=True, eq=False)
class TableModel:
    """A fitted pipeline, and what it expects of a table.

    Parameters
    ----------
    pipeline : Pipeline
        What was fitted.
    schema : Schema
        The columns that it learned from.
    target : str
        The column that it predicts.
    task : "classification" or "regression"
        What its predictions are.
    versions : dict of str to str
        What it was made with.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from leavezero.tabular import Column, Schema, TableModel, make_pipeline_for
    >>> schema = Schema((Column("a", "number", "float64"),))
    >>> pipeline = make_pipeline_for(schema, DecisionTreeClassifier(), "plain")
    >>> pipeline = pipeline.fit(pd.DataFrame({"a": [1.0, 2.0]}), ["no", "yes"])
    >>> model = TableModel(pipeline, schema, "y", "classification", {})
    >>> model.predict(pd.DataFrame({"a": ["1", "2"]})).to_dict("records")[1]
    {'prediction': 'yes', 'probability_no': 0.0, 'probability_yes': 1.0}
    """

    pipeline: Any
    schema: Schema
    target: str
    task: str
    versions: dict[str, str]

    @property
    def new_columns(self) -> list[str]:
        """The names of the columns that predictions have."""
        if not self._has_chances():
            return ["prediction"]
        return ["prediction", *(f"probability_{name}" for name in self.pipeline.classes_)]

    def predict(self, table: Any, *, decimal: str = ".") -> Any:
        """Return a frame: the prediction for each row, and probabilities where there are any."""
        self.schema.check_names(table.columns)
        X = self.schema.frame(table, decimal=decimal)
        made = {"prediction": self.pipeline.predict(X)}
        if self._has_chances():
            chances = np.asarray(self.pipeline.predict_proba(X))
            made |= dict(zip(self.new_columns[1:], chances.T, strict=True))
        return pd.DataFrame(made, index=table.index)

    def _has_chances(self) -> bool:
        return self.task == "classification" and hasattr(self.pipeline, "predict_proba")


def versions() -> dict[str, str]:
    """Return what is at work here.

    Examples
    --------
    >>> from leavezero.tabular import versions
    >>> sorted(versions())
    ['leavezero', 'numpy', 'pandas', 'python', 'scikit-learn']
    """
    return {
        "leavezero": __version__,
        "scikit-learn": sklearn.__version__,
        "numpy": np.__version__,
        "pandas": pd.__version__,
        "python": python_version(),
    }


def save_model(model: TableModel, path: str | Path) -> list[str]:
    """Write a model to a file; return the types in it that must be trusted by name to load it.

    The file is what skops writes, so that ``skops.io.load`` gives the pipeline, and a page of JSON
    beside it.

    Parameters
    ----------
    model : TableModel
        What to write.
    path : str or path
        The file; one that is there is replaced.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.linear_model import Ridge
    >>> from leavezero.tabular import Schema, TableModel, load_model, save_model
    >>> path = Path(tempfile.mkdtemp()) / "model.skops"
    >>> ridge = Ridge().fit([[1], [2]], [1, 2])
    >>> save_model(TableModel(ridge, Schema(()), "y", "regression", {}), path)
    []
    >>> load_model(path).target
    'y'
    """
    from skops import io

    path = Path(path)
    draft = path.with_name(path.name + ".part")
    io.dump(model.pipeline, draft)
    with zipfile.ZipFile(draft, "a") as archive:
        archive.writestr(_MEMBER, json.dumps(_about(model), indent=1))
    os.replace(draft, path)
    return [name for name in io.get_untrusted_types(file=path) if name not in TRUSTED]


def load_model(path: str | Path, trust: Collection[str] = ()) -> TableModel:
    """Read a model from a file, after a look at the types that it holds.

    Parameters
    ----------
    path : str or Path
        What :func:`save_model` wrote.
    trust : collection of str, default=()
        Types beyond those of curated models that may be made.

    Returns
    -------
    TableModel

    Examples
    --------
    >>> from leavezero.tabular import load_model
    >>> load_model("nowhere.skops")
    Traceback (most recent call last):
    leavezero.tabular._errors.TableError: There is no file 'nowhere.skops'. ...
    """
    from skops import io

    path = Path(path)
    about = _read_about(path)
    made_with = about["versions"]
    try:
        unknown = io.get_untrusted_types(file=path)
        _refuse_unknown([name for name in unknown if name not in (*TRUSTED, *trust)], path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InconsistentVersionWarning)  # told by other_versions
            pipeline = io.load(path, trusted=unknown)
    except TableError:
        raise
    except Exception as error:  # whatever a damaged or foreign archive makes of itself
        raise TableError(
            f"{path} cannot be loaded. It was made with {_told(made_with)}, here is "
            f"{_told(versions())}. The reason: {type(error).__name__}: {error}"
        ) from error
    schema = Schema.from_list(about["columns"])
    return TableModel(pipeline, schema, about["target"], about["task"], made_with)


def other_versions(model: TableModel) -> str | None:
    """Return a sentence on the versions if those that matter differ from here; else None.

    Parameters
    ----------
    model : TableModel
        A model that was read from a file.

    Examples
    --------
    >>> from leavezero.tabular import Schema, TableModel, other_versions
    >>> made_with = {"leavezero": "0.0", "scikit-learn": "1.0"}
    >>> other_versions(TableModel(None, Schema(()), "y", "regression", made_with))
    'The model was made with leavezero 0.0 and scikit-learn 1.0, here is ...'
    """
    here = versions()
    if all(model.versions.get(name) == here[name] for name in ("leavezero", "scikit-learn")):
        return None
    return (
        f"The model was made with {_told(model.versions)}, here is {_told(here)}. "
        "Predictions may differ; run select again to be sure."
    )


def _told(found: dict[str, str]) -> str:
    return " and ".join(f"{name} {found.get(name, '?')}" for name in ("leavezero", "scikit-learn"))


def _about(model: TableModel) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "versions": model.versions,
        "target": model.target,
        "task": model.task,
        "columns": model.schema.to_list(),
    }


def _read_about(path: Path) -> dict[str, Any]:
    """Return the page of JSON, if this is a model of select's and one that is understood here."""
    if path.is_dir():
        raise TableError(f"{str(path)!r} is a folder. Give the model.skops in it.")
    if not path.is_file():
        raise TableError(f"There is no file {str(path)!r}. Give the model.skops that select wrote.")
    if path.stat().st_size == 0:
        raise TableError(f"{path} is empty: no model was written to it. Run select again.")
    foreign = f"{path} is no model that select wrote. Give a model.skops from its output folder."
    try:
        with zipfile.ZipFile(path) as archive:
            about = json.loads(archive.read(_MEMBER))
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise TableError(foreign) from error
    if not isinstance(about, dict) or not {"format", "versions"} <= set(about):
        raise TableError(foreign)
    if about["format"] != FORMAT:
        raise TableError(
            f"{path} has format {about['format']!r} and was made with {_told(about['versions'])}; "
            f"here is {_told(versions())}, which reads format {FORMAT}. Run select again."
        )
    return about


def _refuse_unknown(unknown: list[str], path: Path) -> None:
    if unknown:
        words = " ".join(f"--trust {name}" for name in unknown)
        raise TableError(
            f"{path} holds types that curated models do not have: {listed(unknown)}. "
            f"If you know who made it, add {words}."
        )
