"""
How it works, in two figures
============================

The data are simulated, so the accuracy of a model is known from 10,000 new rows. They were chosen
to show how optimistic a validation set can be; the effect is weaker on most data. The figures of
the guide are written by ``python examples/how_it_works.py docs/images``.
"""

import sys
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier

from leavezero import GridSearchLZO, LabelInvariantMixup

matplotlib.rcParams.update({"svg.hashsalt": "leavezero", "svg.fonttype": "none", "font.size": 9})
COLORS = np.array(["#1f6fb4", "#d9661f"])
X, y = make_classification(
    10_150, n_informative=10, n_redundant=0, flip_y=0.1, random_state=0
)  # 20 columns, a tenth of the labels are random
X_new, y_new = X[150:], y[150:]
X, y = X[:150], y[:150]


def save(figure, name):
    """Write a figure to the folder on the command line, if there is one."""
    if len(sys.argv) > 1 and Path(sys.argv[1]).is_dir():
        figure.savefig(Path(sys.argv[1]) / f"{name}.svg", metadata={"Date": None})


# %%
# One grid of candidates, from an overfitted model (one neighbor) to a rigid one (many), scored by
# three methods. Leave-zero-out fits each candidate once.

counts = [1, 3, 5, 7, 11, 15, 21, 31, 45, 65]
grid = {"n_neighbors": counts}
paper = GridSearchLZO(
    KNeighborsClassifier(), grid, augmenter=LabelInvariantMixup(), loo=False, random_state=0
).fit(X, y)
search = GridSearchLZO(KNeighborsClassifier(), grid, random_state=0).fit(X, y)
cv_search = GridSearchCV(KNeighborsClassifier(), grid, cv=10).fit(X, y)
test_scores = [KNeighborsClassifier(count).fit(X, y).score(X_new, y_new) for count in counts]

# %%
# Training data and generated validation set, in the first two principal components, and the scores
# of the candidates. Mix-up, the method of the paper, prefers the overfitted model: its rows lie
# between training rows of one class, where that model is always right.

figure, (left, middle, right) = plt.subplots(
    1, 3, figsize=(7.4, 3.2), width_ratios=(1, 1, 1.4), layout="constrained"
)
generated = search.validation_set_
plane = PCA(2).fit(X)
left.scatter(*plane.transform(X).T, s=9, c=COLORS[y])
left.set_title("training data: each\ncandidate is fitted once")
middle.scatter(
    *plane.transform(generated.X[:150]).T,
    s=16,
    c=COLORS[generated.y[:150]],
    marker="^",
    alpha=0.6,
    linewidths=0,
)
middle.set_title("validation set: rows\ngenerated from models")
for axes in (left, middle):
    axes.set(xlim=(-8, 8), ylim=(-8, 8), xticks=[], yticks=[])

right.semilogx(counts, test_scores, color="black", lw=2.5, label="10,000 new rows")
methods = {
    "mix-up (the paper)": (paper, "#8a8a8a", "--"),
    "10-fold CV": (cv_search, "#4a9d5b", "-."),
    "leavezero": (search, "#d9661f", "-"),
}
for label, (fitted, color, style) in methods.items():
    scores = fitted.cv_results_["mean_test_score"]
    right.semilogx(counts, scores, color=color, ls=style, label=label)
    right.plot(fitted.best_params_["n_neighbors"], fitted.best_score_, "o", color=color)
right.set_title("scores of the candidates\n(dot: the selected one)")
right.set(xlabel="number of neighbors", ylabel="accuracy", ylim=(0.4, None))
right.set_xticks([1, 3, 10, 30], ["1", "3", "10", "30"])
right.legend(loc="lower left", fontsize=8)
save(figure, "how-it-works")

print(f"{'method':<20} {'fits':>4}  {'score':>6}  new rows")
for label, (fitted, *_) in methods.items():
    n_fits = getattr(fitted, "n_fits_", 10 * len(counts) + 1)
    accuracy = fitted.score(X_new, y_new)
    print(f"{label:<20} {n_fits:>4}  {fitted.best_score_:>6.3f}  {accuracy:.3f}")

# %%
# The default score. The validation score alone has the opposite bias here: generated rows are
# smoother than the data and favor rigid models. The leave-one-out scores show how large the bias is
# for which models, and the validation scores are corrected by it.

figure, axes = plt.subplots(figsize=(5.2, 3.2), layout="constrained")
table = search.cv_results_
axes.semilogx(counts, test_scores, color="black", lw=2.5, label="10,000 new rows")
axes.semilogx(counts, table["mean_validation_score"], "^:", ms=4, label="validation score")
axes.semilogx(counts, table["mean_loo_score"], "s:", ms=4, label="leave-one-out score")
axes.semilogx(counts, table["mean_test_score"], color="#d9661f", label="corrected score")
axes.set(xlabel="number of neighbors", ylabel="accuracy")
axes.set_xticks([1, 3, 10, 30], ["1", "3", "10", "30"])
axes.legend(loc="lower center", fontsize=8)
save(figure, "score-correction")
