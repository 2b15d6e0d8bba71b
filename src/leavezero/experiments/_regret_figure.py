"""The figure of the regret study."""

from collections.abc import Sequence
from pathlib import Path

from leavezero.experiments._regret_table import MEAN, POOL, RegretTable
from leavezero.experiments._save import save_figure

_SHOWN = ((MEAN, "mean over families and pool", "o"), (POOL, "all families pooled", "s"))


def draw_regret(
    table: RegretTable, path: str | Path, baseline: str = "5-fold CV", title: str = ""
) -> None:
    """Draw each way's excess regret over a baseline, with paired 90 % intervals over data sets.

    Parameters
    ----------
    table : RegretTable
        What to draw.
    path : path
        The file, whose ending says the format.
    baseline : str, default="5-fold CV"
        The way that the others are compared with.
    title : str, default=""
        What stands above.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from leavezero.experiments import draw_regret, regret_table
    >>> scores = {"test": [0.7, 0.9], "auto": [0.8, 0.6], "5-fold CV": [0.6, 0.8]}
    >>> families = {name: {"accuracy": scores} for name in ("tree", "k-NN")}
    >>> lines = [{"key": {"data": name, "split": 0}, "result": {"families": families}}
    ...          for name in ("one", "two")]
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "regret.svg"
    >>> draw_regret(regret_table(lines), path)
    >>> path.exists()
    True
    """
    from matplotlib.figure import Figure  # extra app

    ways = sorted((w for w in table.ways if w != baseline), key=lambda w: -table.mean(w, MEAN))
    figure = Figure(figsize=(7.5, 0.42 * len(ways) + 1.4), layout="constrained")
    axes = figure.subplots()
    for shift, (family, label, marker) in zip((0.12, -0.12), _SHOWN, strict=True):
        middles, lows, highs = _columns(table, ways, baseline, family)
        axes.errorbar(
            middles,
            [at + shift for at in range(len(ways))],
            xerr=[lows, highs],
            fmt=marker,
            markersize=5,
            capsize=2,
            linewidth=1,
            label=label,
        )
    axes.axvline(0.0, color="0.4", linewidth=1)
    axes.set_yticks(range(len(ways)), ways)
    axes.set_xlabel(f"regret above {baseline}, points ({table.metric}); left is better")
    axes.set_title(title, fontsize=10)
    axes.legend(frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    save_figure(figure, path)


def _columns(
    table: RegretTable, ways: Sequence[str], baseline: str, family: str
) -> tuple[list[float], list[float], list[float]]:
    found = [table.difference(way, baseline, family) for way in ways]
    return (
        [middle for middle, _, _ in found],
        [middle - low for middle, low, _ in found],
        [high - middle for middle, _, high in found],
    )
