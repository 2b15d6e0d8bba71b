"""
Whole estimators in one search
==============================

Logistic regression, neighbours and a forest compete, each with a grid of its own. The search
tells what either witness said of every candidate, and how clear the choice is.
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
print(f"{'candidate':<10} {'on V':>6} {'unseen':>7} {'final':>6}  unseen rows are")
for row, params in enumerate(results["params"]):
    scores = [results[f"mean_{kind}_score"][row] for kind in ("augmented", "unseen", "test")]
    cells = " ".join(f"{score:6.3f}" for score in scores)
    print(f"{params['candidate']:<10} {cells}  {results['unseen_kind'][row]}")

chosen = search.selection_
print("\nchosen", search.best_params_, "with", search.n_fits_, "fits")
print("cannot be told from it:", [results["params"][row] for row in chosen.contenders[1:]])
print(f"its lead is {chosen.margin:.3f}, from {chosen.margin_low:.3f} to {chosen.margin_high:.3f}")
