"""Containers for X and y: lists, frames, sparse matrices, text, images, kernels."""

import os
import subprocess
import sys

import lightgbm
import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import BaggingRegressor, HistGradientBoostingClassifier
from sklearn.exceptions import DataConversionWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import f1_score, make_scorer
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags

from leavezero import FixedValidationSet, GridSearchLZO
from leavezero.exceptions import AllCandidatesFailedError

FEW = {"n_replicates": 3, "random_state": 0}


class Recording(ClassifierMixin, BaseEstimator):
    """A classifier that keeps what it was fitted to and checks the type of X."""

    def __init__(self, level=0, X_type=object):
        self.level = level
        self.X_type = X_type

    def fit(self, X, y):
        assert isinstance(X, self.X_type)
        self.X_, self.y_, self.classes_ = X, y, np.unique(y)
        return self

    def predict(self, X):
        assert isinstance(X, self.X_type)
        assert np.shape(X)[1:] == np.shape(self.X_)[1:]
        return np.full(len(X), self.classes_[0])


def test_numbers_in_an_object_array(grid_search):
    """Generated rows are objects too: an encoder that was fitted to objects requires them."""
    X = (np.arange(90).reshape(45, 2) % 3).astype(object)
    model = make_pipeline(OneHotEncoder(), LogisticRegression())
    search = grid_search(model, {}, augmenter="auto").fit(X, np.arange(45) % 2)
    assert search.validation_set_.X.dtype == object
    assert search.predict(X).shape == (45,)


def test_lists(data, grid_search):
    """Candidates receive the lists X and y themselves."""
    X, y = data[0].tolist(), data[1].tolist()
    search = grid_search(Recording(), {"level": [1, 2]}, error_score="raise").fit(X, y)
    assert search.best_estimator_.X_ is X
    np.testing.assert_array_equal(search.best_estimator_.y_, data[1])
    assert search.score(X, y) == search.score(*data)
    outputs = np.c_[data[1], 1 - data[1]]
    tree, grid = DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}
    scores = [grid_search(tree, grid).fit(X, y).best_score_ for y in (outputs, outputs.tolist())]
    assert scores[0] == scores[1]


def test_pandas_frames(data, grid_search):
    """Candidates are fitted to frames and scored on frames; y may be a series."""
    X, y = pd.DataFrame(data[0], columns=list("abcd")), pd.Series(data[1])
    model = Recording(X_type=pd.DataFrame)
    search = grid_search(model, {"level": [1, 2]}, error_score="raise").fit(X, y)
    assert list(search.validation_set_.X.columns) == list("abcd")
    assert search.score(X, y) == np.mean(y == 0)
    pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"), SVC())
    named = grid_search(pipeline, {"svc__C": [0.1, 1]}).fit(X, y)
    assert list(named.feature_names_in_) == list("abcd")


def test_polars_frames(data, grid_search):
    pl = pytest.importorskip("polars", reason="not a dependency")
    X, y = pl.DataFrame(data[0], schema=list("abcd")), pl.Series(data[1])
    model = Recording(X_type=pl.DataFrame)
    search = grid_search(model, {"level": [1, 2]}, error_score="raise").fit(X, y)
    assert search.validation_set_.X.columns == list("abcd")


def test_frame_with_categories_and_missing_values():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": np.where(rng.random(120) < 0.2, np.nan, rng.normal(40, 10, 120)),
            "income": rng.lognormal(10, 1, 120),
            "town": pd.Categorical(rng.choice(["A", "B", "C"], 120)),
            "job": rng.choice(["x", "y"], 120),
        }
    )
    y = np.where(X["income"] > X["income"].median(), "p", "n")
    columns = make_column_transformer(
        (SimpleImputer(), make_column_selector(dtype_include="number")),
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
    )
    pipeline = make_pipeline(columns, StandardScaler(with_mean=False), LogisticRegression())
    grid = {
        "logisticregression__C": [0.01, 1],
        "columntransformer__simpleimputer__strategy": ["mean", "median"],
    }
    search = GridSearchLZO(pipeline, grid, **FEW).fit(X, y)
    assert list(search.validation_set_.X.columns) == list(X.columns)
    assert set(search.predict(X)) <= {"p", "n"}
    with_gaps = HistGradientBoostingClassifier(max_iter=5, categorical_features=[2])
    search = GridSearchLZO(with_gaps, {"max_depth": [2]}, **FEW).fit(
        X[["age", "income", "town"]], y
    )
    assert search.validation_set_.X["age"].isna().mean() == pytest.approx(0.2, abs=0.1)


