"""refit, select, confirm, several metrics, and what a search tells of its choice."""

import re

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_val_score
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from leavezero import (
    FixedValidationSet,
    GridSearchLZO,
    LabelInvariantMixup,
    OneStandardError,
    RandomizedSearchLZO,
)
from leavezero.exceptions import AllCandidatesFailedError, CandidateFailedWarning

X, Y = make_classification(120, 5, flip_y=0.2, random_state=0)
GRID = {"C": [0.01, 0.1, 1, 10]}


def search(**more):
    v_alone = {"augmenter": LabelInvariantMixup(), "unseen": "off"}
    given = {"n_replicates": 4, "random_state": 0} | v_alone | more
    return GridSearchLZO(given.pop("estimator", SVC()), given.pop("grid", GRID), **given)


def test_several_metrics_with_a_callable_that_picks():
    """The callable sees cv_results_ and the model of its row is handed back, fitted once."""

    def balanced(results):
        return int(np.argmax(results["mean_test_accuracy"] + results["mean_test_roc_auc"]))

    fitted = search(scoring=["accuracy", "roc_auc"], refit=balanced).fit(X, Y)
    results = fitted.cv_results_
    expected = int(np.argmax(results["mean_test_accuracy"] + results["mean_test_roc_auc"]))
    assert fitted.best_index_ == expected
    assert fitted.best_params_["C"] == fitted.best_estimator_.C
    assert fitted.n_fits_ == len(GRID["C"])
    assert fitted.multimetric_
    assert not hasattr(fitted, "best_score_")


def test_several_metrics_by_name_score_as_each_alone():
    """Asking for more metrics changes none of them."""
    both = search(scoring={"a": "accuracy", "b": "roc_auc"}, refit="b").fit(X, Y)
    for name, metric in [("a", "accuracy"), ("b", "roc_auc")]:
        alone = search(scoring=metric).fit(X, Y)
        for column in ("mean", "std", "low", "high", "split2"):
            np.testing.assert_array_equal(
                both.cv_results_[f"{column}_test_{name}"], alone.cv_results_[f"{column}_test_score"]
            )
    assert both.best_score_ == both.cv_results_["mean_test_b"].max()
    assert set(both.scorer_) == {"a", "b"}


def test_refit_must_name_a_metric_that_there_is():
    """For a list, a dictionary, and a callable that gives one."""
    for scoring in (["accuracy", "roc_auc"], lambda model, X, y: {"a": 1.0, "b": 2.0}):
        for refit in (True, "f1"):
            with pytest.raises(ValueError, match=r"refit of GridSearchLZO must name one of the"):
                search(scoring=scoring, refit=refit).fit(X, Y)


def test_without_refit_there_is_a_table_and_no_model():
    """What is best is told, and predict says why it cannot."""
    fitted = search(refit=False).fit(X, Y)
    assert fitted.best_params_ == search().fit(X, Y).best_params_
    assert not hasattr(fitted, "best_estimator_")
    with pytest.raises(AttributeError, match="predict"):
        fitted.predict(X)
    assert not hasattr(search(refit=False, scoring=["accuracy", "f1"]).fit(X, Y), "best_index_")


def test_the_choice_tells_how_clear_it_was():
    """Every figure of the selection can be found again in the table."""
    fitted = search().fit(X, Y)
    found, scores = fitted.selection_, fitted.cv_results_["mean_test_score"]
    first, second = np.sort(scores)[::-1][:2]
    assert found.margin == pytest.approx(first - second)
    assert found.margin_low <= found.margin <= found.margin_high
    assert found.contenders[0] == fitted.best_index_
    assert found.source == "origins"
    assert np.all(fitted.cv_results_["low_test_score"] <= scores)
    assert np.all(fitted.cv_results_["high_test_score"] >= scores)
    assert search(augmenter="auto").fit(X, Y).selection_.source == "Monte Carlo"


def test_ties_are_counted_and_go_to_the_smaller_value():
    """Whatever the order of the grid."""
    for order in ([1, 10, 100], [100, 10, 1]):
        grid = {"strategy": ["prior"], "random_state": order}
        fitted = search(estimator=DummyClassifier(), grid=grid).fit(X, Y)
        assert fitted.selection_.n_tied == 3
        assert fitted.best_params_["random_state"] == 1


