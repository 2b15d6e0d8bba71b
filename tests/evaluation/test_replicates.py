import joblib
import numpy as np
import pytest

from leavezero import (
    AugmenterUnion,
    CopulaAugmenter,
    FixedValidationSet,
    GaussianMixtureAugmenter,
    LabelInvariantMixup,
)
from leavezero._random import seed_sequence
from leavezero.augment import FunctionAugmenter
from leavezero.evaluation import sample_replicates
from leavezero.evaluation._replicates import MAX_AUTO_ROWS, MAX_ROWS, replicate_size


def sample(augmenter, X, y, n_replicates=3, **options):
    options = {"validation_size": 1.0, "root": seed_sequence(0), "owner": "test"} | options
    return sample_replicates(augmenter, X, y, n_replicates=n_replicates, **options)[1]


@pytest.mark.parametrize(
    ("size", "n_replicates", "n_samples", "expected"),
    [
        (1.0, 10, 150, 150),
        (0.5, 10, 150, 75),
        (3.0, 1, 150, 450),
        (7, 10, 150, 7),
        (0.001, 10, 150, 1),
        (1.0, 10, 10**6, MAX_ROWS // 10),
        (10**6, 10, 150, 10**6),
        ("auto", 10, 150, 150),
        ("auto", 10, 5_000, MAX_AUTO_ROWS // 10),
        ("auto", 1, 15_000, MAX_AUTO_ROWS),
        ("auto", 10, 10**6, MAX_AUTO_ROWS // 10),
        ("auto", 10**6, 150, 1),
    ],
)
def test_size_of_a_replicate(size, n_replicates, n_samples, expected):
    """A number of rows is used as it is; shares and "auto" are limited."""
    assert replicate_size(size, n_replicates, n_samples, "test") == expected


def test_many_columns_limit_the_size_to_that_of_the_training_data():
    assert replicate_size("auto", 10, 300, "test", n_columns=20_000) == 30


@pytest.mark.parametrize("size", [0, -1, 0.0, np.inf, np.nan, True, "all", None])
def test_invalid_size(size):
    with pytest.raises(ValueError, match="validation_size of test must be"):
        replicate_size(size, 10, 150, "test")


@pytest.mark.parametrize("n_replicates", [0, 2.0, True, "auto"])
def test_invalid_number_of_replicates(n_replicates):
    with pytest.raises(ValueError, match="n_replicates of test must be a positive int"):
        replicate_size("auto", n_replicates, 150, "test")


def test_augmenters_do_not_use_the_workers_of_joblib(iris):
    def copies(X, y, n_samples, rng):
        assert joblib.effective_n_jobs(2) == 1
        return X[:n_samples], y[:n_samples]

    with joblib.parallel_config(backend="threading", n_jobs=2):
        assert len(sample(FunctionAugmenter(copies), *iris).rows) == 450


def test_first_replicates_do_not_depend_on_their_number(iris):
    few, many = (sample(CopulaAugmenter(), *iris, n_replicates=n) for n in (2, 4))
    assert np.array_equal(many.rows.X[:300], few.rows.X)
    assert [len(rows) for [rows] in many.blocks] == [150] * 4


def test_components_are_separate_blocks(iris):
    union = AugmenterUnion([CopulaAugmenter(), GaussianMixtureAugmenter()])
    replicates = sample(union, *iris)
    for blocks in replicates.blocks:
        assert len(blocks) == 2
        for component, rows in enumerate(blocks):
            assert set(replicates.rows.component[rows]) == {component}
    values = np.arange(len(replicates.rows), dtype=float)
    expected = [np.mean([values[rows].mean() for rows in blocks]) for blocks in replicates.blocks]
    np.testing.assert_allclose(replicates.replicate_means(values, None), expected)


def test_fixed_rows_are_one_replicate(iris):
    X, y = iris
    replicates = sample(FixedValidationSet(X[::2], y[::2]), X, y)
    assert (len(replicates.rows), replicates.n_replicates, replicates.fixed) == (75, 1, True)


def test_rows_are_sampled_from_weighted_data_if_they_have_no_source_rows(iris):
    X, y = iris
    weight = (y == 1).astype(float) + (y == 0)

    with_source = sample(LabelInvariantMixup(), X, y, sample_weight=weight)
    assert not with_source.weighted
    assert with_source.rows.source_rows is not None
    without = sample(CopulaAugmenter(), X, y, sample_weight=weight)
    assert without.weighted
    assert set(without.rows.y) == {0, 1}
