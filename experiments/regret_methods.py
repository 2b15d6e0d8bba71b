"""Selection methods of the regret study: searches, and the column of results each one uses."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_regressor
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold

from experiments.model_types import ModelType
from experiments.regret_data import Split
from leavezero import CandidateSearchLZO, GridSearchLZO
from leavezero._typing import Floats
from leavezero.augment import (
    AugmenterUnion,
    BiasCorrected,
    CopulaAugmenter,
    DensityRatioWeighted,
    FixedValidationSet,
    GaussianAugmenter,
    GaussianMixtureAugmenter,
    ImageAugmenter,
    LabelInvariantMixup,
    NeighborMixup,
    OrthogonalTransform,
    SoftLabeled,
)

TEST = "test"  # the score on the test rows, by which methods are compared
N_FINALISTS = 5


@dataclass(frozen=True)
class Method:
    """A selection method: the candidate with the best value in a column of a search is selected."""

    search: str
    column: str = "test"  # "test", "validation", "loo" or "cv" as in cv_results_
    main_metric_only: bool = False

    @property
    def depends_on_pool(self) -> bool:
        """Whether the search depends on which other candidates there are."""
        return self.search in ("default", "finalists", *WITH_LOO_CORRECTION)


def _mixture_and_copula() -> AugmenterUnion:
    return AugmenterUnion([GaussianMixtureAugmenter(), CopulaAugmenter()])


# Augmenters whose validation score alone selects.
AUGMENTERS: dict[str, Callable[[], Any]] = {
    "mix-up": LabelInvariantMixup,
    "neighbor mix-up": NeighborMixup,
    "orthogonal": OrthogonalTransform,
    "Gaussian": GaussianAugmenter,
    "Gaussian mixture": GaussianMixtureAugmenter,
    "copula": CopulaAugmenter,
    "mixture and copula": _mixture_and_copula,
    "images": lambda: ImageAugmenter((8, 8)),
    "mix-up, density-ratio weights": lambda: DensityRatioWeighted(LabelInvariantMixup()),
    "mix-up, soft labels": lambda: SoftLabeled(LabelInvariantMixup()),
    "copula, soft labels": lambda: SoftLabeled(CopulaAugmenter()),
    "mixture and copula, soft labels": lambda: SoftLabeled(_mixture_and_copula()),
    "mix-up, bias-corrected": lambda: BiasCorrected(LabelInvariantMixup()),
    "mixture and copula, bias-corrected": lambda: BiasCorrected(_mixture_and_copula()),
}
# The same, corrected by LOO scores as in the default.
WITH_LOO_CORRECTION = {
    f"{name}, LOO": AUGMENTERS[name] for name in ("mix-up", "copula", "mixture and copula")
}
FOLDS = {"5-fold CV": 5, "10-fold CV": 10}

# In the order of the tables.
METHODS: dict[str, Method] = {
    "default": Method("default"),
    "validation score": Method("default", "validation"),
    "LOO score": Method("default", "loo"),
    "default, 5 finalists": Method("finalists", "cv", main_metric_only=True),
    **{name: Method(name) for name in (*AUGMENTERS, *WITH_LOO_CORRECTION)},
    **{name: Method(name) for name in FOLDS},
    "resubstitution": Method("resubstitution"),
}
MAIN_METHODS = (
    "default",
    "validation score",
    "LOO score",
    "mix-up",
    "5-fold CV",
    "10-fold CV",
    "resubstitution",
)


@dataclass(frozen=True, eq=False)
class SearchResult:
    """Columns of a search by metric, its CPU seconds and its number of fits."""

    columns: dict[str, dict[str, Floats]]  # metric, then "test", "validation", "loo" or "cv"
    seconds: float
    n_fits: int


def run_search(
    name: str, candidates: ModelType | Mapping[str, ModelType], split: Split, metrics: list[str]
) -> SearchResult:
    """Run a search over one model type, or over a pool of them, with all metrics.

    Parameters
    ----------
    name : str
        "test", "resubstitution", "default", "finalists", a name of AUGMENTERS,
        WITH_LOO_CORRECTION or FOLDS.
    candidates : (estimator, grid) or dict of them
        Cross-validation has no pool: its scores do not depend on the other candidates.
    split : Split
        The training rows, and for "test" the test rows.
    metrics : list of str
        The first is the main one, by which finalists are chosen.
    """
    started = time.process_time()
    if name in FOLDS:
        search = _cross_validated(name, candidates, split, metrics)
        n_fits = len(search.cv_results_["params"]) * FOLDS[name] + 1  # and the refit
    else:
        params: dict[str, Any] = {"scoring": metrics, "refit": metrics[0]}
        params |= {"random_state": split.number, **_search_params(name, split)}
        if isinstance(candidates, Mapping):
            search = CandidateSearchLZO(dict(candidates), **params)
        else:
            search = GridSearchLZO(*candidates, **params)
        search.fit(split.X, split.y)
        n_fits = sum(search.fit_counts_.values())
    seconds = time.process_time() - started
    columns = {metric: _columns(search.cv_results_, metric) for metric in metrics}
    return SearchResult(columns, round(seconds, 3), n_fits)


def _search_params(name: str, split: Split) -> dict[str, Any]:
    if name == TEST:
        return {"augmenter": FixedValidationSet(split.X_test, split.y_test), "loo": False}
    if name == "resubstitution":
        return {"augmenter": FixedValidationSet(split.X, split.y), "loo": False}
    if name in AUGMENTERS:
        return {"augmenter": AUGMENTERS[name](), "loo": False}
    if name in WITH_LOO_CORRECTION:
        return {"augmenter": WITH_LOO_CORRECTION[name]()}
    return {"cv_finalists": N_FINALISTS} if name == "finalists" else {}


def _cross_validated(name: str, candidates: Any, split: Split, metrics: list[str]) -> GridSearchCV:
    estimator, grid = candidates
    splitter: Any = KFold if is_regressor(estimator) else StratifiedKFold
    folds = splitter(FOLDS[name], shuffle=True, random_state=split.number)
    search = GridSearchCV(estimator, grid, cv=folds, scoring=metrics, refit=False)
    return search.fit(split.X, split.y)


def _columns(results: Mapping[str, Any], metric: str) -> dict[str, Floats]:
    found = {
        column: np.asarray(results[f"mean_{column}_{metric}"], dtype=float)
        for column in ("test", "validation", "loo", "cv")
        if f"mean_{column}_{metric}" in results
    }
    if "cv" in found:  # finalists are selected by the mean of both scores, others never
        found["cv"] = np.where(np.isnan(found["cv"]), np.nan, found["test"])
    return found
