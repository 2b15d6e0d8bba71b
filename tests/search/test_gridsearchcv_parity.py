"""Behavior that users of GridSearchCV rely on: grids, refit, the table, methods, failures."""

import pickle
import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import expon
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_blobs, make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, SGDClassifier
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold
from sklearn.naive_bayes import ComplementNB
from sklearn.neighbors import KernelDensity, LocalOutlierFactor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import get_tags

from leavezero import GridSearchLZO, RandomizedSearchLZO
from leavezero.exceptions import AllCandidatesFailedError, CandidateFailedWarning


class Level(ClassifierMixin, BaseEstimator):
    """A classifier that scores 1 from level 2 on and cannot be fitted on level 9."""

    def __init__(self, level=0):
        self.level = level

    def fit(self, X, y):
        if isinstance(self.level, int) and self.level == 9:
            raise ValueError("level 9 fails")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])

    def transform(self, X):
        return X + self.level

    def inverse_transform(self, X):
        return X - self.level

    def score(self, X, y):
        return float(self.level > 1)


def splits(search, row, name="score"):
    return [search.cv_results_[f"split{r}_test_{name}"][row] for r in range(search.n_splits_)]


# Grids and distributions


@pytest.mark.parametrize("cls", [GridSearchLZO, RandomizedSearchLZO])
@pytest.mark.parametrize(
    ("grid", "message"),
    [
        (0, r"a dict or a list, got: 0 of type int"),
        ([{"level": [0]}, 0], r"is not a dict \(0\)"),
        ({"level": 0}, r"Parameter (grid|distribution) for parameter 'level'"),
    ],
)
def test_invalid_grid_raises_the_error_of_scikit_learn(data, cls, grid, message):
    with pytest.raises(TypeError, match=message):
        cls(Level(), grid).fit(*data)


@pytest.mark.parametrize(
    ("grid", "error", "message"),
    [
        ({"C": 1}, TypeError, r"needs to be a list or a numpy array, but got 1 \(of type int\)"),
        ({"C": "1,2"}, TypeError, r"but got '1,2' \(of type str\) instead"),
        ({"C": []}, ValueError, r"need to be a non-empty sequence, got: \[\]"),
        ({"C": np.ones((3, 2))}, ValueError, "one-dimensional"),
        ([], ValueError, "param_grid of GridSearchLZO must be a grid of at least one"),
        ({"c": [1]}, ValueError, r"cannot set {'c': 1}.*Valid parameters.*'C'"),
    ],
)
def test_invalid_values_in_a_grid_raise(data, grid_search, grid, error, message):
    with pytest.raises(error, match=message):
        grid_search(SVC(), grid).fit(*data)


def test_candidates_are_all_combinations_of_all_grids(data, grid_search):
    """An empty grid is the estimator as it is."""
    grid = [{"C": [1, 10], "gamma": [0.1, 1.0]}, {}, {"C": [0.5]}]
    assert grid_search(SVC(), grid).fit(*data).cv_results_["params"] == [
        {"C": 1, "gamma": 0.1},
        {"C": 1, "gamma": 1.0},
        {"C": 10, "gamma": 0.1},
        {"C": 10, "gamma": 1.0},
        {},
        {"C": 0.5},
    ]


@pytest.mark.parametrize("levels", [[1, 2, 3], range(1, 4), np.array([1, 2, 3])])
def test_best_candidate_is_selected_and_the_smaller_of_ties(data, grid_search, levels):
    search = grid_search(Level(), {"level": levels}).fit(*data)
    assert search.best_estimator_.level == 2
    assert search.best_score_ == search.score(*data) == 1.0
    assert search.cv_results_["param_level"].data.tolist() == [1, 2, 3]


def test_single_candidate(data, make_search):
    search = make_search(Level(), {"level": [1]}).fit(*data)
    assert search.cv_results_["param_level"].tolist() == [1]
    assert search.best_index_ == 0


