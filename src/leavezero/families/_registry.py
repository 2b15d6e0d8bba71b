"""Which family an estimator belongs to."""

from typing import Any

from leavezero.families._base import Family

_FAMILIES: list[Family] = []


def register_family(family: Family) -> Family:
    """Add a family; it is asked before those that were registered earlier.

    Parameters
    ----------
    family : Family
        What is known about one kind of estimator.

    Returns
    -------
    Family
        The same, so that the call can stand where the family is made.

    Examples
    --------
    >>> from leavezero.families import Family, family_of, register_family
    >>> class Own(Family):
    ...     name = "own"
    ...     def covers(self, estimator):
    ...         return type(estimator).__name__ == "OwnClassifier"
    >>> family = register_family(Own())
    >>> class OwnClassifier: ...
    >>> family_of(OwnClassifier()).name
    'own'
    """
    _FAMILIES.insert(0, family)
    return family


def family_of(estimator: Any) -> Family | None:
    """Return the family that covers an estimator, or None.

    Parameters
    ----------
    estimator : estimator
        Any estimator, fitted or not.

    Examples
    --------
    >>> from leavezero.families import family_of
    >>> family_of(object()) is None
    True
    """
    return next((family for family in _FAMILIES if family.covers(estimator)), None)
