"""The interface of joint fits, and the helpers that its implementations share."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
from scipy import sparse

from leavezero._tables import count_rows, take_rows
from leavezero._typing import AnyArray, Floats, Table

BLOCK_CELLS = 2**23  # float64 values of a block of rows: 64 MiB
# Blocks are multiples of the 256 rows that scikit-learn's distance computations take at a time,
# so that distances are rounded as in one call with all rows.
BLOCK_STEP = 256
Predictions = Sequence[AnyArray | None]  # one per model

_log = logging.getLogger("leavezero")


@dataclass(frozen=True, eq=False)
class JointlyFitted:
    """Models that were fitted jointly."""

    models: list[Any]  # fitted, in the order of the given ones; each predicts by itself
    shared: Any = None  # whatever ``JointFit.predict`` needs in addition
    # True for each model that only predicts. Before it is returned to users, build and fit its
    # estimator anew (a given pipeline has been modified). None: no model is provisional.
    provisional: tuple[bool, ...] | None = None


class JointFit(ABC):
    """A way to fit several estimators, and to predict with them, that shares work.

    The fitted models equal the plain fits of each estimator: bit for bit, or to the tolerance that
    a subclass states.
    """

    name: str = "unnamed"
    estimator_types: tuple[type, ...] = ()
    estimator_names: tuple[str, ...] = ()  # of classes in packages that are not imported here
    along: str = ""  # parameter in which jointly fitted estimators differ, if it is one number
    one_model: bool = False  # only the largest is fitted; the others are parts of it
    max_candidates: int = 64  # models that are in memory, and in one task, at the same time

    def handles(self, estimator: Any) -> bool:
        """Return True if the type of an estimator, not that of a base class, is listed."""
        kind = type(estimator)
        return kind in self.estimator_types or kind.__name__ in self.estimator_names

    @abstractmethod
    def key(self, estimator: Any) -> Hashable | None:
        """Return a key; unfitted estimators with equal keys are fitted jointly.

        None if the estimator's parameters do not allow it. The estimator is of a listed type.
        """

    def order(self, estimator: Any) -> Any:
        """Return the sort key along which more than ``max_candidates`` estimators are split."""
        return getattr(estimator, self.along) if self.along else 0

    def fits_one_model(self, estimator: Any) -> bool:
        """Return True if all estimators with the key of this one are parts of one fitted model."""
        return self.one_model

    def fit(
        self, estimators: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> JointlyFitted:
        """Fit unfitted estimators with equal keys, in place; by default, one after the other.

        Raises what a plain fit of one of them raises; some of the others may then be fitted.
        """
        return JointlyFitted([fit_plainly(one, X, y, sample_weight) for one in estimators])

    def predict(self, fitted: JointlyFitted, X: Table, method: str) -> Predictions | None:
        """Return the predictions of each model by a method that they have.

        None stands for what is left to the model itself.
        """
        return None


def first_match(methods: Iterable[JointFit], estimator: Any) -> tuple[JointFit, Hashable] | None:
    """Return the first method that applies to an estimator, and its key."""
    for method in methods:
        key = method.key(estimator) if method.handles(estimator) else None
        if key is not None:
            return method, key
    return None


def params_key(estimator: Any, *varied: str) -> Hashable | None:
    """Return a key of the class and of all parameters but some; None if one has no digest."""
    params = estimator.get_params(deep=False)
    digest = value_digest({name: params[name] for name in params if name not in varied})
    return None if digest is None else (type(estimator), digest)


def value_digest(value: Any) -> str | None:
    """Return a digest of anything that can be pickled; None for the rest."""
    try:
        return str(joblib.hash(value))
    except Exception:  # pickling runs any code
        _log.debug("%r has no digest.", type(value), exc_info=True)
        return None


def is_seed(random_state: Any) -> bool:
    """Return True if a random state gives the same stream in every fit."""
    return isinstance(random_state, int | np.integer)


def is_count(value: Any) -> bool:
    """Return True for a positive integer."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return whole and int(value) > 0


def fit_plainly(estimator: Any, X: Table, y: AnyArray, sample_weight: Floats | None) -> Any:
    """Fit an estimator, with weights only if there are any, and return it."""
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    estimator.fit(X, y, **weights)  # whose fit may return None
    return estimator


def copy_fitted_attributes(source: Any, target: Any, **changed: Any) -> None:
    """Give an unfitted estimator what a fitted one has learned, except for what has changed.

    The values are not copied: another fit replaces them and does not modify them.
    """
    own = vars(target)
    own.update({name: value for name, value in vars(source).items() if name not in own} | changed)


def cells_per_row(X: Table) -> int:
    """Return how many numbers a row of a table holds; 1 for a list of documents."""
    if sparse.issparse(X):
        return 1 + 2 * X.nnz // max(1, X.shape[0])  # with the column index of each
    shape = getattr(X, "shape", (0,))
    return int(np.prod(shape[1:])) if len(shape) > 1 else 1


def predict_in_blocks(
    predict: Callable[[Table], Sequence[AnyArray]], X: Table, cells: int = 1
) -> list[AnyArray]:
    """Return one array per model, from a function that returns them for a block of rows.

    ``cells`` is the number of values that the function needs in memory for a row.
    """
    largest = BLOCK_CELLS // max(1, cells, cells_per_row(X))
    size = max(1, largest // BLOCK_STEP) * BLOCK_STEP
    blocks = (take_rows(X, slice(i, i + size)) for i in range(0, count_rows(X), size))
    parts = [predict(block) for block in blocks]
    if len(parts) == 1:
        return list(parts[0])
    return [np.concatenate(part) for part in zip(*parts, strict=True)]
