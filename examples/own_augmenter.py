"""
An augmenter of your own
========================

Two methods are enough: learn from the rows of one class, and generate rows of that class.
``check_augmenter`` tests the rest.
"""

import numpy as np
from sklearn.datasets import load_wine
from sklearn.svm import SVC

from leavezero import GridSearchLZO
from leavezero.augment import ClassConditionalAugmenter, ClassSample
from leavezero.testing import check_augmenter

# %%
# A class-conditional augmenter gets the rows of one class at a time, as numbers. The base class
# handles containers, categories, weights and the label marginal. The second value of
# ``ClassSample`` are the source rows of each generated row, which statistics use.


class NoisyCopies(ClassConditionalAugmenter):
    """Add noise to training rows, in proportion to the standard deviation of each column."""

    def __init__(self, strength=0.5):
        self.strength = strength

    def _fit_class(self, one):
        return self.strength * one.values.std(axis=0)

    def _sample_class(self, one, fitted, n_samples, rng):
        rows = rng.integers(len(one), size=n_samples)
        noise = fitted * rng.standard_normal((n_samples, len(fitted)))
        return ClassSample(one.values[rows] + noise, rows[:, None])


# %%
# All requirements of an augmenter are checked on small data: shapes, label marginal, seeds.

check_augmenter(NoisyCopies())

# %%
# Then it can be used in any search. Whether its rows resemble the data is another question: see
# ``search.trust()``, and compare it with "auto".

X, y = load_wine(return_X_y=True)
grid = {"C": [0.1, 1, 10]}
search = GridSearchLZO(SVC(), grid, augmenter=NoisyCopies(strength=0.5), random_state=0)
search.fit((X - X.mean(axis=0)) / X.std(axis=0), y)
print("chosen", search.best_params_)
print("scores", np.round(search.cv_results_["mean_test_score"], 3))
