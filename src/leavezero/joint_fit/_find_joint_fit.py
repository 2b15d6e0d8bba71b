"""Which joint fit applies to an estimator."""

from collections.abc import Hashable
from typing import Any

from leavezero.joint_fit._ensemble_prefix import EnsemblePrefix
from leavezero.joint_fit._hist_boosting import HistBoosting
from leavezero.joint_fit._joint_fit import JointFit, first_match
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
METHODS = (
    *SINGLE_ESTIMATOR_METHODS,
    PipelinePrefix(SINGLE_ESTIMATOR_METHODS),
    PipelinePrefix(()),
)


def find_joint_fit(estimator: Any) -> tuple[JointFit, Hashable] | None:
    """Return the method that fits an estimator jointly with others, and its key; None if none does.

    Unfitted estimators with the same method and an equal key can be fitted in one call.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from leavezero.joint_fit import find_joint_fit
    >>> find_joint_fit(RandomForestClassifier(random_state=0))[0].name
    'ensemble prefix'
    >>> find_joint_fit(RandomForestClassifier(random_state=None)) is None
    True
    """
    return first_match(METHODS, estimator)
