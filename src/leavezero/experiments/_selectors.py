"""The ways of choosing a candidate that the regret study compares."""

from typing import Any

from leavezero.augment import (
    AugmenterUnion,
    BiasCorrected,
    CopulaAugmenter,
    DensityRatioWeighted,
    GaussianAugmenter,
    GaussianMixtureAugmenter,
    ImageAugmenter,
    LabelInvariantMixup,
    NeighborMixup,
    OrthogonalTransform,
    SoftLabeled,
)

FOLDS = {"5-fold CV": 5, "10-fold CV": 10}
RESUBSTITUTION = "resubstitution"


def augmenting_selectors() -> dict[str, Any]:
    """Return the augmenter of each way that scores candidates on V.

    Examples
    --------
    >>> from leavezero.experiments import augmenting_selectors
    >>> augmenting_selectors()["mix-up"]
    LabelInvariantMixup()
    """
    return {
        "mix-up": LabelInvariantMixup(),
        "neighbour mix-up": NeighborMixup(),
        "orthogonal": OrthogonalTransform(),
        "Gaussian": GaussianAugmenter(),
        "Gaussian mixture": GaussianMixtureAugmenter(),
        "copula": CopulaAugmenter(),
        "mix-up, weighted": DensityRatioWeighted(LabelInvariantMixup()),
        "mix-up, teachers": SoftLabeled(LabelInvariantMixup()),
        "copula, teachers": SoftLabeled(CopulaAugmenter()),
        "mixture and copula": _generators(),
        "mixture and copula, teachers": SoftLabeled(_generators()),
        "mix-up, calibrated": BiasCorrected(LabelInvariantMixup()),
        "mixture and copula, calibrated": BiasCorrected(_generators()),
        "images": ImageAugmenter((8, 8)),
        "auto": "auto",
    }


def _generators() -> AugmenterUnion:
    """Return what "auto" draws rows of numbers by, also where fits are cheap."""
    return AugmenterUnion([GaussianMixtureAugmenter(), CopulaAugmenter()])
