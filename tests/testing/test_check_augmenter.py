"""check_augmenter reports each violated requirement."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from leavezero import LabelInvariantMixup, ValidationSet
from leavezero.testing import check_augmenter


class Copies(BaseEstimator):
    """A correct third-party augmenter: copies training rows."""

    def fit(self, X, y):
        self.X_, self.y_ = np.array(X), np.array(y)
        return self

    def sample(self, n_samples, random_state=None):
        if not hasattr(self, "X_"):
            raise NotFittedError
        rows = np.random.default_rng(random_state).integers(len(self.y_), size=n_samples)
        return self.record(rows)

    def record(self, rows):
        return ValidationSet(self.X_[rows], self.y_[rows], source_rows=rows[:, None])


class ForgetsToReturn(Copies):
    def fit(self, X, y):
        super().fit(X, y)


class ChangesTheData(Copies):
    def fit(self, X, y):
        X[0] = 0
        return super().fit(X, y)


class SamplesUnfitted(Copies):
    def sample(self, n_samples, random_state=None):
        if not hasattr(self, "X_"):
            return None
        return super().sample(n_samples, random_state)


class ReturnsATuple(Copies):
    def record(self, rows):
        return self.X_[rows], self.y_[rows]


class LosesRows(Copies):
    def record(self, rows):
        return super().record(rows[1:])


class ChangesTheDtype(Copies):
    def record(self, rows):
        return ValidationSet(self.X_[rows].astype(np.float16), self.y_[rows])


class GeneratesNaN(Copies):
    def record(self, rows):
        return ValidationSet(self.X_[rows] * np.nan, self.y_[rows])


class GeneratesUnknownLabels(Copies):
    def record(self, rows):
        return ValidationSet(self.X_[rows], np.full(len(rows), "new"))


class GeneratesOneClass(Copies):
    def record(self, rows):
        return ValidationSet(self.X_[rows], np.full(len(rows), self.y_[0]))


class IgnoresTheSeed(Copies):
    def sample(self, n_samples, random_state=None):
        return super().sample(n_samples, None)


class AlwaysTheSame(Copies):
    def sample(self, n_samples, random_state=None):
        return super().sample(n_samples, 0)


class ReturnsWrongSources(Copies):
    def record(self, rows):
        return ValidationSet(self.X_[rows], self.y_[rows], source_rows=rows[:, None] + 10**6)


class ChangesWhenPickled(Copies):
    def __getstate__(self):
        state = super().__getstate__()
        if "X_" in state:
            state = state | {"X_": state["X_"] + 1}
        return state


class ChangesItsParameter(Copies):
    def __init__(self, strength=1):
        self.strength = strength

    def get_params(self, deep=True):
        return {"strength": self.strength + 1}


def test_correct_augmenters_pass():
    check_augmenter(LabelInvariantMixup())
    check_augmenter(Copies())


@pytest.mark.parametrize(
    ("augmenter", "message"),
    [
        (ForgetsToReturn(), "does not return the augmenter"),
        (ChangesTheData(), "changes the training data"),
        (SamplesUnfitted(), "before fit does not raise NotFittedError"),
        (ReturnsATuple(), "returns a tuple"),
        (LosesRows(), "returns 0 rows"),
        (ChangesTheDtype(), "turns float64 into float16"),
        (GeneratesNaN(), "generates missing or infinite values"),
        (GeneratesUnknownLabels(), "generates unknown labels"),
        (GeneratesOneClass(), "rows of the classes .* instead of"),
        (IgnoresTheSeed(), "generates different rows with the same seed"),
        (AlwaysTheSame(), "generates the same rows with another seed"),
        (ReturnsWrongSources(), "returns source_rows that are not training rows"),
        (ChangesWhenPickled(), "generates different rows after pickling"),
    ],
)
def test_each_violation_is_reported(augmenter, message):
    with pytest.raises(AssertionError, match=message):
        check_augmenter(augmenter)


def test_a_changed_parameter_is_reported():
    """By clone of scikit-learn."""
    with pytest.raises((AssertionError, RuntimeError)):
        check_augmenter(ChangesItsParameter())
