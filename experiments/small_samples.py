"""Small samples: regret and signed bias of CV, leave-one-out and leave-zero-out."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.model_selection import GridSearchCV, LeaveOneOut, PredefinedSplit, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from experiments.data_sets import load, registry
from experiments.model_types import ModelType
from experiments.regret import quiet_single_thread
from experiments.runner import Experiment, Options
from experiments.small_samples_report import (
    ALPHAS,
    FACTORS,
    METHODS,
    REPLICATES,
    SCORES,
    mixup_method,
    report,
)
from leavezero import GridSearchLZO
from leavezero._random import integer_seed, seed_sequence, stream
from leavezero._typing import AnyArray, Floats, Ints
from leavezero.augment import FixedValidationSet, LabelInvariantMixup

SIZES = (20, 50, 100, 200, 500)
REPLICATE_SIZES = (20, 50, 100)
REPEATS, QUICK_REPEATS, REPLICATE_REPEATS = 12, 4, 2
MAX_VALIDATION_ROWS = 20_000
MAX_LEFT_OUT = 200  # rows with which leave-one-out is computed, by as many fits
MAX_TEST_ROWS = 2_000
N_LARGEST = 5  # validation sets of the largest size
N_FOLDS = 10
FAST = {"assume_finite": True, "skip_parameter_validation": True}  # for thousands of tiny fits


@dataclass(frozen=True, eq=False)
class Sample:
    """A few training rows and many test rows, standardized by the former."""

    X: Floats
    y: AnyArray
    X_test: Floats
    y_test: AnyArray
    seed: int

    def search(self, model_type: ModelType, **params: Any) -> dict[str, Any]:
        """Return the results of a search."""
        search = GridSearchLZO(*model_type, random_state=self.seed, **params)
        results: dict[str, Any] = search.fit(self.X, self.y).cv_results_
        return results

    def mixup_scores(self, model_type: ModelType, alpha: float, n_replicates: int) -> Floats:
        """Return the accuracy of each candidate on replicates of n rows of the paper's mix-up."""
        results = self.search(
            model_type,
            augmenter=LabelInvariantMixup(alpha=alpha),
            loo=False,
            n_replicates=n_replicates,
            validation_size=len(self.y),
        )
        return np.array([results[f"split{r}_test_score"] for r in range(n_replicates)]).T

    def fixed_scores(self, model_type: ModelType, X: Floats, y: AnyArray) -> Floats:
        """Return the accuracy of each candidate on the rows of X."""
        results = self.search(model_type, augmenter=FixedValidationSet(X, y), loo=False)
        return np.asarray(results["mean_test_score"])

    def cv_scores(self, model_type: ModelType, splitter: Any) -> Floats:
        """Return the mean accuracy of each candidate over folds."""
        search = GridSearchCV(*model_type, cv=splitter, refit=False).fit(self.X, self.y)
        return np.asarray(search.cv_results_["mean_test_score"])


def small_model_types(n_columns: int) -> dict[str, ModelType]:
    """Return model types that are fast enough for thousands of fits."""
    widths = [width / n_columns for width in (1 / 16, 1 / 4, 1.0)]
    return {
        "linear SVM": (SVC(kernel="linear"), {"C": [2.0**power for power in (-5, -3, -1, 1, 3)]}),
        "RBF SVM": (SVC(), {"C": [1.0, 10.0], "gamma": widths}),
        "k-NN": (KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 9, 15]}),
    }


def score_candidates(model_type: ModelType, sample: Sample) -> dict[str, Floats]:
    """Return each candidate's accuracy by every method, and on the test rows."""
    n_rows = len(sample.y)
    scores = {
        "test": sample.fixed_scores(model_type, sample.X_test, sample.y_test),
        "resubstitution": sample.fixed_scores(model_type, sample.X, sample.y),
        "10-fold CV": sample.cv_scores(
            model_type, PredefinedSplit(assign_folds(sample.y, N_FOLDS, sample.seed))
        ),
    }
    if n_rows <= MAX_LEFT_OUT:
        scores["leave-one-out"] = sample.cv_scores(model_type, LeaveOneOut())
    factors = [factor for factor in FACTORS if factor * n_rows <= MAX_VALIDATION_ROWS]
    for alpha in ALPHAS:  # smaller validation sets are the first replicates of the largest
        found = sample.mixup_scores(model_type, alpha, factors[-1])
        for factor in factors:
            scores[mixup_method(alpha, factor)] = found[:, :factor].mean(axis=1)
    results = sample.search(model_type)
    columns = {
        "default": "mean_test_score",
        "default, validation score": "mean_validation_score",
        "default, LOO score": "mean_loo_score",
    }
    for method, column in columns.items():
        values = np.asarray(results.get(column, [np.nan]), dtype=float)
        if not np.all(np.isnan(values)):
            scores[method] = values
    return scores


