"""The number of threads inside a fit is fixed."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from threadpoolctl import threadpool_info

from leavezero import GridSearchLZO


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_fit_has_one_thread_whatever_the_number_of_workers(iris, n_jobs):
    """Otherwise sums would differ in their last digits between n_jobs=1 and 2."""

    class ThreadCounter(ClassifierMixin, BaseEstimator):
        """A classifier that notes how many threads its fit may use."""

        def fit(self, X, y):
            np.ones((50, 50)) @ np.ones((50, 50))
            self.classes_ = np.unique(y)
            self.threads_ = {pool["num_threads"] for pool in threadpool_info()}
            return self

        def predict(self, X):
            return np.full(len(X), self.classes_[0])

    search = GridSearchLZO(ThreadCounter(), {}, n_jobs=n_jobs).fit(*iris)
    assert search.best_estimator_.threads_ == {1}
