"""The paper's Table 5: parameters of SMIR, selected by 2-fold CV and by leave-zero-out."""

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from threadpoolctl import threadpool_limits

from experiments.data_sets import N_BOOK_SPLITS, load, load_book_splits
from experiments.runner import Experiment, Options
from experiments.small_samples import assign_folds
from experiments.table5_report import BOOK_10, BOOK_100, SAMPLED, report
from leavezero import GridSearchLZO
from leavezero._random import integer_seed, seed_sequence, stream
from leavezero._tables import take_rows
from leavezero._typing import AnyArray, Floats, Ints, Table
from leavezero.augment import FixedValidationSet, LabeledOnly, LabelInvariantMixup, PseudoLabeled
from leavezero.semi_supervised import SMIRClassifier, fit_many, predict_proba_many

GRID = {
    "width": [1 / 15, 1 / 10, 1 / 5, 1 / 2, 1.0],
    "gamma": [1e-7, 1e-3, 1e-1, 1e1, 1e3],
    "offset": [1e-10, 1e-8, 1e-6, 1e-4, 1e-2],
}
Grid = dict[str, list[float]]
N_SAMPLED = 500
TEST_SHARE = 0.2
LABELED_SHARE = 0.1
REPEATS, QUICK_REPEATS = 100, 3
SAMPLES_PER_BOOK_SPLIT = 5  # a split of the book takes several times as long as a sample


@dataclass(frozen=True)
class Table5:
    """The runs of one part of Table 5.

    A run fits all 125 candidates to all its training rows; every method selects one of them, which
    is scored on rows whose labels no method has.

    Without ``n_labels`` the runs follow the paper on SMIR: 500 rows are sampled (all if there are
    fewer), a fifth of them is for testing, and a tenth of the others has a label, at random, so
    that every class has one. With ``n_labels``, 10 or 100, they are the book's splits: all rows are
    for training, and those without a label for testing.
    """

    data: tuple[str, ...]
    repeats: int = REPEATS
    n_labels: int | None = None
    seed: int = 0

    def protocol(self) -> dict[str, Any]:
        """Return what all runs share; data sets and repeats can be added to a file."""
        book = f"the book's splits with {self.n_labels} labels"
        return {
            "study": "table 5",
            "model": "SMIRClassifier()",
            "grid": {name: [round(v, 10) for v in values] for name, values in GRID.items()},
            "rows": book if self.n_labels else "500 sampled, 80 % train, 10 % of them labeled",
            "seed": self.seed,
        }

    def keys(self) -> list[dict[str, Any]]:
        """Return the runs, first splits first."""
        splits = self.repeats if self.n_labels is None else min(self.repeats, N_BOOK_SPLITS)
        return [{"data": name, "split": split} for split in range(splits) for name in self.data]

    def __call__(self, key: dict[str, Any]) -> dict[str, Any]:
        """Return the test error of the candidate that each method selects, and the lowest one."""
        started = time.perf_counter()
        loaded = load(key["data"])
        codes = np.unique(loaded.y, return_inverse=True)[1].astype(np.intp)
        with threadpool_limits(limits=1), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of models that predict pseudo labels
            train, test, labeled = self._rows(key, codes)
            y = np.full(len(codes), -1)
            y[labeled] = codes[labeled]
            seed = integer_seed(seed_sequence(self.seed), "ways", key["split"])
            result = run_methods(
                take_rows(loaded.X, train),
                y[train],
                (take_rows(loaded.X, test), codes[test]),
                seed,
                full=self.n_labels is None,
            )
        return {**result, "wall_seconds": round(time.perf_counter() - started, 2)}

    def _rows(self, key: dict[str, Any], y: Ints) -> tuple[Ints, Ints, Ints]:
        """Return the training, the test and the labeled rows."""
        if self.n_labels is None:
            return sampled_rows(y, self.seed, key["split"])
        labeled, unlabeled = load_book_splits(key["data"], self.n_labels)
        return np.arange(len(y)), unlabeled[key["split"]], labeled[key["split"]]


def sampled_rows(y: AnyArray, seed: int, split: int) -> tuple[Ints, Ints, Ints]:
    """Return training rows, test rows, and the labeled ones among the training rows."""
    rng = stream(seed_sequence(seed), "sample", split)
    rows = rng.permutation(len(y))[:N_SAMPLED]
    n_test = round(TEST_SHARE * len(rows))
    train, test = rows[n_test:], rows[:n_test]
    n_classes = len(np.unique(y))
    while True:
        labeled = rng.choice(train, round(LABELED_SHARE * len(train)), replace=False)
        if len(np.unique(y[labeled])) == n_classes:
            return train, test, labeled


def run_methods(
    X: Table,
    y: Ints,
    test: tuple[Table, Ints],
    seed: int,
    *,
    full: bool,
    grid: Grid = GRID,
) -> dict[str, Any]:
    """Return the test error of the candidate that each method selects, and the lowest one.

    ``full`` adds mix-up with m = 10 n rows, and folds whose rows are dropped from the training set.
    """
    errors = (
        1 - search_columns(X, y, seed, grid, augmenter=FixedValidationSet(*test), loo=False)["test"]
    )
    params = list(ParameterGrid(grid))
    methods = {}
    for method, scores in method_scores(X, y, seed, full=full, grid=grid).items():
        at = selected(method, scores, params)
        chosen = [round(params[at]["width"], 4), params[at]["gamma"], params[at]["offset"]]
        methods[method] = {"error": round(float(errors[at]), 6), "setting": chosen}
    counts = np.bincount(y[y >= 0])
    return {
        "methods": methods,
        "oracle": round(float(errors.min()), 6),
        "n_train": len(y),
        "n_test": len(test[1]),
        "n_labels": int(counts.sum()),
        "least_labels": int(counts.min()),
    }


