"""Parameters of fit: weights, groups, arbitrary ones, and scikit-learn's metadata routing."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GroupKFold
from sklearn.svm import SVC, LinearSVC

from leavezero import CandidateSearchLZO, FixedValidationSet, GridSearchLZO, LabelInvariantMixup
from leavezero.augment import CopulaAugmenter, GaussianAugmenter


class Recording(ClassifierMixin, BaseEstimator):
    """A classifier that keeps the parameters of fit."""

    def __init__(self, level=0):
        self.level = level

    def fit(self, X, y, sample_weight=None, **params):
        self.classes_, self.params_ = np.unique(y), params
        if sample_weight is not None:
            self.params_["sample_weight"] = sample_weight
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def share_of_ones(y_true, y_pred, sample_weight=None):
    return np.average(y_true, weights=sample_weight)


# Without routing


def test_parameters_of_fit_reach_every_candidate_unchanged(data, make_search):
    """Also numbers, callables and tuples of arrays, such as LightGBM's eval_set."""
    eval_set, ones = (data[0][:7], data[1][:7]), np.ones(40)
    search = make_search(Recording(), {"level": [1, 2]}, error_score="raise")
    search.fit(*data, number=42, call=len, rows=list(range(40)), ones=ones, eval_set=eval_set)
    params = dict(search.best_estimator_.params_)
    np.testing.assert_array_equal(params.pop("ones"), ones)
    for received, expected in zip(params.pop("eval_set"), eval_set, strict=True):
        np.testing.assert_array_equal(received, expected)
    assert params == {"number": 42, "call": len, "rows": list(range(40))}


def test_unknown_parameter_of_fit_raises_the_error_of_the_estimator(data, grid_search):
    with pytest.raises(TypeError, match="unexpected keyword argument 'spam'"):
        grid_search(SVC(), {"C": [1]}, error_score="raise").fit(*data, spam=1)


def test_groups_reach_the_augmenter_and_the_folds_only(data, grid_search):
    groups = np.arange(40) % 4
    search = grid_search(Recording(), {"level": [1, 2]}, cv_finalists=2, cv=GroupKFold(2))
    with pytest.raises(ValueError, match="'groups' parameter should not be None"):
        search.fit(*data)
    search.fit(*data, groups=groups)
    assert search.best_estimator_.params_ == {}
    assert search.fit_counts_["cv"] == 4
    mixed = groups[search.validation_set_.source_rows]
    np.testing.assert_array_equal(mixed[:, 0], mixed[:, 1])


def test_none_means_not_passed(data, grid_search):
    first = grid_search(Recording(), {"level": [1, 2]}).fit(*data)
    second = grid_search(Recording(), {"level": [1, 2]})
    second.fit(*data, groups=None, sample_weight=None)
    assert first.best_score_ == second.best_score_
    assert second.best_estimator_.params_ == {}


# Weights


@pytest.mark.parametrize(
    ("estimator", "grid"),
    [(LogisticRegression(), {"C": [1, 10]}), (Ridge(), {"alpha": [1.0, 0.1]})],
)
def test_integer_weights_equal_repeated_rows(rng, grid_search, estimator, grid):
    """With a validation set that does not depend on the data."""
    X, y = rng.normal(size=(60, 3)), rng.integers(3, size=60)
    rows = FixedValidationSet(rng.normal(size=(30, 3)), rng.integers(3, size=30))
    weight = rng.integers(0, 4, size=60)
    weighted = grid_search(estimator, grid, augmenter=rows).fit(X, y, sample_weight=weight)
    repeated = grid_search(estimator, grid, augmenter=rows)
    repeated.fit(X.repeat(weight, 0), y.repeat(weight))
    for name in ("mean_test_score", "rank_test_score"):
        np.testing.assert_allclose(weighted.cv_results_[name], repeated.cv_results_[name])
    assert weighted.best_index_ == repeated.best_index_
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X))


@pytest.mark.parametrize("augmenter", [LabelInvariantMixup(), CopulaAugmenter()])
def test_equal_weights_change_nothing(data, grid_search, augmenter):
    params = {"augmenter": augmenter}
    plain = grid_search(LogisticRegression(), {"C": [0.1, 1]}, **params).fit(*data)
    ones = grid_search(LogisticRegression(), {"C": [0.1, 1]}, **params)
    ones.fit(*data, sample_weight=np.ones(40))
    np.testing.assert_allclose(
        ones.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"]
    )


