"""Data sets by their name."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.utils import Bunch

from experiments import data_sets
from experiments.data_sets import (
    BUNDLED,
    N_BOOK_SPLITS,
    SIMULATIONS,
    data_set_names,
    fetch,
    find_source,
    load,
    load_book_splits,
    registry,
)

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
