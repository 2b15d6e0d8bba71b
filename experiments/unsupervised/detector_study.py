"""Outlier detectors by their ROC AUC on labeled anomalies."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.covariance import EllipticEnvelope
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_moons
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from experiments.markdown import MarkdownTable, make_frame
from experiments.unsupervised.study import (
    Record,
    Study,
    design_means,
    generators,
    mean_and_error,
)
from leavezero import GridSearchLZO
from leavezero._typing import Floats
from leavezero.unsupervised import OutlierScore

USED = (
    "breast cancer",
    "wine 1",
    "digits 0",
    "digits 1",
    "digits 3",
    "digits 6",
    "digits 8",
    "iris",
    "moons",
    "correlated",
    "ring",
    "two densities",
    "heavy tails",
    "5 factors",
)
FRESH = (
    "digits 2",
    "digits 7",
    "digits 9",
    "wine 2",
    "three clusters",
    "cross",
    "cube",
    "skewed",
)
LOADED: Mapping[str, tuple[Any, list[int]]] = {  # with the classes that are anomalies
    "breast cancer": (load_breast_cancer, [0]),
    "wine 1": (load_wine, [1]),
    "wine 2": (load_wine, [2]),
    "iris": (load_iris, [0]),
}


def _anomalies(name: str, rng: np.random.Generator) -> tuple[Floats, Any]:
    """Return rows and whether each is an anomaly."""
    if name.startswith("digits"):
        X, y = load_digits(return_X_y=True)
        return X, y != int(name[-1])
    if name in LOADED:
        load, classes = LOADED[name]
        X, y = load(return_X_y=True)
        return X, np.isin(y, classes)
    inliers, outliers = _simulate(name, rng)
    return np.vstack([inliers, outliers]), np.repeat([False, True], [400, 200])


def _simulate(name: str, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return 400 inliers and 200 anomalies."""
    if name in ("correlated", "5 factors"):
        inliers = rng.normal(size=(400, 6)) @ rng.normal(size=(6, 6))
        if name == "5 factors":
            inliers = rng.normal(size=(400, 5)) @ rng.normal(size=(5, 20))
            inliers += rng.normal(size=(400, 20))
        outliers = np.stack([rng.permutation(column) for column in inliers[:200].T], axis=1)
        return inliers, outliers
    if name == "heavy tails":
        inliers = rng.standard_t(3, size=(400, 5))
        return inliers, 4 * rng.choice([-1, 1], size=(200, 5)) + rng.normal(size=(200, 5))
    if name == "cube":
        inliers, directions = rng.uniform(-1, 1, size=(400, 3)), rng.normal(size=(200, 3))
        outliers = directions / np.abs(directions).max(axis=1, keepdims=True)
        return inliers, rng.uniform(1, 2, size=(200, 1)) * outliers
    if name == "two densities":
        scale = rng.choice([0.2, 1.5], size=(400, 1))
        inliers = scale * rng.normal(size=(400, 3)) + 4 * (scale > 1)
    elif name == "three clusters":
        inliers = 5 * rng.normal(size=(3, 4))[rng.integers(3, size=400)] + rng.normal(size=(400, 4))
    elif name == "cross":
        inliers = rng.normal(size=(400, 2)) * [4, 0.4]
        inliers[::2] = inliers[::2, ::-1]
    elif name == "skewed":
        inliers = rng.lognormal(size=(400, 4))
    elif name == "ring":
        angle = rng.uniform(0, 2 * np.pi, size=400)
        inliers = 3 * np.c_[np.cos(angle), np.sin(angle)] + 0.3 * rng.normal(size=(400, 2))
    else:
        inliers = make_moons(400, noise=0.05, random_state=0)[0]
        return inliers, rng.uniform([-1.5, -1], [2.5, 1.5], size=(200, 2))
    return inliers, rng.uniform(
        inliers.min(axis=0), inliers.max(axis=0), size=(200, inliers.shape[1])
    )


