"""All joint fits, in the order in which they are tried."""

from leavezero.joint_fit._ensemble_prefix import EnsemblePrefix
from leavezero.joint_fit._hist_boosting import HistBoosting
from leavezero.joint_fit._joint_fit import JointFit
from leavezero.joint_fit._linear_paths import ElasticNetPath, RidgePath
from leavezero.joint_fit._pipeline_prefix import PipelinePrefix
from leavezero.joint_fit._shared_kernel import SharedKernel, SharedRidgeKernel
from leavezero.joint_fit._shared_neighbors import SharedNeighbors
from leavezero.joint_fit._smir_path import SMIRPath
from leavezero.joint_fit._xgboost_lightgbm import BoostedRounds

SINGLE_ESTIMATOR_METHODS = (
    EnsemblePrefix(),
    HistBoosting(),
    BoostedRounds(),
    RidgePath(),
    ElasticNetPath(),
    SharedKernel(),
    SharedRidgeKernel(),
    SharedNeighbors(),
    SMIRPath(),
)
METHODS: tuple[JointFit, ...] = (
    *SINGLE_ESTIMATOR_METHODS,
    PipelinePrefix(SINGLE_ESTIMATOR_METHODS),
    PipelinePrefix(()),
)
