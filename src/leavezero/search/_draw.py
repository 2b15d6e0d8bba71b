"""How a search draws V, and tells of it."""

import time
import warnings
from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone, is_regressor

from leavezero._typing import Table
from leavezero.augment import ResolvedAugmenter, resolve_augmenter
from leavezero.engine import (
    LOOKS,
    Planner,
    Replicates,
    Strategy,
    draw_more,
    draw_replicates,
    replicate_size,
)
from leavezero.exceptions import SmallClassWarning
from leavezero.search._checks import AUTO
from leavezero.search._labels import Labels, last_step
from leavezero.search._monitor import say
from leavezero.search._routing import Routed


class DrawMixin:
    """V, drawn before any fit, and more of it where that is wanted.

    Examples
    --------
    >>> from leavezero import GridSearchLZO
    >>> from leavezero.search._draw import DrawMixin
    >>> issubclass(GridSearchLZO, DrawMixin)
    True
    """

    augmenter: Any
    n_replicates: int | str
    validation_size: float
    verbose: int
    draw_time_: float

    @abstractmethod
    def _template(self) -> Any:
        """Return the estimator whose kind is the search's own."""

    @abstractmethod
    def _members(self) -> dict[str, Any]:
        """Return all estimators by name."""

    def _draw(
        self,
        X: Table,
        labels: Labels,
        routed: Routed,
        planner: Planner,
        strategy: Strategy,
        root: np.random.SeedSequence,
    ) -> tuple[Any, Replicates]:
        """Choose what draws V, tell it where the user wants to hear, and draw."""
        started = time.perf_counter()
        target, owner = labels.target, type(self).__name__
        n_rows = len(target)
        auto = self.n_replicates == AUTO
        most: Any = LOOKS[-1] if auto else self.n_replicates
        size = replicate_size(self.validation_size, most, n_rows, owner)
        members = self._members().values()
        choice: ResolvedAugmenter = resolve_augmenter(
            _with_marker(self.augmenter, labels),
            X,
            target,
            routed.groups,
            unlabeled=None if labels.rows is None else labels.marker,
            candidate_types={type(last_step(member)) for member in members},
        )
        say(
            f"{owner}: V is drawn by {choice.augmenter!r}, because {choice.reason}.",
            1,
            self.verbose,
        )
        numbers = is_regressor(self._template())
        with warnings.catch_warnings():
            if numbers:  # few whole numbers are drawn one by one
                warnings.filterwarnings("ignore", "Class ", SmallClassWarning)
            augmenter, replicates = draw_replicates(
                choice.augmenter,
                X,
                target,
                sample_weight=routed.sample_weight,
                groups=routed.groups,
                n_replicates=LOOKS[0] if auto else most,
                validation_size=size,
                root=root,
                owner=owner,
            )
        if (
            numbers
            and replicates.rows.class_probabilities is None
            and replicates.references is None
        ):
            replicates = replace(replicates, classes=None)  # what is said of them are no labels
        if replicates.weighted and routed.weights_differ:
            raise ValueError(
                f"The metrics of {owner} ask for different weights, and rows of V without origins "
                "can be drawn by one only. Use an augmenter with origins, such as "
                "LabelInvariantMixup()."
            )
        self.draw_time_ = time.perf_counter() - started
        say(f"{owner}: drawing V took {self.draw_time_:.2g} s.", 1, self.verbose)
        return augmenter, replicates

    def _more(
        self, augmenter: Any, drawn: Replicates, most: int, root: np.random.SeedSequence
    ) -> Replicates:
        """Draw more of V, for candidates whose scores are too near to choose."""
        started, owner = time.perf_counter(), type(self).__name__
        say(f"{owner}: the best are near; V gets {most} replicates.", 1, self.verbose)
        replicates = draw_more(augmenter, drawn, most, root)
        self.draw_time_ += time.perf_counter() - started
        return replicates


def _with_marker(augmenter: Any, labels: Labels) -> Any:
    """Return an augmenter that knows the stand-in of the marker, if there is one."""
    if labels.written and hasattr(augmenter, "unlabeled"):
        return clone(augmenter).set_params(unlabeled=labels.marker)
    return augmenter
