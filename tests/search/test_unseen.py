"""The second witness: rows that a model has not seen, from its one fit."""

import numpy as np
import optuna
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import make_scorer, roc_auc_score
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from leavezero import (
    CandidateSearchLZO,
    FixedValidationSet,
    GridSearchLZO,
    HalvingGridSearchLZO,
    LabelInvariantMixup,
    OptunaSearchLZO,
)
from leavezero.engine import _combine
from leavezero.exceptions import AllCandidatesFailedError

X, Y = make_classification(120, 5, flip_y=0.2, random_state=0)
NEIGHBORS = {"n_neighbors": [1, 5, 25]}
FEW = {"n_replicates": 3, "augmenter": LabelInvariantMixup(), "random_state": 0}


def test_alone_it_is_leave_one_out_without_a_fit():
    """The scores are those of leave-one-out, from one fit a candidate and no V."""
    search = GridSearchLZO(KNeighborsClassifier(), NEIGHBORS, unseen="only").fit(X, Y)
    for row, params in enumerate(search.cv_results_["params"]):
        said = cross_val_predict(KNeighborsClassifier(**params), X, Y, cv=LeaveOneOut())
        assert search.cv_results_["mean_test_score"][row] == pytest.approx(np.mean(said == Y))
    assert search.n_fits_ == 3
    assert search.validation_set_ is None
    assert search.selection_.source == "given rows"
    assert search.predict(X).shape == Y.shape


def test_both_witnesses_have_their_columns():
    """V's plain score, the unseen one, and what both make of it."""
    both = GridSearchLZO(KNeighborsClassifier(), NEIGHBORS, **FEW).fit(X, Y)
    alone = GridSearchLZO(KNeighborsClassifier(), NEIGHBORS, unseen="off", **FEW).fit(X, Y)
    only = GridSearchLZO(KNeighborsClassifier(), NEIGHBORS, unseen="only", **FEW).fit(X, Y)
    results = both.cv_results_
    np.testing.assert_array_equal(
        results["mean_augmented_score"], alone.cv_results_["mean_test_score"]
    )
    np.testing.assert_array_equal(results["mean_unseen_score"], only.cv_results_["mean_test_score"])
    assert set(results["unseen_kind"]) == {"exact"}
    splits = [results[f"split{r}_test_score"] for r in range(3)]
    np.testing.assert_allclose(np.mean(splits, axis=0), results["mean_test_score"])
    assert "mean_unseen_score" not in alone.cv_results_
    assert both.n_fits_ == alone.n_fits_ == 3


def test_a_model_that_memorises_is_found_out():
    """On mix-ups of pure noise 1-NN looks fine; rows it has not seen know better."""
    rng = np.random.default_rng(0)
    noise, target = rng.normal(size=(200, 10)), rng.integers(2, size=200)
    models = {"one": KNeighborsClassifier(1), "many": KNeighborsClassifier(75)}
    fooled = CandidateSearchLZO(models, unseen="off", **FEW).fit(noise, target)
    warned = CandidateSearchLZO(models, **FEW).fit(noise, target)
    assert fooled.cv_results_["mean_test_score"][0] > 0.8
    assert warned.cv_results_["mean_test_score"][0] == pytest.approx(0.5, abs=0.1)


def test_candidates_without_the_second_witness_stay_comparable():
    """A tree that answers as 1-NN does is corrected as 1-NN is."""
    rng = np.random.default_rng(1)
    noise, target = rng.normal(size=(150, 8)), rng.integers(2, size=150)
    models = {
        "neighbors": (KNeighborsClassifier(), {"n_neighbors": [1, 3, 9, 41]}),
        "tree": DecisionTreeClassifier(random_state=0),
    }
    search = CandidateSearchLZO(models, **FEW).fit(noise, target)
    results = search.cv_results_
    assert np.isnan(results["mean_unseen_score"][-1])
    assert results["unseen_note"][-1] == "no family knows DecisionTreeClassifier"
    assert results["mean_test_score"][-1] < results["mean_augmented_score"][-1] - 0.1


@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy", "roc_auc", "neg_log_loss"])
def test_every_metric_that_responses_suffice_for(scoring):
    """Labels, decisions and probabilities."""
    model = make_pipeline(StandardScaler(), LogisticRegression())
    search = GridSearchLZO(model, {"logisticregression__C": [0.01, 1.0]}, scoring=scoring, **FEW)
    results = search.fit(X, Y).cv_results_
    assert np.all(np.isfinite(results["mean_unseen_score"]))
    assert set(results["unseen_kind"]) == {"approximate"}


def test_numbers_have_it_too():
    """Ridge's closed form and the span rule of support vectors, in one table."""
    data = make_regression(80, 4, noise=20.0, random_state=0)
    models = {"ridge": (Ridge(), {"alpha": [0.1, 10.0]}), "svr": SVR(C=100.0)}
    results = CandidateSearchLZO(models, n_replicates=3, random_state=0).fit(*data).cv_results_
    assert results["unseen_kind"].tolist() == ["exact", "exact", "approximate"]
    said = cross_val_predict(Ridge(alpha=0.1), *data, cv=LeaveOneOut())
    expected = 1 - np.sum((said - data[1]) ** 2) / np.sum((data[1] - data[1].mean()) ** 2)
    assert results["mean_unseen_score"][0] == pytest.approx(expected)


