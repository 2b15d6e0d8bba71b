"""What users of scikit-learn's searches rely on holds for ours.

docs/scikit-learn-tests.md names, for each test of scikit-learn's own file, the one here.
"""

import os
import pickle
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from scipy.stats import expon
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, is_classifier
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_blobs, make_classification, make_multilabel_classification
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, SGDClassifier
from sklearn.metrics import (
    accuracy_score,
    confusion_matrix,
    f1_score,
    make_scorer,
    r2_score,
    recall_score,
    roc_auc_score,
)
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import GroupKFold, KFold
from sklearn.naive_bayes import ComplementNB
from sklearn.neighbors import KernelDensity, KNeighborsClassifier, LocalOutlierFactor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import get_tags

from leavezero import (
    CandidateSearchLZO,
    FixedValidationSet,
    GridSearchLZO,
    HalvingGridSearchLZO,
    HalvingRandomSearchLZO,
    LabelInvariantMixup,
    OptunaSearchLZO,
    RandomizedSearchLZO,
)
from leavezero.exceptions import AllCandidatesFailedError, CandidateFailedWarning

try:
    import sklearn.callback
except ImportError:
    HAS_CALLBACKS = False
else:
    HAS_CALLBACKS = True

RELEASE = tuple(int(part) for part in sklearn.__version__.split(".")[:2])

needs_callbacks = pytest.mark.skipif(
    not HAS_CALLBACKS, reason=f"scikit-learn {sklearn.__version__} has no callbacks"
)

QUICK = {
    "augmenter": LabelInvariantMixup(),
    "n_replicates": 2,
    "unseen": "off",  # these tests are about V
    "random_state": 0,
}


def grid(estimator, values, **settings):
    """Return a grid search that draws V in a moment."""
    return GridSearchLZO(estimator, values, **{**QUICK, **settings})


def randomized(estimator, values, **settings):
    """Return the same over candidates drawn from the grid, all of them."""
    n_iter = settings.pop("n_iter", int(np.prod([len(v) for v in values.values()])))
    return RandomizedSearchLZO(estimator, values, n_iter=n_iter, **{**QUICK, **settings})


def halving(estimator, values, **settings):
    """Return the same by successive halving."""
    return HalvingGridSearchLZO(estimator, values, **{**QUICK, **settings})


def halving_randomized(estimator, values, **settings):
    """Return the same by successive halving of drawn candidates."""
    n_candidates = int(np.prod([len(v) for v in values.values()]))
    return HalvingRandomSearchLZO(
        estimator, values, n_candidates=n_candidates, **{**QUICK, **settings}
    )


def by_optuna(estimator, values, **settings):
    """Return the same with Optuna's proposals, which may repeat."""
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return OptunaSearchLZO(estimator, values, n_trials=6, **{**QUICK, **settings})


def by_name(estimator, values, **settings):
    """Return the same as a search over one named estimator."""
    return CandidateSearchLZO({"it": (estimator, values)}, **{**QUICK, **settings})


two_searches = pytest.mark.parametrize("search_over", [grid, randomized])
all_searches = pytest.mark.parametrize(
    "search_over", [grid, randomized, halving, halving_randomized, by_optuna, by_name]
)


class Ladder(ClassifierMixin, BaseEstimator):
    """A classifier that scores 1 from the second rung on, and shifts rows by its rung."""

    def __init__(self, rung=0):
        self.rung = rung

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])

    def transform(self, X):
        return X + self.rung

    def inverse_transform(self, X):
        return X - self.rung

    def score(self, X, y):
        return float(self.rung > 1)


class Fragile(ClassifierMixin, BaseEstimator):
    """A classifier that cannot be fitted on its third rung."""

    def __init__(self, rung=0):
        self.rung = rung

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        if self.rung == 2:
            raise ValueError("the third rung is broken")
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


class Curious(ClassifierMixin, BaseEstimator):
    """A classifier that keeps what its fit was given."""

    def __init__(self, rung=0):
        self.rung = rung

    def fit(self, X, y, sample_weight=None, **given):
        self.classes_ = np.unique(y)
        self.X_, self.y_, self.given_ = X, y, given
        if sample_weight is not None:
            self.given_["sample_weight"] = sample_weight
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


class LinearSVCWithoutScore(LinearSVC):
    @property
    def score(self):
        raise AttributeError("score")


@pytest.fixture(scope="module")
def data():
    """40 rows of two classes that overlap a little."""
    return make_classification(40, 4, flip_y=0.1, random_state=42)


def splits_of(search, at, name="score"):
    """Return a candidate's score on each replicate."""
    return [search.cv_results_[f"split{r}_test_{name}"][at] for r in range(search.n_splits_)]


def replicates_of(search):
    """Yield the rows of V, replicate by replicate."""
    V = search.validation_set_
    size = len(V) // search.n_splits_
    for at in range(0, len(V), size):
        yield V.X[at : at + size], V.y[at : at + size]


def without_times(results):
    return {name: column for name, column in results.items() if not name.endswith("_time")}


# Grids and distributions


@two_searches
@pytest.mark.parametrize(
    ("values", "message"),
    [
        (0, r"a dict or a list, got: 0 of type int"),
        ([{"rung": [0]}, 0], r"is not a dict \(0\)"),
        ({"rung": 0}, r"Parameter (grid|distribution) for parameter 'rung'"),
    ],
)
def test_what_is_no_grid_is_refused(data, search_over, values, message):
    """scikit-learn's own sentence is heard."""
    kind = GridSearchLZO if search_over is grid else RandomizedSearchLZO
    with pytest.raises(TypeError, match=message):
        kind(Ladder(), values).fit(*data)


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ({"C": 1}, TypeError, r"needs to be a list or a numpy array, but got 1 \(of type int\)"),
        ({"C": "1,2"}, TypeError, r"but got '1,2' \(of type str\) instead"),
        ({"C": []}, ValueError, r"need to be a non-empty sequence, got: \[\]"),
        ({"C": np.ones((3, 2))}, ValueError, "one-dimensional"),
    ],
)
def test_a_grid_whose_values_are_no_list_is_refused(data, values, error, message):
    """The message says how to write one value."""
    with pytest.raises(error, match=message):
        grid(SVC(), values).fit(*data)


def test_every_combination_of_every_grid_is_a_candidate(data):
    """An empty grid among others is the estimator as it is."""
    values = [{"C": [1, 10], "gamma": [0.1, 1.0]}, {}, {"C": [0.5]}]
    search = grid(SVC(), values).fit(*data)
    assert search.cv_results_["params"] == [
        {"C": 1, "gamma": 0.1},
        {"C": 1, "gamma": 1.0},
        {"C": 10, "gamma": 0.1},
        {"C": 10, "gamma": 1.0},
        {},
        {"C": 0.5},
    ]


@pytest.mark.parametrize("rungs", [[1, 2, 3], range(1, 4), np.array([1, 2, 3])])
def test_the_best_candidate_wins_and_the_smaller_of_equals(data, rungs):
    """Rungs 2 and 3 both score 1."""
    search = grid(Ladder(), {"rung": rungs}).fit(*data)
    assert search.best_estimator_.rung == 2
    assert search.best_score_ == 1.0
    assert search.cv_results_["param_rung"].data.tolist() == [1, 2, 3]
    assert search.score(*data) == 1.0


def test_an_unknown_metric_is_refused(data):
    """The known ones are listed."""
    with pytest.raises(ValueError, match=r"scoring of GridSearchLZO .* got 'sklearn'.*accuracy"):
        grid(SVC(), {"C": [1]}, scoring="sklearn").fit(*data)


@all_searches
def test_a_single_candidate_is_enough(data, search_over):
    """There is a table of one row."""
    search = search_over(Ladder(), {"rung": [1]}).fit(*data)
    assert search.cv_results_["param_rung"].tolist() == [1]
    assert search.best_index_ == 0


def test_the_only_candidate_is_what_its_own_fit_gives(data):
    """A grid of one point changes nothing about the model."""
    search = grid(SVC(gamma="auto"), {"C": [2.0], "kernel": ["rbf"], "gamma": [0.1]}).fit(*data)
    alone = SVC(C=2.0, gamma=0.1).fit(*data)
    assert np.array_equal(search.best_estimator_.dual_coef_, alone.dual_coef_)


def test_more_draws_than_there_are_candidates_warn(data):
    """The warning names our own grid search, and each candidate is fitted once."""
    search = randomized(SVC(), {"C": [1, 2], "kernel": ["rbf", "linear"]}, n_iter=9)
    with pytest.warns(UserWarning, match="n_iter of RandomizedSearchLZO is 9, and there are 4"):
        search.fit(*data)
    assert search.n_fits_ == 4


