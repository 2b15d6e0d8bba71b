"""Metrics of a search: names, callables, several at once, errors of scorers."""

import re

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import (
    make_blobs,
    make_classification,
    make_multilabel_classification,
    make_regression,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import (
    accuracy_score,
    confusion_matrix,
    f1_score,
    get_scorer,
    log_loss,
    make_scorer,
    recall_score,
    roc_auc_score,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from leavezero import AugmenterUnion, GridSearchLZO, LabelInvariantMixup
from leavezero.augment import GaussianAugmenter
from leavezero.exceptions import AllCandidatesFailedError, CandidateFailedWarning

GRID = {"C": [0.01, 1]}


class LinearSVCWithoutScore(LinearSVC):
    @property
    def score(self):
        raise AttributeError("score")


def splits(search, row, name="score"):
    return [search.cv_results_[f"split{r}_test_{name}"][row] for r in range(search.n_splits_)]


def replicates(search):
    """Yield X and y of each replicate of the validation set."""
    rows = search.validation_set_
    size = len(rows) // search.n_splits_
    for start in range(0, len(rows), size):
        yield rows.X[start : start + size], rows.y[start : start + size]


def without_times(results):
    return {name: column for name, column in results.items() if not name.endswith("_time")}


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc"])
def test_named_metric_requires_no_score_method(data, grid_search, scoring):
    expected = grid_search(LinearSVC(), GRID, scoring=scoring).fit(*data)
    search = grid_search(LinearSVCWithoutScore(), GRID, scoring=scoring).fit(*data)
    assert search.best_params_ == expected.best_params_
    assert search.score(*data) == expected.score(*data) < 1


def test_no_metric_and_no_score_method_raises(data, grid_search):
    with pytest.raises(TypeError, match="if no scoring is specified, the method score"):
        grid_search(LinearSVCWithoutScore(), GRID).fit(*data)


def test_score_method_of_an_estimator_is_used(data, grid_search):
    class Half(KNeighborsClassifier):
        def score(self, X, y, sample_weight=None):
            return super().score(X, y) / 2

    half = grid_search(Half(), {"n_neighbors": [1, 3]}).fit(*data).cv_results_
    plain = grid_search(KNeighborsClassifier(), {"n_neighbors": [1, 3]}).fit(*data).cv_results_
    np.testing.assert_allclose(half["mean_test_score"], plain["mean_test_score"] / 2)


def test_score_uses_the_metric_of_the_search(data, grid_search):
    X, y = data
    default, accuracy, auc = (
        grid_search(LinearSVC(), {"C": [0.1]}, scoring=scoring).fit(X, y)
        for scoring in (None, "accuracy", "roc_auc")
    )
    assert default.score(X, y) == accuracy.score(X, y) == accuracy_score(y, default.predict(X))
    assert auc.score(X, y) == roc_auc_score(y, auc.decision_function(X)) != default.score(X, y)


@pytest.mark.parametrize("scoring", ["f1", "roc_auc"])
def test_scores_are_those_on_each_replicate(data, grid_search, scoring):
    search = grid_search(LinearSVC(random_state=0), GRID, scoring=scoring).fit(*data)
    for row, C in enumerate(GRID["C"]):
        model = LinearSVC(random_state=0, C=C).fit(*data)
        expected = [
            f1_score(y, model.predict(X))
            if scoring == "f1"
            else roc_auc_score(y, model.decision_function(X))
            for X, y in replicates(search)
        ]
        np.testing.assert_allclose(splits(search, row), expected)


@pytest.mark.parametrize("tree", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_several_outputs_are_scored_by_the_score_method(grid_search, tree):
    X, y = make_multilabel_classification(50, 6, n_classes=3, random_state=0)
    search = grid_search(tree(random_state=0), {"max_depth": [1, 3]}).fit(X, y)
    assert search.predict(X).shape == (50, 3)
    for row, params in enumerate(search.cv_results_["params"]):
        model = tree(random_state=0, **params).fit(X, y)
        expected = [model.score(*rows) for rows in replicates(search)]
        np.testing.assert_allclose(splits(search, row), expected)


def test_negative_scores(grid_search):
    X, y = make_regression(80, 4, noise=10.0, random_state=0)
    grid, scoring = {"alpha": [0.1, 1000.0]}, "neg_mean_squared_error"
    search = grid_search(Ridge(), grid, scoring=scoring, augmenter="auto").fit(X, y)
    assert search.best_params_ == {"alpha": 0.1}
    assert search.best_score_ < 0


def test_clusterers_are_selected_by_labels(grid_search):
    X, y = make_blobs(50, random_state=0, cluster_std=0.5)
    model, grid = KMeans(random_state=0, n_init=1), {"n_clusters": [2, 3, 4]}
    names = ["adjusted_rand_score", "fowlkes_mallows_score"]
    for name in names:
        for params in ({"scoring": name}, {"scoring": names, "refit": name}):
            search = grid_search(model, grid, **params).fit(X, y)
            assert search.best_params_ == {"n_clusters": 3}


# Several metrics


@pytest.mark.parametrize("scoring", [["accuracy", "recall"], ("accuracy", "recall")])
def test_several_metrics_equal_separate_searches(data, grid_search, scoring):
    grid = {"C": [0.001, 1], "gamma": [0.1, 1.0]}
    search = grid_search(SVC(), grid, scoring=scoring, refit="accuracy").fit(*data)
    accuracy = grid_search(SVC(), grid, scoring="accuracy").fit(*data)
    recall = grid_search(SVC(), grid, scoring="recall").fit(*data)
    expected = {re.sub("_score$", "_accuracy", k): v for k, v in accuracy.cv_results_.items()}
    expected |= {re.sub("_score$", "_recall", k): v for k, v in recall.cv_results_.items()}
    np.testing.assert_equal(without_times(search.cv_results_), without_times(expected))
    assert (search.multimetric_, accuracy.multimetric_) == (True, False)
    assert sorted(search.scorer_) == ["accuracy", "recall"]
    assert search.best_params_ == accuracy.best_params_
    assert search.best_score_ == accuracy.best_score_
    assert search.score(*data) == accuracy.score(*data)


def test_dict_of_names_scorers_and_callables(data, grid_search):
    def n_rows(model, X, y):
        return len(X)

    scoring = {"hits": make_scorer(accuracy_score), "found": "recall", "rows": n_rows}
    search = grid_search(SVC(), GRID, scoring=scoring, refit="hits").fit(*data)
    accuracy = grid_search(SVC(), GRID, scoring="accuracy").fit(*data)
    assert search.cv_results_["mean_test_rows"].tolist() == [40, 40]
    np.testing.assert_allclose(
        search.cv_results_["mean_test_hits"], accuracy.cv_results_["mean_test_score"]
    )


def test_callable_that_returns_a_dict(data, grid_search):
    def counts(model, X, y):
        (tn, fp), (fn, tp) = confusion_matrix(y, model.predict(X))
        return {"tn": tn, "fp": fp, "fn": fn, "tp": tp}

    search = grid_search(SVC(), GRID, scoring=counts, refit="fp").fit(*data)
    total = sum(search.cv_results_[f"mean_test_{name}"] for name in ("tn", "fp", "fn", "tp"))
    assert total.tolist() == [40, 40]
    assert search.multimetric_ is True
    assert search.score(*data) == confusion_matrix(data[1], search.predict(data[0]))[0, 1]


def test_forms_of_a_single_metric_are_equivalent(data, grid_search):
    """A callable, a callable that returns a dict, a name, a list of one name."""

    def recall(model, X, y):
        return recall_score(y, model.predict(X))

    def as_dict(model, X, y):
        return {"recall": recall(model, X, y), "other": 0.0}

    searches = [
        grid_search(SVC(), GRID, scoring=recall),
        grid_search(SVC(), GRID, scoring=as_dict, refit="recall"),
        grid_search(SVC(), GRID, scoring="recall", refit="recall"),
        grid_search(SVC(), GRID, scoring=["recall"], refit="recall"),
    ]
    results = [(s.fit(*data).best_index_, s.best_score_, s.score(*data)) for s in searches]
    for result in results[1:]:
        np.testing.assert_allclose(result, results[0])


@pytest.mark.parametrize(
    ("scoring", "refit", "message"),
    [
        (
            ["accuracy", "f1"],
            True,
            "refit must be set to .* are accuracy, f1; got True",
        ),
        ({"acc": "accuracy"}, "accuracy", "scorer key .* are acc; got 'accuracy'"),
        (lambda model, X, y: {"a": 1.0, "b": 2.0}, True, "are a, b; got True"),
        (lambda model, X, y: {"a": 1.0}, "c", "scorer key .* are a; got 'c'"),
    ],
)
def test_refit_must_name_a_metric(data, grid_search, scoring, refit, message):
    with pytest.raises(ValueError, match=message):
        grid_search(SVC(), GRID, scoring=scoring, refit=refit).fit(*data)


# Scorers of the user


def accuracy_of(model, X, y):
    return accuracy_score(y, model.predict(X))


def roc_auc_of(model, X, y):
    return get_scorer("roc_auc")(model, X, y)


def both_of(model, X, y):
    return {"accuracy": accuracy_of(model, X, y), "roc_auc": roc_auc_of(model, X, y)}


MODEL = make_pipeline(StandardScaler(), LogisticRegression())
PENALTIES = {"logisticregression__C": [1e-3, 1e-1, 1]}


UNION = AugmenterUnion([LabelInvariantMixup(), GaussianAugmenter()])


def scores_of(scoring, refit=True, **options):
    X, y = make_classification(200, flip_y=0.2, random_state=0)
    options |= {"augmenter": UNION, "n_replicates": 3}
    return GridSearchLZO(MODEL, PENALTIES, scoring=scoring, refit=refit, **options).fit(X, y)


@pytest.mark.parametrize(
    ("name", "scorer"),
    [
        ("accuracy", make_scorer(accuracy_score)),
        (
            "neg_log_loss",
            make_scorer(log_loss, greater_is_better=False, response_method="predict_proba"),
        ),
        ("roc_auc", roc_auc_of),
    ],
)
def test_scores_of_a_metric_do_not_depend_on_how_it_is_given(name, scorer):
    by_name, by_scorer = (scores_of(one).cv_results_ for one in (name, scorer))
    assert np.isfinite(by_name["mean_loo_score"]).all()
    for column in [c for c in by_name if c.endswith("_score")]:
        np.testing.assert_allclose(by_scorer[column], by_name[column], rtol=1e-12, err_msg=column)


def test_callable_that_returns_several_scores_has_loo_scores():
    names = ["accuracy", "roc_auc"]
    by_name = scores_of(names, refit="roc_auc")
    by_callable = scores_of(both_of, refit="roc_auc")
    for name in names:
        column = f"mean_loo_{name}"
        np.testing.assert_allclose(by_callable.cv_results_[column], by_name.cv_results_[column])
    assert by_callable.best_score_ == pytest.approx(by_name.best_score_)


def test_callable_that_uses_the_steps_of_a_pipeline():
    """It receives the model itself, and leave-one-out scores do not exist."""

    def of_steps(model, X, y):
        assert isinstance(model, Pipeline)
        return model[-1].score(model[:-1].transform(X), y)

    search = scores_of(of_steps, error_score="raise")
    assert np.isnan(search.cv_results_["mean_loo_score"]).all()
    assert search.best_score_ > 0.5


def test_callable_that_predicts_other_rows():
    def of_half(model, X, y):
        return float(np.mean(model.predict(X[::2]) == y[::2]))

    search = scores_of(of_half, error_score="raise")
    assert "for X itself only" in search.cv_results_["loo_note"][0]
    assert search.best_score_ > 0.5


def test_scorer_from_any_callable(data, grid_search):
    class Hits:
        def __call__(self, y_true, y_pred):
            return np.mean(y_true == y_pred)

    search = grid_search(SVC(), GRID, scoring=make_scorer(Hits())).fit(*data)
    accuracy = grid_search(SVC(), GRID, scoring="accuracy").fit(*data)
    assert search.best_score_ == pytest.approx(accuracy.best_score_)
    counts = grid_search(SVC(), GRID, scoring=make_scorer(accuracy_score, normalize=False))
    np.testing.assert_allclose(
        counts.fit(*data).cv_results_["mean_test_score"] / 40,
        accuracy.cv_results_["mean_test_score"],
    )


def test_loss_is_negated(data, grid_search):
    def errors(y_true, y_pred):
        return np.mean(y_true != y_pred)

    loss = grid_search(SVC(), GRID, scoring=make_scorer(errors, greater_is_better=False))
    accuracy = grid_search(SVC(), GRID, scoring="accuracy")
    assert loss.fit(*data).best_params_ == accuracy.fit(*data).best_params_
    assert loss.best_score_ == pytest.approx(accuracy.best_score_ - 1)


def test_scorer_that_fails_for_some_candidates(data, grid_search):
    def fails_for_10(model, X, y):
        if model.C == 10:
            raise RuntimeError("not today")
        return model.C

    grid = {"C": [0.1, 1, 10]}
    with pytest.warns(
        CandidateFailedWarning, match=r"1 of . candidates .* could not be scored(.|\n)*not today"
    ):
        search = grid_search(SVC(), grid, scoring=fails_for_10).fit(*data)
    assert search.best_params_ == {"C": 1}
    with pytest.raises(RuntimeError, match="not today"):
        grid_search(SVC(), grid, scoring=fails_for_10, error_score="raise").fit(*data)
    with pytest.raises(AllCandidatesFailedError, match=r"All scores(.|\n)*not today"):
        grid_search(SVC(), {"C": [10]}, scoring=fails_for_10).fit(*data)


def test_failing_metric_does_not_affect_the_others(data, grid_search):
    def fails(model, X, y):
        raise RuntimeError("no")

    search = grid_search(SVC(), GRID, scoring={"good": "accuracy", "bad": fails}, refit="good")
    with pytest.warns(CandidateFailedWarning, match="2 of . candidates .* could not be scored"):
        search.fit(*data)
    assert np.all(np.isnan(search.cv_results_["mean_test_bad"]))
    assert search.best_score_ == search.cv_results_["mean_test_good"].max()


def test_scorer_must_return_numbers(data, grid_search):
    search = grid_search(SVC(), GRID, scoring=lambda model, X, y: [1, 2], error_score="raise")
    with pytest.raises(ValueError, match=r"scoring must return a number .*returned \[1, 2\]"):
        search.fit(*data)