def test_weight_of_a_generated_row_is_the_mean_over_its_source_rows(data, grid_search):
    weight = np.random.default_rng(1).uniform(0, 3, size=40)
    search = grid_search(LogisticRegression(), {"C": [0.1, 1]}, n_replicates=1)
    search.fit(*data, sample_weight=weight)
    rows = search.validation_set_
    row_weight = weight[rows.source_rows].mean(axis=1)
    expected = accuracy_score(rows.y, search.predict(rows.X), sample_weight=row_weight)
    assert search.best_score_ == pytest.approx(expected)


def test_rows_without_source_rows_are_sampled_from_the_weighted_data(grid_search):
    X, y = make_classification(120, 5, flip_y=0.2, random_state=0)
    weight = np.where(y == 1, 9.0, 1.0)
    search = grid_search(LogisticRegression(), {}, augmenter=CopulaAugmenter(), n_replicates=4)
    share = search.fit(X, y, sample_weight=weight).validation_set_.y.mean()
    assert share == pytest.approx(np.average(y, weights=weight), abs=0.03)


@pytest.mark.parametrize("name", ["sample_weight", "groups"])
def test_length_of_weights_and_groups_is_checked(data, grid_search, name):
    message = rf"{name} passed to GridSearchLZO must have one entry per row of X \(40\), got 39"
    with pytest.raises(ValueError, match=message):
        grid_search(LogisticRegression(), {}).fit(*data, **{name: np.ones(39)})


@pytest.mark.parametrize("kind", ["scorer", "callable", "several"])
def test_metric_without_weights_receives_rows_sampled_by_weight(data, grid_search, kind):
    def hits(y_true, y_pred):
        return np.mean(y_true == y_pred)

    def hits_of(model, X, y):
        return hits(y, model.predict(X))

    scoring = {
        "scorer": make_scorer(hits),
        "callable": hits_of,
        "several": {"hits": make_scorer(hits), "accuracy": "accuracy"},
    }[kind]
    name = "hits" if kind == "several" else "score"
    weight = np.where(data[1] == 1, 1.0, 1e-9)  # only rows of class 1 count
    search = grid_search(DummyClassifier(), {"strategy": ["constant"], "constant": [0, 1]})
    search.set_params(scoring=scoring, refit="hits" if kind == "several" else True)
    search.fit(*data, sample_weight=weight)
    assert search.cv_results_[f"mean_test_{name}"].tolist() == [0, 1]


# Metadata routing


def test_each_metric_receives_its_metadata(data, make_search):
    """Weights are means over source rows, other metadata are those of the first source row."""
    calls, weights, other = [], np.arange(1.0, 41.0), np.arange(100, 140)

    def record(y_true, y_pred, sample_weight=None, metadata=None):
        calls.append((len(y_true), sample_weight, metadata))
        return 0.5

    with config_context(enable_metadata_routing=True):
        scorer = make_scorer(record)
        scorer.set_score_request(sample_weight="score_weights", metadata="score_metadata")
        scoring = {"recorded": scorer, "accuracy": "accuracy"}
        search = make_search(LinearSVC(), {"C": [1]}, scoring=scoring, refit="accuracy")
        search.fit(*data, score_weights=weights, score_metadata=other)
    assert len(calls) == 2
    for replicate, (n_rows, row_weights, metadata) in enumerate(calls):
        rows = search.validation_set_.source_rows[40 * replicate : 40 * (replicate + 1)]
        assert n_rows == 40
        np.testing.assert_allclose(row_weights, weights[rows].mean(axis=1))
        np.testing.assert_array_equal(metadata, other[rows[:, 0]])


def test_metadata_per_row_require_source_rows_or_folds(data, grid_search):
    def metric(y_true, y_pred, metadata):
        assert len(metadata) == len(y_true)
        return 0.5

    with config_context(enable_metadata_routing=True):
        scorer = make_scorer(metric).set_score_request(metadata=True)
        search = grid_search(LinearSVC(), {}, scoring=scorer, augmenter=GaussianAugmenter())
        with pytest.raises(ValueError, match=r"metadata is routed to the scorer .* source rows"):
            search.fit(*data, metadata=np.arange(40))
        search.set_params(augmenter="auto", loo="auto", error_score="raise")
        with pytest.warns(UserWarning, match="folds of cv.* metadata of training rows"):
            assert search.fit(*data, metadata=np.arange(40)).best_score_ == 0.5


