"""Conformance checks for augmenters and families that others write."""

from leavezero.testing._augmenters import check_augmenter
from leavezero.testing._families import check_family

__all__ = ["check_augmenter", "check_family"]
