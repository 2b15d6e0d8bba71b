"""What draws V for tables of words, as a user of the command line meets it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from leavezero.augment import CopulaAugmenter, LabelInvariantMixup, resolve_augmenter
from leavezero.tabular import Wish, prepare, select_model

N = 40
KINDS = {GaussianNB, DecisionTreeClassifier}


def columns(n_words, n_numbers):
    rng = np.random.default_rng(0)
    words = {f"w{at}": rng.choice(["a", "b", "c"], N) for at in range(n_words)}
    numbers = {f"x{at}": rng.normal(size=N) for at in range(n_numbers)}
    return pd.DataFrame(words | numbers)


def members(X, y=None, **options):
    y = np.tile(["p", "q"], N // 2) if y is None else y
    found = resolve_augmenter("auto", X, y, **({"candidate_types": KINDS} | options))
    return [type(one) for one in getattr(found.augmenter, "augmenters", [found.augmenter])]


def test_tables_of_mostly_words_are_drawn_in_two_ways():
    """A copula alone would lose how words depend on one another."""
    both = [CopulaAugmenter, LabelInvariantMixup]
    assert members(columns(3, 2)) == both
    assert members(columns(3, 2).to_numpy(dtype=object)) == both
    y = np.tile([0, 1], N // 2)
    choice = resolve_augmenter("auto", columns(3, 0), y, candidate_types=KINDS)
    assert choice.reason == "most columns of X are categorical"


@pytest.mark.parametrize(("n_words", "n_numbers"), [(1, 1), (1, 4)])
def test_other_tables_are_drawn_as_before(n_words, n_numbers):
    """Half of the columns are not most of them."""
    assert members(columns(n_words, n_numbers)) == [CopulaAugmenter]


def test_numbers_groups_and_targets_of_numbers_are_drawn_as_before():
    """Only classes of single rows are drawn in two ways, and only for several kinds of models."""
    assert LabelInvariantMixup not in members(columns(0, 3))
    assert LabelInvariantMixup not in members(columns(0, 3).to_numpy())
    assert members(columns(3, 0), candidate_types={GaussianNB}) == [CopulaAugmenter]
    assert members(columns(3, 0), groups=np.arange(N) // 2) == [CopulaAugmenter]
    assert members(columns(3, 0), np.random.default_rng(0).normal(size=N)) == [CopulaAugmenter]


def test_words_that_decide_together_are_not_taken_for_independent(tmp_path):
    """Two columns decide the class together and not alone; a copula's rows have lost that."""
    rng = np.random.default_rng(0)
    y, first = rng.choice([1, 2], 400), rng.integers(3, size=400)
    hint = np.where(rng.random(400) < 0.6, y, 3 - y)
    numbers = {"a": first, "b": (first + y) % 3, "c": hint, "y": y}
    words = {name: np.array(["u", "v", "w"])[column] for name, column in numbers.items()}
    pd.DataFrame(words).to_csv(tmp_path / "a.csv", index=False)
    chosen = {}
    for augmenter in ("auto", "copula"):
        wish = Wish("y", models=("bayes", "tree"), augmenter=augmenter)
        selected = select_model(prepare(tmp_path / "a.csv", wish), wish)
        chosen[augmenter] = selected.rows()[0]["model"]
    assert chosen == {"auto": "tree", "copula": "bayes"}
