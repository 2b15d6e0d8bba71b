"""Any table to features that every ordinary model takes."""

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

from leavezero._tables._codec import TableCodec
from leavezero._tables._rows import is_pandas, is_polars, is_text
from leavezero._typing import Floats, Table

_MAX_CATEGORIES = 30  # of a column; rarer ones share a place


class Featurizer:
    """Standardised numbers, one-hot categories, flags for missing cells; TF-IDF for text.

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
            self._text = TfidfVectorizer(
                max_features=20_000, sublinear_tf=True, token_pattern=r"\S+"
            ).fit(X)
            return self
        if sparse.issparse(X):
            self._kind = "sparse"
            self._scale = MaxAbsScaler().fit(X)
            return self
        self._kind = "table"
        X = _as_matrix(X)
        self._codec = TableCodec.of(X)
        cells = self._codec.encode(X)
        self._names = self._codec.categories
        numbers = cells[:, ~self._names]
        self._middle = _column_medians(numbers)
        self._gaps = np.isnan(numbers).any(axis=0)
        self._scale = StandardScaler().fit(self._numbers(numbers)) if numbers.shape[1] else None
        if self._names.any():
            self._one_hot = OneHotEncoder(
                handle_unknown="infrequent_if_exist",
                max_categories=_MAX_CATEGORIES,
                sparse_output=False,
            ).fit(_as_names(cells[:, self._names]))
        return self

    def transform(self, X: Table) -> Any:
        """Return the features of rows of the same format."""
        if self._kind == "text":
            return self._text.transform(X)
        if self._kind == "sparse":
            return self._scale.transform(X)
        cells = self._codec.encode(_as_matrix(X))
        parts: list[Floats] = []
        if self._scale is not None:
            parts.append(self._scale.transform(self._numbers(cells[:, ~self._names])))
        if self._names.any():
            # A one-hot pair of 1 / sqrt(2) puts two different categories at distance 1.
            parts.append(self._one_hot.transform(_as_names(cells[:, self._names])) / np.sqrt(2))
        return np.hstack(parts)

    def _numbers(self, numbers: Floats) -> Floats:
        missing = np.isnan(numbers)
        filled = np.where(missing, self._middle, numbers)
        return np.hstack([filled, missing[:, self._gaps].astype(np.float64)])


def _as_matrix(X: Table) -> Table:
    if is_pandas(X) or is_polars(X):
        return X
    matrix = np.asarray(X)
    return matrix.reshape(len(matrix), -1)


def _as_names(cells: Floats) -> Floats:
    """Return category positions; a missing cell is a category of its own."""
    return np.nan_to_num(cells, nan=-1.0)


def _column_medians(numbers: Floats) -> Floats:
    middle = np.zeros(numbers.shape[1])
    known = ~np.isnan(numbers).all(axis=0)
    middle[known] = np.nanmedian(numbers[:, known], axis=0)
    return middle
