"""The final score from both witnesses."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from leavezero import GridSearchLZO
from leavezero.engine import _finals
from leavezero.semi_supervised import SMIRClassifier

GRID = {"width": [0.2, 0.5, 1.0], "gamma": [1e-3, 1e-1]}


def table(n_labels):
    X, y = make_moons(80, noise=0.15, random_state=0)
    y[n_labels:] = -1
    search = GridSearchLZO(SMIRClassifier(), GRID, n_replicates=2, random_state=0)
    return search.fit(X, y).cv_results_


@pytest.mark.parametrize("n_labels", [10, 40])
def test_the_fewer_labels_the_more_v_decides(n_labels, monkeypatch):
    """Differences between candidates are V's for ten parts of l + 10, else as without the rule."""
    results = table(n_labels)
    monkeypatch.setattr(_finals, "HALF_TRUST", 0)
    plain = table(n_labels)["mean_test_score"]
    finals, on_v = results["mean_test_score"], results["mean_augmented_score"]
    share = 10 / (n_labels + 10)
    expected = share * (on_v - on_v.mean()) + (1 - share) * (plain - plain.mean())
    np.testing.assert_allclose(finals - finals.mean(), expected, atol=1e-9)
    assert not np.allclose(finals, plain)


def test_scores_without_an_end_stay_where_they_are():
    """A score of minus infinity moves nobody, and is not moved."""
    scores, others = np.array([-np.inf, 0.4, 0.8]), np.array([-np.inf, 0.8, 0.8])
    np.testing.assert_allclose(_finals._nearer(scores, others, 0.5), [-np.inf, 0.5, 0.7])
