"""The regret study: how much test score each selection method loses against the best candidate.

The data sets are defined in regret_data.py, the candidates in model_types.py, the methods in
regret_methods.py; regret_report.py makes tables and figures of the lines. Two experiments use the
same runs with other methods: "augmenters" and "finalists".
"""

import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from experiments.model_types import ModelType, model_types
from experiments.regret_data import PARTS, TUNING, Part, Split, make_split
from experiments.regret_methods import (
    AUGMENTERS,
    MAIN_METHODS,
    METHODS,
    TEST,
    SearchResult,
    run_search,
)
from experiments.regret_report import (
    POOL,
    augmenters_report,
    finalists_report,
    loo_report,
    report,
)
from experiments.runner import Experiment, Options
from leavezero._typing import AnyArray, Floats

AUGMENTER_METHODS = {
    "classification": (*(name for name in AUGMENTERS if name != "images"), "mix-up, LOO"),
    "regression": (
        "mix-up",
        "neighbor mix-up",
        "Gaussian",
        "Gaussian mixture",
        "copula",
        "mixture and copula",
        "mix-up, soft labels",
        "mixture and copula, soft labels",
        "copula, LOO",
    ),
    "mixed": (
        "mix-up",
        "neighbor mix-up",
        "copula",
        "mix-up, soft labels",
        "copula, soft labels",
        "copula, LOO",
    ),
    "text": ("mix-up", "neighbor mix-up", "mix-up, soft labels", "mix-up, LOO"),
    "images": ("mix-up", "images", "mixture and copula", "mix-up, soft labels"),
}


@dataclass(frozen=True)
class RegretStudy:
    """The runs of one part: a run is one split of one data set.

    The result has under ``scores`` each candidate's score by model type, metric and method, and
    its score on the test rows. Under the model type "pool" are the scores of methods that depend
    on the other candidates, for all model types together, in the order of the model types.
    """

    part: str
    data: tuple[str, ...]
    methods: tuple[str, ...]
    n_splits: int
    seed: int = 0
    folder: str | None = None

    def protocol(self) -> dict[str, Any]:
        """Return what all runs share; data sets and splits can be added to a file."""
        return {
            "study": "regret",
            "kind": PARTS[self.part].kind,
            "methods": list(self.methods),
            "max training rows": PARTS[self.part].max_rows,
            "validation set": "the default of the search",
            "seed": self.seed,
        }

    def keys(self) -> list[dict[str, Any]]:
        """Return the runs, first splits first."""
        return [
            {"data": name, "split": split} for split in range(self.n_splits) for name in self.data
        ]

    def __call__(self, key: dict[str, Any]) -> dict[str, Any]:
        """Do one run."""
        started = time.perf_counter()
        part = PARTS[self.part]
        with quiet_single_thread():
            split = make_split(part, key["data"], key["split"], seed=self.seed, folder=self.folder)
            types = model_types(part.kind, split.X)
            metrics = {
                name: metrics_for(part, estimator, split.y)
                for name, (estimator, _) in types.items()
            }
            results = {
                name: self._run(model_type, split, metrics[name])
                for name, model_type in types.items()
            }
            scores = {
                name: {m: self._scores(found, m, m == part.metrics[0]) for m in metrics[name]}
                for name, found in results.items()
            }
            scores[POOL] = self._pool_scores(part, types, metrics, split)
        return {
            "scores": scores,
            "seconds": {
                n: {s: r.seconds for s, r in found.items()} for n, found in results.items()
            },
            "fits": {n: {s: r.n_fits for s, r in found.items()} for n, found in results.items()},
            "wall_seconds": round(time.perf_counter() - started, 3),
        }

    def _run(
        self, model_type: ModelType, split: Split, metrics: list[str]
    ) -> dict[str, SearchResult]:
        searches = dict.fromkeys([TEST, *(METHODS[name].search for name in self.methods)])
        return {name: run_search(name, model_type, split, metrics) for name in searches}

    def _scores(
        self, results: Mapping[str, SearchResult], metric: str, is_main: bool
    ) -> dict[str, list[float | None]]:
        scores = {TEST: rounded(results[TEST].columns[metric]["test"])}
        for name in self.methods:
            method = METHODS[name]
            column = results[method.search].columns[metric].get(method.column)
            if column is not None and (is_main or not method.main_metric_only):
                scores[name] = rounded(column)
        return scores

    def _pool_scores(
        self,
        part: Part,
        types: Mapping[str, ModelType],
        metrics: Mapping[str, list[str]],
        split: Split,
    ) -> dict[str, dict[str, list[float | None]]]:
        """Return the scores of methods that depend on the pool, for each metric."""
        searches = dict.fromkeys(
            METHODS[name].search for name in self.methods if METHODS[name].depends_on_pool
        )
        scores: dict[str, dict[str, list[float | None]]] = {}
        for metric in part.metrics if searches else ():
            pool = {name: types[name] for name in types if metric in metrics[name]}
            if len(pool) < 2:
                continue
            found = {name: run_search(name, pool, split, [metric]) for name in searches}
            for name in self.methods:
                method, is_main = METHODS[name], metric == part.metrics[0]
                if not method.depends_on_pool or (method.main_metric_only and not is_main):
                    continue
                column = found[method.search].columns[metric].get(method.column)
                if column is not None:
                    scores.setdefault(metric, {})[name] = rounded(column)
        return scores


