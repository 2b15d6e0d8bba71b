"""The validation set of a search: independent replicates, sampled once before any fit."""

from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import parallel_config
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone

from leavezero._random import integer_seed, stream, with_seed
from leavezero._tables import count_rows
from leavezero._typing import AnyArray, Floats, Ints, Table
from leavezero.augment import ValidationSet

# "auto": as many rows per replicate as training rows, but no more than these in all. With more, the
# error of a mean over them would be small against the bias of the generator itself.
MAX_AUTO_ROWS = 5_000
MIN_AUTO_ROWS = 20  # per replicate, so that each component of a union has some
MAX_AUTO_CELLS = 2**22  # of dense columns; but as many rows in all as training rows are allowed
MAX_ROWS = 200_000  # in all, where validation_size is a share of the training rows


@dataclass(frozen=True, eq=False)
class Replicates:
    """Replicates of one size, concatenated.

    ``classes`` are those of the training data, sorted, if the target is one column of classes.
    ``fixed`` marks rows that were given and not generated, ``weighted`` rows that were sampled from
    weighted training data.
    """

    rows: ValidationSet
    n_replicates: int
    classes: AnyArray | None = None
    fixed: bool = False
    weighted: bool = False

    @cached_property
    def blocks(self) -> list[list[Ints]]:
        """Row numbers of each replicate, one array per component of an augmenter union."""
        replicates = np.split(np.arange(len(self.rows)), self.n_replicates)
        component = self.rows.component
        if component is None:
            return [[rows] for rows in replicates]
        return [
            [rows[component[rows] == one] for one in np.unique(component[rows])]
            for rows in replicates
        ]

    def replicate_means(self, values: Floats, weights: Floats | None) -> Floats:
        """Return the mean of per-row values in each replicate, averaged over its components."""

        def mean(rows: Ints) -> float:
            own = None if weights is None else weights[rows]
            return float(np.average(values[rows], weights=own))

        return np.array([np.mean([mean(rows) for rows in blocks]) for blocks in self.blocks])


def sample_replicates(
    augmenter: Any,
    X: Table,
    y: AnyArray,
    *,
    sample_weight: AnyArray | None = None,
    groups: AnyArray | None = None,
    n_replicates: int,
    validation_size: float | str,
    root: np.random.SeedSequence,
    owner: str,
) -> tuple[Any, Replicates]:
    """Fit the augmenter and sample the validation set; return the fitted augmenter and the rows.

    Each replicate has its own random stream, so that the first ones do not depend on their number.
    A generated row gets the mean weight of its source rows; if the augmenter reports none, rows are
    sampled from the weighted training data instead.
    """
    n_columns = 1 if sparse.issparse(X) else int(np.prod(getattr(X, "shape", (1,))[1:]))
    size = replicate_size(validation_size, n_replicates, count_rows(X), owner, n_columns)
    # scikit-learn's models inside augmenters do not support every array library, and their small
    # forests must not be sent to the workers of a cluster, which may die.
    local = parallel_config(backend="sequential")
    with config_context(array_api_dispatch=False), local:
        fit_params = {} if groups is None else {"groups": groups}
        fitted = with_seed(clone(augmenter), integer_seed(root, "augmenter"))
        fitted.fit(X, y, **fit_params)
        is_label_column = np.ndim(y) == 1 and np.asarray(y).dtype.kind != "f"
        classes = getattr(fitted, "classes_", np.unique(y) if is_label_column else None)
        fixed_rows = getattr(fitted, "fixed_rows", None)
        if fixed_rows is not None:
            return fitted, Replicates(fixed_rows, 1, classes, fixed=True)
        weighted = (
            sample_weight is not None
            and fitted.sample(1, stream(root, "glance")).source_rows is None
        )
        if weighted:
            fitted.fit(X, y, sample_weight=sample_weight, **fit_params)
        parts = [fitted.sample(size, stream(root, "replicate", r)) for r in range(n_replicates)]
        rows = ValidationSet.concatenate(parts)
    return fitted, Replicates(rows, n_replicates, classes, weighted=weighted)


def replicate_size(
    validation_size: float | str, n_replicates: int, n_samples: int, owner: str, n_columns: int = 1
) -> int:
    """Return the number of rows of one replicate."""
    if not _is(n_replicates, Integral) or n_replicates < 1:
        raise ValueError(f"n_replicates of {owner} must be a positive int, got {n_replicates!r}.")
    if isinstance(validation_size, str) and validation_size == "auto":
        n_rows = min(MAX_AUTO_ROWS, max(n_samples, MAX_AUTO_CELLS // max(1, n_columns)))
        return max(1, min(max(n_samples, MIN_AUTO_ROWS), n_rows // n_replicates))
    if _is(validation_size, Integral) and int(validation_size) >= 1:
        return int(validation_size)
    if _is(validation_size, Real) and 0 < float(validation_size) < np.inf:
        share = round(float(validation_size) * n_samples)
        return int(max(1, min(share, MAX_ROWS // n_replicates)))
    raise ValueError(
        f'validation_size of {owner} must be "auto", a positive int (rows per replicate) or a '
        f"positive float (share of the training rows), got {validation_size!r}."
    )


def _is(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)
