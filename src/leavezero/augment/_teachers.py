"""Ordinary models that say what the label of a new row would be, without having seen its origin."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold
from sklearn.multioutput import MultiOutputRegressor
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline

from leavezero._random import with_seed
from leavezero._typing import AnyArray, Floats, Ints


def default_teachers(*, n_numbers: int, sparse: bool, n_rows: int, n_columns: int) -> list[Any]:
    """Return a few cheap models of different kinds; n_numbers is 0 where the target is classes."""
    n_components = min(100, max(10, n_rows // 3))
    neighbors = int(np.clip(round(np.sqrt(n_rows) / 2), 3, 15))
    if n_numbers:
        boosting: Any = HistGradientBoostingRegressor(max_iter=60, max_leaf_nodes=8)
        return [
            RidgeCV(np.logspace(-2, 4, 7)),
            KNeighborsRegressor(neighbors, weights="distance"),
            *(
                []
                if sparse
                else [
                    make_pipeline(
                        Nystroem(gamma=1.0 / n_columns, n_components=n_components),
                        RidgeCV(np.logspace(-3, 2, 6)),
                    ),
                    ExtraTreesRegressor(60, min_samples_leaf=2),
                    MultiOutputRegressor(boosting) if n_numbers > 1 else boosting,
                ]
            ),
        ]
    if sparse:
        return [
            LogisticRegression(C=1.0, max_iter=200),
            LogisticRegression(C=30.0, max_iter=200),
            KNeighborsClassifier(neighbors, weights="distance"),
            BernoulliNB(),
        ]
    return [
        LogisticRegression(C=0.3, max_iter=200),
        LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
        KNeighborsClassifier(neighbors, weights="distance"),
        make_pipeline(
            Nystroem(gamma=1.0 / n_columns, n_components=n_components),
            LogisticRegression(C=10.0, max_iter=200),
        ),
        ExtraTreesClassifier(60, min_samples_leaf=2),
        HistGradientBoostingClassifier(max_iter=30, max_leaf_nodes=8, min_samples_leaf=10),
        GaussianNB(var_smoothing=1e-2),
    ]


@dataclass(frozen=True, eq=False)
class Faculty:
    """Teachers, each fitted once for each fold on the rows outside it.

    ``models[t][f]`` is teacher t without the rows of fold f, ``shares`` how much each teacher's
    word counts, ``folds`` the fold of every given row. Numbers are predicted as they are, classes
    as probabilities; ``residuals`` are what held-out rows deviate by, where the target is numbers.
    """

    models: list[list[Any]]
    shares: Floats
    folds: Ints
    n_classes: int
    residuals: Floats | None = None

    @property
    def n_answers(self) -> int:
        """The number of classes, or of the target's columns."""
        return self.n_classes if self.residuals is None else self.residuals.shape[1]

    @property
    def n_fits(self) -> int:
        """The number of models fitted."""
        return sum(map(len, self.models))

    def opinion(self, features: Any, origins: Ints | None) -> Floats:
        """Return what the teachers say about new rows, without having seen their origin.

        A row with origins in several folds gets the mean over those folds: each model has left
        out one of the origins, and none all of them. A row without origins gets the mean over all.
        """
        n_folds = len(self.models[0])
        asked = np.ones((features.shape[0], n_folds), dtype=bool)
        if origins is not None:
            known = origins >= 0
            asked = np.zeros((features.shape[0], n_folds), dtype=bool)
            rows = np.broadcast_to(np.arange(len(origins))[:, None], origins.shape)
            asked[rows[known], self.folds[origins[known]]] = True
            asked[~known.any(axis=1)] = True
        total = np.zeros((features.shape[0], self.n_answers))
        for fold in range(n_folds):
            rows = np.flatnonzero(asked[:, fold])
            if len(rows):
                said = self._said(fold, features[rows])
                total[rows] += said / asked[rows].sum(axis=1, keepdims=True)
        return total

    def _said(self, fold: int, features: Any) -> Floats:
        parts = [
            share * _answers(models[fold], features, self.n_classes)
            for share, models in zip(self.shares, self.models, strict=True)
        ]
        return np.sum(parts, axis=0)


