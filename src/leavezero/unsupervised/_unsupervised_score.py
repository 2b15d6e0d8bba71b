"""Base class of scores without a target: computed from the model that was fitted to all rows."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array

from leavezero._typing import Bools, Floats, Table

N_GROUPS = 10  # of rows, for the grouped jackknife
MAX_CELLS = 2**27  # of a sparse table, which is made dense: 1 GiB


class UnsupervisedScore(ABC):
    """A score of a fitted model without a target; a subclass implements two methods.

    ``score`` returns values whose mean is the score, higher for better: one per row of X if
    ``per_row`` is True, else ``n_values`` of them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> from leavezero import GridSearchLZO
    >>> from leavezero.unsupervised import UnsupervisedScore
    >>> class NegativeInertia(UnsupervisedScore):
    ...     name = "negative inertia"
    ...     def handles(self, estimator):
    ...         return hasattr(estimator, "n_clusters")
    ...     def score(self, model, X, rng):
    ...         return np.array([-model.inertia_])
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> grid = {"n_clusters": [1, 2, 3]}
    >>> GridSearchLZO(KMeans(), grid, scoring=NegativeInertia()).fit(X).best_params_
    {'n_clusters': 3}
    """

    name: ClassVar[str]
    per_row: ClassVar[bool] = False
    n_values: ClassVar[int] = 1
    min_rows: ClassVar[int] = 3
    not_finite: ClassVar[str] = "Check the rows and the parameters of the estimator."

    @abstractmethod
    def handles(self, estimator: Any) -> bool:
        """Return whether an estimator, fitted or not, has this score."""

    @abstractmethod
    def score(self, model: Any, X: Floats, rng: np.random.Generator) -> Floats:
        """Return values whose mean is the score of a model that was fitted to X."""

    def is_default_for(self, estimator: Any) -> bool:
        """Return whether a search without scoring uses this score."""
        return self.handles(estimator)

    def check(self, estimators: Sequence[Any], X: Table, owner: str) -> None:
        """Raise if an estimator has no such score, if rows are too few, or if all are equal."""
        for estimator in estimators:
            if not self.handles(estimator):
                raise ValueError(
                    f"The {self.name}, scoring of {owner}, requires estimators of another type, "
                    f"got {estimator!r}."
                )
        rows = _dense(X)
        n_rows = len(rows)
        if n_rows < self.min_rows:
            raise ValueError(
                f"{owner} requires at least {self.min_rows} samples for the {self.name}, got "
                f"{n_rows}."
            )
        if rows.dtype.kind == "O":  # pandas.NA cannot be compared
            rows = np.frompyfunc(str, 1, 1)(rows)
        if (rows == rows[:1]).all():
            raise ValueError(
                f"{owner} requires rows that differ for the {self.name}, got {n_rows} equal rows."
            )

    def values(self, model: Any, X: Table, seed: int) -> Floats:
        """Return the values of a model, of its last step if it is a pipeline.

        All candidates have the same seed, so that generated rows do not differ between them.
        """
        X, model = last_input(model, X), last_step(model)
        rows = as_floats(_dense(X) if sparse.issparse(X) else X)
        with warnings.catch_warnings():  # of models that were fitted to data frames
            warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
            return self.score(model, rows, np.random.default_rng(seed))


def last_step(estimator: Any) -> Any:
    """Return the last step of a pipeline; other estimators as they are."""
    while isinstance(estimator, Pipeline):
        estimator = estimator[-1]
    return estimator


def last_input(model: Any, X: Table) -> Table:
    """Return the rows that the last step of a fitted pipeline receives; for other models, X."""
    while isinstance(model, Pipeline):
        X, model = model[:-1].transform(X) if len(model) > 1 else X, model[-1]
    return X


def as_floats(X: Table) -> Floats:
    """Return a dense table as numbers; missing values of pandas become NaN."""
    return check_array(X, dtype=np.float64, ensure_all_finite=False)


def _dense(X: Table) -> Any:
    """Return a table as an array; raise if a sparse one would take too much memory."""
    if not sparse.issparse(X):
        return np.asarray(X)
    if np.prod(X.shape) > MAX_CELLS:
        raise ValueError(
            f"Scores without a target require a sparse X of at most {MAX_CELLS:,} cells, got "
            f"{X.shape[0]:,} rows and {X.shape[1]:,} columns. Pass scoring, or fewer rows."
        )
    return X.toarray()


def jackknife(statistic: Callable[[Bools], float], n_rows: int, rng: np.random.Generator) -> Floats:
    """Return pseudo-values of a grouped jackknife (Tukey 1958) around the statistic of all rows.

    The standard error of their mean is that of the statistic.
    """
    group = rng.permutation(n_rows) % N_GROUPS
    without = np.array([statistic(group != one) for one in range(N_GROUPS)])
    whole = statistic(np.ones(n_rows, dtype=bool))
    return whole - (N_GROUPS - 1) * (without - without.mean())