def test_draws_from_lists_do_not_repeat(data):
    """As many different candidates as asked for."""
    search = randomized(SVC(), {"C": range(1, 11), "degree": range(10)}, n_iter=12).fit(*data)
    found = {(row["C"], row["degree"]) for row in search.cv_results_["params"]}
    assert len(found) == search.n_fits_ == 12


# Estimators as parameters


def test_estimators_of_the_grid_stay_unfitted(data):
    """Neither the user's objects nor those of the table are fitted."""
    pipeline = Pipeline([("regressor", LinearRegression())])
    values = {"regressor": [LinearRegression(), Ridge()]}
    search = grid(pipeline, values).fit(*data)
    shown = search.cv_results_["param_regressor"]
    assert [type(model) for model in shown] == [LinearRegression, Ridge]
    assert not any(hasattr(model, "coef_") for model in [*shown, *values["regressor"]])
    assert hasattr(search.best_estimator_[0], "coef_")


@pytest.mark.parametrize("search_over", [grid, randomized, halving, by_name])
def test_a_parameter_of_an_estimator_in_the_grid_is_set_on_a_copy(data, search_over):
    """The user's object keeps its own value."""
    values = {"classifier": [LinearSVC(dual=True)], "classifier__C": [0.01]}
    pipeline = Pipeline([("scale", StandardScaler()), ("classifier", LinearSVC())])
    search = search_over(pipeline, values, scoring="accuracy").fit(*data)
    assert values["classifier"][0].C == 1.0
    assert search.best_estimator_["classifier"].C == 0.01
    assert search.best_estimator_["classifier"].dual is True


def test_a_step_that_is_still_open_is_filled_by_the_grid(data):
    """A pipeline whose last step is None can be searched with a metric of its own."""
    pipeline = Pipeline([("scale", StandardScaler()), ("classifier", None)])
    search = grid(pipeline, {"classifier": [SVC()], "classifier__C": [0.1]}, scoring="accuracy")
    assert search.fit(*data).best_estimator_["classifier"].C == 0.1


def test_estimators_with_a_dtype_parameter_make_an_object_column():
    """Numpy would take an encoder for a dtype."""
    X = pd.DataFrame({"number": np.arange(12.0), "letter": list("abc") * 4})
    y = np.linspace(0.5, 3, 12)
    encode = ColumnTransformer(
        [("encode", OneHotEncoder(sparse_output=False), ["letter"])], remainder="passthrough"
    )
    pipeline = Pipeline([("columns", encode), ("regressor", LinearRegression())])
    values = {"columns__encode": [OneHotEncoder(sparse_output=False), OrdinalEncoder()]}
    search = GridSearchLZO(pipeline, values, n_replicates=2, random_state=0).fit(X, y)
    assert search.cv_results_["param_columns__encode"].dtype == object


def test_a_minimal_estimator_is_enough():
    """Nothing has to inherit from scikit-learn's bases but the tags."""

    class Majority:
        def __init__(self, rung=0):
            self.rung = rung

        def get_params(self, deep=True):
            return {"rung": self.rung}

        def set_params(self, **params):
            self.rung = params["rung"]
            return self

        def fit(self, X, y):
            self.classes_, counts = np.unique(y, return_counts=True)
            self.answer_ = self.classes_[counts.argmax()]
            return self

        def predict(self, X):
            return np.full(len(X), self.answer_)

        def score(self, X, y):
            return accuracy_score(y, self.predict(X))

        def __sklearn_tags__(self):
            return get_tags(DummyClassifier())

    X, y = np.random.default_rng(0).normal(size=(25, 2)), np.array([0] * 5 + [1] * 20)
    pipeline = Pipeline([("scale", StandardScaler()), ("majority", Majority())])
    values = {"scale__with_mean": [True, False], "majority__rung": [1, 10]}
    for search_over in (grid, randomized):
        search = search_over(pipeline, values, error_score="raise").fit(X, y)
        assert search.best_params_.keys() == values.keys()
        assert is_classifier(search)
        assert search.predict(X).tolist() == [1] * 25
        assert search.score(X, y) == 0.8


def test_a_minimal_regressor_is_enough():
    """A score of its own is used."""

    class Mean:
        def __init__(self, rung=0):
            self.rung = rung

        def get_params(self, deep=True):
            return {"rung": self.rung}

        def set_params(self, **params):
            self.rung = params["rung"]
            return self

        def fit(self, X, y):
            self.answer_ = np.mean(y)
            return self

        def predict(self, X):
            return np.full(len(X), self.answer_)

        def score(self, X, y):
            return r2_score(y, self.predict(X))

        def __sklearn_tags__(self):
            return get_tags(LinearRegression())

    X = np.random.default_rng(0).normal(size=(25, 2))
    y = X.sum(axis=1)
    search = grid(Mean(), {"rung": [1, 10]}, error_score="raise").fit(X, y)
    np.testing.assert_allclose(search.predict(X), y.mean())
    assert search.score(X, y) == pytest.approx(0.0)


@two_searches
def test_an_estimator_whose_fit_returns_nothing_is_used_itself(data, search_over):
    """scikit-learn's searches never look at what fit returns, so that such estimators exist."""

    class Silent(ClassifierMixin, BaseEstimator):
        def __init__(self, rung=0):
            self.rung = rung

        def fit(self, X, y):
            self.classes_ = np.unique(y)

        def predict(self, X):
            return np.full(len(X), self.classes_[0])

    search = search_over(Silent(), {"rung": [1, 2]}, error_score="raise").fit(*data)
    assert search.predict(data[0]).tolist() == [0] * 40


def test_no_object_is_fitted_twice(data):
    """A model that breaks at its second fit can be searched."""

    class Once(Ladder):
        def fit(self, X, y):
            assert not hasattr(self, "classes_")
            return super().fit(X, y)

    search = grid(Once(), {"rung": [0, 2]}, scoring="accuracy", error_score="raise").fit(*data)
    assert search.best_estimator_.classes_.tolist() == [0, 1]


# Parameters of fit


@two_searches
def test_parameters_of_fit_reach_every_candidate_whole(data, search_over):
    """Nothing is cut, since nothing is held out."""
    spam, eggs = np.ones(40), list(range(40))
    search = search_over(Curious(), {"rung": [1, 2, 3]}, error_score="raise")
    search.fit(*data, spam=spam, eggs=eggs)
    given = search.best_estimator_.given_
    assert given["spam"] is spam
    assert given["eggs"] == eggs


def test_an_error_about_parameters_of_fit_is_the_estimators_own(data):
    """A wrong name is not swallowed."""
    with pytest.raises(TypeError, match="unexpected keyword argument 'spam'"):
        grid(SVC(), {"C": [1]}, error_score="raise").fit(*data, spam=1)


@all_searches
def test_parameters_of_fit_need_not_have_an_entry_a_row(data, search_over):
    """Numbers, callables and tuples of arrays pass as they are, as LightGBM's users need."""
    held_out = (data[0][:7], data[1][:7])
    search = search_over(Curious(), {"rung": [1, 2]})
    search.fit(*data, number=42, call=len, eval_set=held_out)
    given = dict(search.best_estimator_.given_)
    for got, meant in zip(given.pop("eval_set"), held_out, strict=True):
        np.testing.assert_array_equal(got, meant)  # a model that waited on disk has a copy
    assert given == {"number": 42, "call": len}


def test_groups_reach_the_augmenter_and_the_folds_and_no_candidate(data):
    """Folds that need groups say so when there are none."""
    groups = np.arange(40) % 4
    search = grid(Curious(), {"rung": [1, 2]}, confirm=2, confirm_cv=GroupKFold(2))
    with pytest.raises(ValueError, match="'groups' parameter should not be None"):
        search.fit(*data)
    search.fit(*data, groups=groups)
    assert search.best_estimator_.given_ == {}
    assert search.fits_["confirm"] == 4
    mixed = groups[search.validation_set_.source_rows]
    assert np.array_equal(mixed[:, 0], mixed[:, 1])


def test_groups_are_optional(data):
    """None is the same as not given."""
    first = grid(SVC(), {"C": [1, 10]}).fit(*data)
    second = grid(SVC(), {"C": [1, 10]}).fit(*data, groups=None)
    assert splits_of(first, 0) == splits_of(second, 0)


# Weights


