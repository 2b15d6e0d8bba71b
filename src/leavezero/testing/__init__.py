"""Conformance checks for augmenters that others write."""

from leavezero.testing._augmenters import check_augmenter

__all__ = ["check_augmenter"]
