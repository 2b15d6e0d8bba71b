"""Labels that are needed to select the best of several classifiers."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_circles,
    make_classification,
    make_gaussian_quantiles,
    make_hastie_10_2,
    make_moons,
)
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from experiments.markdown import MarkdownTable, make_frame
from experiments.unsupervised.study import (
    Record,
    Study,
    design_means,
    generators,
    mean_and_error,
)
from leavezero._typing import AnyArray, Floats
from leavezero.search import ActiveQuery

Load = Callable[[int], tuple[Floats, AnyArray]]


def _classes(n_classes: int, **options: Any) -> Load:
    return lambda seed: make_classification(
        800,
        n_features=15,
        n_informative=6,
        n_classes=n_classes,
        flip_y=0.05,
        random_state=seed,
        **options,
    )


USED: Mapping[str, Load] = {
    "digits": lambda _: load_digits(return_X_y=True),
    "breast cancer": lambda _: load_breast_cancer(return_X_y=True),
    "wine": lambda _: load_wine(return_X_y=True),
    "moons": lambda seed: make_moons(800, noise=0.3, random_state=seed),
    "two classes": _classes(2),
    "five classes": _classes(5),
}
FRESH: Mapping[str, Load] = {
    "iris": lambda _: load_iris(return_X_y=True),
    "circles": lambda seed: make_circles(800, noise=0.2, factor=0.5, random_state=seed),
    "quantiles": lambda seed: make_gaussian_quantiles(
        n_samples=800, n_features=4, n_classes=3, random_state=seed
    ),
    "sum of squares": lambda seed: make_hastie_10_2(800, random_state=seed),
    "two classes, unequal": _classes(2, weights=[0.8]),
    "ten classes": _classes(10, n_clusters_per_class=1),
}
POOLS = {**USED, **FRESH}
COUNTS = (0, 5, 10, 20, 40, 60)
NEAR = 0.01  # regret in accuracy at which a candidate counts as the best


def _run(design: str, n_draws: int) -> Record:
    record: Record = {"queries": [], "random": [], "queries needed": [], "random needed": []}
    for rng in generators(n_draws):
        X, y = POOLS[design](int(rng.integers(2**31)))
        order = rng.permutation(len(X))
        X, y = StandardScaler().fit_transform(X)[order], y[order]
        n = 60 if len(X) > 300 else 25
        models = [
            KNeighborsClassifier(1),
            KNeighborsClassifier(7),
            GaussianNB(),
            LogisticRegression(max_iter=500),
            SVC(C=0.3),
            SVC(C=30),
            DecisionTreeClassifier(random_state=0),
            RandomForestClassifier(50, random_state=0),
        ]
        pool, truth = X[n:], y[n:]
        predictions = np.array([model.fit(X[:n], y[:n]).predict(pool) for model in models])
        accuracy = (predictions == truth).mean(axis=1)
        for method in ("queries", "random"):
            query = ActiveQuery(tuple(range(len(models))), predictions)
            regrets = []
            for _ in range(COUNTS[-1] + 1):
                regrets.append(float(accuracy.max() - accuracy[query.best_index]))
                rows = query.rows()
                if method == "random":
                    left = np.setdiff1d(np.arange(len(pool)), list(query.labels))
                    rows = rng.choice(left, size=1)
                query = query.add_labels(rows, truth[rows])
            far = np.flatnonzero(np.array(regrets) > NEAR)
            record[method].append([regrets[count] for count in COUNTS])
            record[f"{method} needed"].append(int(far[-1]) + 1 if len(far) else 0)
    return record


def _report(records: Mapping[str, Record], n_draws: int) -> list[MarkdownTable]:
    rows = {}
    for method in ("queries", "random"):
        values = {design: record[method] for design, record in records.items()}
        for design, regrets in values.items():
            rows[f"{design}, {method}"] = [mean_and_error(column) for column in np.array(regrets).T]
        for group, cells in design_means(values, list(FRESH)).items():
            rows[f"all {group}, {method}"] = cells
    note = (
        f"{n_draws} draws, 8 classifiers fitted to 25 or 60 rows. Accuracy on the pool of the best "
        "candidate minus that of the selected one, with its standard error over draws, or over "
        "pools, by the number of labels. Without labels, the consensus of the candidates selects."
    )
    columns = [f"{count} labels" for count in COUNTS]
    tables = [MarkdownTable("Regret in accuracy", make_frame("pool", columns, rows), (note,))]
    needed = {
        design: [
            [first, second, first - second]
            for first, second in zip(record["queries needed"], record["random needed"], strict=True)
        ]
        for design, record in records.items()
    }
    rows = {d: [mean_and_error(column, 1) for column in np.array(v).T] for d, v in needed.items()}
    for group, cells in design_means(needed, list(FRESH), 1).items():
        rows[f"all {group}"] = cells
    note = (
        f"The number of labels after which the selected candidate has a regret of at most {NEAR} "
        f"and keeps it up to {COUNTS[-1]} labels; {COUNTS[-1] + 1} if it never does."
    )
    columns = ["queries", "random", "difference"]
    return [
        MarkdownTable("Labels needed", make_frame("pool", columns, rows), (note,)),
        *tables,
    ]


QUERIES = Study(list(POOLS), _run, _report, 20)
