"""Numbers between two samples."""

from leavezero.divergence._augmenter import AugmenterDivergence, jensen_shannon_augmenter
from leavezero.divergence._chain import (
    CorollaryDivergence,
    corollary_divergence,
    joint_divergence,
)
from leavezero.divergence._discrete import jensen_shannon_labels, total_variation_limit
from leavezero.divergence._energy import EnergyDistance, energy_distance
from leavezero.divergence._estimate import DivergenceEstimate
from leavezero.divergence._features import jensen_shannon_features
from leavezero.divergence._ratio import density_ratio

__all__ = [
    "AugmenterDivergence",
    "CorollaryDivergence",
    "DivergenceEstimate",
    "EnergyDistance",
    "corollary_divergence",
    "density_ratio",
    "energy_distance",
    "jensen_shannon_augmenter",
    "jensen_shannon_features",
    "jensen_shannon_labels",
    "joint_divergence",
    "total_variation_limit",
]
