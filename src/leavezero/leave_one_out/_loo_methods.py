"""All built-in leave-one-out methods."""

from leavezero.leave_one_out import (
    _centroid,
    _discriminant,
    _dummy,
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

METHODS: tuple[LeaveOneOutMethod, ...] = tuple(
    method
    for module in (
        _centroid,
        _discriminant,
        _dummy,
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