def test_pre_dispatch_is_accepted(data, make_search):
    search = make_search(Level(), {"level": [1]}, pre_dispatch="n_jobs", n_jobs=1).fit(*data)
    assert clone(search).pre_dispatch == "n_jobs"


def test_cv_is_accepted(data, make_search):
    search = make_search(Level(), {"level": [1, 2]}, cv=3, cv_finalists=1).fit(*data)
    assert clone(search).cv == 3
    assert search.fit_counts_["cv"] >= 3


def test_same_call_gives_the_same_result_without_a_seed():
    """As with GridSearchCV, whose folds are not shuffled; the seed is derived from X and y."""
    X, y = make_blobs(60, centers=2, cluster_std=5, random_state=0)
    grid = {"max_depth": [1, 2, 5], "splitter": ["random", "best"]}
    first, second = (GridSearchLZO(DecisionTreeClassifier(), grid).fit(X.copy(), y) for _ in "ab")
    for name in first.cv_results_:
        if not name.endswith("_time"):
            np.testing.assert_array_equal(first.cv_results_[name], second.cv_results_[name])


@pytest.mark.parametrize("model", [Ridge(), DecisionTreeRegressor(random_state=0)], ids=repr)
@pytest.mark.parametrize("kind", ["text", "numbers"])
def test_keys_into_another_table(model, kind, rng):
    """Rows of generated keys have the wrong target: LOO and fold scores outweigh their scores."""
    numbers = rng.choice(10_000, 100, replace=False)
    keys = numbers if kind == "numbers" else [f"key {number}" for number in numbers]
    other = dict(zip(keys, rng.normal(size=100), strict=True))
    X = pd.DataFrame({"key": keys, "noise": rng.normal(size=100)})
    y = np.array([other[key] for key in keys]) + 0.1 * rng.normal(size=100)
    join = FunctionTransformer(lambda rows: np.c_[rows["key"].map(other).fillna(0), rows["noise"]])
    name = "alpha" if isinstance(model, Ridge) else "max_depth"
    grid = {f"model__{name}": [0.1, 1000] if name == "alpha" else [1, 10]}
    pipeline = Pipeline([("join", join), ("model", model)])
    search = GridSearchLZO(pipeline, grid, random_state=0).fit(X, y)
    theirs = GridSearchCV(pipeline, grid).fit(X, y)
    assert search.best_params_ == theirs.best_params_
    assert search.best_score_ == pytest.approx(theirs.best_score_, abs=0.1)


def test_single_candidate_equals_a_plain_fit(data, grid_search):
    search = grid_search(SVC(gamma="auto"), {"C": [2.0], "gamma": [0.1]}).fit(*data)
    expected = SVC(C=2.0, gamma=0.1).fit(*data).dual_coef_
    np.testing.assert_array_equal(search.best_estimator_.dual_coef_, expected)


# Estimators


def test_estimators_in_a_grid_stay_unfitted(data, grid_search):
    pipeline = Pipeline([("regressor", LinearRegression())])
    grid = {"regressor": [LinearRegression(), Ridge()]}
    search = grid_search(pipeline, grid).fit(*data)
    column = search.cv_results_["param_regressor"]
    assert [type(model) for model in column] == [LinearRegression, Ridge]
    assert not any(hasattr(model, "coef_") for model in [*column, *grid["regressor"]])
    assert hasattr(search.best_estimator_[0], "coef_")


def test_parameters_of_estimators_in_a_grid_are_set_on_copies(data, grid_search):
    """A step that is None is set by the grid."""
    grid = {"classifier": [LinearSVC(dual=True)], "classifier__C": [0.01]}
    pipeline = Pipeline([("scale", StandardScaler()), ("classifier", None)])
    search = grid_search(pipeline, grid, scoring="accuracy").fit(*data)
    assert grid["classifier"][0].C == 1.0
    assert search.best_estimator_["classifier"].C == 0.01
    assert search.best_estimator_["classifier"].dual is True


