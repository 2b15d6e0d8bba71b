"""How much accuracy a way of choosing costs: one run is one split of one data set."""

import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits

from leavezero._random import seed_sequence, substream
from leavezero._tables import count_rows, is_pandas, take_rows
from leavezero._typing import AnyArray, Table
from leavezero.augment import ValidationSet, resolve_augmenter
from leavezero.datasets import load
from leavezero.engine import Replicates, draw_replicates, resolve_metric, score_replicates
from leavezero.experiments._families import (
    classifier_families,
    regressor_families,
    text_families,
)
from leavezero.experiments._selectors import FOLDS, RESUBSTITUTION, augmenting_selectors

CLASS_METRICS = ("accuracy", "balanced_accuracy", "roc_auc", "neg_log_loss")
NUMBER_METRICS = ("r2",)
_MIXED_FAMILIES = ("k-NN", "logistic", "tree", "forest", "boosting")


@dataclass(frozen=True)
class RegretStudy:
    """The description of a study; calling it with a key does one run.

    Parameters
    ----------
    data : tuple of str
        The names of the data sets.
    kind : {"classes", "numbers", "mixed", "text", "images"}
        Which families and which preprocessing they get.
    selectors : tuple of str
        The ways to compare, from :func:`augmenting_selectors`, beside resubstitution and folds.
    n_splits : int
        Random splits of each data set.
    max_rows : int
        Training rows at most; the rest of the data set, up to 2,000 rows, is for testing.
    seed : int
        Of everything.
    directory : str or None
        Where the files of the data sets are; not part of the protocol.

    Examples
    --------
    >>> from leavezero.experiments import RegretStudy
    >>> study = RegretStudy(("iris",), "classes", ("mix-up",), n_splits=2)
    >>> study.keys()
    [{'data': 'iris', 'split': 0}, {'data': 'iris', 'split': 1}]
    """

    data: tuple[str, ...]
    kind: str
    selectors: tuple[str, ...]
    n_splits: int = 10
    max_rows: int = 300
    seed: int = 0
    directory: str | None = None

    def protocol(self) -> dict[str, Any]:
        """Return what all runs share, as plain values; data sets and splits may be added."""
        described = asdict(self)
        for name in ("directory", "data", "n_splits"):
            del described[name]
        return described | {"study": "regret", "selectors": list(self.selectors)}

    def keys(self) -> list[dict[str, Any]]:
        """Return what tells one run from another; first splits come first."""
        return [
            {"data": name, "split": split} for split in range(self.n_splits) for name in self.data
        ]

    def __call__(self, key: dict[str, Any]) -> dict[str, Any]:
        """Do one run: every candidate's score by every way, and its score on the test rows."""
        with quiet_and_single():
            return self.run(key).result()

    def run(self, key: dict[str, Any]) -> "RegretRun":
        """Return one run, its data split and prepared."""
        given = load(key["data"], self.directory, seed=key["split"])
        split = _split(given.X, given.y, self, key["split"])
        if self.kind in ("classes", "images", "numbers"):
            split = _standardised(split)
        return RegretRun(self, split, key["split"])


@contextmanager
def quiet_and_single() -> Iterator[None]:
    """Use one thread, and say nothing of solvers that stop early."""
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)
        yield


def _split(X: Table, y: AnyArray, study: RegretStudy, split: int) -> tuple[Any, ...]:
    n_rows = count_rows(X)
    classes = study.kind != "numbers"
    if not classes:
        y = (y - y.mean()) / y.std()  # the families' settings assume targets of unit size
    parts = train_test_split(
        np.arange(n_rows),
        train_size=min(study.max_rows, int(0.7 * n_rows)),
        stratify=y if classes else None,
        random_state=1000 * study.seed + split,
    )
    train, test = parts[0], parts[1][:2_000]
    return take_rows(X, train), take_rows(X, test), y[train], y[test]


def _standardised(split: tuple[Any, ...]) -> tuple[Any, ...]:
    X_train, X_test, y_train, y_test = split
    scaler = StandardScaler().fit(X_train)
    return scaler.transform(X_train), scaler.transform(X_test), y_train, y_test


