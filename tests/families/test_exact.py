"""Exact families equal a fit without the row, for all that their estimators can be asked."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.metrics import pairwise_distances
from sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    NearestCentroid,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
)

from leavezero.families._centroid import NearestCentroidFamily
from leavezero.families._count_bayes import CountBayesFamily
from leavezero.families._discriminant import LinearDiscriminantFamily
from leavezero.families._kernel import GaussianProcessFamily, KernelRidgeFamily
from leavezero.families._linear import LinearFamily, RidgeClassifierFamily
from leavezero.families._naive_bayes import GaussianNBFamily
from leavezero.families._neighbors import NeighborsFamily
from leavezero.families._quadratic import QuadraticDiscriminantFamily
from leavezero.testing._families import leave_one_out

FAMILIES = (
    NeighborsFamily(),
    NearestCentroidFamily(),
    LinearFamily(),
    RidgeClassifierFamily(),
    KernelRidgeFamily(),
    GaussianProcessFamily(),
    LinearDiscriminantFamily(),
    QuadraticDiscriminantFamily(),
    GaussianNBFamily(),
    CountBayesFamily(),
)
FEW = settings(max_examples=3)  # a fit for each row of each; there are many tests
SEEDS = st.integers(0, 10_000)


def family_for(estimator):
    return next(family for family in FAMILIES if family.covers(estimator))


def check_exact(estimator, X, y, weights=None, tolerance=1e-8):
    """Compare with brute force; return which rows have a response, and which a fit without."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of classes with one row
        given = {} if weights is None else {"sample_weight": weights}
        model = estimator.fit(X, y, **given)
    unseen = family_for(model).unseen(model, X, y, weights)
    assert unseen.kind == "exact"
    assert unseen.doubt is None
    assert set(unseen.responses) == {
        method
        for method in ("predict", "predict_proba", "decision_function")
        if hasattr(model, method)
    }
    right, there = leave_one_out(estimator, X, y, weights, list(unseen.responses))
    known = np.ones(len(there), bool) if unseen.known is None else unseen.known
    assert not (known & ~there).any()
    for method, said in unseen.responses.items():
        expected = right[method]
        if expected.dtype.kind != "f":
            assert said.dtype == model.predict(X).dtype
            differ = known & (said != expected).reshape(len(known), -1).any(axis=1)
            assert not differ.any() or tied(right, differ)
            continue
        if method == "decision_function" and (expected == np.finfo(float).min).any():
            continue  # two of three classes are left: another shape, compared by the labels
        np.testing.assert_allclose(said[known], expected[known], rtol=tolerance, atol=tolerance)
    return known, there


def tied(right, rows):
    """Tell whether two classes share the highest score in each of some rows."""
    scores = np.sort(right["predict_proba"][rows], axis=1)
    return (scores[:, -1] - scores[:, -2] < 1e-8).all()


