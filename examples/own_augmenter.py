"""
An augmenter of your own
========================

Two methods are enough: fit to the rows of one class, and generate rows of that class.
``check_augmenter`` tests the rest.
"""

import numpy as np
from sklearn.covariance import LedoitWolf
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from leavezero import GridSearchLZO
from leavezero.augment import ClassConditionalAugmenter, ClassSample
from leavezero.testing import check_augmenter

# %%
# A class-conditional augmenter gets the rows of one class at a time, as numbers. The base class
# handles containers, categories, weights and the label distribution.


class ShrunkGaussian(ClassConditionalAugmenter):
    """Sample each class from a Gaussian with shrunk correlations (Ledoit and Wolf 2004)."""

    def _fit_class(self, one):
        scale = one.values.std(axis=0) + 1e-12
        return scale, LedoitWolf().fit(one.values / scale)

    def _sample_class(self, one, fitted, n_samples, rng):
        scale, model = fitted
        rows = rng.multivariate_normal(model.location_, model.covariance_, size=n_samples)
        return ClassSample(scale * rows)


# %%
# All requirements of an augmenter are checked on small data: shapes, label distribution, seeds.

check_augmenter(ShrunkGaussian())

# %%
# Then it works in any search. ``diagnose`` shows whether its rows are close to copies of training
# rows (LZ03), and whether they are optimistic for models that learned nothing (LZ04).

X, y = load_wine(return_X_y=True)
model = make_pipeline(StandardScaler(), SVC())
search = GridSearchLZO(
    model, {"svc__C": [0.01, 0.1, 1, 10, 100]}, augmenter=ShrunkGaussian(), random_state=0
).fit(X, y)
print("best:", search.best_params_)
print("scores:", np.round(search.cv_results_["mean_test_score"], 3))
report = search.diagnose(permutation=True)
print(report["LZ03"].message)
print(report["LZ04"].message)