def assign_folds(y: AnyArray, n_folds: int, seed: int) -> Ints:
    """Return the fold of each row: rows of a class go to the folds in turn, also of a small one."""
    shuffled = stream(seed_sequence(seed), "folds").permutation(len(y))
    order = shuffled[np.argsort(y[shuffled], kind="stable")]
    folds = np.empty(len(y), dtype=np.intp)
    folds[order] = np.arange(len(y)) % n_folds
    return folds


def take_sample(key: dict[str, Any], seed: int, folder: str | None) -> tuple[Sample, str]:
    """Return the rows of one run and the source of the data set."""
    loaded = load(key["data"], folder, seed=1000 * seed + key["sample"])
    own_seed = integer_seed(seed_sequence(seed), "sample", key["n"], key["sample"])
    X = np.asarray(loaded.X, dtype=float)
    train, test = train_test_split(
        np.arange(len(loaded.y)), train_size=key["n"], stratify=loaded.y, random_state=own_seed
    )
    test = test[:MAX_TEST_ROWS]
    scaler = StandardScaler().fit(X[train])
    sample = Sample(
        scaler.transform(X[train]),
        loaded.y[train],
        scaler.transform(X[test]),
        loaded.y[test],
        own_seed,
    )
    return sample, Path(loaded.source).name


@dataclass(frozen=True)
class SmallSamples:
    """Runs on n training rows; the test rows are the others, as many at least, 2,000 at most.

    There are ``repeats`` samples of 20 and of 50 rows, half as many of 100, a quarter of more.
    """

    data: tuple[str, ...]
    sizes: tuple[int, ...] = SIZES
    repeats: int = REPEATS
    seed: int = 0
    folder: str | None = None

    def protocol(self) -> dict[str, Any]:
        """Return what all runs share; data sets, sizes and repeats can be added to a file."""
        return {
            "study": "small samples",
            "grids": _grids(),
            "methods": list(METHODS),
            "values": ["score of the selected", "its test score", "bias", "absolute error"],
            "max validation rows": MAX_VALIDATION_ROWS,
            "max rows for leave-one-out of an SVM": MAX_LEFT_OUT,
            "max test rows": MAX_TEST_ROWS,
            "seed": self.seed,
        }

    def keys(self) -> list[dict[str, Any]]:
        """Return the runs, first samples first."""
        return [
            {"data": name, "n": n, "sample": sample}
            for sample in range(self.repeats)
            for n in self.sizes
            for name in self.data
            if sample < n_samples(n, self.repeats) and _has_rows(name, n)
        ]

    def __call__(self, key: dict[str, Any]) -> dict[str, Any]:
        """Return for each model type the best test score, and four values of every method."""
        started = time.perf_counter()
        with quiet_single_thread(), config_context(**FAST):
            sample, source = take_sample(key, self.seed, self.folder)
            model_types = {
                name: summarize(score_candidates(model_type, sample))
                for name, model_type in small_model_types(sample.X.shape[1]).items()
            }
        return {
            "model_types": model_types,
            "source": source,
            "n_test": len(sample.y_test),
            "wall_seconds": round(time.perf_counter() - started, 3),
        }


