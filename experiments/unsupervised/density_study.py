"""Densities by held-out log-likelihood, next to folds and BIC."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KernelDensity

from experiments.markdown import MarkdownTable, make_frame
from experiments.unsupervised.study import (
    Record,
    Study,
    design_means,
    generators,
    mean_and_error,
)
from leavezero import GridSearchLZO
from leavezero._typing import Floats

ROWS = 100
STEP = 0.5  # of rounded rows


def _mixture(rng: np.random.Generator, n: int) -> Floats:
    centers = np.array([[0, 0], [3, 1], [0, 4]])
    return np.asarray(centers[rng.integers(3, size=n)] + rng.normal(size=(n, 2)) * [1, 0.6])


def _rounded(rng: np.random.Generator, n: int) -> Floats:
    """Return rounded training rows, with many duplicates, and exact new ones."""
    X = _mixture(rng, n)
    return np.round(X / STEP) * STEP if n == ROWS else X


def _ring(rng: np.random.Generator, n: int) -> Floats:
    angle = rng.uniform(0, 2 * np.pi, size=n)
    return np.asarray(3 * np.c_[np.cos(angle), np.sin(angle)] + 0.3 * rng.normal(size=(n, 2)))


def _moons(rng: np.random.Generator, n: int) -> Floats:
    return np.asarray(2 * make_moons(n, noise=0.1, random_state=int(rng.integers(2**31)))[0])


Sample = Callable[[np.random.Generator, int], Floats]
USED: Mapping[str, Sample] = {
    "mixture of 3, 2 columns": _mixture,
    "ring, 2 columns": _ring,
    "uniform, 2 columns": lambda rng, n: rng.uniform(size=(n, 2)),
    "skewed, 1 column": lambda rng, n: rng.lognormal(size=(n, 1)),
    "heavy tails, 5 columns": lambda rng, n: rng.standard_t(4, size=(n, 5)),
}
FRESH: Mapping[str, Sample] = {
    "mixture of 3, rounded rows": _rounded,
    "moons, 2 columns": _moons,
    "exponential, 2 columns": lambda rng, n: rng.exponential(size=(n, 2)),
    "heavy tails, 1 column": lambda rng, n: rng.standard_t(3, size=(n, 1)),
}
DESIGNS = {**USED, **FRESH}
ESTIMATORS: Mapping[str, tuple[Any, Any, int]] = {  # with the factor of draws
    "KernelDensity": (KernelDensity(), {"bandwidth": np.logspace(-1.5, 0.7, 12)}, 10),
    "GaussianMixture": (
        GaussianMixture(random_state=0),
        {"n_components": list(range(1, 9)), "covariance_type": ["full", "diag"]},
        1,
    ),
    "BayesianGaussianMixture": (
        BayesianGaussianMixture(max_iter=300, random_state=0),
        {"n_components": [1, 2, 4, 8]},
        1,
    ),
}
OPTIMISM = "optimism"  # a design of its own


def _run(design: str, n_draws: int) -> Record:
    if design == OPTIMISM:
        return _correction_error()
    record: Record = {}
    for name, (estimator, grid, factor) in ESTIMATORS.items():
        record[name] = []
        for rng in generators(factor * n_draws):
            X, new = DESIGNS[design](rng, ROWS), DESIGNS[design](rng, 4000)
            record[name].append(_regrets(estimator, grid, X, new))
    return record


def _regrets(estimator: Any, grid: Any, X: Floats, new: Floats) -> list[float]:
    ours = GridSearchLZO(estimator, grid).fit(X)
    folds = GridSearchCV(estimator, grid, cv=5).fit(X)
    params = ours.cv_results_["params"]
    fits = [clone(estimator).set_params(**one).fit(X) for one in params]
    held_out = np.array([fit.score_samples(new).mean() for fit in fits])
    chosen = [ours.best_index_, folds.best_index_]
    if hasattr(fits[0], "bic"):
        chosen.append(int(np.argmin([fit.bic(X) for fit in fits])))
    regrets = list(held_out.max() - held_out[chosen])
    return [regrets[0], regrets[1], regrets[0] - regrets[1], *(regrets[2:] or [np.nan])]


def _report(records: Mapping[str, Record], n_draws: int) -> list[MarkdownTable]:
    rows: dict[str, list[str]] = {}
    known = {design: record for design, record in records.items() if design != OPTIMISM}
    for name in ESTIMATORS:
        for design, record in known.items():
            rows[f"{design}, {name}"] = [mean_and_error(c) for c in np.array(record[name]).T]
        values = {design: record[name] for design, record in known.items()}
        for group, cells in design_means(values, list(FRESH)).items():
            rows[f"all {group}, {name}"] = cells
    columns = ["GridSearchLZO", "GridSearchCV, 5 folds", "difference", "BIC"]
    note = (
        f"{n_draws} draws of {ROWS} rows, {10 * n_draws} for KernelDensity; the mean log-density "
        "of 4,000 new rows by the best candidate minus that by the selected one, with its standard "
        "error over draws, or over designs. 12 bandwidths, 16 mixtures and 4 with priors, hence "
        f"12, 16 and 4 fits; with folds 61, 81 and 21. Rounded rows are multiples of {STEP}."
    )
    title = "Regret in held-out log-likelihood"
    tables = [MarkdownTable(title, make_frame("data", columns, rows), (note,))]
    if OPTIMISM in records:
        shares = {name: [f"{share:.0%}"] for name, share in records[OPTIMISM].items()}
        note = (
            "Training minus leave-one-out log-likelihood, relative to that of n fits which start "
            "at the fitted parameters; mean of 3 draws of the mixture above."
        )
        title = "Optimism that the leave-one-out score of a mixture removes"
        tables.append(MarkdownTable(title, make_frame("data", ["share"], shares), (note,)))
    return tables


def _correction_error() -> Record:
    """Return the share of a mixture's optimism that its leave-one-out score removes."""
    record: Record = {}
    for n in (50, 100):
        for k in (2, 4):
            shares = []
            for rng in generators(3):
                X = _mixture(rng, n)
                model = GaussianMixture(k, tol=1e-5, max_iter=1000, random_state=0).fit(X)
                score = GridSearchLZO(model, {"n_components": [k]}).fit(X).best_score_
                start = {
                    "weights_init": model.weights_,
                    "means_init": model.means_,
                    "precisions_init": model.precisions_,
                }
                exact = []
                for row in range(n):
                    refit = clone(model).set_params(**start).fit(np.delete(X, row, axis=0))
                    exact.append(refit.score_samples(X[[row]])[0])
                train = model.score(X)
                shares.append((train - score) / (train - np.mean(exact)))
            record[f"{n} rows, {k} components"] = float(np.mean(shares))
    return record


DENSITIES = Study([*DESIGNS, OPTIMISM], _run, _report, 4)
