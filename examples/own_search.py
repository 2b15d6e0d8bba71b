"""
A search of your own
====================

A search is a strategy that proposes candidates, and a class that makes it. The loop, the workers,
failures, the journal, the choice and the trust report are those of every search.

This one looks at one parameter on a logarithmic scale: a few values over the whole range, then a
few more around the best, and so on.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from leavezero.engine import Trial
from leavezero.search import BaseSearchLZO

# %%
# The strategy. ``ask`` returns the trials of the next round, none at the end; ``tell`` hears what
# came of them, in the order in which they were asked for. A trial is a candidate and its row in
# the table of results.


class Zoom:
    """Values around the best so far, closer in every round."""

    def __init__(self, candidate_of, low, high, n_values, n_rounds):
        self._candidate_of = candidate_of
        self._low, self._high = np.log10([low, high])
        self._n_values, self._rounds_left = n_values, n_rounds
        self._scores = {}  # by exponent, in the order of rows
        self.n_trials = n_values * n_rounds

    def ask(self):
        if self._rounds_left == 0:
            return []
        self._rounds_left -= 1
        exponents = np.linspace(self._low, self._high, self._n_values).round(6)
        self._asked = [float(e) for e in exponents if float(e) not in self._scores]
        first = len(self._scores)
        return [Trial(self._candidate_of(10**e), first + i) for i, e in enumerate(self._asked)]

    def tell(self, records):
        for exponent, record in zip(self._asked, records, strict=True):
            self._scores[exponent] = record.main_score  # NaN if it failed
        best = max(self._scores, key=lambda e: np.nan_to_num(self._scores[e], nan=-np.inf))
        step = (self._high - self._low) / (self._n_values - 1)
        self._low, self._high = best - step, best + step


# %%
# The search. Its own parameters stand beside those of all searches, which the base takes; the
# planner makes a candidate of parameters, and equal ones are one.


class ZoomSearchLZO(BaseSearchLZO):
    """Zoom in on the best value of one parameter."""

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
        super().__init__(estimator, scoring=scoring, n_jobs=n_jobs, random_state=random_state)
        self.name = name
        self.low = low
        self.high = high
        self.n_values = n_values
        self.n_rounds = n_rounds

    def _strategy(self, planner, target, root):
        def candidate_of(value):
            return planner.candidate(self.estimator, {self.name: value})

        return Zoom(candidate_of, self.low, self.high, self.n_values, self.n_rounds)


# %%
# Everything else is there already.

X, y = load_breast_cancer(return_X_y=True)
model = make_pipeline(StandardScaler(), SVC(kernel="linear"))
search = ZoomSearchLZO(model, "svc__C", 1e-4, 1e2, random_state=0).fit(X, y)

results = search.cv_results_
for params, score in zip(results["params"], results["mean_test_score"], strict=True):
    print(f"C = {params['svc__C']:10.4f}  score {score:.4f}")
print("chosen", search.best_params_, "with", search.fits_["candidate"], "fits of candidates")
