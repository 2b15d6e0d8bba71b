"""Work that candidates of a search share, done once for all of them."""

from leavezero.joint_fit._find_joint_fit import find_joint_fit
from leavezero.joint_fit._joint_fit import JointFit, JointlyFitted

__all__ = ["JointFit", "JointlyFitted", "find_joint_fit"]
