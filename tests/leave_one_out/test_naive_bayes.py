"""Leave-one-out of naive Bayes equals refits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB

from leavezero.leave_one_out import find_leave_one_out

FEW = settings(max_examples=3)  # one refit per row and example
SEEDS = st.integers(0, 10_000)
GAUSSIAN = [GaussianNB(), GaussianNB(var_smoothing=0.3), GaussianNB(priors=[0.2, 0.3, 0.5])]


@pytest.mark.parametrize("estimator", GAUSSIAN)
@FEW
@given(seed=SEEDS, n_columns=st.integers(1, 3), offset=st.sampled_from([0.0, 1e4]))
def test_gaussian_equals_refits(check_exact, class_data, estimator, seed, n_columns, offset):
    rows, exists = check_exact(estimator, *class_data(seed, 14, n_columns, offset=offset))
    assert np.array_equal(rows, exists)


@pytest.mark.parametrize("estimator", [GaussianNB(), GaussianNB(priors=[0.2, 0.3, 0.5])])
@FEW
@given(seed=SEEDS)
def test_gaussian_with_weights(check_exact, class_data, random_weights, estimator, seed):
    check_exact(estimator, *class_data(seed, 18), random_weights(seed, 18))


@pytest.mark.parametrize("estimator", GAUSSIAN[:2])
@pytest.mark.parametrize("seed", range(2))
def test_class_that_vanishes_with_its_only_row(check_exact, class_data, estimator, seed):
    X, y = class_data(seed, 16, 2, 3)
    y[5] = "west"
    rows, exists = check_exact(estimator, X, y)
    assert rows[5]
    assert np.array_equal(rows, exists)


def test_no_prediction_if_one_class_remains_or_priors_have_another_length(class_data):
    X, y = class_data(0, 14, 2, 1)
    y[3] = "west"
    for model in (GaussianNB(), GaussianNB(priors=[0.5, 0.5])):
        loo = find_leave_one_out(model).predict(model.fit(X, y), X, y)
        assert np.flatnonzero(~loo.has_prediction).tolist() == [3]
    X, y = class_data(0, 16, 2, 3)
    y[5] = "west"
    model = GaussianNB(priors=[0.25] * 4).fit(X, y)
    has_prediction = find_leave_one_out(model).predict(model, X, y).has_prediction
    assert np.flatnonzero(~has_prediction).tolist() == [5]


def test_row_with_nearly_all_variance(check_exact, class_data):
    """Sums of squares are computed again where downdating would cancel."""
    X, y = class_data(5, 16, 2, 2)
    X[3, 1] = 1e7
    X[:, 0] = np.eye(16)[8]  # constant without row 8
    check_exact(GaussianNB(), X, y)


@pytest.mark.parametrize(
    "estimator",
    [
        MultinomialNB(alpha=0.5),
        MultinomialNB(fit_prior=False, alpha=[0.1, 0.2, 0.3, 0.4, 2.0]),
        MultinomialNB(class_prior=[0.5, 0.2, 0.3]),
        BernoulliNB(),
        BernoulliNB(binarize=1.0, alpha=0.01, force_alpha=False),
        ComplementNB(),
        ComplementNB(norm=True, alpha=0.3),
    ],
)
@FEW
@given(
    seed=SEEDS, container=st.sampled_from([np.asarray, sparse.csr_array]), weighted=st.booleans()
)
def test_discrete_equals_refits(check_exact, random_weights, estimator, seed, container, weighted):
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(18) % 3)
    X = rng.poisson(0.3 + rng.random((3, 5))[codes] * 2)
    weights = random_weights(seed, 18) + 0.1 if weighted else None
    check_exact(estimator, container(X), np.array(["x", "y", "z"])[codes], weights)


def test_bernoulli_of_values_between_zero_and_one(check_exact, class_data):
    """Without binarization the formula of the model holds for shares, too."""
    X, y = class_data(1, 16, 4)
    check_exact(BernoulliNB(binarize=None), 1 / (1 + np.exp(-X)), y)


@pytest.mark.parametrize(
    "estimator", [GaussianNB(), MultinomialNB(), BernoulliNB(binarize=0.5), ComplementNB()]
)
def test_rejects_other_rows(check_rejects_other_rows, estimator):
    check_rejects_other_rows(estimator, takes_weights=True)


def test_no_smoothing_is_unsupported():
    X, y = np.ones((4, 2)), [0, 0, 1, 1]
    model = MultinomialNB(alpha=0.0).fit(X, y)
    method = find_leave_one_out(model)
    assert method.unsupported_reason(model).startswith("with alpha=0 a feature that only one row")
    with pytest.raises(ValueError, match="of MultinomialNB are not available: with alpha=0"):
        method.predict(model, X, y)
