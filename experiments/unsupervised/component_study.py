"""The number of components by the error of the reconstructed signal, next to folds and Minka."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.decomposition import NMF, PCA, FactorAnalysis, TruncatedSVD
from sklearn.model_selection import GridSearchCV

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
from leavezero.unsupervised import ComponentScore

Table = Callable[[np.random.Generator], tuple[Floats, Floats]]  # rows, and their signal


def _signal(n: int, p: int, scales: Any, noise: Any = (1.0,), mean: float = 0.0) -> Table:
    """Return orthogonal loadings with scores of these scales, plus noise by column."""

    def simulate(rng: np.random.Generator) -> tuple[Floats, Floats]:
        loadings = np.linalg.qr(rng.normal(size=(p, max(1, len(scales)))))[0].T
        scores = rng.normal(size=(n, len(scales))) * scales * np.sqrt(p / 10)
        signal = mean * rng.normal(size=p) + scores @ loadings[: len(scales)]
        return signal + rng.choice(noise, size=p) * rng.normal(size=(n, p)), signal

    return simulate


def _heavy_tails(rng: np.random.Generator) -> tuple[Floats, Floats]:
    _, signal = _signal(80, 15, (3, 2))(rng)
    return signal + rng.standard_t(4, size=signal.shape) / np.sqrt(2), signal


def _parts(n: int, p: int, k: int, noise: float) -> Table:
    """Return sums of non-negative parts; noise is cut off at zero."""

    def simulate(rng: np.random.Generator) -> tuple[Floats, Floats]:
        signal = rng.exponential(size=(n, k)) @ (
            rng.exponential(size=(k, p)) * (rng.random((k, p)) < 0.5)
        )
        return np.maximum(signal + noise * rng.normal(size=(n, p)), 0), signal

    return simulate


UNEQUAL = (0.5, 1.5)
USED: Mapping[str, tuple[Any, Table]] = {
    "PCA, 100 x 10, 3 strong": (PCA(), _signal(100, 10, (3, 3, 3))),
    "PCA, 100 x 20, 5 strong to weak": (PCA(), _signal(100, 20, (4, 3, 2, 1.5, 1))),
    "PCA, 50 x 50, 3 strong": (PCA(), _signal(50, 50, (2, 2, 2))),
    "PCA, 200 x 30, 8 weak": (PCA(), _signal(200, 30, (1,) * 8)),
    "PCA, 100 x 20, noise only": (PCA(), _signal(100, 20, ())),
    "PCA, 100 x 20, 3 strong, unequal noise": (PCA(), _signal(100, 20, (3, 3, 3), UNEQUAL)),
}
_NMF = NMF(init="nndsvda", max_iter=300)
FRESH: Mapping[str, tuple[Any, Table]] = {
    "PCA, 150 x 30, 6 strong to weak, unequal noise": (
        PCA(),
        _signal(150, 30, (4, 3, 2, 2, 1.5, 1), UNEQUAL),
    ),
    "PCA, 80 x 15, 2 strong, heavy tails": (PCA(), _heavy_tails),
    "PCA, 40 x 60, 4 strong": (PCA(), _signal(40, 60, (3, 3, 2, 2))),
    "FactorAnalysis, 100 x 10, 3 strong": (FactorAnalysis(), _signal(100, 10, (3, 3, 3))),
    "FactorAnalysis, 100 x 20, 3 strong, unequal noise": (
        FactorAnalysis(),
        _signal(100, 20, (3, 3, 3), UNEQUAL),
    ),
    "FactorAnalysis, 200 x 20, 5 strong to weak": (
        FactorAnalysis(),
        _signal(200, 20, (4, 3, 2, 1.5, 1)),
    ),
    "TruncatedSVD, 100 x 15, mean and 3 strong": (
        TruncatedSVD(algorithm="arpack"),
        _signal(100, 15, (3, 3, 3), mean=3.0),
    ),
    "TruncatedSVD, 200 x 30, 8 weak": (
        TruncatedSVD(algorithm="arpack"),
        _signal(200, 30, (1,) * 8),
    ),
    "TruncatedSVD, 50 x 50, 3 strong": (
        TruncatedSVD(algorithm="arpack"),
        _signal(50, 50, (2, 2, 2)),
    ),
    "NMF, 100 x 12, 3 parts": (_NMF, _parts(100, 12, 3, 0.3)),
    "NMF, 100 x 20, 5 parts": (_NMF, _parts(100, 20, 5, 0.5)),
    "NMF, 60 x 40, 4 parts": (_NMF, _parts(60, 40, 4, 0.5)),
    "NMF, 100 x 12, 3 parts, much noise": (_NMF, _parts(100, 12, 3, 1.0)),
}
DESIGNS = {**USED, **FRESH}
MAX_COMPONENTS = 15


def _reconstruct(model: Any, X: Floats) -> Floats:
    scores = model.transform(X)
    if hasattr(model, "inverse_transform"):
        return np.asarray(model.inverse_transform(scores))
    return np.asarray(scores @ model.components_ + model.mean_)


def _run(design: str, n_draws: int) -> Record:
    estimator, simulate = DESIGNS[design]
    record: Record = {"regret": [], "found": []}
    for rng in generators(n_draws):
        X, signal = simulate(rng)
        numbers = list(range(1, min(*X.shape, MAX_COMPONENTS + 2) - 1))
        grid = {"n_components": numbers}
        tables = [
            _reconstruct(clone(estimator).set_params(n_components=k).fit(X), X) for k in numbers
        ]
        errors = np.array([np.mean((table - signal) ** 2) for table in tables])
        center = 0 if isinstance(estimator, NMF | TruncatedSVD) else X.mean(axis=0)
        left = [np.sum((X - table) ** 2) / np.sum((X - center) ** 2) for table in tables]
        explained = np.flatnonzero(np.array(left) <= 0.1)
        chosen = [
            GridSearchLZO(estimator, grid, scoring=ComponentScore())
            .fit(X)
            .best_params_["n_components"],
            numbers[explained[0]] if len(explained) else numbers[-1],
        ]
        if hasattr(estimator, "score"):
            folds = GridSearchCV(estimator, grid, cv=5).fit(X)
            chosen.append(folds.best_params_["n_components"])
        if isinstance(estimator, PCA) and X.shape[0] > X.shape[1]:
            chosen.append(min(int(PCA("mle").fit(X).n_components_), numbers[-1]))
        regrets = [float(errors[k - 1] - errors.min()) for k in chosen]
        missing = [float("nan")] * (4 - len(chosen))
        record["regret"].append(regrets + missing)
        record["found"].append([*chosen, *missing])
    return record


def _report(records: Mapping[str, Record], n_draws: int) -> list[MarkdownTable]:
    rows = {}
    for design, record in records.items():
        columns = zip(np.array(record["regret"]).T, np.array(record["found"]).T, strict=True)
        rows[design] = [
            mean_and_error(regret) + ("" if np.isnan(found).any() else f" [{np.median(found):.0f}]")
            for regret, found in columns
        ]
    values = {design: record["regret"] for design, record in records.items()}
    for name in ("PCA", "FactorAnalysis", "TruncatedSVD", "NMF"):
        own = {design: values[design] for design in values if design.startswith(name)}
        for group, cells in design_means(own, list(FRESH)).items():
            rows[f"all {group}, {name}"] = cells
    names = ["GridSearchLZO", "90 % of the variance", "GridSearchCV, 5 folds", "Minka's MLE"]
    note = (
        f"{n_draws} draws, 1 to {MAX_COMPONENTS} components. Mean squared error of the "
        "reconstruction against the signal without noise (which has variance 1 unless stated; "
        "that against the same cells with new noise differs by a constant), minus that of the best "
        "number of components, with its standard error over draws, or over designs; in brackets "
        "the median number that was selected. NMF and TruncatedSVD have no score, hence no folds."
    )
    title = "Regret in the error of the reconstructed signal"
    return [MarkdownTable(title, make_frame("data", names, rows), (note,))]


COMPONENTS = Study(list(DESIGNS), _run, _report, 5)
