"""The user's own rows: a function that makes them, a chain, or a set that is given."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_consistent_length

from leavezero._random import integer_seed, stream, with_seed
from leavezero._tables import count_rows
from leavezero._typing import AnyArray, Table
from leavezero.augment._around import fit_augmenter
from leavezero.augment._base import BaseAugmenter
from leavezero.augment._target import Target
from leavezero.augment._validation_set import ValidationSet


class FunctionAugmenter(BaseAugmenter):
    """Draw rows by a function of your own.

    Parameters
    ----------
    function : callable
        Called as ``function(X, y, n_samples, rng)`` with the given data, the number of rows wanted
        and a numpy Generator; returns ``(X_new, y_new)`` or a :class:`ValidationSet`.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes, sorted; only where the target is one column of classes.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import FunctionAugmenter
    >>> def jitter(X, y, n_samples, rng):
    ...     rows = rng.integers(len(y), size=n_samples)
    ...     return X[rows] + 0.1 * rng.normal(size=(n_samples, X.shape[1])), y[rows]
    >>> X, y = np.arange(8.0).reshape(4, 2), np.array([0, 0, 1, 1])
    >>> FunctionAugmenter(jitter).fit(X, y).sample(3, random_state=0).X.shape
    (3, 2)
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def fit(
        self,
        X: Table,
        y: AnyArray,
        *,
        sample_weight: AnyArray | None = None,
        groups: AnyArray | None = None,
    ) -> Self:
        """Keep the data for the function."""
        if not callable(self.function):
            raise ValueError(
                "function of FunctionAugmenter must be callable as function(X, y, n_samples, rng), "
                f"got {self.function!r}."
            )
        if sample_weight is not None or groups is not None:
            raise ValueError(
                "FunctionAugmenter passes neither sample_weight nor groups on. "
                "Bind them to the function, for example with functools.partial."
            )
        target = Target.of(y, type(self).__name__)
        check_consistent_length(X, y)
        if target.kind == "classes":
            self.classes_ = target.labels
        self._X, self._y = X, y if hasattr(y, "shape") else np.asarray(y)
        self.n_rows_ = len(target)
        return self

    def _draw(self, n_samples: int, root: np.random.SeedSequence) -> ValidationSet:
        made = self.function(self._X, self._y, n_samples, stream(root, "function"))
        if isinstance(made, tuple) and len(made) == 2:
            made = ValidationSet(made[0], np.asarray(made[1]))
        if not isinstance(made, ValidationSet):
            raise ValueError(
                "function of FunctionAugmenter must return (X, y) or a ValidationSet, got "
                f"{type(made).__name__}."
            )
        expected, got = (n_samples, *_shape(self._X)[1:]), _shape(made.X)
        if got != expected:
            raise ValueError(
                f"function of FunctionAugmenter returned X of shape {got} where {expected} was "
                "asked for. Return as many rows as n_samples, with the columns of X."
            )
        return made


class Chain(BaseAugmenter):
    """Let each augmenter work on the rows that the one before it drew.

    Parameters
    ----------
    augmenters : list of augmenters
        The first is fitted to the data; each next one to the rows of its predecessor, anew at
        each draw.

    Attributes
    ----------
    augmenter_ : augmenter
        The first one, fitted.
    classes_ : array of shape (n_classes,)
        The classes, sorted; only where the target is one column of classes.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import Chain, LabelInvariantMixup, OrthogonalTransform
    >>> X, y = np.random.default_rng(0).normal(size=(20, 2)), np.tile([0, 1], 10)
    >>> V = Chain([LabelInvariantMixup(), OrthogonalTransform()]).fit(X, y).sample(6, 0)
    >>> V.origins.shape  # each turned row came from one mixed row, which came from two
    (6, 2)
    """

    def __init__(self, augmenters: Sequence[Any]) -> None:
        self.augmenters = augmenters

    def fit(
        self,
        X: Table,
        y: AnyArray,
        *,
        sample_weight: AnyArray | None = None,
        groups: AnyArray | None = None,
    ) -> Self:
        """Fit the first augmenter to the data."""
        if not isinstance(self.augmenters, list | tuple) or not self.augmenters:
            raise ValueError(
                "augmenters of Chain must be a list with at least one augmenter, got "
                f"{self.augmenters!r}."
            )
        self.augmenter_ = fit_augmenter(clone(self.augmenters[0]), X, y, sample_weight, groups)
        if hasattr(self.augmenter_, "classes_"):
            self.classes_ = self.augmenter_.classes_
        return self

    def _draw(self, n_samples: int, root: np.random.SeedSequence) -> ValidationSet:
        drawn = self.augmenter_.sample(n_samples, stream(root, "link", 0))
        for at, augmenter in enumerate(self.augmenters[1:], start=1):
            seeded = with_seed(clone(augmenter), integer_seed(root, "link seed", at))
            made = seeded.fit(drawn.X, drawn.y).sample(n_samples, stream(root, "link", at))
            origins = None
            if drawn.origins is not None and made.origins is not None:
                origins = drawn.origins[made.origins].reshape(n_samples, -1)
            drawn = replace(made, origins=origins)
        return drawn


