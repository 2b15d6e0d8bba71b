"""What every way of judging says of each candidate, on few rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from leavezero._random import integer_seed, seed_sequence, stream
from leavezero._typing import AnyArray, Floats, Ints
from leavezero.augment import LabelInvariantMixup
from leavezero.search import GridSearchLZO

FOLDS = "10-fold CV"
LEAVE_ONE_OUT = "leave-one-out"
RESUBSTITUTION = "resubstitution"
DEFAULT = "default"
DEFAULT_V = "default, V alone"
UNSEEN = "unseen alone"
ALPHAS = (0.1, 1.0, 10.0)
FACTORS = (1, 10, 100)  # of n, that make m
MAX_ROWS = 20_000  # of V
MAX_LEFT_OUT = 200  # rows that an SVM is fitted without, one at a time
_N_FOLDS = 10

Drawn = dict[float, tuple[Floats, AnyArray]]  # rows and labels of V, by alpha


@dataclass(frozen=True)
class SmallFamily:
    """One kind of model and the grid of its candidates."""

    estimator: Any
    grid: dict[str, list[Any]]

    @property
    def params(self) -> list[dict[str, Any]]:
        """The candidates' parameters, in the order of every array of scores."""
        return list(ParameterGrid(self.grid))

    def candidates(self) -> list[Any]:
        """Return the candidates, not fitted."""
        return [clone(self.estimator).set_params(**params) for params in self.params]


@dataclass(frozen=True, eq=False)
class SmallSample:
    """A few rows to choose on, many to test on, and a seed."""

    X: Floats
    y: AnyArray
    X_test: Floats
    y_test: AnyArray
    seed: int

    def draw(self, alpha: float, n_replicates: int) -> tuple[Floats, AnyArray]:
        """Return the rows and labels of the paper's mix-up, replicate below replicate."""
        augmenter = LabelInvariantMixup(alpha=alpha).fit(self.X, self.y)
        root = seed_sequence(self.seed)
        parts = [
            augmenter.sample(len(self.y), integer_seed(root, "replicate", replicate))
            for replicate in range(n_replicates)
        ]
        return np.vstack([part.X for part in parts]), np.concatenate([part.y for part in parts])


def small_families(n_columns: int) -> dict[str, SmallFamily]:
    """Return the families that are small enough to be fitted thousands of times."""
    widths = [width / n_columns for width in (1 / 16, 1 / 4, 1.0)]
    powers = [2.0**power for power in (-5, -3, -1, 1, 3)]
    return {
        "linear SVM": SmallFamily(SVC(kernel="linear"), {"C": powers}),
        "RBF SVM": SmallFamily(SVC(), {"C": [1.0, 10.0], "gamma": widths}),
        "k-NN": SmallFamily(KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 9, 15]}),
    }


def mixup_way(alpha: float, factor: int) -> str:
    """Return what the paper's mix-up is called with one alpha and one size.

    Examples
    --------
    >>> mixup_way(1.0, 10), mixup_way(0.1, 1)
    ('mix-up, alpha = 1, m = 10 n', 'mix-up, alpha = 0.1, m = n')
    """
    return f"mix-up, alpha = {alpha:g}, m = {'' if factor == 1 else f'{factor} '}n"


def small_ways() -> list[str]:
    """Return the ways, in the order of the tables."""
    mixed = [mixup_way(alpha, factor) for alpha in ALPHAS for factor in FACTORS]
    return [FOLDS, LEAVE_ONE_OUT, *mixed, DEFAULT, DEFAULT_V, UNSEEN, RESUBSTITUTION]


def draw_all(given: SmallSample) -> Drawn:
    """Return the paper's V for each alpha, as large as it gets; the same for all families."""
    return {alpha: given.draw(alpha, _factors(len(given.y))[-1]) for alpha in ALPHAS}


def score_candidates(family: SmallFamily, given: SmallSample, drawn: Drawn) -> dict[str, Floats]:
    """Return each candidate's accuracy by every way, and on the test rows."""
    models = [model.fit(given.X, given.y) for model in family.candidates()]
    scores = {
        "test": _accuracies(models, given.X_test, given.y_test),
        RESUBSTITUTION: _accuracies(models, given.X, given.y),
        FOLDS: _by_folds(family, given),
    }
    hits = [leave_one_out_hits(model, given.X, given.y) for model in models]
    known = [hit for hit in hits if hit is not None]
    if len(known) == len(models):
        scores[LEAVE_ONE_OUT] = np.array([hit.mean() for hit in known])
    return scores | _by_mixup(models, drawn, len(given.y)) | _by_default(family, given)