DETECTORS: Mapping[str, tuple[Any, Any]] = {
    "LocalOutlierFactor": (
        LocalOutlierFactor(novelty=True),
        {"n_neighbors": [2, 5, 10, 20, 40, 60]},
    ),
    "OneClassSVM": (OneClassSVM(nu=0.1), {"gamma": [1e-3, 0.01, 0.1, 1.0, 10.0, "scale"]}),
    "EllipticEnvelope": (
        EllipticEnvelope(random_state=0),
        {"support_fraction": [0.6, 0.75, 0.9]},
    ),
    "IsolationForest": (
        IsolationForest(n_estimators=50, random_state=0),
        {"max_samples": [32, 128, "auto"], "max_features": [0.3, 1.0]},
    ),
}
MIXED = "one of the first three"


def _run(design: str, n_draws: int) -> Record:
    record: Record = {name: [] for name in (*DETECTORS, MIXED)}
    for rng in generators(n_draws):
        X, is_outlier = _anomalies(design, rng)
        inliers = rng.permutation(np.flatnonzero(~is_outlier))
        outliers = rng.permutation(np.flatnonzero(is_outlier))
        n = min(300, len(inliers) // 2)
        train = np.r_[inliers[:n], outliers[: max(3, n // 20)]]  # 5 % are anomalies
        test = np.r_[inliers[n:], outliers[len(outliers) // 2 :]]
        scaler = StandardScaler().fit(X[train])
        rows, new, kind = scaler.transform(X[train]), scaler.transform(X[test]), ~is_outlier[test]
        mixed: list[tuple[float, float]] = []  # scores and areas of all candidates
        defaults = []
        for name, (estimator, grid) in DETECTORS.items():
            search = GridSearchLZO(estimator, grid, scoring=OutlierScore()).fit(rows)
            params = search.cv_results_["params"]
            fits = [clone(estimator).set_params(**one).fit(rows) for one in params]
            default = clone(estimator).fit(rows)
            areas = [roc_auc_score(kind, fit.score_samples(new)) for fit in [*fits, default]]
            record[name].append(_regrets(areas[:-1], search.best_index_, areas[-1]))
            if name != "IsolationForest":
                scores = search.cv_results_["mean_test_score"]
                mixed += zip(scores.tolist(), areas[:-1], strict=True)
                defaults.append(areas[-1])
        best = int(np.argmax([score for score, _ in mixed]))
        record[MIXED].append(_regrets([area for _, area in mixed], best, float(np.mean(defaults))))
    return record


def _regrets(areas: list[float], chosen: int, default: float) -> list[float]:
    best = max(areas)
    return [best - areas[chosen], best - default, best - float(np.mean(areas))]


def _report(records: Mapping[str, Record], n_draws: int) -> list[MarkdownTable]:
    rows = {}
    for name in (*DETECTORS, MIXED):
        for design, record in records.items():
            columns = np.array(record[name]).T
            rows[f"{design}, {name}"] = [
                *map(mean_and_error, columns),
                mean_and_error(columns[0] - columns[1]),
            ]
        values = {
            design: [[*row, row[0] - row[1]] for row in record[name]]
            for design, record in records.items()
        }
        for group, cells in design_means(values, FRESH).items():
            rows[f"all {group}, {name}"] = cells
        means = np.array([np.mean(one, axis=0) for one in values.values()])
        if len(means) > 1:
            rows[f"all {len(means)}, {name}"] = [mean_and_error(column) for column in means.T]
    note = (
        f"{n_draws} draws. ROC AUC on new rows of the best candidate minus that of the selected "
        "one, with its standard error over draws, or over designs; 5 % of the training rows are "
        "anomalies. A random choice is the mean over the candidates. Last, the candidates of "
        "LocalOutlierFactor, OneClassSVM and EllipticEnvelope together; their default is the mean "
        "over the three. Cross-validation has no score of detectors. On digits, the "
        "covariances of EllipticEnvelope are singular, and last digits, which depend on the "
        "processor, decide which rows it uses: these are results with OPENBLAS_CORETYPE=SkylakeX."
    )
    shown = ["GridSearchLZO", "default parameters", "random choice", "minus default"]
    return [MarkdownTable("Regret in ROC AUC", make_frame("data", shown, rows), (note,))]


OUTLIERS = Study([*USED, *FRESH], _run, _report, 5)
