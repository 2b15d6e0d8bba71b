"""The families that are here from the start."""

from leavezero.families import (
    _bagged,
    _centroid,
    _composite,
    _count_bayes,
    _discriminant,
    _glm,
    _histogram,
    _kernel,
    _linear,
    _linear_svm,
    _logistic,
    _naive_bayes,
    _neighbors,
    _quadratic,
    _rounds,
    _smir,
    _sparse_linear,
    _stages,
    _svm,
)
from leavezero.families._registry import register_family

_MODULES = (
    _bagged,
    _centroid,
    _composite,
    _count_bayes,
    _discriminant,
    _glm,
    _histogram,
    _kernel,
    _linear,
    _linear_svm,
    _logistic,
    _naive_bayes,
    _neighbors,
    _quadratic,
    _rounds,
    _smir,
    _sparse_linear,
    _stages,
    _svm,
)


def register_known() -> None:
    """Register every family that comes with the package."""
    for module in _MODULES:
        for family in module.FAMILIES:
            register_family(family)