def classes(seed, n_rows=16, n_columns=3, n_classes=3, offset=0.0):
    """Rows of overlapping classes with names, each of at least four rows."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.concatenate([np.arange(n_rows) % n_classes]))
    X = rng.normal(size=(n_rows, n_columns)) + 0.8 * codes[:, None] * rng.normal(size=n_columns)
    return X + offset, np.array(["north", "east", "south", "west"])[codes]


def numbers(seed, n_rows=15, n_columns=3, n_targets=0, offset=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    shape = (n_columns, n_targets) if n_targets else n_columns
    y = X @ rng.normal(size=shape) + rng.normal(size=(n_rows, n_targets) if n_targets else n_rows)
    return X + offset, y + 3.0


def some_weights(seed, n_rows):
    return np.random.default_rng(seed + 1).integers(0, 4, size=n_rows) * 0.7


CLASSIFIERS = {
    "nearest neighbours": KNeighborsClassifier(3),
    "weighted neighbours": KNeighborsClassifier(4, weights="distance", algorithm="ball_tree"),
    "taxicab neighbours": KNeighborsClassifier(2, p=1),
    "own weights": KNeighborsClassifier(4, weights=lambda distances: np.exp(-distances)),
    "radius": RadiusNeighborsClassifier(1.5, algorithm="kd_tree"),
    "outlier": RadiusNeighborsClassifier(0.7, outlier_label="most_frequent", algorithm="kd_tree"),
    "labelled outlier": RadiusNeighborsClassifier(
        0.7, outlier_label="north", weights="distance", algorithm="kd_tree"
    ),
    "centroid": NearestCentroid(),
    "median": NearestCentroid(metric="manhattan"),
    "shrunk centroid": NearestCentroid(shrink_threshold=0.4, priors="empirical"),
    "shrunk median": NearestCentroid(metric="manhattan", shrink_threshold=0.2),
    "ridge": RidgeClassifier(0.5),
    "ridge without intercept": RidgeClassifier(2.0, fit_intercept=False, solver="svd"),
    "balanced ridge": RidgeClassifier(class_weight="balanced"),
    "lda": LinearDiscriminantAnalysis(),
    "lda lsqr": LinearDiscriminantAnalysis(solver="lsqr"),
    "lda eigen": LinearDiscriminantAnalysis(solver="eigen"),
    "lda lsqr shrunk": LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.3),
    "lda eigen shrunk": LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.7),
    "qda": QuadraticDiscriminantAnalysis(),
    "qda regularised": QuadraticDiscriminantAnalysis(reg_param=0.2),
    "gaussian": GaussianNB(),
    "smooth gaussian": GaussianNB(var_smoothing=0.3),
}
REGRESSORS = {
    "nearest neighbours": KNeighborsRegressor(3),
    "weighted neighbours": KNeighborsRegressor(4, weights="distance"),
    "radius": RadiusNeighborsRegressor(1.5, weights="distance"),
    "least squares": LinearRegression(),
    "least squares without intercept": LinearRegression(fit_intercept=False),
    "ridge": Ridge(0.3),
    "svd ridge": Ridge(3.0, solver="svd", fit_intercept=False),
    "kernel ridge": KernelRidge(0.2, kernel="rbf", gamma=0.3),
    "polynomial kernel": KernelRidge(1.0, kernel="poly", degree=2),
    "process": GaussianProcessRegressor(RBF(1.3) + WhiteKernel(0.2), optimizer=None),
    "normal process": GaussianProcessRegressor(
        RBF(1.3), alpha=0.1, normalize_y=True, optimizer=None
    ),
}


@pytest.mark.parametrize("name", CLASSIFIERS)
@FEW
@given(seed=SEEDS, n_classes=st.integers(2, 3), n_columns=st.integers(1, 3))
def test_classifiers_equal_brute_force(name, seed, n_classes, n_columns):
    """Labels, probabilities and decisions are those of fits without the row."""
    X, y = classes(seed, 14, n_columns, n_classes)
    known, there = check_exact(CLASSIFIERS[name], X, y)
    assert np.array_equal(known, there)


@pytest.mark.parametrize("name", REGRESSORS)
@FEW
@given(seed=SEEDS, n_targets=st.integers(0, 2), n_columns=st.integers(1, 4))
def test_regressors_equal_brute_force(name, seed, n_targets, n_columns):
    """Predictions are those of fits without the row, for one and several targets."""
    X, y = numbers(seed, 12, n_columns, n_targets)
    known, there = check_exact(REGRESSORS[name], X, y)
    assert np.array_equal(known, there)


FAR = [*CLASSIFIERS, *("regressor " + name for name in REGRESSORS)]
FAR.remove("regressor polynomial kernel")  # the models themselves are singular there
FAR.remove("regressor least squares without intercept")


@pytest.mark.parametrize("name", FAR)
def test_features_far_from_zero(name):
    """An offset of 10,000 leaves the digits that the model itself has."""
    # These multiply features that are not centred: brute force has no more digits.
    rough = name in ("lda lsqr", "lda eigen", "lda lsqr shrunk", "lda eigen shrunk")
    rough |= name in (
        "regressor kernel ridge",
        "centroid",
        "shrunk centroid",
        "ridge without intercept",
        "regressor svd ridge",
    )
    tolerance = 2e-5 if rough else 1e-8
    for seed in range(2):
        if name.startswith("regressor "):
            X, y = numbers(seed, offset=1e4)
            check_exact(REGRESSORS[name.removeprefix("regressor ")], X, y, tolerance=tolerance)
        else:
            X, y = classes(seed, offset=1e4)
            check_exact(CLASSIFIERS[name], X, y, tolerance=tolerance)


@pytest.mark.parametrize(
    "estimator",
    [
        RidgeClassifier(0.5),
        RidgeClassifier(0.5, class_weight={"north": 3.0}),
        GaussianNB(),
        GaussianNB(priors=[0.2, 0.3, 0.5]),
    ],
)
@FEW
@given(seed=SEEDS)
def test_weighted_classifiers_equal_brute_force(estimator, seed):
    """Weights, zero among them, are those that the model was fitted with."""
    X, y = classes(seed, 18)
    check_exact(estimator, X, y, some_weights(seed, 18))


@pytest.mark.parametrize(
    "estimator",
    [LinearRegression(), Ridge(0.5), Ridge(np.array([0.1, 4.0])), KernelRidge(0.3, kernel="rbf")],
)
@FEW
@given(seed=SEEDS)
def test_weighted_regressors_equal_brute_force(estimator, seed):
    """Weights, zero among them, and a penalty for each target."""
    X, y = numbers(seed, 15, 3, 2)
    check_exact(estimator, X, y, some_weights(seed, 15))


def test_balanced_weights_and_weights_of_rows():
    """Balanced class weights count rows, whatever the rows weigh."""
    X, y = classes(3, 18)
    weights = some_weights(3, 18) + 0.5
    known, _ = check_exact(RidgeClassifier(class_weight="balanced"), X, y, weights)
    assert known.all()


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
@given(seed=SEEDS, kind=st.sampled_from(["dense", "sparse"]), weighted=st.booleans())
def test_counts_equal_brute_force(estimator, seed, kind, weighted):
    """Counts, dense and sparse, with weights."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(18) % 3)
    X = rng.poisson(0.3 + rng.random((3, 5))[codes] * 2)
    weights = some_weights(seed, 18) + 0.1 if weighted else None
    y = np.array(["x", "y", "z"])[codes]
    check_exact(estimator, sparse.csr_array(X) if kind == "sparse" else X, y, weights)


