"""Searches on streams."""

import numpy as np
import pytest
from sklearn.cluster import MiniBatchKMeans
from sklearn.linear_model import LinearRegression, SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB

from leavezero import PrequentialSearchLZO

ALPHAS = {"alpha": [1e-4, 1e-2, 1.0, 100.0]}


def simulate(n_rows, seed=0, weights=(2.0, -1.0, 0.5)):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, (X @ weights + rng.normal(size=n_rows) > 0).astype(int)


def test_scores_come_before_learning():
    """The scores of a single candidate are those of test-then-train."""
    X, y = simulate(500)
    search = PrequentialSearchLZO(GaussianNB(), {"var_smoothing": [1e-9]}, fading=0.5)
    search.fit(X, y)
    model, scores = GaussianNB(), []
    for start in range(0, 500, 100):
        rows = slice(start, start + 100)
        if start:
            scores.append(model.score(X[rows], y[rows]))
        model.partial_fit(X[rows], y[rows], classes=[0, 1])
    assert search.prequential_score_ == pytest.approx(np.mean(scores))
    assert search.best_score_ == pytest.approx(np.average(scores, weights=[1, 2, 4, 8]))
    np.testing.assert_array_equal(search.predict_proba(X), model.predict_proba(X))
    assert search.score(X, y) == model.score(X, y)
    assert search.n_batches_ == 5


def test_bad_candidates_are_dropped():
    X, y = simulate(3000)
    search = PrequentialSearchLZO(SGDClassifier(), ALPHAS, random_state=0).fit(X, y)
    table = search.cv_results_
    assert table["param_alpha"].tolist() == ALPHAS["alpha"]
    assert table["n_batches"][3] < 29
    assert np.isnan(table["mean_test_score"][3])
    assert table["rank_test_score"][search.best_index_] == 1
    assert table["n_batches"][search.best_index_] == 29
    everything = PrequentialSearchLZO(SGDClassifier(), ALPHAS, alpha=None, random_state=0)
    assert everything.fit(X, y).cv_results_["n_batches"].tolist() == [29] * 4
    assert everything.best_params_ == search.best_params_


@pytest.mark.parametrize("n_candidates", [2, 9])
def test_equal_candidates_are_rarely_dropped(n_candidates):
    """At level 0.05 in each of 40 streams of 60 batches, also with few batches and many pairs."""
    n_dropped = 0
    for seed in range(40):
        search = PrequentialSearchLZO(SGDClassifier(), {"alpha": [0.1] * n_candidates})
        search._start(np.array([0, 1]))
        rng = np.random.default_rng(seed)
        for scores in rng.normal(size=(60, n_candidates)):
            left = np.isin(np.arange(n_candidates), list(search._models))
            search._add_scores(np.where(left, scores, np.nan), 10)
        n_dropped += len(search._models) < n_candidates
    assert n_dropped <= 5


def test_the_best_may_change():
    """After the relation is reversed, the fading average prefers the faster learner."""
    X, y = simulate(4000)
    y[2000:] = 1 - y[2000:]
    grid = {"learning_rate": ["constant", "invscaling"], "eta0": [0.1], "power_t": [1.0]}
    model = SGDClassifier(loss="log_loss")
    search = PrequentialSearchLZO(model, grid, alpha=None, fading=0.9, random_state=0)
    assert search.fit(X, y).best_params_["learning_rate"] == "constant"


def test_without_classes_and_without_target():
    X, _ = simulate(600)
    target = X @ [1.0, 2.0, 3.0]
    search = PrequentialSearchLZO(SGDRegressor(), {"eta0": [1e-6, 0.01]}, random_state=0)
    assert search.fit(X, target).best_params_ == {"eta0": 0.01}
    clusters = PrequentialSearchLZO(MiniBatchKMeans(n_init=1), {"n_clusters": [1, 2]}).fit(X)
    assert clusters.best_params_ == {"n_clusters": 2}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"estimator": LinearRegression()}, "requires an estimator with partial_fit"),
        ({"fading": 0.0}, r"fading of PrequentialSearchLZO must be in \(0, 1\]"),
        ({"alpha": 2}, r"alpha of PrequentialSearchLZO must be None or in \(0, 1\)"),
        ({"batch_size": 0}, "batch_size of PrequentialSearchLZO must be a positive int"),
    ],
)
def test_bad_parameters(options, message):
    X, y = simulate(50)
    search = PrequentialSearchLZO(SGDClassifier(), ALPHAS).set_params(**options)
    with pytest.raises((TypeError, ValueError), match=message):
        search.fit(X, y)


