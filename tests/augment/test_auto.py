"""The word auto chooses by the data, says why, and keeps its cost bounded."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from leavezero import GridSearchLZO
from leavezero.augment import (
    Calibrated,
    CopulaAugmenter,
    ImageAugmenter,
    LabelInvariantMixup,
    Portfolio,
    TeacherLabeled,
    TextAugmenter,
    resolve_augmenter,
)
from leavezero.engine._cost import fit_seconds

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = np.tile([0, 1], 30)


@pytest.mark.parametrize(
    ("X", "y", "dear", "kind", "reason"),
    [
        (X, Y, True, Calibrated, "fits are dear enough for teachers and references"),
        (X, Y, False, Portfolio, "fits are cheap"),
        (X, X[:, 0], True, TeacherLabeled, "y is numbers"),
        (X, X[:, 0], False, Portfolio, "y is numbers"),
        (X, np.column_stack([Y, Y]), True, Portfolio, "several outputs"),
        (np.where(X > 1, np.nan, X), Y, False, CopulaAugmenter, "X has gaps"),
        (pd.DataFrame({"a": ["x", "y"] * 30}), Y, False, CopulaAugmenter, "not numbers"),
        (np.array([["x", "1"], ["y", "2"]] * 30), Y, False, CopulaAugmenter, "not numbers"),
        (np.array([[1.0, None], [2.0, 3.0]] * 30), Y, False, CopulaAugmenter, "X has gaps"),
        (X.tolist(), Y, False, Portfolio, "fits are cheap"),
        (sparse.csr_matrix(X), Y, True, TeacherLabeled, "X is sparse"),
        (sparse.csr_matrix(X), Y, False, LabelInvariantMixup, "X is sparse"),
        (["a b"] * 60, Y, True, TeacherLabeled, "X is text"),
        (["a b"] * 60, Y, False, TextAugmenter, "X is text"),
        (RNG.random((60, 4, 4)), Y, True, ImageAugmenter, "X holds images"),
        (np.tile(X, (100, 1)), np.tile(Y, 100), True, Portfolio, "rows or columns are many"),
    ],
)
def test_the_choice_follows_the_data(X, y, dear, kind, reason):
    """And the reason is one line."""
    choice = resolve_augmenter("auto", X, y, dear=dear)
    assert isinstance(choice.augmenter, kind)
    assert reason in choice.reason


def test_groups_are_never_left_out_row_by_row():
    """Reference models would see the rest of the group."""
    choice = resolve_augmenter("auto", X, Y, groups=Y)
    assert isinstance(choice.augmenter, Portfolio)
    assert "groups" in choice.reason


def test_the_search_says_what_it_chose_and_why(capsys):
    """And how long it took."""
    GridSearchLZO(LogisticRegression(), {"C": [1]}, verbose=1).fit(X, Y)
    chosen, took, _ = capsys.readouterr().out.replace("\n  ", " ").splitlines()
    assert chosen.startswith("GridSearchLZO: V is drawn by Portfolio")
    assert chosen.endswith("because X is complete numbers, and fits are cheap.")
    assert took.startswith("GridSearchLZO: drawing V took ")


def test_dear_searches_get_reference_models():
    """Their fits are counted."""
    forest = RandomForestClassifier(200)
    search = GridSearchLZO(forest, {"max_depth": list(range(2, 9))}, n_replicates=2)
    search.estimator = RandomForestClassifier(60)  # fitted: 60 trees; guessed: 60 trees
    search.fit(X, Y)
    assert search.fits_["candidate"] == 7
    assert search.n_fits_ == sum(search.fits_.values())


@pytest.mark.parametrize(
    ("cheap", "dear"),
    [
        (LogisticRegression(), SVC()),
        (SVC(), RandomForestClassifier()),
        (Ridge(), MLPClassifier()),
        (LogisticRegression(), make_pipeline(StandardScaler(), RandomForestClassifier())),
        (RandomForestClassifier(10), RandomForestClassifier(100)),
    ],
)
def test_the_guess_of_cost_has_the_right_order(cheap, dear):
    """At 500 rows and 20 columns."""
    assert fit_seconds(cheap, 500, 20) < fit_seconds(dear, 500, 20)