@dataclass(frozen=True)
class ReplicateSpread:
    """Spread over validation sets of the paper's mix-up, alpha = 1, sampled for one sample."""

    data: tuple[str, ...]
    sizes: tuple[int, ...] = REPLICATE_SIZES
    repeats: int = REPLICATE_REPEATS
    seed: int = 0
    folder: str | None = None

    def protocol(self) -> dict[str, Any]:
        """Return what all runs share; data sets, sizes and repeats can be added to a file."""
        return {
            "study": "small samples, replicates",
            "grids": _grids(),
            "factors": list(FACTORS),
            "validation sets of the largest size": N_LARGEST,
            "max test rows": MAX_TEST_ROWS,
            "seed": self.seed,
        }

    def keys(self) -> list[dict[str, Any]]:
        """Return the runs, first samples first."""
        return [
            {"data": name, "n": n, "sample": sample}
            for sample in range(self.repeats)
            for n in self.sizes
            for name in self.data
            if _has_rows(name, n)
        ]

    def __call__(self, key: dict[str, Any]) -> dict[str, Any]:
        """Return by model type and factor the spread of score and test score, and the mean."""
        started = time.perf_counter()
        with quiet_single_thread(), config_context(**FAST):
            sample, source = take_sample(key, self.seed, self.folder)
            model_types = {}
            for name, model_type in small_model_types(sample.X.shape[1]).items():
                test = sample.fixed_scores(model_type, sample.X_test, sample.y_test)
                scores = sample.mixup_scores(model_type, 1.0, N_LARGEST * FACTORS[-1])
                model_types[name] = {
                    str(factor): spread_over_samples(scores, test, factor) for factor in FACTORS
                }
        return {
            "model_types": model_types,
            "source": source,
            "wall_seconds": round(time.perf_counter() - started, 3),
        }


def n_samples(n: int, repeats: int) -> int:
    """Return the number of samples of n rows."""
    share = 1 if n <= 50 else 2 if n <= 100 else 4
    return max(min(repeats, 2), repeats // share)


def spread_over_samples(scores: Floats, test: Floats, factor: int) -> list[float]:
    """Return the standard deviation of the selected model's score and test score, and its mean.

    ``scores`` has one column per replicate; ``factor`` of them are one validation set.
    """
    sets = scores.reshape(len(scores), -1, factor).mean(axis=2)
    score, tested = np.array([select(column, test) for column in sets.T]).T
    return [round(float(v), 6) for v in (score.std(ddof=1), tested.std(ddof=1), tested.mean())]


def select(scores: Floats, test: Floats) -> tuple[float, float]:
    """Return the best score and its test score; tied candidates have equal probability."""
    best = np.nanmax(scores)
    return float(best), float(test[scores >= best - 1e-12].mean())


def summarize(scores: Mapping[str, Floats]) -> dict[str, Any]:
    """Return the best test score and, by method, the values that the protocol names."""
    test, methods = scores["test"], {}
    for method in [method for method in METHODS if method in scores]:
        gaps = scores[method] - test
        values = (*select(scores[method], test), np.nanmean(gaps), np.nanmean(np.abs(gaps)))
        methods[method] = [round(float(value), 4) for value in values]
    return {"best": round(float(test.max()), 4), "methods": methods}


def _has_rows(name: str, n: int) -> bool:
    return registry()[name].shape[0] >= 2 * n


def _grids() -> dict[str, Any]:
    """Return the grids as text; widths are per column."""
    return {
        name: {key: repr(values) for key, values in grid.items()}
        for name, (_, grid) in small_model_types(1).items()
    }


def _study(part: str, data: tuple[str, ...], options: Options) -> Any:
    sizes = (SIZES if part == SCORES else REPLICATE_SIZES)[: 2 if options.quick else None]
    repeats = options.repeats or (QUICK_REPEATS if options.quick else REPEATS)
    if part == SCORES:
        return SmallSamples(data, sizes, repeats, options.seed, options.folder)
    repeats = 1 if options.quick else min(repeats, REPLICATE_REPEATS)
    return ReplicateSpread(data, sizes, repeats, options.seed, options.folder)


_DATA = (
    "simulated_gaussians",
    "simulated_five_classes",
    "breast_cancer",
    "digits",
    "mushroom",
    "segment7",
)
SMALL = Experiment(
    "small",
    "Small samples: regret and signed bias of CV, leave-one-out and leave-zero-out",
    data=dict.fromkeys((SCORES, REPLICATES), _DATA),
    quick_data=dict.fromkeys((SCORES, REPLICATES), ("simulated_gaussians", "breast_cancer")),
    study=_study,
    report=report,
    extra_data=("simulated_circles", "simulated_moons", "simulated_sparse_signal"),
)
