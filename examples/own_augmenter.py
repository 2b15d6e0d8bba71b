"""Write an augmenter of your own, test it, and search with it."""

import numpy as np
from sklearn.datasets import load_wine
from sklearn.svm import SVC

from leavezero import GridSearchLZO
from leavezero.augment import ClassConditionalAugmenter, StratumDraw
from leavezero.testing import check_augmenter


class NoisyCopies(ClassConditionalAugmenter):
    """Draw given rows of a class again, with noise in proportion to each column's spread."""

    def __init__(self, strength=0.5):
        self.strength = strength

    def _fit_stratum(self, stratum):
        return self.strength * stratum.values.std(axis=0)

    def _sample_stratum(self, stratum, fitted, n_samples, rng):
        rows = rng.integers(len(stratum), size=n_samples)
        noise = fitted * rng.standard_normal((n_samples, len(fitted)))
        return StratumDraw(stratum.values[rows] + noise, rows[:, None])


check_augmenter(NoisyCopies())

X, y = load_wine(return_X_y=True)
grid = {"C": [0.1, 1, 10]}
search = GridSearchLZO(SVC(), grid, augmenter=NoisyCopies(strength=0.5), random_state=0)
search.fit((X - X.mean(axis=0)) / X.std(axis=0), y)
print("chosen", search.best_params_)
print("scores", np.round(search.cv_results_["mean_test_score"], 3))
