"""Weight generated rows by an estimate of the density ratio of training and generated rows."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from leavezero._random import integer_seed, seed_sequence, stream
from leavezero._tables import Featurizer, stack_rows
from leavezero._typing import AnyArray, Floats, Ints, RandomState, Table
from leavezero.augment._augmenter import BaseAugmenter, ValidationSet, fit_clone

_MAX_WEIGHT = 10.0  # before normalization; the smallest weight is its inverse
_MAX_SQUARED_COLUMNS = 30  # up to which products of columns are features
_MIN_ROWS = 5  # per class, training and generated


class DensityRatioWeighted(BaseAugmenter):
    """Weight an augmenter's rows by the density ratio of training rows and generated rows.

    Per class, a classifier is fitted to distinguish training rows from generated rows; its odds
    estimate the density ratio. The authors' published code has such weights, with a wrong sign of
    the intercept. Metrics without weights are computed on rows resampled by weight.

    Parameters
    ----------
    augmenter : augmenter
        Generates the rows.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the rows for fitting the classifiers, and of the augmenter.

    Attributes
    ----------
    augmenter_ : augmenter
        The fitted augmenter.
    n_fits_ : int
        The number of models that were fitted to label or weight rows.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import DensityRatioWeighted, OrthogonalTransform
    >>> X = np.random.default_rng(0).normal(size=(80, 2)) * [1, 5]
    >>> augmenter = DensityRatioWeighted(OrthogonalTransform(), random_state=0)
    >>> augmenter.fit(X, np.tile([0, 1], 40)).sample(9, random_state=0).sample_weight.shape
    (9,)
    """

    def __init__(self, augmenter: Any, random_state: RandomState = None) -> None:
        self.augmenter = augmenter
        self.random_state = random_state

    def _fit(self, X: Table, y: AnyArray, weight: Floats | None, groups: Ints | None) -> None:
        if self._target.kind != "classes":
            raise ValueError("DensityRatioWeighted requires one column of classes as y.")
        root = seed_sequence(self.random_state)
        seed = integer_seed(root, "augmenter")
        self.augmenter_ = fit_clone(self.augmenter, X, y, weight, groups, seed=seed)
        self._featurizer = Featurizer().fit(X)
        sample = self.augmenter_.sample(len(self._target), stream(root, "classifier"))
        training, generated = self._featurizer.transform(X), self._featurizer.transform(sample.X)
        self._classifiers: dict[int, Any] = {}  # by class code
        for code, label in enumerate(self.classes_):
            parts = [training[self._target.codes == code], generated[sample.y == label]]
            sizes = [part.shape[0] for part in parts]
            if min(sizes) >= _MIN_ROWS:
                rows, is_training = stack_rows(parts), np.repeat([1, 0], sizes)
                self._classifiers[code] = _classifier(rows).fit(rows, is_training)
        self.n_fits_ = getattr(self.augmenter_, "n_fits_", 0) + len(self._classifiers)

    def _sample(self, n_samples: int, root: np.random.SeedSequence) -> ValidationSet:
        sample = self.augmenter_.sample(n_samples, stream(root, "rows"))
        features = self._featurizer.transform(sample.X)
        weights = np.ones(n_samples)
        for code, classifier in self._classifiers.items():
            rows = np.flatnonzero(sample.y == self.classes_[code])
            if len(rows):
                log_odds = classifier.decision_function(features[rows])
                odds = np.exp(np.clip(log_odds, -np.log(_MAX_WEIGHT), np.log(_MAX_WEIGHT)))
                weights[rows] = odds / odds.mean()
        if sample.sample_weight is not None:
            weights = weights * sample.sample_weight
        return replace(sample, sample_weight=weights)


def _classifier(rows: Any) -> Any:
    model = LogisticRegression(C=0.1, class_weight="balanced", max_iter=500)
    if sparse.issparse(rows):
        return model
    products = [PolynomialFeatures(2)] if rows.shape[1] <= _MAX_SQUARED_COLUMNS else []
    return make_pipeline(*products, StandardScaler(), model)
