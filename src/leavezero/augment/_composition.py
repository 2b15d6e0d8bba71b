"""Compose augmenters: a union of several, or a pipeline of one after the other."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from leavezero._random import integer_seed, seed_sequence, stream
from leavezero._typing import AnyArray, Floats, Ints, RandomState, Table
from leavezero.augment._augmenter import BaseAugmenter, ValidationSet, fit_clone, quotas
from leavezero.exceptions import SmallClassWarning


class _Composition(BaseAugmenter):
    """Base class of augmenters that consist of several augmenters."""

    augmenters: Sequence[Any]

    def _check_parameters(self) -> None:
        is_list = isinstance(self.augmenters, list | tuple) and len(self.augmenters) > 0
        self._require("augmenters", is_list, "be a list with at least one augmenter")


class AugmenterUnion(_Composition):
    """Generate an equal share of the rows by each of several augmenters.

    A score is computed separately on the rows of each augmenter and averaged, so that the biases
    of different augmenters balance each other.

    Parameters
    ----------
    augmenters : list of augmenters
        The augmenters.
    random_state : int, RandomState, Generator or None, default=None
        Seeds every ``random_state`` of None inside the augmenters.

    Attributes
    ----------
    augmenters_ : list of augmenters
        The fitted augmenters.
    n_fits_ : int
        The number of models that they fitted to label or weight rows.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import AugmenterUnion, CopulaAugmenter, LabelInvariantMixup
    >>> X, y = np.random.default_rng(0).normal(size=(20, 2)), np.tile([0, 1], 10)
    >>> union = AugmenterUnion([LabelInvariantMixup(), CopulaAugmenter()])
    >>> np.bincount(union.fit(X, y).sample(7, random_state=0).component)
    array([4, 3])
    """

    def __init__(self, augmenters: Sequence[Any], random_state: RandomState = None) -> None:
        self.augmenters = augmenters
        self.random_state = random_state

    def _fit(self, X: Table, y: AnyArray, weight: Floats | None, groups: Ints | None) -> None:
        root = seed_sequence(self.random_state)
        self.augmenters_ = []
        with warnings.catch_warnings():
            for i, augmenter in enumerate(self.augmenters):
                seed = integer_seed(root, "member", i)
                self.augmenters_.append(fit_clone(augmenter, X, y, weight, groups, seed=seed))
                warnings.simplefilter("ignore", SmallClassWarning)  # one warning is enough
        known = [a.classes_ for a in self.augmenters_ if hasattr(a, "classes_")]
        if known:  # without a marker of unlabeled rows
            self.classes_ = known[0]
        self.n_fits_ = sum(getattr(augmenter, "n_fits_", 0) for augmenter in self.augmenters_)

    def _sample(self, n_samples: int, root: np.random.SeedSequence) -> ValidationSet:
        sizes = quotas(np.ones(len(self.augmenters_), dtype=np.intp), n_samples)
        parts = {
            i: self.augmenters_[i].sample(int(size), stream(root, "member", i))
            for i, size in enumerate(sizes)
            if size
        }
        # Optional fields that some augmenters provide are filled in for the others.
        weighted = any(part.sample_weight is not None for part in parts.values())
        width = max(0 if p.source_rows is None else p.source_rows.shape[1] for p in parts.values())
        filled = []
        for i, part in parts.items():
            weight = part.sample_weight
            if weighted and weight is None:
                weight = np.ones(len(part))
            sources = np.full((len(part), width), -1) if width else None
            if sources is not None and part.source_rows is not None:
                sources[:, : part.source_rows.shape[1]] = part.source_rows
            component = np.full(len(part), i)
            filled.append(ValidationSet(part.X, part.y, weight, sources, component))
        return ValidationSet.concatenate(filled)


class AugmenterPipeline(_Composition):
    """Apply each augmenter to the rows that the previous one generated.

    Parameters
    ----------
    augmenters : list of augmenters
        The first is fitted to the training data; each next one is fitted to the rows of the
        previous one, every time that rows are sampled.

    Attributes
    ----------
    augmenter_ : augmenter
        The first augmenter, fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import AugmenterPipeline, LabelInvariantMixup, OrthogonalTransform
    >>> X, y = np.random.default_rng(0).normal(size=(20, 2)), np.tile([0, 1], 10)
    >>> pipeline = AugmenterPipeline([LabelInvariantMixup(), OrthogonalTransform()]).fit(X, y)
    >>> pipeline.sample(6, random_state=0).source_rows.shape  # each row is a mix of two rows
    (6, 2)
    """

    def __init__(self, augmenters: Sequence[Any]) -> None:
        self.augmenters = augmenters

    def _fit(self, X: Table, y: AnyArray, weight: Floats | None, groups: Ints | None) -> None:
        self.augmenter_ = fit_clone(self.augmenters[0], X, y, weight, groups, seed=None)

    def _sample(self, n_samples: int, root: np.random.SeedSequence) -> ValidationSet:
        rows = self.augmenter_.sample(n_samples, stream(root, "link", 0))
        for i, augmenter in enumerate(self.augmenters[1:], start=1):
            fitted = fit_clone(augmenter, rows.X, rows.y, seed=integer_seed(root, "link seed", i))
            new = fitted.sample(n_samples, stream(root, "link", i))
            sources = None
            if rows.source_rows is not None and new.source_rows is not None:
                sources = rows.source_rows[new.source_rows].reshape(n_samples, -1)
            rows = replace(new, source_rows=sources)
        return rows