def replicate_scores(models: list[Any], V: tuple[Floats, AnyArray], n_replicates: int) -> Floats:
    """Return the accuracy of each model on each replicate."""
    X, y = V
    return np.array(
        [(model.predict(X) == y).reshape(n_replicates, -1).mean(axis=1) for model in models]
    )


def leave_one_out_hits(model: Any, X: Floats, y: AnyArray) -> AnyArray | None:
    """Return for each row whether a model fitted without it is right; None where that is dear.

    An SVM is the same without a row that is no support vector, so that only those are left out
    one by one; the neighbors of a row are those it has besides itself.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVC
    >>> X, y = np.array([[0.0], [1.0], [4.0], [5.0]]), np.array([0, 0, 1, 1])
    >>> leave_one_out_hits(SVC(kernel="linear", C=9.0).fit(X, y), X, y)
    array([ True,  True,  True,  True])
    """
    if isinstance(model, KNeighborsClassifier):
        neighbors = model.kneighbors(return_distance=False)
        codes = np.searchsorted(model.classes_, y)
        votes = [np.bincount(codes[row]).argmax() for row in neighbors]
        return np.asarray(votes == codes)
    if len(y) > MAX_LEFT_OUT:
        return None
    hits = np.asarray(model.predict(X) == y)
    rows = np.arange(len(y))
    for row in model.support_:
        without = clone(model).fit(X[rows != row], y[rows != row])
        hits[row] = without.predict(X[[row]])[0] == y[row]
    return hits


def deal_folds(y: AnyArray, n_folds: int, seed: int) -> Ints:
    """Return a fold for each row, dealt out class by class, so that no class is too small.

    Examples
    --------
    >>> import numpy as np
    >>> folds = deal_folds(np.array([0, 1, 0, 1]), 2, seed=0)
    >>> sorted(folds[[0, 2]].tolist()), sorted(folds[[1, 3]].tolist())
    ([0, 1], [0, 1])
    """
    shuffled = stream(seed_sequence(seed), "folds").permutation(len(y))
    order = shuffled[np.argsort(y[shuffled], kind="stable")]
    folds = np.empty(len(y), dtype=np.intp)
    folds[order] = np.arange(len(y)) % n_folds
    return folds


def _accuracies(models: list[Any], X: Floats, y: AnyArray) -> Floats:
    return np.array([np.mean(model.predict(X) == y) for model in models])


def _by_folds(family: SmallFamily, given: SmallSample) -> Floats:
    """Return the mean accuracy over folds of each candidate."""
    folds = deal_folds(given.y, _N_FOLDS, given.seed)
    parts = []
    for fold in range(_N_FOLDS):
        inside, outside = folds != fold, folds == fold
        models = [model.fit(given.X[inside], given.y[inside]) for model in family.candidates()]
        parts.append(_accuracies(models, given.X[outside], given.y[outside]))
    return np.asarray(np.mean(parts, axis=0))


def _by_mixup(models: list[Any], drawn: Drawn, n_samples: int) -> dict[str, Floats]:
    """Return the paper's scores; the smaller V are the first replicates of the largest."""
    factors = _factors(n_samples)
    found: dict[str, Floats] = {}
    for alpha, V in drawn.items():
        scores = replicate_scores(models, V, factors[-1])
        for factor in factors:
            found[mixup_way(alpha, factor)] = scores[:, :factor].mean(axis=1)
    return found


def _factors(n_samples: int) -> list[int]:
    return [factor for factor in FACTORS if factor * n_samples <= MAX_ROWS]


def _by_default(family: SmallFamily, given: SmallSample) -> dict[str, Floats]:
    """Return what a search with nothing but a seed says, and each of its two witnesses alone."""
    search = GridSearchLZO(family.estimator, family.grid, random_state=given.seed)
    table = search.fit(given.X, given.y).cv_results_
    if list(table["params"]) != family.params:
        raise RuntimeError("The search lists its candidates in another order than the grid.")
    columns = {
        DEFAULT: "mean_test_score",
        DEFAULT_V: "mean_augmented_score",
        UNSEEN: "mean_unseen_score",
    }
    return {
        way: np.asarray(table[column], dtype=float)
        for way, column in columns.items()
        if not np.all(np.isnan(np.asarray(table[column], dtype=float)))
    }
