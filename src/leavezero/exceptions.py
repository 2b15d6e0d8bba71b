"""The few errors and warnings that are our own."""

from sklearn.exceptions import FitFailedWarning

__all__ = [
    "AllCandidatesFailedError",
    "CandidateFailedWarning",
    "SmallClassWarning",
    "TimeBudgetError",
]


class AllCandidatesFailedError(ValueError):
    """No candidate of a search could be fitted and scored.

    Examples
    --------
    >>> from leavezero.exceptions import AllCandidatesFailedError
    >>> issubclass(AllCandidatesFailedError, ValueError)
    True
    """


class TimeBudgetError(AllCandidatesFailedError):
    """No candidate of a search was finished within its time budget.

    Examples
    --------
    >>> from leavezero.exceptions import AllCandidatesFailedError, TimeBudgetError
    >>> issubclass(TimeBudgetError, AllCandidatesFailedError)
    True
    """


class CandidateFailedWarning(FitFailedWarning):
    """Some candidates of a search failed and were given ``error_score``.

    Examples
    --------
    >>> from sklearn.exceptions import FitFailedWarning
    >>> from leavezero.exceptions import CandidateFailedWarning
    >>> issubclass(CandidateFailedWarning, FitFailedWarning)
    True
    """


class SmallClassWarning(UserWarning):
    """A class has too few rows for the method that was requested.

    Examples
    --------
    >>> import warnings
    >>> from leavezero.exceptions import SmallClassWarning
    >>> warnings.simplefilter("ignore", SmallClassWarning)
    """
