"""Error of SMIR with default parameters and of other learners with few labels.

    uv run python benchmarks/smir_quality.py

20 draws of labels, the same number of each class; error on the rows without a label. No
parameter is tuned. Written to results/smir/quality.md.
"""

from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits, make_moons
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from leavezero.semi_supervised import SMIRClassifier

DRAWS = 20
RESULTS = Path(__file__).parents[1] / "results" / "smir"
ALL_ROWS = {
    "SMIR, default": SMIRClassifier(),
    "label spreading, 7 neighbors": LabelSpreading(kernel="knn", n_neighbors=7),
    "the same, alpha 0.8": LabelSpreading(kernel="knn", n_neighbors=7, alpha=0.8, max_iter=1000),
    "the same, alpha 0.99": LabelSpreading(kernel="knn", n_neighbors=7, alpha=0.99, max_iter=1000),
}
LABELED_ROWS = {"1-NN, labeled rows": KNeighborsClassifier(1), "SVC, labeled rows": SVC()}


def few_labels(y, per_class, seed):
    """Return y with so many labels of each class, and -1 elsewhere."""
    rng = np.random.default_rng(seed)
    groups = [np.flatnonzero(y == code) for code in np.unique(y)]
    kept = np.concatenate([rng.permutation(rows)[:per_class] for rows in groups])
    return np.where(np.isin(np.arange(len(y)), kept), y, -1)


def errors(X, y, few):
    """Return the error of every learner on the rows without a label, in percent."""
    known, rest = few >= 0, few < 0
    predicted = [model.fit(X, few).transduction_[rest] for model in ALL_ROWS.values()]
    alone = [model.fit(X[known], y[known]) for model in LABELED_ROWS.values()]
    predicted += [model.predict(X[rest]) for model in alone]
    return [100 * np.mean(labels != y[rest]) for labels in predicted]


def main():
    digits = load_digits(return_X_y=True)
    problems = {
        "two moons, 6 labels": (lambda s: make_moons(300, noise=0.1, random_state=s), 3),
        "digits, 10 labels": (lambda s: digits, 1),
        "digits, 20 labels": (lambda s: digits, 2),
        "digits, 50 labels": (lambda s: digits, 5),
    }
    found = {}
    for name, (data, per_class) in problems.items():
        draws = [(*data(seed), seed) for seed in range(DRAWS)]
        found[name] = [errors(X, y, few_labels(y, per_class, seed)) for X, y, seed in draws]
    lines = [f"# Error in percent (standard error), means of {DRAWS} draws of labels", ""]
    lines += ["| learner | " + " | ".join(found) + " |", "|---" * (len(found) + 1) + "|"]
    for at, learner in enumerate([*ALL_ROWS, *LABELED_ROWS]):
        columns = [np.array(rows)[:, at] for rows in found.values()]
        cells = [f"{c.mean():.1f} ({c.std(ddof=1) / np.sqrt(DRAWS):.1f})" for c in columns]
        lines.append(f"| {learner} | " + " | ".join(cells) + " |")
    RESULTS.mkdir(parents=True, exist_ok=True)
    text = "\n".join(lines) + "\n"
    (RESULTS / "quality.md").write_text(text)
    print(text)


if __name__ == "__main__":
    with threadpool_limits(limits=1):
        main()
