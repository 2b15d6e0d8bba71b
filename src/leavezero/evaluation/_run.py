"""Data and options that all candidates of a search share, and their restriction to some rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.utils import get_tags

from leavezero._tables import is_pandas, take_rows
from leavezero._typing import AnyArray, Ints, Table
from leavezero.augment import ValidationSet
from leavezero.evaluation._replicates import Replicates
from leavezero.evaluation._scoring import SINGLE, Metric, unsupervised_score
from leavezero.unsupervised import UnsupervisedScore

Fold = tuple[Ints, Ints]  # training rows and test rows


@dataclass(frozen=True, eq=False)
class Run:
    """The data and options that all candidates of a search share."""

    X: Table
    y: AnyArray  # as an array whose labels sort; zeros if there is no target
    y_fit: Any  # the target that candidates are fitted to, as it was passed; None: there is none
    replicates: Replicates
    metrics: Mapping[str, Metric]  # by their name in cv_results_, for validation rows
    main_metric: str | None  # that selects the best; None if no single metric does
    seed: int
    fit_params: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # by estimator name
    training_metrics: Mapping[str, Metric] = field(default_factory=dict)  # for training rows
    training_set: Replicates | None = None  # if training scores are requested
    kept_rows: Ints | None = None  # validation rows whose per-row scores are kept; None: all
    compared_rows: Ints | None = None  # validation rows by which models are compared; None: all
    use_loo: bool = False
    no_loo_reason: str | None = None  # why no candidate gets a LOO score
    use_validation_set: bool = True
    labeled: Ints | None = None  # labeled rows, where semi-supervised candidates use others too
    pairwise: bool = False  # X has a column for each training row, such as a precomputed kernel
    folds: Sequence[Fold] = ()  # by which all candidates are scored, instead of a validation set
    error_score: Any = np.nan

    @property
    def n_labeled(self) -> int:
        """The number of training rows with a label."""
        return len(self.y) if self.labeled is None else len(self.labeled)

    @property
    def unsupervised(self) -> UnsupervisedScore | None:
        """The score without a target, which replaces validation set and folds."""
        return unsupervised_score(self.metrics)

    def metric(self, name: str) -> Metric:
        """Return a metric; a callable that returns a dict has one entry for all its names."""
        return self.metrics.get(name) or self.metrics[SINGLE]


def rows_run(run: Run, rows: Ints | None) -> Run:
    """Return a run whose training data are some of the rows; None: all."""
    if rows is None:
        return run
    labeled, training_set = None, None
    if run.labeled is not None:
        labeled = np.flatnonzero(np.isin(rows, run.labeled))
    if run.training_set is not None:
        training_set = _rows_scored(run, rows if labeled is None else rows[labeled], rows)
    return replace(
        run,
        X=_training_part(run, rows, rows),
        y=run.y[rows],
        y_fit=None if run.y_fit is None else take_rows(run.y_fit, rows),
        fit_params={
            name: _params_at(params, rows, len(run.y)) for name, params in run.fit_params.items()
        },
        training_metrics={name: metric.at(rows) for name, metric in run.training_metrics.items()},
        training_set=training_set,
        labeled=labeled,
    )


def fold_run(run: Run, train: Ints, test: Ints) -> Run:
    """Return a run that fits candidates to some training rows and scores them on others."""
    return replace(
        rows_run(run, train),
        replicates=_rows_scored(run, test, train),
        metrics={name: metric.at(test) for name, metric in run.training_metrics.items()},
        kept_rows=None,
        compared_rows=np.arange(0),
        use_loo=False,
        use_validation_set=True,
        folds=(),
    )


def is_pairwise(estimator: Any) -> bool:
    """Return whether X has a column for each training row: precomputed kernels or distances."""
    return bool(get_tags(estimator).input_tags.pairwise)


def _training_part(run: Run, rows: Ints, columns: Ints) -> Table:
    """Return some rows of X; if it is pairwise, only the columns of the rows that are fitted."""
    taken = take_rows(run.X, rows)
    if not run.pairwise:
        return taken
    if is_pandas(taken):
        return taken.iloc[:, columns]
    return (np.asarray(taken) if isinstance(taken, list) else taken)[:, columns]


def _params_at(params: Mapping[str, Any], rows: Ints, n_rows: int) -> dict[str, Any]:
    """Return fit parameters; of those with one entry per row, the entries of some rows."""
    return {
        name: take_rows(value, rows)
        if hasattr(value, "__len__") and not isinstance(value, str) and len(value) == n_rows
        else value
        for name, value in params.items()
    }


def _rows_scored(run: Run, rows: Ints, columns: Ints) -> Replicates:
    """Return some training rows in the role of a validation set."""
    y: Any = None if run.y_fit is None else run.y[rows]
    scored = ValidationSet(_training_part(run, rows, columns), y)
    return Replicates(scored, 1, run.replicates.classes, fixed=True)
