"""Excess mass of an outlier detector: rows inside its level sets, against their volume."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_outlier_detector
from sklearn.covariance import EllipticEnvelope
from sklearn.neighbors import LocalOutlierFactor
from sklearn.svm import OneClassSVM

from leavezero._typing import Floats, Table
from leavezero.unsupervised._unsupervised_score import N_GROUPS, UnsupervisedScore, jackknife

N_UNIFORM = 1_000
PRICES = np.logspace(-1, 3, 60)  # of the whole volume, up to the number of uniform rows


class OutlierScore(UnsupervisedScore):
    """Mean excess mass of an outlier detector (Goix 2016).

    At a price t of volume, the excess mass is the largest share of rows above a level of the
    detector's scores minus t times the volume above that level. The mean over logarithmically
    spaced prices is the score: it is high if most rows are in a small volume.

    Notes
    -----
    Volumes are estimated by 1,000 uniform rows in the range of each column, the same for all
    candidates, and are relative to that range. A level set without uniform rows counts as half of
    one, which is the limit with many columns. The mass are the training rows, with leave-one-out
    scores of ``LocalOutlierFactor`` (no row is its own neighbor) and ``OneClassSVM`` with an RBF
    kernel (its own term is subtracted), since a detector that memorizes rows would have the
    highest excess mass. For ``IsolationForest`` and ``LocalOutlierFactor`` the score selects no
    better than their default parameters, and is used only if it is passed as ``scoring``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import OneClassSVM
    >>> from leavezero import GridSearchLZO
    >>> X = np.random.default_rng(0).normal(size=(200, 2)) @ [[1, 0.9], [0, 0.3]]
    >>> search = GridSearchLZO(OneClassSVM(nu=0.1), {"gamma": [1e-4, 0.1]}).fit(X)
    >>> search.best_params_, search.n_fits_
    ({'gamma': 0.1}, 2)
    """

    name: ClassVar[str] = "excess mass"
    n_values: ClassVar[int] = N_GROUPS
    min_rows: ClassVar[int] = 2 * N_GROUPS

    def handles(self, estimator: Any) -> bool:
        """Return True for outlier detectors."""
        return bool(is_outlier_detector(estimator))

    def is_default_for(self, estimator: Any) -> bool:
        """Return True for the detectors that were selected better than by their defaults."""
        return isinstance(estimator, OneClassSVM | EllipticEnvelope)

    def check(self, estimators: Sequence[Any], X: Table, owner: str) -> None:
        """Raise also if a detector has no scores of new rows."""
        super().check(estimators, X, owner)
        for estimator in estimators:
            if getattr(estimator, "novelty", True) is False:
                raise ValueError(
                    f"{owner} requires detectors with scores of new rows, got {estimator!r}. Use "
                    "novelty=True."
                )

    def score(self, model: Any, X: Floats, rng: np.random.Generator) -> Floats:
        """Return the pseudo-values of the mean excess mass."""
        if not np.isfinite(X).all():  # IsolationForest accepts missing values
            raise ValueError("The excess mass requires X without missing values. Impute them.")
        uniform = rng.uniform(X.min(axis=0), X.max(axis=0), size=(N_UNIFORM, X.shape[1]))
        own, volume = _left_out_scores(model, X), model.score_samples(uniform)
        return jackknife(lambda rows: _excess_mass(own[rows], volume), len(X), rng)


def _left_out_scores(model: Any, X: Floats) -> Floats:
    """Return the scores of training rows, without their own share in them where it is known."""
    if isinstance(model, LocalOutlierFactor):
        return model.negative_outlier_factor_
    scores = model.score_samples(X)
    if isinstance(model, OneClassSVM) and model.kernel == "rbf":  # k(x, x) = 1
        scores[model.support_] -= model.dual_coef_[0]
    return scores


def _excess_mass(own: Floats, volume: Floats) -> float:
    levels = np.unique(own)
    mass = 1 - np.searchsorted(np.sort(own), levels) / len(own)
    inside = len(volume) - np.searchsorted(np.sort(volume), levels)
    shares = np.maximum(inside, 0.5) / len(volume)
    return float(np.mean([max(0.0, np.max(mass - price * shares)) for price in PRICES]))
