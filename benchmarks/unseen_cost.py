"""What unseen rows cost beside the fit and beside predicting the given rows.

    uv run python benchmarks/unseen_cost.py

Ratios of CPU time on one thread, n = 1500, d = 20, alternating, medians over repeats; written to
results/unseen/cost.md.
"""

import time
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from leavezero.families import family_of

REPEATS = 9
RESULTS = Path(__file__).parents[1] / "results" / "unseen"
MODELS = {
    "SVC, RBF": SVC(),
    "SVC, linear": SVC(kernel="linear"),
    "logistic": LogisticRegression(),
    "k-NN": KNeighborsClassifier(),
    "forest, 100 trees": RandomForestClassifier(random_state=0),
    "Gaussian naive Bayes": GaussianNB(),
}


def seconds(work):
    started = time.process_time()
    work()
    return time.process_time() - started


def measure(model, X, y):
    """Return medians over repeats of fit, predict and unseen, measured in turn."""
    family = family_of(model)
    times = []
    for _ in range(REPEATS):
        fitted = []
        fit = seconds(lambda fitted=fitted: fitted.append(model.fit(X, y)))
        predict = seconds(lambda fitted=fitted: fitted[0].predict(X))
        unseen = seconds(lambda fitted=fitted: family.unseen(fitted[0], X, y))
        times.append((fit, predict, unseen))
    return np.median(times, axis=0)


def main():
    X, y = make_classification(1500, 20, n_informative=8, flip_y=0.1, random_state=0)
    lines = ["| model | fit, ms | predict D, ms | unseen, ms | unseen / fit | unseen / predict |"]
    lines.append("|---|---|---|---|---|---|")
    with threadpool_limits(limits=1):
        for name, model in MODELS.items():
            fit, predict, unseen = measure(model, X, y)
            cells = [f"{1000 * t:.1f}" for t in (fit, predict, unseen)]
            cells += [f"{unseen / fit:.2f}", f"{unseen / predict:.2f}"]
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
    RESULTS.mkdir(parents=True, exist_ok=True)
    text = "# Cost of unseen rows, n = 1500, d = 20, one thread\n\n" + "\n".join(lines) + "\n"
    (RESULTS / "cost.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
