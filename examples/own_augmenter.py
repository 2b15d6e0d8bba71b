"""
An augmenter of your own
========================

Two methods are enough: what is learned from the rows of one class, and how new rows are drawn
from it. ``check_augmenter`` tests the rest.
"""

import numpy as np
from sklearn.datasets import load_wine
from sklearn.svm import SVC

from leavezero import GridSearchLZO
from leavezero.augment import ClassConditionalAugmenter, ClassSample
from leavezero.testing import check_augmenter

# %%
# A class-conditional augmenter sees the rows of one class at a time, as numbers. The base takes
# care of containers, categories, weights, and the shares of the classes. ``origins`` names the
# given rows that a new row came from, so that statistics know how much V leans on each.


class NoisyCopies(ClassConditionalAugmenter):
    """Draw given rows of a class again, with noise in proportion to each column's spread."""

    def __init__(self, strength=0.5):
        self.strength = strength

    def _fit_class(self, stratum):
        return self.strength * stratum.values.std(axis=0)

    def _sample_class(self, stratum, fitted, n_samples, rng):
        rows = rng.integers(len(stratum), size=n_samples)
        noise = fitted * rng.standard_normal((n_samples, len(fitted)))
        return ClassSample(stratum.values[rows] + noise, rows[:, None])


# %%
# Every promise of an augmenter is checked on small data: shapes, shares, seeds, refusals.

check_augmenter(NoisyCopies())

# %%
# Then it draws V for any search. Whether its V is any good is another question: ask
# ``search.trust()``, and compare it with "auto".

X, y = load_wine(return_X_y=True)
grid = {"C": [0.1, 1, 10]}
search = GridSearchLZO(SVC(), grid, augmenter=NoisyCopies(strength=0.5), random_state=0)
search.fit((X - X.mean(axis=0)) / X.std(axis=0), y)
print("chosen", search.best_params_)
print("scores", np.round(search.cv_results_["mean_test_score"], 3))
