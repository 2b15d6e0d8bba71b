"""What is to be predicted, as codes of classes or as columns of numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from leavezero._tables import plain
from leavezero._typing import AnyArray, Floats, Ints

_MAX_FLOAT_CLASSES = 20  # as augmenters read y


@dataclass(frozen=True, eq=False)
class Target:
    """Classes as codes into labels, or numbers as columns."""

    codes: Ints
    labels: AnyArray | None
    numbers: Floats | None

    @classmethod
    def of(cls, y: AnyArray) -> "Target":
        """Read y: floats that are not whole, or too many, are numbers, all else classes."""
        values = y.to_numpy() if hasattr(y, "to_numpy") else np.asarray(y)
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise ValueError(
                "y of jensen_shannon_augmenter contains NaN or infinity. Drop these rows."
            )
        flat = values.reshape(len(values), -1)
        if values.dtype.kind == "f" and _are_numbers(values):
            return cls(np.zeros(len(flat), dtype=np.intp), None, flat.astype(np.float64))
        if flat.shape[1] == 1:
            labels, codes = np.unique(flat[:, 0], return_inverse=True)
        else:
            labels, codes = np.unique(flat, axis=0, return_inverse=True)
        return cls(codes.ravel(), labels, None)

    def take(self, rows: Ints) -> "Target":
        """Return the target of some rows."""
        numbers = None if self.numbers is None else self.numbers[rows]
        return Target(self.codes[rows], self.labels, numbers)

    def restored(self) -> AnyArray:
        """Return y as it was given, in one dimension if it had one column."""
        if self.labels is not None:
            return self.labels[self.codes]
        assert self.numbers is not None
        return self.numbers[:, 0] if self.numbers.shape[1] == 1 else self.numbers

    def label(self, code: int) -> Any:
        """Return a class as a plain value, a combination as a tuple."""
        assert self.labels is not None
        label = self.labels[code]
        return tuple(label.tolist()) if isinstance(label, np.ndarray) else plain(label)

    def columns(self) -> Floats:
        """Return the target as features: standardised numbers, or one column a class."""
        if self.numbers is not None:
            spread = self.numbers.std(axis=0)
            return (self.numbers - self.numbers.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        present = np.unique(self.codes)
        return (self.codes[:, None] == present) / np.sqrt(2)  # as the features of categories


def targets_of(V: Any, target: Target, rng: np.random.Generator) -> Target:
    """Return the targets of V; a soft label is read as a random hard one."""
    if target.numbers is not None:
        numbers = np.asarray(V.y, dtype=np.float64).reshape(len(V.y), -1)
        return Target(np.zeros(len(numbers), dtype=np.intp), None, numbers)
    assert target.labels is not None
    posterior = getattr(V, "class_probabilities", None)
    if posterior is not None:
        known = np.unique(target.codes)
        bounds = np.cumsum(posterior, axis=1)
        drawn = (rng.random((len(bounds), 1)) * bounds[:, -1:] > bounds).sum(axis=1)
        return Target(known[drawn], target.labels, None)
    labels = np.asarray(V.y)
    at = {target.label(code): code for code in range(len(target.labels))}
    keys = [tuple(row.tolist()) if isinstance(row, np.ndarray) else plain(row) for row in labels]
    unknown = set(keys) - set(at)
    if unknown:
        raise ValueError(
            f"The augmenter of jensen_shannon_augmenter draws labels that y does not have: "
            f"{sorted(map(repr, unknown))[:5]}. Give the y that it is meant for."
        )
    return Target(np.array([at[key] for key in keys]), target.labels, None)


def joined(targets: Sequence[Target]) -> Target:
    """Return targets of the same classes one after the other."""
    codes = np.concatenate([target.codes for target in targets])
    numbers = [target.numbers for target in targets if target.numbers is not None]
    return Target(codes, targets[0].labels, np.concatenate(numbers) if numbers else None)


def _are_numbers(values: Floats) -> bool:
    return bool(np.any(values != np.rint(values))) or len(np.unique(values)) > _MAX_FLOAT_CLASSES
