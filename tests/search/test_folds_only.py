"""Searches whose rows cannot be generated or exchanged: every candidate is scored by folds."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.exceptions import FitFailedWarning
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import silhouette_score
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    ShuffleSplit,
    TimeSeriesSplit,
)
from sklearn.neighbors import KernelDensity, KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from leavezero import (
    FixedValidationSet,
    GridSearchLZO,
    HalvingGridSearchLZO,
    LabelInvariantMixup,
    leave_zero_out_predict,
)

X, y = load_iris(return_X_y=True)
FOLDS = list(KFold(3, shuffle=True, random_state=0).split(X))
GROUPS = np.arange(len(y)) // 5
NEIGHBORS = {"n_neighbors": [1, 5, 25]}


def folds_search(estimator, grid, **options):
    """Return a function that fits a search and expects its one warning."""

    def fit(X, y=None, **params):
        message = "scores every candidate by the (. folds|fold) of cv"
        with pytest.warns(UserWarning, match=message) as caught:
            search = GridSearchLZO(estimator, grid, **options).fit(X, y, **params)
        assert len(caught) == 1
        return search

    return fit


def assert_same_scores(ours, theirs):
    names = [n for n in theirs.cv_results_ if "_time" not in n and n not in ("params",)]
    for name in [n for n in names if not n.startswith("param_")]:
        np.testing.assert_allclose(
            ours.cv_results_[name].astype(float), theirs.cv_results_[name], err_msg=name
        )
    assert ours.best_params_ == theirs.best_params_
    assert ours.n_splits_ == theirs.n_splits_


@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (KernelDensity(), {"bandwidth": [0.1, 0.5, 2]}),
        (GaussianMixture(random_state=0), {"n_components": [1, 3]}),
        (PCA(), {"n_components": [1, 2, 3]}),
        (KMeans(n_init=1, random_state=0), {"n_clusters": [2, 5]}),
    ],
)
def test_no_target(estimator, grid):
    """Without y a search has the scores of GridSearchCV on the same folds, and no warning."""
    options = {"cv": FOLDS, "return_train_score": True}
    ours = GridSearchLZO(estimator, grid, **options).fit(X)
    assert_same_scores(ours, GridSearchCV(estimator, grid, **options).fit(X))
    assert ours.fit_counts_ == {
        "candidate": 3 * len(ours.cv_results_["params"]),
        "auxiliary": 0,
        "cv": 0,
        "refit": 1,
    }
    assert ours.validation_set_ is None
    assert "<div" in ours._repr_html_()
    ours.diagnose()


class OnlyX(BaseEstimator):
    """An estimator whose methods take no y."""

    def __init__(self, center=0.0):
        self.center = center

    def fit(self, X):
        self.n_rows_ = len(X)
        return self

    def score(self, X):
        return -float(np.abs(X - self.center).mean())


def test_methods_without_y():
    assert GridSearchLZO(OnlyX(), {"center": [0.0, 3.0]}).fit(X).best_params_ == {"center": 3.0}


def test_scorer_without_y():
    def silhouette(model, X):
        return silhouette_score(X, model.predict(X))

    grid = {"n_clusters": [2, 8]}
    search = GridSearchLZO(KMeans(n_init=1, random_state=0), grid, scoring=silhouette).fit(X)
    assert search.best_params_ == {"n_clusters": 2}


@pytest.mark.parametrize(
    "cv",
    [
        TimeSeriesSplit(3),
        GroupKFold(3),
        LeaveOneGroupOut(),
        PredefinedSplit(np.arange(150) % 4 - 1),
        FOLDS,
        FOLDS[:1],
    ],
    ids=["time", "groups", "group", "predefined", "list", "single"],
)
def test_named_splitters_decide(cv):
    groups = np.arange(150) % 5
    takes_groups = isinstance(cv, GroupKFold | LeaveOneGroupOut)
    params = {"groups": groups} if takes_groups else {}
    ours = folds_search(KNeighborsClassifier(), NEIGHBORS, cv=cv)(X, y, **params)
    theirs = GridSearchCV(KNeighborsClassifier(), NEIGHBORS, cv=cv).fit(X, y, **params)
    assert_same_scores(ours, theirs)
    assert np.isnan(ours.cv_results_["mean_loo_score"]).all()


def test_splitters_receive_features():
    class ByFirstColumn:
        """Test on the rows with large values in the first column."""

        def split(self, X, y=None, groups=None):
            is_large = X["a"].to_numpy() > 6
            yield np.flatnonzero(~is_large), np.flatnonzero(is_large)

        def get_n_splits(self, X=None, y=None, groups=None):
            return 1

    frame = pd.DataFrame(X, columns=list("abcd"))
    search = folds_search(KNeighborsClassifier(), NEIGHBORS, cv=ByFirstColumn())(frame, y)
    assert search.n_splits_ == 1


def test_exchangeable_splitters_and_explicit_choices_change_nothing():
    """Random folds are as good as others, and who passes an augmenter chose its scores."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search = GridSearchLZO(SVC(), {"C": [1, 10]}, cv=ShuffleSplit(2)).fit(X, y)
        assert search.validation_set_ is not None
        for options in (
            {"augmenter": LabelInvariantMixup()},
            {"augmenter": FixedValidationSet(X[::2], y[::2])},
            {"cv_finalists": 1},
            {"loo": False},
        ):
            search = GridSearchLZO(SVC(), {"C": [1, 10]}, cv=GroupKFold(2), **options)
            assert search.fit(X, y, groups=GROUPS).validation_set_ is not None