@pytest.mark.parametrize(
    ("estimator", "values"),
    [(LogisticRegression(), {"C": [1, 10]}), (Ridge(), {"alpha": [1.0, 0.1]})],
)
def test_whole_weights_are_repeated_rows_when_v_is_given(rng, estimator, values):
    """With a V that does not depend on the data, weighting and repeating rows is the same."""
    X, y = rng.normal(size=(60, 3)), rng.integers(3, size=60)
    X_given, y_given = rng.normal(size=(30, 3)), rng.integers(3, size=30)
    weight = rng.integers(0, 4, size=60)
    given = FixedValidationSet(X_given, y_given)
    weighted = grid(estimator, values, augmenter=given).fit(X, y, sample_weight=weight)
    repeated = grid(estimator, values, augmenter=given).fit(X.repeat(weight, 0), y.repeat(weight))
    for name in ("mean_test_score", "rank_test_score"):
        np.testing.assert_allclose(weighted.cv_results_[name], repeated.cv_results_[name])
    assert weighted.best_index_ == repeated.best_index_
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X))


@pytest.mark.parametrize("augmenter", [LabelInvariantMixup(), "auto"])
def test_equal_weights_are_no_weights(data, augmenter):
    """Whatever draws V."""
    plain = grid(LogisticRegression(), {"C": [0.1, 1]}, augmenter=augmenter).fit(*data)
    ones = grid(LogisticRegression(), {"C": [0.1, 1]}, augmenter=augmenter)
    ones.fit(*data, sample_weight=np.ones(40))
    np.testing.assert_allclose(
        ones.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"]
    )


def test_a_rows_weight_in_the_score_is_the_mean_of_its_origins(data):
    """The scores are scikit-learn's own with these weights."""
    weight = np.random.default_rng(1).uniform(0.1, 3, size=40)
    search = grid(LogisticRegression(), {"C": [0.1, 1]}, n_replicates=1)
    search.fit(*data, sample_weight=weight)
    V = search.validation_set_
    own = weight[V.source_rows].mean(axis=1)
    expected = accuracy_score(V.y, search.predict(V.X), sample_weight=own)
    assert search.best_score_ == pytest.approx(expected)


def test_weights_must_be_as_many_as_rows(data):
    """The error says of what."""
    with pytest.raises(ValueError, match="sample_weight"):
        grid(LogisticRegression(), {"C": [0.1, 1]}).fit(*data, sample_weight=np.ones(39))


@pytest.mark.parametrize("form", ["scorer", "callable", "several"])
def test_a_metric_without_weights_is_given_rows_drawn_by_weight(data, form):
    """Where scikit-learn warns and ignores the weights, ours still count."""

    def hits(y_true, y_pred):
        return np.mean(y_true == y_pred)

    def hits_of(model, X, y):
        return hits(y, model.predict(X))

    scoring, refit, name = make_scorer(hits), True, "score"
    if form == "callable":
        scoring = hits_of
    if form == "several":
        scoring, refit, name = {"hits": scoring, "accuracy": "accuracy"}, "hits", "hits"
    X, y = data
    weight = np.where(y == 1, 1.0, 1e-9)  # only rows of class 1 count
    search = grid(DummyClassifier(), {"strategy": ["constant"], "constant": [0, 1]})
    search.set_params(scoring=scoring, refit=refit).fit(X, y, sample_weight=weight)
    assert search.cv_results_[f"mean_test_{name}"].tolist() == [0, 1]


# The metric


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc"])
def test_a_named_metric_needs_no_score_method(data, scoring):
    """The results are those of the same estimator with one."""
    with_score = grid(LinearSVC(), {"C": [0.1, 1]}, scoring=scoring).fit(*data)
    without = grid(LinearSVCWithoutScore(), {"C": [0.1, 1]}, scoring=scoring).fit(*data)
    assert without.best_params_ == with_score.best_params_
    assert without.score(*data) == with_score.score(*data) < 1


def test_without_score_method_and_metric_there_is_nothing_to_choose_by(data):
    """The message says what to give."""
    with pytest.raises(TypeError, match=r"lacks score.*name a metric as scoring"):
        grid(LinearSVCWithoutScore(), {"C": [1]}).fit(*data)


def test_score_uses_the_metric_of_the_search(data):
    """None is the estimator's own, which is accuracy here."""
    X, y = data
    own = grid(LinearSVC(), {"C": [0.1]}).fit(X, y)
    accuracy = grid(LinearSVC(), {"C": [0.1]}, scoring="accuracy").fit(X, y)
    area = grid(LinearSVC(), {"C": [0.1]}, scoring="roc_auc").fit(X, y)
    assert own.score(X, y) == accuracy.score(X, y) == accuracy_score(y, own.predict(X))
    assert area.score(X, y) == roc_auc_score(y, area.decision_function(X)) != own.score(X, y)


@pytest.mark.parametrize("scoring", ["f1", "roc_auc"])
def test_scores_are_those_of_each_candidate_on_each_replicate(data, scoring):
    """A candidate fitted by hand on all the data scores the same on V."""
    search = grid(LinearSVC(random_state=0), {"C": [0.1, 1, 10]}, scoring=scoring).fit(*data)
    for at, C in enumerate([0.1, 1, 10]):
        model = LinearSVC(random_state=0, C=C).fit(*data)
        expected = [
            f1_score(y, model.predict(X))
            if scoring == "f1"
            else roc_auc_score(y, model.decision_function(X))
            for X, y in replicates_of(search)
        ]
        np.testing.assert_allclose(splits_of(search, at), expected)


@pytest.mark.parametrize(
    ("search_over", "scoring"),
    [(grid, ["accuracy", "recall"]), (randomized, ("accuracy", "recall"))],
)
def test_several_metrics_are_the_columns_of_each_alone(data, search_over, scoring):
    """To the bit, and the winner by one of them is that of the search by it alone."""
    values = {"C": [0.001, 1], "gamma": [0.1, 1.0]}
    several = search_over(SVC(), values, scoring=scoring, refit="accuracy").fit(*data)
    accuracy = search_over(SVC(), values, scoring="accuracy").fit(*data)
    recall = search_over(SVC(), values, scoring="recall").fit(*data)
    expected = {re.sub("_score$", "_accuracy", k): v for k, v in accuracy.cv_results_.items()}
    expected |= {re.sub("_score$", "_recall", k): v for k, v in recall.cv_results_.items()}
    np.testing.assert_equal(without_times(several.cv_results_), without_times(expected))
    assert several.multimetric_ is True
    assert accuracy.multimetric_ is False
    assert sorted(several.scorer_) == ["accuracy", "recall"]
    assert several.best_params_ == accuracy.best_params_
    assert several.best_score_ == accuracy.best_score_
    assert several.score(*data) == accuracy.score(*data)


def test_a_dictionary_names_metrics_as_the_user_likes(data):
    """Names, scorers and callables may be mixed."""

    def length(model, X, y):
        return len(X)

    scoring = {"hits": make_scorer(accuracy_score), "found": "recall", "rows": length}
    search = grid(SVC(), {"C": [0.1, 1]}, scoring=scoring, refit="hits").fit(*data)
    accuracy = grid(SVC(), {"C": [0.1, 1]}, scoring="accuracy").fit(*data)
    assert search.cv_results_["mean_test_rows"].tolist() == [40, 40]
    np.testing.assert_allclose(
        search.cv_results_["mean_test_hits"], accuracy.cv_results_["mean_test_score"]
    )


def test_a_callable_may_give_several_numbers(data):
    """Each gets columns of its own, and refit names one of them."""

    def counts(model, X, y):
        (tn, fp), (fn, tp) = confusion_matrix(y, model.predict(X))
        return {"tn": tn, "fp": fp, "fn": fn, "tp": tp}

    search = grid(SVC(), {"C": [0.01, 1]}, scoring=counts, refit="fp").fit(*data)
    table = search.cv_results_
    total = sum(table[f"mean_test_{name}"] for name in ("tn", "fp", "fn", "tp"))
    assert total.tolist() == [40, 40]
    assert search.multimetric_ is True
    assert search.score(*data) == confusion_matrix(data[1], search.predict(data[0]))[0, 1]


def test_a_callable_that_gives_several_numbers_is_a_list_of_names(data):
    """Both ways choose the same."""

    def both(model, X, y):
        said = model.predict(X)
        return {"recall": recall_score(y, said), "accuracy": accuracy_score(y, said)}

    called = grid(SVC(), {"C": [0.01, 1]}, scoring=both, refit="recall").fit(*data)
    named = grid(SVC(), {"C": [0.01, 1]}, scoring=["recall", "accuracy"], refit="recall")
    named.fit(*data)
    assert called.best_index_ == named.best_index_
    assert called.best_score_ == pytest.approx(named.best_score_)
    assert called.score(*data) == pytest.approx(named.score(*data))


