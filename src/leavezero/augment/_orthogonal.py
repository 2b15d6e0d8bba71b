"""Random rotation of each class about its mean."""

from typing import Any, ClassVar

import numpy as np
from scipy.stats import ortho_group

from leavezero._typing import Floats, Ints
from leavezero.augment._table_augmenter import ClassConditionalAugmenter, ClassRows, ClassSample

_MAX_COLUMNS = 2_000


class OrthogonalTransform(ClassConditionalAugmenter):
    """Rotate the rows of each class about their mean by a random orthogonal matrix.

    The authors' published code has this transformation, about the origin, in addition to mix-up;
    the paper does not mention it. It only keeps the means of classes and the distances within
    them: if columns differ in variance or are correlated, its rows do not resemble the data. Each
    call of ``sample`` uses one matrix per class, uniformly distributed over all rotations and
    reflections. Constant columns are kept.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import OrthogonalTransform
    >>> X = np.array([[0.0, 1.0], [0.0, -1.0], [5.0, 5.0], [7.0, 5.0]])
    >>> validation_set = OrthogonalTransform().fit(X, [0, 0, 1, 1]).sample(4, random_state=0)
    >>> np.round(np.linalg.norm(validation_set.X[validation_set.y == 0], axis=1), 6)
    array([1., 1.])
    """

    takes: ClassVar[frozenset[str]] = frozenset({"several outputs"})

    def _fit_class(self, one: ClassRows) -> tuple[Floats, Ints]:
        if one.values.shape[1] > _MAX_COLUMNS:
            raise ValueError(
                f"OrthogonalTransform requires at most {_MAX_COLUMNS} columns, got "
                f"{one.values.shape[1]}. Use LabelInvariantMixup."
            )
        if len(one) == 1:
            self._warn_small(one, 2, "its row is copied")
        return one.values.mean(axis=0), np.flatnonzero(np.ptp(one.values, axis=0) > 0)

    def _sample_class(
        self, one: ClassRows, fitted: Any, n_samples: int, rng: np.random.Generator
    ) -> ClassSample:
        mean, varying = fitted
        rows = rng.integers(len(one), size=n_samples)
        values = one.values[rows].copy()
        if len(varying):
            rotation = rng.choice([-1.0, 1.0], size=(1, 1))
            if len(varying) > 1:
                rotation = ortho_group.rvs(len(varying), random_state=rng)
            values[:, varying] = mean[varying] + (values[:, varying] - mean[varying]) @ rotation
        return ClassSample(values, rows[:, None])
