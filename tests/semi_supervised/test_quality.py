"""What rows without labels are good for."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_moons
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC

from leavezero.semi_supervised import SMIRClassifier


def few_labels(y, per_class, seed):
    """Return y with so many labels of each class, and -1 elsewhere."""
    rng = np.random.default_rng(seed)
    groups = [np.flatnonzero(y == code) for code in np.unique(y)]
    kept = np.concatenate([rng.permutation(rows)[:per_class] for rows in groups])
    return np.where(np.isin(np.arange(len(y)), kept), y, -1)


def test_two_moons_with_six_labels():
    """The defaults have less than half the error of models of the labels alone."""
    errors = []
    for seed in range(10):
        X, y = make_moons(300, noise=0.1, random_state=seed)
        few = few_labels(y, 3, seed)
        known, rest = few >= 0, few < 0
        smir = SMIRClassifier().fit(X, few).transduction_[rest]
        others = [KNeighborsClassifier(1), SVC()]
        alone = [model.fit(X[known], y[known]).predict(X[rest]) for model in others]
        errors.append([np.mean(answer != y[rest]) for answer in (smir, *alone)])
    ours, neighbor, machine = np.mean(errors, axis=0)
    assert ours < 0.5 * neighbor
    assert ours < 0.5 * machine


@pytest.mark.slow
def test_digits_with_twenty_labels():
    """The defaults are at least as good as label spreading over seven neighbours, in 20 draws."""
    X, y = load_digits(return_X_y=True)
    errors = []
    for seed in range(20):
        few = few_labels(y, 2, seed)
        models = [SMIRClassifier(), LabelSpreading(kernel="knn", n_neighbors=7)]
        errors.append([np.mean((m.fit(X, few).transduction_ != y)[few < 0]) for m in models])
    ours, spreading = np.mean(errors, axis=0)
    assert ours <= spreading
