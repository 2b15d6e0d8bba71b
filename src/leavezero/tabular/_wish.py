"""What a user wants of a table."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Wish:
    """What a user wants of a selection.

    Examples
    --------
    >>> from leavezero.tabular import Wish
    >>> Wish("price").augmenter
    'auto'
    """

    target: str
    task: str | None = None
    models: tuple[str, ...] | None = None
    grid: Path | None = None
    metric: str | None = None
    augmenter: str = "auto"
    confirm: int | str | None = None
    jobs: int = 1
    seed: int = 0
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    time_budget: float | None = None  # seconds
    journal: Path | None = None

    def words(self) -> list[str]:
        """Return the options that say the same on a command line; workers change no result.

        Examples
        --------
        >>> from leavezero.tabular import Wish
        >>> Wish("y", models=("tree", "svm"), augmenter="copula").words()
        ['--target', 'y', '--models', 'tree,svm', '--augmenter', 'copula', '--seed', '0']
        """
        options: list[tuple[str, object]] = [
            ("--target", self.target),
            ("--task", self.task),
            ("--models", None if self.models is None else ",".join(self.models)),
            ("--grid", self.grid),
            ("--metric", self.metric),
            ("--augmenter", self.augmenter),
            ("--confirm", self.confirm),
            *(("--keep", name) for name in self.keep),
            *(("--drop", name) for name in self.drop),
            ("--time-budget", None if self.time_budget is None else f"{self.time_budget:g}"),
            ("--journal", self.journal),
            ("--seed", self.seed),
        ]
        given = [(name, str(value)) for name, value in options if value is not None]
        return [word for pair in given for word in pair]
