"""Weight generated rows by an estimate of the density ratio of training and generated rows."""

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
from leavezero._typing import AnyArray, Floats, Ints, RandomState, Table
from leavezero.augment._augmenter import AugmenterWrapper, ValidationSet, is_count
from leavezero.exceptions import SmallClassWarning

_MAX_WEIGHT = 10.0  # before normalization; the smallest weight is its inverse
_MAX_SQUARED_COLUMNS = 30  # up to which products of columns are features
_MIN_ROWS = 5  # per class, training and generated


class DensityRatioWeighted(AugmenterWrapper):
    """Weight an augmenter's rows by the density ratio of training rows and generated rows.

    Per class, a classifier is fitted to distinguish training rows from generated rows; its odds
    estimate the density ratio. The authors' published code has such weights, with a wrong sign of
    the intercept. Metrics without weights are computed on rows resampled by weight.

    Parameters
    ----------
    augmenter : augmenter
        Generates the rows.
    n_folds : int, default=3
        The number of classifiers per class, each fitted without one part of the training rows;
        the mean of their log-odds is used.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the parts, of the rows for fitting the classifiers, and of the augmenter.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import DensityRatioWeighted, OrthogonalTransform
    >>> X = np.random.default_rng(0).normal(size=(80, 2)) * [1, 5]
    >>> augmenter = DensityRatioWeighted(OrthogonalTransform(), random_state=0)
    >>> augmenter.fit(X, np.tile([0, 1], 40)).sample(9, random_state=0).sample_weight.shape
    (9,)
    """

    def __init__(self, augmenter: Any, n_folds: int = 3, random_state: RandomState = None) -> None:
        self.augmenter = augmenter
        self.n_folds = n_folds
        self.random_state = random_state

    def _check_parameters(self) -> None:
        self._require("n_folds", is_count(self.n_folds), "be a positive int")

    def _fit_models(self, X: Table, groups: Ints | None, root: np.random.SeedSequence) -> int:
        if self._target.kind != "classes":
            raise ValueError("DensityRatioWeighted requires one column of classes as y.")
        labels = self.classes_[self._target.codes]
        self._classifiers: dict[int, list[Any]] = {}  # by class code
        part = stream(root, "parts").integers(self.n_folds, size=len(labels))
        for fold in range(self.n_folds):
            rows = np.flatnonzero(part != fold) if self.n_folds > 1 else np.arange(len(labels))
            rng = stream(root, "classifier", fold)
            self._fit_classifiers(take_rows(X, rows), labels[rows], rng)
        return sum(map(len, self._classifiers.values()))

    def _fit_classifiers(self, X: Table, y: AnyArray, rng: np.random.Generator) -> None:
        """Fit one classifier per class to training rows and rows generated from them."""
        with warnings.catch_warnings():
            # A class may be small in a part that is not small in the training data.
            warnings.simplefilter("ignore", SmallClassWarning)
            sample = clone(self.augmenter_).fit(X, y).sample(len(y), rng)
        training, generated = self._featurizer.transform(X), self._featurizer.transform(sample.X)
        for code, label in enumerate(self.classes_):
            parts = [training[y == label], generated[sample.y == label]]
            sizes = [part.shape[0] for part in parts]
            if min(sizes) >= _MIN_ROWS:
                rows, is_training = stack_rows(parts), np.repeat([1, 0], sizes)
                fitted = _classifier(rows).fit(rows, is_training)
                self._classifiers.setdefault(code, []).append(fitted)

    def _sample(self, n_samples: int, root: np.random.SeedSequence) -> ValidationSet:
        sample = self.augmenter_.sample(n_samples, stream(root, "rows"))
        features = self._featurizer.transform(sample.X)
        weights = np.ones(n_samples)
        for code, classifiers in self._classifiers.items():
            rows = np.flatnonzero(sample.y == self.classes_[code])
            if len(rows):
                weights[rows] = _density_ratio(classifiers, features[rows])
        if sample.sample_weight is not None:
            weights = weights * sample.sample_weight
        return replace(sample, sample_weight=weights)


def _density_ratio(classifiers: list[Any], rows: Any) -> Floats:
    """Return the odds by the mean log-odds of the classifiers, scaled to mean 1."""
    log_odds = np.mean([classifier.decision_function(rows) for classifier in classifiers], axis=0)
    odds = np.exp(np.clip(log_odds, -np.log(_MAX_WEIGHT), np.log(_MAX_WEIGHT)))
    return odds / odds.mean()


def _classifier(rows: Any) -> Any:
    model = LogisticRegression(C=0.1, class_weight="balanced", max_iter=500)
    if sparse.issparse(rows):
        return model
    products = [PolynomialFeatures(2)] if rows.shape[1] <= _MAX_SQUARED_COLUMNS else []
    return make_pipeline(*products, StandardScaler(), model)
