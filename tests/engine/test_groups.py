import numpy as np
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from leavezero import GridSearchLZO
from leavezero.engine import Planner, Task, Trial
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


def test_users_see_what_was_one_task():
    """The plan has every candidate once, the largest task first, and names who shared the work."""
    X, y = load_iris(return_X_y=True)
    grid = [{"n_neighbors": [1, 3], "p": [1]}, {"n_neighbors": [1, 3, 5], "p": [2]}]
    search = GridSearchLZO(KNeighborsClassifier(), grid, random_state=0, n_replicates=2).fit(X, y)
    assert search.plan_ == (Task((2, 3, 4), "neighbors"), Task((0, 1), "neighbors"))
    alone = GridSearchLZO(DecisionTreeClassifier(), {"max_depth": [1, 2]}, n_replicates=2)
    assert alone.fit(X, y).plan_ == (Task((0,)), Task((1,)))


def test_the_plan_is_told(capsys):
    """In a line, where the user wants to hear."""
    X, y = load_iris(return_X_y=True)
    grid = {"n_neighbors": [1, 3]}
    GridSearchLZO(KNeighborsClassifier(), grid, n_replicates=2, verbose=1).fit(X, y)
    told = capsys.readouterr().out
    assert "GridSearchLZO: candidates: 2, tasks: 1; 2 of them shared work (neighbors)." in told
