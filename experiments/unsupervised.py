"""Studies of searches without a target, of streams and of queries.

uv run python -m experiments.unsupervised clusters
uv run python -m experiments.unsupervised densities --design ring

A study has designs. The results of finished ones are kept in results/unsupervised, and pages are
written from all of them.
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.covariance import EllipticEnvelope
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
    make_moons,
)
from sklearn.decomposition import PCA
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import calinski_harabasz_score, roc_auc_score, silhouette_score
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KernelDensity, KNeighborsClassifier, LocalOutlierFactor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, OneClassSVM
from sklearn.tree import DecisionTreeClassifier

from experiments.markdown import MarkdownTable, make_frame, page
from leavezero import GridSearchLZO, PrequentialSearchLZO
from leavezero._typing import Floats
from leavezero.search import ActiveQuery

RESULTS = Path(__file__).parents[1] / "results" / "unsupervised"
Record = dict[str, Any]  # the results of one design, by method
Simulate = Callable[[np.random.Generator], Floats]


@dataclass(frozen=True)
class Study:
    """Designs, the function that runs one with a number of draws, and the report of all."""

    designs: Sequence[str]
    run: Callable[[str, int], Record]
    report: Callable[[Mapping[str, Record], int], list[MarkdownTable]]
    n_draws: int


def mean_and_error(values: Any) -> str:
    """Return the mean with its standard error in brackets; a dash without values."""
    known = np.asarray(values, dtype=float)
    if not known.size or np.isnan(known).all():
        return "-"
    return f"{known.mean():.3f} ({known.std(ddof=1) / np.sqrt(len(known)):.3f})"


# Clusters

NUMBERS = range(1, 11)


def _centers(rng: np.random.Generator, k: int, n_columns: int, distance: float) -> Floats:
    """Return random centers, no two of which are nearer than a distance."""
    for attempt in range(100_000):
        scale = 1.2 * distance / np.sqrt(n_columns) * 1.1 ** (attempt // 200)
        centers = scale * rng.normal(size=(k, n_columns))
        gaps = np.linalg.norm(centers[:, None] - centers, axis=2) + 1e9 * np.eye(k)
        if gaps.min() >= distance:
            return np.asarray(centers)
    raise ValueError("no such centers")


def _round(
    k: int, n_columns: int, distance: float, n: int = 300, sd: Any = 1.0, sizes: Any = 1.0
) -> Simulate:
    def simulate(rng: np.random.Generator) -> Floats:
        shares = np.broadcast_to(sizes, k) / np.broadcast_to(sizes, k).sum()
        label = rng.choice(k, size=n, p=shares)
        spread = np.broadcast_to(sd, k)[label, None]
        centers = _centers(rng, k, n_columns, distance)
        return centers[label] + spread * rng.normal(size=(n, n_columns))

    return simulate


def _elongated(k: int, length: float) -> Simulate:
    def simulate(rng: np.random.Generator) -> Floats:
        rows = rng.normal(size=(300, 2)) * [length, 0.7]
        return rows + [0, 6] * rng.integers(k, size=(300, 1))

    return simulate


def _correlated(rng: np.random.Generator) -> Floats:
    return rng.normal(size=(200, 10)) @ rng.normal(size=(10, 10))


DESIGNS: Mapping[str, tuple[int, Simulate]] = {
    "noise, normal, 2 columns": (1, lambda rng: rng.normal(size=(200, 2))),
    "noise, uniform, 2 columns": (1, lambda rng: rng.uniform(size=(200, 2))),
    "noise, skewed, 5 columns": (1, lambda rng: rng.lognormal(sigma=0.7, size=(200, 5))),
    "noise, correlated, 10 columns": (1, _correlated),
    "noise, normal, 50 columns": (1, lambda rng: rng.normal(size=(200, 50))),
    "2 separated, 2 columns": (2, _round(2, 2, 6)),
    "3 separated, 2 columns": (3, _round(3, 2, 6)),
    "5 separated, 10 columns": (5, _round(5, 10, 6)),
    "10 separated, 10 columns": (10, _round(10, 10, 7, n=500)),
    "4 separated, 50 columns": (4, _round(4, 50, 8)),
    "3 overlapping, 2 columns": (3, _round(3, 2, 3.5)),
    "3 overlapping more, 2 columns": (3, _round(3, 2, 2.8)),
    "4 overlapping, 10 columns": (4, _round(4, 10, 4)),
    "3 of unequal size, 2 columns": (3, _round(3, 2, 7, sizes=[8, 1, 1])),
    "3 of unequal spread, 3 columns": (3, _round(3, 3, 9, sd=[0.5, 1, 2])),
    "2 elongated, 2 columns": (2, _elongated(2, 2.0)),
    "3 much elongated, 2 columns": (3, _elongated(3, 5.0)),
}


def _labeled_sets() -> dict[str, tuple[int, Floats]]:
    loaders = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer}
    found = {}
    for name, load in loaders.items():
        X, y = load(return_X_y=True)
        found[name] = (len(np.unique(y)), StandardScaler().fit_transform(X))
    X, y = load_digits(return_X_y=True)
    return found | {"digits": (10, X[:500])}


def _by_search(X: Floats) -> int:
    search = GridSearchLZO(KMeans(n_init=3, random_state=0), {"n_clusters": NUMBERS}).fit(X)
    return int(search.best_params_["n_clusters"])


def _by_index(index: Callable[[Floats, Any], float]) -> Callable[[Floats], int]:
    def choose(X: Floats) -> int:
        labels = [KMeans(k, n_init=3, random_state=0).fit_predict(X) for k in NUMBERS[1:]]
        return int(NUMBERS[1:][np.argmax([index(X, one) for one in labels])])

    return choose


def _by_gap(X: Floats) -> int:
    """Return the number by the gap statistic (Tibshirani et al. 2001), aligned with the axes."""
    rng = np.random.default_rng(0)
    rows = PCA().fit_transform(X)

    def logs(table: Floats) -> Floats:
        fits = (KMeans(k, n_init=3, random_state=0).fit(table) for k in NUMBERS)
        return np.log([fit.inertia_ for fit in fits])

    uniform = [rng.uniform(rows.min(axis=0), rows.max(axis=0), size=rows.shape) for _ in range(5)]
    reference = np.array([logs(table) for table in uniform])
    gap = reference.mean(axis=0) - logs(rows)
    error = reference.std(axis=0) * np.sqrt(1 + 1 / len(uniform))
    first = np.flatnonzero(gap[:-1] >= gap[1:] - error[1:])
    return int(NUMBERS[first[0] if len(first) else len(NUMBERS) - 1])


def _by_bic(X: Floats) -> int:
    fits = [GaussianMixture(k, reg_covar=1e-4, random_state=0).fit(X) for k in NUMBERS]
    return int(NUMBERS[np.argmin([fit.bic(X) for fit in fits])])


CHOICES: Mapping[str, Callable[[Floats], int]] = {
    "GridSearchLZO": _by_search,
    "silhouette": _by_index(silhouette_score),
    "Calinski-Harabasz": _by_index(calinski_harabasz_score),
    "gap statistic": _by_gap,
    "BIC of a mixture": _by_bic,
}


def _run_clusters(design: str, n_draws: int) -> Record:
    record: Record = {"seconds": {}, "found": {}}
    if design in DESIGNS:
        k, simulate = DESIGNS[design]
        tables = [simulate(np.random.default_rng(draw)) for draw in range(n_draws)]
    else:
        k, X = _labeled_sets()[design]
        tables = [X]
    for method, choose in CHOICES.items():
        started = time.process_time()
        record["found"][method] = [choose(X) for X in tables]
        record["seconds"][method] = (time.process_time() - started) / len(tables)
    return record | {"k": k}


def _report_clusters(records: Mapping[str, Record], n_draws: int) -> list[MarkdownTable]:
    rows, labeled = {}, {}
    hits: dict[str, list[bool]] = {method: [] for method in CHOICES}
    for design, record in records.items():
        k, found = record["k"], record["found"]
        if design not in DESIGNS:
            labeled[f"{design}, {k} classes"] = [str(found[method][0]) for method in CHOICES]
            continue
        rows[design] = [
            f"{np.mean(np.array(found[m]) == k):.0%} ({np.median(found[m]):.0f})" for m in CHOICES
        ]
        for method in CHOICES:
            hits[method] += [one == k for one in found[method]]
    rows["all"] = [f"{np.mean(hit):.0%} ± {1.96 * _share_error(hit):.0%}" for hit in hits.values()]
    seconds = [
        np.mean([record["seconds"][method] for name, record in records.items() if name in DESIGNS])
        for method in CHOICES
    ]
    rows["CPU seconds per data set"] = [f"{value:.2f}" for value in seconds]
    note = (
        f"{n_draws} draws per design, 200 to 500 rows, k-means with 1 to 10 clusters. In brackets "
        "the median number that was selected. Intervals of 95 %. Silhouette and Calinski-Harabasz "
        "cannot select one cluster. Gap statistic with 5 reference tables."
    )
    share, number = "Share of draws with the right number of clusters", "Clusters in labeled data"
    return [
        MarkdownTable(share, make_frame("design", list(CHOICES), rows), (note,)),
        MarkdownTable(number, make_frame("data", list(CHOICES), labeled)),
    ]


def _share_error(hits: Sequence[bool]) -> float:
    share = np.mean(hits)
    return float(np.sqrt(share * (1 - share) / len(hits)))


# Densities


def _mixture(rng: np.random.Generator, n: int) -> Floats:
    centers = np.array([[0, 0], [3, 1], [0, 4]])
    return np.asarray(centers[rng.integers(3, size=n)] + rng.normal(size=(n, 2)) * [1, 0.6])


def _ring(rng: np.random.Generator, n: int) -> Floats:
    angle = rng.uniform(0, 2 * np.pi, size=n)
    return np.asarray(3 * np.c_[np.cos(angle), np.sin(angle)] + 0.3 * rng.normal(size=(n, 2)))


DENSITIES: Mapping[str, Callable[[np.random.Generator, int], Floats]] = {
    "mixture of 3, 2 columns": _mixture,
    "ring, 2 columns": _ring,
    "uniform, 2 columns": lambda rng, n: rng.uniform(size=(n, 2)),
    "skewed, 1 column": lambda rng, n: rng.lognormal(size=(n, 1)),
    "heavy tails, 5 columns": lambda rng, n: rng.standard_t(4, size=(n, 5)),
}
BANDWIDTHS = {"bandwidth": np.logspace(-1.5, 0.7, 12)}
MIXTURES = {"n_components": list(range(1, 9)), "covariance_type": ["full", "diag"]}
ROWS = 100


ESTIMATORS: Mapping[str, tuple[Any, Any]] = {
    "KernelDensity": (KernelDensity(), BANDWIDTHS),
    "GaussianMixture": (GaussianMixture(random_state=0), MIXTURES),
}
OPTIMISM = "optimism"  # a design of its own


def _run_densities(design: str, n_draws: int) -> Record:
    if design == OPTIMISM:
        return _correction_error()
    record: Record = {}
    for name, (estimator, grid) in ESTIMATORS.items():
        record[name] = []
        for draw in range(n_draws):
            rng = np.random.default_rng(draw)
            X, new = DENSITIES[design](rng, ROWS), DENSITIES[design](rng, 4000)
            record[name].append(_density_regrets(estimator, grid, X, new))
    return record


def _report_densities(records: Mapping[str, Record], n_draws: int) -> list[MarkdownTable]:
    rows: dict[str, list[str]] = {}
    known = {design: record for design, record in records.items() if design != OPTIMISM}
    for name in ESTIMATORS:
        every = []
        for design, record in known.items():
            rows[f"{design}, {name}"] = [mean_and_error(c) for c in np.array(record[name]).T]
            every += record[name]
        rows[f"all, {name}"] = [mean_and_error(column) for column in np.array(every).T]
        first, second = np.array(every).T[:2]
        rows[f"all, {name}: minus 5 folds"] = [mean_and_error(first - second), "-", "-"]
    columns = ["GridSearchLZO", "GridSearchCV, 5 folds", "BIC"]
    note = (
        f"{n_draws} draws of {ROWS} rows; the mean log-likelihood of 4,000 new rows by the best "
        "candidate minus that by the selected one, with its standard error. 12 bandwidths and 16 "
        "mixtures, hence 12 and 16 fits; with folds 61 and 81."
    )
    title = "Regret in held-out log-likelihood"
    tables = [MarkdownTable(title, make_frame("data", columns, rows), (note,))]
    if OPTIMISM in records:
        shares = {name: [f"{share:.0%}"] for name, share in records[OPTIMISM].items()}
        note = (
            "Training minus leave-one-out log-likelihood, relative to that of n fits which start "
            "at the fitted parameters; mean of 3 draws of the mixture above."
        )
        title = "Optimism that the leave-one-out score of a mixture removes"
        tables.append(MarkdownTable(title, make_frame("data", ["share"], shares), (note,)))
    return tables


def _density_regrets(estimator: Any, grid: Any, X: Floats, new: Floats) -> list[float]:
    ours = GridSearchLZO(estimator, grid).fit(X)
    folds = GridSearchCV(estimator, grid, cv=5).fit(X)
    params = ours.cv_results_["params"]
    fits = [clone(estimator).set_params(**one).fit(X) for one in params]
    held_out = np.array([fit.score_samples(new).mean() for fit in fits])
    chosen = [ours.best_index_, folds.best_index_]
    if hasattr(fits[0], "bic"):
        chosen.append(int(np.argmin([fit.bic(X) for fit in fits])))
    regrets = list(held_out.max() - held_out[chosen])
    return regrets + [np.nan] * (3 - len(regrets))


def _correction_error() -> Record:
    """Return the share of a mixture's optimism that its leave-one-out score removes."""
    record: Record = {}
    for n in (50, 100):
        for k in (2, 4):
            shares = []
            for draw in range(3):
                X = _mixture(np.random.default_rng(draw), n)
                model = GaussianMixture(k, tol=1e-5, max_iter=1000, random_state=0).fit(X)
                score = GridSearchLZO(model, {"n_components": [k]}).fit(X).best_score_
                start = {
                    "weights_init": model.weights_,
                    "means_init": model.means_,
                    "precisions_init": model.precisions_,
                }
                exact = []
                for row in range(n):
                    refit = clone(model).set_params(**start).fit(np.delete(X, row, axis=0))
                    exact.append(refit.score_samples(X[[row]])[0])
                train = model.score(X)
                shares.append((train - score) / (train - np.mean(exact)))
            record[f"{n} rows, {k} components"] = float(np.mean(shares))
    return record