def test_the_simplest_within_one_standard_error():
    """Never more complex than the best, and within the stated distance."""
    best, simple = search().fit(X, Y), search(select="one_se").fit(X, Y)
    assert simple.best_params_["C"] <= best.best_params_["C"]
    assert best.best_score_ - simple.best_score_ <= simple.selection_.standard_error
    assert simple.best_params_["C"] == simple.best_estimator_.C
    assert simple.n_fits_ == len(GRID["C"])
    own = search(select=OneStandardError(simpler={"C": "high"})).fit(X, Y)
    assert own.best_params_["C"] >= best.best_params_["C"]


def test_a_vote_of_the_replicates():
    """The winner leads more replicates than any other."""
    fitted = search(select="vote", n_replicates=9).fit(X, Y)
    splits = np.array([fitted.cv_results_[f"split{r}_test_score"] for r in range(9)])
    votes = [int(np.sum(splits[:, at] == splits.max(axis=1))) for at in range(len(GRID["C"]))]
    assert votes[fitted.best_index_] > 0


def test_confirm_runs_folds_for_contenders_only():
    """The fits are counted, the scores are cross_val_score's, and nothing is fitted again."""
    folds = StratifiedKFold(3, shuffle=True, random_state=1)
    fitted = search(confirm=2, confirm_cv=folds).fit(X, Y)
    results = fitted.cv_results_
    confirmed = np.flatnonzero(np.isfinite(results["mean_confirm_score"]))
    assert 1 <= len(confirmed) <= 2
    assert fitted.fits_ == {"candidate": 4, "teacher": 0, "confirm": 3 * len(confirmed)}
    assert fitted.best_index_ in confirmed
    for row in confirmed:
        by_folds = cross_val_score(SVC(**results["params"][row]), X, Y, cv=folds).mean()
        assert results["mean_confirm_score"][row] == pytest.approx(by_folds)
        both = (results["mean_augmented_score"][row] + by_folds) / 2
        assert results["mean_test_score"][row] == pytest.approx(both)
    plain = search().fit(X, Y).cv_results_["mean_test_score"]
    np.testing.assert_array_equal(results["mean_augmented_score"], plain)


def test_an_interrupt_of_the_folds_keeps_the_choice_by_v():
    """What all candidates' fits have found is not lost with the folds; the interrupt is raised."""

    class Interrupted(SVC):
        def fit(self, X, y):
            if len(y) < len(Y):
                raise KeyboardInterrupt
            return super().fit(X, y)

    fitted = search(estimator=Interrupted(), confirm=2, confirm_cv=3)
    with pytest.raises(KeyboardInterrupt):
        fitted.fit(X, Y)
    plain = search().fit(X, Y)
    assert fitted.best_params_ == plain.best_params_
    assert fitted.fits_ == {"candidate": 4, "teacher": 0, "confirm": 0}
    np.testing.assert_array_equal(fitted.predict(X), plain.predict(X))


