"""What a search has to show after the fits: its table, its choice and the winner."""

import time
from abc import abstractmethod
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from leavezero._random import integer_seed
from leavezero._typing import AnyArray, Ints
from leavezero.engine import (
    SINGLE,
    Conclusion,
    Confirmation,
    Job,
    Keeper,
    Outcome,
    Rule,
    conclude,
    finished,
    make_folds,
    plan_of,
)
from leavezero.search._checks import check_index, check_refit
from leavezero.search._failures import failures, report_failures, warn_of_no_folds
from leavezero.search._monitor import say
from leavezero.search._routing import Routed
from leavezero.search._trust import Kept
from leavezero.search._unseen import silent_columns

AUTO_CONFIRMED = 5  # candidates that get folds at most, where an alarm asks for them


class ConclusionMixin:
    """The attributes that users read of all candidates, and of the best.

    Examples
    --------
    >>> from leavezero import GridSearchLZO
    >>> from leavezero.search._conclusion import ConclusionMixin
    >>> issubclass(GridSearchLZO, ConclusionMixin)
    True
    """

    unseen: str
    scoring: Any
    refit: Any
    confirm: int | str | None
    confirm_cv: Any
    n_jobs: int | None
    verbose: int
    augmenter_: Any
    scorer_: Any

    @abstractmethod
    def _template(self) -> Any:
        """Return the estimator whose kind is the search's own."""

    def _conclude(
        self,
        job: Job,
        outcome: Outcome,
        keeper: Keeper,
        rule: Rule,
        routed: Routed,
        confirmation: Confirmation | None,
        root: np.random.SeedSequence,
    ) -> KeyboardInterrupt | None:
        """Set what users read of all candidates, and of the winner; return what stopped it."""
        interrupt = outcome.interrupt
        if interrupt is not None and not outcome.records:
            return interrupt
        if interrupt is None:
            report_failures(outcome.records, job, type(self).__name__)
            conclusion, interrupt = self._concluded(job, outcome, rule, routed, confirmation, root)
        else:
            conclusion = conclude(job, outcome.records, rule, root)
        trials = [record.trial for record in outcome.records]
        if not job.looks and self.unseen != "off":
            candidates = [trial.candidate for trial in trials]
            conclusion.table.update(silent_columns(self, candidates, routed, conclusion.table))
        self._kept = Kept(job, conclusion, routed.groups, root)
        self.fits_ = {
            "candidate": outcome.n_fits,
            "teacher": getattr(self.augmenter_, "n_fits_", 0),
            "confirm": conclusion.n_confirm_fits,
        }
        self.cv_results_ = conclusion.table
        self.failures_ = failures(outcome.records)
        self.plan_ = plan_of(trials, job.seed)
        self._tell_plan()
        again = self._choose(conclusion, keeper, job, outcome) + getattr(keeper, "n_again", 0)
        if again:
            self.fits_ = self.fits_ | {"again": again}
        self.n_fits_ = sum(self.fits_.values())
        return interrupt

    def _confirmation(
        self, target: AnyArray, labeled: Ints | None, routed: Routed, root: np.random.SeedSequence
    ) -> Confirmation | None:
        """Return who may get folds, and which, or raise; None where nobody does."""
        if self.confirm is None:
            return None
        named = is_classifier(self._template()) or target.dtype.kind != "f"
        folds = make_folds(
            self.confirm_cv,
            target,
            routed.groups,
            labeled,
            classes=named and target.ndim == 1,
            seed=integer_seed(root, "candidate"),
            owner=type(self).__name__,
        )
        most = AUTO_CONFIRMED if isinstance(self.confirm, str) else int(self.confirm)
        return Confirmation(most, folds)

    def _concluded(
        self,
        job: Job,
        outcome: Outcome,
        rule: Rule,
        routed: Routed,
        confirmation: Confirmation | None,
        root: np.random.SeedSequence,
    ) -> tuple[Conclusion, KeyboardInterrupt | None]:
        """Return the choice, by folds where they are wanted, and what stopped those."""
        without_folds = partial(conclude, job, outcome.records, rule, root)
        if confirmation is None:
            return without_folds(), None
        if self.confirm == "auto":
            conclusion = without_folds()
            if not self._alarms(Kept(job, conclusion, routed.groups, root)):
                return conclusion, None
        if outcome.spent:
            warn_of_no_folds(type(self).__name__)
            return without_folds(), None
        try:
            return without_folds(confirmation=confirmation, n_jobs=self.n_jobs), None
        except KeyboardInterrupt as interrupt:
            return without_folds(), interrupt

    def _alarms(self, kept: Kept) -> bool:
        """Tell whether the trust report's alarms ask for folds, and say which do."""
        alarms = kept.alarms(self)
        for finding in alarms:
            say(f"{type(self).__name__}: folds are asked. {finding.sentence}", 1, self.verbose)
        return bool(alarms)

    def _tell_plan(self) -> None:
        """Tell what candidates shared, where the user wants to hear."""
        n_candidates = sum(len(task.candidates) for task in self.plan_)
        together = [task for task in self.plan_ if task.family is not None]
        n_together = sum(len(task.candidates) for task in together)
        names = sorted({str(task.family) for task in together})
        shared = f"; {n_together} of them shared work ({', '.join(names)})" if together else ""
        counts = f"candidates: {n_candidates}, tasks: {len(self.plan_)}{shared}"
        say(f"{type(self).__name__}: {counts}.", 1, self.verbose)

    def _choose(self, conclusion: Conclusion, keeper: Keeper, job: Job, outcome: Outcome) -> int:
        """Set what users read of the winner; return how many fits it took to hand it back.

        After an interrupt the table has the finished candidates only.
        """
        table, owner = conclusion.table, type(self).__name__
        names = [name[len("mean_test_") :] for name in table if name.startswith("mean_test_")]
        self.multimetric_ = isinstance(self.scorer_, dict) or names not in ([], [SINGLE])
        if callable(self.scoring) and names:  # now it is known what it gives
            check_refit(self.refit, names, self.multimetric_, owner)
        if conclusion.selection is not None:
            self.selection_ = conclusion.selection
        if callable(self.refit):
            self.best_index_ = check_index(self.refit(table), outcome.records, owner)
        elif conclusion.selection is not None:
            self.best_index_ = conclusion.selection.index
            main = self.refit if self.multimetric_ else SINGLE
            self.best_score_ = float(table[f"mean_test_{main}"][self.best_index_])
        else:
            return 0
        self.best_params_ = table["params"][self.best_index_]
        if not self.refit:
            return 0
        trial, started = outcome.records[self.best_index_].trial, time.perf_counter()
        self.best_estimator_, n_fits = finished(job, trial, keeper.model_of(trial.row))
        # Nothing is fitted again, unless only a draft of it was solved.
        self.refit_time_ = time.perf_counter() - started if n_fits else 0.0
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_
        return n_fits
