"""Reference models: for each it is known what it says about rows that it has not seen.

Most of them tell it from their one fit: nearest neighbours by leaving the row out, ridge and
kernel ridge classifiers by the closed form of leave-one-out, forests by the trees that did not
draw the row. The others are so cheap that five folds cost less than one fit of a candidate.
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.metrics import pairwise_distances
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestNeighbors
from sklearn.tree import DecisionTreeClassifier

from leavezero._random import with_seed
from leavezero._typing import Floats, Ints

NEIGHBORS = (1, 3, 5, 9, 15, 25, 41)
KERNEL_WIDTHS = (0.02, 0.1, 0.4, 1.5, 5.0)  # gamma times the number of columns
KERNEL_RIDGES = (0.03, 0.5, 8.0)
RIDGES = (0.3, 10.0, 100.0, 1000.0)
BLOCK_ROWS = 4_096


@dataclass(frozen=True, eq=False)
class References:
    """A set of models, with the codes that each gives to the rows it learned from, unseen.

    ``honest`` has a column for each model and a row for each of ``truth``, the right codes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from leavezero.augment import Calibrated, CopulaAugmenter
    >>> X, y = load_iris(return_X_y=True)
    >>> references = Calibrated(CopulaAugmenter(), random_state=0).fit(X, y).references_
    >>> references.honest.shape, references.n_fits
    ((150, 37), 58)
    """

    truth: Ints
    honest: Ints
    n_fits: int
    speakers: list[Callable[[Floats], list[Ints]]]

    def say(self, features: Floats) -> Ints:
        """Return each model's codes for new rows, a column for each model."""
        blocks = [
            np.column_stack([codes for speaker in self.speakers for codes in speaker(rows)])
            for rows in _blocks(features)
        ]
        return np.concatenate(blocks).astype(np.int16)


def appoint_references(features: Floats, codes: Ints, folds: Ints, seed: int) -> References:
    """Fit all reference models to complete, standardised features."""
    groups = [
        _neighbors(features, codes),
        _kernel_ridges(features, codes),
        _ridges(features, codes),
        *_forests(features, codes, seed),
        *_cheap(features, codes, folds, seed),
    ]
    return References(
        truth=codes,
        honest=np.column_stack([group[0] for group in groups]).astype(np.int16),
        n_fits=sum(group[2] for group in groups),
        speakers=[group[1] for group in groups],
    )


_Group = tuple[Ints, Callable[[Floats], list[Ints]], int]


def _neighbors(features: Floats, codes: Ints) -> _Group:
    """Return votes of the nearest rows; scikit-learn leaves the row itself out."""
    n_rows = len(codes)
    sizes = sorted({min(k, n_rows - 1) for k in NEIGHBORS})
    index = NearestNeighbors(n_neighbors=sizes[-1]).fit(features)
    say = partial(_neighbors_say, index, _one_hot(codes), sizes)
    return np.column_stack(say(None)), say, 1


def _neighbors_say(index: Any, hot: Floats, sizes: list[int], rows: Floats | None) -> list[Ints]:
    nearest = index.kneighbors(rows, return_distance=False)  # None: the given rows, each left out
    return [hot[nearest[:, :k]].sum(axis=1).argmax(axis=1) for k in sizes]


def _kernel_ridges(features: Floats, codes: Ints) -> _Group:
    """Return kernel ridge classifiers, all penalties of a width from one decomposition."""
    hot = _one_hot(codes)
    share = hot.mean(axis=0)
    centred = hot - share
    gammas = [width / features.shape[1] for width in KERNEL_WIDTHS]
    squares = pairwise_distances(features, metric="sqeuclidean")
    honest, weights = [], []
    for gamma in gammas:
        values, vectors = np.linalg.eigh(np.exp(-gamma * squares))
        values = np.maximum(values, 0.0)
        turned = vectors.T @ centred
        for ridge in KERNEL_RIDGES:
            gains = values / (values + ridge)
            honest.append(_left_out(vectors, gains, centred, 0.0, share))
            weights.append(vectors @ (turned / (values + ridge)[:, None]))
    say = partial(_kernel_ridges_say, features, gammas, weights, share)
    return np.column_stack(honest), say, len(gammas)


