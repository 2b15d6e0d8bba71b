import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from leavezero import (
    CandidateSearchLZO,
    FixedValidationSet,
    GridSearchLZO,
    HalvingGridSearchLZO,
    LabelInvariantMixup,
)

NEIGHBORS = {"n_neighbors": [1, 3, 5, 9, 15]}


def noise(n_rows=200, n_columns=12, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, n_columns)), rng.integers(2, size=n_rows)


def apart(n_rows=200, n_columns=4, distance=6.0, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n_rows)
    return rng.normal(size=(n_rows, n_columns)) + distance * y[:, None], y


def warned(report):
    return {finding.code for finding in report.warnings}


@pytest.mark.parametrize("seed", range(3))
def test_the_alarm_rings_for_one_neighbour_on_noise_under_mixup(seed):
    """V flatters memory, and both findings that can see it do."""
    X, y = noise(seed=seed)
    mixup = LabelInvariantMixup()
    search = GridSearchLZO(
        KNeighborsClassifier(1), {"p": [1, 2]}, augmenter=mixup, random_state=seed
    ).fit(X, y)
    assert {"LZ03", "LZ04"} <= warned(search.trust(optimism=True))


@pytest.mark.parametrize("seed", [0, 2, 3])  # of 1, permuted labels happen to be learnable
def test_auto_on_classes_far_apart_warns_of_nothing(seed):
    """Ties on separable data are a note."""
    X, y = apart(seed=seed)
    search = GridSearchLZO(SVC(), {"C": [0.1, 1, 10, 100]}, random_state=seed).fit(X, y)
    report = search.trust(optimism=True)
    assert report.warnings == ()
    assert report["LZ05"].level == "note"


def test_fits_for_the_report_are_counted():
    """Only where optimism is asked for."""
    X, y = apart(distance=1.0)
    search = GridSearchLZO(KNeighborsClassifier(), NEIGHBORS, random_state=0).fit(X, y)
    n_fits = search.n_fits_
    assert search.trust().n_fits == 0
    assert search.n_fits_ == n_fits
    assert search.trust(optimism=True).n_fits == 2
    assert search.fits_["optimism"] == 2
    assert search.n_fits_ == n_fits + 2


def test_the_same_seed_gives_the_same_report():
    """Figures do not depend on when the report is asked for."""
    X, y = apart(distance=1.0)
    search = GridSearchLZO(KNeighborsClassifier(), NEIGHBORS, random_state=0)
    reports = [clone(search).fit(X, y).trust(optimism=True) for _ in range(2)]
    assert reports[0].findings == reports[1].findings


@pytest.mark.parametrize(
    ("search", "data"),
    [
        (GridSearchLZO(Ridge(), {"alpha": [0.1, 1, 10]}), "numbers"),
        (GridSearchLZO(SVC(), {"C": [1, 10]}, unseen="only"), "classes"),
        (GridSearchLZO(SVC(), {"C": [1, 10]}, scoring="roc_auc"), "classes"),
        (GridSearchLZO(SVC(), {"C": [1, 10]}, refit=False), "classes"),
        (GridSearchLZO(SVC(), {"C": [1, 10]}, refit=lambda table: 0), "classes"),
        (CandidateSearchLZO({"svc": SVC(), "tree": DecisionTreeClassifier()}), "classes"),
        (HalvingGridSearchLZO(SVC(), {"C": [0.1, 1, 10]}), "classes"),
        (GridSearchLZO(SVC(), {"C": [1, 10]}, augmenter=FixedValidationSet(*apart(60))), "classes"),
    ],
    ids=["regression", "only", "auc", "no model", "callable", "candidates", "halving", "own V"],
)
def test_every_search_has_a_report(search, data):
    """Whatever is not there is not applicable."""
    X, y = apart(distance=1.0)
    target = y if data == "classes" else X[:, 0] + 0.1 * y
    report = clone(search).set_params(random_state=0).fit(X, target).trust(optimism=True)
    assert len(report.findings) == 12
    assert report["LZ09"].level == "not applicable"