def method_scores(
    X: Table, y: Ints, seed: int, *, full: bool, grid: Grid = GRID
) -> dict[str, Floats]:
    """Return the score of each candidate by each method; higher is better."""
    estimators = [SMIRClassifier(**params) for params in ParameterGrid(grid)]
    folds_seed = integer_seed(seed_sequence(seed), "folds")
    scores = {"2-fold CV": labeled_fold_accuracy(estimators, X, y, seed=folds_seed)}
    if full:
        scores["2-fold CV, rows dropped"] = labeled_fold_accuracy(
            estimators, X, y, drop_held_out=True, seed=folds_seed
        )
    mixup = LabelInvariantMixup(alpha=1.0)
    n_replicates = 10 if full else 1
    for name, augmenter in {
        "labeled rows": LabeledOnly(mixup),
        "pseudo labels": PseudoLabeled(mixup),
    }.items():
        params = {"augmenter": augmenter, "loo": False, "n_replicates": n_replicates}
        found = search_columns(X, y, seed, grid, validation_size=1.0, **params)
        scores[f"{name}, m = n"] = found["first replicate"]
        if full:
            scores[f"{name}, m = 10 n"] = found["validation"]
    found = search_columns(X, y, seed, grid)
    scores["validation score, m = n"] = found["first replicate"]
    scores["validation score, m = 10 n"] = found["validation"]
    scores["LOO score"] = np.nan_to_num(found["loo"])  # none if a class has a single label
    scores["default"] = found["test"]
    return scores


def search_columns(X: Table, y: Ints, seed: int, grid: Grid, **params: Any) -> dict[str, Floats]:
    """Return columns of a search over all candidates, in the order of the grid."""
    results = (
        GridSearchLZO(SMIRClassifier(), grid, random_state=seed, **params).fit(X, y).cv_results_
    )
    validation, test = results["mean_validation_score"], results["mean_test_score"]
    return {
        "test": test,
        "validation": validation,
        "first replicate": results["split0_test_score"] - test + validation,
        "loo": np.asarray(results.get("mean_loo_score", np.full(len(test), np.nan)), dtype=float),
    }


def selected(method: str, scores: Floats, params: Sequence[dict[str, float]]) -> int:
    """Return the best candidate; ties go to the widest kernel, then the least gamma and offset.

    Ties of the default search go to the least gamma, then the least offset, then the narrowest
    kernel, as in the search itself.
    """
    scores = np.round(scores, 12)
    tied = np.flatnonzero(scores == scores.max()).tolist()

    def order(at: int) -> tuple[float, ...]:
        width, *others = (params[at][name] for name in ("width", "gamma", "offset"))
        return (*others, width) if method == "default" else (-width, *others)

    return int(min(tied, key=order))


def labeled_fold_accuracy(
    estimators: Sequence[Any],
    X: Table,
    y: Ints,
    *,
    n_folds: int = 2,
    drop_held_out: bool = False,
    seed: int = 0,
) -> Floats:
    """Return the accuracy of each estimator on labeled rows of held-out folds.

    Only labeled rows are assigned to folds; the others, marked by -1, are in every training set.
    Rows of a held-out fold stay in the training set without their label, or are dropped from it, as
    in the published code of SMIR. A class whose labels are all in one fold is never predicted.
    """
    labeled = np.flatnonzero(y != -1)
    folds = assign_folds(y[labeled], n_folds, seed)
    n_correct = np.zeros(len(estimators))
    for fold in range(n_folds):
        out = labeled[folds == fold]
        hidden = y.copy()
        hidden[out] = -1
        train = np.setdiff1d(np.arange(len(y)), out) if drop_held_out else np.arange(len(y))
        predicted = predictions(estimators, take_rows(X, train), hidden[train], take_rows(X, out))
        n_correct += (predicted == y[out]).sum(axis=1)
    return n_correct / len(labeled)


def predictions(estimators: Sequence[Any], X: Table, y: Ints, rows: Table) -> AnyArray:
    """Return the classes that clones of the estimators, fitted to X and y, predict for rows."""
    classes = np.unique(y[y != -1])
    if len(classes) == 1:  # SMIR needs two classes
        return np.full((len(estimators), rows.shape[0]), classes[0])
    models = [clone(estimator) for estimator in estimators]
    fit_many(models, X, y)
    found = predict_proba_many(models, rows)
    return np.stack([classes[probabilities.argmax(axis=1)] for probabilities in found])


def _study(part: str, data: tuple[str, ...], options: Options) -> Table5:
    repeats = options.repeats or (QUICK_REPEATS if options.quick else REPEATS)
    n_labels = {SAMPLED: None, BOOK_10: 10, BOOK_100: 100}[part]
    if n_labels is not None:
        repeats = min(-(-repeats // SAMPLES_PER_BOOK_SPLIT), N_BOOK_SPLITS)
    return Table5(data, repeats, n_labels, options.seed)


_DATA = ("g241c", "g241n", "digit1", "usps", "coil", "coil2", "bci", "text")
TABLE5 = Experiment(
    "table5",
    "Table 5 of the paper: SMIR by 2-fold CV and by leave-zero-out, 8 semi-supervised data sets",
    data=dict.fromkeys((SAMPLED, BOOK_10, BOOK_100), _DATA),
    quick_data=dict.fromkeys((SAMPLED, BOOK_10, BOOK_100), ("bci", "digit1")),
    study=_study,
    report=report,
)