def test_a_single_metric_may_be_a_callable_a_name_or_a_list_of_one(data):
    """Refit may name the metric in all three ways of saying it."""

    def found(model, X, y):
        return recall_score(y, model.predict(X))

    values = {"C": [0.01, 1]}
    searches = [
        grid(SVC(), values, scoring=found),
        grid(SVC(), values, scoring="recall", refit="recall"),
        grid(SVC(), values, scoring=["recall"], refit="recall"),
    ]
    facts = [(s.fit(*data).best_index_, s.best_score_, s.score(*data)) for s in searches]
    np.testing.assert_allclose(facts[1], facts[0])
    np.testing.assert_allclose(facts[2], facts[0])


def test_refit_must_name_what_the_callable_gives(data):
    """The message lists the names."""

    def odd(model, X, y):
        return {"bad_name": 1}

    with pytest.raises(ValueError, match=r"must name one of the metrics bad_name.*'good_name'"):
        grid(SVC(), {"C": [1]}, scoring=odd, refit="good_name").fit(*data)


def test_refit_must_name_the_single_metric_if_it_names_any(data):
    """A search that silently chooses nothing helps nobody."""
    with pytest.raises(ValueError, match=r"refit of GridSearchLZO .*'nonsense'"):
        grid(SVC(), {"C": [1, 2]}, scoring="recall", refit="nonsense").fit(*data)


@pytest.mark.parametrize("refit", [True, "recall", "accuracy"])
def test_with_several_metrics_refit_names_one_of_them(data, refit):
    """Anything else is refused before a fit."""
    search = grid(Ladder(), {}, refit=refit, scoring={"acc": "accuracy", "prec": "precision"})
    with pytest.raises(ValueError, match=r"one of the metrics acc, prec.*multi-metric"):
        search.fit(*data)


@two_searches
@pytest.mark.parametrize("return_train_score", [False, True])
def test_scores_that_are_not_finite_warn_and_rank_last(data, search_over, return_train_score):
    """Some candidates have no score on some replicates."""

    class Forgetful:
        """A scorer that gives NaN at every fifth call."""

        def __init__(self):
            self.n_calls = 0

        def __call__(self, model, X, y):
            self.n_calls += 1
            return np.nan if self.n_calls % 5 == 0 else 1.0

    search = search_over(
        DecisionTreeClassifier(),
        {"max_depth": [2, 3, 5, 8]},
        scoring=Forgetful(),
        return_train_score=return_train_score,
    )
    with pytest.warns(CandidateFailedWarning, match="have scores that are not finite"):
        search.fit(*data)
    scores, ranks = (search.cv_results_[f"{name}_test_score"] for name in ("mean", "rank"))
    lost = np.isnan(scores)
    assert 0 < lost.sum() < 4
    assert set(ranks[lost]) == {ranks.max()}
    assert (ranks[~lost] == 1).all()
    assert not lost[search.best_index_]


# Refit


@pytest.mark.parametrize("scoring", [None, ["accuracy", "recall"]])
def test_refit_false_compares_and_keeps_no_model(data, scoring):
    """Each method that is missing says why."""
    search = grid(Ladder(), {"rung": [1, 2, 3]}, refit=False, scoring=scoring).fit(*data)
    assert not hasattr(search, "best_estimator_")
    assert hasattr(search, "best_params_") == hasattr(search, "best_index_") == (scoring is None)
    for method in ("predict", "predict_proba", "predict_log_proba", "transform"):
        with pytest.raises(AttributeError, match=f"has no attribute '{method}'") as error:
            getattr(search, method)
        assert f"refit=False, which keeps no model. {method} needs one" in str(
            error.value.__cause__
        )
    with pytest.raises(AttributeError, match=r"refit=False, which keeps no model"):
        search.score(*data)


def test_a_callable_chooses_by_the_whole_table(data):
    """It sees every column, and there is no best score then."""
    plain = grid(LinearSVC(random_state=0), {"C": [0.001, 0.1, 1]}, scoring="precision").fit(*data)
    seen = []

    def worst(results):
        seen.extend(results)
        return results["mean_test_score"].argmin()

    search = grid(LinearSVC(random_state=0), {"C": [0.001, 0.1, 1]}, scoring="precision")
    search.set_params(refit=worst).fit(*data)
    assert seen == list(plain.cv_results_)
    assert search.best_index_ == plain.cv_results_["mean_test_score"].argmin()
    assert [0.001, 0.1, 1][search.best_index_] == search.best_estimator_.C
    assert not hasattr(search, "best_score_")


@pytest.mark.parametrize(
    "search_over", [grid, randomized, halving, halving_randomized, by_name]
)  # OptunaSearchLZO tells Optuna one metric
def test_a_callable_chooses_by_several_metrics(data, search_over):
    """The model it names is handed back as it was fitted."""
    scoring = {"hits": make_scorer(accuracy_score), "found": "recall"}
    search = search_over(SVC(), {"C": [0.01, 0.1, 1]}, scoring=scoring)
    search.set_params(refit=lambda results: len(results["mean_test_found"]) - 1).fit(*data)
    assert search.best_index_ == len(search.cv_results_["params"]) - 1
    assert search.best_params_["C"] == search.best_estimator_.C
    assert not hasattr(search, "best_score_")
    with pytest.raises(ValueError, match="with several metrics needs one of them"):
        search.score(*data)


@pytest.mark.parametrize("answer", [None, 0.0, "0", True])
def test_a_callable_must_choose_a_row(data, answer):
    """Anything but a whole number is refused."""
    search = grid(SVC(), {"C": [0.1, 1]}, refit=lambda results: answer)
    with pytest.raises(TypeError, match="refit of GridSearchLZO must return an int"):
        search.fit(*data)


@two_searches
@pytest.mark.parametrize("row", [-1, 2])
def test_a_callable_must_choose_a_row_that_exists(data, search_over, row):
    """The rows are named."""
    search = search_over(SVC(), {"C": [0.1, 1]}, refit=lambda results: row)
    with pytest.raises(IndexError, match=f"returned {row}, and cv_results_ has the rows 0 to 1"):
        search.fit(*data)


# What X and y may be


@pytest.mark.parametrize(
    ("form", "scoring"),
    [
        (sparse.csr_matrix, None),
        (sparse.coo_matrix, "f1"),
        (sparse.csr_array, make_scorer(f1_score)),
    ],
)
def test_sparse_and_dense_data_give_the_same(data, form, scoring):
    """V is drawn alike, so that winner and predictions are."""
    X, y = data
    dense = grid(LinearSVC(random_state=0), {"C": [0.1, 1.0]}, scoring=scoring).fit(X, y)
    thin = grid(LinearSVC(random_state=0), {"C": [0.1, 1.0]}, scoring=scoring).fit(form(X), y)
    assert thin.best_params_ == dense.best_params_
    assert np.array_equal(thin.predict(sparse.csr_matrix(X)), dense.predict(X))
    assert thin.score(sparse.csr_matrix(X), y) == dense.score(X, y)


def test_a_metric_may_be_an_object_that_is_called(data):
    """make_scorer takes any callable, with a name or without."""

    class Hits:
        def __call__(self, y_true, y_pred):
            return np.mean(y_true == y_pred)

    own = grid(SVC(), {"C": [0.1, 1]}, scoring=make_scorer(Hits())).fit(*data)
    named = grid(SVC(), {"C": [0.1, 1]}, scoring="accuracy").fit(*data)
    assert own.best_score_ == pytest.approx(named.best_score_)


def test_a_loss_is_turned_round(data):
    """greater_is_better=False makes the smallest loss the best."""

    def missed(y_true, y_pred):
        return np.mean(y_true != y_pred)

    loss = grid(SVC(), {"C": [1e-4, 1.0]}, scoring=make_scorer(missed, greater_is_better=False))
    hits = grid(SVC(), {"C": [1e-4, 1.0]}, scoring="accuracy")
    assert loss.fit(*data).best_params_ == hits.fit(*data).best_params_
    assert loss.best_score_ == pytest.approx(hits.best_score_ - 1)


def test_x_may_be_a_list(data):
    """The candidates get the list itself."""
    X = data[0].tolist()
    search = grid(Curious(), {"rung": [1, 2]}).fit(X, data[1])
    assert search.best_estimator_.X_ is X
    assert 0 <= search.score(X, data[1]) <= 1