def test_values_between_zero_and_one_for_bernoulli():
    """Without a threshold the cells may be shares; the formula is the model's."""
    X, y = classes(1, 16, 4)
    X = 1 / (1 + np.exp(-X))
    check_exact(BernoulliNB(binarize=None), X, y)


@FEW
@given(seed=SEEDS, n_columns=st.sampled_from([3, 11, 12, 20]), intercept=st.booleans())
def test_least_squares_with_dependent_columns(seed, n_columns, intercept):
    """The solution of least norm, with repeated columns or more columns than rows."""
    X, y = numbers(seed, 11, n_columns)
    if n_columns == 3:
        X = np.column_stack([X, X[:, 0] + X[:, 1]])
    check_exact(LinearRegression(fit_intercept=intercept), X, y, tolerance=1e-7)


def test_a_row_that_alone_has_a_feature():
    """A row of leverage one is predicted by the fit of least norm without it."""
    X = np.column_stack([np.arange(8.0), np.eye(8)[2]])
    y = np.arange(8.0) % 3
    known, _ = check_exact(LinearRegression(), X, y)
    assert known.all()


@pytest.mark.parametrize("alpha", [1e-9, 1e-3])
def test_ridge_with_more_columns_than_rows(alpha):
    """A tiny penalty is not lost in rounding where every row has leverage near one."""
    X, y = numbers(0, 10, 15)
    known, _ = check_exact(Ridge(alpha, solver="svd"), X, y)
    assert known.all()


