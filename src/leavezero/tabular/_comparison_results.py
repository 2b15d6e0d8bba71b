"""What a comparison leaves in a folder."""

import json
import shlex
from pathlib import Path
from typing import Any

from leavezero.report import plot_comparison, to_svg
from leavezero.tabular._comparison import Compared
from leavezero.tabular._results import finite, replace_file, write_rows


def write_comparison(compared: Compared, folder: Path) -> dict[str, Any]:
    r"""Write the candidates as ``compare.csv``, a figure, and all that repeats it as JSON.

    Parameters
    ----------
    compared : Compared
        What was found.
    folder : Path
        Where to; files of an earlier run are replaced.

    Returns
    -------
    dict
        What ``compare.json`` holds.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from leavezero.tabular import Wish, compare_ways, plan_comparison, prepare
    >>> from leavezero.tabular import write_comparison
    >>> folder = Path(tempfile.mkdtemp())
    >>> lines = ["x,y", *(f"{at}.5,{at > 20}" for at in range(40))]
    >>> _ = (folder / "a.csv").write_text("\n".join(lines))
    >>> wish = Wish("y", models=("bayes",))
    >>> prepared = prepare(folder / "a.csv", wish)
    >>> compared = compare_ways(prepared, wish, plan_comparison(prepared.target, n_folds=2))
    >>> write_comparison(compared, folder)["command"].split()[:2]
    ['leavezero', 'compare']
    """
    run = finite({"command": shlex.join(_command(compared, folder)), **compared.to_dict()})
    write_rows(run["candidates"], folder / "compare.csv")
    replace_file(folder / "compare.json", json.dumps(run, indent=1, allow_nan=False) + "\n")
    label = f"{run['metric']} on held-out rows over the scores of both methods"
    replace_file(folder / "compare.svg", to_svg(plot_comparison, _figure_data(run), label=label))
    return dict(run)


def _figure_data(run: dict[str, Any]) -> dict[str, Any]:
    names = ("leave_zero_out", "cross_validation")
    candidates = [
        one | {f"selected_by_{name}": one[f"chosen_by_{name}"] for name in names}
        for one in run["candidates"]
    ]
    return {"metric": run["metric"], "searches": run["ways"], "candidates": candidates}


def _command(compared: Compared, folder: Path) -> list[str]:
    table, words = str(compared.prepared.source.path), compared.wish.words()
    plan = compared.plan
    own = ["--cv", str(plan.folds.n_splits), "--test-share", f"{plan.test_share:g}"]
    return ["leavezero", "compare", table, *words, *own, "--out", str(folder)]
