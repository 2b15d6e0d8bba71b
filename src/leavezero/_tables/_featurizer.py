"""Turn any table into features that every scikit-learn model accepts."""

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

from leavezero._tables._containers import is_pandas, is_polars, is_text
from leavezero._tables._table_codec import TableCodec
from leavezero._typing import Floats, Table

_MAX_CATEGORIES = 30  # per column; the rarer ones share one feature


class Featurizer:
    """Standardize numbers, one-hot encode categories, flag missing values; TF-IDF for text.

    Examples
    --------
    >>> import numpy as np
    >>> Featurizer().fit(np.array([[0.0], [2.0]])).transform(np.array([[4.0]]))
    array([[3.]])
    """

    def fit(self, X: Table) -> Self:
        """Learn the columns of a table."""
        if is_text(X):
            self._kind = "text"
            self._vectorizer = TfidfVectorizer(
                max_features=20_000, sublinear_tf=True, token_pattern=r"\S+"
            ).fit(X)
            return self
        if sparse.issparse(X):
            self._kind = "sparse"
            self._scaler = MaxAbsScaler().fit(X)
            return self
        self._kind = "table"
        X = _as_matrix(X)
        self._codec = TableCodec.of(X)
        cells = self._codec.encode(X)
        self._categorical = self._codec.categorical
        numbers = cells[:, ~self._categorical]
        self._medians = _column_medians(numbers)
        self._with_missing = np.isnan(numbers).any(axis=0)
        self._scaler = StandardScaler().fit(self._imputed(numbers)) if numbers.shape[1] else None
        if self._categorical.any():
            self._encoder = OneHotEncoder(
                handle_unknown="infrequent_if_exist",
                max_categories=_MAX_CATEGORIES,
                sparse_output=False,
            ).fit(_category_codes(cells[:, self._categorical]))
        return self

    def transform(self, X: Table) -> Any:
        """Return the features of rows of the same format."""
        if self._kind == "text":
            return self._vectorizer.transform(X)
        if self._kind == "sparse":
            return self._scaler.transform(X)
        cells = self._codec.encode(_as_matrix(X))
        parts: list[Floats] = []
        if self._scaler is not None:
            parts.append(self._scaler.transform(self._imputed(cells[:, ~self._categorical])))
        if self._categorical.any():
            one_hot = self._encoder.transform(_category_codes(cells[:, self._categorical]))
            parts.append(one_hot / np.sqrt(2))  # the distance of two categories is 1
        return np.hstack(parts)

    def _imputed(self, numbers: Floats) -> Floats:
        """Replace missing values by medians, and append a flag per column that has any."""
        missing = np.isnan(numbers)
        filled = np.where(missing, self._medians, numbers)
        return np.hstack([filled, missing[:, self._with_missing].astype(np.float64)])


def _as_matrix(X: Table) -> Table:
    if is_pandas(X) or is_polars(X):
        return X
    matrix = np.asarray(X)
    return matrix.reshape(len(matrix), -1)


def _category_codes(cells: Floats) -> Floats:
    """Return category positions; a missing value is a category of its own."""
    return np.nan_to_num(cells, nan=-1.0)


def _column_medians(numbers: Floats) -> Floats:
    medians = np.zeros(numbers.shape[1])
    known = ~np.isnan(numbers).all(axis=0)
    medians[known] = np.nanmedian(numbers[:, known], axis=0)
    return medians
