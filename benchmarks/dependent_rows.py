"""Simulation of grouped rows and of a time series: scores of searches against those on new data.

Run with: uv run python benchmarks/dependent_rows.py
It writes results/dependent_rows/dependent_rows.md.
"""

import warnings
from pathlib import Path

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

from leavezero import GridSearchLZO

PAGE = Path(__file__).parents[1] / "results" / "dependent_rows" / "dependent_rows.md"
N_REPETITIONS = 20
N_GROUPS, GROUP_SIZE, N_NEW_GROUPS = 80, 10, 400
N_TIMES, N_FUTURE = 300, 60
SPLINE = make_column_transformer(
    (SplineTransformer(extrapolation="linear"), [0]), remainder="passthrough"
)
MODELS = {
    "groups": (KNeighborsClassifier(), {"n_neighbors": [1, 5, 25, 75, 150]}, "accuracy"),
    "time": (
        make_pipeline(SPLINE, Ridge(1e-3)),
        {"columntransformer__splinetransformer__n_knots": [2, 5, 10, 20, 40, 80]},
        "neg_root_mean_squared_error",
    ),
}
RANDOM_FOLDS = KFold(5, shuffle=True, random_state=0)
CALLS = {
    "groups": {
        "GridSearchCV, random folds": (GridSearchCV, RANDOM_FOLDS, False),
        "GridSearchLZO, default": (GridSearchLZO, 5, False),
        "GridSearchCV, GroupKFold": (GridSearchCV, GroupKFold(5), True),
        "GridSearchLZO, GroupKFold": (GridSearchLZO, GroupKFold(5), True),
        "GridSearchLZO, groups": (GridSearchLZO, 5, True),
    },
    "time": {
        "GridSearchCV, random folds": (GridSearchCV, RANDOM_FOLDS, False),
        "GridSearchLZO, default": (GridSearchLZO, 5, False),
        "GridSearchCV, TimeSeriesSplit": (GridSearchCV, TimeSeriesSplit(5), False),
        "GridSearchLZO, TimeSeriesSplit": (GridSearchLZO, TimeSeriesSplit(5), False),
    },
}
TITLES = {
    "groups": f"{N_GROUPS} groups of {GROUP_SIZE} rows with similar features and mostly one "
    f"class; nearest neighbors; accuracy, new data are {N_NEW_GROUPS} other groups",
    "time": f"{N_TIMES} rows in time order, the target is a random walk plus a linear signal; "
    f"splines of time; root mean squared error, new data are the next {N_FUTURE} rows",
}


def make_groups(rng, n_groups):
    """Return rows near the center of their group; most have the same class."""
    centers = rng.normal(size=(n_groups, 5))
    leading = (1.5 * centers[:, 0] + rng.normal(size=n_groups) > 0).astype(int)
    groups = np.repeat(np.arange(n_groups), GROUP_SIZE)
    X = centers[groups] + 0.2 * rng.normal(size=(len(groups), 5))
    y = np.where(rng.random(len(groups)) < 0.1, 1 - leading[groups], leading[groups])
    return X, y, groups


def make_series(rng):
    """Return time and two features, and a random walk plus a linear signal."""
    n_rows = N_TIMES + N_FUTURE
    features = rng.normal(size=(n_rows, 2))
    y = np.cumsum(rng.normal(size=n_rows)) + features.sum(axis=1)
    return np.column_stack([np.arange(n_rows) / N_TIMES, features]), y


def scores(kind, seed):
    """Return the score of each call and the score of its model on new data."""
    rng = np.random.default_rng(seed)
    if kind == "groups":
        X, y, groups = make_groups(rng, N_GROUPS)
        X_new, y_new, _ = make_groups(rng, N_NEW_GROUPS)
    else:
        (X, X_new), (y, y_new) = (np.split(part, [N_TIMES]) for part in make_series(rng))
        groups = None
    estimator, grid, metric = MODELS[kind]
    found = []
    for search_class, cv, with_groups in CALLS[kind].values():
        search = search_class(estimator, grid, scoring=metric, cv=cv)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "GridSearchLZO scores every candidate by")
            search.fit(X, y, **({"groups": groups} if with_groups else {}))
        found.append((search.best_score_, search.score(X_new, y_new)))
    return np.abs(found)


def main():
    """Write the table of each simulation."""
    lines = [
        "# Scores of searches on rows that are not exchangeable",
        "",
        f"Written by `benchmarks/dependent_rows.py`: means over {N_REPETITIONS} simulations.",
    ]
    for kind, calls in CALLS.items():
        means = np.mean([scores(kind, seed) for seed in range(N_REPETITIONS)], axis=0)
        lines += ["", f"## {kind.capitalize()}", "", f"{TITLES[kind]}.", ""]
        lines += ["| call | `best_score_` | on new data |", "|---|---|---|"]
        lines += [
            f"| {call} | {reported:.2f} | {new:.2f} |"
            for call, (reported, new) in zip(calls, means, strict=True)
        ]
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