def test_precomputed_kernel():
    grid = {"C": [0.01, 1, 100]}
    search = folds_search(SVC(kernel="precomputed"), grid, cv=FOLDS)(X @ X.T, y)
    theirs = GridSearchCV(SVC(kernel="precomputed"), grid, cv=FOLDS).fit(X @ X.T, y)
    assert_same_scores(search, theirs)
    for kernel in (pd.DataFrame(X @ X.T), (X @ X.T).tolist()):
        again = folds_search(SVC(kernel="precomputed"), grid, cv=FOLDS)(kernel, y)
        assert_same_scores(again, theirs)
    with pytest.raises(ValueError, match="precomputed"):
        GridSearchLZO(SVC(kernel="precomputed"), grid, augmenter=LabelInvariantMixup()).fit(X, y)


def test_rows_without_columns():
    rows = [{"a": row[0], "kind": str(int(row[2]))} for row in X]
    model = make_pipeline(DictVectorizer(), LogisticRegression(max_iter=500))
    grid = {"logisticregression__C": [0.01, 1]}
    search = folds_search(model, grid, cv=3)(rows, y)
    assert search.best_score_ > 0.8
    assert search.diagnose()["LZ11"].level == "not applicable"
    assert "<div" in search._repr_html_()
    only = GridSearchLZO(model, grid, loo="only").fit(rows, y)
    assert only.n_splits_ == 1


def test_lists_of_words():
    """Rows may be lists of unequal lengths, which a vectorizer reads."""
    rows = [[f"word {i % 2}", "other"][: 1 + i % 3] for i in range(30)]
    model = make_pipeline(CountVectorizer(analyzer=list), LogisticRegression())
    search = folds_search(model, {"logisticregression__C": [0.1, 1]})(rows, np.arange(30) % 2)
    assert search.best_score_ == 1.0


def test_paths_of_files(tmp_path):
    """No word of a path can be replaced: folds score models that read files."""
    paths = [str(tmp_path / f"{i}.txt") for i in range(20)]
    for i, path in enumerate(paths):
        Path(path).write_text("good day" if i % 2 else "bad night", encoding="utf-8")
    model = make_pipeline(TfidfVectorizer(input="filename"), LogisticRegression())
    search = folds_search(model, {"logisticregression__C": [0.1, 1]})(paths, np.arange(20) % 2)
    assert search.best_score_ == 1.0
    assert search.validation_set_ is None


class Survival(BaseEstimator):
    """A model of a structured target: event and time."""

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y):
        self.time_ = y["time"].mean() + self.shift
        return self

    def score(self, X, y):
        return -float(np.abs(y["time"] - self.time_).mean())


def test_structured_target():
    target = np.zeros(150, dtype=[("event", bool), ("time", float)])
    target["time"] = X[:, 0]
    search = folds_search(Survival(), {"shift": [0.0, 1.0]})(X, target)
    assert search.best_params_ == {"shift": 0.0}
    with pytest.raises(ValueError, match="y with fields"):
        GridSearchLZO(Survival(), {}, augmenter=LabelInvariantMixup()).fit(X, target)


def test_halving_and_weights():
    weight = np.linspace(0.5, 1.5, 150)
    with pytest.warns(UserWarning, match="scores every candidate by the 3 folds"):
        search = HalvingGridSearchLZO(
            LogisticRegression(max_iter=500), {"C": [0.01, 1, 10]}, cv=GroupKFold(3)
        ).fit(X, y, groups=GROUPS, sample_weight=weight)
    assert search.best_params_["C"] > 0.01
    assert search.cv_results_["n_resources"].max() == 150


