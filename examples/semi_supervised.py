"""
Ten labels
==========

75 settings of a semi-supervised classifier are fitted once each. The validation set is generated
from rows that other models have labeled.
"""

import numpy as np
from sklearn.datasets import load_digits

from leavezero import GridSearchLZO
from leavezero.semi_supervised import SMIRClassifier, fit_many

X, digits = load_digits(return_X_y=True)
rows = np.isin(digits, (3, 8))
X, truth = X[rows], digits[rows]

rng = np.random.default_rng(0)
labeled = rng.choice(len(truth), 10, replace=False)
y = np.full(len(truth), -1)  # -1: no label
y[labeled] = truth[labeled]

grid = {
    "width": [1 / 15, 1 / 10, 1 / 5, 1 / 2, 1.0],
    "gamma": [1e-7, 1e-3, 1e-1, 1e1, 1e3],
    "offset": [1e-10, 1e-6, 1e-2],
}
search = GridSearchLZO(SMIRClassifier(), grid, random_state=0).fit(X, y)

hits = search.best_estimator_.transduction_ == truth
print("best of", len(search.cv_results_["params"]), "settings:", search.best_params_)
print(f"correct for {hits[y == -1].mean():.1%} of the {np.sum(y == -1)} rows without a label")
models = fit_many([SMIRClassifier(**p) for p in search.cv_results_["params"]], X, y)
shares = [np.mean(model.transduction_[y == -1] == truth[y == -1]) for model in models]
print(f"all settings: {min(shares):.1%} to {max(shares):.1%}, mean {np.mean(shares):.1%}")
print(search.diagnose()["LZ12"].message)
