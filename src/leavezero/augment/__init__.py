"""Augmenters: draw a validation set from the data, before any candidate is fitted."""

from leavezero.augment._auto import resolve_augmenter
from leavezero.augment._base import BaseAugmenter, ClassConditionalAugmenter
from leavezero.augment._mixup import LabelInvariantMixup
from leavezero.augment._validation_set import ValidationSet

__all__ = [
    "BaseAugmenter",
    "ClassConditionalAugmenter",
    "LabelInvariantMixup",
    "ValidationSet",
    "resolve_augmenter",
]
