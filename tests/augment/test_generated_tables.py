"""Generated rows have the columns, dtypes and value ranges of the training data."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from leavezero._tables import TableCodec
from leavezero.augment import (
    CopulaAugmenter,
    ForestAugmenter,
    GaussianAugmenter,
    GaussianMixtureAugmenter,
    LabelInvariantMixup,
    NeighborMixup,
    OrthogonalTransform,
)

MIXED = [LabelInvariantMixup(), NeighborMixup(), CopulaAugmenter(), ForestAugmenter(n_trees=5)]


def table(seed, n_rows=200):
    """Return a mixed table; only class 1 has certain towns and missing values."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.tile([0, 1], n_rows // 2))
    town = np.where(y == 1, rng.choice(["Ulm", "Bonn"], n_rows), "Kiel").astype(object)
    height = rng.normal(1.7, 0.1, n_rows)
    height[(y == 1) & (rng.random(n_rows) < 0.4)] = np.nan
    frame = pd.DataFrame(
        {
            "town": town,
            "height": height,
            "children": rng.poisson(2, n_rows),
            "member": rng.random(n_rows) < 0.3,
            "country": pd.Categorical(["DE"] * n_rows, ["DE", "FR"]),
        }
    )
    return frame, y


@pytest.mark.parametrize("augmenter", MIXED, ids=repr)
@given(seed=st.integers(0, 1000))
def test_dtypes_categories_and_missing_shares_are_kept(augmenter, seed):
    """Per class."""
    X, y = table(seed)
    new = augmenter.fit(X, y).sample(1000, seed)
    assert list(new.X.dtypes) == list(X.dtypes)
    assert new.X["children"].min() >= X["children"].min()
    assert new.X["children"].max() <= X["children"].max()
    assert (new.X["country"] == "DE").all()
    assert set(new.X["town"][new.y == 0]) == {"Kiel"}
    assert set(new.X["town"][new.y == 1]) <= {"Ulm", "Bonn"}
    assert not new.X["height"][new.y == 0].isna().any()
    given_share = X["height"][y == 1].isna().mean()
    assert new.X["height"][new.y == 1].isna().mean() == pytest.approx(given_share, abs=0.12)


def test_a_large_sparse_matrix_stays_sparse():
    """11,960 columns and 1,500 rows: a dense copy would take 144 MB."""
    X = sparse.random(1500, 11960, density=0.005, format="csr", random_state=0)
    y = np.tile([0, 1], 750)
    new = LabelInvariantMixup().fit(X, y).sample(1500, 0)
    assert sparse.issparse(new.X)
    assert new.X.nnz <= 2.2 * X.nnz


def test_sparse_rows_are_mixed_like_dense_ones():
    X = np.random.default_rng(0).poisson(0.5, size=(30, 8)).astype(float)
    y = np.tile([0, 1], 15)
    dense = LabelInvariantMixup().fit(X, y).sample(40, 3)
    thin = LabelInvariantMixup().fit(sparse.csr_matrix(X), y).sample(40, 3)
    np.testing.assert_allclose(thin.X.toarray(), dense.X)


def test_a_copula_keeps_quantiles_and_rank_correlation():
    rng = np.random.default_rng(0)
    z = rng.multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], size=2000)
    X = np.column_stack([np.exp(z[:, 0]), z[:, 1] ** 3])
    new = CopulaAugmenter().fit(X, np.tile([0, 1], 1000)).sample(4000, 0)
    for q in (0.1, 0.5, 0.9):
        assert np.quantile(new.X[:, 0], q) == pytest.approx(np.quantile(X[:, 0], q), rel=0.15)
    ranks = np.corrcoef(np.argsort(np.argsort(new.X, axis=0), axis=0).T)[0, 1]
    assert ranks == pytest.approx(0.79, abs=0.05)


@pytest.mark.parametrize("augmenter", [LabelInvariantMixup(), NeighborMixup()], ids=repr)
def test_rows_of_different_groups_are_never_mixed(augmenter, rng):
    X, y, groups = rng.normal(size=(60, 2)), np.tile([0, 1], 30), np.repeat([0, 1, 2], 20)
    new = augmenter.fit(X, y, groups=groups).sample(200, 0)
    assert np.array_equal(groups[new.source_rows[:, 0]], groups[new.source_rows[:, 1]])


def test_rows_are_used_in_proportion_to_their_weight(rng):
    X, y = rng.normal(size=(40, 2)), np.tile([0, 1], 20)
    weights = np.repeat([0.0, 1.0, 3.0, 0.0], 10)
    new = LabelInvariantMixup().fit(X, y, sample_weight=weights).sample(8000, 0)
    shares = np.bincount(new.source_rows.ravel() // 10, minlength=4) / new.source_rows.size
    np.testing.assert_allclose(shares, [0, 0.25, 0.75, 0], atol=0.02)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0] * 3, "must be 40 finite numbers of at least 0"),
        ([-1.0] * 40, "must be 40 finite numbers of at least 0"),
        ([0.0] * 40, "at least one non-zero number"),
    ],
)
def test_invalid_weights_are_rejected(weights, message, rng):
    with pytest.raises(ValueError, match=message):
        LabelInvariantMixup().fit(
            rng.normal(size=(40, 2)), np.tile([0, 1], 20), sample_weight=weights
        )


@pytest.mark.parametrize("kind", [int, float])
@pytest.mark.parametrize(
    "augmenter", [CopulaAugmenter(), GaussianAugmenter(), GaussianMixtureAugmenter()], ids=repr
)
def test_integers_stay_integers_and_codes_stay_codes(augmenter, kind, rng):
    """Stored as ints or as floats."""
    counts, codes = rng.poisson(30, 200), rng.choice([0, 1, 4, 9], 200)
    X = np.column_stack([counts, codes]).astype(kind)
    new = augmenter.fit(X, np.tile([0, 1], 100)).sample(500, 0)
    drawn = new.X.astype(float)
    assert new.X.dtype == X.dtype
    assert np.array_equal(drawn, np.rint(drawn))
    assert set(drawn[:, 1]) <= {0, 1, 4, 9}


def test_the_mean_of_codes_is_kept(rng):
    """Numbers are rounded to one of the two nearest codes."""
    codec = TableCodec.of(np.array([[0.0], [4.0], [np.nan]] * 5), integer_floats=True)
    drawn = codec.decode(np.array([[1.0]] * 10_000 + [[np.nan]]), rng)
    assert set(drawn[:-1, 0]) == {0.0, 4.0}
    assert np.isnan(drawn[-1, 0])
    assert drawn[:-1].mean() == pytest.approx(1.0, abs=0.1)


def test_mixup_does_not_round_integer_floats(rng):
    """As in the paper."""
    new = LabelInvariantMixup().fit(np.arange(40.0)[:, None], np.tile([0, 1], 20)).sample(50, 0)
    assert not np.array_equal(new.X, np.rint(new.X))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64])
@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame])
@pytest.mark.parametrize(
    "augmenter",
    [LabelInvariantMixup(), CopulaAugmenter(), GaussianAugmenter(), OrthogonalTransform()],
    ids=repr,
)
def test_integers_at_the_limits_of_their_type_do_not_overflow(augmenter, container, dtype):
    """An overflow of the largest value would give the smallest, or zero."""
    high = np.iinfo(dtype).max
    X = np.array([[high, 0], [high - 1, 1], [high, 2], [high - 3, 3]] * 5, dtype=dtype)
    new = augmenter.fit(container(X), np.tile([0, 1], 10)).sample(300, 0).X
    assert np.asarray(new).dtype == dtype
    assert np.asarray(new)[:, 0].min() >= 0.9 * high
