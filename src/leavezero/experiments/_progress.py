"""How long the runs that are left will take."""

from collections.abc import Iterable, Sequence
from statistics import mean

from leavezero.experiments._runner import Key, Line


def time_left(keys: Sequence[Key], lines: Iterable[Line], n_workers: int = 1) -> float | None:
    """Return a guess of the seconds until all runs are done, from those that are.

    A run takes as long as the finished runs on the same data set do, or as the mean of all where
    there is none yet.

    Parameters
    ----------
    keys : list of dict
        All runs; ``data`` names the data set.
    lines : list of dict
        The finished ones. A result says under ``wall_seconds`` how long it took.
    n_workers : int, default=1
        How many runs go on at a time.

    Returns
    -------
    float or None
        None where nothing is known yet.

    Examples
    --------
    >>> from leavezero.experiments import time_left
    >>> keys = [{"data": name, "split": split} for split in (0, 1) for name in ("a", "b")]
    >>> lines = [{"key": keys[0], "result": {"wall_seconds": 3.0}},
    ...          {"key": keys[1], "result": {"wall_seconds": 5.0}}]
    >>> time_left(keys, lines)
    8.0
    """
    lines = list(lines)
    seconds: dict[str, list[float]] = {}
    for line in lines:
        if "wall_seconds" in line["result"]:
            found = seconds.setdefault(line["key"].get("data", ""), [])
            found.append(line["result"]["wall_seconds"])
    if not seconds:
        return None
    typical = mean(mean(found) for found in seconds.values())
    waiting = [key for key in keys if key not in [line["key"] for line in lines]]
    guesses = [mean(seconds.get(key.get("data", ""), [typical])) for key in waiting]
    return sum(guesses) / n_workers
