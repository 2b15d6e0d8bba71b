"""What is to be predicted, as codes or numbers, and back."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from leavezero._tables import plain
from leavezero._typing import AnyArray, Floats, Ints
from leavezero.augment._borders import Borders

MAX_FLOAT_CLASSES = 20


@dataclass(frozen=True, eq=False)
class Target:
    """Classes, combinations of classes, or numbers.

    Classes (one output) and combinations (several outputs, multilabel) are ``codes`` into
    ``labels``. Numbers are the columns of ``numbers``.
    """

    kind: str
    codes: Ints
    labels: AnyArray | None = None
    numbers: Floats | None = None
    dtype: Any = None
    n_outputs: int = 0  # 0 for a one-dimensional y

    @classmethod
    def of(cls, y: AnyArray, owner: str) -> "Target":
        """Read y.

        Floats are numbers, everything else names. Whole numbers stored as floats count as names
        only if there are at most 20 different ones, as scikit-learn's users write 0.0 and 1.0.
        """
        if y is None:
            raise ValueError(
                f"{owner} requires y to be passed, but the target y is None. Without a target "
                "there is no loss to choose by."
            )
        several = getattr(y, "ndim", 1) == 2 and y.shape[1] > 1
        values = y if several else column_or_1d(y, warn=True)
        values = values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise ValueError(
                f"y given to {owner}: Input y contains NaN or infinity. Drop these rows; rows "
                "without a label need a semi-supervised search."
            )
        if _holds_numbers(values):
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

    def restore(self, codes: Ints | None, numbers: Floats | None) -> AnyArray:
        """Return new codes or numbers as the user wrote y; numbers keep to their borders."""
        if self.labels is not None:
            return self.labels[codes]
        assert numbers is not None
        assert self.numbers is not None
        numbers = Borders.of(self.numbers).kept(numbers)
        return (numbers if self.n_outputs else numbers[:, 0]).astype(self.dtype)

    def name(self, code: int) -> str:
        """Return a class as a message should show it."""
        assert self.labels is not None
        label = self.labels[code]
        return repr(plain(label) if np.ndim(label) == 0 else label.tolist())


def _holds_numbers(values: AnyArray) -> bool:
    if values.dtype.kind != "f":
        return False
    return bool(np.any(values != np.rint(values))) or len(np.unique(values)) > MAX_FLOAT_CLASSES
