"""What every search says of bad input, in the same words."""

import numpy as np
import optuna
import pandas as pd
import pytest
from sklearn.svm import SVC

from leavezero import (
    CandidateSearchLZO,
    FixedValidationSet,
    GridSearchLZO,
    HalvingGridSearchLZO,
    HalvingRandomSearchLZO,
    OptunaSearchLZO,
    RandomizedSearchLZO,
)
from leavezero.exceptions import AllCandidatesFailedError, CandidateFailedWarning

X = np.random.default_rng(0).normal(size=(60, 3))
Y = np.tile([0, 1], 30)

MAKERS = {
    "GridSearchLZO": lambda model, values, **more: GridSearchLZO(model, values, **more),
    "RandomizedSearchLZO": lambda model, values, **more: RandomizedSearchLZO(
        model, values, n_iter=2, **more
    ),
    "HalvingGridSearchLZO": lambda model, values, **more: HalvingGridSearchLZO(
        model, values, factor=2, min_resources=30, **more
    ),
    "HalvingRandomSearchLZO": lambda model, values, **more: HalvingRandomSearchLZO(
        model, values, n_candidates=2, factor=2, min_resources=30, **more
    ),
    "OptunaSearchLZO": lambda model, values, **more: OptunaSearchLZO(
        model, values, n_trials=8, **more
    ),
    "CandidateSearchLZO": lambda model, values, **more: CandidateSearchLZO(
        {"only": (model, values)}, **more
    ),
}


@pytest.fixture(autouse=True)
def _quiet_optuna():
    optuna.logging.set_verbosity(optuna.logging.WARNING)


@pytest.fixture(params=MAKERS)
def make(request):
    """Return what makes a search of two candidates, and its name."""

    def maker(model=None, values=None, **more):
        values = {"C": [0.1, 1.0]} if values is None else values
        return MAKERS[request.param](SVC() if model is None else model, values, **more)

    maker.owner = request.param
    return maker


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ((X, None), "requires y to be passed"),
        ((X[:0], Y[:0]), "has 0 rows"),
        ((X[:1], Y[:1]), "1 sample"),
        (
            (X[:, :0], Y),
            r"X given to {} has 0 feature\(s\) \(shape=\(60, 0\)\).* Give at least one",
        ),
        ((pd.DataFrame(index=range(60)), Y), r"X given to {} has 0 feature\(s\)"),
        ((X, Y[:-1]), "inconsistent numbers of samples"),
        ((X, np.where(Y == 1, np.nan, 0.0)), "NaN"),
        ((X, np.zeros(60, dtype=int)), "has one class only, 0"),
    ],
)
def test_data_that_nothing_can_be_learned_from(make, data, message):
    """Before anything is drawn or fitted."""
    with pytest.raises(ValueError, match=message.format(make.owner)):
        make().fit(*data)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"augmenter": "mixup"}, 'augmenter must be "auto" or an object with fit'),
        ({"n_replicates": 0}, "n_replicates of {} must be a positive int, got 0"),
        ({"validation_size": -1.0}, "validation_size of {} must be a positive int"),
        ({"unseen": "maybe"}, 'unseen of {} must be "auto", "off" or "only", got \'maybe\''),
        ({"scoring": "speed"}, "scoring of {} must be a scorer's name or a callable, got 'speed'"),
        ({"scoring": []}, "scoring of {} as a list must hold different names"),
        ({"scoring": {}}, "scoring of {} as a dictionary must map names to scorers"),
        ({"refit": "speed"}, "refit of {} must be True, False, the metric's name or a callable"),
        ({"refit": 3}, "refit of {} must be True, False, the metric's name or a callable"),
        ({"select": "worst"}, 'select of {} must be "best", "one_se", "vote"'),
        ({"confirm": 0}, 'confirm of {} must be None, "auto" or a positive int'),
        ({"error_score": "ignore"}, 'error_score of {} must be a number or "raise"'),
        ({"verbose": "a"}, "verbose of {} must be an int, got 'a'. Use 0 to hear nothing"),
        ({"verbose": None}, "verbose of {} must be an int, got None"),
        ({"augmenter": FixedValidationSet(X[:0], Y[:0])}, "augmenter of {} .* with 0 rows. Give"),
        ({"augmenter": FixedValidationSet([], [])}, "augmenter of {} .* with 0 rows. Give"),
        ({"random_state": "seed"}, "random_state must be None, a non-negative int"),
    ],
)
def test_parameters_that_mean_nothing(make, more, message):
    """Which one, of which search, what is allowed, what came."""
    with pytest.raises(ValueError, match=message.format(make.owner)):
        make(**more).fit(X, Y)


@pytest.mark.parametrize("lazy", ["X", "y"])
def test_a_frame_that_is_not_read_yet(make, lazy):
    """Install polars to run it: it is no dependency of ours."""
    pl = pytest.importorskip("polars", reason="pip install polars")
    data = {"X": X, "y": Y} | {lazy: pl.DataFrame({"a": Y}).lazy()}
    said = rf"{lazy} given to {make.owner} is a LazyFrame, .* Give {lazy}\.collect\(\)"
    with pytest.raises(TypeError, match=said):
        make().fit(**data)


@pytest.mark.parametrize("member", [(SVC(),), (SVC(), {}, 3), []])
def test_a_candidate_that_is_no_pair(member):
    """Its name and what came are told."""
    said = r"candidates of CandidateSearchLZO must map strings to .* pairs .*, got 'a': [(\[]"
    with pytest.raises(ValueError, match=said):
        CandidateSearchLZO({"a": member}).fit(X, Y)


def test_an_estimator_that_is_none(make):
    """It is named."""
    with pytest.raises((TypeError, ValueError), match="no estimator"):
        make(model="no estimator").fit(X, Y)


def test_a_parameter_that_the_estimator_does_not_have(make):
    """Before the first fit."""
    with pytest.raises(ValueError, match=rf"{make.owner} cannot set .*depth"):
        make(values={"depth": [1, 2]}).fit(X, Y)


def test_candidates_that_fail(make):
    """Some: a warning, and they are never chosen. All: an error with the first traceback."""
    with pytest.warns(CandidateFailedWarning, match=f"candidates of {make.owner} failed"):
        search = make(values={"C": [-1.0, 1.0]}).fit(X, Y)
    assert search.best_params_["C"] == 1.0
    with pytest.raises(AllCandidatesFailedError, match=f"candidates of {make.owner} failed"):
        make(values={"C": [-1.0, -2.0]}).fit(X, Y)
    with pytest.raises(ValueError, match="The 'C' parameter of SVC"):
        make(values={"C": [-1.0, -2.0]}, error_score="raise").fit(X, Y)


def test_scores_that_are_nan(make):
    """Some are never chosen, all are an error."""

    def moody(model, X, y):
        return np.nan if model.C == 1.0 else 0.5

    with pytest.warns(CandidateFailedWarning, match="scores that are not finite"):
        assert make(scoring=moody).fit(X, Y).best_params_["C"] == 0.1
    with pytest.raises(AllCandidatesFailedError, match=f"Every score of {make.owner} is NaN"):
        make(scoring=lambda model, X, y: np.nan).fit(X, Y)