# Components

SPECTRA: Mapping[str, tuple[int, int, Sequence[float], bool]] = {  # rows, columns, scales, equal
    "100 x 10, 3 strong": (100, 10, (3, 3, 3), True),
    "100 x 20, 5 from strong to weak": (100, 20, (4, 3, 2, 1.5, 1), True),
    "50 x 50, 3 strong": (50, 50, (2, 2, 2), True),
    "200 x 30, 8 weak": (200, 30, (1,) * 8, True),
    "100 x 20, noise only": (100, 20, (), True),
    "100 x 20, 3 strong, unequal noise": (100, 20, (3, 3, 3), False),
}


def _run_components(design: str, n_draws: int) -> Record:
    n, p, scales, equal = SPECTRA[design]
    record: Record = {"regret": [], "found": []}
    for draw in range(n_draws):
        rng = np.random.default_rng(draw)
        loadings = np.linalg.qr(rng.normal(size=(p, max(1, len(scales)))))[0].T
        scores = rng.normal(size=(n, len(scales))) * scales * np.sqrt(p / 10)
        signal = scores @ loadings[: len(scales)]
        noise = 1.0 if equal else rng.choice([0.5, 1.5], size=p)
        X = signal + noise * rng.normal(size=(n, p))
        grid = {"n_components": list(range(1, min(n, p) - 1))}
        chosen = [
            GridSearchLZO(PCA(), grid).fit(X).best_params_["n_components"],
            GridSearchCV(PCA(), grid, cv=5).fit(X).best_params_["n_components"],
            int(PCA("mle").fit(X).n_components_),
        ]
        errors = {}
        for k in grid["n_components"]:
            model = PCA(k).fit(X)
            errors[k] = float(np.mean((model.inverse_transform(model.transform(X)) - signal) ** 2))
        errors[p - 1] = errors.get(p - 1, float(np.mean((X - signal) ** 2)))
        best = min(errors.values())
        record["regret"].append([errors[min(k, p - 1)] - best for k in chosen])
        record["found"].append(chosen)
    return record


