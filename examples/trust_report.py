"""
May this score be believed?
===========================

The same search twice: once with the paper's mix-up as validation set, once with the default. The
findings say what is wrong with the first, and what to do about it.
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
# Mix-up draws rows between two of a class, where a model that memorises is always right. The
# finding LZ04 fits the winner to permuted labels: what V says of a model that can have learned
# nothing is flattery.

search = GridSearchLZO(
    model, grid, augmenter=LabelInvariantMixup(), unseen="off", random_state=0
).fit(X_train, y_train)
report = search.trust(optimism=True)
print("chosen", search.best_params_, f"score {search.best_score_:.3f}")
print(f"on {len(y_test)} rows it has not seen: {search.score(X_test, y_test):.3f}")
for finding in report.warnings:
    print(finding.code, finding.sentence)
print("next:", report.next_step)

# %%
# The default hears rows that the models have not seen, too.

search = GridSearchLZO(model, grid, random_state=0).fit(X_train, y_train)
print("chosen", search.best_params_, f"score {search.best_score_:.3f}")
print(f"on {len(y_test)} rows it has not seen: {search.score(X_test, y_test):.3f}")

# %%
# The whole report.

print(search.trust())
