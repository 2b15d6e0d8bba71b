"""Augmenters: generate a validation set from the training data, before any candidate is fitted."""

from leavezero.augment._augmenter import (
    BaseAugmenter,
    ClassConditionalAugmenter,
    ClassRows,
    ClassSample,
    ValidationSet,
    is_regression,
    takes_unlabeled,
)
from leavezero.augment._auto import resolve_augmenter
from leavezero.augment._composition import AugmenterPipeline, AugmenterUnion
from leavezero.augment._copula import CopulaAugmenter
from leavezero.augment._density_ratio import DensityRatioWeighted
from leavezero.augment._forest import ForestAugmenter
from leavezero.augment._gaussian import GaussianAugmenter, GaussianMixtureAugmenter
from leavezero.augment._mixup import LabelInvariantMixup, NeighborMixup, OrthogonalTransform
from leavezero.augment._pseudo_labels import LabeledOnly, PseudoLabeled, check_labels
from leavezero.augment._text_and_images import ImageAugmenter, TextAugmenter
from leavezero.augment._user_defined import (
    FixedValidationSet,
    FunctionAugmenter,
)

__all__ = [
    "AugmenterPipeline",
    "AugmenterUnion",
    "BaseAugmenter",
    "ClassConditionalAugmenter",
    "ClassRows",
    "ClassSample",
    "CopulaAugmenter",
    "DensityRatioWeighted",
    "FixedValidationSet",
    "ForestAugmenter",
    "FunctionAugmenter",
    "GaussianAugmenter",
    "GaussianMixtureAugmenter",
    "ImageAugmenter",
    "LabelInvariantMixup",
    "LabeledOnly",
    "NeighborMixup",
    "OrthogonalTransform",
    "PseudoLabeled",
    "TextAugmenter",
    "ValidationSet",
]