class Minimal:
    """An estimator without base classes that predicts the most frequent value."""

    def __init__(self, level=0):
        self.level = level

    def get_params(self, deep=True):
        return {"level": self.level}

    def set_params(self, level):
        self.level = level
        return self

    def fit(self, X, y):  # returns None
        self.classes_, counts = np.unique(y, return_counts=True)
        self.value_ = self.classes_[counts.argmax()]

    def predict(self, X):
        return np.full(len(X), self.value_)

    def score(self, X, y):
        return float(np.mean(self.predict(X) == y))

    def __sklearn_tags__(self):
        return get_tags(DummyClassifier())


def test_estimator_without_base_classes(make_search):
    X, y = np.random.default_rng(0).normal(size=(25, 2)), np.array([0] * 5 + [1] * 20)
    pipeline = Pipeline([("scale", StandardScaler()), ("minimal", Minimal())])
    grid = {"scale__with_mean": [True, False], "minimal__level": [1, 10]}
    search = make_search(pipeline, grid, error_score="raise").fit(X, y)
    assert set(grid) <= set(search.best_params_)
    assert is_classifier(search)
    assert search.predict(X).tolist() == [1] * 25
    assert search.score(X, y) == 0.8


def test_minimal_regressor_uses_its_score_method(data, grid_search):
    class MinimalRegressor(Minimal):
        def __sklearn_tags__(self):
            return get_tags(LinearRegression())

    search = grid_search(MinimalRegressor(), {"level": [1, 10]}, error_score="raise").fit(*data)
    assert search.score(*data) == np.mean(search.predict(data[0]) == data[1])


@pytest.mark.parametrize("n_values", [3, 60])
def test_model_of_no_type_and_a_target_with_fractions_is_a_regression(n_values):
    """Few distinct values are no classes either."""

    class Untyped(BaseEstimator):
        def __init__(self, alpha=1.0):
            self.alpha = alpha

        def fit(self, X, y):
            self.model_ = Ridge(self.alpha).fit(X, y)
            return self

        def predict(self, X):
            return self.model_.predict(X)

    X = np.random.default_rng(0).normal(size=(60, 3))
    y = 0.5 + np.digitize(X[:, 0], np.linspace(-1, 1, n_values - 1))
    grid, params = {"alpha": [0.1, 1000]}, {"scoring": "r2", "random_state": 0}
    search = GridSearchLZO(Untyped(), grid, **params).fit(X, y)
    expected = GridSearchLZO(Ridge(), grid, loo=False, **params).fit(X, y)
    assert search.best_params_ == {"alpha": 0.1}
    np.testing.assert_array_equal(search.validation_set_.y, expected.validation_set_.y)
    assert len(search.diagnose().checks) == 10


def test_no_object_is_fitted_twice(data, grid_search):
    class Once(Level):
        def fit(self, X, y):
            assert not hasattr(self, "classes_")
            return super().fit(X, y)

    search = grid_search(Once(), {"level": [0, 2]}, error_score="raise").fit(*data)
    assert search.best_estimator_.classes_.tolist() == [0, 1]


# refit


@pytest.mark.parametrize("scoring", [None, ["accuracy", "recall"]])
def test_refit_false_keeps_no_estimator(data, grid_search, scoring):
    search = grid_search(Level(), {"level": [1, 2, 3]}, refit=False, scoring=scoring).fit(*data)
    assert not hasattr(search, "best_estimator_")
    assert hasattr(search, "best_params_") == hasattr(search, "best_index_") == (scoring is None)
    for method in ("predict", "predict_proba", "predict_log_proba", "transform"):
        with pytest.raises(AttributeError, match=f"has no attribute '{method}'") as error:
            getattr(search, method)
        message = f"`refit=False`. {method} is available only after refitting"
        assert message in str(error.value.__cause__)
    with pytest.raises(AttributeError, match="`refit=False`"):
        search.score(*data)


