"""Wrong input gets one clear sentence."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from leavezero import GridSearchLZO, LabelInvariantMixup, leave_zero_out_score
from leavezero.exceptions import (
    AllCandidatesFailedError,
    CandidateFailedWarning,
    SmallClassWarning,
)

X = np.arange(12.0).reshape(6, 2)
Y = np.array([0, 0, 0, 1, 1, 1])


def search(**changes):
    settings = {"estimator": SVC(), "param_grid": {"C": [1, 10]}} | changes
    return GridSearchLZO(**settings)


def test_no_rows():
    """Nothing to learn from."""
    with pytest.raises(ValueError, match="X given to GridSearchLZO has 0 rows"):
        search().fit(np.empty((0, 2)), [])


def test_one_row():
    """Nothing can be drawn from it but itself."""
    with pytest.raises(ValueError, match=r"X given to GridSearchLZO has 1 sample\. Give more"):
        search().fit(X[:1], Y[:1])


def test_different_lengths():
    """Both lengths are named."""
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[6, 5\]"):
        search().fit(X, Y[:5])


def test_no_target():
    """There is no leave-zero-out without a loss."""
    with pytest.raises(ValueError, match="GridSearchLZO requires y to be passed"):
        search().fit(X)


def test_missing_cells_where_the_estimator_cannot_take_them():
    """The estimator's own advice is part of the error."""
    gaps = X.copy()
    gaps[0, 0] = np.nan
    with pytest.raises(AllCandidatesFailedError, match="does not accept missing values"):
        search().fit(gaps, Y)


def test_infinity():
    """It is refused before any fit."""
    infinite = X.copy()
    infinite[0, 0] = np.inf
    with pytest.raises(ValueError, match=r"contains infinity\. Replace it"):
        search(estimator=RandomForestClassifier(), param_grid={}).fit(infinite, Y)


def test_one_class():
    """There is nothing to choose by."""
    with pytest.raises(ValueError, match="y given to GridSearchLZO has one class only, 1"):
        search().fit(X, np.ones(6, dtype=int))


def test_a_class_with_a_single_row():
    """It works, and a warning names the class."""
    with pytest.warns(SmallClassWarning, match="Class 1 has a single row"):
        fitted = search().fit(X, [0, 0, 0, 0, 0, 1])
    assert fitted.n_fits_ == 2


def test_a_count_that_came_once():
    """The numbers of a regressor are no classes: nothing is warned of, and nothing stratified."""
    counts = np.arange(60) % 6 + np.where(np.arange(60) == 0, 6, 0)
    rows = np.random.default_rng(0).normal(size=(60, 3))
    fitted = search(estimator=Ridge(), param_grid={"alpha": [0.1, 1.0]}, cv_finalists=2, random_state=0)
    report = fitted.fit(rows, counts).diagnose()
    assert report["LZ08"].sentence == "The target is not one column of classes."


def test_numbers_as_classes():
    """A classifier cannot learn numbers."""
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        search().fit(X, np.linspace(0, 1, 6))


@pytest.mark.parametrize("wrap", [lambda model: model, make_pipeline])
def test_rows_marked_as_unlabelled(wrap):
    """Semi-supervised estimators learn from them; elsewhere -1 is a class like any other."""
    marked = np.array([0, 0, -1, 1, 1, -1])
    semi = search(
        estimator=wrap(LabelSpreading()), param_grid={}, augmenter=LabelInvariantMixup()
    ).fit(X, marked)
    assert semi.classes_.tolist() == [0, 1]
    with pytest.raises(ValueError, match="has no labeled row: all are -1"):
        clone(semi).fit(X, np.full(6, -1))
    plain = search(param_grid={}, augmenter=LabelInvariantMixup()).fit(X, marked)
    assert plain.classes_.tolist() == [-1, 0, 1]


def test_unknown_parameters():
    """The valid ones are listed."""
    with pytest.raises(ValueError, match=r"cannot set {'c': 1}.*Valid parameters.*'C'"):
        search(param_grid={"c": [1]}).fit(X, Y)


@pytest.mark.parametrize("grid", [[], {"C": []}])
def test_an_empty_grid(grid):
    """No candidate, nothing to choose."""
    with pytest.raises(ValueError, match=r"empty grid|non-empty sequence"):
        search(param_grid=grid).fit(X, Y)


@pytest.mark.parametrize("n_replicates", [0, -1, 1.0, None, True])
def test_a_wrong_number_of_replicates(n_replicates):
    """The message says what to use."""
    expected = "n_replicates of GridSearchLZO must be a positive int, got .* Use 1 for a single"
    with pytest.raises(ValueError, match=expected):
        search(n_replicates=n_replicates).fit(X, Y)


@pytest.mark.parametrize("size", [0, -0.5, np.inf, "all", None, False])
def test_a_wrong_validation_size(size):
    """The message says what both kinds mean."""
    with pytest.raises(ValueError, match="validation_size of GridSearchLZO must be a positive"):
        search(validation_size=size).fit(X, Y)


def test_a_wrong_alpha():
    """The augmenter's own check is reached before any fit."""
    with pytest.raises(ValueError, match=r"alpha of LabelInvariantMixup .* got 0"):
        search(augmenter=LabelInvariantMixup(alpha=0)).fit(X, Y)


@pytest.mark.parametrize("augmenter", ["mixup", None, 3])
def test_a_wrong_augmenter(augmenter):
    """The message names one that works."""
    with pytest.raises(ValueError, match='augmenter must be "auto" or an object with fit'):
        search(augmenter=augmenter).fit(X, Y)


