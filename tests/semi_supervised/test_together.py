"""Models that are fitted together equal models that are fitted alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from leavezero.semi_supervised import SMIRClassifier, _together, fit_many

models = st.builds(
    SMIRClassifier,
    kernel=st.sampled_from(["rbf", "cosine"]),
    width=st.sampled_from([0.2, 1.0]),
    gamma=st.sampled_from([0.0, 0.1, 10.0]),
    offset=st.sampled_from([1e-6, 1e-2]),
    prior=st.sampled_from(["empirical", "uniform", (0.2, 0.3, 0.5)]),
    n_components=st.sampled_from([None, 15]),
    random_state=st.sampled_from([0, 1]),
)


def three_classes(seed):
    """Return positive rows of three classes, one in three without a label."""
    rng = np.random.default_rng(seed)
    y = np.arange(30) % 3
    X = rng.uniform(size=(30, 3)) + 0.5 * np.eye(3)[y]
    return X, np.where(np.arange(30) < 12, y, -1)


@settings(max_examples=30)
@given(st.lists(models, min_size=1, max_size=8), st.integers(0, 99))
def test_equal_to_plain_fits(candidates, seed):
    """In their order, whatever they share."""
    X, y = three_classes(seed)
    alone = [clone(model).fit(X, y) for model in candidates]
    for model, plain in zip(fit_many(candidates, X, y), alone, strict=True):
        assert_allclose(model.coef_, plain.coef_, atol=1e-6 * np.abs(plain.coef_).max())
        assert_allclose(model.label_distributions_, plain.label_distributions_, atol=1e-6)
        assert_allclose(model.predict_proba(X + 0.1), plain.predict_proba(X + 0.1), atol=1e-6)
        assert_array_equal(model.classes_, plain.classes_)
        assert model.n_features_in_ == 3


def test_settings_share_a_decomposition(monkeypatch):
    """One decomposition a width, however many models."""
    calls = []
    whole = _together.decompose_checked

    def counted(matrix):
        calls.append(len(matrix))
        return whole(matrix)

    monkeypatch.setattr(_together, "decompose_checked", counted)
    X, y = three_classes(0)
    grid = [(width, gamma) for gamma in (0.0, 0.1, 1.0) for width in (0.2, 0.5)]
    fit_many([SMIRClassifier(width=width, gamma=gamma) for width, gamma in grid], X, y)
    assert calls == [30, 30]


def test_a_model_does_not_hold_the_others():
    """Coefficients are a copy, not a view of all settings'."""
    X, y = three_classes(0)
    first, _ = fit_many([SMIRClassifier(), SMIRClassifier(gamma=1.0)], X, y)
    assert first.coef_.base is None


def test_one_wrong_setting_is_refused_before_the_decomposition(monkeypatch):
    """An error that the parameters tell costs nothing."""
    monkeypatch.setattr(_together, "decompose_checked", None)
    X, y = three_classes(0)
    with pytest.raises(ValueError, match="has 2 shares, but y has labelled rows of 3 classes"):
        fit_many([SMIRClassifier(), SMIRClassifier(prior=[0.5, 0.5])], X, y)


def test_nothing_to_fit():
    """No models are no error."""
    assert fit_many([], [[0.0]], [1]) == []