def test_callable_refit_receives_the_whole_table(data, grid_search):
    model, grid = LinearSVC(random_state=0), {"C": [0.001, 0.1, 1]}
    plain = grid_search(model, grid, scoring="precision").fit(*data)
    columns = []

    def worst(results):
        columns.extend(results)
        return results["mean_test_score"].argmin()

    search = grid_search(model, grid, scoring="precision", refit=worst).fit(*data)
    assert columns == list(plain.cv_results_)
    assert search.best_index_ == plain.cv_results_["mean_test_score"].argmin()
    assert grid["C"][search.best_index_] == search.best_estimator_.C
    assert not hasattr(search, "best_score_")


def test_callable_refit_with_several_metrics(data, make_search):
    if make_search.owner == "OptunaSearchLZO":
        pytest.skip("it optimizes one metric")
    search = make_search(SVC(), {"C": [0.01, 0.1, 1]}, scoring=["accuracy", "recall"])
    search.set_params(refit=lambda results: len(results["mean_test_recall"]) - 1).fit(*data)
    assert search.best_index_ == len(search.cv_results_["params"]) - 1
    assert search.best_params_["C"] == search.best_estimator_.C
    assert not hasattr(search, "best_score_")
    with pytest.raises(ValueError, match="requires refit to be the name of one, got <function"):
        search.score(*data)


@pytest.mark.parametrize(
    ("returned", "error", "message"),
    [
        (None, TypeError, "best_index_ returned is not an integer: refit of GridSearchLZO"),
        (0.0, TypeError, "is not an integer"),
        ("0", TypeError, "is not an integer"),
        (True, TypeError, "is not an integer"),
        (-1, IndexError, "returned -1, but cv_results_ has 2 rows"),
        (2, IndexError, "returned 2, but cv_results_ has 2 rows"),
    ],
)
def test_callable_refit_must_return_a_row(data, grid_search, returned, error, message):
    search = grid_search(SVC(), {"C": [0.1, 1]}, refit=lambda results: returned)
    with pytest.raises(error, match=message):
        search.fit(*data)


def test_callable_refit_must_not_return_a_failed_candidate(data, grid_search):
    search = grid_search(Level(), {"level": [9, 1, 2]}, refit=lambda results: 0)
    message = "refit of GridSearchLZO returned row 0, whose candidate failed: ValueError: level 9"
    with (
        pytest.warns(CandidateFailedWarning, match="1 of 3 candidates"),
        pytest.raises(ValueError, match=message),
    ):
        search.fit(*data)


# cv_results_


def test_table_has_the_columns_of_grid_search_cv(iris):
    grid = [{"kernel": ["rbf"], "C": [1, 2]}, {"kernel": ["linear"]}]
    table = GridSearchLZO(SVC(), grid, n_replicates=3, random_state=0).fit(*iris).cv_results_
    expected = GridSearchCV(SVC(), grid, cv=3).fit(*iris).cv_results_
    scores = ["mean_validation_score", "mean_loo_score", "low_test_score", "high_test_score"]
    assert list(table) == [*expected, *scores, "loo_method", "loo_note"]
    assert all(len(column) == 3 for column in table.values())
    assert table["param_C"].mask.tolist() == expected["param_C"].mask.tolist()
    assert table["param_C"].dtype == expected["param_C"].dtype
    assert table["params"] == expected["params"]


def test_types_of_columns(data):
    """Parameters are masked where a candidate does not set them; scores are plain arrays."""
    rbf = {"kernel": ["rbf"], "C": expon(scale=10), "gamma": expon(scale=0.1)}
    space = [rbf, {"kernel": ["poly"], "degree": [2, 3]}]
    search = RandomizedSearchLZO(SVC(), space, n_iter=12, n_replicates=2, random_state=0)
    table = search.set_params(return_train_score=True).fit(*data).cv_results_
    poly = table["param_kernel"] == "poly"
    assert 0 < poly.sum() < len(poly)
    for name, kind, mask in (("C", "f", poly), ("gamma", "f", poly), ("degree", "i", ~poly)):
        column = table[f"param_{name}"]
        assert column.dtype.kind == kind
        np.testing.assert_array_equal(np.ma.getmaskarray(column), mask)
    for name in [name for name in table if name.endswith(("_score", "_time"))]:
        assert type(table[name]) is np.ndarray
        assert table[name].dtype == (np.int32 if name.startswith("rank") else np.float64)
        assert table[name].shape == poly.shape


