"""Records as the columns of ``cv_results_``."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata

from leavezero._typing import Floats, Ints
from leavezero.engine._finals import augmented_scores, rounded, unseen_scores
from leavezero.engine._run import Job, Record


def results_table(
    job: Job, records: Sequence[Record], finals_of: Mapping[str, Floats]
) -> dict[str, Any]:
    """Return equal-length columns with scikit-learn's names, a row for each trial."""
    columns: dict[str, Any] = {}
    for name in ("fit_time", "score_time"):
        columns[f"mean_{name}"] = np.array([getattr(record, name) for record in records])
        columns[f"std_{name}"] = np.zeros(len(records))  # one fit a candidate: nothing to spread
    columns |= _more_columns([record.trial.columns for record in records])
    params = [record.trial.candidate.params for record in records]
    columns |= _param_columns(params)
    columns["params"] = params
    fallback = np.nan if job.error_score == "raise" else job.error_score
    for name in metric_names(records):
        splits = split_scores(records, name, job.replicates.n_replicates, fallback)
        finals = np.where(np.isnan(finals_of[name]), splits.mean(axis=1), finals_of[name])
        splits += (finals - splits.mean(axis=1))[:, None]
        columns |= {f"split{r}_test_{name}": column for r, column in enumerate(splits.T)}
        columns[f"mean_test_{name}"] = finals
        columns[f"std_test_{name}"] = splits.std(axis=1)
        columns[f"rank_test_{name}"] = ranks(finals)
        if job.draws:
            columns[f"mean_augmented_{name}"] = augmented_scores(records, name)
        if job.looks:
            columns[f"mean_unseen_{name}"] = unseen_scores(records, name)
        if any(record.train_scores for record in records):
            columns[f"mean_train_{name}"] = np.array(
                [record.train_scores.get(name, fallback) for record in records], dtype=np.float64
            )
            columns[f"std_train_{name}"] = np.zeros(len(records))
    if job.looks:
        for name in ("kind", "note"):
            found = [getattr(record.sight, name) for record in records]
            columns[f"unseen_{name}"] = np.array(found, dtype=object)
    return columns


def metric_names(records: Sequence[Record]) -> list[str]:
    """Return the names of all metrics, in the order in which they were given."""
    names = dict.fromkeys(name for record in records for name in record.verdicts)
    return list(names | dict.fromkeys(n for record in records for n in record.scoring_errors))


def split_scores(
    records: Sequence[Record], name: str, n_replicates: int, fallback: float = np.nan
) -> Floats:
    """Return the score of each trial on each replicate."""
    missing = np.full(n_replicates, fallback, dtype=np.float64)
    return np.array(
        [record.verdicts[name].scores if name in record.verdicts else missing for record in records]
    )


def ranks(scores: Floats) -> Ints:
    """Return 1 for the highest score; ties share the better rank, NaN comes last.

    Examples
    --------
    >>> import numpy as np
    >>> ranks(np.array([0.5, np.nan, 0.9, 0.5]))
    array([2, 4, 1, 2], dtype=int32)
    """
    comparable = [-np.inf if np.isnan(score) else rounded(score) for score in scores]
    return rankdata(-np.array(comparable), method="min").astype(np.int32)


def _more_columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: np.array([row[name] for row in rows]) for name in names}


def _param_columns(params: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a masked column for each parameter that any candidate sets."""
    names = dict.fromkeys(name for row in params for name in row)
    return {f"param_{name}": _masked(name, params) for name in names}


def _masked(name: str, params: list[dict[str, Any]]) -> Any:
    given = [name in row for row in params]
    values = [row[name] for row in params if name in row]
    column = np.ma.MaskedArray(
        np.empty(len(given), dtype=_common_dtype(values)), mask=np.logical_not(given)
    )
    for at, value in zip(np.flatnonzero(given), values, strict=True):
        column[at] = value
    return column


def _common_dtype(values: list[Any]) -> Any:
    """Return the dtype that numpy finds for plain numbers, object for everything else."""
    if all(isinstance(value, bool | np.bool_) for value in values):
        return np.bool_
    if all(_is_plain_number(value) for value in values):
        return np.result_type(*[np.asarray(value) for value in values])
    return object


def _is_plain_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)
