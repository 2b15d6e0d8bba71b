"""Figures on disk, the same bytes from the same figures."""

from pathlib import Path
from typing import Any


def save_figure(figure: Any, path: str | Path) -> None:
    """Write a figure without a date and without random names inside.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from matplotlib.figure import Figure
    >>> from leavezero.experiments._save import save_figure
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "empty.svg"
    ...     save_figure(Figure(), path)
    ...     path.read_text()[:5]
    '<?xml'
    """
    from matplotlib import rc_context  # extra app

    with rc_context({"svg.hashsalt": "leavezero"}):
        figure.savefig(path, metadata={"Date": None} if str(path).endswith("svg") else None)
