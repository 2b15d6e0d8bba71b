"""Times to numbers inside a pipeline."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from leavezero._typing import AnyArray, Floats

PARTS = ("day", "month", "weekday", "hour")


class DateParts(TransformerMixin, BaseEstimator):
    """Write each time as days since 1970, month, day of the week and hour of the day.

    A missing time is missing in every part.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.tabular import DateParts
    >>> DateParts().fit_transform(np.array([["1970-01-02T12:00"]], dtype="M8[us]"))
    array([[ 1.5,  1. ,  4. , 12. ]])
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the number of columns, and nothing else."""
        self.n_features_in_ = np.shape(X)[1]
        return self

    def transform(self, X: Any) -> Floats:
        """Return four numbers for each time."""
        times = np.asarray(X).astype("M8[us]")
        return np.column_stack([_parts(times[:, at]) for at in range(times.shape[1])])

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Return the names of the columns that are made."""
        names = [f"x{at}" for at in range(self.n_features_in_)]
        given = names if input_features is None else input_features
        return np.array([f"{name}_{part}" for name in given for part in PARTS], dtype=object)


def _parts(times: AnyArray) -> Floats:
    days = times.astype("M8[D]")
    months = days.astype("M8[M]").astype(np.int64) % 12 + 1
    weekdays = (days.astype(np.int64) + 3) % 7  # the first day of 1970 was a Thursday; Monday is 0
    clock = (times - days) / np.timedelta64(1, "h")
    since = days.astype(np.int64) + np.where(np.isnat(times), 0.0, clock) / 24
    parts = np.column_stack([since, months, weekdays, clock])
    parts[np.isnat(times)] = np.nan
    return parts
