"""Scores for few labels that use unlabeled rows: agreement between fits, and a consensus.

Not on data of Table 5. With l labels, s = 10 / (l + 10) as in the default.

- agreement: the share of unlabeled rows with the same prediction after the labels of a fold are
  removed (co-validation, Madani, Pennock and Flake 2004). It is 1 for models that predict one class
- kappa: Cohen's kappa of these predictions, 0 for such models
- consensus: the share of unlabeled rows for which a candidate predicts the most probable class of
  all candidates' mean probabilities, weighted by exp(l times LOO score)

These scores were chosen from about 75 variants (folds, weights) on other samples of these sets.
"""

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import ParameterGrid
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from experiments.data_sets import load
from experiments.markdown import MarkdownTable, make_frame, missing_notes
from experiments.runner import Experiment, Line, Options
from experiments.small_samples import assign_folds
from experiments.table5 import GRID, labeled_fold_accuracy, predictions, search_columns, selected
from leavezero._random import seed_sequence, stream
from leavezero._typing import Floats, Ints
from leavezero.semi_supervised import SMIRClassifier, fit_many

NOTES = str(__doc__).partition("\n\n")[2].strip()
N_ROWS = 300
N_FOLDS = 5
N_LABELS = (10, 40, 100)
REPEATS, QUICK_REPEATS = 6, 1
PARAMS = list(ParameterGrid(GRID))
_DATA = (
    *("breast_cancer", "digits", "wine"),
    *("simulated_circles", "simulated_gaussians", "simulated_moons", "simulated_sparse_signal"),
    *("alzheimer", "cells", "crabs", "penguins", "spam7"),
    *("dna", "ionosphere", "mushroom", "musk", "segment7", "sonar", "vehicle", "vote"),
)
METHODS = (
    *("2-fold CV", "LOO score", "validation score", "default"),
    *("agreement", "(1 - s) LOO score + s agreement", "default + s agreement"),
    *("kappa", "(1 - s) LOO score + s kappa", "default + s kappa"),
    *("consensus", "(1 - s) LOO score + s consensus", "default + s consensus"),
    "default + s/4 (kappa + consensus)",
)


@dataclass(frozen=True)
class FewLabels:
    """Runs on up to 300 rows each: all for training, those without a label for testing."""

    data: tuple[str, ...]
    repeats: int
    seed: int = 0
    folder: str | None = None

    def protocol(self) -> dict[str, Any]:
        """Return what all runs share."""
        return {"study": "few labels", "grid": "table 5", "rows": N_ROWS, "seed": self.seed}

    def keys(self) -> list[dict[str, Any]]:
        """Return the runs, first splits first."""
        runs = product(range(self.repeats), self.data, N_LABELS)
        return [{"data": name, "split": split, "n_labels": count} for split, name, count in runs]

    def __call__(self, key: dict[str, Any]) -> dict[str, Any]:
        """Return the error of the candidate that each method selects, and the lowest one."""
        started = time.perf_counter()
        rng = stream(seed_sequence(self.seed), key["data"], key["split"])
        X, truth = _sample(key["data"], self.folder, rng)
        labeled = _labeled_rows(truth, key["n_labels"], rng)
        y = np.full(len(truth), -1)
        y[labeled] = truth[labeled]
        with threadpool_limits(limits=1), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of models that predict pseudo labels
            scores, predicted = method_scores(X, y, key["split"])
        errors = np.mean(predicted != truth[y == -1], axis=1)
        chosen = {method: errors[_selected(method, found)] for method, found in scores.items()}
        return {
            "errors": {method: round(float(error), 4) for method, error in chosen.items()},
            "oracle": round(float(errors.min()), 4),
            "wall_seconds": round(time.perf_counter() - started, 2),
        }


def _selected(method: str, scores: Floats) -> int:
    """Return the best candidate; ties are broken as in the default search, or as in Table 5."""
    return selected("default" if method.startswith("default") else method, scores, PARAMS)


def _sample(name: str, folder: str | None, rng: np.random.Generator) -> tuple[Floats, Ints]:
    """Return scaled features, categories as indicators, and class codes; digits are odd or even."""
    loaded = load(name, folder)
    y = np.asarray(loaded.y) % 2 if name == "digits" else loaded.y
    frame = pd.get_dummies(pd.DataFrame(loaded.X), dtype=float)
    X = StandardScaler().fit_transform(frame.fillna(frame.median()).to_numpy(dtype=float))
    rows = rng.permutation(len(y))[:N_ROWS]
    return X[rows], np.unique(y[rows], return_inverse=True)[1]