def appoint(
    teachers: list[Any],
    features: Any,
    codes: Ints,
    numbers: Floats | None,
    *,
    n_folds: int,
    groups: Ints | None,
    seed: int,
) -> Faculty:
    """Cross-fit teachers, and weigh them by how well they predict held-out rows."""
    folds = make_folds(codes, numbers, n_folds, groups, seed)
    n_classes = 0 if numbers is not None else int(codes.max()) + 1
    target: AnyArray = codes if numbers is None else numbers
    target = target[:, 0] if target.ndim == 2 and target.shape[1] == 1 else target
    models, held_out = [], []
    for teacher in teachers:
        copies: list[Any] = []
        said = np.empty((len(codes), n_classes if numbers is None else numbers.shape[1]))
        for fold in range(int(folds.max()) + 1):
            inside = folds != fold
            model = with_seed(clone(teacher), seed)
            with _unheard():
                model.fit(features[inside], target[inside])
            said[~inside] = _answers(model, features[~inside], n_classes)
            copies.append(model)
        models.append(copies)
        held_out.append(said)
    opinions = np.array(held_out)
    if numbers is None:
        return Faculty(models, class_shares(opinions, codes), folds, n_classes)
    shares = number_shares(opinions, numbers)
    residuals = numbers - np.tensordot(shares, opinions, axes=1)
    return Faculty(models, shares, folds, 0, residuals)


def class_shares(opinions: Floats, codes: Ints, n_rounds: int = 100) -> Floats:
    """Return mixture weights of greatest held-out likelihood.

    Expectation-maximisation for the weights of a mixture with fixed components. They are hardly
    shrunk: an even mixture of teachers is smoother than any, and favours smooth candidates.
    """
    likelihood = opinions[:, np.arange(len(codes)), codes]
    shares = np.full(len(opinions), 1.0 / len(opinions))
    for _ in range(n_rounds):
        joint = shares[:, None] * likelihood
        credit = (joint / joint.sum(axis=0)).sum(axis=1) + 0.01
        shares = credit / credit.sum()
    return shares


def number_shares(opinions: Floats, numbers: Floats) -> Floats:
    """Return weights in proportion to the inverse held-out squared error, squared."""
    errors = np.mean((opinions - numbers) ** 2, axis=(1, 2)) + 1e-300
    shares = (errors.min() / errors) ** 2
    return shares / shares.sum()


def make_folds(
    codes: Ints, numbers: Floats | None, n_folds: int, groups: Ints | None, seed: int
) -> Ints:
    """Return the fold of every row: stratified by class, or whole groups where given."""
    n_rows = len(codes)
    folds = np.zeros(n_rows, dtype=np.intp)
    splitter: Any
    if groups is not None and len(np.unique(groups)) >= 2:
        splitter = GroupKFold(min(n_folds, len(np.unique(groups))))
    elif numbers is None and np.bincount(codes).min() >= 2:
        fewest = int(np.bincount(codes).min())
        splitter = StratifiedKFold(min(n_folds, max(2, fewest)), shuffle=True, random_state=seed)
    else:
        splitter = KFold(min(n_folds, n_rows), shuffle=True, random_state=seed)
    for fold, (_, rows) in enumerate(splitter.split(np.zeros(n_rows), codes, groups)):
        folds[rows] = fold
    return folds


def _answers(model: Any, features: Any, n_classes: int) -> Floats:
    """Return probabilities of all classes, also of those that a fold lacks, or numbers."""
    with _unheard():
        if not n_classes:
            said = np.asarray(model.predict(features), dtype=np.float64)
            return said.reshape(features.shape[0], -1)
        known = np.nan_to_num(model.predict_proba(features))
    answers = np.zeros((features.shape[0], n_classes))
    answers[:, model.classes_] = known
    answers += 1e-3 / n_classes  # no teacher is ever sure, nor at a loss
    return answers / answers.sum(axis=1, keepdims=True)


@contextmanager
def _unheard() -> Iterator[None]:
    """Keep a teacher's warnings from the user, who did not choose it; a poor one counts little."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield
