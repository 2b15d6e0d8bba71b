"""Predict generated rows by reference models, which measure the bias of a validation score."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestNeighbors
from sklearn.tree import DecisionTreeClassifier

from leavezero._random import integer_seed, stream, with_seed
from leavezero._typing import Floats, Ints, RandomState, Table
from leavezero.augment._augmenter import AugmenterWrapper, ValidationSet, some_rows
from leavezero.augment._soft_labels import make_folds

MAX_ROWS = 1_000  # for fitting the reference models
N_NEIGHBORS = (1, 3, 5, 9, 15, 25, 41)
KERNEL_WIDTHS = (0.02, 0.1, 0.4, 1.5, 5.0)  # gamma times the number of columns
KERNEL_PENALTIES = (0.03, 0.5, 8.0)
RIDGE_PENALTIES = (0.3, 10.0, 100.0, 1000.0)
BLOCK_ROWS = 4_096

_Predictor = Callable[[Floats], list[Ints]]  # features to the codes of one or more models
_Kernel = Callable[[Floats], Floats]
_Fitted = tuple[Ints, _Predictor, int]  # LOO predictions, one column per model; number of fits


class BiasCorrected(AugmenterWrapper):
    """Measure the bias of the score on an augmenter's rows by reference models.

    About forty cheap models (sixty small fits) of different types are fitted to the training
    data. The difference of a model's score on the validation set and its leave-one-out, out-of-bag
    or cross-validation score is the bias of the validation set for that model. A search corrects
    the score of a candidate by the bias of the reference models with similar predictions (ordinary
    kriging, see Cressie, Statistics for Spatial Data, 1993; the distance is the share of rows that
    are predicted differently).

    Parameters
    ----------
    augmenter : augmenter
        Generates the rows.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the reference models and of the augmenter.

    Attributes
    ----------
    reference_models_ : ReferenceModels
        The reference models and their leave-one-out predictions for at most 1,000 training rows.

    Notes
    -----
    The target is one column of classes, and only scores of predicted labels are corrected.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from leavezero.augment import BiasCorrected, CopulaAugmenter
    >>> X, y = load_iris(return_X_y=True)
    >>> augmenter = BiasCorrected(CopulaAugmenter(), random_state=0).fit(X, y)
    >>> augmenter.sample(5, random_state=0).reference_predictions.shape
    (5, 37)
    """

    def __init__(self, augmenter: Any, random_state: RandomState = None) -> None:
        self.augmenter = augmenter
        self.random_state = random_state

    def _fit_models(self, X: Table, groups: Ints | None, root: np.random.SeedSequence) -> int:
        features = self._featurizer.transform(X)
        if self._target.kind != "classes" or sparse.issparse(features):
            raise ValueError(
                "BiasCorrected requires one column of classes as y, and a table that is neither "
                "sparse nor text. Use SoftLabeled."
            )
        if groups is not None:  # other rows of its group would remain if a row is left out
            raise ValueError("BiasCorrected does not support groups. Use SoftLabeled.")
        rows = some_rows(len(self._target), MAX_ROWS, stream(root, "rows"))
        seed = integer_seed(root, "references")
        codes = self._target.codes[rows]
        folds = make_folds(codes, None, 5, None, seed)
        self.reference_models_ = ReferenceModels.of(features[rows], codes, folds, seed)
        return self.reference_models_.n_fits

    def _sample(self, n_samples: int, root: np.random.SeedSequence) -> ValidationSet:
        sample = self.augmenter_.sample(n_samples, stream(root, "rows"))
        predictions = self.reference_models_.predict(self._featurizer.transform(sample.X))
        return replace(sample, reference_predictions=predictions)


@dataclass(frozen=True, eq=False)
class ReferenceModels:
    """Fitted models with predictions for training rows that they were not fitted to.

    Attributes
    ----------
    truth : array of shape (n_rows,)
        The class codes of the rows that the models were fitted to.
    loo_predictions : array of shape (n_rows, n_models)
        The leave-one-out, out-of-bag or cross-validation predictions for these rows.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import ReferenceModels
    >>> X, folds = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 5
    >>> ReferenceModels.of(X, codes=np.tile([0, 1], 10), folds=folds, seed=0).n_fits
    58
    """

    truth: Ints
    loo_predictions: Ints
    n_fits: int
    predictors: list[_Predictor]

    @classmethod
    def of(cls, features: Floats, codes: Ints, folds: Ints, seed: int) -> "ReferenceModels":
        """Fit all reference models to complete, standardized features."""
        fitted = [
            _fit_neighbors(features, codes),
            *_fit_ridges(features, codes),
            *_fit_forests(features, codes, seed),
            *_fit_folds(features, codes, folds, seed),
        ]
        loo, predictors, n_fits = zip(*fitted, strict=True)
        return cls(codes, np.column_stack(loo).astype(np.int16), sum(n_fits), list(predictors))

    def predict(self, features: Floats) -> Ints:
        """Return the predicted class codes, one column per model."""
        blocks = [
            np.column_stack([codes for predict in self.predictors for codes in predict(rows)])
            for rows in np.split(features, range(BLOCK_ROWS, len(features), BLOCK_ROWS))
        ]
        return np.concatenate(blocks).astype(np.int16)


def _fit_neighbors(features: Floats, codes: Ints) -> _Fitted:
    sizes = sorted({min(k, len(codes) - 1) for k in N_NEIGHBORS})
    index = NearestNeighbors(n_neighbors=sizes[-1]).fit(features)
    predict = partial(_predict_neighbors, index, _one_hot(codes), sizes)
    return np.column_stack(predict(None)), predict, 1


def _predict_neighbors(index: Any, y: Floats, sizes: list[int], rows: Floats | None) -> list[Ints]:
    nearest = index.kneighbors(rows, return_distance=False)  # None: each training row left out
    return [y[nearest[:, :k]].sum(axis=1).argmax(axis=1) for k in sizes]


def _fit_ridges(features: Floats, codes: Ints) -> Iterator[_Fitted]:
    """Fit ridge classifiers with Gaussian kernels and with a linear kernel."""
    for width in KERNEL_WIDTHS:
        kernel = partial(rbf_kernel, Y=features, gamma=width / features.shape[1])
        yield _fit_kernel_ridges(features, codes, kernel, KERNEL_PENALTIES, 0.0)
    mean = features.mean(axis=0)
    linear = partial(_linear_kernel, centered=features - mean, mean=mean)
    yield _fit_kernel_ridges(features, codes, linear, RIDGE_PENALTIES, 1.0 / len(codes))


def _fit_kernel_ridges(
    features: Floats, codes: Ints, kernel: _Kernel, penalties: Sequence[float], intercept: float
) -> _Fitted:
    """Fit all penalties from one decomposition.

    The leave-one-out prediction of a linear smoother is (f - h y) / (1 - h), h the leverage; here
    for a fixed mean of the labels.
    """
    y = _one_hot(codes)
    shares = y.mean(axis=0)
    centered = y - shares
    values, vectors = np.linalg.eigh(kernel(features))
    values = np.maximum(values, 0.0)
    rotated = vectors.T @ centered
    loo, coefficients = [], []
    for penalty in penalties:
        shrunk = values / (values + penalty)
        leverage = ((vectors**2) @ shrunk + intercept)[:, None]
        fitted = vectors @ (shrunk[:, None] * rotated)
        remaining = np.maximum(1.0 - leverage, 1e-6)
        loo.append(((fitted - leverage * centered) / remaining + shares).argmax(axis=1))
        coefficients.append(vectors @ (rotated / (values + penalty)[:, None]))
    return np.column_stack(loo), partial(_predict_ridges, kernel, coefficients, shares), 1


def _linear_kernel(rows: Floats, centered: Floats, mean: Floats) -> Floats:
    return (rows - mean) @ centered.T


def _predict_ridges(
    kernel: _Kernel, coefficients: list[Floats], shares: Floats, rows: Floats
) -> list[Ints]:
    values = kernel(rows)
    return [(values @ c + shares).argmax(axis=1) for c in coefficients]


def _fit_forests(features: Floats, codes: Ints, seed: int) -> Iterator[_Fitted]:
    """Fit forests; the LOO predictions are out-of-bag predictions."""
    common: dict[str, Any] = {"bootstrap": True, "oob_score": True, "random_state": seed}
    for forest in (
        RandomForestClassifier(60, min_samples_leaf=1, **common),
        RandomForestClassifier(40, min_samples_leaf=4, **common),
        ExtraTreesClassifier(40, min_samples_leaf=2, **common),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a row that every tree was fitted to
            forest.fit(features, codes)
        oob = np.nan_to_num(forest.oob_decision_function_).argmax(axis=1)
        yield oob[:, None], partial(_predict_one, forest), 1


def _fit_folds(features: Floats, codes: Ints, folds: Ints, seed: int) -> Iterator[_Fitted]:
    """Fit models that are cheap enough for cross-validation predictions."""
    splitter = PredefinedSplit(folds)
    for model in (
        GaussianNB(),
        GaussianNB(var_smoothing=0.01),
        GaussianNB(var_smoothing=0.3),
        DecisionTreeClassifier(),
        DecisionTreeClassifier(min_samples_leaf=6),
        DecisionTreeClassifier(min_samples_leaf=20),
        LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
        QuadraticDiscriminantAnalysis(reg_param=0.2),
    ):
        with_seed(model, seed)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # collinear columns
                held_out = cross_val_predict(model, features, codes, cv=splitter)
                model.fit(features, codes)
        except (ValueError, np.linalg.LinAlgError):  # for example a class of one row
            continue
        yield held_out[:, None], partial(_predict_one, model), splitter.get_n_splits() + 1


def _predict_one(model: Any, rows: Floats) -> list[Ints]:
    return [model.predict(rows)]


def _one_hot(codes: Ints) -> Floats:
    return np.eye(int(codes.max()) + 1)[codes]
