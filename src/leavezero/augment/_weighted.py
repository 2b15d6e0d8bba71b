"""Rows weighed by how real they look."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from leavezero._random import stream
from leavezero._tables import stack_rows, take_rows
from leavezero._typing import AnyArray, Floats, RandomState, Table
from leavezero.augment._around import AroundAugmenter
from leavezero.augment._target import Target
from leavezero.augment._validation_set import ValidationSet
from leavezero.exceptions import SmallClassWarning

_LIMIT = 10.0  # no row counts more than this, or less than its inverse
_MAX_SQUARED = 30  # columns up to which products of columns are features too


class Weighted(AroundAugmenter):
    """Weigh an augmenter's rows by the odds that they are real, class by class.

    A classifier is trained to tell given rows from new ones; its odds estimate the density
    ratio, so that rows in places where the augmenter draws too many count less. The authors'
    published code has such weights, from a logistic regression whose intercept has the wrong
    sign. A score that takes no weights is computed on rows resampled by weight.

    Parameters
    ----------
    augmenter : augmenter
        What draws the rows.
    n_folds : int, default=3
        The classifier is trained so many times, each time on given rows and new ones without
        those that lean on the rest; a row's odds are the mean over the classifiers.
    random_state : int, RandomState, Generator or None, default=None
        Draws the new rows that the classifiers learn from.

    Attributes
    ----------
    augmenter_ : augmenter
        What draws the rows, fitted.
    classes_ : array of shape (n_classes,)
        The classes, sorted.
    n_fits_ : int
        The number of models fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import OrthogonalTransform, Weighted
    >>> X = np.random.default_rng(0).normal(size=(80, 2)) * [1, 5]
    >>> V = Weighted(OrthogonalTransform(), random_state=0).fit(X, np.tile([0, 1], 40)).sample(9, 0)
    >>> V.sample_weight.shape
    (9,)
    """

    def __init__(self, augmenter: Any, n_folds: int = 3, random_state: RandomState = None) -> None:
        self.augmenter = augmenter
        self.n_folds = n_folds
        self.random_state = random_state

    def _check_parameters(self) -> None:
        if not isinstance(self.n_folds, int | np.integer) or self.n_folds < 1:
            raise ValueError(
                f"n_folds of Weighted must be a positive int, got {self.n_folds!r}. Use 3."
            )

    def _learn(
        self,
        X: Table,
        target: Target,
        groups: AnyArray | None,
        root: np.random.SeedSequence,
    ) -> int:
        """Train the classifiers that tell new rows from given ones."""
        if target.kind != "classes":
            raise ValueError(
                "Weighted needs one column of classes as y. Use the augmenter without weights."
            )
        labels = self.classes_[target.codes]
        self._judges: dict[int, list[Any]] = {}
        part = stream(root, "parts").integers(self.n_folds, size=len(labels))
        for fold in range(self.n_folds):
            kept = np.flatnonzero(part != fold) if self.n_folds > 1 else np.arange(len(labels))
            self._fit_judges(take_rows(X, kept), labels[kept], stream(root, "judge", fold))
        return sum(map(len, self._judges.values()))

    def _fit_judges(self, X: Table, y: AnyArray, rng: np.random.Generator) -> None:
        """Train a classifier a class on given rows and on new ones drawn from these rows only."""
        with warnings.catch_warnings():
            # A class may be small in a part that is not small in the data.
            warnings.simplefilter("ignore", SmallClassWarning)
            drawn = clone(self.augmenter_).fit(X, y).sample(len(y), rng)
        given, new = self._featurizer.transform(X), self._featurizer.transform(drawn.X)
        for code, label in enumerate(self.classes_):
            real, made = given[y == label], new[drawn.y == label]
            if real.shape[0] < 5 or made.shape[0] < 5:
                continue
            rows = stack_rows([real, made])
            origin = np.repeat([1, 0], [real.shape[0], made.shape[0]])
            self._judges.setdefault(code, []).append(_judge(rows).fit(rows, origin))

    def _draw(self, n_samples: int, root: np.random.SeedSequence) -> ValidationSet:
        drawn = self.augmenter_.sample(n_samples, stream(root, "rows"))
        features = self._featurizer.transform(drawn.X)
        weights = np.ones(n_samples)
        for code, label in enumerate(self.classes_):
            rows = np.flatnonzero(drawn.y == label)
            if len(rows) and code in self._judges:
                weights[rows] = _odds(self._judges[code], features[rows])
        if drawn.sample_weight is not None:
            weights = weights * drawn.sample_weight
        return replace(drawn, sample_weight=weights)


def _odds(judges: list[Any], rows: Any) -> Floats:
    """Return each row's mean log-odds to be real as a ratio, with mean 1."""
    logits = np.mean([judge.decision_function(rows) for judge in judges], axis=0)
    odds = np.exp(np.clip(logits, -np.log(_LIMIT), np.log(_LIMIT)))
    return odds / odds.mean()


def _judge(rows: Any) -> Any:
    """Return a classifier that tells given rows from new ones, with products of few columns."""
    model = LogisticRegression(C=0.1, class_weight="balanced", max_iter=500)
    if sparse.issparse(rows):
        return model
    products = [PolynomialFeatures(2)] if rows.shape[1] <= _MAX_SQUARED else []
    return make_pipeline(*products, StandardScaler(), model)
