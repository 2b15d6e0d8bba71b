"""Augmenters: draw a validation set from the data, before any candidate is fitted."""

from leavezero.augment._around import AroundAugmenter
from leavezero.augment._auto import Choice, resolve_augmenter
from leavezero.augment._base import BaseAugmenter, TableAugmenter
from leavezero.augment._calibrated import MAX_REFERENCE_ROWS, Calibrated
from leavezero.augment._copula import CopulaAugmenter
from leavezero.augment._gaussian import GaussianAugmenter, GaussianMixtureAugmenter
from leavezero.augment._images import ImageAugmenter
from leavezero.augment._labelers import takes_unlabeled
from leavezero.augment._mixup import LabelInvariantMixup, NeighborMixup
from leavezero.augment._neighbor_label import NeighborLabelAugmenter
from leavezero.augment._orthogonal import OrthogonalTransform
from leavezero.augment._own import Chain, FunctionAugmenter, GivenValidationSet
from leavezero.augment._portfolio import Portfolio
from leavezero.augment._pseudo_labeled import LabeledOnly, PseudoLabeled, check_labels, labeled_rows
from leavezero.augment._references import References
from leavezero.augment._resampler import ResamplerAugmenter
from leavezero.augment._strata import ClassConditionalAugmenter, Stratum, StratumDraw
from leavezero.augment._teacher_labeled import TeacherLabeled
from leavezero.augment._text import TextAugmenter
from leavezero.augment._validation_set import ValidationSet
from leavezero.augment._weighted import Weighted

__all__ = [
    "MAX_REFERENCE_ROWS",
    "AroundAugmenter",
    "BaseAugmenter",
    "Calibrated",
    "Chain",
    "Choice",
    "ClassConditionalAugmenter",
    "CopulaAugmenter",
    "FunctionAugmenter",
    "GaussianAugmenter",
    "GaussianMixtureAugmenter",
    "GivenValidationSet",
    "ImageAugmenter",
    "LabelInvariantMixup",
    "LabeledOnly",
    "NeighborLabelAugmenter",
    "NeighborMixup",
    "OrthogonalTransform",
    "Portfolio",
    "PseudoLabeled",
    "References",
    "ResamplerAugmenter",
    "Stratum",
    "StratumDraw",
    "TableAugmenter",
    "TeacherLabeled",
    "TextAugmenter",
    "ValidationSet",
    "Weighted",
    "check_labels",
    "labeled_rows",
    "resolve_augmenter",
    "takes_unlabeled",
]
