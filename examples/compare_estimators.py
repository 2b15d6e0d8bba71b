"""
Several estimators in one search
================================

Logistic regression, nearest neighbors and a forest are compared, each with its own grid. The table
shows both scores of every candidate, and how clear the selection is.
"""

from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from leavezero import CandidateSearchLZO

X, y = load_wine(return_X_y=True)
candidates = {
    "logistic": (
        make_pipeline(StandardScaler(), LogisticRegression()),
        {"logisticregression__C": [0.01, 1, 100]},
    ),
    "neighbors": (
        make_pipeline(StandardScaler(), KNeighborsClassifier()),
        {"kneighborsclassifier__n_neighbors": [1, 5, 25]},
    ),
    "forest": RandomForestClassifier(50),
}
search = CandidateSearchLZO(candidates, random_state=0).fit(X, y)

results = search.cv_results_
print(f"{'candidate':<10} {'validation':>10} {'LOO':>6} {'score':>6}  LOO method")
for row, params in enumerate(results["params"]):
    validation, loo, score = (
        results[f"mean_{n}_score"][row] for n in ("validation", "loo", "test")
    )
    method = results["loo_method"][row]
    print(f"{params['candidate']:<10} {validation:>10.3f} {loo:6.3f} {score:6.3f}  {method}")

selection = search.selection_
print("\nbest:", search.best_params_, "with", search.n_fits_, "fits")
print("statistically tied with it:", [results["params"][row] for row in selection.tied[1:]])
print(f"margin {selection.margin:.3f} ({selection.margin_low:.3f} to {selection.margin_high:.3f})")