def _report_components(records: Mapping[str, Record], n_draws: int) -> list[MarkdownTable]:
    rows = {}
    for design, record in records.items():
        columns = zip(np.array(record["regret"]).T, np.array(record["found"]).T, strict=True)
        rows[design] = [f"{mean_and_error(r)} [{np.median(found):.0f}]" for r, found in columns]
    every = np.concatenate([record["regret"] for record in records.values()])
    rows["all"] = [mean_and_error(column) for column in every.T]
    names = ["GridSearchLZO", "GridSearchCV, 5 folds", "Minka's MLE"]
    note = (
        f"{n_draws} draws. Mean squared error of the reconstruction against the signal without "
        "noise (noise has variance 1), minus that of the best number of components, with its "
        "standard error; in brackets the median number that was selected. PCA."
    )
    title = "Regret in the error of the reconstructed signal"
    return [MarkdownTable(title, make_frame("data", names, rows), (note,))]


# Outlier detectors


def _anomalies(name: str, rng: np.random.Generator) -> tuple[Floats, Any]:
    """Return rows and whether each is an anomaly."""
    if name.startswith("digits"):
        X, y = load_digits(return_X_y=True)
        return X, y != int(name[-1])
    if name in ("breast cancer", "wine"):
        load, outlier = {"breast cancer": (load_breast_cancer, 0), "wine": (load_wine, 1)}[name]
        X, y = load(return_X_y=True)
        return X, y == outlier
    inliers = make_moons(400, noise=0.05, random_state=0)[0]
    outliers = rng.uniform([-1.5, -1], [2.5, 1.5], size=(200, 2))
    if name == "correlated":
        inliers = rng.normal(size=(400, 6)) @ rng.normal(size=(6, 6))
        outliers = np.stack([rng.permutation(column) for column in inliers[:200].T], axis=1)
    return np.vstack([inliers, outliers]), np.repeat([False, True], [400, 200])


