"""The study on few rows as something that can be run again."""

from collections.abc import Mapping
from pathlib import Path

from leavezero.experiments._pages import Page
from leavezero.experiments._reproductions import Reproduction, Runnable, Wish
from leavezero.experiments._runner import Line
from leavezero.experiments._small import DRAW_SIZES, SIZES, SmallDraws, SmallStudy
from leavezero.experiments._small_figures import draw_bias, draw_calibration, draw_spread
from leavezero.experiments._small_pages import draws_pages, small_pages
from leavezero.experiments._small_results import small_results

JUDGED, DRAWN = "judged", "draws"
_REPEATS, _QUICK_REPEATS = 12, 4
_SAMPLES_OF_DRAWS = 2


def _study(part: str, names: tuple[str, ...], wish: Wish) -> Runnable:
    """Return the runs of one part; a quick run has fewer sizes and samples."""
    repeats = wish.repeats or (_QUICK_REPEATS if wish.quick else _REPEATS)
    all_sizes: tuple[int, ...] = SIZES if part == JUDGED else DRAW_SIZES
    sizes = all_sizes[:2] if wish.quick else all_sizes
    if part == JUDGED:
        return SmallStudy(names, sizes, repeats, wish.seed, wish.directory)
    samples = 1 if wish.quick else min(repeats, _SAMPLES_OF_DRAWS)
    return SmallDraws(names, sizes, samples, wish.seed, wish.directory)


def _report(
    lines: Mapping[str, list[Line]], missing: Mapping[str, str], folder: Path
) -> list[Page]:
    """Draw the figures, and return the tables of the parts that were run."""
    pages: list[Page] = []
    if JUDGED in lines:
        results = small_results(lines[JUDGED])
        title = f"Few rows: {len(results.data)} data sets"
        draw_calibration(results, folder / "calibration.svg", title)
        draw_bias(results, folder / "bias.svg", title)
        pages += small_pages(results, missing)
    if DRAWN in lines:
        draw_spread(lines[DRAWN], folder / "spread.svg", "Draws of V on one sample")
        pages += draws_pages(lines[DRAWN])
    return pages


SMALL = Reproduction(
    "small",
    "Few rows: regret and signed bias of folds, leave-one-out and leave-zero-out",
    data=(
        "made_gaussians",
        "made_five_classes",
        "breast_cancer",
        "digits",
        "mushroom",
        "segment7",
    ),
    quick_data=("made_gaussians", "breast_cancer"),
    parts=(JUDGED, DRAWN),
    study=_study,
    report=_report,
    extra_data=("made_circles", "made_moons", "made_sparse_signal"),
)
