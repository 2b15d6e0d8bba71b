"""Columns of all kinds to the numbers that a model takes, from scikit-learn's parts."""

from typing import Any, Literal

from sklearn.compose import ColumnTransformer
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from leavezero.tabular._dates import DateParts
from leavezero.tabular._errors import TableError
from leavezero.tabular._schema import Schema

Taste = Literal["words", "scaled", "plain", "native"]

MAX_CATEGORIES = 40  # columns that one of categories becomes; the rarest share the last
MAX_CODES = 200  # scikit-learn's boosting takes at most 255
N_WORDS = 1_024
N_TOPICS = 20


def make_pipeline_for(schema: Schema, model: Any, taste: Taste) -> Pipeline:
    """Put before a model what makes numbers of the columns.

    Parameters
    ----------
    schema : Schema
        The columns.
    model : estimator
        What learns.
    taste : "words", "scaled", "plain" or "native"
        What it likes: scaled numbers and every word of a text; scaled numbers and topics of texts;
        numbers as they are, without gaps; or gaps and categories as they are.

    Returns
    -------
    Pipeline

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.linear_model import Ridge
    >>> from leavezero.tabular import Column, Schema, make_pipeline_for
    >>> schema = Schema((Column("a", "number", "float64"), Column("b", "category", "object")))
    >>> X = pd.DataFrame({"a": [1.0, None, 3.0], "b": ["x", "y", "x"]})
    >>> make_pipeline_for(schema, Ridge(), "scaled").fit(X, [1, 2, 3])[:-1].transform(X).shape
    (3, 4)
    """
    if taste == "native" and schema.of_kind("category"):
        if "categorical_features" not in model.get_params():
            raise TableError(
                'prepare = "native" is for models with categorical_features, which '
                f'{type(model).__name__} has not. Use prepare = "plain".'
            )
        places = list(range(len(schema.of_kind("category"))))
        model = model.set_params(categorical_features=places)
    return Pipeline([("prepare", _preparation(schema, taste)), ("model", model)])


def _preparation(schema: Schema, taste: Taste) -> ColumnTransformer:
    parts: list[tuple[str, Any, Any]] = [
        ("categories", _categories(taste), schema.of_kind("category")),
        ("numbers", _numbers(taste), schema.of_kind("number")),
        ("dates", _dates(taste), schema.of_kind("date")),
    ]
    parts = [part for part in parts if part[2]]
    for at, name in enumerate(schema.of_kind("text")):
        parts.append((f"text{at}", _text(taste), name))
    return ColumnTransformer(parts, sparse_threshold=0.3 if taste == "words" else 0.0)


def _categories(taste: Taste) -> Any:
    if taste == "native":
        return OrdinalEncoder(
            handle_unknown="use_encoded_value", unknown_value=-1, max_categories=MAX_CODES
        )
    return OneHotEncoder(
        max_categories=MAX_CATEGORIES, handle_unknown="infrequent_if_exist", sparse_output=False
    )


def _numbers(taste: Taste) -> Any:
    if taste == "native":
        return "passthrough"
    filled = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    return filled if taste == "plain" else make_pipeline(filled, StandardScaler())


def _dates(taste: Taste) -> Any:
    return DateParts() if taste == "native" else make_pipeline(DateParts(), _numbers(taste))


def _text(taste: Taste) -> Any:
    """Return counts of hashed words: no text, however odd, leaves them without a vocabulary."""
    steps = [HashingVectorizer(n_features=N_WORDS, alternate_sign=False), TfidfTransformer()]
    if taste != "words":
        steps.append(TruncatedSVD(N_TOPICS, random_state=0))
    return make_pipeline(*steps)