def test_folds_overrule_v_where_it_is_misled():
    """A tree that remembers looks as good as any on mix-ups; folds tell it from a stump."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(150, 6))
    target = (noise[:, 0] + 1.5 * rng.normal(size=150) > 0).astype(int)
    tree, grid = DecisionTreeClassifier(random_state=0), {"max_depth": [1, None]}
    given = {"estimator": tree, "grid": grid, "validation_size": 30}
    plain = search(**given).fit(noise, target)
    assert plain.best_params_ == {"max_depth": None}
    confirmed = search(**given, confirm=5, confirm_cv=10).fit(noise, target)
    scores = confirmed.cv_results_["mean_confirm_score"]
    assert np.isnan(scores[0]) or scores[0] > scores[1]


def test_confirm_splits_groups_and_weighs_rows():
    """Groups stay on one side of a fold; weights reach the fit and the score of a fold."""
    groups = np.arange(len(Y)) % 6
    fitted = search(confirm=4, confirm_cv=3).fit(X, Y, groups=groups)
    assert fitted.fits_["confirm"] % 3 == 0
    weight = np.random.default_rng(0).uniform(0.5, 2, len(Y))
    weighted = search(confirm=4, confirm_cv=3).fit(X, Y, sample_weight=weight)
    plain = search(confirm=4, confirm_cv=3).fit(X, Y)
    column = "mean_confirm_score"
    assert not np.allclose(weighted.cv_results_[column], plain.cv_results_[column], equal_nan=True)


@pytest.mark.parametrize("confirm", [0, -1, 2.5, "some", True])
def test_confirm_is_a_number_of_candidates(confirm):
    """Anything else is named."""
    with pytest.raises(ValueError, match='confirm of GridSearchLZO must be None, "auto" or a pos'):
        search(confirm=confirm).fit(X, Y)
    with pytest.raises(ValueError, match="confirm of GridSearchLZO decides by a metric"):
        search(confirm=1, refit=lambda results: 0).fit(X, Y)


def test_what_is_said_of_a_confirmed_choice_is_said_of_its_scores():
    """Intervals move with scores, the lead is the table's, and folds are not advised again."""
    fitted = search(confirm=4, confirm_cv=5).fit(X, Y)
    table, choice = fitted.cv_results_, fitted.selection_
    ends = np.vstack([table["low_test_score"], table["high_test_score"]])
    assert np.all((ends[0] <= table["mean_test_score"]) & (table["mean_test_score"] <= ends[1]))
    first, second = np.sort(table["mean_test_score"])[::-1][:2]
    assert choice.margin == pytest.approx(first - second)
    assert choice.corrected_score <= first
    assert not any("confirm" in str(finding.advice) for finding in fitted.trust().findings)


def test_folds_of_a_splitter_without_a_seed_repeat():
    """The search's own seed serves, and the splitter stays as it was."""
    folds = StratifiedKFold(3, shuffle=True)
    tables = [search(confirm=4, confirm_cv=folds).fit(X, Y).cv_results_ for _ in range(2)]
    np.testing.assert_array_equal(*(table["mean_confirm_score"] for table in tables))
    assert folds.random_state is None


@pytest.mark.parametrize(
    ("confirm_cv", "why"),
    [
        (GroupKFold(3), "The 'groups' parameter should not be None"),
        (1, "n_splits=2 or more, got n_splits=1"),
        (0, "n_splits=2 or more, got n_splits=0"),
        (100, "n_splits=100 cannot be greater"),
        ("abc", "as an integer"),
        ([3, 4], "cannot unpack"),
    ],
)
@pytest.mark.parametrize("confirm", [2, "auto"])
def test_folds_are_refused_before_the_first_fit(confirm, confirm_cv, why):
    """The message names the parameter, what is allowed and what came."""

    class Fitted(SVC):
        def fit(self, X, y):
            raise AssertionError

    wrong = search(estimator=Fitted(), confirm=confirm, confirm_cv=confirm_cv, error_score="raise")
    said = "confirm_cv of GridSearchLZO must be an int above 1, a splitter or pairs of rows, got"
    with pytest.raises(ValueError, match=rf"{said} .*: .*{re.escape(why)}.* Use 2 to 10, as"):
        wrong.fit(X, Y)


def test_a_candidate_without_a_model_cannot_be_picked():
    """A callable refit hears which row it was, and why."""
    said = (
        r"refit of GridSearchLZO returned row 0, whose candidate failed: .*InvalidParameterError: "
        r"The 'C' parameter of SVC .* Got -1 instead\. Return the row of another candidate\."
    )
    with (
        pytest.warns(CandidateFailedWarning, match="1 of 3 candidates"),
        pytest.raises(ValueError, match=said),
    ):
        search(grid={"C": [-1, 1, 10]}, refit=lambda results: 0).fit(X, Y)


def test_training_scores_on_request():
    """They are the model's score on the data it was fitted to."""
    fitted = search(return_train_score=True).fit(X, Y)
    for row, params in enumerate(fitted.cv_results_["params"]):
        assert fitted.cv_results_["mean_train_score"][row] == SVC(**params).fit(X, Y).score(X, Y)
    assert "mean_train_score" not in search().fit(X, Y).cv_results_