def test_y_may_be_a_list(data):
    """The candidates get an array of the same classes."""
    search = grid(Curious(), {"rung": [1, 2]}).fit(data[0], data[1].tolist())
    assert np.array_equal(search.best_estimator_.y_, data[1])
    assert search.score(data[0], data[1].tolist()) == search.score(*data)


def test_y_of_several_outputs_may_be_a_list_of_lists(data):
    """As estimators of several outputs take it."""
    y = np.c_[data[1], 1 - data[1]]
    listed = grid(DecisionTreeClassifier(), {"max_depth": [1, 2]}).fit(data[0], y.tolist())
    array = grid(DecisionTreeClassifier(), {"max_depth": [1, 2]}).fit(data[0], y)
    assert listed.best_score_ == array.best_score_


def test_frames_stay_frames(data):
    """In fit, on V, and in predict; y may be a series."""

    class Framed(Ladder):
        def fit(self, X, y):
            assert isinstance(X, pd.DataFrame)
            return super().fit(X, y)

        def predict(self, X):
            assert isinstance(X, pd.DataFrame)
            return super().predict(X)

    X, y = pd.DataFrame(data[0], columns=list("abcd")), pd.Series(data[1])
    search = grid(Framed(), {"rung": [1, 2]}, scoring="accuracy", error_score="raise").fit(X, y)
    assert search.score(X, y) == np.mean(y == 0)
    assert len(search.predict(X)) == 40


def test_x_may_have_more_than_two_dimensions():
    """They are kept in fit and on V."""
    X, y = np.random.default_rng(0).random((20, 5, 3, 2)), np.arange(20) % 2

    class Deep(Ladder):
        def fit(self, X, y):
            assert X.shape[1:] == (5, 3, 2)
            return super().fit(X, y)

        def score(self, X, y):
            assert X.shape[1:] == (5, 3, 2)
            return super().score(X, y)

    search = GridSearchLZO(Deep(), {"rung": [1, 2]}, error_score="raise", random_state=0)
    assert search.fit(X, y).score(X, y) == 1.0


def test_y_has_at_most_two_dimensions(data):
    """Rows of matrices have no loss."""
    with pytest.raises(ValueError, match=r"dim 3|1d array"):
        grid(Ladder(), {"rung": [1, 2]}).fit(data[0], np.zeros((40, 7, 11)))


def test_missing_cells_may_be_filled_inside_the_pipeline(data):
    """V has gaps too."""
    X = data[0].copy()
    X[2, :] = X[5, 0] = np.nan
    pipeline = Pipeline([("fill", SimpleImputer()), ("classifier", Ladder())])
    search = GridSearchLZO(pipeline, {"classifier__rung": [1, 2]}, random_state=0)
    assert search.fit(X, data[1]).best_params_ == {"classifier__rung": 2}


@pytest.mark.parametrize("tree", [DecisionTreeClassifier, DecisionTreeRegressor])
@two_searches
def test_several_outputs_are_scored_as_the_estimator_scores_them(tree, search_over):
    """Multilabel classes and several numbers."""
    X, y = make_multilabel_classification(50, 6, n_classes=3, random_state=0)
    search = search_over(tree(random_state=0), {"max_depth": [1, 3]}).fit(X, y)
    for at, params in enumerate(search.cv_results_["params"]):
        model = tree(random_state=0, **params).fit(X, y)
        expected = [model.score(*rows) for rows in replicates_of(search)]
        np.testing.assert_allclose(splits_of(search, at), expected)


def test_a_clusterer_is_chosen_by_classes():
    """Given y, metrics that compare clusters with classes find their number."""
    X, y = make_blobs(50, random_state=0, cluster_std=0.5)
    clusters, values = KMeans(random_state=0, n_init=1), {"n_clusters": [2, 3, 4]}
    names = ["adjusted_rand_score", "fowlkes_mallows_score"]
    for name in names:
        assert grid(clusters, values, scoring=name).fit(X, y).best_params_ == {"n_clusters": 3}
        several = grid(clusters, values, scoring=names, refit=name).fit(X, y)
        assert several.best_params_ == {"n_clusters": 3}


def test_an_estimator_without_predict_is_chosen_by_a_callable(data):
    """It may look at anything."""

    def narrow(model, X, y):
        return 42 if model.bandwidth == 0.1 else 0

    search = grid(KernelDensity(), {"bandwidth": [0.01, 0.1, 1]}, scoring=narrow).fit(*data)
    assert search.best_params_ == {"bandwidth": 0.1}
    assert search.best_score_ == 42
    assert not hasattr(search, "predict")
    assert search.score_samples(data[0]).shape == (40,)


@pytest.mark.skipif(
    RELEASE < (1, 7), reason="scikit-learn 1.6 needs array-api-compat to let other arrays through"
)
def test_numpy_works_while_other_arrays_are_let_through():
    """A user who has enabled array_api_dispatch can still search; scipy asks for a new process."""
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
    ended = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr


# Similarities instead of features


def test_similarities_are_refused_with_a_way_out(data):
    """Rows cannot be drawn from a matrix of similarities."""
    kernel = data[0] @ data[0].T
    with pytest.raises(ValueError, match=r"cannot be drawn.*FixedValidationSet\(X_validation"):
        grid(SVC(kernel="precomputed"), {"C": [0.1, 1.0]}).fit(kernel, data[1])


def test_similarities_work_with_given_rows(data):
    """The results are those of the same search over features."""
    (X, y), (X_given, y_given) = (data[0][:30], data[1][:30]), (data[0][30:], data[1][30:])
    features = grid(SVC(kernel="linear"), {"C": [0.1, 1.0]})
    features.set_params(augmenter=FixedValidationSet(X_given, y_given)).fit(X, y)
    similar = grid(SVC(kernel="precomputed"), {"C": [0.1, 1.0]})
    similar.set_params(augmenter=FixedValidationSet(X_given @ X.T, y_given)).fit(X @ X.T, y)
    assert similar.best_params_ == features.best_params_
    assert similar.best_score_ == features.best_score_
    assert np.array_equal(similar.predict(X_given @ X.T), features.predict(X_given))


def test_distances_work_with_given_rows(data):
    """As similarities do."""
    (X, y), (X_given, y_given) = (data[0][:30], data[1][:30]), (data[0][30:], data[1][30:])
    features = grid(KNeighborsClassifier(), {"n_neighbors": [3, 10]})
    features.set_params(augmenter=FixedValidationSet(X_given, y_given)).fit(X, y)
    far = grid(KNeighborsClassifier(metric="precomputed"), {"n_neighbors": [3, 10]})
    given = FixedValidationSet(euclidean_distances(X_given, X), y_given)
    far.set_params(augmenter=given).fit(euclidean_distances(X), y)
    assert np.array_equal(far.predict(euclidean_distances(X)), features.predict(X))


def test_similarities_must_be_square():
    """The estimator's own error is part of ours."""
    kernel, y = np.zeros((10, 20)), np.arange(10) % 2
    search = grid(SVC(kernel="precomputed"), {"C": [0.1, 1.0]})
    search.set_params(augmenter=FixedValidationSet(np.zeros((4, 20)), [0, 1, 0, 1]))
    with pytest.raises(AllCandidatesFailedError, match=r"square"):
        search.fit(kernel, y)


@pytest.mark.parametrize("pairwise", [True, False])
@all_searches
def test_the_tag_for_similarities_is_the_estimators(search_over, pairwise):
    """Tools ask for it before they split rows."""
    kernel = "precomputed" if pairwise else "rbf"
    assert get_tags(search_over(SVC(kernel=kernel), {"C": [1]})).input_tags.pairwise is pairwise


# The table of results

PARAMS = ["param_C", "param_degree", "param_gamma", "param_kernel"]
SCORES = [
    *(f"{kind}_{time}" for time in ("fit_time", "score_time") for kind in ("mean", "std")),
    *(f"split{r}_test_score" for r in range(2)),
    *(f"{kind}_test_score" for kind in ("mean", "std", "rank", "low", "high")),
    *(f"{kind}_train_score" for kind in ("mean", "std")),
    "mean_augmented_score",
]


