"""New rows from over-samplers with ``fit_resample``."""

from typing import Any, Self

import numpy as np
from sklearn.base import clone

from leavezero._random import integer_seed, stream
from leavezero._tables import count_rows, plain, take_rows
from leavezero._typing import AnyArray, Ints, Table
from leavezero.augment._base import BaseAugmenter
from leavezero.augment._strata import quotas
from leavezero.augment._target import Target
from leavezero.augment._validation_set import ValidationSet


class ResamplerAugmenter(BaseAugmenter):
    """Take the new rows that an over-sampler adds to the data.

    Any object with ``fit_resample(X, y)`` serves whose result starts with the given rows, such as
    imbalanced-learn's SMOTE, SMOTENC and ADASYN. Every class is enlarged, not only the small ones,
    and only the new rows are taken. SMOTE's rows lie between near rows of a class, as
    :class:`NeighborMixup`'s do, and flatter flexible models alike.

    Parameters
    ----------
    resampler : object with fit_resample
        If it has a parameter ``sampling_strategy``, it is set to the numbers of rows wanted; if it
        has a ``random_state``, it is set at each draw.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes, sorted.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import ResamplerAugmenter
    >>> class Doubler:
    ...     def fit_resample(self, X, y):
    ...         return np.vstack([X, X + 0.1]), np.append(y, y)
    >>> X, y = np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 1, 1])
    >>> ResamplerAugmenter(Doubler()).fit(X, y).sample(4, random_state=0).y.tolist()
    [0, 1, 0, 1]
    """

    def __init__(self, resampler: Any) -> None:
        self.resampler = resampler

    def fit(
        self,
        X: Table,
        y: AnyArray,
        *,
        sample_weight: AnyArray | None = None,
        groups: AnyArray | None = None,
    ) -> Self:
        """Keep the data; the over-sampler works when rows are drawn."""
        if not hasattr(self.resampler, "fit_resample"):
            raise ValueError(
                "resampler of ResamplerAugmenter must have fit_resample(X, y), got "
                f"{self.resampler!r}. Use SMOTE() of imbalanced-learn."
            )
        if sample_weight is not None or groups is not None:
            raise ValueError(
                "ResamplerAugmenter takes neither sample_weight nor groups: an over-sampler "
                "does not honour them. Use LabelInvariantMixup."
            )
        target = Target.of(y, type(self).__name__)
        if target.kind != "classes":
            raise ValueError(
                "ResamplerAugmenter needs one column of classes as y. Use LabelInvariantMixup."
            )
        self._X, self._y = X, np.asarray(y)
        self.classes_: AnyArray = np.asarray(target.labels)
        self._counts = np.bincount(target.codes)
        return self

    def _draw(self, n_samples: int, root: np.random.SeedSequence) -> ValidationSet:
        wanted = quotas(self._counts, n_samples)
        resampler = self._seeded(wanted, root)
        X, y = resampler.fit_resample(self._X, self._y)
        n_given = len(self._y)
        new_X, new_y = take_rows(X, slice(n_given, None)), np.asarray(y)[n_given:]
        if count_rows(new_X) == 0:
            raise ValueError(
                f"{self.resampler!r} returned no new rows. Give an over-sampler that adds rows to "
                "every class, such as SMOTE() of imbalanced-learn."
            )
        rng = stream(root, "rows")
        chosen = np.concatenate(
            [
                self._some_of(np.flatnonzero(new_y == label), int(size), label, rng)
                for label, size in zip(self.classes_, wanted, strict=True)
            ]
        )
        chosen = chosen[stream(root, "order").permutation(n_samples)]
        return ValidationSet(take_rows(new_X, chosen), new_y[chosen])

    def _seeded(self, wanted: Ints, root: np.random.SeedSequence) -> Any:
        """Return a copy of the over-sampler that enlarges every class, with its own seed."""
        if not hasattr(self.resampler, "get_params"):
            return self.resampler
        resampler = clone(self.resampler)
        params = resampler.get_params()
        if "sampling_strategy" in params:
            # At least twice the rows: adaptive over-samplers make none where few are asked for.
            totals = self._counts + np.maximum(wanted, self._counts)
            goals = {plain(k): int(v) for k, v in zip(self.classes_, totals, strict=True)}
            resampler.set_params(sampling_strategy=goals)
        if "random_state" in params:
            resampler.set_params(random_state=integer_seed(root, "resampler"))
        return resampler

    def _some_of(self, rows: Ints, size: int, label: Any, rng: np.random.Generator) -> Ints:
        """Return as many new rows of a class as wanted; again where there are too few."""
        if size and not len(rows):
            raise ValueError(
                f"{self.resampler!r} returned no new rows of class {plain(label)!r}. Give an "
                "over-sampler that adds rows to every class, such as SMOTE() of imbalanced-learn."
            )
        if size <= len(rows):
            return rng.permutation(rows)[:size]
        return rows[rng.integers(len(rows), size=size)]
