"""Records as the columns of ``cv_results_``."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata

from leavezero._typing import Floats, Ints
from leavezero.engine._run import Record


def results_table(records: Sequence[Record]) -> dict[str, Any]:
    """Return equal-length columns with scikit-learn's names, a row for each candidate."""
    scores = np.array([record.scores for record in records])
    columns: dict[str, Any] = {}
    for name in ("fit_time", "score_time"):
        columns[f"mean_{name}"] = np.array([getattr(record, name) for record in records])
        columns[f"std_{name}"] = np.zeros(len(records))  # one fit a candidate: nothing to spread
    params = [record.candidate.params for record in records]
    columns |= _param_columns(params)
    columns["params"] = params
    columns |= {f"split{r}_test_score": column for r, column in enumerate(scores.T)}
    columns["mean_test_score"] = scores.mean(axis=1)
    columns["std_test_score"] = scores.std(axis=1)
    columns["rank_test_score"] = ranks(columns["mean_test_score"])
    return columns


def ranks(scores: Floats) -> Ints:
    """Return 1 for the highest score; ties share the better rank, NaN comes last.

    Examples
    --------
    >>> import numpy as np
    >>> ranks(np.array([0.5, np.nan, 0.9, 0.5]))
    array([2, 4, 1, 2], dtype=int32)
    """
    comparable = np.where(np.isnan(scores), -np.inf, scores)
    return rankdata(-comparable, method="min").astype(np.int32)


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
