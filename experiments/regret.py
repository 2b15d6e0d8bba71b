"""The regret study: how much test score the default and cross-validation lose in selection.

The data sets are defined in regret_data.py, the candidates in model_types.py, the searches in
regret_methods.py; regret_report.py makes tables and figures of the lines.
"""

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from experiments.model_types import model_types
from experiments.regret_data import PARTS, SMALL_SIZE, make_split
from experiments.regret_methods import (
    AUGMENTERS,
    DEFAULT,
    FOLDS,
    NUMERIC_ONLY,
    OTHER_FOLDS,
    TEST,
    run_search,
)
from experiments.regret_report import POOL, augmenters_report, report
from experiments.runner import Experiment, Options
from leavezero._typing import AnyArray

AUGMENTERS_PREFIX = "augmenters-"
MIN_CLASS_ROWS = 10  # for log loss, which needs every class in every fold


@dataclass(frozen=True)
class RegretStudy:
    """The runs of one part: a run is one kind of search, for each model type of one split.

    The result has under ``types`` what :func:`run_search` returns for each model type; the default
    has in addition the search over all model types, named "pool".
    """

    part: str
    data: tuple[str, ...]
    searches: tuple[str, ...]
    n_splits: int
    metrics: tuple[str, ...]
    seed: int = 0
    folder: str | None = None

    def protocol(self) -> dict[str, Any]:
        """Return what all runs share; data sets, splits and searches can be added to a file."""
        return {
            "study": "regret",
            "part": self.part,
            "metrics": list(self.metrics),
            "seed": self.seed,
        }

    def keys(self) -> list[dict[str, Any]]:
        """Return the runs, first splits first."""
        return [
            {"data": name, "split": split, "search": search}
            for split in range(self.n_splits)
            for name in self.data
            for search in self.searches
        ]

    def __call__(self, key: dict[str, Any]) -> dict[str, Any]:
        """Do one run."""
        started = time.perf_counter()
        part, search = PARTS[self.part], key["search"]
        with quiet_single_thread():
            split = make_split(part, key["data"], key["split"], seed=self.seed, folder=self.folder)
            types = model_types(part.task, split.X)
            if search in NUMERIC_ONLY and hasattr(split.X, "dtypes"):
                types = {}
            metrics = {
                name: metrics_for(self.metrics, estimator, split.y)
                for name, (estimator, _) in types.items()
            }
            found = {
                name: run_search(search, model_type, split, metrics[name])
                for name, model_type in types.items()
                if metrics[name]
            }
            if search == DEFAULT:
                found[POOL] = {}
                for metric in self.metrics:
                    pool = {name: pair for name, pair in types.items() if metric in metrics[name]}
                    if pool:
                        found[POOL] |= run_search(search, pool, split, [metric])
        return {"types": found, "wall_seconds": round(time.perf_counter() - started, 3)}


def metrics_for(metrics: tuple[str, ...], estimator: Any, y: AnyArray) -> list[str]:
    """Return the metrics that can be computed for an estimator and a target."""
    counts = np.unique(y, return_counts=True)[1]
    allowed = {
        "roc_auc": len(counts) == 2,
        "neg_log_loss": hasattr(estimator, "predict_proba") and min(counts) >= MIN_CLASS_ROWS,
    }
    return [metric for metric in metrics if allowed.get(metric, True)]


@contextmanager
def quiet_single_thread() -> Iterator[None]:
    """Use one thread, and ignore warnings about convergence and small classes."""
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _study(part: str, data: tuple[str, ...], options: Options) -> RegretStudy:
    n_splits, rest = options.repeats or 1, (options.seed, options.folder)
    if part.startswith(AUGMENTERS_PREFIX):
        part = part.removeprefix(AUGMENTERS_PREFIX)
        metrics = PARTS[part].metrics[:1]
        return RegretStudy(part, data, (TEST, *AUGMENTERS), n_splits, metrics, *rest)
    is_small = PARTS[part].size == SMALL_SIZE and not PARTS[part].probabilities
    searches = (TEST, DEFAULT, *FOLDS, *(("mix-up", OTHER_FOLDS) if is_small else ()))
    return RegretStudy(part, data, searches, n_splits, PARTS[part].metrics, *rest)


REGRET = Experiment(
    "regret",
    "Regret of the default and of cross-validation, by model type and over all model types",
    data={name: part.data for name, part in PARTS.items()},
    quick_data={"tuning-300": ("breast_cancer",), "regression-tuning-300": ("biomass_fuel",)},
    study=_study,
    report=report,
)
AUGMENTER_COMPARISON = Experiment(
    "augmenters",
    "Regret of the validation score alone, by augmenter",
    data={f"{AUGMENTERS_PREFIX}tuning-300": PARTS["tuning-300"].data},
    quick_data={f"{AUGMENTERS_PREFIX}tuning-300": ("breast_cancer",)},
    study=_study,
    report=augmenters_report,
    folder="regret",
)
