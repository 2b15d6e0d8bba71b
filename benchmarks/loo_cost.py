"""CPU time of leave-one-out predictions compared with that of the fit and of predict.

    uv run python benchmarks/loo_cost.py

One thread, n = 1500, d = 20; fit, predict and leave-one-out take turns, medians over repeats.
Written to results/loo/cost.md.
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

from leavezero.leave_one_out import find_leave_one_out

REPEATS = 9
RESULTS = Path(__file__).parents[1] / "results" / "loo"
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
    """Return medians over repeats of fit, predict and leave-one-out, measured in turn."""
    method = find_leave_one_out(model)
    times = []
    for _ in range(REPEATS):
        fit = seconds(lambda: model.fit(X, y))
        predict = seconds(lambda: model.predict(X))
        loo = seconds(lambda: method.predict(model, X, y))
        times.append((fit, predict, loo))
    return np.median(times, axis=0)


def main():
    X, y = make_classification(1500, 20, n_informative=8, flip_y=0.1, random_state=0)
    lines = ["| model | fit, ms | predict, ms | LOO, ms | LOO / fit | LOO / predict |"]
    lines.append("|---|---|---|---|---|---|")
    with threadpool_limits(limits=1):
        for name, model in MODELS.items():
            fit, predict, loo = measure(model, X, y)
            cells = [f"{1000 * t:.1f}" for t in (fit, predict, loo)]
            cells += [f"{loo / fit:.2f}", f"{loo / predict:.2f}"]
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
    RESULTS.mkdir(parents=True, exist_ok=True)
    title = "# Cost of leave-one-out predictions, n = 1500, d = 20, one thread"
    text = f"{title}\n\n" + "\n".join(lines) + "\n"
    (RESULTS / "cost.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
