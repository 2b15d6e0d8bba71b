"""Probabilistic classifiers that tell the rows of two samples apart."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular
from sklearn.covariance import ledoit_wolf
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from leavezero._typing import AnyArray, Floats
from leavezero.divergence._folds import Fold, Sides
from leavezero.divergence._samples import Features

LARGEST_LOG_ODDS = float(np.log(0.999 / 0.001))
_LEAST_FOR_BOOSTING = 100  # rows of the smaller side; with fewer its trees have no leaves
_RIDGE = 1e-3

Score: TypeAlias = Callable[[Features], Floats]


@dataclass(frozen=True, eq=False)
class Teller:
    """A fitted model with its calibration: the log odds that a row was given, not drawn."""

    name: str
    score: Score
    slope: float
    intercept: float

    def log_odds(self, rows: Features) -> Floats:
        """Return the log odds at equal weights of both samples."""
        return self.slope * self.score(rows) + self.intercept


def fit_teller(features: Features, fold: Fold, seed: int) -> Teller:
    """Return the best of a few models, chosen and calibrated on rows that it was not fitted to.

    Every model is fitted to part of the training rows and asked about the rest, in turn. A line
    through these answers calibrates it (Platt), their log loss decides, and the winner is fitted
    again to all training rows.
    """
    smallest = min(learn.fewest() for learn, _ in fold.inner)
    chosen, least = None, np.inf
    for name, fit in _models(smallest).items():
        scores, truth, weights = _held_back_scores(fit, features, fold, seed)
        slope, intercept = _calibration(scores, truth, weights)
        loss = _log_loss(slope * scores + intercept, truth, weights)
        if loss < least:
            chosen, least = (name, fit, slope, intercept), loss
    assert chosen is not None
    name, fit, slope, intercept = chosen
    return Teller(name, _fitted(fit, features, fold.train, seed), slope, intercept)


def _models(fewest: int) -> dict[str, Callable[..., Score]]:
    models: dict[str, Callable[..., Score]] = {"logistic": _logistic, "gaussian": _gaussian}
    if fewest >= _LEAST_FOR_BOOSTING:
        models["boosting"] = _boosting
    return models


def _held_back_scores(
    fit: Callable[..., Score], features: Features, fold: Fold, seed: int
) -> tuple[Floats, Floats, Floats]:
    parts = []
    for learn, ask in fold.inner:
        score = _fitted(fit, features, learn, seed)
        rows, truth, weights = _together(ask)
        parts.append((score(features.take(rows)), truth, weights))
    scores, truth, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
    return np.clip(scores, -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS), truth, weights


def _fitted(fit: Callable[..., Score], features: Features, sides: Sides, seed: int) -> Score:
    rows, truth, weights = _together(sides)
    score = fit(features.take(rows), truth, weights, seed)
    # One row far outside must not decide about the line of calibration.
    return lambda asked: np.clip(score(asked), -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS)


def _together(sides: Sides) -> tuple[AnyArray, Floats, Floats]:
    """Return rows of both sides, which are given, and weights that make the sides equal.

    A row of the smaller side weighs 1, so that regularization sees as many rows as there are.
    """
    rows = np.concatenate([sides.given, sides.drawn])
    counts = len(sides.given), len(sides.drawn)
    truth = np.repeat([1.0, 0.0], counts)
    weights = np.repeat([min(counts) / counts[0], min(counts) / counts[1]], counts)
    return rows, truth, weights


def _logistic(rows: Features, truth: Floats, weights: Floats, seed: int) -> Score:
    strength = 10.0 if sparse.issparse(rows.wide) else 0.1
    model = _quietly(LogisticRegression(C=strength, max_iter=200), rows.wide, truth, weights)
    return lambda asked: model.decision_function(asked.wide)


def _gaussian(rows: Features, truth: Floats, weights: Floats, seed: int) -> Score:
    """Fit a normal law with a shrunk covariance to each side."""
    sides = [_normal_law(rows.compact[truth == side]) for side in (1.0, 0.0)]
    return lambda asked: sides[0](asked.compact) - sides[1](asked.compact)


def _normal_law(rows: Floats) -> Callable[[Floats], Floats]:
    covariance = ledoit_wolf(rows)[0] + _RIDGE * np.eye(rows.shape[1])
    factor = np.linalg.cholesky(covariance)
    middle, width = rows.mean(axis=0), np.log(np.diag(factor)).sum()

    def log_density(asked: Floats) -> Floats:
        standard = solve_triangular(factor, (asked - middle).T, lower=True)
        return -0.5 * (standard**2).sum(axis=0) - width

    return log_density


def _boosting(rows: Features, truth: Floats, weights: Floats, seed: int) -> Score:
    # Weights make scikit-learn's binning slow; without them the odds are off by a known factor.
    model = HistGradientBoostingClassifier(
        max_iter=50,
        max_leaf_nodes=8,
        max_bins=63,
        l2_regularization=1.0,
        early_stopping=False,
        random_state=seed,
    ).fit(rows.compact, truth)
    sizes = np.log(truth.sum()) - np.log((1.0 - truth).sum())
    return lambda asked: model.decision_function(asked.compact) - sizes


def _calibration(scores: Floats, truth: Floats, weights: Floats) -> tuple[float, float]:
    """Return slope and intercept of the log odds; no slope where the scores point the wrong way."""
    spread = float(scores.std())
    if spread < 1e-12:
        return 0.0, 0.0
    line = _quietly(LogisticRegression(C=100.0), scores[:, None] / spread, truth, weights)
    slope = float(line.coef_[0, 0]) / spread
    return (slope, float(line.intercept_[0])) if slope > 0 else (0.0, 0.0)


def _log_loss(log_odds: Floats, truth: Floats, weights: Floats) -> float:
    return float(
        np.average(np.logaddexp(0.0, np.where(truth == 1.0, -log_odds, log_odds)), weights=weights)
    )


def _quietly(model: Any, X: Any, truth: Floats, weights: Floats) -> Any:
    with warnings.catch_warnings():
        # A fit that stopped early still gives a lower bound of the divergence.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, truth, sample_weight=weights)
