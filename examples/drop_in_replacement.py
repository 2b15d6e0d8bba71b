"""
Replace GridSearchCV
====================

One line changes. The output shows the number of fits and the test accuracy of both searches.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from leavezero import GridSearchLZO

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

pipeline = make_pipeline(StandardScaler(), SVC())
grid = {"svc__C": [0.1, 1, 10, 100], "svc__gamma": [0.001, 0.01, 0.1]}

cv_search = GridSearchCV(pipeline, grid, cv=10).fit(X_train, y_train)
lzo_search = GridSearchLZO(pipeline, grid, random_state=0).fit(X_train, y_train)

n_candidates = len(cv_search.cv_results_["params"])
for name, search, n_fits in (
    ("10-fold CV", cv_search, 10 * n_candidates + 1),
    ("leave-zero-out", lzo_search, lzo_search.n_fits_),
):
    accuracy = search.score(X_test, y_test)
    print(f"{name:<15} {n_fits:>3} fits  test accuracy {accuracy:.3f}  {search.best_params_}")
