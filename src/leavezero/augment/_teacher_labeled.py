"""New rows labelled by a second opinion."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from leavezero._random import integer_seed, stream
from leavezero._typing import AnyArray, Floats, Ints, RandomState, Table
from leavezero.augment._around import AroundAugmenter
from leavezero.augment._target import Target
from leavezero.augment._teachers import Faculty, appoint, default_teachers
from leavezero.augment._validation_set import ValidationSet

MAX_TAUGHT_ROWS = 2_000


class TeacherLabeled(AroundAugmenter):
    """Label an augmenter's rows by ordinary models that have not seen the rows' origin.

    A new row that keeps its parents' label rewards a model for having memorised that label. Here
    a few ordinary models, the teachers, are cross-fitted once on the data; each new row gets the
    class probabilities that they give it, from the folds that did not see its origin. The
    probabilities are kept as soft labels (``posterior``), so that a loss is averaged over classes
    instead of over draws. The cost does not grow with the number of candidates. Candidates of a
    teacher's own kind are favoured a little, since they err where the teacher errs.

    Parameters
    ----------
    augmenter : augmenter
        What draws the rows.
    teachers : "auto" or list of estimators, default="auto"
        Classifiers with ``predict_proba``, or regressors where y is numbers. "auto" is a set of
        cheap ones of different kinds.
    n_folds : int, default=5
        The number of folds that they are cross-fitted on.
    random_state : int, RandomState, Generator or None, default=None
        Makes the folds and seeds the teachers.

    Attributes
    ----------
    augmenter_ : augmenter
        What draws the rows, fitted.
    teachers_ : list of estimators
        The teachers, as they were before they were fitted.
    shares_ : array of shape (n_teachers,)
        How much each teacher's word counts: the mixture weights of greatest held-out likelihood
        for classes, shares by held-out squared error for numbers.
    n_fits_ : int
        The number of models fitted: teachers times folds.
    classes_ : array of shape (n_classes,)
        The classes, sorted; only where the target is classes.

    Notes
    -----
    Where a row has origins in several folds, no model has left out all of them: the row gets the
    mean over the models that left out one. Pairing origins inside folds avoids that and chose
    worse. The hard labels ``y`` are drawn from the probabilities. Where the target is numbers, y
    is the teachers' prediction plus the deviation of a held-out row. Teachers learn from at most
    2,000 given rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from leavezero.augment import LabelInvariantMixup, TeacherLabeled
    >>> X, y = load_iris(return_X_y=True)
    >>> augmenter = TeacherLabeled(LabelInvariantMixup(), random_state=0).fit(X, y)
    >>> augmenter.sample(5, random_state=0).posterior.shape
    (5, 3)
    """

    def __init__(
        self,
        augmenter: Any,
        teachers: Any = "auto",
        n_folds: int = 5,
        random_state: RandomState = None,
    ) -> None:
        self.augmenter = augmenter
        self.teachers = teachers
        self.n_folds = n_folds
        self.random_state = random_state

    def _check_parameters(self) -> None:
        if not isinstance(self.n_folds, int | np.integer) or self.n_folds < 2:
            raise ValueError(
                f"n_folds of TeacherLabeled must be an int of at least 2, got {self.n_folds!r}. "
                "Use 5."
            )
        if self.teachers != "auto" and (
            not isinstance(self.teachers, list | tuple) or not self.teachers
        ):
            raise ValueError(
                'teachers of TeacherLabeled must be "auto" or a list of estimators, got '
                f"{self.teachers!r}."
            )

    def _learn(
        self,
        X: Table,
        target: Target,
        groups: AnyArray | None,
        root: np.random.SeedSequence,
    ) -> int:
        """Cross-fit the teachers."""
        if target.kind == "combinations":
            raise ValueError(
                "TeacherLabeled does not take several outputs of classes. Use LabelInvariantMixup."
            )
        self._target = target
        features = self._featurizer.transform(X)
        self._faculty, self._taught = self._appointed(features, target, groups, root)
        self.shares_ = self._faculty.shares
        return self._faculty.n_fits

    def _appointed(
        self,
        features: Any,
        target: Target,
        groups: AnyArray | None,
        root: np.random.SeedSequence,
    ) -> tuple[Faculty, Ints]:
        """Cross-fit the teachers on all rows, or on a random part of many."""
        n_rows = len(target)
        taught = np.arange(n_rows)
        if n_rows > MAX_TAUGHT_ROWS:
            taught = np.sort(stream(root, "taught").choice(n_rows, MAX_TAUGHT_ROWS, replace=False))
        part = target.take(taught)
        present, codes = np.unique(part.codes, return_inverse=True)
        self._present = present
        chosen = self.teachers
        if isinstance(chosen, str):
            chosen = default_teachers(
                n_numbers=0 if target.numbers is None else target.numbers.shape[1],
                sparse=sparse.issparse(features),
                n_rows=len(taught),
                n_columns=features.shape[1],
            )
        self.teachers_ = list(chosen)
        faculty = appoint(
            self.teachers_,
            features[taught],
            codes,
            part.numbers,
            n_folds=self.n_folds,
            groups=None if groups is None else groups[taught],
            seed=integer_seed(root, "teachers"),
        )
        return faculty, taught

    def _draw(self, n_samples: int, root: np.random.SeedSequence) -> ValidationSet:
        drawn = self.augmenter_.sample(n_samples, stream(root, "rows"))
        origins = self._taught_origins(drawn.origins)
        said = self._faculty.opinion(self._featurizer.transform(drawn.X), origins)
        rng = stream(root, "labels")
        if self._target.numbers is not None:
            residuals = self._faculty.residuals
            assert residuals is not None
            numbers = said + residuals[rng.integers(len(residuals), size=n_samples)]
            return replace(drawn, y=self._target.restore(None, numbers), posterior=None)
        labels = self._target.labels
        assert labels is not None
        posterior = np.zeros((n_samples, len(labels)))
        posterior[:, self._present] = said / said.sum(axis=1, keepdims=True)
        return replace(drawn, y=labels[draw_labels(posterior, rng)], posterior=posterior)

    def _taught_origins(self, origins: Ints | None) -> Ints | None:
        """Return origins as positions among the rows that the teachers learned from."""
        if origins is None or len(self._taught) == len(self._target):
            return origins
        place = np.full(len(self._target) + 1, -1)  # the last place is for -1 itself
        place[self._taught] = np.arange(len(self._taught))
        return place[origins]


def draw_labels(posterior: Floats, rng: np.random.Generator) -> Ints:
    """Draw one class for each row from its probabilities."""
    steps = np.cumsum(posterior, axis=1)
    marks = rng.random((len(posterior), 1)) * steps[:, -1:]
    return np.minimum((marks > steps).sum(axis=1), posterior.shape[1] - 1)
