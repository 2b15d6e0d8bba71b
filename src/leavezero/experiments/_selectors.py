"""The ways of choosing a candidate that the regret study compares."""

from typing import Any

from leavezero.augment import (
    Calibrated,
    CopulaAugmenter,
    GaussianAugmenter,
    GaussianMixtureAugmenter,
    ImageAugmenter,
    LabelInvariantMixup,
    NeighborLabelAugmenter,
    NeighborMixup,
    OrthogonalTransform,
    Portfolio,
    TeacherLabeled,
    Weighted,
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
        "neighbour label": NeighborLabelAugmenter(),
        "mix-up, weighted": Weighted(LabelInvariantMixup()),
        "mix-up, teachers": TeacherLabeled(LabelInvariantMixup()),
        "copula, teachers": TeacherLabeled(CopulaAugmenter()),
        "mixture and copula": _generators(),
        "mixture and copula, teachers": TeacherLabeled(_generators()),
        "portfolio": Portfolio(
            [GaussianMixtureAugmenter(), CopulaAugmenter(), NeighborLabelAugmenter()]
        ),
        "portfolio, mixed": Portfolio([CopulaAugmenter(), NeighborLabelAugmenter()]),
        "mix-up, calibrated": Calibrated(LabelInvariantMixup()),
        "mixture and copula, calibrated": Calibrated(_generators()),
        "images": ImageAugmenter((8, 8)),
        "auto": "auto",
    }


def _generators() -> Portfolio:
    """Return what "auto" draws rows of numbers by, also where fits are cheap."""
    return Portfolio([GaussianMixtureAugmenter(), CopulaAugmenter()])
