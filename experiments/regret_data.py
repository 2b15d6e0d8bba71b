"""Data sets of the regret study, on which of them defaults are set, and their splits."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from experiments.data_sets import load, registry
from leavezero._tables import count_rows, take_rows
from leavezero._typing import AnyArray, Table

# Defaults and thresholds are set on the tuning sets only; the reporting sets show what they are
# worth. The parts of these sets and of collection.toml were given alternately in the order of the
# alphabet, so that nobody chose; sets that share rows are in one part.
_KNOWN = {
    ("classification", "tuning"): "balance breast_cancer bupa dna housing iris musk segment7 vote "
    "vote_strings wpbc wpbc_with_missing",
    ("classification", "reporting"): "breast breast_strings clever digits glass heart "
    "heart303_with_missing ionosphere mushroom mushroom_strings segment sonar vehicle wine",
    ("regression", "tuning"): "housing_medv",
    ("regression", "reporting"): "diabetes",
}
COLLECTION = {
    key: tuple(
        sorted({*known.split(), *(e.name for e in registry().values() if (e.task, e.part) == key)})
    )
    for key, known in _KNOWN.items()
}

MAX_TEST_ROWS = 2_000
TRAINING_SHARE = 0.7
SMALL_SIZE = 300  # training rows; up to it fewer rows are accepted, and mix-up is compared


@dataclass(frozen=True)
class Part:
    """The tuning or reporting sets of a task that are large enough for a number of rows."""

    task: str  # "classification" or "regression"
    half: str  # "tuning" or "reporting"
    size: int  # training rows, at most
    probabilities: bool = False  # whether the metrics are those of probabilities

    @property
    def name(self) -> str:
        """The name on the command line, such as "reporting-300"."""
        prefix = "regression-" if self.task == "regression" else ""
        return f"{prefix}{'probabilities-' if self.probabilities else ''}{self.half}-{self.size}"

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics; without probabilities the default of scikit-learn."""
        if self.probabilities:
            return ("neg_log_loss", "roc_auc")
        return ("r2",) if self.task == "regression" else ("accuracy",)

    @property
    def data(self) -> tuple[str, ...]:
        """The data sets with enough rows: fewer are accepted for small sizes."""
        names = COLLECTION[self.task, self.half]
        return tuple(name for name in names if self._has_enough(registry()[name].shape[0]))

    def _has_enough(self, n_rows: int) -> bool:
        is_small = self.size <= SMALL_SIZE
        return n_rows >= 1.4 * self.size or (
            is_small and TRAINING_SHARE * n_rows >= 0.6 * self.size
        )


_SIZES = {
    ("classification", "tuning"): (300, 1_000),
    ("classification", "reporting"): (100, 300, 1_000, 3_000),
    ("regression", "tuning"): (300, 1_000),
    ("regression", "reporting"): (300, 1_000),
}
PARTS = {
    part.name: part
    for part in (
        *(Part(*key, size) for key, sizes in _SIZES.items() for size in sizes),
        Part("classification", "tuning", 300, probabilities=True),
        Part("classification", "reporting", 300, probabilities=True),
    )
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
    """Return a random split: standardized arrays, or data frames if there are missing values.

    At most 70 % of the rows, and no more than the size of the part, are for training, the others,
    at most 2,000, for testing.
    """
    loaded = load(name, folder)
    X, y = loaded.X, loaded.y
    is_regression = part.task == "regression"
    if is_regression:
        y = (y - y.mean()) / y.std()  # the grids assume targets of unit scale
    if not isinstance(X, pd.DataFrame) and np.isnan(X).any():
        X = pd.DataFrame(X)
    n_rows = count_rows(X)
    n_train = min(part.size, int(TRAINING_SHARE * n_rows))
    train, test = train_test_split(
        np.arange(n_rows),
        train_size=n_train,
        test_size=min(MAX_TEST_ROWS, n_rows - n_train),
        stratify=None if is_regression else y,
        random_state=1000 * seed + number,
    )
    X_train, X_test = take_rows(X, train), take_rows(X, test)
    if not isinstance(X, pd.DataFrame):
        scaler = StandardScaler().fit(X_train)
        X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)
    return Split(X_train, y[train], X_test, y[test], number)