@pytest.mark.parametrize("kind", ["grid", "random"])
def test_columns_have_the_kinds_that_readers_expect(data, kind):
    """Parameters are masked where a candidate does not set them, scores are floats."""
    if kind == "grid":
        values = [
            {"kernel": ["rbf"], "C": [1, 10], "gamma": [0.1, 1]},
            {"kernel": ["poly"], "degree": [1, 2]},
        ]
        search = grid(SVC(), values, return_train_score=True).fit(*data)
    else:
        values = [
            {"kernel": ["rbf"], "C": expon(scale=10), "gamma": expon(scale=0.1)},
            {"kernel": ["poly"], "degree": [2, 3]},
        ]
        settings = QUICK | {"n_iter": 12, "return_train_score": True}
        search = RandomizedSearchLZO(SVC(), values, **settings).fit(*data)
    table = search.cv_results_
    assert sorted(table) == sorted([*PARAMS, *SCORES, "params"])
    kinds = {name: table[name].dtype.kind for name in PARAMS}
    C = "i" if kind == "grid" else "f"
    assert kinds == {"param_C": C, "param_degree": "i", "param_gamma": "f", "param_kernel": "O"}
    assert all(isinstance(table[name], np.ma.MaskedArray) for name in PARAMS)
    for name in SCORES:
        assert not isinstance(table[name], np.ma.MaskedArray)
        assert table[name].dtype == (np.int32 if name.startswith("rank") else np.float64)
        assert table[name].shape == (len(table["params"]),)
    poly = table["param_kernel"] == "poly"
    assert 0 < poly.sum() < len(poly)
    for name in ("param_C", "param_gamma"):
        assert np.array_equal(np.ma.getmaskarray(table[name]), poly)
    assert np.array_equal(np.ma.getmaskarray(table["param_degree"]), ~poly)


def test_training_scores_are_those_of_the_fitted_models(data):
    """One fit has one training score, so that nothing spreads."""
    search = grid(SVC(), {"C": [0.01, 1]}, return_train_score=True).fit(*data)
    expected = [SVC(C=C).fit(*data).score(*data) for C in (0.01, 1)]
    assert search.cv_results_["mean_train_score"].tolist() == expected
    assert search.cv_results_["std_train_score"].tolist() == [0, 0]


def test_there_are_no_training_scores_unless_asked_for(data):
    """They cost a pass over the data."""
    search = grid(LinearSVC(), {"C": [0.1, 0.2]}).fit(*data)
    assert not any("train" in name for name in search.cv_results_)


def test_mean_and_spread_are_over_replicates(data):
    """Each replicate counts the same."""
    search = grid(SVC(), {"C": [0.01, 1]}, n_replicates=3).fit(*data)
    assert search.n_splits_ == 3
    for at in range(2):
        splits = splits_of(search, at)
        assert search.cv_results_["mean_test_score"][at] == pytest.approx(np.mean(splits))
        assert search.cv_results_["std_test_score"][at] == pytest.approx(np.std(splits))


def test_all_candidates_are_judged_on_the_same_rows(data):
    """Equal models under different parameters have equal scores on every replicate."""
    search = grid(SVC(), {"C": [1, 1.0], "degree": [2, 3]}, return_train_score=True).fit(*data)
    assert len(search.cv_results_["params"]) == 4
    for name in ("split0_test_score", "split1_test_score", "mean_train_score"):
        assert len(set(search.cv_results_[name])) == 1


@pytest.mark.parametrize("form", ["splitter", "generator", "list"])
def test_folds_that_confirm_may_come_in_any_of_scikit_learns_forms(data, form):
    """An iterator that can be read once is read once."""
    folds = KFold(3, shuffle=True, random_state=0)
    cv = {"splitter": folds, "generator": folds.split(*data), "list": list(folds.split(*data))}
    search = grid(SVC(), {"C": [0.5, 1]}, confirm=2, confirm_cv=cv[form]).fit(*data)
    model = SVC(C=search.best_params_["C"])
    scores = [model.fit(*(part[a] for part in data)).score(*(part[b] for part in data))
              for a, b in folds.split(*data)]  # fmt: skip
    confirmed = search.cv_results_["mean_confirm_score"][search.best_index_]
    assert confirmed == pytest.approx(np.mean(scores))


def test_folds_that_are_none_are_refused(data):
    """An iterator that was read before has no folds left."""
    read = KFold(3).split(*data)
    list(read)
    with pytest.raises(ValueError, match=r"confirm_cv"):
        grid(SVC(), {"C": [0.5, 1]}, confirm=2, confirm_cv=read).fit(*data)


@two_searches
def test_ties_share_the_better_rank(search_over):
    """The next one is third."""
    X, y = make_blobs(50, random_state=42)
    search = search_over(SVC(), {"C": [1, 1.001, 0.001]}, return_train_score=True).fit(X, y)
    by_C = dict(
        zip(search.cv_results_["param_C"], search.cv_results_["rank_test_score"], strict=True)
    )
    assert by_C == {1: 1, 1.001: 1, 0.001: 3}
    assert search.selection_.n_tied == 2


