"""The regret studies that are part of the project, and which data each may look at."""

from collections.abc import Callable
from pathlib import Path

from leavezero.experiments._confirm import ConfirmStudy
from leavezero.experiments._regret import RegretStudy
from leavezero.experiments._trust import TrustStudy
from leavezero.experiments._unseen import UnseenStudy

# Every second set of the alphabet, so that nobody chose; heart and clever share rows and are
# on one side. "auto" was designed on the first half and on made data only.
TUNED_ON = (
    "balance",
    "breast_cancer",
    "bupa",
    "dna",
    "housing",
    "iris",
    "musk",
    "segment7",
    "testSet",
    "vote",
    "wpbc",
    "made_checkerboard",
    "made_circles",
    "made_five_classes",
    "made_gaussians",
    "made_moons",
    "made_sparse_signal",
)
HELD_BACK = (
    "breast",
    "clever",
    "glass",
    "heart",
    "ionosphere",
    "mushroom",
    "segment",
    "sonar",
    "vehicle",
    "wine",
)

_NUMBERS = (
    "mix-up",
    "neighbour mix-up",
    "Gaussian",
    "Gaussian mixture",
    "copula",
    "mix-up, teachers",
    "mixture and copula, teachers",
    "auto",
)
_CLASSES = (
    "mix-up",
    "neighbour mix-up",
    "orthogonal",
    "Gaussian",
    "Gaussian mixture",
    "copula",
    "mix-up, weighted",
    "mix-up, teachers",
    "mixture and copula",
    "mixture and copula, teachers",
    "mix-up, calibrated",
    "mixture and copula, calibrated",
    "auto",
)
_MIXED = (
    "mix-up",
    "neighbour mix-up",
    "copula",
    "mix-up, teachers",
    "copula, teachers",
    "auto",
)
_TEXT = ("mix-up", "neighbour mix-up", "mix-up, teachers", "auto")


def _classes(data: tuple[str, ...], splits: int) -> Callable[..., RegretStudy]:
    return lambda directory, n: RegretStudy(
        data, "classes", _CLASSES, n_splits=n or splits, directory=directory
    )


def _tables(directory: str | None, n_splits: int | None) -> RegretStudy:
    raw = None if directory is None else str(Path(directory) / "raw")
    data = (
        "breast_strings",
        "heart303_with_missing",
        "mushroom_strings",
        "vote_strings",
        "wpbc_with_missing",
    )
    return RegretStudy(data, "mixed", _MIXED, n_splits=n_splits or 5, directory=raw)


def _regression(directory: str | None, n_splits: int | None) -> RegretStudy:
    raw = None if directory is None else str(Path(directory) / "raw")
    data = ("diabetes", "housing_medv", "made_friedman")
    return RegretStudy(data, "numbers", _NUMBERS, n_splits=n_splits or 5, directory=raw)


Study = RegretStudy | ConfirmStudy | TrustStudy | UnseenStudy

STUDIES: dict[str, Callable[[str | None, int | None], Study]] = {
    "confirm": lambda directory, n: ConfirmStudy(_classes(HELD_BACK, 10)(directory, n)),
    "held-back": _classes(HELD_BACK, 10),
    "images": lambda directory, n: RegretStudy(
        ("digits",), "images", ("mix-up", "images", "mix-up, teachers", "auto"), n_splits=n or 5
    ),
    "mixed": _tables,
    "regression": _regression,
    "text": lambda directory, n: RegretStudy(("ssl_text",), "text", _TEXT, n_splits=n or 5),
    "trust-held-back": lambda directory, n: TrustStudy(_classes(HELD_BACK, 5)(directory, n)),
    "trust-tuned-on": lambda directory, n: TrustStudy(_classes(TUNED_ON, 3)(directory, n)),
    "tuned-on": _classes(TUNED_ON, 3),
    "unseen": lambda directory, n: UnseenStudy(_classes(HELD_BACK, 10)(directory, n)),
    "unseen-mixed": lambda directory, n: UnseenStudy(_tables(directory, n)),
    "unseen-regression": lambda directory, n: UnseenStudy(_regression(directory, n)),
}