class GivenValidationSet(BaseAugmenter):
    """Judge candidates on rows of your own, instead of drawing any.

    Parameters
    ----------
    X : array, frame, sparse matrix or sequence of strings
        The rows, with the columns of the data.
    y : array
        Their targets.
    sample_weight : array or None, default=None
        How much each row counts.

    Attributes
    ----------
    n_rows_ : int
        The number of rows of the given set. A search scores every one of them once, whatever its
        ``n_replicates`` and ``validation_size``.
    classes_ : array of shape (n_classes,)
        The classes of the data, sorted; only where the target is one column of classes.

    Examples
    --------
    >>> from leavezero.augment import GivenValidationSet
    >>> given = GivenValidationSet([[0.5], [9.5]], [0, 1])
    >>> given.fit([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1]).sample(2, random_state=0).y
    array([0, 1])
    """

    def __init__(
        self,
        X: Table,
        y: AnyArray,
        sample_weight: AnyArray | None = None,
    ) -> None:
        self.X = X
        self.y = y
        self.sample_weight = sample_weight

    def fit(
        self,
        X: Table,
        y: AnyArray,
        *,
        sample_weight: AnyArray | None = None,
        groups: AnyArray | None = None,
    ) -> Self:
        """Check that the given set has the columns and the targets of the data."""
        target = Target.of(y, type(self).__name__)
        check_consistent_length(self.X, self.y)
        ours, theirs = _shape(self.X)[1:], _shape(X)[1:]
        if ours != theirs:
            raise ValueError(
                f"The given validation set has columns of shape {ours}, the data {theirs}. "
                "Give rows with the columns of the data."
            )
        names = [list(t.columns) for t in (self.X, X) if hasattr(t, "columns")]
        if len(names) == 2 and names[0] != names[1]:
            raise ValueError(
                f"The given validation set has the columns {names[0]}, the data {names[1]}. "
                "Give the same columns in the same order."
            )
        if target.kind == "classes":
            self.classes_ = np.asarray(target.labels)
            strangers = sorted(set(np.asarray(self.y).tolist()) - set(self.classes_.tolist()))
            if strangers:
                raise ValueError(
                    f"The given validation set has classes {strangers} that the data lack. "
                    "Remove their rows: no candidate can know them."
                )
        self.n_rows_ = count_rows(self.X)
        return self

    @property
    def fixed_rows(self) -> ValidationSet:
        """All rows, once."""
        weight = None if self.sample_weight is None else np.asarray(self.sample_weight)
        return ValidationSet(self._table(), np.asarray(self.y), weight)

    def _table(self) -> Table:
        return np.asarray(self.X) if isinstance(self.X, list) and self._is_nested() else self.X

    def _is_nested(self) -> bool:
        return not isinstance(self.X[0], str)

    def _draw(self, n_samples: int, root: np.random.SeedSequence) -> ValidationSet:
        if n_samples == self.n_rows_:
            return self.fixed_rows
        rng = stream(root, "rows")
        replace_rows = n_samples > self.n_rows_
        rows = rng.choice(self.n_rows_, size=n_samples, replace=replace_rows)
        return self.fixed_rows.take(rows)


def _shape(X: Table) -> tuple[int, ...]:
    """Return the shape of a table; a sequence of strings has one dimension."""
    if hasattr(X, "shape"):
        return tuple(X.shape)
    return (len(X),) if len(X) and isinstance(X[0], str) else np.shape(X)
