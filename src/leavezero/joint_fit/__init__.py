"""Work that candidates of a search share."""

from leavezero.joint_fit._ensemble_prefix import FORESTS, member_values, type_name
from leavezero.joint_fit._joint_fit import JointFit, JointlyFitted, params_key, value_digest
from leavezero.joint_fit._joint_methods import find_joint_fit
from leavezero.joint_fit._pipeline_prefix import transform_before_last
from leavezero.joint_fit._shared_kernel import (
    pair_coefs,
    svm_decision_values,
    svm_gamma,
    svm_labels,
)
from leavezero.joint_fit._shared_neighbors import SharedNeighbors, graph_model
