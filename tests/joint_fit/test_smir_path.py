"""SMIR settings that share a kernel equal plain fits."""

import numpy as np
import pytest

from leavezero.joint_fit import find_joint_fit
from leavezero.semi_supervised import SMIRClassifier


def test_equals_plain_fits(equals_plain_fits):
    """Labels equal those of plain fits, probabilities up to rounding."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2)) + np.repeat([[0.0], [3.0]], 20, axis=0)
    y = np.where(np.arange(40) % 5 == 0, np.arange(40) // 20, -1)
    estimators = [SMIRClassifier(gamma=gamma) for gamma in (0.01, 0.1, 1.0)]
    *_, predictions = equals_plain_fits(
        estimators, X, y, rng.normal(size=(30, 2)), rtol=1e-8, atol=1e-10
    )
    assert set(predictions[0]) == {"predict", "predict_proba"}


def test_weights_are_rejected():
    """SMIR takes no weights."""
    model = SMIRClassifier()
    with pytest.raises(ValueError, match="sample_weight"):
        find_joint_fit(model)[0].fit([model], [[0.0], [1.0]], [0, 1], np.ones(2))
