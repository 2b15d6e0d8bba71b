"""What all trials of a search share, made of its parameters."""

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from leavezero._random import integer_seed, stream
from leavezero._tables import take_rows
from leavezero._typing import AnyArray, Ints, Table
from leavezero.augment import ValidationSet
from leavezero.engine import SINGLE, Job, Metric, Replicates, Scoring, Strategy
from leavezero.search._labels import Labels
from leavezero.search._routing import Routed, with_params

KEPT_CELLS = 2**27  # gains that are kept for statistics: half a gibibyte
ANSWERED_ROWS = 5_000  # of V, by which models are compared


def job_of(
    search: Any,
    X: Table,
    labels: Labels,
    replicates: Replicates,
    scoring: Scoring,
    routed: Routed,
    strategy: Strategy,
    root: np.random.SeedSequence,
    *,
    looks: bool,
) -> Job:
    """Return what all trials share; ``looks`` is whether they are asked for unseen rows."""
    target, labeled = labels.target, labels.rows
    n_rows = len(target)
    given = None
    if search.return_train_score:
        given = the_data(search._template(), X, target, labeled)

    def for_rows(drawn: Replicates | None) -> dict[str, Metric]:
        return {
            name: with_params(metric, routed.score[name], n_rows, drawn)
            for name, metric in scoring.metrics.items()
        }

    return Job(
        X,
        target,
        replicates,
        metrics=for_rows(None if search.unseen == "only" else replicates),
        main=_main_metric(search, scoring),
        seed=integer_seed(root, "candidate"),
        fit_params=routed.fit,
        given=given,
        given_metrics=for_rows(None),
        kept_rows=_some_rows(len(replicates.rows), KEPT_CELLS // strategy.n_trials, root),
        answered_rows=_some_rows(len(replicates.rows), ANSWERED_ROWS, root),
        looks=looks,
        draws=search.unseen != "only",
        labeled=labeled,
        written=labels.written,
        error_score=search.error_score,
    )


def the_data(estimator: Any, X: Table, target: AnyArray, labeled: Ints | None) -> Replicates:
    """Return the given rows that have a label in the place of V."""
    if labeled is not None:
        X, target = take_rows(X, labeled), target[labeled]
    classes = np.unique(target) if is_classifier(estimator) and target.ndim == 1 else None
    return Replicates(ValidationSet(X, target), 1, classes, given=True)


def _main_metric(search: Any, scoring: Scoring) -> str | None:
    """Return the metric by which the best is chosen; None if several are and none is named."""
    by_name = scoring.several or callable(search.scoring)  # a callable may give a dictionary
    if isinstance(search.refit, str) and by_name:
        return search.refit
    return None if scoring.several else SINGLE


def _some_rows(n_rows: int, most: int, root: np.random.SeedSequence) -> Ints | None:
    """Return some rows of V, the same for all candidates, where all of them are too many."""
    most = max(1_000, most)
    if n_rows <= most:
        return None
    return np.sort(stream(root, "some rows", most).choice(n_rows, size=most, replace=False))
