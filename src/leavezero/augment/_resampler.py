"""Generate rows by over-samplers with ``fit_resample``."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from leavezero._random import integer_seed, stream
from leavezero._tables import count_rows, plain, take_rows
from leavezero._typing import AnyArray, Floats, Ints, Table
from leavezero.augment._augmenter import BaseAugmenter, ValidationSet
from leavezero.augment._table_augmenter import quotas


class ResamplerAugmenter(BaseAugmenter):
    """Use the rows that an over-sampler adds to the training data.

    Any object with ``fit_resample(X, y)`` whose result starts with the training rows can be used,
    such as SMOTE, SMOTENC and ADASYN of imbalanced-learn. All classes are over-sampled, not only
    the small ones, and only the added rows are used. The rows of SMOTE lie between neighbors of a
    class and favor flexible models, as those of :class:`NeighborMixup` do.

    Parameters
    ----------
    resampler : object with fit_resample
        Its parameters ``sampling_strategy`` and ``random_state``, if it has them, are set each
        time that rows are sampled.

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

    takes_metadata: ClassVar[bool] = False

    def __init__(self, resampler: Any) -> None:
        self.resampler = resampler

    def _check_parameters(self) -> None:
        if not hasattr(self.resampler, "fit_resample"):
            raise ValueError(
                "resampler of ResamplerAugmenter must have fit_resample(X, y), got "
                f"{self.resampler!r}."
            )

    def _fit(self, X: Table, y: AnyArray, weight: Floats | None, groups: Ints | None) -> None:
        if self._target.kind != "classes":
            raise ValueError(
                "ResamplerAugmenter requires one column of classes as y. Use LabelInvariantMixup."
            )
        self._X, self._y = X, np.asarray(y)
        self._counts = np.bincount(self._target.codes)

    def _sample(self, n_samples: int, root: np.random.SeedSequence) -> ValidationSet:
        sizes = quotas(self._counts, n_samples)
        X, y = self._configured(sizes, root).fit_resample(self._X, self._y)
        n_rows = len(self._y)
        X_new, y_new = take_rows(X, slice(n_rows, None)), np.asarray(y)[n_rows:]
        if count_rows(X_new) == 0:
            raise ValueError(
                f"{self.resampler!r} returned no new rows. Use an over-sampler that adds rows to "
                "every class, such as SMOTE of imbalanced-learn."
            )
        rng = stream(root, "rows")
        chosen = np.concatenate(
            [
                self._choose(np.flatnonzero(y_new == label), int(size), label, rng)
                for label, size in zip(self.classes_, sizes, strict=True)
            ]
        )
        chosen = chosen[stream(root, "order").permutation(n_samples)]
        return ValidationSet(take_rows(X_new, chosen), y_new[chosen])

    def _configured(self, sizes: Ints, root: np.random.SeedSequence) -> Any:
        """Return a seeded clone of the over-sampler that adds rows to every class."""
        if not hasattr(self.resampler, "get_params"):
            return self.resampler
        resampler = clone(self.resampler)
        params = resampler.get_params()
        if "sampling_strategy" in params:
            # At least twice the rows: adaptive over-samplers add none if few are requested.
            totals = self._counts + np.maximum(sizes, self._counts)
            strategy = {plain(k): int(n) for k, n in zip(self.classes_, totals, strict=True)}
            resampler.set_params(sampling_strategy=strategy)
        if "random_state" in params:
            resampler.set_params(random_state=integer_seed(root, "resampler"))
        return resampler

    def _choose(self, rows: Ints, size: int, label: Any, rng: np.random.Generator) -> Ints:
        """Choose new rows of a class, with replacement if there are too few."""
        if size and not len(rows):
            raise ValueError(
                f"{self.resampler!r} returned no new rows of class {plain(label)!r}. Use an "
                "over-sampler that adds rows to every class, such as SMOTE of imbalanced-learn."
            )
        if size <= len(rows):
            return rng.permutation(rows)[:size]
        return rows[rng.integers(len(rows), size=size)]
