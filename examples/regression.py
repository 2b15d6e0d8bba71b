"""
Regression
==========

The augmenter generates features and a numerical target; any regression metric can be used.
"""

from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from leavezero import GridSearchLZO

X, y = load_diabetes(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)

search = GridSearchLZO(
    make_pipeline(StandardScaler(), Ridge()),
    {"ridge__alpha": [0.1, 1, 10, 100, 1000]},
    scoring="neg_mean_absolute_error",
    random_state=0,
    verbose=1,
)
search.fit(X_train, y_train)
print("best:", search.best_params_)
print(f"mean absolute error {-search.best_score_:.1f}")
print(f"on the test set     {-search.score(X_test, y_test):.1f}")
