"""Work that candidates of a search share."""

from leavezero.joint_fit._joint_fit import JointFit, JointlyFitted, find_joint_fit
from leavezero.joint_fit._joint_methods import METHODS

__all__ = ["METHODS", "JointFit", "JointlyFitted", "find_joint_fit"]
