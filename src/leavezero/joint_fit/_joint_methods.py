"""All joint fits, in the order in which they are tried."""

from functools import partial

from leavezero.joint_fit._ensemble_prefix import EnsemblePrefix, HistBoosting
from leavezero.joint_fit._joint_fit import JointFit, first_match
from leavezero.joint_fit._pipeline_prefix import PipelinePrefix
from leavezero.joint_fit._regularization_paths import ElasticNetPath, RidgeGroup, SMIRPath
from leavezero.joint_fit._shared_kernel import SharedKernel
from leavezero.joint_fit._shared_neighbors import SharedNeighbors
from leavezero.joint_fit._xgboost_lightgbm import BoostedRounds

SINGLE_ESTIMATOR_METHODS = (
    EnsemblePrefix(),
    HistBoosting(),
    BoostedRounds(),
    RidgeGroup(),
    ElasticNetPath(),
    SharedKernel(),
    SharedNeighbors(),
    SMIRPath(),
)
METHODS: tuple[JointFit, ...] = (
    *SINGLE_ESTIMATOR_METHODS,
    PipelinePrefix(SINGLE_ESTIMATOR_METHODS),
    PipelinePrefix(()),
)

# From an unfitted estimator to the method that fits it jointly with others, and its key; None if
# none does. Estimators with the same method and an equal key can be fitted in one call.
find_joint_fit = partial(first_match, METHODS)