def test_a_scorer_that_fails_for_some_candidates():
    """They get the error score and are never chosen; where all fail the search says so."""

    def moody(model, X, y):
        if model.C == 10:
            raise RuntimeError("not today")
        return model.C

    with pytest.warns(CandidateFailedWarning, match="scoring of GridSearchLZO failed 1 times"):
        fitted = search(scoring=moody).fit(X, Y)
    assert fitted.best_params_ == {"C": 1}
    with pytest.raises(RuntimeError, match="not today"):
        search(scoring=moody, error_score="raise").fit(X, Y)
    with pytest.raises(AllCandidatesFailedError, match=r"Every score(.|\n)*not today"):
        search(scoring=moody, grid={"C": [10]}).fit(X, Y)


def test_a_metric_that_fails_leaves_the_others():
    """In a search with several, the sound ones are kept."""

    def broken(model, X, y):
        raise RuntimeError("no")

    scoring = {"good": "accuracy", "bad": broken}
    with pytest.warns(CandidateFailedWarning, match="failed 4 times"):
        fitted = search(scoring=scoring, refit="good").fit(X, Y)
    assert np.all(np.isnan(fitted.cv_results_["mean_test_bad"]))
    assert fitted.best_score_ == fitted.cv_results_["mean_test_good"].max()


def test_a_scorer_must_give_numbers():
    """A list is not one."""
    with pytest.raises(ValueError, match=r"scoring must give a number .*gave \[1, 2\]"):
        search(scoring=lambda model, X, y: [1, 2], error_score="raise").fit(X, Y)


def test_weights_of_v_come_from_origins():
    """Rows that weigh nothing do not count, in the fit and in the score."""
    weight = np.where(np.arange(len(Y)) < 60, 1.0, 0.0)
    fitted = search(estimator=LogisticRegression(), grid={}).fit(X, Y, sample_weight=weight)
    V = fitted.validation_set_
    means = np.where(V.source_rows >= 0, weight[V.source_rows], 0).sum(1) / (
        V.source_rows >= 0
    ).sum(1)
    model = LogisticRegression().fit(X, Y, sample_weight=weight)
    hits = model.predict(V.X) == V.y
    size = len(Y)
    expected = [
        np.average(hits[r * size : (r + 1) * size], weights=means[r * size : (r + 1) * size])
        for r in range(4)
    ]
    found = [fitted.cv_results_[f"split{r}_test_score"][0] for r in range(4)]
    np.testing.assert_allclose(found, expected)


def test_where_v_has_no_origins_it_is_drawn_from_the_weighted_data():
    """A class that weighs nine times as much is nine times as frequent in V."""
    weight = np.where(Y == 1, 9.0, 1.0)
    fitted = search(augmenter="auto", estimator=LogisticRegression(), grid={}).fit(
        X, Y, sample_weight=weight
    )
    share = fitted.validation_set_.y.mean()
    assert share == pytest.approx(np.average(Y, weights=weight), abs=0.02)


def test_the_same_rows_twice_or_with_weight_two():
    """Mix-up's V differs, but a user's own rows are scored alike."""
    X_own, y_own = load_iris(return_X_y=True)
    V = FixedValidationSet(X_own[::2], y_own[::2])
    model = LogisticRegression(max_iter=500)
    twice = np.concatenate([X_own, X_own]), np.concatenate([y_own, y_own])
    first = GridSearchLZO(model, {"C": [0.1, 1]}, augmenter=V, unseen="off").fit(*twice)
    second = GridSearchLZO(model, {"C": [0.1, 1]}, augmenter=V, unseen="off").fit(
        X_own, y_own, sample_weight=np.full(len(y_own), 2.0)
    )
    np.testing.assert_array_equal(
        first.cv_results_["mean_test_score"], second.cv_results_["mean_test_score"]
    )


def test_a_scorer_made_by_the_user():
    """make_scorer's parameters are kept."""
    scorer = make_scorer(accuracy_score, normalize=False)
    fitted = search(scoring=scorer).fit(X, Y)
    shares = search().fit(X, Y).cv_results_["mean_test_score"]
    np.testing.assert_allclose(fitted.cv_results_["mean_test_score"] / len(Y), shares)


def test_randomized_search_shares_all_of_it():
    """The rules live in the base."""
    fitted = RandomizedSearchLZO(
        SVC(), GRID, n_iter=3, select="one_se", confirm=2, random_state=0
    ).fit(X, Y)
    assert fitted.fits_["candidate"] == 3
    assert fitted.selection_.rule == "OneStandardError"
