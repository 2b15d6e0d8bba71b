"""Find the leave-one-out method for an estimator."""

from typing import Any, TypeVar

from leavezero.leave_one_out import (
    _centroid,
    _discriminant,
    _glm,
    _kernel_regression,
    _lasso,
    _linear_svm,
    _logistic,
    _meta_estimators,
    _naive_bayes,
    _neighbors,
    _out_of_bag,
    _ridge,
    _smir_folds,
    _svm,
)
from leavezero.leave_one_out._loo_method import LeaveOneOutMethod

Method = TypeVar("Method", bound=LeaveOneOutMethod)

BUILTIN_METHODS: tuple[LeaveOneOutMethod, ...] = tuple(
    method
    for module in (
        _centroid,
        _discriminant,
        _glm,
        _kernel_regression,
        _lasso,
        _linear_svm,
        _logistic,
        _meta_estimators,
        _naive_bayes,
        _neighbors,
        _out_of_bag,
        _ridge,
        _smir_folds,
        _svm,
    )
    for method in module.METHODS
)
_REGISTERED: list[LeaveOneOutMethod] = []  # by users; the latest first


def register_leave_one_out(method: Method) -> Method:
    """Add a leave-one-out method, which takes precedence over the built-in ones.

    Parameters
    ----------
    method : LeaveOneOutMethod
        Method for one model type. Methods registered later take precedence.

    Returns
    -------
    LeaveOneOutMethod
        The same method.

    Examples
    --------
    >>> from leavezero.leave_one_out import (
    ...     LeaveOneOutMethod, LOOPredictions, find_leave_one_out, register_leave_one_out
    ... )
    >>> class MyClassifier: ...
    >>> class MyMethod(LeaveOneOutMethod):
    ...     name = "mine"
    ...     estimator_types = (MyClassifier,)
    ...     def _predict(self, model, X, y, sample_weight):
    ...         return LOOPredictions("exact", {"predict": y})
    >>> method = register_leave_one_out(MyMethod())
    >>> find_leave_one_out(MyClassifier()).name
    'mine'
    """
    _REGISTERED.insert(0, method)
    return method


def find_leave_one_out(estimator: Any) -> LeaveOneOutMethod | None:
    """Return the leave-one-out method for an estimator, or None.

    Parameters
    ----------
    estimator : estimator
        Any estimator, fitted or not.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from leavezero.leave_one_out import find_leave_one_out
    >>> find_leave_one_out(Ridge()).name
    'ridge'
    >>> find_leave_one_out(object()) is None
    True
    """
    methods = (*_REGISTERED, *BUILTIN_METHODS)
    return next((method for method in methods if method.handles(estimator)), None)