@pytest.mark.parametrize(
    ("estimator", "grid", "kinds"),
    [
        (SVC(), {"C": [1, 2.5], "shrinking": [True, False], "cache_size": [np.float32(9)]}, "fbf"),
        (Level(), {"level": range(10, 80)}, "i"),
        (Level(), {"level": [None, {"a": 1}, [1, 2], "b", np.zeros((3, 2))]}, "O"),
        (DecisionTreeClassifier(), {"random_state": [0, None]}, "O"),
    ],
    ids=["numbers", "many", "objects", "None"],
)
def test_dtypes_of_parameter_columns(data, grid_search, estimator, grid, kinds):
    """None is a value and not masked."""
    search = grid_search(estimator, grid, n_replicates=1, validation_size=4, scoring="accuracy")
    table = search.fit(*data).cv_results_
    assert "".join(table[f"param_{name}"].dtype.kind for name in grid) == kinds
    assert not any(np.ma.getmaskarray(table[f"param_{name}"]).any() for name in grid)


def test_tuples_and_estimators_are_cells_of_object_columns():
    """NumPy would turn tuples into a matrix and read an encoder's dtype."""
    texts = ["one two", "two three", "three four", "four five", "five one", "one three"] * 2
    pipeline = Pipeline([("count", TfidfVectorizer()), ("classifier", ComplementNB())])
    grid = {"count__ngram_range": ((1, 1), (1, 2)), "count__norm": ("l1", "l2")}
    search = RandomizedSearchLZO(pipeline, grid, n_iter=3, n_replicates=2, random_state=0)
    column = search.fit(texts, [0, 0, 1, 0, 1, 1] * 2).cv_results_["param_count__ngram_range"]
    assert (column.dtype, column.shape) == (object, (3,))
    assert set(column) <= {(1, 1), (1, 2)}

    X = pd.DataFrame({"number": np.arange(12.0), "letter": list("abc") * 4})
    encoders = [OneHotEncoder(sparse_output=False), OrdinalEncoder()]
    encode = ColumnTransformer([("encode", encoders[0], ["letter"])], remainder="passthrough")
    pipeline = Pipeline([("columns", encode), ("regressor", LinearRegression())])
    search = GridSearchLZO(pipeline, {"columns__encode": encoders}, n_replicates=2, random_state=0)
    search.fit(X, np.linspace(0.5, 3, 12))
    assert search.cv_results_["param_columns__encode"].dtype == object


def test_training_scores_are_those_of_the_fitted_models(data, grid_search):
    search = grid_search(SVC(), {"C": [0.01, 1]}, return_train_score=True).fit(*data)
    expected = [SVC(C=C).fit(*data).score(*data) for C in (0.01, 1)]
    for name in ("mean_train_score", "split0_train_score", "split1_train_score"):
        assert search.cv_results_[name].tolist() == expected
    assert search.cv_results_["std_train_score"].tolist() == [0, 0]
    plain = grid_search(SVC(), {"C": [0.01, 1]}).fit(*data)
    assert not any("train" in name for name in plain.cv_results_)


def test_mean_is_over_replicates(data, grid_search):
    search = grid_search(SVC(), {"C": [0.01, 1]}, n_replicates=3).fit(*data)
    assert search.n_splits_ == 3
    for row in range(2):
        scores = splits(search, row)
        assert search.cv_results_["mean_test_score"][row] == pytest.approx(np.mean(scores))


@pytest.mark.slow
@pytest.mark.parametrize("loo", ["auto", False])
@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc"])
def test_standard_deviation_is_that_of_folds(scoring, loo):
    """Refit callables compare scores by the spread over folds, here over ten."""
    X, y = make_classification(600, flip_y=0.1, random_state=0)
    model, grid = LogisticRegression(), {"C": [1e-3, 1e-2, 1]}
    cv = RepeatedStratifiedKFold(n_splits=10, n_repeats=5, random_state=0)
    folds = GridSearchCV(model, grid, scoring=scoring, cv=cv).fit(X, y)
    search = GridSearchLZO(model, grid, scoring=scoring, loo=loo).fit(X, y)
    ratio = search.cv_results_["std_test_score"] / folds.cv_results_["std_test_score"]
    assert np.all((ratio > 0.6) & (ratio < 1.7))


