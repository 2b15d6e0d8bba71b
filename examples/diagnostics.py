"""
Check a score
=============

The same search twice: with the mix-up of the paper as validation set, and with the default. The
checks show what is wrong with the first score and what to do.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from leavezero import GridSearchLZO, LabelInvariantMixup

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=150, random_state=0)
model = make_pipeline(StandardScaler(), SVC())
grid = {"svc__gamma": [0.001, 0.01, 0.1, 1.0, 10.0], "svc__C": [10.0]}

# %%
# Mix-up generates rows between two rows of one class, where an overfitted model is always right.
# ``permutation=True`` fits the best two candidates to permuted labels: a score above chance is
# optimism of the validation set.

search = GridSearchLZO(model, grid, augmenter=LabelInvariantMixup(), loo=False, random_state=0).fit(
    X_train, y_train
)
report = search.diagnose(permutation=True)
print("best:", search.best_params_, f"score {search.best_score_:.3f}")
print(f"accuracy on {len(y_test)} test rows: {search.score(X_test, y_test):.3f}")
for check in report.warnings:
    print(check.code, check.message)
print("next step:", report.next_step)

# %%
# The default generates rows from density models and corrects the score by leave-one-out scores.

search = GridSearchLZO(model, grid, random_state=0).fit(X_train, y_train)
print("best:", search.best_params_, f"score {search.best_score_:.3f}")
print(f"accuracy on {len(y_test)} test rows: {search.score(X_test, y_test):.3f}")

# %%
# The whole report.

print(search.diagnose().summary(details=True))