@pytest.mark.parametrize("error_score", ["nan", None])
def test_a_wrong_error_score(error_score):
    """The message says what to use."""
    with pytest.raises(
        ValueError, match='error_score of GridSearchLZO must be a number or "raise"'
    ):
        search(error_score=error_score).fit(X, Y)


def test_an_estimator_that_cannot_be_scored():
    """A transformer is no candidate."""
    with pytest.raises(TypeError, match="lacks score"):
        search(estimator=StandardScaler(), param_grid={}).fit(X, Y)


def test_every_candidate_failing():
    """The first traceback is part of the error."""
    with pytest.raises(AllCandidatesFailedError, match=r"All 2 candidates.*\n.*[\s\S]*'C' param"):
        search(param_grid={"C": [-1, -2]}).fit(X, Y)


@pytest.mark.parametrize("error_score", [np.nan, 5.0])
def test_some_candidates_failing(error_score):
    """They are counted, given the error score, and never chosen."""
    with pytest.warns(CandidateFailedWarning, match="1 of 3 candidates of GridSearchLZO failed"):
        fitted = search(param_grid={"C": [-1, 1, 10]}, error_score=error_score).fit(X, Y)
    assert np.array_equal(fitted.cv_results_["mean_test_score"][0], error_score, equal_nan=True)
    assert fitted.best_params_["C"] > 0


def test_stopping_at_the_first_failure():
    """The candidate's own error is raised."""
    with pytest.raises(ValueError, match="'C' parameter of SVC"):
        search(param_grid={"C": [-1, 1]}, error_score="raise").fit(X, Y)


def test_scores_that_are_all_nan():
    """NaN is never the best."""

    class Unsure(DecisionTreeClassifier):
        def score(self, X, y, sample_weight=None):
            return np.nan

    with pytest.raises(AllCandidatesFailedError, match="Every score of GridSearchLZO is NaN"):
        search(estimator=Unsure(), param_grid={}).fit(X, Y)


@pytest.mark.parametrize("last", [LogisticRegression(), SVC()], ids=repr)
def test_rows_of_v_that_candidates_cannot_take(last, rng):
    """Who would refuse V's rows by itself is not scored on them with others; a way out is told."""
    rows = rng.normal(size=(60, 2))
    least = rows.min(axis=0)
    pipeline = make_pipeline(FunctionTransformer(lambda X: np.sqrt(X - least)), last)
    grid = {f"{pipeline.steps[-1][0]}__C": [0.1, 1.0, 10.0, 100.0]}
    said = r"draw V between these, with augmenter=LabelInvariantMixup\(\)(.|\n)*contains NaN"
    with (
        np.errstate(invalid="ignore"),
        pytest.raises(AllCandidatesFailedError, match=said),
    ):
        search(estimator=pipeline, param_grid=grid).fit(rows, rows[:, 0] > 0)


def test_a_candidate_with_a_nan_score_is_never_chosen():
    """It is ranked last."""

    class Moody(DecisionTreeClassifier):
        def score(self, X, y, sample_weight=None):
            return np.nan if self.max_depth == 1 else 0.1

    with pytest.warns(CandidateFailedWarning, match="1 of 2 candidates .* are not finite"):
        fitted = search(estimator=Moody(), param_grid={"max_depth": [1, 2]}).fit(X, Y)
    assert fitted.best_params_ == {"max_depth": 2}
    assert fitted.cv_results_["rank_test_score"].tolist() == [2, 1]


def test_predicting_before_fit():
    """scikit-learn's own error."""
    with pytest.raises(ValueError, match="not fitted yet"):
        search().predict(X)


def test_a_clusterer_gets_a_sentence_not_a_traceback():
    """It has fit and score and could be tried; classes are still asked for."""
    with pytest.raises(ValueError, match="requires y"):
        GridSearchLZO(KMeans(), {}).fit(X)


def test_the_functions_check_too():
    """leave_zero_out_score shares the search's checks."""
    with pytest.raises(ValueError, match="n_replicates of GridSearchLZO"):
        leave_zero_out_score(LogisticRegression(), X, Y, n_replicates=0)


@pytest.mark.parametrize("n_jobs", ["2", 1.5, True, 0])
def test_a_wrong_number_of_workers(n_jobs):
    """Joblib would raise something raw, or take it silently."""
    wording = rf"^n_jobs of GridSearchLZO must be None or an int other than 0, got {n_jobs!r}\. Use"
    with pytest.raises(ValueError, match=wording):
        search(n_jobs=n_jobs).fit(X, Y)


def test_a_fit_that_fails_leaves_nothing_of_an_earlier_one():
    """The old winner is not judged against new data."""
    rows, classes = load_iris(return_X_y=True)
    fitted = search(random_state=0).fit(rows, classes)
    fitted.set_params(param_grid={"C": [-1.0]})
    with pytest.raises(AllCandidatesFailedError):
        fitted.fit(rows[20:80], classes[20:80])
    gone = ("best_params_", "best_estimator_", "cv_results_", "selection_")
    assert not any(hasattr(fitted, name) for name in gone)
    for ask in (fitted.trust, lambda: fitted.predict(rows)):
        with pytest.raises(NotFittedError):
            ask()


def test_what_others_keep_on_a_search_stays():
    """Only what an earlier fit learned goes: parameters and private notes of others stay."""
    fitted = search(random_state=0).fit(X, Y)
    fitted.note = "mine"
    fitted.fit(X, Y)
    assert (fitted.note, fitted.param_grid) == ("mine", {"C": [1, 10]})