def test_all_candidates_are_scored_on_the_same_rows(data, grid_search):
    """Equal models with different parameters have equal scores."""
    grid = {"C": [1, 1.0], "degree": [2, 3]}
    table = grid_search(SVC(), grid, return_train_score=True).fit(*data).cv_results_
    assert len(table["params"]) == 4
    for name in ("split0_test_score", "split1_test_score", "mean_train_score"):
        assert len(set(table[name])) == 1


def test_ties_share_the_better_rank(grid_search):
    data = make_blobs(50, random_state=42)
    search = grid_search(SVC(), {"C": [1, 1.001, 0.001]}).fit(*data)
    assert search.cv_results_["rank_test_score"].tolist() == [1, 1, 3]
    assert search.selection_.n_tied == 2


def test_times_are_those_of_one_fit_and_one_scoring(data, grid_search):
    search = grid_search(LinearSVC(), {"C": [0, 1]}, error_score=0)
    with pytest.warns(CandidateFailedWarning, match="1 of 2"):
        search.fit(*data)
    table = search.cv_results_
    assert (table["mean_fit_time"] > 0).all()
    assert table["std_fit_time"].tolist() == table["std_score_time"].tolist() == [0, 0]
    assert table["mean_score_time"][0] == 0 < table["mean_score_time"][1]
    assert isinstance(search.refit_time_, float)
    assert search.refit_time_ == 0.0


# Methods and attributes of the best estimator


def test_attributes_of_the_best_estimator(data, make_search):
    search = make_search(DecisionTreeClassifier(), {"max_depth": [3, 4]})
    assert not hasattr(search, "n_features_in_")
    assert not hasattr(search, "classes_")
    assert search.fit(*data).n_features_in_ == 4
    assert search.classes_.tolist() == [0, 1]
    unfitted = clone(search)
    assert not hasattr(unfitted, "best_estimator_")
    assert not hasattr(unfitted, "n_features_in_")
    assert isinstance(search, GridSearchCV.__base__)
    regression = make_search(Ridge(), {"alpha": [1.0]}).fit(*data)
    assert not hasattr(regression, "classes_")


def test_methods_depend_on_the_best_estimator(data, grid_search):
    """Before fit, on the estimator as it was given."""
    search = grid_search(SGDClassifier(loss="hinge", alpha=1.0), {"loss": ["log_loss"]})
    assert not hasattr(search, "predict_proba")
    search.fit(*data)
    assert search.predict_proba(data[0]).shape == search.predict_log_proba(data[0]).shape == (40, 2)
    assert search.decision_function(data[0]).shape == (40,)
    assert not hasattr(grid_search(SVC(), {}).fit(*data), "predict_proba")
    lda = grid_search(LinearDiscriminantAnalysis(), {}).fit(*data)
    assert lda.transform(data[0]).shape == (40, 1)
    with pytest.raises(
        AttributeError, match="'GridSearchLZO' has no attribute 'score_sam"
    ) as error:
        lda.score_samples(data[0])
    assert "'LinearDiscriminantAnalysis' object has no" in str(error.value.__cause__)


def test_transform_and_inverse_transform(data, grid_search):
    search = grid_search(Level(), {"level": [1, 2, 3]}).fit(*data)
    transformed = search.transform(data[0])
    np.testing.assert_allclose(transformed, data[0] + 2)
    np.testing.assert_allclose(search.inverse_transform(transformed), data[0])


