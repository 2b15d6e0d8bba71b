"""Several augmenters whose rows are judged side by side."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from leavezero._random import integer_seed, seed_sequence, stream, with_seed
from leavezero._typing import AnyArray, Floats, RandomState, Table
from leavezero.augment._around import fit_augmenter
from leavezero.augment._base import BaseAugmenter
from leavezero.augment._strata import quotas
from leavezero.augment._validation_set import ValidationSet


class Portfolio(BaseAugmenter):
    """Draw an equal share of the rows by each of several augmenters.

    A score is computed on each member's rows by itself and averaged over members, so that the
    errors of one kind of rows are balanced by those of another.

    Parameters
    ----------
    augmenters : list of augmenters
        The members.
    random_state : int, RandomState, Generator or None, default=None
        Seeds every ``random_state`` of None inside the members.

    Attributes
    ----------
    members_ : list of augmenters
        The members, fitted.
    classes_ : array of shape (n_classes,)
        The classes, sorted; only where the target is one column of classes.
    n_fits_ : int
        The number of models that the members fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import CopulaAugmenter, LabelInvariantMixup, Portfolio
    >>> X, y = np.random.default_rng(0).normal(size=(20, 2)), np.tile([0, 1], 10)
    >>> V = Portfolio([LabelInvariantMixup(), CopulaAugmenter()]).fit(X, y).sample(7, 0)
    >>> np.bincount(V.members)
    array([4, 3])
    """

    def __init__(self, augmenters: Sequence[Any], random_state: RandomState = None) -> None:
        self.augmenters = augmenters
        self.random_state = random_state

    def _check_parameters(self) -> None:
        if not isinstance(self.augmenters, list | tuple) or not self.augmenters:
            raise ValueError(
                "augmenters of Portfolio must be a list with at least one augmenter, "
                f"got {self.augmenters!r}. Use [CopulaAugmenter(), NeighborLabelAugmenter()]."
            )

    def fit(
        self,
        X: Table,
        y: AnyArray,
        *,
        sample_weight: AnyArray | None = None,
        groups: AnyArray | None = None,
    ) -> Self:
        """Fit every member to the data."""
        self._check_parameters()
        root = seed_sequence(self.random_state)
        self.members_ = [
            fit_augmenter(
                with_seed(clone(member), integer_seed(root, "member", at)),
                X,
                y,
                sample_weight,
                groups,
            )
            for at, member in enumerate(self.augmenters)
        ]
        known = [member.classes_ for member in self.members_ if hasattr(member, "classes_")]
        if known:
            self.classes_ = known[0]
        self.n_fits_ = sum(getattr(member, "n_fits_", 0) for member in self.members_)
        return self

    def _draw(self, n_samples: int, root: np.random.SeedSequence) -> ValidationSet:
        sizes = quotas(np.ones(len(self.members_), dtype=np.intp), n_samples)
        drawn = [
            (at, member.sample(int(size), stream(root, "member", at)))
            for at, (member, size) in enumerate(zip(self.members_, sizes, strict=True))
            if size
        ]
        labels = self._labels([part for _, part in drawn])
        width = max(0 if p.origins is None else p.origins.shape[1] for _, p in drawn)
        weighted = any(part.sample_weight is not None for _, part in drawn)
        return ValidationSet.concatenate(
            [_alike(part, at, labels, width, weighted) for at, part in drawn]
        )

    def _labels(self, parts: Sequence[ValidationSet]) -> AnyArray | None:
        """Return the classes if any member has soft labels; then all must have them."""
        if all(part.posterior is None for part in parts):
            return None
        return self.classes_


def one_hot(y: AnyArray, labels: AnyArray) -> Floats:
    """Return hard labels as soft ones."""
    return (np.asarray(y)[:, None] == labels[None, :]).astype(np.float64)


def _alike(
    part: ValidationSet, member: int, labels: AnyArray | None, width: int, weighted: bool
) -> ValidationSet:
    """Return a member's rows with the same optional parts as the others'."""
    n_rows = len(part)
    posterior, weight = part.posterior, part.sample_weight
    if labels is not None and posterior is None:
        posterior = one_hot(part.y, labels)
    if weighted and weight is None:
        weight = np.ones(n_rows)
    origins = np.full((n_rows, width), -1) if width else None
    if origins is not None and part.origins is not None:
        origins[:, : part.origins.shape[1]] = part.origins
    return replace(
        part,
        posterior=posterior,
        origins=origins,
        sample_weight=weight,
        members=np.full(n_rows, member),
        reference_codes=None,  # members of one portfolio need not have the same references
    )