@pytest.mark.parametrize(
    ("n_rows", "target", "scoring", "message"),
    [
        (0, True, None, "requires at least 1 row per batch, got 0"),
        (300, False, None, "requires y for SGDClassifier"),
        (
            300,
            True,
            ["accuracy", "f1"],
            "scoring of PrequentialSearchLZO must be None, the name of",
        ),
        (300, True, lambda model, X, y: np.nan, "requires finite scores of a batch"),
    ],
)
def test_bad_batches(n_rows, target, scoring, message):
    X, y = simulate(n_rows)
    search = PrequentialSearchLZO(SGDClassifier(), ALPHAS, scoring=scoring)
    with pytest.raises(ValueError, match=message):
        search.fit(X, y if target else None)


@pytest.mark.parametrize("estimator", [SGDClassifier(random_state=0), GaussianNB()])
@pytest.mark.parametrize("is_first", [True, False])
def test_a_refused_batch_changes_nothing(estimator, is_first):
    """Nor does it in the first batch, after which the stream may start anew."""
    X, y = simulate(300)
    grid = ALPHAS if isinstance(estimator, SGDClassifier) else {"var_smoothing": [1e-9, 1e-2]}
    searches = [PrequentialSearchLZO(estimator, grid) for _ in range(2)]
    for search in searches:
        if not is_first:
            search.partial_fit(X[:100], y[:100], classes=[0, 1])
    for rows, labels in ((X[100:200], y[100:200] + 2), (X[100:200] * np.nan, y[100:200])):
        with pytest.raises(
            ValueError, match=r"labels that are in classes, got 2, 3\.|contains NaN"
        ):
            searches[0].partial_fit(rows, labels, classes=[0, 1])
    for search in searches:
        search.partial_fit(X[200:], y[200:], classes=[0, 1])
    assert searches[0].n_batches_ == searches[1].n_batches_
    np.testing.assert_array_equal(
        searches[0].cv_results_["mean_test_score"], searches[1].cv_results_["mean_test_score"]
    )
    np.testing.assert_array_equal(searches[0].predict(X), searches[1].predict(X))


class Refusing(SGDClassifier):
    """A classifier whose second batch is refused, for one candidate."""

    def partial_fit(self, X, y, classes=None):
        if self.alpha == 1.0 and hasattr(self, "coef_"):
            raise ValueError("no more")
        return super().partial_fit(X, y, classes)


def test_a_batch_that_one_candidate_refuses_changes_none():
    X, y = simulate(200)
    search = PrequentialSearchLZO(Refusing(random_state=0), {"alpha": [0.01, 1.0]})
    before = search.partial_fit(X[:100], y[:100], classes=[0, 1]).decision_function(X)
    with pytest.raises(ValueError, match="no more"):
        search.partial_fit(X[100:], y[100:])
    np.testing.assert_array_equal(search.decision_function(X), before)
    with pytest.raises(ValueError, match="no more"):
        search.fit(X, y)
    with pytest.raises(ValueError, match="inconsistent"):
        search.fit(X, y[:10])
    assert not hasattr(search, "best_estimator_")


@pytest.mark.parametrize("rows", [None, "text", {"a": [1]}])
def test_batches_are_tables(rows):
    for method in ("fit", "partial_fit"):
        with pytest.raises(TypeError, match="X passed to PrequentialSearchLZO must be an array"):
            getattr(PrequentialSearchLZO(SGDClassifier(), ALPHAS), method)(rows, [0, 1])


def test_classes_are_required():
    with pytest.raises(ValueError, match="requires classes"):
        PrequentialSearchLZO(SGDClassifier(), ALPHAS).partial_fit(*simulate(50))
