import numpy as np
import pytest

from leavezero import GridSearchLZO
from leavezero.augment import GaussianAugmenter
from leavezero.families import family_of


@pytest.fixture
def finds_the_same(monkeypatch):
    """Search with and without shared work, and with two workers: one table, one choice."""

    def check(model, grid, X, y, rtol=1e-6):
        few = {"augmenter": GaussianAugmenter(), "n_replicates": 3, "random_state": 0}
        together = GridSearchLZO(model, grid, **few).fit(X, y)
        workers = GridSearchLZO(model, grid, n_jobs=2, **few).fit(X, y)
        monkeypatch.setattr(type(family_of(model)), "shares", lambda self, estimator: None)
        alone = GridSearchLZO(model, grid, **few).fit(X, y)
        scores = together.cv_results_["mean_test_score"]
        np.testing.assert_array_equal(workers.cv_results_["mean_test_score"], scores)
        np.testing.assert_allclose(scores, alone.cv_results_["mean_test_score"], rtol=rtol)
        assert together.best_params_ == workers.best_params_ == alone.best_params_
        return together, workers, alone

    return check


@pytest.fixture
def says_the_same():
    """Return a check that a family says, and doubts, the same twice, numbers up to a share."""

    def check(told, plain, off):
        assert told.doubt == plain.doubt
        assert told.responses.keys() == plain.responses.keys()
        for method, right in plain.responses.items():
            if np.asarray(right).dtype.kind == "f":
                np.testing.assert_allclose(told.responses[method], right, rtol=off, atol=off)
            else:
                np.testing.assert_array_equal(told.responses[method], right)

    return check
