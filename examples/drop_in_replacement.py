"""
Drop-in replacement of GridSearchCV
===================================

One line changes; the table shows what each way costs and what its choice is worth.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from leavezero import GridSearchLZO

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

pipeline = make_pipeline(StandardScaler(), SVC(kernel="linear"))
grid = {"svc__C": [0.01, 0.1, 1.0]}

by_folds = GridSearchCV(pipeline, grid, cv=10).fit(X_train, y_train)
by_augmentation = GridSearchLZO(pipeline, grid, random_state=0).fit(X_train, y_train)

print(f"10-fold CV      {by_folds.n_splits_ * 3 + 1:3d} fits  {by_folds.best_params_}")
print(f"leave-zero-out  {by_augmentation.n_fits_:3d} fits  {by_augmentation.best_params_}")
print(f"test accuracy   {by_folds.score(X_test, y_test):.3f} and ", end="")
print(f"{by_augmentation.score(X_test, y_test):.3f}")
