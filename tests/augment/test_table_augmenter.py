"""The training rows that class-conditional augmenters keep after fit."""

import pickle

import numpy as np
import pytest

from leavezero.augment import (
    CopulaAugmenter,
    GaussianAugmenter,
    GaussianMixtureAugmenter,
    LabelInvariantMixup,
    NeighborMixup,
)

GENERATORS = [
    GaussianAugmenter(),
    GaussianMixtureAugmenter(random_state=0),
    CopulaAugmenter(),
]


def blobs(n_rows=200, n_columns=4):
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % 2
    return rng.normal(size=(n_rows, n_columns)) + y[:, None], y


def n_rows_in(augmenter, X):
    """Return how many training rows the pickled augmenter contains."""
    content = pickle.dumps(augmenter)
    return sum(row.tobytes() in content for row in X)


@pytest.mark.parametrize("augmenter", GENERATORS, ids=repr)
def test_generators_keep_no_training_row(augmenter):
    """For classes and for a regression target."""
    X, y = blobs()
    assert n_rows_in(augmenter.fit(X, y), X) == 0
    assert n_rows_in(augmenter.fit(X, X[:, 0]), X) == 0


@pytest.mark.parametrize("augmenter", [LabelInvariantMixup(), NeighborMixup()], ids=repr)
def test_mixup_keeps_the_training_rows(augmenter):
    X, y = blobs()
    assert n_rows_in(augmenter.fit(X, y), X) == len(X)


@pytest.mark.parametrize("augmenter", GENERATORS, ids=repr)
def test_generated_rows_do_not_depend_on_keeps_rows(augmenter, monkeypatch):
    X, y = blobs()
    found = augmenter.fit(X, y).sample(50, random_state=0)
    monkeypatch.setattr(type(augmenter), "keeps_rows", True)
    meant = augmenter.fit(X, y).sample(50, random_state=0)
    np.testing.assert_array_equal(found.X, meant.X)
    np.testing.assert_array_equal(found.y, meant.y)


@pytest.mark.filterwarnings("ignore::leavezero.exceptions.SmallClassWarning")
def test_a_copula_keeps_only_the_rows_that_it_copies():
    """Those of a class of fewer than three rows."""
    X, y = blobs()
    y[:2] = 2
    copula = pickle.loads(pickle.dumps(CopulaAugmenter().fit(X, y)))
    assert n_rows_in(copula, X) == 2
    new = copula.sample(400, random_state=0)
    assert {tuple(row) for row in new.X[new.y == 2]} == {tuple(row) for row in X[:2]}