def metrics_for(part: Part, estimator: Any, y: AnyArray) -> list[str]:
    """Return the metrics of a part that can be computed for an estimator."""
    allowed = {
        "roc_auc": len(np.unique(y)) == 2,
        "neg_log_loss": hasattr(estimator, "predict_proba"),
    }
    return [metric for metric in part.metrics if allowed.get(metric, True)]


def rounded(scores: Floats) -> list[float | None]:
    """Return scores for a JSON line; None where there is none."""
    return [None if np.isnan(score) else round(float(score), 6) for score in scores]


@contextmanager
def quiet_single_thread() -> Iterator[None]:
    """Use one thread, and ignore warnings about convergence and small classes."""
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _study(methods: tuple[str, ...], part: str, data: tuple[str, ...], options: Options) -> Any:
    n_splits = options.repeats or (1 if options.quick else PARTS[part].n_splits)
    return RegretStudy(part, data, methods, n_splits, options.seed, options.folder)


def _augmenters_study(part: str, data: tuple[str, ...], options: Options) -> Any:
    part = part.removeprefix("augmenters-")
    methods = AUGMENTER_METHODS.get(part, AUGMENTER_METHODS[PARTS[part].kind])
    return _study(methods, part, data, options)


_DATA = {name: part.data for name, part in PARTS.items()}
_COMPARED = ("held-out", "mixed", "regression", "text", "images")  # by augmenter
_QUICK = {"held-out": ("wine",), "regression": ("diabetes",)}

REGRET = Experiment(
    "regret",
    "Regret of selection methods by model type and over all model types",
    data=_DATA,
    quick_data=_QUICK,
    study=lambda part, data, options: _study(MAIN_METHODS, part, data, options),
    report=report,
    extra_data=TUNING,
)
LOO = Experiment(
    "loo",
    "Bias of LOO and CV scores of the same models, from the runs of regret",
    data={"held-out": _DATA["held-out"]},
    quick_data={"held-out": ("wine",)},
    study=REGRET.study,
    report=loo_report,
    folder="regret",
)
FINALISTS = Experiment(
    "finalists",
    "Regret of the default with cross-validated finalists",
    data={"finalists": _DATA["held-out"]},
    quick_data={"finalists": ("wine",)},
    study=lambda part, data, options: _study(
        ("default", "default, 5 finalists"), "held-out", data, options
    ),
    report=finalists_report,
    folder="regret",
)
AUGMENTER_COMPARISON = Experiment(
    "augmenters",
    "Regret of the validation score alone, by augmenter",
    data={f"augmenters-{name}": data for name, data in _DATA.items() if name in _COMPARED},
    quick_data={"augmenters-held-out": ("wine",)},
    study=_augmenters_study,
    report=augmenters_report,
    folder="regret",
)
