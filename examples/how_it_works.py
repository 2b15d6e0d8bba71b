"""
How it works, in two pictures
=============================

The data are made, so that the truth is known: what a model is worth on 10,000 fresh rows. They were
chosen because they show how a validation set can flatter; not all data do so this clearly. A folder
on the command line gets the pictures as files; those of the guide are made by
``python examples/how_it_works.py docs/images``.
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
)  # 20 columns, a tenth of the labels drawn at random
X_new, y_new = X[150:], y[150:]
X, y = X[:150], y[:150]


def save(figure, name):
    """Write a picture if a folder was named."""
    if len(sys.argv) > 1 and Path(sys.argv[1]).is_dir():
        figure.savefig(Path(sys.argv[1]) / f"{name}.svg", metadata={"Date": None})


# %%
# One grid of candidates, from a model that memorises (one neighbor) to a rigid one (many), judged
# in three ways. Every way but the folds fits each candidate once.

counts = [1, 3, 5, 7, 11, 15, 21, 31, 45, 65]
grid = {"n_neighbors": counts}
paper = GridSearchLZO(
    KNeighborsClassifier(), grid, augmenter=LabelInvariantMixup(), unseen="off", random_state=0
).fit(X, y)
search = GridSearchLZO(KNeighborsClassifier(), grid, random_state=0).fit(X, y)
folds = GridSearchCV(KNeighborsClassifier(), grid, cv=10).fit(X, y)
truth = [KNeighborsClassifier(count).fit(X, y).score(X_new, y_new) for count in counts]

# %%
# The data and V, the validation set that an augmenter draws from them, in the two widest directions
# of the data; and what each way says of the candidates. Mix-up, the paper's way, is sure of the
# model that memorises: its rows lie between rows that this model knows by heart.

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
V = search.validation_set_
plane = PCA(2).fit(X)
left.scatter(*plane.transform(X).T, s=9, c=COLORS[y])
left.set_title("the data: every candidate is\nfitted once, to all of them")
middle.scatter(
    *plane.transform(V.X[:150]).T, s=16, c=COLORS[V.y[:150]], marker="^", alpha=0.6, linewidths=0
)
middle.set_title("V: rows drawn from the data,\nseen by no candidate")
for axes in (left, middle):
    axes.set(xlim=(-8, 8), ylim=(-8, 8), xticks=[], yticks=[])

right.semilogx(counts, truth, color="black", lw=2.5, label="10,000 fresh rows")
ways = {
    "mix-up (the paper)": (paper, "#8a8a8a", "--"),
    "10-fold CV": (folds, "#4a9d5b", "-."),
    "leavezero": (search, "#d9661f", "-"),
}
for label, (way, color, style) in ways.items():
    scores = way.cv_results_["mean_test_score"]
    right.semilogx(counts, scores, color=color, ls=style, label=label)
    right.plot(way.best_params_["n_neighbors"], way.best_score_, "o", color=color)
right.set_title("what each way says of a candidate\n(a dot is its choice)")
right.set(xlabel="neighbors: from memorising to rigid", ylabel="accuracy")
right.legend(loc="lower left", fontsize=8)
save(figure, "how-it-works")

print(f"{'way':<20} {'fits':>4}  {'its score':>9}  fresh rows")
for label, (way, *_) in ways.items():
    fits = getattr(way, "n_fits_", 10 * len(counts) + 1)
    worth = way.score(X_new, y_new)
    print(f"{label:<20} {fits:>4}  {way.best_score_:>9.3f}  {worth:.3f}")

# %%
# Two witnesses make the score of the default. V alone errs here in the other direction: its rows
# are smoother than the data and favor rigid models. Rows that each model has not seen tell how far
# V is off for which kind of model.

figure, axes = plt.subplots(figsize=(5.2, 3.2), layout="constrained")
table = search.cv_results_
axes.semilogx(counts, truth, color="black", lw=2.5, label="10,000 fresh rows")
axes.semilogx(counts, table["mean_augmented_score"], "^:", ms=4, label="V alone")
axes.semilogx(counts, table["mean_unseen_score"], "s:", ms=4, label="given rows as if not seen")
axes.semilogx(counts, table["mean_test_score"], color="#d9661f", label="both: the score")
axes.set(xlabel="neighbors: from memorising to rigid", ylabel="accuracy")
axes.legend(loc="lower center", fontsize=8)
save(figure, "two-witnesses")