ANOMALIES = ("breast cancer", "wine", "digits 0", "digits 3", "digits 8", "moons", "correlated")
DETECTORS: Mapping[str, tuple[Any, Any]] = {
    "LocalOutlierFactor": (
        LocalOutlierFactor(novelty=True),
        {"n_neighbors": [2, 5, 10, 20, 40, 60]},
    ),
    "OneClassSVM": (OneClassSVM(nu=0.1), {"gamma": [1e-3, 0.01, 0.1, 1.0, 10.0, "scale"]}),
    "IsolationForest": (
        IsolationForest(n_estimators=50, random_state=0),
        {"max_samples": [32, 128, "auto"], "max_features": [0.3, 1.0]},
    ),
    "EllipticEnvelope": (
        EllipticEnvelope(random_state=0),
        {"support_fraction": [0.6, 0.75, 0.9]},
    ),
}


def _run_outliers(design: str, n_draws: int) -> Record:
    record: Record = {name: [] for name in DETECTORS}
    for draw in range(n_draws):
        rng = np.random.default_rng(draw)
        X, is_outlier = _anomalies(design, rng)
        inliers = rng.permutation(np.flatnonzero(~is_outlier))
        outliers = rng.permutation(np.flatnonzero(is_outlier))
        n = min(300, len(inliers) // 2)
        train = np.r_[inliers[:n], outliers[: max(3, n // 20)]]  # 5 % are anomalies
        test = np.r_[inliers[n:], outliers[len(outliers) // 2 :]]
        scaler = StandardScaler().fit(X[train])
        rows, new, kind = scaler.transform(X[train]), scaler.transform(X[test]), ~is_outlier[test]
        for name, (estimator, grid) in DETECTORS.items():
            search = GridSearchLZO(estimator, grid).fit(rows)
            params = search.cv_results_["params"]
            fits = [clone(estimator).set_params(**one).fit(rows) for one in params]
            default = clone(estimator).fit(rows)
            areas = [roc_auc_score(kind, fit.score_samples(new)) for fit in [*fits, default]]
            best = max(areas[:-1])
            chosen = areas[search.best_index_]
            record[name].append([best - chosen, best - areas[-1], best - np.mean(areas[:-1])])
    return record


def _report_outliers(records: Mapping[str, Record], n_draws: int) -> list[MarkdownTable]:
    rows = {}
    for name in DETECTORS:
        every = np.array([record[name] for record in records.values()])
        for design, values in zip(records, every, strict=True):
            rows[f"{design}, {name}"] = [mean_and_error(column) for column in values.T]
        rows[f"all, {name}"] = [mean_and_error(c) for c in every.reshape(-1, 3).T]
    note = (
        f"{n_draws} draws. ROC AUC on new rows of the best candidate minus that of the selected "
        "one, with its standard error over draws; 5 % of the training rows are anomalies. A random "
        "choice is the mean over the candidates. Cross-validation has no score of detectors."
    )
    columns = ["GridSearchLZO", "default parameters", "random choice"]
    return [MarkdownTable("Regret in ROC AUC", make_frame("data", columns, rows), (note,))]


# Streams

STREAMS = {"stationary": 0, "one drift": 1, "three drifts": 3}
STREAM_GRID = {
    "alpha": [1e-5, 1e-3, 1e-1],
    "learning_rate": ["optimal", "constant", "invscaling"],
    "eta0": [0.05],
}
STREAM_OPTIONS: Mapping[str, dict[str, Any]] = {
    "dropping": {},
    "all to the end": {"alpha": None},
    "all, fading 0.9": {"alpha": None, "fading": 0.9},
}
STREAM_ROWS, BATCH = 3000, 50
N_ALL = 9 * (STREAM_ROWS // BATCH - 1)  # batches that all candidates are scored on


def _stream(rng: np.random.Generator, n_drifts: int) -> tuple[Floats, Any]:
    X = rng.normal(size=(STREAM_ROWS, 10))
    segment = np.arange(STREAM_ROWS) * (n_drifts + 1) // STREAM_ROWS
    weights = rng.normal(size=(n_drifts + 1, 10))[segment]
    return X, ((X * weights).sum(axis=1) + rng.normal(size=STREAM_ROWS) > 0).astype(int)


def _run_streams(design: str, n_draws: int) -> Record:
    record: Record = {}
    for draw in range(n_draws):
        X, y = _stream(np.random.default_rng(draw), STREAMS[design])
        fits = {}
        for name, options in STREAM_OPTIONS.items():
            search = PrequentialSearchLZO(
                SGDClassifier(), STREAM_GRID, batch_size=BATCH, random_state=0, **options
            ).fit(X, y)
            fits[name] = [1 - search.prequential_score_, int(search.cv_results_["n_batches"].sum())]
        scores = search.cv_results_["mean_prequential_score"]  # all candidates ran to the end
        n_first = 10  # batches: the first tenth selects, on its last fifth
        first = PrequentialSearchLZO(
            SGDClassifier(), STREAM_GRID, batch_size=BATCH, random_state=0, alpha=None, fading=1.0
        )
        first.fit(X[: n_first * BATCH * 4 // 5], y[: n_first * BATCH * 4 // 5])
        held_out = slice(n_first * BATCH * 4 // 5, n_first * BATCH)
        by_rows = [m.score(X[held_out], y[held_out]) for m in first._models.values()]
        fits["hold-out of the first 500 rows"] = [1 - scores[int(np.argmax(by_rows))], N_ALL]
        fits["best in hindsight"] = [1 - scores.max(), N_ALL]
        for name, values in fits.items():
            record.setdefault(name, []).append(values)
    return record


def _report_streams(records: Mapping[str, Record], n_draws: int) -> list[MarkdownTable]:
    names = list(next(iter(records.values())))
    rows = {
        d: [mean_and_error(np.array(r[name])[:, 0]) for name in names] for d, r in records.items()
    }
    for design, record in records.items():
        learned = [np.mean(np.array(record[name])[:, 1]) for name in names]
        rows[f"{design}: batches scored"] = [f"{value:.0f}" for value in learned]
    note = (
        f"{n_draws} draws of {STREAM_ROWS:,} rows in batches of {BATCH}, 9 candidates of "
        "SGDClassifier. Share of errors of the predictions before each batch is learned, with its "
        "standard error, and the number of batches that all candidates were scored on."
    )
    return [MarkdownTable("Cumulative loss on streams", make_frame("stream", names, rows), (note,))]


# Queries

POOLS = ("digits", "breast cancer", "wine", "moons", "two classes", "five classes")
COUNTS = (0, 5, 10, 20, 40)


def _pool(name: str, rng: np.random.Generator) -> tuple[Floats, Any]:
    if name == "moons":
        X, y = make_moons(800, noise=0.3, random_state=int(rng.integers(2**31)))
    elif name.endswith("classes"):
        X, y = make_classification(
            800,
            n_features=15,
            n_informative=6,
            n_classes=2 if name[0] == "t" else 5,
            flip_y=0.05,
            random_state=int(rng.integers(2**31)),
        )
    else:
        loaders = {"digits": load_digits, "breast cancer": load_breast_cancer, "wine": load_wine}
        X, y = loaders[name](return_X_y=True)
    order = rng.permutation(len(X))
    return StandardScaler().fit_transform(X)[order], y[order]


def _run_queries(design: str, n_draws: int) -> Record:
    record: Record = {"queries": [], "random": []}
    for draw in range(n_draws):
        rng = np.random.default_rng(draw)
        X, y = _pool(design, rng)
        n = 60 if len(X) > 300 else 25
        models = [
            KNeighborsClassifier(1),
            KNeighborsClassifier(7),
            GaussianNB(),
            LogisticRegression(max_iter=500),
            SVC(C=0.3),
            SVC(C=30),
            DecisionTreeClassifier(random_state=0),
            RandomForestClassifier(50, random_state=0),
        ]
        pool, truth = X[n:], y[n:]
        predictions = np.array([model.fit(X[:n], y[:n]).predict(pool) for model in models])
        accuracy = (predictions == truth).mean(axis=1)
        for method in record:
            query = ActiveQuery(tuple(range(len(models))), predictions)
            regrets = []
            for count in range(COUNTS[-1] + 1):
                if count in COUNTS:
                    regrets.append(float(accuracy.max() - accuracy[query.best_index]))
                rows = query.rows()
                if method == "random":
                    left = np.setdiff1d(np.arange(len(pool)), list(query.labels))
                    rows = rng.choice(left, size=1)
                query = query.add_labels(rows, truth[rows])
            record[method].append(regrets)
    return record


def _report_queries(records: Mapping[str, Record], n_draws: int) -> list[MarkdownTable]:
    rows = {}
    for method in ("queries", "random"):
        every = np.array([record[method] for record in records.values()])
        for design, values in zip(records, every, strict=True):
            rows[f"{design}, {method}"] = [mean_and_error(column) for column in values.T]
        rows[f"all, {method}"] = [mean_and_error(c) for c in every.reshape(-1, len(COUNTS)).T]
    note = (
        f"{n_draws} draws, 8 classifiers fitted to 25 or 60 rows. Accuracy on the pool of the best "
        "candidate minus that of the selected one, with its standard error over draws, by the "
        "number of labels. Without labels, the consensus of the candidates selects."
    )
    columns = [f"{count} labels" for count in COUNTS]
    return [MarkdownTable("Regret in accuracy", make_frame("pool", columns, rows), (note,))]


STUDIES: Mapping[str, Study] = {
    "clusters": Study(
        [*DESIGNS, "iris", "wine", "breast cancer", "digits"], _run_clusters, _report_clusters, 5
    ),
    "densities": Study([*DENSITIES, OPTIMISM], _run_densities, _report_densities, 4),
    "components": Study(list(SPECTRA), _run_components, _report_components, 10),
    "outliers": Study(ANOMALIES, _run_outliers, _report_outliers, 5),
    "streams": Study(list(STREAMS), _run_streams, _report_streams, 3),
    "queries": Study(POOLS, _run_queries, _report_queries, 10),
}


def main() -> None:
    """Run the designs of a study that are not finished, and write its page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study", choices=STUDIES)
    parser.add_argument("--design", default="", help="only designs with this text in their name")
    parser.add_argument("--draws", type=int, help="simulated data sets per design")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    study, path = STUDIES[options.study], options.out / f"{options.study}.json"
    n_draws = options.draws or study.n_draws
    options.out.mkdir(parents=True, exist_ok=True)
    known = json.loads(path.read_text()) if path.exists() else {}
    found = known.get("designs", {}) if known.get("n_draws") == n_draws else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for design in study.designs:
            if design not in found and options.design in design:
                found[design] = study.run(design, n_draws)
                content = {"n_draws": n_draws, "designs": found}
                path.write_text(json.dumps(content) + "\n", encoding="utf-8")
    finished = {design: found[design] for design in study.designs if design in found}
    text = page(study.report(finished, n_draws))
    (options.out / f"{options.study}.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
