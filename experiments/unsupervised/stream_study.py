"""Cumulative loss on streams, with and without drift."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import ParameterGrid

from experiments.markdown import MarkdownTable, make_frame
from experiments.unsupervised.study import Record, Study, generators, mean_and_error
from leavezero import PrequentialSearchLZO
from leavezero._typing import Floats

N_DRIFTS = {"stationary": 0, "one drift": 1, "three drifts": 3}
GRID = {
    "alpha": [1e-5, 1e-3, 1e-1],
    "learning_rate": ["optimal", "constant", "invscaling"],
    "eta0": [0.05],
}
OPTIONS: Mapping[str, dict[str, Any]] = {
    "dropping": {},
    "all to the end": {"alpha": None},
    "all, fading 0.9": {"alpha": None, "fading": 0.9},
}
ROWS, BATCH = 3000, 50
N_ALL = 9 * (ROWS // BATCH - 1)  # batches that all candidates are scored on
N_FIRST = 500  # rows for the hold-out, of which the last fifth selects


def _stream(rng: np.random.Generator, n_drifts: int) -> tuple[Floats, Any]:
    X = rng.normal(size=(ROWS, 10))
    segment = np.arange(ROWS) * (n_drifts + 1) // ROWS
    weights = rng.normal(size=(n_drifts + 1, 10))[segment]
    return X, ((X * weights).sum(axis=1) + rng.normal(size=ROWS) > 0).astype(int)


def _search(**options: Any) -> PrequentialSearchLZO:
    return PrequentialSearchLZO(SGDClassifier(), GRID, batch_size=BATCH, random_state=0, **options)


def _by_hold_out(X: Floats, y: Any) -> int:
    """Return the candidate that is best on the last of the first rows."""
    n_fitted = N_FIRST * 4 // 5
    accuracies = []
    for params in ParameterGrid(GRID):
        model = SGDClassifier(random_state=0, **params)
        for start in range(0, n_fitted, BATCH):
            rows = slice(start, start + BATCH)
            model.partial_fit(X[rows], y[rows], classes=[0, 1])
        accuracies.append(model.score(X[n_fitted:N_FIRST], y[n_fitted:N_FIRST]))
    return int(np.argmax(accuracies))


def _run(design: str, n_draws: int) -> Record:
    record: Record = {}
    for rng in generators(n_draws):
        X, y = _stream(rng, N_DRIFTS[design])
        fits = {}
        for name, options in OPTIONS.items():
            search = _search(**options).fit(X, y)
            fits[name] = [1 - search.prequential_score_, int(search.cv_results_["n_batches"].sum())]
        scores = search.cv_results_["mean_prequential_score"]  # all candidates ran to the end
        fits["hold-out of the first 500 rows"] = [1 - scores[_by_hold_out(X, y)], N_ALL]
        fits["best in hindsight"] = [1 - scores.max(), N_ALL]
        for name, values in fits.items():
            record.setdefault(name, []).append(values)
    return record


def _report(records: Mapping[str, Record], n_draws: int) -> list[MarkdownTable]:
    names = list(next(iter(records.values())))
    rows = {
        d: [mean_and_error(np.array(r[name])[:, 0]) for name in names] for d, r in records.items()
    }
    for design, record in records.items():
        dropping = np.array(record["dropping"])[:, 0]
        others = [np.array(record[name])[:, 0] - dropping for name in names[1:]]
        rows[f"{design}: minus dropping"] = ["-", *map(mean_and_error, others)]
    for design, record in records.items():
        learned = [np.mean(np.array(record[name])[:, 1]) for name in names]
        rows[f"{design}: batches scored"] = [f"{value:.0f}" for value in learned]
    note = (
        f"{n_draws} draws of {ROWS:,} rows in batches of {BATCH}, 9 candidates of "
        "SGDClassifier. Share of errors of the predictions before each batch is learned, with its "
        "standard error, and the number of batches that all candidates were scored on. The "
        "candidate of the hold-out goes on learning after it was selected."
    )
    return [MarkdownTable("Cumulative loss on streams", make_frame("stream", names, rows), (note,))]


STREAMS = Study(list(N_DRIFTS), _run, _report, 10)