def test_score_samples_of_outlier_detectors_and_densities(data, grid_search):
    y = np.where(data[1] == 1, 1, -1)
    model, grid = LocalOutlierFactor(novelty=True), {"n_neighbors": [5, 10]}
    search = grid_search(model, grid, scoring="precision").fit(data[0], y)
    expected = search.best_estimator_.score_samples(data[0])
    np.testing.assert_array_equal(search.score_samples(data[0]), expected)

    def narrow(model, X, y):
        return 42 if model.bandwidth == 0.1 else 0

    search = grid_search(KernelDensity(), {"bandwidth": [0.01, 0.1, 1]}, scoring=narrow).fit(*data)
    assert search.best_params_ == {"bandwidth": 0.1}
    assert search.best_score_ == 42
    assert not hasattr(search, "predict")
    assert search.score_samples(data[0]).shape == (40,)


def test_pickled_search_predicts_the_same(data, make_search):
    search = make_search(SVC(), {"C": [0.1, 1]}).fit(*data)
    copy = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(copy.predict(data[0]), search.predict(data[0]))
    assert copy.best_params_ == search.best_params_
    np.testing.assert_equal(copy.cv_results_, search.cv_results_)


# Failures


@pytest.mark.parametrize("error_score", [0.0, np.nan, 5.0])
def test_failed_candidate_gets_the_error_score_and_is_never_selected(
    data, grid_search, error_score
):
    search = grid_search(Level(), {"level": [0, 1, 9]}, error_score=error_score)
    expected = re.compile(
        rf"1 of 3 candidates .* their score is {error_score!r}.*level 9 fails", flags=re.DOTALL
    )
    with pytest.warns(FitFailedWarning, match=expected):
        search.fit(*data)
    np.testing.assert_equal(splits(search, 2), [error_score] * 2)
    assert search.best_index_ == 0
    assert "level 9 fails" in search.failures_[2]
    if error_score != 5.0:
        assert search.cv_results_["rank_test_score"][2] == (3 if np.isnan(error_score) else 1)


def test_failed_candidate_gets_the_error_score_for_all_metrics_of_a_callable(data, grid_search):
    search = grid_search(Level(), {"level": [0, 1, 9]}, refit=False, error_score=0.1)
    search.set_params(scoring=lambda model, X, y: {"acc": 1, "half": 0.5})
    with pytest.warns(CandidateFailedWarning, match=r"1 of 3 .* score is 0\.1"):
        search.fit(*data)
    assert search.cv_results_["mean_test_acc"].tolist() == [1, 1, 0.1]
    assert search.cv_results_["mean_test_half"].tolist() == [0.5, 0.5, 0.1]
    with pytest.raises(AllCandidatesFailedError, match="level 9 fails"):
        search.set_params(param_grid={"level": [9]}).fit(*data)


def test_failures_in_all_searches(data, make_search):
    with pytest.warns(CandidateFailedWarning, match=f"candidates of {make_search.owner} failed"):
        search = make_search(Level(), {"level": [9, 1]}).fit(*data)
    assert search.best_params_["level"] == 1
    expected = re.compile(f"All . candidates of {make_search.owner}.*level 9", flags=re.DOTALL)
    with pytest.raises(AllCandidatesFailedError, match=expected):
        make_search(Level(), {"level": [9]}, error_score=0.0).fit(*data)
    with pytest.raises(ValueError, match=r"^level 9 fails$"):
        make_search(Level(), {"level": [9]}, error_score="raise").fit(*data)


def test_scores_that_are_not_finite(data, make_search):
    def some_nan(model, X, y):
        return np.nan if model.level == 1 else 0.5

    with pytest.warns(CandidateFailedWarning, match="test scores are non-finite"):
        search = make_search(Level(), {"level": [0, 1]}, scoring=some_nan).fit(*data)
    assert search.best_params_["level"] == 0
    rows = search.cv_results_["param_level"] == 1
    assert set(search.cv_results_["rank_test_score"][rows]) == {2}
    with pytest.raises(
        AllCandidatesFailedError, match=f"All scores of {make_search.owner} are NaN"
    ):
        make_search(Level(), {"level": [0, 1]}, scoring=lambda model, X, y: np.nan).fit(*data)
