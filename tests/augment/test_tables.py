"""New rows of real tables look like rows of those tables."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from leavezero._tables import TableCodec
from leavezero.augment import (
    CopulaAugmenter,
    GaussianAugmenter,
    GaussianMixtureAugmenter,
    LabelInvariantMixup,
    NeighborLabelAugmenter,
    NeighborMixup,
)

MIXED = [LabelInvariantMixup(), NeighborMixup(), NeighborLabelAugmenter(), CopulaAugmenter()]


def table(seed, n_rows=200):
    """Return a mixed table whose class 1 has a town and gaps of its own."""
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
    """A category is one that its class has, and gaps come as often as in their class."""
    X, y = table(seed)
    V = augmenter.fit(X, y).sample(1000, seed)
    assert list(V.X.dtypes) == list(X.dtypes)
    assert V.X["children"].min() >= X["children"].min()
    assert V.X["children"].max() <= X["children"].max()
    assert (V.X["country"] == "DE").all()
    if isinstance(augmenter, NeighborLabelAugmenter):
        return  # its rows come from neighbours of any class, by design
    assert set(V.X["town"][V.y == 0]) == {"Kiel"}
    assert set(V.X["town"][V.y == 1]) <= {"Ulm", "Bonn"}
    assert not V.X["height"][V.y == 0].isna().any()
    given_share = X["height"][y == 1].isna().mean()
    assert V.X["height"][V.y == 1].isna().mean() == pytest.approx(given_share, abs=0.12)


def test_a_large_sparse_matrix_stays_sparse():
    """11,960 columns and 1,500 rows: a dense copy would take 144 MB, V takes a few."""
    X = sparse.random(1500, 11960, density=0.005, format="csr", random_state=0)
    y = np.tile([0, 1], 750)
    V = LabelInvariantMixup().fit(X, y).sample(1500, 0)
    assert sparse.issparse(V.X)
    assert V.X.nnz <= 2.2 * X.nnz


def test_sparse_rows_are_mixed_like_dense_ones():
    """The same rows with the same weights."""
    X = np.random.default_rng(0).poisson(0.5, size=(30, 8)).astype(float)
    y = np.tile([0, 1], 15)
    dense = LabelInvariantMixup().fit(X, y).sample(40, 3)
    thin = LabelInvariantMixup().fit(sparse.csr_matrix(X), y).sample(40, 3)
    np.testing.assert_allclose(thin.X.toarray(), dense.X)


def test_copula_margins_are_those_of_the_class():
    """A skewed column keeps its quantiles, and columns keep their rank correlation."""
    rng = np.random.default_rng(0)
    z = rng.multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], size=2000)
    X = np.column_stack([np.exp(z[:, 0]), z[:, 1] ** 3])
    V = CopulaAugmenter().fit(X, np.tile([0, 1], 1000)).sample(4000, 0)
    for q in (0.1, 0.5, 0.9):
        assert np.quantile(V.X[:, 0], q) == pytest.approx(np.quantile(X[:, 0], q), rel=0.15)
    ranks = np.corrcoef(np.argsort(np.argsort(V.X, axis=0), axis=0).T)[0, 1]
    assert ranks == pytest.approx(0.79, abs=0.05)


@pytest.mark.parametrize("augmenter", [LabelInvariantMixup(), NeighborMixup()], ids=repr)
def test_rows_of_different_groups_are_never_mixed(augmenter, rng):
    """Both origins are of one group."""
    X, y, groups = rng.normal(size=(60, 2)), np.tile([0, 1], 30), np.repeat([0, 1, 2], 20)
    V = augmenter.fit(X, y, groups=groups).sample(200, 0)
    assert np.array_equal(groups[V.origins[:, 0]], groups[V.origins[:, 1]])


def test_neighbour_labels_stay_inside_their_group(rng):
    """Place, partner and giver are of one group; a lone row is its own neighbour."""
    X, y = rng.normal(size=(41, 2)), np.append(np.tile([0, 1], 20), 0)
    groups = np.append(np.repeat([0, 1], 20), 2)
    V = NeighborLabelAugmenter().fit(X, y, groups=groups).sample(200, 0)
    assert np.all(groups[V.origins] == groups[V.origins[:, :1]])


def test_rows_serve_as_often_as_their_weight_says(rng):
    """Weight 0 never, weight 3 three times as often as weight 1."""
    X, y = rng.normal(size=(40, 2)), np.tile([0, 1], 20)
    weights = np.repeat([0.0, 1.0, 3.0, 0.0], 10)
    V = LabelInvariantMixup().fit(X, y, sample_weight=weights).sample(8000, 0)
    shares = np.bincount(V.origins.ravel() // 10, minlength=4) / V.origins.size
    np.testing.assert_allclose(shares, [0, 0.25, 0.75, 0], atol=0.02)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0] * 3, "must be 40 finite numbers of at least 0"),
        ([-1.0] * 40, "must be 40 finite numbers of at least 0"),
        ([0.0] * 40, "at least one non-zero number"),
    ],
)
def test_wrong_weights_are_refused(weights, message, rng):
    """The message says how many are needed."""
    with pytest.raises(ValueError, match=message):
        LabelInvariantMixup().fit(
            rng.normal(size=(40, 2)), np.tile([0, 1], 20), sample_weight=weights
        )


@pytest.mark.parametrize("kind", [int, float])
@pytest.mark.parametrize(
    "augmenter", [CopulaAugmenter(), GaussianAugmenter(), GaussianMixtureAugmenter()], ids=repr
)
def test_whole_numbers_stay_whole_and_codes_stay_codes(augmenter, kind, rng):
    """Whether counts and codes are stored as ints or floats, V holds no others."""
    counts, codes = rng.poisson(30, 200), rng.choice([0, 1, 4, 9], 200)
    X = np.column_stack([counts, codes]).astype(kind)
    V = augmenter.fit(X, np.tile([0, 1], 100)).sample(500, 0)
    drawn = V.X.astype(float)
    assert V.X.dtype == X.dtype
    assert np.array_equal(drawn, np.rint(drawn))
    assert set(drawn[:, 1]) <= {0, 1, 4, 9}


def test_the_mean_of_codes_is_kept(rng):
    """Codes are rounded to their given neighbors, the nearer the more often."""
    codec = TableCodec.of(np.array([[0.0], [4.0], [np.nan]] * 5), whole_floats=True)
    drawn = codec.decode(np.array([[1.0]] * 10_000 + [[np.nan]]), rng)
    assert set(drawn[:-1, 0]) == {0.0, 4.0}
    assert np.isnan(drawn[-1, 0])
    assert drawn[:-1].mean() == pytest.approx(1.0, abs=0.1)


def test_what_is_mixed_of_floats_lies_between_them(rng):
    """The paper's mix-up of whole floats is as the paper has it."""
    V = LabelInvariantMixup().fit(np.arange(40.0)[:, None], np.tile([0, 1], 20)).sample(50, 0)
    assert not np.array_equal(V.X, np.rint(V.X))
