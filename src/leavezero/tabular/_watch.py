"""What a search says of its candidates while it runs, as records."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Heard:
    """One candidate that is done.

    Examples
    --------
    >>> from leavezero.tabular import Heard
    >>> Heard(3, 20, "tree", {"max_depth": 3}, 0.9).label
    'tree, max_depth=3'
    """

    n_done: int
    n_all: int
    model: str
    params: dict[str, object]
    score: float | None

    @property
    def label(self) -> str:
        """The candidate in words."""
        return label_of(self.model, self.params)


def label_of(model: str, params: dict[str, object]) -> str:
    """Return a candidate in words.

    Parameters
    ----------
    model : str
        The name of its kind.
    params : dict
        Its parameters.

    Examples
    --------
    >>> from leavezero.tabular import label_of
    >>> label_of("svm", {"C": 0.1})
    'svm, C=0.1'
    """
    return ", ".join([model, *(f"{name}={short(value)}" for name, value in params.items())])


def short(value: object) -> str:
    """Return a parameter's value in few digits."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


@contextmanager
def hearing(watch: Callable[[Heard], None] | None) -> Iterator[None]:
    """Pass on what the logger "leavezero" hears of candidates, for as long as the block runs."""
    if watch is None:
        yield
        return
    logger, handler = logging.getLogger("leavezero"), _Handler(watch)
    level, propagate = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagate


class _Handler(logging.Handler):
    """Reads the records that say that a candidate is done."""

    def __init__(self, watch: Callable[[Heard], None]) -> None:
        super().__init__(logging.DEBUG)
        self._watch = watch

    def emit(self, record: logging.LogRecord) -> None:
        """Pass on what is said of a candidate, and let all else go."""
        said = record.__dict__  # where a logger's fields are
        if "candidate" in said.get("candidate_params", ()):
            model, own = own_params(said["candidate_params"])
            heard = Heard(said["n_done"], said["n_trials"], model, own, said["candidate_score"])
            self._watch(heard)


def own_params(params: dict[str, object]) -> tuple[str, dict[str, object]]:
    """Return a candidate's model and its parameters, without the pipeline's names."""
    own = {name.removeprefix("model__"): value for name, value in params.items()}
    return str(own.pop("candidate")), own
