"""How much more regret there is where a finding warns, from the lines of the trust study."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leavezero._typing import Bools, Floats, Ints
from leavezero.experiments._runner import Line
from leavezero.trust import LIMITS, Limits

N_RESAMPLES = 2_000
_FEWEST = 5  # choices on either side; else there is nothing to say


@dataclass(frozen=True)
class Alarm:
    """What one finding's warnings tell of regret.

    Parameters
    ----------
    code : str
        The finding.
    n_choices : int
        How many choices it could judge.
    share : float
        Of these, the share that it warned of.
    warned, silent : float
        The mean regret, in points, with and without the warning.
    low, high : float
        The 95 % interval of their difference over data sets; NaN where it warned too seldom.

    Examples
    --------
    >>> from leavezero.experiments import Alarm
    >>> Alarm("LZ03", 100, 0.2, 4.0, 1.5, 0.5, 4.2).has_power
    True
    """

    code: str
    n_choices: int
    share: float
    warned: float
    silent: float
    low: float
    high: float

    @property
    def difference(self) -> float:
        """How much more regret there is with the warning."""
        return self.warned - self.silent

    @property
    def has_power(self) -> bool:
        """Whether the difference is above zero beyond doubt."""
        return bool(self.low > 0.0)


def alarms(
    lines: Iterable[Line],
    ways: Sequence[str] | None = None,
    limits: Mapping[str, Limits] = LIMITS,
    seed: int = 0,
) -> list[Alarm]:
    """Return for each finding what its warnings tell of regret.

    Levels are found anew from the figures, so that limits can be tried without another run.

    Parameters
    ----------
    lines : list of dict
        Those of a :class:`TrustStudy`.
    ways : list of str or None, default=None
        Which ways to draw V are looked at; None for all.
    limits : mapping of str to Limits, default=LIMITS
        Which findings to look at, and from which figure on they warn.
    seed : int, default=0
        Of the resamples of data sets.

    Returns
    -------
    list of Alarm

    Examples
    --------
    >>> from leavezero.experiments import alarms
    >>> def line(name, ratio, regret):
    ...     found = {"regret": regret, "findings": {"LZ03": [ratio, "ok"]}}
    ...     return {"key": {"data": name}, "result": {"ways": {"mix-up": {"k-NN": found}}}}
    >>> [alarm] = alarms([line("a", 0.2, 3.0), line("b", 1.0, 1.0)])
    >>> alarm.share, alarm.difference
    (0.5, 2.0)
    """
    choices = [
        (line["key"]["data"], found["regret"], found["findings"])
        for line in lines
        for way, families in line["result"]["ways"].items()
        if ways is None or way in ways
        for found in families.values()
    ]
    codes = sorted({code for *_, findings in choices for code in findings})
    known = {
        code: [(d, r, f[code][0]) for d, r, f in choices if code in f and f[code][0] is not None]
        for code in codes
    }
    return [
        _alarm(code, limits[code], rows, seed)
        for code, rows in known.items()
        if rows and code in limits
    ]


def _alarm(code: str, limits: Limits, rows: Sequence[tuple[str, float, float]], seed: int) -> Alarm:
    names, places = np.unique([data for data, *_ in rows], return_inverse=True)
    regrets = np.array([regret for _, regret, _ in rows])
    warned = np.array([limits.level(figure) == "warning" for *_, figure in rows])
    low = high = np.nan
    if min(warned.sum(), (~warned).sum()) >= _FEWEST:
        low, high = _interval(places, len(names), regrets, warned, seed)
    with_it, without = (
        float(regrets[part].mean()) if part.any() else np.nan for part in (warned, ~warned)
    )
    share = float(warned.mean())
    return Alarm(code, len(rows), share, with_it, without, float(low), float(high))


def _interval(
    places: Ints, n_sets: int, regrets: Floats, warned: Bools, seed: int
) -> tuple[float, float]:
    """Return the interval over data sets drawn with replacement."""
    sums, counts = np.zeros((2, n_sets)), np.zeros((2, n_sets))
    for at, part in enumerate((warned, ~warned)):
        sums[at] = np.bincount(places[part], regrets[part], minlength=n_sets)
        counts[at] = np.bincount(places[part], minlength=n_sets)
    drawn = np.random.default_rng(seed).integers(n_sets, size=(N_RESAMPLES, n_sets))
    totals, sizes = sums[:, drawn].sum(axis=2), counts[:, drawn].sum(axis=2)
    whole = (sizes > 0).all(axis=0)
    means = totals[:, whole] / sizes[:, whole]
    low, high = np.quantile(means[0] - means[1], [0.025, 0.975])
    return float(low), float(high)
