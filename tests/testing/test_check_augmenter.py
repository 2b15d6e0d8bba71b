"""The public conformance check finds what it says it finds."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from leavezero import LabelInvariantMixup, ValidationSet
from leavezero.testing import check_augmenter


class Copies(BaseEstimator):
    """A right augmenter of a stranger's: draws given rows again."""

    def fit(self, X, y):
        self.X_, self.y_ = np.array(X), np.array(y)
        return self

    def sample(self, n_samples, random_state=None):
        if not hasattr(self, "X_"):
            raise NotFittedError
        rows = np.random.default_rng(random_state).integers(len(self.y_), size=n_samples)
        return self.record(rows)

    def record(self, rows):
        return ValidationSet(self.X_[rows], self.y_[rows], origins=rows[:, None])


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


class InventsGaps(Copies):
    def record(self, rows):
        return ValidationSet(self.X_[rows] * np.nan, self.y_[rows])


class InventsLabels(Copies):
    def record(self, rows):
        return ValidationSet(self.X_[rows], np.full(len(rows), "new"))


class DrawsOneClass(Copies):
    def record(self, rows):
        return ValidationSet(self.X_[rows], np.full(len(rows), self.y_[0]))


class IgnoresTheSeed(Copies):
    def sample(self, n_samples, random_state=None):
        return super().sample(n_samples, None)


class AlwaysTheSame(Copies):
    def sample(self, n_samples, random_state=None):
        return super().sample(n_samples, 0)


class NamesStrangers(Copies):
    def record(self, rows):
        return ValidationSet(self.X_[rows], self.y_[rows], origins=rows[:, None] + 10**6)


class ForgetsWhenPickled(Copies):
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


def test_right_augmenters_pass():
    """Ours and a stranger's that shares no code with it."""
    check_augmenter(LabelInvariantMixup())
    check_augmenter(Copies())


@pytest.mark.parametrize(
    ("augmenter", "sentence"),
    [
        (ForgetsToReturn(), "does not return the augmenter"),
        (ChangesTheData(), "changes the data"),
        (SamplesUnfitted(), "before fit does not raise NotFittedError"),
        (ReturnsATuple(), "returns a tuple"),
        (LosesRows(), "returns 0 rows"),
        (ChangesTheDtype(), "turns float64 into float16"),
        (InventsGaps(), "invents missing or infinite cells"),
        (InventsLabels(), "invents labels"),
        (DrawsOneClass(), "are expected"),
        (IgnoresTheSeed(), "draws other rows with the same seed"),
        (AlwaysTheSame(), "draws the same rows with another seed"),
        (NamesStrangers(), "names origins that are no given rows"),
        (ForgetsWhenPickled(), "draws other rows after pickling"),
    ],
)
def test_each_broken_promise_is_named(augmenter, sentence):
    """The sentence says which promise is broken."""
    with pytest.raises(AssertionError, match=sentence):
        check_augmenter(augmenter)


def test_a_parameter_that_is_not_stored_is_found():
    """scikit-learn's clone refuses it already."""
    with pytest.raises((AssertionError, RuntimeError)):
        check_augmenter(ChangesItsParameter())