def _kernel_ridges_say(
    features: Floats, gammas: list[float], weights: list[Floats], share: Floats, rows: Floats
) -> list[Ints]:
    distances = pairwise_distances(rows, features, metric="sqeuclidean")
    said: list[Ints] = []
    per_width = len(KERNEL_RIDGES)
    for at, gamma in enumerate(gammas):
        kernel = np.exp(-gamma * distances)
        own = weights[at * per_width : (at + 1) * per_width]
        said.extend((kernel @ weight + share).argmax(axis=1) for weight in own)
    return said


def _ridges(features: Floats, codes: Ints) -> _Group:
    """Return linear ridge classifiers, all penalties from one decomposition."""
    hot = _one_hot(codes)
    share, middle = hot.mean(axis=0), features.mean(axis=0)
    centred = hot - share
    left, values, right = np.linalg.svd(features - middle, full_matrices=False)
    turned = left.T @ centred
    honest = np.column_stack(
        [
            _left_out(left, values**2 / (values**2 + ridge), centred, 1.0 / len(codes), share)
            for ridge in RIDGES
        ]
    )
    weights = [right.T @ ((values / (values**2 + ridge))[:, None] * turned) for ridge in RIDGES]
    return honest, partial(_ridges_say, middle, weights, share), 1


def _ridges_say(middle: Floats, weights: list[Floats], share: Floats, rows: Floats) -> list[Ints]:
    return [((rows - middle) @ weight + share).argmax(axis=1) for weight in weights]


def _left_out(
    vectors: Floats, gains: Floats, targets: Floats, intercept: float, share: Floats
) -> Ints:
    """Return leave-one-out labels of a linear smoother: (f - h y) / (1 - h), h its leverage."""
    leverage = (vectors**2) @ gains + intercept
    fitted = vectors @ (gains[:, None] * (vectors.T @ targets))
    room = np.maximum(1.0 - leverage, 1e-6)[:, None]
    return ((fitted - leverage[:, None] * targets) / room + share).argmax(axis=1)


def _forests(features: Floats, codes: Ints, seed: int) -> Iterator[_Group]:
    """Yield forests, judged by the trees that did not draw the row."""
    common: dict[str, Any] = {"bootstrap": True, "oob_score": True, "random_state": seed}
    for forest in (
        RandomForestClassifier(60, min_samples_leaf=1, **common),
        RandomForestClassifier(40, min_samples_leaf=4, **common),
        ExtraTreesClassifier(40, min_samples_leaf=2, **common),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a row that every tree drew
            forest.fit(features, codes)
        honest = np.nan_to_num(forest.oob_decision_function_).argmax(axis=1)
        yield honest[:, None], partial(_model_says, forest), 1


def _cheap(features: Floats, codes: Ints, folds: Ints, seed: int) -> Iterator[_Group]:
    """Yield models whose fit costs next to nothing, judged by folds."""
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
        n_folds = int(folds.max()) + 1
        honest = np.empty(len(codes), dtype=np.intp)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # collinear columns; such a model is just poor
                for fold in range(n_folds):
                    inside = folds != fold
                    fitted = with_seed(clone(model), seed).fit(features[inside], codes[inside])
                    honest[~inside] = fitted.predict(features[~inside])
                whole = with_seed(clone(model), seed).fit(features, codes)
        except (ValueError, np.linalg.LinAlgError):  # a class of one row, for example
            continue
        yield honest[:, None], partial(_model_says, whole), n_folds + 1


def _model_says(model: Any, rows: Floats) -> list[Ints]:
    return [model.predict(rows)]


def _one_hot(codes: Ints) -> Floats:
    return np.eye(int(codes.max()) + 1)[codes]


def _blocks(rows: Floats) -> Iterator[Floats]:
    for at in range(0, len(rows), BLOCK_ROWS):
        yield rows[at : at + BLOCK_ROWS]
