import numpy as np
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from leavezero.engine import Planner, Trial
from leavezero.engine._groups import groups_of


def trials(estimator, grid):
    planner = Planner("a test")
    candidates = [planner.candidate(estimator, params) for params in grid]
    return [Trial(candidate, row) for row, candidate in enumerate(candidates)]


def keys_of(groups):
    return [[trial.candidate.key for trial in group.trials] for group in groups]


def test_candidates_of_one_kernel_are_one_task():
    """Those of another are another."""
    grid = [{"C": C, "gamma": gamma} for C in (1, 10, 100) for gamma in (0.1, 1.0)]
    found = groups_of(trials(SVC(), grid), seed=0)
    assert [len(group.trials) for group in found] == [3, 3]


def test_groups_do_not_depend_on_how_candidates_were_listed():
    """Neither their members nor their order."""
    grid = [{"C": C, "gamma": gamma} for C in (1, 10, 100) for gamma in (0.1, 1.0)]
    listed = keys_of(groups_of(trials(SVC(), grid), seed=0))
    turned = keys_of(groups_of(trials(SVC(), grid[::-1]), seed=0))
    assert listed == turned


def test_what_shares_only_its_first_steps_is_split_for_other_workers():
    """The last steps are fitted one by one anyway."""
    model = make_pipeline(StandardScaler(), MLPClassifier())
    grid = [{"mlpclassifier__alpha": alpha} for alpha in range(1, 21)]
    found = groups_of(trials(model, grid), seed=0)
    assert [len(group.trials) for group in found] == [8, 8, 4]


def test_a_trial_on_some_rows_is_fitted_by_itself():
    """Halving's rounds share nothing."""
    some = [
        Trial(trial.candidate, trial.row, rows=np.arange(5))
        for trial in trials(SVC(), [{"C": 1}, {"C": 10}])
    ]
    found = groups_of(some, seed=0)
    assert [len(group.trials) for group in found] == [1, 1]
    assert all(group.family is None for group in found)
