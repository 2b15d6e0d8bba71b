"""Searches of the regret study, and the columns of scores that each one returns."""

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.base import clone, is_regressor
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, KFold, ParameterGrid, StratifiedKFold

from experiments.model_types import ModelType
from experiments.regret_data import Split
from leavezero import CandidateSearchLZO, GridSearchLZO
from leavezero.augment import (
    AugmenterUnion,
    CopulaAugmenter,
    ForestAugmenter,
    GaussianAugmenter,
    GaussianMixtureAugmenter,
    LabelInvariantMixup,
    NeighborMixup,
)

TEST = "test"  # scores on the test rows, by which methods are compared
DEFAULT = "default"
MAIN_METRICS = ("accuracy", "r2")
FOLDS = {"5-fold CV": 5, "10-fold CV": 10}
OTHER_FOLDS = "10-fold CV, other folds"  # shows how much 10-fold CV differs from itself by chance
# Columns of the default's cv_results_, as far as it has them.
COLUMNS = {
    DEFAULT: "mean_test_score",
    "validation score": "mean_validation_score",
    "LOO score": "mean_loo_score",
    "CV score": "mean_cv_score",
}


def _union(*augmenters: Any) -> Callable[[], Any]:
    return lambda: AugmenterUnion([make() for make in augmenters])


# Augmenters whose validation score alone selects; "mix-up" is the paper's.
AUGMENTERS: dict[str, Callable[[], Any]] = {
    "mix-up": LabelInvariantMixup,
    "neighbor mix-up": NeighborMixup,
    "Gaussian": GaussianAugmenter,
    "Gaussian mixture": GaussianMixtureAugmenter,
    "copula": CopulaAugmenter,
    "forest": ForestAugmenter,
    "copula and forest": _union(CopulaAugmenter, ForestAugmenter),
    "mixture and copula": _union(GaussianMixtureAugmenter, CopulaAugmenter),
    "mixture, copula and forest": _union(
        GaussianMixtureAugmenter, CopulaAugmenter, ForestAugmenter
    ),
}
NUMERIC_ONLY = tuple(name for name in AUGMENTERS if "Gaussian" in name or "mixture" in name)

# By metric: columns, selected, best_score, seconds, fits, and the interval for new rows.
Found = dict[str, dict[str, Any]]


def run_search(
    name: str, candidates: ModelType | Mapping[str, ModelType], split: Split, metrics: list[str]
) -> Found:
    """Return the result of a search over one model type, or over a pool of them, by metric.

    Parameters
    ----------
    name : str
        "test", "default", a name of AUGMENTERS or of FOLDS, or OTHER_FOLDS.
    candidates : (estimator, grid) or dict of them
        Only the default has a pool: other scores do not depend on the other candidates.
    split : Split
        The training rows, and for "test" the test rows.
    metrics : list of str
        Without ``scoring`` the default uses accuracy or R2.

    Returns
    -------
    dict
        For each metric the columns of scores, the selected candidate with its score, CPU seconds
        and the number of fits. The default has one search per metric; the folds of the first
        metric are those of its own search, further metrics share one.
    """
    if name == TEST:
        return _test_scores(candidates, split, metrics)
    if name == DEFAULT:
        is_pool = isinstance(candidates, Mapping)
        search = CandidateSearchLZO(candidates) if is_pool else GridSearchLZO(*candidates)
        search.set_params(random_state=split.number)
        found: Found = {}
        for metric in metrics:
            search.set_params(scoring=None if metric in MAIN_METRICS else metric)
            found |= _fitted(search, split, {metric: COLUMNS})
        return found
    if name in FOLDS or name == OTHER_FOLDS:
        estimator, grid = candidates
        splitter: Any = KFold if is_regressor(estimator) else StratifiedKFold
        seed = split.number + 1_000 * (name == OTHER_FOLDS)
        folds = splitter(FOLDS.get(name, 10), shuffle=True, random_state=seed)
        scoring = None if metrics[0] in MAIN_METRICS else metrics[0]
        search = GridSearchCV(estimator, grid, cv=folds, scoring=scoring)
        found = _fitted(search, split, {metrics[0]: {name: "mean_test_score"}})
        if metrics[1:]:
            search.set_params(scoring=metrics[1:], refit=metrics[1])
            found |= _fitted(search, split, {m: {name: f"mean_test_{m}"} for m in metrics[1:]})
        return found
    params: dict[str, Any] = {"augmenter": AUGMENTERS[name](), "loo": False, "cv_finalists": 0}
    params |= {"random_state": split.number, "scoring": metrics, "refit": metrics[0]}
    search = GridSearchLZO(*candidates, **params)
    return _fitted(search, split, {m: {name: f"mean_validation_{m}"} for m in metrics})


def _fitted(search: Any, split: Split, columns: Mapping[str, Mapping[str, str]]) -> Found:
    """Fit a search and return its columns for each metric."""
    started = time.process_time()
    search.fit(split.X, split.y)
    results: Mapping[str, Any] = search.cv_results_
    shared = {
        "selected": int(search.best_index_),
        "best_score": round(float(search.best_score_), 6),
        "seconds": round(time.process_time() - started, 3),
        "fits": getattr(search, "n_fits_", 0)
        or len(results["params"]) * search.n_splits_ + 1,  # of GridSearchCV, with the refit
    }
    if hasattr(search, "selection_"):
        selection = search.selection_
        shared["interval"] = _rounded([selection.new_data_low, selection.new_data_high])
    return {
        metric: {
            "columns": {key: _rounded(results[c]) for key, c in names.items() if c in results},
            **shared,
        }
        for metric, names in columns.items()
    }


def _test_scores(model_type: Any, split: Split, metrics: list[str]) -> Found:
    estimator, grid = model_type
    scorers = {metric: get_scorer(metric) for metric in metrics}
    scores: dict[str, list[float]] = {metric: [] for metric in metrics}
    for params in ParameterGrid(grid):
        model = clone(estimator).set_params(**params).fit(split.X, split.y)
        for metric, scorer in scorers.items():
            scores[metric].append(scorer(model, split.X_test, split.y_test))
    return {metric: {"columns": {TEST: _rounded(found)}} for metric, found in scores.items()}


def _rounded(scores: Any) -> list[float | None]:
    """Return scores for a JSON line; None where there is none."""
    return [None if np.isnan(score) else round(float(score), 6) for score in scores]