def test_a_frame_with_groups_and_weights_gets_a_report():
    """The given rows are seen as they were given."""
    X, y = apart(distance=1.0)
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = make_pipeline(StandardScaler(), LogisticRegression())
    grid = {"logisticregression__C": [0.1, 1, 10]}
    search = GridSearchLZO(model, grid, random_state=0)
    search.fit(frame, y, groups=np.arange(len(y)) // 2)
    assert search.trust()["LZ11"].level == "note"


def test_a_search_that_is_not_fitted_has_no_report():
    """scikit-learn's own error says so."""
    with pytest.raises(NotFittedError):
        GridSearchLZO(SVC(), {"C": [1]}).trust()


def test_a_pickled_search_has_no_report():
    """A pickle is for predicting; the report is asked for before."""
    X, y = apart()
    search = GridSearchLZO(SVC(), {"C": [1, 10]}, random_state=0).fit(X, y)
    again = pickle.loads(pickle.dumps(search))
    assert np.array_equal(again.predict(X), search.predict(X))
    with pytest.raises(ValueError, match="was pickled, which leaves behind the data"):
        again.trust()


@pytest.mark.parametrize("augmenter", ["auto", LabelInvariantMixup()], ids=["auto", "mixup"])
def test_no_given_row_travels_with_a_search_that_draws_from_what_it_learned(augmenter):
    """One that mixes rows needs them, and so they are in the pickle."""
    X, y = apart(distance=1.0)
    grid = {"C": [0.1, 1]}
    search = GridSearchLZO(LogisticRegression(), grid, augmenter=augmenter, random_state=0)
    content = pickle.dumps(search.fit(X, y))
    n_found = sum(row.tobytes() in content for row in X)
    assert n_found == (0 if augmenter == "auto" else len(X))


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy])
def test_a_copy_has_the_report_of_the_search(how):
    """It shares the given rows, and nothing that one of the two may change."""
    X, y = apart(distance=1.0)
    search = GridSearchLZO(KNeighborsClassifier(), NEIGHBORS, random_state=0).fit(X, y)
    n_fits, again = search.n_fits_, how(search)
    assert again.trust(optimism=True).findings == search.trust(optimism=True).findings
    assert again.summary()["diagnostics"] is not None
    assert again._kept.job.X is X
    assert again.n_fits_ == search.n_fits_ == n_fits + 2
    again.set_params(random_state=1).fit(X[:100], y[:100])
    assert search._kept.job.X is X
    assert (again.estimator is search.estimator) == (how is copy.copy)


def test_a_copy_of_a_search_that_is_not_fitted_is_fitted_alone():
    """Also as a part of something else that is copied."""
    X, y = apart()
    search = GridSearchLZO(SVC(), {"C": [1]}, random_state=0)
    first, second = copy.deepcopy([search, search])
    assert first is second
    first.fit(X, y)
    assert not hasattr(search, "cv_results_")


def test_folds_are_asked_for_by_an_alarm_only():
    """confirm="auto" costs nothing where nothing warns."""
    grid = {"C": [0.1, 1, 10, 100]}
    calm = GridSearchLZO(SVC(), grid, confirm="auto", random_state=0).fit(*apart())
    assert calm.fits_["confirm"] == 0
    assert "mean_confirm_score" not in calm.cv_results_
    mixup = LabelInvariantMixup()
    alarmed = GridSearchLZO(
        KNeighborsClassifier(), NEIGHBORS, augmenter=mixup, confirm="auto", random_state=0
    ).fit(*noise())
    assert alarmed.fits_["confirm"] > 0
    assert alarmed.fits_["confirm"] % 5 == 0


def test_the_alarm_is_said_aloud(capsys):
    """With verbose the reason for the folds is printed."""
    X, y = noise()
    mixup = LabelInvariantMixup()
    GridSearchLZO(
        KNeighborsClassifier(),
        NEIGHBORS,
        augmenter=mixup,
        confirm="auto",
        verbose=1,
        random_state=0,
    ).fit(X, y)
    assert "GridSearchLZO: folds are asked. Rows of V lie at" in capsys.readouterr().out
