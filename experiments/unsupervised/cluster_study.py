"""The number of clusters, next to indices, the gap statistic and BIC."""

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.cluster import (
    DBSCAN,
    HDBSCAN,
    AgglomerativeClustering,
    KMeans,
    SpectralClustering,
)
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_circles,
    make_moons,
)
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score, calinski_harabasz_score, silhouette_score
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

from experiments.markdown import MarkdownTable, make_frame
from experiments.unsupervised.study import (
    CHOSEN,
    NEW,
    Record,
    Simulate,
    Study,
    generators,
    mean_and_error,
)
from leavezero import GridSearchLZO
from leavezero._typing import AnyArray, Floats
from leavezero.unsupervised import ClusterScore

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


def _normal(rng: np.random.Generator, size: Any) -> Floats:
    return np.asarray(rng.normal(size=size))


def _round(
    k: int,
    n_columns: int,
    distance: float,
    n: int = 300,
    sd: Any = 1.0,
    sizes: Any = 1.0,
    noise: Callable[[np.random.Generator, Any], Floats] = _normal,
) -> Simulate:
    def simulate(rng: np.random.Generator) -> Floats:
        shares = np.broadcast_to(sizes, k) / np.broadcast_to(sizes, k).sum()
        label = rng.choice(k, size=n, p=shares)
        spread = np.broadcast_to(sd, k)[label, None]
        centers = _centers(rng, k, n_columns, distance)
        return centers[label] + spread * noise(rng, (n, n_columns))

    return simulate


def _elongated(k: int, length: float) -> Simulate:
    def simulate(rng: np.random.Generator) -> Floats:
        rows = rng.normal(size=(300, 2)) * [length, 0.7]
        return rows + [0, 6] * rng.integers(k, size=(300, 1))

    return simulate


def _correlated(rng: np.random.Generator) -> Floats:
    return rng.normal(size=(200, 10)) @ rng.normal(size=(10, 10))


def _within(rng: np.random.Generator) -> Floats:
    """Return 5 clusters, each with a covariance of its own."""
    parts = [rng.normal(size=(60, 6)) @ rng.normal(size=(6, 6)) / 2.4 for _ in range(5)]
    return np.vstack(parts) + np.repeat(_centers(rng, 5, 6, 8), 60, axis=0)


def _with_noise_columns(rng: np.random.Generator) -> Floats:
    return np.hstack([_round(4, 2, 6)(rng), rng.normal(size=(300, 18))])