class RegretRun:
    """One split of one data set."""

    def __init__(self, study: RegretStudy, split: tuple[Any, ...], number: int) -> None:
        self.study = study
        self.X, self.X_test, self.y, self.y_test = split
        self.classes = None if study.kind == "numbers" else np.unique(self.y)
        self.number = number
        self.seconds: dict[str, float] = {}
        self.fits: dict[str, int] = {}
        self.augmenters: dict[str, Any] = {}  # what drew V, by way

    def result(self) -> dict[str, Any]:
        """Return the candidates' scores by every way."""
        sets = {RESUBSTITUTION: Replicates(ValidationSet(self.X, self.y), 1, self.classes)}
        sets |= {name: self.draw(name) for name in self.study.selectors}
        families = {
            name: self._family(candidates, sets) for name, candidates in self.families().items()
        }
        return {"families": families, "draw_seconds": self.seconds, "teacher_fits": self.fits}

    def draw(self, name: str) -> Replicates:
        """Return V by one way, the same whichever other ways are drawn."""
        root = substream(seed_sequence(self.study.seed), "run", self.number)
        started = time.process_time()
        choice = resolve_augmenter(augmenting_selectors()[name], self.X, self.y)
        augmenter, drawn = draw_replicates(
            choice.augmenter,
            self.X,
            self.y,
            n_replicates=1,
            validation_size=4.0,
            root=substream(root, self.study.selectors.index(name)),
            owner="the study",
        )
        self.seconds[name] = round(time.process_time() - started, 3)
        self.fits[name] = getattr(augmenter, "n_fits_", 0)
        self.augmenters[name] = augmenter
        return drawn

    def families(self) -> dict[str, list[Any]]:
        """Return the candidates of each family."""
        if self.study.kind == "text":
            return text_families()
        if self.study.kind == "numbers":
            return regressor_families(self.X.shape[1])
        families = classifier_families(self.X.shape[1])
        if self.study.kind != "mixed":
            return families
        return {
            name: [make_pipeline(_preprocessing(self.X), model) for model in families[name]]
            for name in _MIXED_FAMILIES
        }

    def metrics_of(self, candidates: Sequence[Any]) -> list[str]:
        """Return the metrics that all candidates of a family can be judged by."""
        if self.study.kind == "numbers":
            return list(NUMBER_METRICS)
        binary = len(np.unique(self.y)) == 2
        probable = all(hasattr(candidate, "predict_proba") for candidate in candidates)
        allowed = {"roc_auc": binary, "neg_log_loss": probable}
        return [name for name in CLASS_METRICS if allowed.get(name, True)]

    def _family(
        self, candidates: Sequence[Any], sets: dict[str, Replicates]
    ) -> dict[str, dict[str, list[float]]]:
        """Return for each metric the candidates' scores by each way, and on the test rows."""
        metrics = self.metrics_of(candidates)
        scores: dict[str, dict[str, list[float]]] = {
            metric: {name: [] for name in ("test", *sets, *FOLDS)} for metric in metrics
        }
        for candidate in candidates:
            model = clone(candidate).fit(self.X, self.y)
            for name, replicates in sets.items():
                chosen = [resolve_metric(metric, "the study") for metric in metrics]
                for metric, [score] in zip(
                    metrics, score_replicates(model, replicates, chosen), strict=True
                ):
                    scores[metric][name].append(score)
            for metric, score in zip(
                metrics, self._scores(model, self.X_test, self.y_test, metrics), strict=True
            ):
                scores[metric]["test"].append(score)
            for name, n_folds in FOLDS.items():
                for metric, score in self.by_folds(candidate, n_folds, metrics).items():
                    scores[metric][name].append(score)
        return {
            metric: {name: [round(float(s), 5) for s in row] for name, row in kept.items()}
            for metric, kept in scores.items()
        }

    def _scores(self, model: Any, X: Table, y: AnyArray, metrics: Sequence[str]) -> list[float]:
        """Return a model's scores on real rows, asked once for all metrics."""
        rows = Replicates(ValidationSet(X, y), 1, self.classes)
        chosen = [resolve_metric(metric, "the study") for metric in metrics]
        return [float(found[0]) for found in score_replicates(model, rows, chosen)]

    def by_folds(self, candidate: Any, n_folds: int, metrics: Sequence[str]) -> dict[str, float]:
        """Return the mean score over folds, as GridSearchCV computes it."""
        splitter: Any = KFold if self.study.kind == "numbers" else StratifiedKFold
        folds = splitter(n_folds, shuffle=True, random_state=self.number)
        found: dict[str, list[float]] = {metric: [] for metric in metrics}
        for inside, outside in folds.split(np.zeros(len(self.y)), self.y):
            model = clone(candidate).fit(take_rows(self.X, inside), self.y[inside])
            held_out = take_rows(self.X, outside), self.y[outside]
            for metric, score in zip(metrics, self._scores(model, *held_out, metrics), strict=True):
                found[metric].append(score)
        return {metric: float(np.mean(values)) for metric, values in found.items()}


def _preprocessing(X: Table) -> Any:
    """Return what makes complete, standardised numbers of a table with gaps and names."""
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    if not is_pandas(X):
        return numbers
    names = OneHotEncoder(
        handle_unknown="infrequent_if_exist", min_frequency=2, sparse_output=False
    )
    return make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (names, make_column_selector(dtype_exclude="number")),
    )