@pytest.mark.parametrize(
    ("container", "scoring"),
    [
        (sparse.csr_matrix, None),
        (sparse.coo_matrix, "f1"),
        (sparse.csr_array, make_scorer(f1_score)),
    ],
)
def test_sparse_and_dense_data_have_the_same_results(data, grid_search, container, scoring):
    X, y = data
    model, grid = LinearSVC(random_state=0), {"C": [0.1, 1.0]}
    dense = grid_search(model, grid, scoring=scoring).fit(X, y)
    search = grid_search(model, grid, scoring=scoring).fit(container(X), y)
    assert search.best_params_ == dense.best_params_
    np.testing.assert_array_equal(search.predict(sparse.csr_matrix(X)), dense.predict(X))
    assert search.score(sparse.csr_matrix(X), y) == dense.score(X, y)


def test_text():
    rng = np.random.default_rng(0)
    words = {0: ["ball", "goal", "team", "win"], 1: ["vote", "law", "party", "tax"]}
    y = np.tile([0, 1], 30)
    texts = [" ".join(rng.choice(words[label], 6)) + " the and of" for label in y]
    pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression())
    grid = {"tfidfvectorizer__ngram_range": [(1, 1), (1, 2)], "logisticregression__C": [1, 10]}
    search = GridSearchLZO(pipeline, grid, **FEW).fit(texts, y)
    assert search.score(texts, y) == 1.0
    assert isinstance(search.validation_set_.X[0], str)


@pytest.mark.parametrize("container", [list, pd.Series])
def test_candidates_receive_y_in_its_container(container):
    class Typed(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            assert isinstance(y, container)
            return super().fit(X, y, sample_weight)

    X, y = np.random.default_rng(0).random((60, 3)), container(["a", "b", "b"] * 20)
    search = GridSearchLZO(Typed(), {"C": [1, 10]}, error_score="raise", cv_finalists=1, **FEW)
    assert search.fit(X, y).fit_counts_["cv"] == 5
    assert search.predict(X)[0] in ("a", "b")


def test_columns_of_y_are_flattened_for_estimators_of_scikit_learn():
    X, y = np.random.default_rng(0).random((20, 3)), np.arange(20.0)[:, None]
    with pytest.warns(DataConversionWarning):
        search = GridSearchLZO(Ridge(), {"alpha": [1, 2]}, error_score="raise", **FEW).fit(X, y)
    assert search.predict(X).shape == (20,)


def test_several_outputs_without_a_tag(rng):
    """BaggingRegressor accepts them, but has no tag for it."""
    X = rng.normal(size=(40, 3))
    Y = X @ rng.normal(size=(3, 2))
    bagging = BaggingRegressor(Ridge(), random_state=0)
    search = GridSearchLZO(bagging, {"n_estimators": [2, 5]}, **FEW).fit(X, Y)
    assert search.predict(X).shape == (40, 2)
    with pytest.raises(ValueError, match=r"y passed to GridSearchLZO .*y should be a 1d array"):
        GridSearchLZO(SVC(), {"C": [1, 2]}, **FEW).fit(X, (Y > 0).astype(int))


class ColumnRegressor(RegressorMixin, BaseEstimator):
    """A regressor that requires a y of shape (n, 1), as skorch's."""

    def __init__(self, alpha=1.0):
        self.alpha = alpha

    def fit(self, X, y):
        self.model_ = Ridge(self.alpha).fit(X, y[:, 0])
        return self

    def predict(self, X):
        return self.model_.predict(X)[:, None]


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (ColumnRegressor(), "alpha"),
        (make_pipeline(StandardScaler(), ColumnRegressor()), "columnregressor__alpha"),
    ],
)
def test_columns_of_y_are_passed_to_other_estimators(model, name):
    rng = np.random.default_rng(0)
    X = rng.random((60, 3))
    y = X.sum(axis=1, keepdims=True) + 0.1 * rng.random((60, 1))
    search = GridSearchLZO(model, {name: [0.1, 100]}, error_score="raise", **FEW).fit(X, y)
    assert search.best_params_ == {name: 0.1}
    assert search.best_score_ > 0.9