@FEW
@given(seed=SEEDS)
def test_priors_given_to_discriminants(seed):
    """Given priors stay as they are, and weigh the covariances of lsqr and eigen."""
    X, y = classes(seed, 18)
    for solver in ("svd", "lsqr", "eigen"):
        check_exact(LinearDiscriminantAnalysis(solver=solver, priors=[0.5, 0.3, 0.2]), X, y)
    check_exact(QuadraticDiscriminantAnalysis(priors=[0.5, 0.3, 0.2]), X, y)
    check_exact(NearestCentroid(priors=[0.5, 0.3, 0.2]), X, y)


LONE = ["nearest neighbours", "centroid", "median", "shrunk centroid", "ridge"]
LONE += ["ridge without intercept", "balanced ridge", "lda", "lda lsqr", "lda eigen shrunk"]
LONE += ["gaussian", "smooth gaussian"]


@pytest.mark.parametrize("name", LONE)
@pytest.mark.parametrize("seed", range(2))
def test_a_class_that_leaves_with_its_only_row(name, seed):
    """Of four classes three are left; the lost one has no probability."""
    X, y = classes(seed, 16, 2, 3)
    y[5] = "west"
    known, there = check_exact(CLASSIFIERS[name], X, y)
    assert known[5]
    assert np.array_equal(known, there)


@pytest.mark.parametrize("name", ["ridge", "lda", "gaussian", "centroid"])
def test_one_class_alone_is_no_choice(name):
    """With two classes, the only row of one has no response."""
    X, y = classes(0, 14, 2, 1)
    y[3] = "west"
    model = CLASSIFIERS[name].fit(X, y)
    known = family_for(model).unseen(model, X, y).known
    assert np.flatnonzero(~known).tolist() == [3]


def test_priors_for_a_class_that_leaves():
    """Priors given for all classes fit no data without one of them."""
    X, y = classes(0, 16, 2, 3)
    y[5] = "west"
    for model in (
        GaussianNB(priors=[0.25] * 4),
        LinearDiscriminantAnalysis(priors=[0.25] * 4),
        NearestCentroid(priors=[0.1, 0.2, 0.3, 0.4]),
    ):
        unseen = family_for(model).unseen(model.fit(X, y), X, y)
        assert np.flatnonzero(~unseen.known).tolist() == [5]


@pytest.mark.parametrize(("n_columns", "size"), [(1, 2), (3, 3), (4, 4)])
def test_classes_too_small_for_their_covariance(n_columns, size):
    """Rows without which QDA has too few rows of their class have no response."""
    X, y = classes(4, 30, n_columns, 2)
    rows = np.concatenate([np.flatnonzero(y == "east")[:size], np.flatnonzero(y == "north")])
    model = QuadraticDiscriminantAnalysis(reg_param=0.1).fit(X[rows], y[rows])
    unseen = family_for(model).unseen(model, X[rows], y[rows])
    assert np.flatnonzero(~unseen.known).tolist() == list(range(size))


def test_lda_with_classes_of_two():
    """A class of one row is left, and linear discriminants take it."""
    X, y = classes(2, 14, 2, 2)
    y[:2] = "west"
    known, _ = check_exact(LinearDiscriminantAnalysis(), X, y)
    assert known.all()


def test_a_row_that_holds_all_variance():
    """What is left of a sum of squares is added up again where downdating would cancel."""
    X, y = classes(5, 16, 2, 2)
    X[3, 1] = 1e7
    X[:, 0] = np.eye(16)[8]  # constant without row 8
    check_exact(GaussianNB(), X, y)


@pytest.mark.parametrize("metric", ["precomputed", "euclidean"])
def test_given_distances_and_kernels(metric):
    """Matrices of all pairs stand for the rows."""
    X, y = classes(0, 16)
    target = np.arange(16.0) % 5
    pairs = pairwise_distances(X)
    table = pairs if metric == "precomputed" else X
    check_exact(KNeighborsClassifier(3, metric=metric), table, y)
    check_exact(RadiusNeighborsRegressor(1.5, metric=metric), table, target)
    if metric == "precomputed":
        check_exact(KernelRidge(0.4, kernel="precomputed"), np.exp(-pairs), target)
    check_exact(KernelRidge(0.4, kernel=lambda a, b: np.exp(-np.abs(a - b).sum())), X, target)


