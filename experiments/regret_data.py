"""Data sets of the regret study, which of them the default was designed on, and their splits."""

from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from experiments.data_sets import load
from leavezero._tables import count_rows, take_rows
from leavezero._typing import AnyArray, Table

# Every second data set of the alphabet, so that nobody chose; heart and clever share rows and are
# in one half. Defaults and thresholds are set on the tuning sets only.
TUNING = (
    "balance",
    "breast_cancer",
    "bupa",
    "dna",
    "housing",
    "iris",
    "musk",
    "segment7",
    "testSet",
    "vote",
    "wpbc",
    "simulated_checkerboard",
    "simulated_circles",
    "simulated_five_classes",
    "simulated_gaussians",
    "simulated_moons",
    "simulated_sparse_signal",
)
HELD_OUT = (
    "breast",
    "clever",
    "glass",
    "heart",
    "ionosphere",
    "mushroom",
    "segment",
    "sonar",
    "vehicle",
    "wine",
)
MIXED = (
    "breast_strings",
    "heart303_with_missing",
    "mushroom_strings",
    "vote_strings",
    "wpbc_with_missing",
)
REGRESSION = ("diabetes", "housing_medv", "simulated_friedman")

MANY_ROWS = ("musk", "dna", "segment7", "mushroom", "digits", "simulated_five_classes")

MAX_TEST_ROWS = 2_000
TRAINING_SHARE = 0.7


@dataclass(frozen=True)
class Part:
    """Data sets of one kind, and the number of random splits of each."""

    data: tuple[str, ...]
    kind: str  # "classification", "regression", "mixed" or "text"
    n_splits: int
    max_rows: int = 300  # for training

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics; the first is the main one."""
        if self.kind == "regression":
            return ("r2",)
        return ("accuracy", "balanced_accuracy", "roc_auc", "neg_log_loss")


PARTS = {
    "tuning": Part(TUNING, "classification", 3),
    "held-out": Part(HELD_OUT, "classification", 10),
    "mixed": Part(MIXED, "mixed", 5),
    "regression": Part(REGRESSION, "regression", 5),
    "text": Part(("text",), "text", 5),
    "images": Part(("digits",), "classification", 5),
    "many-rows": Part(MANY_ROWS, "classification", 2, max_rows=1_500),
}


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test rows of one random split."""

    X: Table
    y: AnyArray
    X_test: Table
    y_test: AnyArray
    number: int


def make_split(
    part: Part, name: str, number: int, *, seed: int = 0, folder: str | None = None
) -> Split:
    """Return a random split; features are standardized unless pipelines do that.

    At most 70 % of the rows, and no more than the part allows, are for training, the others, at
    most 2,000, for testing. Simulated data sets have new rows in every split.
    """
    loaded = load(name, folder, seed=number)
    X, y = loaded.X, loaded.y
    is_regression = part.kind == "regression"
    if is_regression:
        y = (y - y.mean()) / y.std()  # the grids assume targets of unit scale
    n_rows = count_rows(X)
    train, test = train_test_split(
        np.arange(n_rows),
        train_size=min(part.max_rows, int(TRAINING_SHARE * n_rows)),
        stratify=None if is_regression else y,
        random_state=1000 * seed + number,
    )
    test = test[:MAX_TEST_ROWS]
    X_train, X_test = take_rows(X, train), take_rows(X, test)
    if part.kind in ("classification", "regression"):
        scaler = StandardScaler().fit(X_train)
        X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)
    return Split(X_train, y[train], X_test, y[test], number)