def test_notes_say_why_there_is_none():
    """A supervised step, a metric that looks at rows, responses that do not suffice, a doubt."""
    chosen = make_pipeline(SelectKBest(k=2), LogisticRegression())
    models = {"chosen": chosen, "plain": LogisticRegression()}
    results = CandidateSearchLZO(models, **FEW).fit(X, Y).cv_results_
    assert "the step 'selectkbest'" in results["unseen_note"][0]
    assert results["unseen_note"][1] is None
    own = GridSearchLZO(LogisticRegression(), {}, scoring=_by_hand, **FEW).fit(X, Y)
    assert "looks at rows" in own.cv_results_["unseen_note"][0]
    proper = make_scorer(roc_auc_score, response_method="predict_proba")
    machine = GridSearchLZO(SVC(), {"C": [1.0]}, unseen="only", scoring=proper, **FEW)
    with pytest.raises(AllCandidatesFailedError, match='unseen="only", and no candidate can tell'):
        machine.fit(X, Y)
    doubted = GridSearchLZO(SVC(C=1e-3), {}, **FEW).fit(X, Y)
    assert "free support vectors" in doubted.cv_results_["unseen_note"][0]
    assert np.isnan(doubted.cv_results_["mean_unseen_score"][0])


@pytest.mark.parametrize(
    ("model", "note"),
    [
        (Ridge(positive=True), "positive"),
        (DecisionTreeRegressor(max_depth=2), "no family knows DecisionTreeRegressor"),
        (TransformedTargetRegressor(Ridge()), "no family knows TransformedTargetRegressor"),
        (LinearSVC(loss="hinge"), "the hinge has no second derivative"),
        (make_pipeline(SelectKBest(k=2), LogisticRegression()), "the step 'selectkbest'"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_search_in_which_nobody_can_be_asked_says_why(model, note):
    """The columns are there without a figure, V speaks alone, and no report shows them."""
    search = GridSearchLZO(model, {}, **FEW).fit(X, Y)
    results = search.cv_results_
    assert np.isnan(results["mean_unseen_score"]).all()
    assert results["unseen_kind"].tolist() == [None]
    assert note in results["unseen_note"][0]
    assert results["mean_test_score"] == results["mean_augmented_score"]
    assert search.trust()["LZ06"].level == "not applicable"
    assert ">unseen rows<" not in search.to_html()
    alone = GridSearchLZO(model, {}, unseen="off", **FEW).fit(X, Y)
    assert "unseen_note" not in alone.cv_results_


def test_every_metric_has_its_column_where_nobody_can_be_asked():
    """As it has where somebody can."""
    search = GridSearchLZO(
        DecisionTreeClassifier(), {}, scoring=["accuracy", "f1"], refit=False, **FEW
    ).fit(X, Y)
    assert np.isnan(search.cv_results_["mean_unseen_accuracy"]).all()
    assert np.isnan(search.cv_results_["mean_unseen_f1"]).all()


def test_rows_of_the_users_own_need_no_second_witness():
    """The note says so."""
    own = FixedValidationSet(X[:40], Y[:40])
    search = GridSearchLZO(KNeighborsClassifier(), {}, augmenter=own).fit(X[40:], Y[40:])
    assert "rows of the user's own" in search.cv_results_["unseen_note"][0]


def test_proposed_candidates_say_why_they_are_not_asked():
    """Each by its own parameters, and by the estimator's where it could be asked itself."""
    values = {"positive": [True, False]}
    both = optuna.samplers.GridSampler(values)
    search = OptunaSearchLZO(Ridge(positive=True), values, sampler=both, **FEW).fit(X, Y)
    notes = dict(
        zip(search.cv_results_["param_positive"], search.cv_results_["unseen_note"], strict=True)
    )
    assert "positive" in notes[True]
    assert notes[False] == "the estimator as it was given cannot be asked"


def _by_hand(model, X, y):
    return float(np.mean(model.predict(X) == y))


def test_weights_count_for_both():
    """The unseen score is weighted as the fit is."""
    weight = np.random.default_rng(0).uniform(0.1, 3, len(Y))
    model = LogisticRegression()
    search = GridSearchLZO(model, {"C": [0.1]}, unseen="only").fit(X, Y, sample_weight=weight)
    plain = GridSearchLZO(model, {"C": [0.1]}, unseen="only").fit(X, Y)
    assert search.best_score_ != plain.best_score_


def test_rows_in_groups_are_not_left_out_alone():
    """A row's group would stay behind: V speaks alone, and "only" is refused."""
    groups = np.arange(len(Y)) % 6
    search = GridSearchLZO(KNeighborsClassifier(), NEIGHBORS, **FEW).fit(X, Y, groups=groups)
    assert np.isnan(search.cv_results_["mean_unseen_score"]).all()
    assert "a row's group would stay behind" in search.cv_results_["unseen_note"][0]
    with pytest.raises(ValueError, match="whose group would stay behind"):
        GridSearchLZO(KNeighborsClassifier(), NEIGHBORS, unseen="only").fit(X, Y, groups=groups)


def test_precomputed_kernels_work_alone():
    """Nothing needs to be drawn."""
    kernel = X @ X.T
    search = GridSearchLZO(SVC(kernel="precomputed"), {"C": [0.1, 1.0]}, unseen="only")
    assert np.isfinite(search.fit(kernel, Y).best_score_)


def test_the_word_must_be_known():
    """The message names all three."""
    with pytest.raises(ValueError, match='unseen of GridSearchLZO must be "auto", "off" or "only"'):
        GridSearchLZO(SVC(), {}, unseen="yes").fit(X, Y)


def test_workers_and_listing_change_nothing():
    """To the bit, also where scores lean on one another."""
    models = {
        "forest": (RandomForestClassifier(20), {"max_depth": [2, None]}),
        "neighbors": (KNeighborsClassifier(), NEIGHBORS),
    }
    first = CandidateSearchLZO(models, n_jobs=1, **FEW).fit(X, Y)
    second = CandidateSearchLZO(dict(reversed(models.items())), n_jobs=2, **FEW).fit(X, Y)
    named = [
        dict(zip(map(str, s.cv_results_["params"]), s.cv_results_["mean_test_score"], strict=True))
        for s in (first, second)
    ]
    assert named[0] == named[1]
    assert first.best_params_ == second.best_params_


def test_halving_and_optuna_hear_both():
    """Each round is decided by what is known of all candidates so far."""
    halving = HalvingGridSearchLZO(
        KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 9]}, factor=2, min_resources=40, **FEW
    ).fit(X, Y)
    assert np.all(np.isfinite(halving.cv_results_["mean_unseen_score"]))
    optuna = OptunaSearchLZO(KNeighborsClassifier(), NEIGHBORS, n_trials=6, **FEW).fit(X, Y)
    told = {trial.params["n_neighbors"]: trial.value for trial in optuna.study_.trials}
    assert set(told) <= {1, 5, 25}
    assert all(np.isfinite(value) for value in told.values())


def test_a_bias_is_kriged_from_those_that_answer_alike():
    """Between two models with known bias the nearer one counts more."""
    answers = np.zeros((100, 3), dtype=np.int16)
    answers[:10, 1] = 1  # near the first
    answers[:, 2] = 1  # far from both
    told = _combine.Testimony(np.array([0.9, 0.9, 0.9]), np.array([0.6, np.nan, 0.9]), answers)
    final = _combine.combine(told)
    assert final[0] < final[1] < final[2]
    assert final[1] == pytest.approx(final[0], abs=0.05)


def test_an_unseen_score_of_many_rows_is_believed():
    """Two models that answer alike keep their own biases the more rows tell of them."""
    answers = np.zeros((1000, 2), dtype=np.int16)
    answers[:50, 1] = 1
    leads = []
    for n_rows in (50, 300, 3_000, 300_000):
        told = _combine.Testimony(
            np.array([0.9, 0.8]), np.array([0.7, 0.75]), answers, n_rows=n_rows
        )
        final = _combine.combine(told)
        leads.append(final[0] - final[1])
    assert leads[0] > leads[1] > leads[2] > leads[3]
    assert leads[0] == pytest.approx(0.1, abs=0.02)  # few rows: V decides
    assert leads[3] == pytest.approx(-0.05, abs=1e-3)


def test_distances_are_shares():
    """Of rows, of probability, of the spread of the targets."""
    labels = np.array([[0, 1], [1, 1]])
    assert _combine.distances(labels, labels).tolist() == [[0.0, 0.5], [0.5, 0.0]]
    likely = np.array([[[1.0, 0.0], [0.5, 0.5]]])
    assert _combine.distances(likely, likely)[0, 1] == 0.5
    numbers = np.array([[0.0, 3.0]])
    assert _combine.distances(numbers, numbers, scale=6.0)[0, 1] == 0.5


def test_iris_agrees_with_leave_one_out_to_the_row():
    """Three classes, names as labels."""
    data, codes = load_iris(return_X_y=True)
    labels = np.array(["a", "b", "c"])[codes]
    search = GridSearchLZO(KNeighborsClassifier(), {"n_neighbors": [7]}, unseen="only")
    said = cross_val_predict(KNeighborsClassifier(7), data, labels, cv=LeaveOneOut())
    assert search.fit(data, labels).best_score_ == pytest.approx(np.mean(said == labels), abs=0.01)


def test_regressors_of_few_whole_numbers_are_compared_by_numbers(rng):
    """Zeros and ones are no labels to them, so that each has a bias of its own."""
    X = rng.normal(size=(200, 5))
    y = (X[:, 0] + rng.normal(size=200) > 0).astype(float)
    grid = {"n_neighbors": [1, 5, 25]}
    results = GridSearchLZO(KNeighborsRegressor(), grid, random_state=0).fit(X, y).cv_results_
    assert np.ptp(results["mean_test_score"] - results["mean_augmented_score"]) > 0.01