def test_sparse_tables():
    """Neighbours, centroids and kernel ridge take sparse rows; their answers stay exact."""
    X, y = classes(0, 16, 5)
    X = sparse.csr_array(np.where(np.abs(X) < 0.5, 0, X))
    check_exact(KNeighborsClassifier(3), X, y)
    check_exact(NearestCentroid(), X, y)
    check_exact(KernelRidge(0.4, kernel="rbf"), X, np.arange(16.0) % 5)


def test_frames_and_series():
    """Frames in, the same answers; names of columns raise no warning."""
    X, y = classes(0, 16)
    frame, series = pd.DataFrame(X, columns=list("abc")), pd.Series(y, index=np.arange(16)[::-1])
    models = [CLASSIFIERS[name] for name in ("nearest neighbours", "ridge", "lda", "gaussian")]
    for model in [*models, NearestCentroid(), QuadraticDiscriminantAnalysis(reg_param=0.1)]:
        check_exact(model, frame, series)
    for model in (Ridge(), LinearRegression(), KernelRidge(0.1), KNeighborsRegressor(2)):
        check_exact(model, frame, pd.Series(np.arange(16.0) % 5))
    process = GaussianProcessRegressor(RBF(), alpha=0.1, optimizer=None)
    check_exact(process, frame, pd.Series(np.arange(16.0) % 5))


def test_several_labels():
    """The ridge classifier and neighbours of several labels."""
    X, _ = classes(0, 16)
    labels = (X[:, :2] + np.random.default_rng(0).normal(size=(16, 2)) > 0).astype(int)
    check_exact(RidgeClassifier(), X, labels)
    model = KNeighborsClassifier(3).fit(X, labels)
    unseen = NeighborsFamily().unseen(model, X, labels)
    right, _ = leave_one_out(model, X, labels, None, ["predict"])
    assert np.array_equal(unseen.responses["predict"], right["predict"])


@example(seed=0)
@FEW
@given(seed=SEEDS)
def test_duplicates_of_neighbours(seed):
    """A row with a copy has the copy as its neighbour, never itself."""
    X, y = classes(seed, 8, 2, 2)
    X, y = np.concatenate([X, X]), np.concatenate([y, y[::-1]])
    model = KNeighborsClassifier(1).fit(X, y)
    said = NeighborsFamily().unseen(model, X, y).responses["predict"]
    assert said.tolist() == np.roll(y, 8).tolist()
    check_exact(KNeighborsRegressor(3, weights="distance"), X, (y == "east").astype(float))


def test_a_learned_kernel_is_approximate():
    """Kernel parameters would be other without the row."""
    X, y = numbers(0, 12, 1)
    model = GaussianProcessRegressor(RBF() + WhiteKernel()).fit(X, y)
    assert GaussianProcessFamily().unseen(model, X, y).kind == "approximate"
    fixed = GaussianProcessRegressor(RBF(1.0, "fixed"), alpha=0.1)
    check_exact(fixed, X, y)


@pytest.mark.parametrize("solver", ["sag", "lsqr", "sparse_cg"])
def test_solvers_that_stop_early_are_approximate(solver):
    """The formula is of the minimum, which the model has not quite reached."""
    X, y = numbers(0, 20, 2)
    unseen = LinearFamily().unseen(Ridge(solver=solver, tol=1e-3).fit(X, y), X, y)
    assert unseen.kind == "approximate"
    assert unseen.doubt is None
    sparse_X = sparse.csr_array(X)
    unseen = LinearFamily().unseen(LinearRegression().fit(sparse_X, y), sparse_X, y)
    assert unseen.kind == "approximate"
    right, _ = leave_one_out(LinearRegression(), X, y, None, ["predict"])
    np.testing.assert_allclose(unseen.responses["predict"], right["predict"], rtol=1e-6)