@pytest.mark.parametrize("tree", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_none_is_a_value_like_any_other(tree):
    """It is shown as None, not masked."""
    X, y = [[1], [2], [3], [4], [5]], [0, 0, 0, 1, 1]
    search = grid(tree(), {"random_state": [0, None]}).fit(X, y)
    assert search.cv_results_["param_random_state"].tolist() == [0, None]


@two_searches
def test_times_are_those_of_one_fit_and_one_scoring(data, search_over):
    """A failed candidate was not scored; nothing is fitted again."""
    search = search_over(LinearSVC(), {"C": [0, 1]}, error_score=0)
    with pytest.warns(CandidateFailedWarning, match="1 of 2"):
        search.fit(*data)
    table = search.cv_results_
    assert (table["mean_fit_time"] > 0).all()
    assert table["std_fit_time"].tolist() == table["std_score_time"].tolist() == [0, 0]
    failed = table["param_C"] == 0
    assert table["mean_score_time"][failed] == 0 < table["mean_score_time"][~failed]
    assert isinstance(search.refit_time_, float)
    assert search.refit_time_ == 0.0


def test_tuples_are_kept_whole_in_the_table():
    """A column of pairs is no matrix."""
    words = ["one two", "two three", "three four", "four five", "five one", "one three"] * 2
    pipeline = Pipeline([("count", TfidfVectorizer()), ("classifier", ComplementNB())])
    values = {"count__ngram_range": ((1, 1), (1, 2)), "count__norm": ("l1", "l2")}
    search = RandomizedSearchLZO(pipeline, values, n_iter=3, n_replicates=2, random_state=0)
    column = search.fit(words, [0, 0, 1, 0, 1, 1] * 2).cv_results_["param_count__ngram_range"]
    assert column.dtype == object
    assert column.shape == (3,)
    assert set(column) <= {(1, 1), (1, 2)}


def test_values_of_any_kind_make_an_object_column(data):
    """Dictionaries, lists, arrays of different sizes, strings, None."""

    class Bag(Ladder):
        def __init__(self, a=None, b=None, c=None, d=None, e=None):
            self.a, self.b, self.c, self.d, self.e = a, b, c, d, e

        def score(self, X, y):
            return 0.5

    values = {
        "a": [None, {"option": "A"}, {"option": "B"}],
        "b": [None, [1, 2]],
        "c": [{"a": 1}],
        "d": ["one", "two"],
        "e": [np.zeros((10, 2)), np.zeros((11, 2))],
    }
    search = grid(Bag(), values).fit(*data)
    table = search.cv_results_
    assert len(table["params"]) == 24
    for name in values:
        assert table[f"param_{name}"].dtype == object
        assert not np.ma.getmaskarray(table[f"param_{name}"]).any()
    assert {len(knots) for knots in table["param_e"]} == {10, 11}


def test_numbers_and_switches_make_columns_of_their_kind(data):
    """A whole number and a fraction share a column of floats; True is no number."""
    values = {"C": [1, 2.5], "shrinking": [True, False], "cache_size": [np.float32(200)]}
    table = grid(SVC(), values).fit(*data).cv_results_
    kinds = [table[f"param_{name}"].dtype.kind for name in ("C", "shrinking", "cache_size")]
    assert kinds == ["f", "b", "f"]


def test_a_long_column_of_numbers_warns_of_nothing(data):
    """Seventy values are one column of whole numbers."""
    search = grid(Ladder(), {"rung": range(70)}, n_replicates=1, validation_size=4).fit(*data)
    assert search.cv_results_["param_rung"].dtype.kind == "i"


# Methods and attributes


def test_classes_are_those_of_the_winner(data):
    """A regressor has none, nor has a search before fit or without a model."""
    search = grid(LinearSVC(), {"C": [0.1, 1]})
    assert not hasattr(search, "classes_")
    assert np.array_equal(search.fit(*data).classes_, search.best_estimator_.classes_)
    assert not hasattr(grid(LinearSVC(), {"C": [1]}, refit=False).fit(*data), "classes_")
    assert not hasattr(grid(Ridge(), {"alpha": [1.0]}).fit(*data), "classes_")


@all_searches
def test_n_features_in_is_the_winners(data, search_over):
    """There is none before fit."""
    search = search_over(DecisionTreeClassifier(), {"max_depth": [3, 4]})
    assert not hasattr(search, "n_features_in_")
    assert search.fit(*data).n_features_in_ == 4


def test_predict_proba_follows_the_parameters_of_the_winner(data):
    """Before fit it is there if the estimator as given has it."""
    search = grid(SGDClassifier(loss="hinge", alpha=1.0), {"loss": ["log_loss"]})
    assert not hasattr(search, "predict_proba")
    search.fit(*data)
    assert search.predict_proba(data[0]).shape == search.predict_log_proba(data[0]).shape == (40, 2)
    hinge = grid(SGDClassifier(loss="hinge"), {"loss": ["hinge"]}).fit(*data)
    assert not hasattr(hinge, "predict_proba")
    assert not hasattr(grid(SVC(), {}).fit(*data), "predict_proba")


@two_searches
def test_a_method_that_the_winner_lacks_is_lacking(data, search_over):
    """The reason is the winner's own error."""
    search = search_over(DecisionTreeClassifier(), {"max_depth": [5, 10]}).fit(*data)
    message = f"'{type(search).__name__}' has no attribute 'score_samples'"
    with pytest.raises(AttributeError, match=message) as error:
        search.score_samples(data[0])
    cause = str(error.value.__cause__)
    assert cause == "'DecisionTreeClassifier' object has no attribute 'score_samples'"


@two_searches
def test_score_samples_is_the_winners(search_over):
    """An outlier detector is chosen by marked rows."""
    rng = np.random.default_rng(42)
    X = np.r_[rng.normal(scale=0.5, size=(50, 2)), rng.uniform(-6, 6, size=(10, 2))]
    y = np.r_[np.ones(50, dtype=int), -np.ones(10, dtype=int)]
    search = search_over(
        LocalOutlierFactor(novelty=True), {"n_neighbors": [5, 10]}, scoring="precision"
    ).fit(X, y)
    expected = search.best_estimator_.score_samples(X)
    assert np.array_equal(search.score_samples(X), expected)


def test_rows_survive_transform_and_inverse_transform(data):
    """Both are the winner's."""
    search = grid(Ladder(), {"rung": [1, 2, 3]}).fit(*data)
    moved = search.transform(data[0])
    np.testing.assert_allclose(moved, data[0] + 2)
    np.testing.assert_allclose(search.inverse_transform(moved), data[0])
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        search.inverse_transform()


@all_searches
def test_a_fitted_search_can_be_pickled(data, search_over):
    """It predicts and tells the same."""
    search = search_over(SVC(), {"C": [0.1, 1]}).fit(*data)
    copy = pickle.loads(pickle.dumps(search))
    assert np.array_equal(copy.predict(data[0]), search.predict(data[0]))
    assert copy.best_params_ == search.best_params_
    np.testing.assert_equal(copy.cv_results_, search.cv_results_)


@pytest.mark.parametrize("return_train_score", [True, False])
def test_verbose_three_shows_the_score_of_every_replicate(data, capsys, return_train_score):
    """And what draws V, and each candidate."""
    search = grid(LinearSVC(), {"C": [0.1, 1]}, scoring="accuracy", verbose=3)
    search.set_params(return_train_score=return_train_score).fit(*data)
    shown = capsys.readouterr().out
    assert "V is drawn by LabelInvariantMixup" in shown
    assert len(re.findall(r"of at most 2, {'C': [\d.]+}: score 0\.\d+", shown)) == 2
    assert len(re.findall(r"score: \[[\d.]+ +[\d.]+ *\]", shown)) == 2


def test_nothing_is_printed_unless_asked_for(data, capsys):
    """verbose=0 is silent."""
    grid(LinearSVC(), {"C": [0.1, 1]}).fit(*data)
    assert capsys.readouterr().out == ""


def test_the_picture_shows_the_search_and_its_estimator(data):
    """In a notebook, before and after fit."""
    pipeline = Pipeline([("scale", StandardScaler()), ("classifier", DummyClassifier())])
    search = grid(pipeline, {"classifier": [DummyClassifier(), LogisticRegression()]})
    for drawn in (search, search.fit(*data)):
        with config_context(display="diagram"):
            picture = drawn._repr_html_()
        assert "GridSearchLZO" in picture
        assert "<div>StandardScaler</div>" in picture


# Failures


@pytest.mark.parametrize("error_score", [0.0, np.nan])
def test_a_failed_candidate_has_the_error_score_and_the_last_rank(data, error_score):
    """The warning counts it and ends with its traceback; it is scikit-learn's kind of warning."""
    search = grid(Fragile(), [{"rung": [0, 1, 2]}], refit=False, error_score=error_score)
    expected = re.compile(
        rf"1 of 3 candidates .* were given the score {error_score!r}.*third rung is broken",
        flags=re.DOTALL,
    )
    with pytest.warns(FitFailedWarning, match=expected):
        search.fit(*data)
    np.testing.assert_equal(splits_of(search, 2), [error_score] * 2)
    assert search.cv_results_["rank_test_score"].tolist() == [1, 1, 3]
    assert search.best_index_ != 2


@all_searches
def test_a_search_in_which_all_fail_raises(data, search_over):
    """It is scikit-learn's kind of error, with the traceback."""
    expected = re.compile("All . candidates.*ValueError: the third rung", flags=re.DOTALL)
    with pytest.raises(ValueError, match=expected):
        search_over(Fragile(), {"rung": [2]}, error_score=0.0).fit(*data)


def test_raise_stops_at_the_first_failure(data):
    """The candidate's own error comes out."""
    with pytest.raises(ValueError, match=r"^the third rung is broken$"):
        grid(Fragile(), {"rung": [0, 1, 2]}, refit=False, error_score="raise").fit(*data)


def test_a_failed_candidate_has_the_error_score_for_every_number_of_a_callable(data):
    """The names come from candidates that did not fail."""
    search = grid(Fragile(), {"rung": [0, 1, 2]}, refit=False, error_score=0.1)
    search.set_params(scoring=lambda model, X, y: {"acc": 1, "half": 0.5})
    with pytest.warns(CandidateFailedWarning, match=r"1 of 3 .* score 0\.1"):
        search.fit(*data)
    assert search.cv_results_["mean_test_acc"].tolist() == [1, 1, 0.1]
    assert search.cv_results_["mean_test_half"].tolist() == [0.5, 0.5, 0.1]


def test_a_callable_without_any_fitted_candidate_raises(data):
    """No names, no table."""
    search = grid(Fragile(), {"rung": [2]}, refit=False, error_score=0.1)
    search.set_params(scoring=lambda model, X, y: {"acc": 1})
    with pytest.raises(AllCandidatesFailedError, match="the third rung is broken"):
        search.fit(*data)


# Metadata routing


@pytest.fixture
def calls():
    """Return a list for what a metric was given, and that metric."""
    heard = []

    def remember(y_true, y_pred, sample_weight=None, metadata=None):
        heard.append((len(y_true), sample_weight, metadata))
        return 0.5

    return heard, remember


@pytest.mark.parametrize("search_over", [grid, randomized, halving, by_name])
def test_several_metrics_each_get_their_metadata(data, search_over, calls):
    """Weights come as the mean of a row's origins, other metadata from its first origin."""
    weights, other = np.arange(1.0, 41.0), np.arange(100, 140)
    with config_context(enable_metadata_routing=True):
        scorer = make_scorer(calls[1]).set_score_request(
            sample_weight="score_weights", metadata="score_metadata"
        )
        scoring = {"own": scorer, "accuracy": "accuracy"}
        search = search_over(LinearSVC(), {"C": [1]}, scoring=scoring, refit="accuracy")
        search.fit(*data, score_weights=weights, score_metadata=other)
    origins = search.validation_set_.source_rows
    assert len(calls[0]) == 2
    for at, (n_rows, got_weights, got_other) in enumerate(calls[0]):
        rows = origins[40 * at : 40 * (at + 1)]
        assert n_rows == 40
        np.testing.assert_allclose(got_weights, weights[rows].mean(axis=1))
        assert np.array_equal(got_other, other[rows[:, 0]])


def test_a_metric_may_ask_for_metadata_and_no_weights(data, calls):
    """Weights are one kind of metadata among others."""
    other = np.arange(40)
    with config_context(enable_metadata_routing=True):
        scorer = make_scorer(calls[1]).set_score_request(metadata=True)
        search = grid(LinearSVC(), {"C": [1]}, scoring=scorer).fit(*data, metadata=other)
    first = search.validation_set_.source_rows[:, 0]
    assert np.array_equal(np.concatenate([call[2] for call in calls[0]]), first)
    assert all(call[1] is None for call in calls[0])


def test_metrics_may_ask_for_different_weights(data):
    """Each is weighed by its own."""

    def share(y_true, y_pred, sample_weight=None):
        return np.average(y_true, weights=sample_weight)

    y = data[1]
    with config_context(enable_metadata_routing=True):
        scoring = {
            "zeros": make_scorer(share).set_score_request(sample_weight="for_zeros"),
            "ones": make_scorer(share).set_score_request(sample_weight="for_ones"),
        }
        search = grid(LinearSVC(), {"C": [1]}, scoring=scoring, refit=False)
        search.fit(*data, for_zeros=1e-9 + (y == 0), for_ones=1e-9 + (y == 1))
    assert search.cv_results_["mean_test_zeros"][0] == pytest.approx(0, abs=1e-6)
    assert search.cv_results_["mean_test_ones"][0] == pytest.approx(1, abs=1e-6)


def test_weights_go_only_where_they_were_requested(data):
    """To fit and not to the metric, or the other way round."""
    weight = np.where(data[1] == 1, 1.0, 1e-9)

    def share_of_ones(y_true, y_pred, sample_weight=None):
        return np.average(y_true, weights=sample_weight)

    with config_context(enable_metadata_routing=True):
        to_fit = LogisticRegression().set_fit_request(sample_weight=True)
        no_fit = LogisticRegression().set_fit_request(sample_weight=False)
        to_score = make_scorer(share_of_ones).set_score_request(sample_weight=True)
        no_score = make_scorer(share_of_ones).set_score_request(sample_weight=False)
        fitted = grid(to_fit, {"C": [1]}, scoring=no_score).fit(*data, sample_weight=weight)
        scored = grid(no_fit, {"C": [1]}, scoring=to_score).fit(*data, sample_weight=weight)
    assert fitted.best_score_ == pytest.approx(0.5, abs=0.1)
    assert (fitted.predict(data[0]) == 1).all()
    assert scored.best_score_ == pytest.approx(1.0)
    assert 0 < scored.predict(data[0]).mean() < 1


def test_each_named_estimator_gets_what_it_requested(data):
    """Weights go to one of two candidates here, whichever is named first."""
    with config_context(enable_metadata_routing=True):
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight=False)
        asks = Curious().set_fit_request(sample_weight=True)
        does_not = Curious(rung=1).set_fit_request(sample_weight=False)
        for first, second, n_given in [(asks, does_not, 1), (does_not, asks, 0)]:
            search = CandidateSearchLZO({"first": first, "second": second}, scoring=scorer, **QUICK)
            search.set_params(refit=lambda results: 0).fit(*data, sample_weight=np.ones(40))
            assert len(search.best_estimator_.given_) == n_given
            search.set_params(refit=lambda results: 1).fit(*data, sample_weight=np.ones(40))
            assert len(search.best_estimator_.given_) == 1 - n_given