def test_arrays_with_more_than_two_dimensions():
    X, y = np.random.default_rng(0).random((20, 5, 3, 2)), np.arange(20) % 2
    search = GridSearchLZO(Recording(), {"level": [1, 2]}, error_score="raise", **FEW).fit(X, y)
    assert search.best_estimator_.X_.shape == (20, 5, 3, 2)
    with pytest.raises(ValueError, match="more than two dimensions"):
        GridSearchLZO(Recording(), {}, loo="only").fit(X[:, 0, 0], np.zeros((20, 7, 11)))


def test_lightgbm(data):
    model = lightgbm.LGBMClassifier(n_estimators=5, min_child_samples=5, verbosity=-1)
    X = pd.DataFrame(data[0], columns=list("abcd"))
    search = GridSearchLZO(model, {"num_leaves": [2, 15]}, **FEW).fit(X, data[1])
    assert search.score(X, data[1]) > 0.7


@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame, sparse.csr_matrix])
def test_transformers_that_return_frames(data, grid_search, container):
    """The global setting concerns the transformers of users only."""
    X, y, grid = container(data[0]), data[1], {"C": [0.1, 1.0]}
    expected = grid_search(LogisticRegression(), grid, augmenter="auto").fit(X, y)
    with sklearn.config_context(transform_output="pandas"):
        search = grid_search(LogisticRegression(), grid, augmenter="auto").fit(X, y)
        search.diagnose()
        search.to_html()
    scores = [one.cv_results_["mean_test_score"] for one in (search, expected)]
    np.testing.assert_array_equal(*scores)


@pytest.mark.skipif(
    tuple(int(part) for part in sklearn.__version__.split(".")[:2]) < (1, 7),
    reason="scikit-learn 1.6 requires array-api-compat for array_api_dispatch",
)
def test_numpy_with_array_api_dispatch():
    """SciPy requires a new process."""
    code = """
import numpy, sklearn
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from leavezero import GridSearchLZO
X, y = numpy.random.default_rng(0).normal(size=(40, 2)), numpy.arange(40) % 2
with sklearn.config_context(array_api_dispatch=True):
    search = GridSearchLZO(LinearDiscriminantAnalysis(), {"tol": [0.01, 0.001]}, n_replicates=2)
    search.fit(X, y).score(X, y)
"""
    environment = os.environ | {"SCIPY_ARRAY_API": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


# Precomputed kernels and distances


def test_precomputed_kernel_requires_a_fixed_validation_set(data, grid_search):
    search = grid_search(SVC(kernel="precomputed"), {"C": [0.1, 1.0]})
    with pytest.raises(ValueError, match=r"similarities.*FixedValidationSet\(X_val, y_val\)"):
        search.fit(data[0] @ data[0].T, data[1])
    rows = FixedValidationSet(np.zeros((4, 20)), [0, 1, 0, 1])
    with pytest.raises(AllCandidatesFailedError, match="square"):
        search.set_params(augmenter=rows).fit(np.zeros((10, 20)), np.arange(10) % 2)


@pytest.mark.parametrize(
    ("model", "precomputed", "grid", "compare"),
    [
        (SVC(kernel="linear"), SVC(kernel="precomputed"), {"C": [0.1, 1.0]}, np.inner),
        (
            KNeighborsClassifier(),
            KNeighborsClassifier(metric="precomputed"),
            {"n_neighbors": [3, 10]},
            euclidean_distances,
        ),
    ],
    ids=["kernel", "distances"],
)
def test_precomputed_matrix_has_the_results_of_features(
    data, grid_search, model, precomputed, grid, compare
):
    (X, y), (X_val, y_val) = (data[0][:30], data[1][:30]), (data[0][30:], data[1][30:])
    features = grid_search(model, grid, augmenter=FixedValidationSet(X_val, y_val)).fit(X, y)
    rows = FixedValidationSet(compare(X_val, X), y_val)
    search = grid_search(precomputed, grid, augmenter=rows).fit(compare(X, X), y)
    assert search.best_params_ == features.best_params_
    assert search.best_score_ == features.best_score_
    np.testing.assert_array_equal(search.predict(compare(X_val, X)), features.predict(X_val))


@pytest.mark.parametrize("kernel", ["precomputed", "rbf"])
def test_pairwise_tag(make_search, kernel):
    tags = get_tags(make_search(SVC(kernel=kernel), {"C": [1]}))
    assert tags.input_tags.pairwise is (kernel == "precomputed")