def _labeled_rows(y: Ints, n_labels: int, rng: np.random.Generator) -> Ints:
    """Return random rows, at least one of each class."""
    shuffled = rng.permutation(len(y))
    first = np.unique(y[shuffled], return_index=True)[1]
    return shuffled[np.append(first, np.delete(np.arange(len(y)), first))[:n_labels]]


def method_scores(X: Floats, y: Ints, seed: int) -> tuple[dict[str, Floats], Ints]:
    """Return the score of each candidate by each method, and its predictions of unlabeled rows."""
    models = fit_many([SMIRClassifier(**params) for params in PARAMS], X, y)
    unlabeled = y == -1
    predicted = np.stack([model.transduction_[unlabeled] for model in models])
    agreement, kappa = _agreement(models, X, y, predicted, seed)
    found = search_columns(X, y, seed, GRID)
    loo, validation, default = np.nan_to_num(found["loo"]), found["validation"], found["test"]
    n_labels = int(np.sum(~unlabeled))
    weights = np.exp(n_labels * (loo - loo.max()))
    mean = sum(w * m.label_distributions_[unlabeled] for w, m in zip(weights, models, strict=True))
    consensus = np.mean(predicted == np.argmax(mean, axis=1), axis=1)
    s = 10 / (n_labels + 10)
    scores = [labeled_fold_accuracy(models, X, y, seed=seed), loo, validation, default]
    for added in (agreement, kappa, consensus):
        scores += [added, (1 - s) * loo + s * added, default + s * added]
    scores.append(default + s / 4 * (kappa + consensus))
    return dict(zip(METHODS, scores, strict=True)), predicted


def _agreement(
    models: Sequence[SMIRClassifier], X: Floats, y: Ints, predicted: Ints, seed: int
) -> tuple[Floats, Floats]:
    """Return agreement and kappa of the predictions with and without the labels of a fold."""
    labeled = np.flatnonzero(y != -1)
    folds = assign_folds(y[labeled], N_FOLDS, seed)
    results = []
    for fold in range(N_FOLDS):
        hidden = y.copy()
        hidden[labeled[folds == fold]] = -1
        others = predictions(models, X, hidden, X[y == -1])
        results.append([np.mean(others == predicted, axis=1), _kappa(others, predicted)])
    return tuple(np.mean(results, axis=0))


def _kappa(first: Ints, second: Ints) -> Floats:
    """Return Cohen's kappa of each row of predictions; 0 if both have one class only."""
    classes = np.unique([first, second])
    shares = [(one[..., None] == classes).mean(axis=1) for one in (first, second)]
    by_chance = 1 - np.sum(shares[0] * shares[1], axis=1)
    differ = np.mean(first != second, axis=1)
    return np.where(by_chance > 0, 1 - differ / np.where(by_chance > 0, by_chance, 1.0), 0.0)


def report(
    lines: Mapping[str, list[Line]], missing: Mapping[str, str], folder: Path
) -> dict[str, list[MarkdownTable]]:
    """Return the table of regrets and of differences to the default."""
    results = [(line["key"], line["result"]) for part in lines.values() for line in part]
    records = [{**key, **found["errors"], "oracle": found["oracle"]} for key, found in results]
    errors = 100 * pd.DataFrame(records).set_index(["n_labels", "data", "split"])
    regrets = errors.sub(errors["oracle"], axis=0)
    rows: dict[str, list[str]] = {method: [] for method in METHODS}
    for n_labels in N_LABELS:
        values = regrets.xs(n_labels)
        for method, cells in rows.items():
            gaps = values[method] - values["default"]
            errors_of_mean = f"{gaps.sem():.2f} ({gaps.groupby('data').mean().sem():.2f})"
            cells += [f"{values[method].mean():.2f}", f"{gaps.mean():+.2f} ± {errors_of_mean}"]
    columns = [f"{count} labels{end}" for count in N_LABELS for end in ("", ": minus default")]
    n_sets, n_splits = errors.index.levshape[1:]
    note = (
        f"{n_sets} data sets, {n_splits} splits. Regret is the error on unlabeled rows minus that "
        "of the best candidate, in points; differences with their standard error over data sets "
        "and splits, and over data sets in parentheses."
    )
    frame, notes = make_frame("method", columns, rows), (note, NOTES, *missing_notes(missing))
    return {"tables": [MarkdownTable("Few labels: mean regret", frame, notes)]}


def _study(part: str, data: tuple[str, ...], options: Options) -> FewLabels:
    repeats = options.repeats or (QUICK_REPEATS if options.quick else REPEATS)
    return FewLabels(data, repeats, options.seed, options.folder)


FEW_LABELS = Experiment(
    "few_labels",
    "SMIR with 10 to 100 labels: scores by agreement between fits and by a consensus",
    data={"runs": _DATA},
    quick_data={"runs": ("wine", "simulated_moons")},
    study=_study,
    report=report,
)
