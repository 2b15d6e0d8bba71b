"""Score of a clustering by the valleys in density between its clusters, from one fit."""

from itertools import product
from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_clusterer
from sklearn.cluster import DBSCAN, HDBSCAN, OPTICS, FeatureAgglomeration, SpectralClustering
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
from sklearn.neighbors import NearestNeighbors

from leavezero._typing import Floats, Ints
from leavezero.unsupervised._unsupervised_score import N_GROUPS, UnsupervisedScore, jackknife

LEAST_DEPTH = 0.5  # a cluster that is separated by less lowers the score
N_NEAREST = 5  # clusters that a cluster is compared with
GRID = np.linspace(-0.2, 1.2, 57)  # positions between two centers, which are 0 and 1
BETWEEN = np.flatnonzero((GRID >= 0.15) & (GRID <= 0.85))
OWN_ROWS = 1.0  # added to a valley: an empty one may have missed a row
N_NEIGHBORS = 7  # whose distance is a row's density, where clusters may have any shape
RAISED = 1.5  # factor of the lowest density on a path: one of seven rows errs by about 40 %
MAX_ROWS = 5_000
TINY = np.finfo(float).tiny
ANY_SHAPE = (DBSCAN, HDBSCAN, OPTICS, SpectralClustering)


class ClusterScore(UnsupervisedScore):
    """Sum over clusters of the depth of the valley around each, minus one half.

    The depth of the valley between two clusters is 1 minus the lowest density between them over
    the lower of the two peaks; that of a cluster is the smallest to any other cluster. One cluster
    has score 0, a cluster that is cut in two has depth near 0 and lowers the score by one half.

    Notes
    -----
    Densities are those of the rows of two clusters on the line through their centers, where each
    row is projected by the center of the other rows of its cluster (leave-one-out), since its own
    share in the center would push it away from the other cluster. The estimator is not fitted
    again, and no reference data are generated: the valley in a distribution without clusters has
    depth zero. For ``DBSCAN``, ``HDBSCAN``, ``OPTICS``, ``SpectralClustering`` and single linkage,
    whose clusters may have any shape, densities are those of nearest neighbors along the path of
    highest density between two clusters. Rows that are labeled as noise have the value -1/2 in
    place of the sum, by their share. At most 5,000 rows are used, a random sample. The values are
    pseudo-values of a grouped jackknife (Tukey 1958), so that intervals show how far the score
    depends on the rows, given the labels.

    Clusters that overlap so far that no valley is left are not counted.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import make_blobs
    >>> from leavezero import GridSearchLZO
    >>> X, _ = make_blobs(300, centers=4, random_state=3)
    >>> search = GridSearchLZO(KMeans(random_state=0), {"n_clusters": range(1, 9)}).fit(X)
    >>> search.best_params_, search.n_fits_
    ({'n_clusters': 4}, 8)
    """

    name: ClassVar[str] = "depth of the valleys between clusters"
    n_values: ClassVar[int] = N_GROUPS
    min_rows: ClassVar[int] = 2 * N_GROUPS

    def handles(self, estimator: Any) -> bool:
        """Return True for clusterers of rows, and for mixtures, whose components are clusters."""
        inputs = (getattr(estimator, name, None) for name in ("metric", "affinity"))
        if "precomputed" in inputs or isinstance(estimator, FeatureAgglomeration):
            return False
        mixtures = (GaussianMixture, BayesianGaussianMixture)
        return is_clusterer(estimator) or isinstance(estimator, mixtures)

    def score(self, model: Any, X: Floats, rng: np.random.Generator) -> Floats:
        """Return the pseudo-values of the score."""
        labels = model.labels_ if hasattr(model, "labels_") else model.predict(X)
        is_known = np.isfinite(X).all(axis=1)  # HDBSCAN accepts missing values
        X, labels = X[is_known], labels[is_known]
        if len(X) > MAX_ROWS:
            rows = rng.choice(len(X), size=MAX_ROWS, replace=False)
            X, labels = X[rows], labels[rows]
        is_single_linkage = getattr(model, "linkage", None) == "single"
        any_shape = isinstance(model, ANY_SHAPE) or is_single_linkage
        depths = _graph_depths if any_shape else _line_depths
        return jackknife(lambda rows: _sum_of_depths(depths, X[rows], labels[rows]), len(X), rng)