def test_metadata_that_nobody_requested_is_refused(data):
    """scikit-learn's own sentence is heard."""
    with (
        config_context(enable_metadata_routing=True),
        pytest.raises(TypeError, match=r"unexpected argument\(s\) {'spam'}"),
    ):
        grid(LinearSVC(), {"C": [1]}).fit(*data, spam=1)


def test_score_takes_metadata_by_routing(data):
    """As the metric of the search requested it."""
    weight = np.where(data[1] == 1, 1.0, 0.0)
    with config_context(enable_metadata_routing=True):
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight=True)
        search = grid(DummyClassifier(strategy="constant", constant=1), {}, scoring=scorer)
        search.fit(*data)
        assert search.score(*data, sample_weight=weight) == 1.0
        assert search.score(*data) == pytest.approx(data[1].mean())


@pytest.mark.parametrize("search_over", [grid, randomized, halving])
def test_score_takes_no_metadata_without_routing(data, search_over):
    """The message says how to enable it."""
    search = search_over(LinearSVC(), {"C": [1]}).fit(*data)
    with pytest.raises(ValueError, match=r"parameters metadata, which need metadata routing"):
        search.score(*data, metadata=1)


# Callbacks


class Listener:
    """A callback that keeps what it hears, and may ask to stop."""

    def __init__(self, stop_after=None):
        self.heard, self.stop_after = [], stop_after

    def _hear(self, hook, estimator, context, metadata=None, fitted=None):
        self.heard.append((hook, estimator, context.task_name, metadata, fitted))

    def count(self, hook):
        return sum(entry[0] == hook for entry in self.heard)

    def setup(self, estimator, context):
        self._hear("setup", estimator, context)

    def teardown(self, estimator, context):
        self._hear("teardown", estimator, context)

    def on_fit_task_begin(
        self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None
    ):
        self._hear("begin", estimator, context, metadata)

    def on_fit_task_end(
        self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None
    ):
        self._hear("end", estimator, context, metadata, fitted_estimator)
        return self.stop_after is not None and self.count("end") >= self.stop_after


class PropagatedListener(Listener):
    """A callback that wants to hear the candidates' own steps too."""

    max_propagation_depth = None


@needs_callbacks
@pytest.mark.parametrize("refit", [True, False])
@all_searches
def test_callbacks_hear_the_search_and_each_fit(data, search_over, refit):
    """Every hook gets the search itself, and what begins ends."""
    listener = Listener()
    search = search_over(Ladder(), {"rung": [1, 2, 3]}, refit=refit)
    search.set_callbacks(listener).fit(*data)
    assert listener.count("setup") == listener.count("teardown") == 1
    assert listener.count("begin") == listener.count("end") == 1 + search.fits_["candidate"]
    assert all(estimator is search for _, estimator, *_ in listener.heard)


@needs_callbacks
def test_callbacks_see_a_search_that_predicts(data):
    """At the end of each candidate's fit the best so far is at hand."""
    listener = Listener()
    search = grid(SVC(), {"C": [0.01, 1, 100]}).set_callbacks(listener).fit(*data)
    so_far = [e[4] for e in listener.heard if e[0] == "end" and e[2] == "candidate"]
    assert len(so_far) == 3
    assert so_far[-1].best_params_ == search.best_params_
    assert np.array_equal(so_far[-1].predict(data[0]), search.predict(data[0]))


@needs_callbacks
def test_callbacks_get_the_weights(data):
    """In every hook of a fit, all of them."""
    listener, weight = Listener(), np.arange(1.0, 41.0)
    search = grid(LogisticRegression(), {"C": [0.1, 1]}).set_callbacks(listener)
    search.fit(*data, sample_weight=weight)
    got = [metadata for hook, *_, metadata, _ in listener.heard if hook in ("begin", "end")]
    assert len(got) == 6
    assert all(np.array_equal(metadata["sample_weight"], weight) for metadata in got)


@needs_callbacks
def test_callbacks_hear_of_candidates_that_fail(data):
    """What begins ends, also then."""
    listener = Listener()
    search = grid(Fragile(), {"rung": [1, 2]}, error_score=0.0).set_callbacks(listener)
    with pytest.warns(CandidateFailedWarning, match="1 of 2"):
        search.fit(*data)
    assert listener.count("begin") == listener.count("end") == 3
    assert listener.count("teardown") == 1


@needs_callbacks
def test_callbacks_are_torn_down_when_all_fail(data):
    """The error comes out, and nothing stays open."""
    listener = Listener()
    search = grid(Fragile(), {"rung": [2]}).set_callbacks(listener)
    with pytest.raises(AllCandidatesFailedError):
        search.fit(*data)
    assert listener.count("setup") == listener.count("teardown") == 1


@needs_callbacks
def test_a_callback_that_asks_to_stop_is_obeyed(data):
    """The results so far stand, and the best of them predicts."""
    listener = Listener(stop_after=2)
    search = grid(SVC(), {"C": [0.1, 1, 10, 100]}).set_callbacks(listener).fit(*data)
    assert len(search.cv_results_["params"]) == search.fits_["candidate"] == 2
    assert search.predict(data[0]).shape == (40,)