USED: Mapping[str, tuple[int, Simulate]] = {
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
FRESH: Mapping[str, tuple[int, Simulate]] = {
    "noise, heavy tails, 4 columns": (1, lambda rng: rng.standard_t(3, size=(300, 4))),
    "noise, exponential, 10 columns": (1, lambda rng: rng.exponential(size=(300, 10))),
    "6 separated, 5 columns": (6, _round(6, 5, 6)),
    "8 overlapping, 20 columns": (8, _round(8, 20, 4.5, n=500)),
    "4 separated, 2 of 20 columns": (4, _with_noise_columns),
    "2 of size 9 to 1, 5 columns": (2, _round(2, 5, 6, sizes=[9, 1])),
    "4 with heavy tails, 3 columns": (
        4,
        _round(4, 3, 10, noise=lambda rng, size: rng.standard_t(3, size=size)),
    ),
    "5 correlated, 6 columns": (5, _within),
    "7 squares, 2 columns": (
        7,
        _round(7, 2, 1.8, noise=lambda rng, size: rng.uniform(-0.5, 0.5, size=size)),
    ),
    "3 overlapping, 1,000 rows, 2 columns": (3, _round(3, 2, 3.5, n=1000)),
}
DESIGNS = {**USED, **FRESH}


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


MIXTURE = GaussianMixture(reg_covar=1e-4, random_state=0)


def _by_mixture(X: Floats) -> int:
    grid = {"n_components": NUMBERS}
    search = GridSearchLZO(MIXTURE, grid, scoring=ClusterScore()).fit(X)
    return int(search.best_params_["n_components"])


def _by_bic(X: Floats) -> int:
    fits = [GaussianMixture(k, reg_covar=1e-4, random_state=0).fit(X) for k in NUMBERS]
    return int(NUMBERS[np.argmin([fit.bic(X) for fit in fits])])


CHOICES: Mapping[str, Callable[[Floats], int]] = {
    "GridSearchLZO": _by_search,
    "silhouette": _by_index(silhouette_score),
    "Calinski-Harabasz": _by_index(calinski_harabasz_score),
    "gap statistic": _by_gap,
    "mixture, GridSearchLZO": _by_mixture,
    "mixture, BIC": _by_bic,
}


# Clusters of any shape


def _blobs_among_noise(rng: np.random.Generator) -> tuple[Floats, AnyArray]:
    label = rng.integers(3, size=160)
    blobs = _centers(rng, 3, 2, 7)[label] + rng.normal(size=(160, 2))
    noise = rng.uniform(blobs.min(axis=0), blobs.max(axis=0), size=(40, 2))
    return np.vstack([blobs, noise]), np.r_[label, np.full(40, -1)]


def _curves(make: Callable[..., Any], **options: Any) -> Callable[[np.random.Generator], Any]:
    return lambda rng: make(200, random_state=int(rng.integers(2**31)), **options)


def _rings(rng: np.random.Generator) -> tuple[Floats, AnyArray]:
    """Return three rings around one center, with as many rows as their length requires."""
    label = rng.choice(3, size=360, p=[1 / 6, 2 / 6, 3 / 6])
    angle, radius = rng.uniform(0, 2 * np.pi, size=360), 1 + label + 0.1 * rng.normal(size=360)
    return radius[:, None] * np.c_[np.cos(angle), np.sin(angle)], label


def _parallel_bars(rng: np.random.Generator) -> tuple[Floats, AnyArray]:
    label = rng.integers(2, size=200)
    return np.c_[rng.uniform(0, 10, size=200), 3 * label + rng.uniform(size=200)], label


SHAPES: Mapping[str, Callable[[np.random.Generator], tuple[Floats, AnyArray]]] = {
    "shapes: noise, normal": lambda rng: (rng.normal(size=(200, 2)), np.zeros(200)),
    "shapes: noise, exponential": lambda rng: (rng.exponential(size=(200, 2)), np.zeros(200)),
    "shapes: moons": _curves(make_moons, noise=0.07),
    "shapes: circles": _curves(make_circles, noise=0.05, factor=0.5),
    "shapes: 3 among noise": _blobs_among_noise,
    "shapes: noise, heavy tails, new": lambda rng: (
        rng.standard_t(2, size=(300, 3)),
        np.zeros(300),
    ),
    "shapes: 3 rings, new": _rings,
    "shapes: 2 parallel bars, new": _parallel_bars,
}
CLUSTERERS: Mapping[str, tuple[Any, dict[str, Any]]] = {
    "DBSCAN": (DBSCAN(), {"eps": [0.08, 0.12, 0.2, 0.35, 0.6, 1.0]}),
    "HDBSCAN": (HDBSCAN(copy=True), {"min_cluster_size": [4, 8, 15, 30, 60]}),
    "SpectralClustering": (
        SpectralClustering(affinity="nearest_neighbors", random_state=0),
        {"n_clusters": [1, 2, 3, 4, 5, 6]},
    ),
    "single linkage": (
        AgglomerativeClustering(linkage="single"),
        {"n_clusters": [1, 2, 3, 4, 5, 6]},
    ),
    "Ward linkage": (AgglomerativeClustering(), {"n_clusters": [1, 2, 3, 4, 5, 6]}),
}


def _run_shapes(design: str, n_draws: int) -> Record:
    """Return the quality of the selected, silhouette's and the best candidate."""
    record: Record = {name: [] for name in CLUSTERERS}
    for rng in generators(n_draws):
        X, truth = SHAPES[design](rng)
        X = StandardScaler().fit_transform(X)
        for name, (estimator, grid) in CLUSTERERS.items():
            search = GridSearchLZO(estimator, grid).fit(X)
            params = search.cv_results_["params"]
            labels = [estimator.set_params(**one).fit(X).labels_ for one in params]
            index = [_silhouette(X, one) for one in labels]
            quality = [_quality(truth, one) for one in labels]
            chosen = quality[search.best_index_], quality[int(np.argmax(index))], max(quality)
            record[name].append([float(value) for value in chosen])
    return record


def _quality(truth: AnyArray, labels: AnyArray) -> float:
    """Return the adjusted Rand index; without clusters, whether there is at most one."""
    if len(np.unique(truth)) > 1:
        return float(adjusted_rand_score(truth, labels))
    return float(len(np.unique(labels[labels >= 0])) < 2)


def _silhouette(X: Floats, labels: AnyArray) -> float:
    inside = labels >= 0
    n_clusters = len(np.unique(labels[inside]))
    return float(silhouette_score(X[inside], labels[inside])) if n_clusters > 1 else -1.0


def _report_shapes(records: Mapping[str, Record], n_draws: int) -> MarkdownTable:
    rows = {}
    for design, record in records.items():
        for name, values in record.items():
            rows[f"{design.removeprefix('shapes: ')}, {name}"] = [
                mean_and_error(column) for column in np.array(values).T
            ]
    shapes = [record for design, record in records.items() if ": noise" not in design]
    for name in CLUSTERERS:
        means = np.array([np.mean(record[name], axis=0) for record in shapes])
        if len(means) > 1:
            rows[f"all with clusters, {name}"] = [mean_and_error(column) for column in means.T]
    note = (
        f"{n_draws} draws of 200 to 360 rows; mean adjusted Rand index with its standard "
        "error over draws, or over designs; for noise the share of draws with at most one "
        "cluster. The silhouette is that of the rows that are not labeled as noise. Data "
        "marked as new were not looked at before."
    )
    columns = ["GridSearchLZO", "silhouette", "best candidate"]
    return MarkdownTable("Clusters of any shape", make_frame("data", columns, rows), (note,))


def _run(design: str, n_draws: int) -> Record:
    if design in SHAPES:
        return _run_shapes(design, n_draws)
    record: Record = {"seconds": {}, "found": {}}
    if design in DESIGNS:
        k, simulate = DESIGNS[design]
        tables = [simulate(rng) for rng in generators(n_draws)]
    else:
        k, X = _labeled_sets()[design]
        tables = [X]
    for method, choose in CHOICES.items():
        started = time.process_time()
        record["found"][method] = [choose(X) for X in tables]
        record["seconds"][method] = (time.process_time() - started) / len(tables)
    return record | {"k": k}


def _report(records: Mapping[str, Record], n_draws: int) -> list[MarkdownTable]:
    rows, labeled = {}, {}
    shares: dict[str, list[float]] = {}
    for design, record in records.items():
        if design in SHAPES:
            continue
        k, found = record["k"], record["found"]
        if design not in DESIGNS:
            labeled[f"{design}, {k} classes"] = [str(found[method][0]) for method in CHOICES]
            continue
        shares[design] = [float(np.mean(np.array(found[m]) == k)) for m in CHOICES]
        medians = [np.median(found[method]) for method in CHOICES]
        rows[design] = [
            f"{share:.0%} ({median:.0f})"
            for share, median in zip(shares[design], medians, strict=True)
        ]
    groups = {
        f"all {CHOSEN}": USED,
        f"all {NEW}": FRESH,
        f"{NEW} with clusters": [design for design in FRESH if FRESH[design][0] > 1],
        "noise only": [design for design in DESIGNS if DESIGNS[design][0] == 1],
    }
    for name, group in groups.items():
        values = np.array([share for design, share in shares.items() if design in group])
        if len(values) > 1:
            errors = 1.96 * values.std(axis=0, ddof=1) / np.sqrt(len(values))
            cells = zip(values.mean(axis=0), errors, strict=True)
            rows[name] = [f"{share:.0%} ± {error:.0%}" for share, error in cells]
    draws = {len(records[design]["found"][method]) for design in shares for method in CHOICES}
    counts = " or ".join(map(str, sorted(draws)))
    seconds = [
        np.mean([records[design]["seconds"][method] for design in shares] or [np.nan])
        for method in CHOICES
    ]
    rows["CPU seconds per data set"] = [f"{value:.2f}" for value in seconds]
    note = (
        f"{counts} draws, by design; up to 1,000 rows, "
        "k-means with 1 to 10 clusters, or a Gaussian mixture with as many components. In brackets "
        "the median number that was selected. Intervals of 95 % are over designs; the share of one "
        f"design has a standard error of at most {50 / np.sqrt(n_draws):.0f} points with {n_draws} "
        f"draws. {len(USED)} designs were used before to choose the measure, with other draws. "
        "Silhouette "
        "and Calinski-Harabasz cannot select one cluster. Gap statistic with 5 reference tables."
    )
    share, number = "Share of draws with the right number of clusters", "Clusters in labeled data"
    shapes = {design: record for design, record in records.items() if design in SHAPES}
    return [
        MarkdownTable(share, make_frame("design", list(CHOICES), rows), (note,)),
        MarkdownTable(number, make_frame("data", list(CHOICES), labeled)),
        _report_shapes(shapes, n_draws),
    ]


CLUSTERS = Study([*DESIGNS, "iris", "wine", "breast cancer", "digits", *SHAPES], _run, _report, 20)
