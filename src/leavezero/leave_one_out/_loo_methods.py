"""All built-in leave-one-out methods."""

from leavezero.leave_one_out._centroid import NearestCentroidMethod
from leavezero.leave_one_out._discriminant import LDAMethod, QDAMethod
from leavezero.leave_one_out._dummy import DummyMethod
from leavezero.leave_one_out._glm import GLMMethod, LogisticMethod
from leavezero.leave_one_out._kernel_regression import GaussianProcessMethod, KernelRidgeMethod
from leavezero.leave_one_out._least_squares import (
    LassoMethod,
    RidgeClassifierMethod,
    RidgeMethod,
)
from leavezero.leave_one_out._loo_method import LeaveOneOutMethod
from leavezero.leave_one_out._meta_estimators import PipelineMethod, VotingMethod
from leavezero.leave_one_out._naive_bayes import DiscreteNBMethod, GaussianNBMethod
from leavezero.leave_one_out._neighbors import NeighborsMethod
from leavezero.leave_one_out._out_of_bag import OutOfBagMethod
from leavezero.leave_one_out._smir_folds import SMIRMethod
from leavezero.leave_one_out._svm import (
    LinearSVCMethod,
    LinearSVRMethod,
    SVCMethod,
    SVRMethod,
)

METHODS: tuple[LeaveOneOutMethod, ...] = (
    NearestCentroidMethod(),
    LDAMethod(),
    QDAMethod(),
    DummyMethod(),
    GLMMethod(),
    KernelRidgeMethod(),
    GaussianProcessMethod(),
    LassoMethod(),
    LinearSVCMethod(),
    LinearSVRMethod(),
    LogisticMethod(),
    PipelineMethod(),
    VotingMethod(),
    GaussianNBMethod(),
    DiscreteNBMethod(),
    NeighborsMethod(),
    OutOfBagMethod(),
    RidgeMethod(),
    RidgeClassifierMethod(),
    SMIRMethod(),
    SVCMethod(),
    SVRMethod(),
)
