"""RandomizedSearchLZO draws candidates from distributions."""

import numpy as np
import pytest
from scipy.stats import loguniform, randint
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from leavezero import HalvingRandomSearchLZO, RandomizedSearchLZO


def test_candidates_are_drawn_from_the_distributions(iris):
    """As many as asked for, within their bounds."""
    search = RandomizedSearchLZO(SVC(), {"C": loguniform(0.1, 10)}, n_iter=6, random_state=0)
    drawn = search.fit(*iris).cv_results_["param_C"]
    assert len(drawn) == search.n_fits_ == 6
    assert 0.1 <= drawn.min() <= drawn.max() <= 10


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_seed_draws_the_same_candidates_whatever_the_workers(iris, n_jobs):
    """And another seed others."""
    distributions = {"max_depth": randint(1, 9), "min_samples_leaf": randint(1, 30)}

    def chosen(seed, jobs):
        search = RandomizedSearchLZO(
            DecisionTreeClassifier(), distributions, n_iter=5, n_jobs=jobs, random_state=seed
        ).fit(*iris)
        return search.cv_results_["params"], search.cv_results_["mean_test_score"].tolist()

    assert chosen(0, 1) == chosen(0, n_jobs)
    assert chosen(0, 1) != chosen(1, 1)


def test_the_search_of_the_same_seed_sees_the_same_v(iris):
    """Candidates and V have their own streams."""
    few, many = (
        RandomizedSearchLZO(SVC(), {"C": loguniform(0.1, 10)}, n_iter=n, random_state=0).fit(*iris)
        for n in (1, 3)
    )
    assert np.array_equal(few.validation_set_.X, many.validation_set_.X)


@pytest.mark.parametrize("kind", [RandomizedSearchLZO, HalvingRandomSearchLZO])
def test_a_space_with_fewer_candidates_is_tried_whole(iris, kind):
    """One warning, in words of ours."""
    name = "n_iter" if kind is RandomizedSearchLZO else "n_candidates"
    search = kind(SVC(), {"C": [1, 10]}, random_state=0, **{name: 5})
    with pytest.warns(UserWarning, match="all are tried") as heard:
        search.fit(*iris)
    assert [str(one.message) for one in heard] == [
        f"{name} of {kind.__name__} is 5, and there are 2 candidates: all are tried, as "
        "GridSearchLZO does without a number."
    ]
    assert set(search.cv_results_["param_C"]) == {1, 10}


@pytest.mark.parametrize("n_iter", [0, 2.5, None])
def test_a_wrong_number_of_candidates_is_refused(iris, n_iter):
    """The message says what to use."""
    with pytest.raises(ValueError, match="n_iter of RandomizedSearchLZO must be a positive int"):
        RandomizedSearchLZO(SVC(), {"C": [1]}, n_iter=n_iter).fit(*iris)
