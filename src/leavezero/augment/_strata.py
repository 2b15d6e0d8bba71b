"""Augmenters that draw each class by itself and keep the label marginal."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from leavezero._random import stream
from leavezero._typing import Bools, Ints
from leavezero._warnings import warn_caller
from leavezero.augment._base import Draw, TableAugmenter
from leavezero.augment._target import Target
from leavezero.exceptions import SmallClassWarning


@dataclass(frozen=True, eq=False)
class Stratum:
    """The given rows of one class, or of one class in one group.

    Where the target is numbers there is one stratum, and its last columns are the target.

    Parameters
    ----------
    name : str
        The class as a message should show it; empty where the target is numbers.
    code : int
        Its position among the sorted classes.
    members : array of int
        The positions of its rows in the data.
    values : array or sparse matrix
        Its rows, as numbers; some of them if the augmenter's ``learns_from`` says so, and None
        after ``fit`` if ``keeps_rows`` is False.
    categories : array of bool
        Which columns hold the positions of categories.
    n_targets : int
        How many of the last columns are targets.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import Stratum
    >>> len(Stratum("'a'", 0, np.array([2, 5]), np.zeros((2, 3)), np.zeros(3, dtype=bool)))
    2
    """

    name: str
    code: int
    members: Ints
    values: Any
    categories: Bools
    n_targets: int = 0

    def __len__(self) -> int:
        return len(self.members)


@dataclass(frozen=True, eq=False)
class StratumDraw:
    """New rows of one stratum; origins are positions among its members, or None.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import StratumDraw
    >>> StratumDraw(np.zeros((4, 2)), np.array([[0], [1], [1], [0]])).values.shape
    (4, 2)
    """

    values: Any
    origins: Ints | None = None


class ClassConditionalAugmenter(TableAugmenter):
    """Base of augmenters that draw each class by itself and keep the label marginal.

    The number of new rows of each class is its share of the given rows, rounded by largest
    remainder (Li et al. 2020, first rule for an augmentation). Combinations of several outputs
    count as classes. Where the target is numbers there is one class, and features and target
    are drawn together. A subclass implements :meth:`_fit_stratum` and :meth:`_sample_stratum`;
    each stratum draws from its own random stream.

    Examples
    --------
    >>> from leavezero.augment import ClassConditionalAugmenter, LabelInvariantMixup
    >>> issubclass(LabelInvariantMixup, ClassConditionalAugmenter)
    True
    """

    learns_from: ClassVar[int | None] = None  # at most so many rows of a stratum; None for all
    keeps_rows: ClassVar[bool] = True  # False where what was learned is enough to draw from

    def _fit(self, values: Any, target: Target, groups: Ints | None) -> None:
        codes = target.codes
        if groups is not None and self.mixes_rows:
            codes = np.unique(np.column_stack([codes, groups]), axis=0, return_inverse=True)[1]
            codes = codes.ravel()
        self._n_targets = 0 if target.numbers is None else target.numbers.shape[1]
        if target.numbers is not None:
            values = _beside(values, target.numbers)
        categories = np.zeros(self._n_targets, dtype=bool)
        if self._codec is not None:
            categories = np.append(self._codec.categories, categories)
        order = np.argsort(codes, kind="stable")
        cuts = np.flatnonzero(np.diff(codes[order])) + 1
        self._strata, self._fitted = [], []
        for members in np.split(order, cuts):
            code = int(target.codes[members[0]])
            name = "" if target.labels is None else target.name(code)
            rows = values[_learning(members, self.learns_from)]
            stratum = Stratum(name, code, members, rows, categories, self._n_targets)
            self._fitted.append(self._fit_stratum(stratum))
            self._strata.append(stratum if self.keeps_rows else replace(stratum, values=None))

    def _sample(self, n_samples: int, root: np.random.SeedSequence) -> Draw:
        sizes = quotas(np.array([len(stratum) for stratum in self._strata]), n_samples)
        draws = [
            self._sample_stratum(stratum, fitted, int(size), stream(root, "stratum", at))
            for at, (stratum, fitted, size) in enumerate(
                zip(self._strata, self._fitted, sizes, strict=True)
            )
        ]
        order = stream(root, "order").permutation(n_samples)
        values = _stacked([draw.values for draw in draws])[order]
        codes = np.repeat([stratum.code for stratum in self._strata], sizes)[order]
        origins = None
        if all(draw.origins is not None for draw in draws):
            origins = np.concatenate(
                [s.members[d.origins] for s, d in zip(self._strata, draws, strict=True)]
            )[order]
        if not self._n_targets:
            return Draw(values, codes=codes, origins=origins)
        numbers = values[:, -self._n_targets :]
        numbers = numbers.toarray() if sparse.issparse(numbers) else numbers
        return Draw(values[:, : -self._n_targets], numbers=numbers, origins=origins)

    def _warn_small(self, stratum: Stratum, needed: int, instead: str) -> None:
        """Warn that a class has too few rows, and say what is done instead."""
        rows = "a single row" if len(stratum) == 1 else f"{len(stratum)} rows"
        which = f"Class {stratum.name}" if stratum.name else "The data"
        warn_caller(
            f"{which} has {rows}, and {type(self).__name__} needs {needed}: {instead}. "
            "Add rows of this class, or expect its part of the score to be too good.",
            SmallClassWarning,
        )

    @abstractmethod
    def _fit_stratum(self, stratum: Stratum) -> Any:
        """Learn from the given rows of one stratum; return what was learned."""

    @abstractmethod
    def _sample_stratum(
        self, stratum: Stratum, fitted: Any, n_samples: int, rng: np.random.Generator
    ) -> StratumDraw:
        """Draw new rows of one stratum from what was learned."""


def quotas(counts: Ints, total: int) -> Ints:
    """Split a total in proportion to counts, rounded by largest remainder.

    Ties of remainders go to the larger class, then to the first.

    Examples
    --------
    >>> import numpy as np
    >>> quotas(np.array([3, 3, 1]), 10)
    array([4, 4, 2])
    """
    exact = [int(count) * total for count in counts]  # Python ints: no overflow, no rounding
    whole = int(sum(counts))
    shares = np.array([product // whole for product in exact])
    remainders = np.array([product % whole for product in exact])
    first = np.lexsort((np.arange(len(counts)), -counts, -remainders))
    shares[first[: total - int(shares.sum())]] += 1
    return shares


def _learning(members: Ints, limit: int | None) -> Ints:
    """Return the rows that a class is learned from: all, or a fixed random part of many."""
    if limit is None or len(members) <= limit:
        return members
    chosen = np.random.default_rng(0).choice(len(members), size=limit, replace=False)
    return members[np.sort(chosen)]


def _beside(values: Any, numbers: Any) -> Any:
    if sparse.issparse(values):
        return sparse.hstack([values, numbers], format="csr")
    return np.hstack([values, numbers])


def _stacked(parts: list[Any]) -> Any:
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    return np.concatenate(parts)
