"""What a selection leaves in a folder."""

import csv
import json
import math
import os
import shlex
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from leavezero.report import to_html
from leavezero.tabular._errors import TableError
from leavezero.tabular._selection import Selected
from leavezero.tabular._store import save_model
from leavezero.tabular._wish import Wish
from leavezero.tabular._words import in_options

_OF_CANDIDATES = ("params", "candidates", "selection", "diagnostics")  # parts of a report


def make_folder(folder: Path) -> None:
    """Make a folder for results that takes files, or raise while nothing is lost yet.

    Parameters
    ----------
    folder : path
        Where results will be written; it may be there already.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from leavezero.tabular import make_folder
    >>> make_folder(Path(tempfile.mkdtemp()) / "out")
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TableError(
            f"--out {str(folder)!r} cannot be made a folder: {error.strerror}."
        ) from error
    try:
        with NamedTemporaryFile(dir=folder) as file:
            file.write(b"leavezero")
    except OSError as error:
        raise TableError(
            f"--out {str(folder)!r} cannot be written to: {error.strerror}. Name another folder."
        ) from error


def write_results(selected: Selected, folder: Path) -> tuple[dict[str, Any], list[str]]:
    r"""Write model, table of candidates, the run's own page, and the report where there is one.

    Parameters
    ----------
    selected : Selected
        What was found.
    folder : Path
        Where to; files of an earlier run are replaced.

    Returns
    -------
    run : dict
        What ``run.json`` holds.
    to_trust : list of str
        The types in the model that must be trusted by name to load it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from leavezero.tabular import Wish, prepare, select_model, write_results
    >>> folder = Path(tempfile.mkdtemp())
    >>> lines = ["x,y", *(f"{at}.5,{at > 20}" for at in range(40))]
    >>> _ = (folder / "a.csv").write_text("\n".join(lines))
    >>> wish = Wish("y", models=("bayes",))
    >>> run, to_trust = write_results(select_model(prepare(folder / "a.csv", wish), wish), folder)
    >>> (folder / "model.skops").exists(), run["best"]["model"], to_trust
    (True, 'bayes', [])
    """
    to_trust = save_model(selected.model, folder / "model.skops")
    command = command_of(selected.prepared.source.path, selected.wish, folder)
    run = {"command": shlex.join(command), **selected.to_dict(), "types_to_trust": to_trust}
    write_rows(run["candidates"], folder / "results.csv")
    run = finite(run)
    replace_file(folder / "run.json", json.dumps(run, indent=1, allow_nan=False) + "\n")
    _write_report(selected, run["command"], folder / "report.html")
    return run, to_trust


def command_of(table: Path, wish: Wish, folder: Path) -> list[str]:
    """Return the words that repeat a run.

    Examples
    --------
    >>> from pathlib import Path
    >>> from leavezero.tabular import Wish
    >>> from leavezero.tabular._results import command_of
    >>> " ".join(command_of(Path("a.csv"), Wish("y", models=("tree", "svm")), Path("o")))
    'leavezero select a.csv --target y --models tree,svm --augmenter auto --seed 0 --out o'
    """
    return ["leavezero", "select", str(table), *wish.words(), "--out", str(folder)]


def _write_report(selected: Selected, command: str, path: Path) -> None:
    """Write the page for people; rows of the data are in it in aggregate only.

    Whoever loses patience here as well has all the other files, and no page of an earlier run.
    """
    prepared = selected.prepared
    title = f"{prepared.target.name} of {prepared.source.path.name}"
    try:
        found = selected.search.summary(trust=selected.trust, title=title, command=command)
    except KeyboardInterrupt:
        path.unlink(missing_ok=True)
        return
    parts = {name: in_options(found[name]) for name in _OF_CANDIDATES}
    replace_file(path, to_html(found | parts))


def finite(value: Any) -> Any:
    """Return plain values that JSON has; a figure that is not finite is none."""
    if isinstance(value, dict):
        return {str(name): finite(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [finite(one) for one in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value if isinstance(value, str | int | None) else repr(value)


def write_rows(rows: list[dict[str, Any]], path: Path) -> None:
    """Write plain rows as CSV, whole or not at all."""
    draft = path.with_name(path.name + ".part")
    with draft.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow(row | {"params": json.dumps(row["params"])})
    os.replace(draft, path)


def replace_file(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    draft = path.with_name(path.name + ".part")
    draft.write_text(text, encoding="utf-8")
    os.replace(draft, path)
