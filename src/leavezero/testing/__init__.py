"""Conformance checks for third-party augmenters and leave-one-out methods."""

from leavezero.testing._augmenters import check_augmenter
from leavezero.testing._leave_one_out import check_leave_one_out

__all__ = ["check_augmenter", "check_leave_one_out"]
