"""Encode the target as class codes or numbers, and decode generated ones."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from leavezero._tables import plain
from leavezero._typing import AnyArray, Floats, Ints

MAX_FLOAT_CLASSES = 20


@dataclass(frozen=True, eq=False)
class Target:
    """An encoded target.

    ``kind`` is "classes" (one output), "combinations" (several outputs of classes, multilabel) or
    "numbers" (regression). Classes and combinations are ``codes``, positions in ``labels``;
    regression targets are the columns of ``numbers``.
    """

    kind: str
    codes: Ints
    labels: AnyArray | None = None
    numbers: Floats | None = None
    dtype: Any = None
    n_outputs: int = 0  # 0 for a one-dimensional y

    @classmethod
    def of(cls, y: AnyArray, owner: str) -> "Target":
        """Encode y.

        Floats are a regression target, unless they are integers with at most 20 distinct values,
        such as 0.0 and 1.0. Everything else is classes.
        """
        if y is None:
            raise ValueError(f"{owner} requires y to be passed, but the target y is None.")
        several = getattr(y, "ndim", 1) == 2 and y.shape[1] > 1
        values = y if several else column_or_1d(y, warn=True)
        values = values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise ValueError(
                f"Input y contains NaN or infinity: {owner} requires a finite target. Drop these "
                "rows; rows without a label need a semi-supervised search."
            )
        if _is_regression(values):
            numbers = values.astype(np.float64).reshape(len(values), -1)
            n_outputs = values.shape[1] if values.ndim == 2 else 0
            codes = np.zeros(len(values), dtype=np.intp)
            return cls("numbers", codes, None, numbers, values.dtype, n_outputs)
        if values.ndim == 2:
            labels, codes = np.unique(values, axis=0, return_inverse=True)
            return cls("combinations", codes.ravel(), labels, None, values.dtype, values.shape[1])
        labels, codes = np.unique(values, return_inverse=True)
        return cls("classes", codes, labels, None, values.dtype)

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: Ints) -> "Target":
        """Return the target of some rows."""
        numbers = None if self.numbers is None else self.numbers[rows]
        return replace(self, codes=self.codes[rows], numbers=numbers)

    def decode(self, codes: Ints | None, numbers: Floats | None) -> AnyArray:
        """Return codes or numbers in the format of y; numbers are clipped to their bounds."""
        if self.labels is not None:
            return self.labels[codes]
        assert numbers is not None
        assert self.numbers is not None
        numbers = clip(numbers, natural_bounds(self.numbers))
        return (numbers if self.n_outputs else numbers[:, 0]).astype(self.dtype)

    def name(self, code: int) -> str:
        """Return a class as a string for messages."""
        assert self.labels is not None
        label = self.labels[code]
        return repr(plain(label) if np.ndim(label) == 0 else label.tolist())


def _is_regression(values: AnyArray) -> bool:
    if values.dtype.kind != "f":
        return False
    return bool(np.any(values != np.rint(values))) or len(np.unique(values)) > MAX_FLOAT_CLASSES


def natural_bounds(columns: Floats) -> tuple[Floats, Floats]:
    """Return the lower and upper bounds that generated values of columns must respect.

    A column without negative values is bounded below by its minimum, one without positive values
    above by its maximum, and proportions (values from 0 to 1) below and above.

    Examples
    --------
    >>> import numpy as np
    >>> low, high = natural_bounds(np.array([[0.5, -1.0, 3.0], [2.0, 1.0, 7.0]]))
    >>> low, high
    (array([ 0.5, -inf,  3. ]), array([inf, inf, inf]))
    """
    least, most = np.fmin.reduce(columns, axis=0), np.fmax.reduce(columns, axis=0)
    proportions = (least >= 0) & (most <= 1)
    low = np.where(least >= 0, least, -np.inf)
    return low, np.where(proportions | (most <= 0), most, np.inf)


def clip(values: Floats, bounds: tuple[Floats, Floats]) -> Floats:
    """Clip columns to bounds, without a copy if there are none."""
    unbounded = all(np.isinf(bound).all() for bound in bounds)
    return values if unbounded else np.clip(values, *bounds)
