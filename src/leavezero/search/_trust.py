"""What a fitted search says about its own score."""

import time
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import is_regressor
from sklearn.utils.validation import check_is_fitted

from leavezero._random import integer_seed
from leavezero._tables import take_rows
from leavezero._typing import AnyArray, Ints, Table
from leavezero.augment import ValidationSet
from leavezero.engine import Conclusion, Job, limited_threads, optimism_of
from leavezero.trust import ALARMS, Evidence, Finding, TrustReport, examine

N_PERMUTED = 2  # candidates that learn permuted labels


@dataclass(frozen=True, eq=False)
class Kept:
    """What a search keeps of its work for a report.

    It refers to the given rows: copies of a search share it, and a pickled search leaves it behind.
    """

    job: Job
    conclusion: Conclusion
    groups: AnyArray | None
    root: np.random.SeedSequence

    def evidence(self, search: Any) -> Evidence:
        """Return what a report about the search looks at."""
        numbers = is_regressor(search._template())
        classes = None if numbers else self.job.replicates.classes
        X, y, labeled = self._rows(search.augmenter_)
        return Evidence(
            X,
            y,
            classes if np.ndim(y) == 1 else None,
            search.validation_set_,
            search.augmenter_,
            ballot=self.conclusion.ballot,
            winner=getattr(search, "best_estimator_", None),
            by_auto=isinstance(search.augmenter, str),
            grouped=self.groups is not None,
            labeled=labeled,
            seed=integer_seed(self.root, "trust"),
        )

    def _rows(self, augmenter: Any) -> tuple[Table, AnyArray, Ints | None]:
        """Return the given rows; where some have no label, with the pseudo labels V came from."""
        job = self.job
        if job.labeled is None:
            return job.X, job.y, None
        if hasattr(augmenter, "pseudo_labels_"):
            return job.X, augmenter.pseudo_labels_, job.labeled
        return take_rows(job.X, job.labeled), job.y[job.labeled], None

    def alarms(self, search: Any) -> tuple[Finding, ...]:
        """Return the warnings that ask for folds."""
        if self.conclusion.ballot is None:
            return ()
        with limited_threads():
            return examine(self.evidence(search), ALARMS).warnings


class TrustMixin:
    """The trust report of a fitted search.

    Examples
    --------
    >>> from leavezero import GridSearchLZO
    >>> from leavezero.search._trust import TrustMixin
    >>> issubclass(GridSearchLZO, TrustMixin)
    True
    """

    augmenter_: Any
    validation_set_: ValidationSet | None
    fits_: dict[str, int]
    n_fits_: int
    _kept: Kept

    def trust(self, *, optimism: bool = False) -> TrustReport:
        """Return what the score can be believed for, finding by finding.

        Parameters
        ----------
        optimism : bool, default=False
            Whether to fit the winner and the runner-up once more, to permuted labels, and see
            whether V flatters them. These fits are counted in ``fits_``.

        Returns
        -------
        TrustReport

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from sklearn.neighbors import KNeighborsClassifier
        >>> from leavezero import GridSearchLZO
        >>> X, y = load_wine(return_X_y=True)
        >>> grid = {"n_neighbors": [1, 5, 9, 15]}
        >>> search = GridSearchLZO(KNeighborsClassifier(), grid, random_state=0).fit(X, y)
        >>> search.trust()["LZ01"].level
        'ok'
        """
        check_is_fitted(self, "cv_results_")
        if not hasattr(self, "_kept"):
            raise ValueError(
                f"This {type(self).__name__} was pickled, which leaves behind the data that V is "
                "compared with. Call trust() on the search that was fitted, before it is saved."
            )
        started = time.perf_counter()
        evidence = self._kept.evidence(self)
        if optimism:
            evidence = replace(evidence, optimism=self._optimism(evidence))
        with limited_threads():
            report = examine(evidence)
        return replace(report, seconds=time.perf_counter() - started)

    def _optimism(self, evidence: Evidence) -> Any:
        """Return what V says of candidates that learned permuted labels, and count the fits."""
        kept = self._kept
        if evidence.V is None or evidence.own_rows or evidence.ballot is None:
            return None
        first = kept.conclusion.first(N_PERMUTED)
        found = optimism_of(kept.job, first, self.augmenter_, kept.root, kept.groups)
        self.fits_ = self.fits_ | {"optimism": self.fits_.get("optimism", 0) + len(found.scores)}
        self.n_fits_ = sum(self.fits_.values())
        return found

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_kept"}

    def __copy__(self) -> Self:
        """Return a copy as any object's is, which is not what is pickled."""
        copied = type(self).__new__(type(self))
        vars(copied).update(vars(self))
        return copied

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return a copy that shares nothing but what is kept for the report."""
        copied = self.__copy__()
        memo[id(self)] = copied
        if hasattr(self, "_kept"):
            memo[id(self._kept)] = self._kept
        vars(copied).update({name: deepcopy(value, memo) for name, value in vars(self).items()})
        return copied
