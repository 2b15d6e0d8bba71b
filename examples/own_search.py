"""
A search of your own
====================

A search is a class with a strategy that proposes candidates. Evaluation, workers, failures,
checkpoints, selection and diagnostics are shared by all searches.

This one searches one parameter on a logarithmic scale: a few values over the whole range, then a
few more around the best, and so on.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from leavezero.search import BaseSearchLZO, Trial

# %%
# The strategy. ``ask`` returns the trials of the next round, none at the end; ``tell`` receives
# their results in the same order. A trial is a candidate and its row in ``cv_results_``.


class Zoom:
    """Values around the best so far, closer in every round."""

    def __init__(self, make_candidate, low, high, n_values, n_rounds):
        self._make_candidate = make_candidate
        self._low, self._high = np.log10([low, high])
        self._n_values, self._n_rounds_left = n_values, n_rounds
        self._scores = {}  # by exponent, in the order of rows
        self.n_trials = n_values * n_rounds

    def ask(self):
        if self._n_rounds_left == 0:
            return []
        self._n_rounds_left -= 1
        exponents = np.linspace(self._low, self._high, self._n_values).round(6)
        self._proposed = [float(e) for e in exponents if float(e) not in self._scores]
        first = len(self._scores)
        return [Trial(self._make_candidate(10**e), first + i) for i, e in enumerate(self._proposed)]

    def tell(self, results):
        for exponent, result in zip(self._proposed, results, strict=True):
            self._scores[exponent] = result.main_score  # NaN if it failed
        best = max(self._scores, key=lambda e: np.nan_to_num(self._scores[e], nan=-np.inf))
        step = (self._high - self._low) / (self._n_values - 1)
        self._low, self._high = best - step, best + step


# %%
# The search. ``__init__`` lists its own parameters and those of the base class that it supports.
# The factory turns parameters into a candidate; equal parameters give the same candidate.


class ZoomSearchLZO(BaseSearchLZO):
    """Search one parameter at increasing resolution."""

    def __init__(
        self,
        estimator,
        name,
        low,
        high,
        *,
        n_values=5,
        n_rounds=3,
        scoring=None,
        n_jobs=None,
        random_state=None,
    ):
        super().__init__(scoring=scoring, n_jobs=n_jobs, random_state=random_state)
        self.estimator = estimator
        self.name = name
        self.low = low
        self.high = high
        self.n_values = n_values
        self.n_rounds = n_rounds

    def _strategy(self, factory, y, root):
        def make_candidate(value):
            return factory.candidate(self.estimator, {self.name: value})

        return Zoom(make_candidate, self.low, self.high, self.n_values, self.n_rounds)


# %%
# Everything else is inherited.

X, y = load_breast_cancer(return_X_y=True)
model = make_pipeline(StandardScaler(), SVC(kernel="linear"))
search = ZoomSearchLZO(model, "svc__C", 1e-4, 1e2, random_state=0).fit(X, y)

results = search.cv_results_
for params, score in zip(results["params"], results["mean_test_score"], strict=True):
    print(f"C = {params['svc__C']:10.4f}  score {score:.4f}")
print("best:", search.best_params_, "with", search.fit_counts_["candidate"], "fits")