def test_predictions_need_a_target():
    with pytest.raises(ValueError, match="requires a target"):
        leave_zero_out_predict(KMeans(), X, None)


def test_failed_folds_fail_a_candidate():
    class Fails(KNeighborsClassifier):
        def fit(self, X, y):
            if self.n_neighbors == 5:
                raise ValueError("text")
            return super().fit(X, y)

    search = GridSearchLZO(Fails(), NEIGHBORS, cv=FOLDS, error_score=-1.0)
    with (
        pytest.warns(UserWarning, match="because cv is a list"),
        pytest.warns(FitFailedWarning, match="1 of 3 candidates"),
    ):
        search.fit(X, y)
    assert search.cv_results_["mean_test_score"][1] == -1.0
    search.set_params(error_score="raise")
    with pytest.warns(UserWarning, match="cv is a list"), pytest.raises(ValueError, match="text"):
        search.fit(X, y)


def test_checkpoint_of_folds(tmp_path):
    options = {"cv": FOLDS, "checkpoint": tmp_path / "search.db", "random_state": 0}
    first = folds_search(KNeighborsClassifier(), NEIGHBORS, **options)(X, y)
    second = folds_search(KNeighborsClassifier(), NEIGHBORS, **options)(X, y)
    assert second.fit_counts_["candidate"] == 0
    assert second.best_score_ == first.best_score_


def simulate_groups(seed):
    """Return rows of patients: features and target share a level of each patient."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(40), 6)
    level = rng.normal(size=(40, 6))[groups]
    features = level + 0.05 * rng.normal(size=level.shape)
    effect = rng.normal(size=40)[groups]
    return features, features[:, 0] + 2 * effect, groups


def test_groups_where_random_folds_and_loo_mislead():
    """Neighbors of the same patient make one neighbor look perfect, except between patients."""
    features, target, groups = simulate_groups(0)
    grid = {"n_neighbors": [1, 30]}
    naive = GridSearchLZO(KNeighborsRegressor(), grid).fit(features, target)
    assert naive.best_params_ == {"n_neighbors": 1}
    right = folds_search(KNeighborsRegressor(), grid, cv=GroupKFold(5))
    assert right(features, target, groups=groups).best_params_ == {"n_neighbors": 30}


def test_time_series_where_random_folds_and_loo_mislead():
    """A random walk: the neighbors in time of a row predict it, but not the future."""
    rng = np.random.default_rng(0)
    time = np.arange(300.0)[:, None]
    walk = np.cumsum(rng.normal(size=300))
    grid = {"alpha": [1e-6, 1e6]}
    waves = np.hstack([np.sin(time / p) for p in (5, 9, 17, 31)] + [time])
    search = folds_search(Ridge(), grid, cv=TimeSeriesSplit(4))(waves, walk)
    theirs = GridSearchCV(Ridge(), grid, cv=TimeSeriesSplit(4)).fit(waves, walk)
    assert_same_scores(search, theirs)
    source = search.summary()["held_out"]["source"]  # of the figures of errors
    assert source == "240 predictions of the model fitted to the training rows of 4 folds"


class CountedScaler(StandardScaler):
    fitted = None

    def fit(self, X, y=None, sample_weight=None):
        self.fitted.append(len(X))
        return super().fit(X, y, sample_weight)


def test_candidates_share_work_within_a_fold():
    """Candidates that are fitted jointly on all rows are fitted jointly on each fold, too."""
    fitted = CountedScaler.fitted = []
    model = make_pipeline(CountedScaler(), KNeighborsClassifier())
    grid = {"kneighborsclassifier__n_neighbors": [1, 5, 25]}
    ours = folds_search(model, grid, cv=FOLDS, return_train_score=True)(X, y)
    assert fitted == [100, 100, 100, 150]
    theirs = GridSearchCV(model, grid, cv=FOLDS, return_train_score=True).fit(X, y)
    assert_same_scores(ours, theirs)


@pytest.mark.parametrize(
    "test_rows", [np.array([], int), np.zeros(150, bool), [150], [0.0], [[1], [2]], 3, None]
)
def test_folds_that_do_not_fit_the_data_are_errors(test_rows):
    X, y = load_iris(return_X_y=True)
    folds = [(np.arange(100), np.arange(100, 150)), (np.arange(150), test_rows)]
    search = GridSearchLZO(KNeighborsClassifier(), {"n_neighbors": [1, 2]}, cv=folds)
    with pytest.raises(ValueError, match="cv of GridSearchLZO must"):
        search.fit(X, y)