def test_metrics_with_different_weights(data, grid_search):
    y = data[1]
    with config_context(enable_metadata_routing=True):
        scoring = {
            "zeros": make_scorer(share_of_ones).set_score_request(sample_weight="for_zeros"),
            "ones": make_scorer(share_of_ones).set_score_request(sample_weight="for_ones"),
        }
        search = grid_search(LinearSVC(), {"C": [1]}, scoring=scoring, refit=False)
        weights = {"for_zeros": 1e-9 + (y == 0), "for_ones": 1e-9 + (y == 1)}
        search.fit(*data, **weights)
        with pytest.warns(UserWarning, match="folds of cv.* different weights"):
            search.set_params(augmenter="auto", loo="auto").fit(*data, **weights)
        assert search.cv_results_["mean_test_zeros"][0] == pytest.approx(0, abs=1e-6)
        with pytest.raises(ValueError, match="metrics of GridSearchLZO have different weights"):
            search.set_params(augmenter=GaussianAugmenter(), loo=False).fit(*data, **weights)
        search.set_params(augmenter=LabelInvariantMixup()).fit(*data, **weights)
    assert search.cv_results_["mean_test_zeros"][0] == pytest.approx(0, abs=1e-6)
    assert search.cv_results_["mean_test_ones"][0] == pytest.approx(1, abs=1e-6)


def test_weights_go_only_where_they_are_requested(data, grid_search):
    weight = np.where(data[1] == 1, 1.0, 1e-9)
    with config_context(enable_metadata_routing=True):
        fitted, scored = (
            grid_search(
                LogisticRegression().set_fit_request(sample_weight=in_fit),
                {"C": [1]},
                scoring=make_scorer(share_of_ones).set_score_request(sample_weight=not in_fit),
            ).fit(*data, sample_weight=weight)
            for in_fit in (True, False)
        )
    assert fitted.best_score_ == pytest.approx(0.5, abs=0.1)
    assert (fitted.predict(data[0]) == 1).all()
    assert scored.best_score_ == pytest.approx(1.0)
    assert 0 < scored.predict(data[0]).mean() < 1


def test_each_named_estimator_receives_what_it_requested(data):
    with config_context(enable_metadata_routing=True):
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight=False)
        requests = Recording().set_fit_request(sample_weight=True)
        does_not = Recording(level=1).set_fit_request(sample_weight=False)
        for candidates in ([requests, does_not], [does_not, requests]):
            for row, candidate in enumerate(candidates):
                search = CandidateSearchLZO(
                    dict(zip("ab", candidates, strict=True)),
                    scoring=scorer,
                    refit=lambda results, row=row: row,
                    augmenter=LabelInvariantMixup(),
                    n_replicates=1,
                    random_state=0,
                ).fit(*data, sample_weight=np.ones(40))
                assert len(search.best_estimator_.params_) == (candidate is requests)


def test_groups_with_routing(data):
    with config_context(enable_metadata_routing=True):
        groups = np.arange(40) % 5
        search = GridSearchLZO(SVC(), {}, augmenter=LabelInvariantMixup(), random_state=0)
        mixed = groups[search.fit(*data, groups=groups).validation_set_.source_rows]
    np.testing.assert_array_equal(mixed[:, 0], mixed[:, 1])


def test_metadata_that_nobody_requested_raise(data, grid_search):
    with (
        config_context(enable_metadata_routing=True),
        pytest.raises(TypeError, match=r"unexpected argument\(s\) {'spam'}"),
    ):
        grid_search(LinearSVC(), {"C": [1]}).fit(*data, spam=1)


def test_metadata_of_score(data, grid_search):
    weight = np.where(data[1] == 1, 1.0, 0.0)
    model = DummyClassifier(strategy="constant", constant=1)
    with config_context(enable_metadata_routing=True):
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight=True)
        search = grid_search(model, {}, scoring=scorer).fit(*data)
        assert search.score(*data, sample_weight=weight) == 1.0
        assert search.score(*data) == pytest.approx(data[1].mean())
    with pytest.raises(ValueError, match="is only supported if metadata routing"):
        search.score(*data, metadata=1)
