"""Warnings point at the line that a user wrote."""

import pytest
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from leavezero import GridSearchLZO, RandomizedSearchLZO
from leavezero.exceptions import CandidateFailedWarning


@pytest.mark.parametrize(
    ("search", "category"),
    [
        (GridSearchLZO(SVC(), {"C": [1.0, -1.0]}, n_replicates=1), CandidateFailedWarning),
        (RandomizedSearchLZO(SVC(), {"C": [1.0]}, n_iter=5, n_replicates=1), UserWarning),
    ],
)
def test_the_line_of_the_user(search, category):
    """Not a line of the search, nor of what scikit-learn wraps around it."""
    X, y = load_iris(return_X_y=True)
    with pytest.warns(category) as caught:
        search.fit(X, y)
    assert {one.filename for one in caught} == {__file__}