def _sum_of_depths(depths: Any, X: Floats, labels: Ints) -> float:
    """Return the score of a clustering; rows with a negative label are noise."""
    values, codes = np.unique(np.maximum(labels, -1), return_inverse=True)
    has_noise = values[0] < 0
    codes, n_clusters = codes - has_noise, len(values) - has_noise
    share = float(np.mean(codes >= 0))
    found = 0.0
    if n_clusters > 1:
        found = float((depths(X, codes, n_clusters).min(axis=1) - LEAST_DEPTH).sum())
    return share * found - (1 - share) * LEAST_DEPTH


def _line_depths(X: Floats, codes: Ints, n_clusters: int) -> Floats:
    """Return the depths of the valleys between clusters on the lines through their centers."""
    rows = [X[codes == code] for code in range(n_clusters)]
    centers = np.array([part.mean(axis=0) for part in rows])
    distances = ((centers[:, None] - centers) ** 2).sum(axis=2)
    found = np.ones((n_clusters, n_clusters))
    for a, row in enumerate(distances):
        for b in np.argsort(row, kind="stable")[: N_NEAREST + 1]:
            if b != a and row[b] == 0:
                found[a, b] = found[b, a] = 0
            elif b != a and (b > a or found[a, b] == 1):
                first = _positions(rows[a], centers[a], centers[b])
                second = 1 - _positions(rows[b], centers[b], centers[a])
                found[a, b] = found[b, a] = _valley_depth(first, second)
    return found


def _positions(rows: Floats, own: Floats, other: Floats) -> Floats:
    """Return the position of rows on the line from the center of the others (1) to another (0)."""
    if len(rows) < 2:
        return np.ones(len(rows))
    axis = (len(rows) * own - rows) / (len(rows) - 1) - other
    return ((rows - other) * axis).sum(axis=1) / np.maximum((axis**2).sum(axis=1), TINY)


def _valley_depth(first: Floats, second: Floats) -> float:
    """Return the depth of the valley between rows around 1 and rows around 0."""
    positions = np.concatenate([first, second])
    spread = np.sqrt((len(first) * first.var() + len(second) * second.var()) / len(positions))
    width = max(1.06 * spread * len(positions) ** -0.2, 1e-3)  # Silverman's rule
    density = np.exp(-0.5 * ((GRID[:, None] - positions) / width) ** 2).sum(axis=1)
    lowest = BETWEEN[np.argmin(density[BETWEEN])]
    peak = min(density[:lowest].max(), density[lowest + 1 :].max())
    return max(0.0, 1 - (density[lowest] + OWN_ROWS) / peak)


def _graph_depths(X: Floats, codes: Ints, n_clusters: int) -> Floats:
    """Return the depths of the valleys on the best paths between clusters of any shape.

    A row's density is that of the ball to its seventh neighbor. The best path between two clusters
    is the one whose lowest density is highest. It is found by joining rows with their neighbors,
    dense ones first, until rows of both are joined.
    """
    n_neighbors = min(N_NEIGHBORS, len(X) - 1)
    distances, neighbors = NearestNeighbors(n_neighbors=n_neighbors).fit(X).kneighbors()
    radius = np.maximum(distances[:, -1], TINY)
    typical = np.array([np.median(radius[codes == code]) for code in range(n_clusters)])
    first, second = np.repeat(np.arange(len(X)), n_neighbors), neighbors.ravel()
    length = np.maximum(radius[first], radius[second])
    saddle = np.full((n_clusters, n_clusters), np.inf)
    parts = np.arange(len(X))  # the part that each row has been joined to
    inside = [{code} if code >= 0 else set() for code in codes.tolist()]  # clusters by part
    for edge in np.argsort(length, kind="stable"):
        a, b = parts[first[edge]], parts[second[edge]]
        if a == b:
            continue
        for one, other in product(inside[a], inside[b]):
            saddle[one, other] = saddle[other, one] = min(saddle[one, other], length[edge])
        inside[a] |= inside[b]
        parts[parts == b] = a
    np.fill_diagonal(saddle, np.inf)
    lower = np.maximum(typical[:, None], typical)  # the larger radius has the lower density
    return np.maximum(0, 1 - RAISED * np.minimum(lower / saddle, 1) ** X.shape[1])
