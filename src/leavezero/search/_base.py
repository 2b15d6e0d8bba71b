"""The face that all searches share."""

import time
from abc import abstractmethod
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, is_classifier
from sklearn.model_selection import GridSearchCV
from sklearn.utils import get_tags

from leavezero._random import integer_seed, seed_sequence, stream
from leavezero._tables import take_rows
from leavezero._typing import AnyArray, Ints, RandomState, Table
from leavezero.augment import Choice, ValidationSet, resolve_augmenter
from leavezero.engine import (
    ESTIMATOR,
    LOOKS,
    SINGLE,
    AllModels,
    BestModel,
    Conclusion,
    Confirmation,
    HighestScore,
    Job,
    Journal,
    Keeper,
    Limits,
    Metric,
    NoModel,
    OpenJournal,
    Outcome,
    Planner,
    Replicates,
    Rule,
    Scoring,
    Strategy,
    conclude,
    configure,
    crew_for,
    draw_more,
    draw_replicates,
    fits_are_dear,
    identity,
    plan_of,
    prepare_workers,
    replicate_size,
    resolve_limits,
    resolve_rule,
    resolve_scoring,
    run,
    until_separated,
)
from leavezero.families import family_of
from leavezero.search._checks import (
    AUTO,
    check_auto_replicates,
    check_confirm,
    check_data,
    check_error_score,
    check_estimator_kind,
    check_index,
    check_journal,
    check_pairwise,
    check_refit,
    scoring_names,
)
from leavezero.search._failures import failures, report_failures, warn_of_no_folds
from leavezero.search._labels import last_step, marker_of, rows_with_label
from leavezero.search._monitor import CallbackSupportMixin, Monitor, say, with_callbacks
from leavezero.search._report import ReportMixin
from leavezero.search._routing import Routed, route_fit, router, with_params
from leavezero.search._trust import Kept, TrustMixin
from leavezero.search._winner import WinnerMixin

KEPT_CELLS = 2**27  # gains that are kept for statistics: half a gibibyte
ANSWERED_ROWS = 5_000  # of V, by which models are compared
AUTO_CONFIRMED = 5  # candidates that get folds at most, where an alarm asks for them


class BaseSearchLZO(
    ReportMixin, TrustMixin, WinnerMixin, CallbackSupportMixin, MetaEstimatorMixin, BaseEstimator
):
    """Base of all searches: a subclass says which strategy proposes candidates.

    Examples
    --------
    >>> from leavezero import GridSearchLZO
    >>> from leavezero.search import BaseSearchLZO
    >>> issubclass(GridSearchLZO, BaseSearchLZO)
    True
    """

    def __init__(
        self,
        estimator: Any,
        *,
        augmenter: Any = "auto",
        n_replicates: int | str = 10,
        validation_size: float = 1.0,
        unseen: str = "auto",
        scoring: Any = None,
        refit: Any = True,
        select: Any = "best",
        confirm: int | str | None = None,
        confirm_cv: Any = 5,
        error_score: Any = float("nan"),
        return_train_score: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
        journal: Any = None,
        timeout: float | None = None,
        time_budget: float | None = None,
        memory_limit: int | str | None = None,
    ) -> None:
        self.estimator = estimator
        self.augmenter = augmenter
        self.n_replicates = n_replicates
        self.validation_size = validation_size
        self.unseen = unseen
        self.scoring = scoring
        self.refit = refit
        self.select = select
        self.confirm = confirm
        self.confirm_cv = confirm_cv
        self.error_score = error_score
        self.return_train_score = return_train_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.journal = journal
        self.timeout = timeout
        self.time_budget = time_budget
        self.memory_limit = memory_limit

    @abstractmethod
    def _strategy(
        self, planner: Planner, target: AnyArray, root: np.random.SeedSequence
    ) -> Strategy:
        """Return what proposes candidates; chance comes from a stream of the root."""

    def _template(self) -> Any:
        """Return the estimator whose kind is the search's own."""
        return self.estimator

    def _members(self) -> dict[str, Any]:
        """Return all estimators by name."""
        return {ESTIMATOR: self.estimator}

    @with_callbacks
    def fit(self, X: Table, y: AnyArray | None = None, **params: Any) -> Self:
        """Fit every candidate once, on all the data, and keep the best (Li et al., Algorithm 1).

        Parameters
        ----------
        X : array, frame, sparse matrix or sequence of strings
            The features, as far as the estimator and the augmenter take them.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            The target: classes for a classifier, numbers for a regressor.
        **params : dict
            ``groups`` for the augmenter and the folds of ``confirm``; everything else for the
            estimator's ``fit``. ``sample_weight`` weighs the scores too: a new row has the mean
            weight of its origins, and where an augmenter knows no origins V is drawn from the
            weighted data. With scikit-learn's metadata routing enabled each goes where it was
            requested.

        Returns
        -------
        self
        """
        owner = type(self).__name__
        limits = resolve_limits(self.timeout, self.time_budget, self.memory_limit, owner)
        check_estimator_kind(self._template(), owner, own_score=self.scoring is None)
        check_error_score(self.error_score, owner)
        scoring = resolve_scoring(self.scoring, owner)
        check_refit(self.refit, scoring_names(self.scoring), scoring.several, owner)
        check_confirm(self.confirm, self.refit, owner)
        rule = resolve_rule(self.select, owner)
        where = check_journal(self.journal, self.random_state, owner)
        if self.unseen != "only":
            check_pairwise(self._template(), self.augmenter, owner)
        target = check_data(self._template(), X, y, owner)
        labeled = rows_with_label(self._members().values(), target, owner)
        routed = route_fit(self, params, scoring, self._members(), len(target))
        root = seed_sequence(self.random_state)
        planner = Planner(owner)
        strategy = self._strategy(planner, target, root)
        check_auto_replicates(
            self.n_replicates, strategy, journal=where is not None, limits=limits, owner=owner
        )
        looks = self._looks(planner, routed)
        if limits.any:
            prepare_workers()  # they take seconds, in which V is drawn
        self.draw_time_ = 0.0
        if self.unseen == "only":
            augmenter, replicates = None, _the_data(self._template(), X, target, labeled)
        else:
            augmenter, replicates = self._draw(X, target, labeled, routed, planner, strategy, root)

        def job_with(rows: Replicates) -> Job:
            made = self._job(X, target, labeled, rows, scoring, routed, strategy, root)
            return replace(made, looks=looks, draws=self.unseen != "only")

        job = job_with(replicates)
        monitor = Monitor(self, X, target, next(iter(routed.fit.values())), strategy.n_trials)
        self.scorer_ = scoring.scorers
        self.augmenter_ = augmenter
        opened = self._opened(where, job, planner, augmenter, routed, limits)
        with opened as journal, closing(self._keeper(rule, looks)) as own:
            keeper = own if journal is None else journal.keeper(own)
            fits: dict[str, Any] = {"n_jobs": self.n_jobs, "journal": journal}
            with crew_for(job, limits, owner=owner, **fits) as crew:
                outcome = run(job, strategy, keeper, watch=monitor.hear, crew=crew, **fits)
            if self.n_replicates == AUTO and not replicates.given:
                job, outcome = until_separated(
                    job,
                    outcome,
                    keeper,
                    lambda drawn, most: job_with(self._more(augmenter, drawn, most, root)),
                    self.n_jobs,
                )
            self.validation_set_ = None if augmenter is None else job.replicates.rows
            self.n_splits_ = job.replicates.n_replicates
            interrupt = self._conclude(job, outcome, keeper, rule, routed, root)
        monitor.end()
        if interrupt is not None:
            raise interrupt
        return self

    def _conclude(
        self,
        job: Job,
        outcome: Outcome,
        keeper: Keeper,
        rule: Rule,
        routed: Routed,
        root: np.random.SeedSequence,
    ) -> KeyboardInterrupt | None:
        """Set what users read of all candidates, and of the winner; return what stopped it."""
        interrupt = outcome.interrupt
        if interrupt is not None and not outcome.records:
            return interrupt
        if interrupt is None:
            report_failures(outcome.records, job, type(self).__name__)
            conclusion, interrupt = self._concluded(job, outcome, rule, routed, root)
        else:
            conclusion = conclude(job, outcome.records, rule, root)
        self._kept = Kept(job, conclusion, routed.groups, root)
        self.fits_ = {
            "candidate": outcome.n_fits,
            "teacher": getattr(self.augmenter_, "n_fits_", 0),
            "confirm": conclusion.n_confirm_fits,
        }
        self.cv_results_ = conclusion.table
        self.failures_ = failures(outcome.records)
        self.plan_ = plan_of([record.trial for record in outcome.records], job.seed)
        self._tell_plan()
        self._choose(conclusion, keeper, [record.trial.row for record in outcome.records])
        again = getattr(keeper, "n_again", 0)
        if again:
            self.fits_ = self.fits_ | {"again": again}
        self.n_fits_ = sum(self.fits_.values())
        return interrupt

    def _tell_plan(self) -> None:
        """Tell what candidates shared, where the user wants to hear."""
        n_candidates = sum(len(task.candidates) for task in self.plan_)
        together = [task for task in self.plan_ if task.family is not None]
        n_together = sum(len(task.candidates) for task in together)
        names = sorted({str(task.family) for task in together})
        shared = f"; {n_together} of them shared work ({', '.join(names)})" if together else ""
        counts = f"candidates: {n_candidates}, tasks: {len(self.plan_)}{shared}"
        say(f"{type(self).__name__}: {counts}.", 1, self.verbose)

    def _concluded(
        self,
        job: Job,
        outcome: Outcome,
        rule: Rule,
        routed: Routed,
        root: np.random.SeedSequence,
    ) -> tuple[Conclusion, KeyboardInterrupt | None]:
        """Return the choice, by folds where they are wanted, and what stopped those."""
        without_folds = partial(conclude, job, outcome.records, rule, root)
        if self.confirm is None:
            return without_folds(), None
        if self.confirm == "auto":
            conclusion = without_folds()
            if not self._alarms(Kept(job, conclusion, routed.groups, root)):
                return conclusion, None
        if outcome.spent:
            warn_of_no_folds(type(self).__name__)
            return without_folds(), None
        most = AUTO_CONFIRMED if isinstance(self.confirm, str) else int(self.confirm)
        confirmation = Confirmation(most, self.confirm_cv, routed.groups)
        try:
            return without_folds(confirmation=confirmation, n_jobs=self.n_jobs), None
        except KeyboardInterrupt as interrupt:
            return without_folds(), interrupt

    def _opened(
        self,
        where: Journal | None,
        job: Job,
        planner: Planner,
        augmenter: Any,
        routed: Routed,
        limits: Limits,
    ) -> AbstractContextManager[OpenJournal | None]:
        """Return the journal of this search, or raise if the file is another's."""
        if where is None:
            return nullcontext()
        parts = identity(
            job,
            self._members(),
            planner.candidates,
            augmenter,
            random_state=self.random_state,
            groups=routed.groups,
        )
        return OpenJournal(where, job, parts, type(self).__name__, limits)

    def _alarms(self, kept: Kept) -> bool:
        """Tell whether the trust report's alarms ask for folds, and say which do."""
        alarms = kept.alarms(self)
        for finding in alarms:
            say(f"{type(self).__name__}: folds are asked. {finding.sentence}", 1, self.verbose)
        return bool(alarms)

    def _draw(
        self,
        X: Table,
        target: AnyArray,
        labeled: Ints | None,
        routed: Routed,
        planner: Planner,
        strategy: Strategy,
        root: np.random.SeedSequence,
    ) -> tuple[Any, Replicates]:
        """Choose what draws V, tell it where the user wants to hear, and draw."""
        started = time.perf_counter()
        n_rows, owner = len(target), type(self).__name__
        auto = self.n_replicates == AUTO
        most: Any = LOOKS[-1] if auto else self.n_replicates
        size = replicate_size(self.validation_size, most, n_rows, owner)
        shape = getattr(X, "shape", (n_rows, 1))
        n_columns = int(np.prod(shape[1:])) if len(shape) > 1 else 1
        candidates = planner.candidates or [Planner(owner).candidate(self._template(), {})]
        n_new_rows = size * most
        dear = fits_are_dear(candidates, strategy.n_trials, n_rows, n_columns, n_new_rows)
        members = self._members().values()
        choice: Choice = resolve_augmenter(
            self.augmenter,
            X,
            target,
            routed.groups,
            dear=dear,
            unlabeled=None if labeled is None else marker_of(members),
            judged={type(last_step(member)) for member in members},
        )
        say(
            f"{owner}: V is drawn by {choice.augmenter!r}, because {choice.reason}.",
            1,
            self.verbose,
        )
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

    def _job(
        self,
        X: Table,
        target: AnyArray,
        labeled: Ints | None,
        replicates: Replicates,
        scoring: Scoring,
        routed: Routed,
        strategy: Strategy,
        root: np.random.SeedSequence,
    ) -> Job:
        """Return what all trials share."""
        n_rows = len(target)
        given = None
        if self.return_train_score:
            given = _the_data(self._template(), X, target, labeled)

        def for_rows(drawn: Replicates | None) -> dict[str, Metric]:
            return {
                name: with_params(metric, routed.score[name], n_rows, drawn)
                for name, metric in scoring.metrics.items()
            }

        return Job(
            X,
            target,
            replicates,
            metrics=for_rows(None if self.unseen == "only" else replicates),
            main=self._main_metric(scoring),
            seed=integer_seed(root, "candidate"),
            fit_params=routed.fit,
            given=given,
            given_metrics=for_rows(None),
            kept_rows=_some_rows(len(replicates.rows), KEPT_CELLS // strategy.n_trials, root),
            answered_rows=_some_rows(len(replicates.rows), ANSWERED_ROWS, root),
            labeled=labeled,
            error_score=self.error_score,
        )

    def _main_metric(self, scoring: Scoring) -> str | None:
        """Return the metric by which the best is chosen; None if several are and none is named."""
        by_name = scoring.several or callable(self.scoring)  # a callable may give a dictionary
        if isinstance(self.refit, str) and by_name:
            return self.refit
        return None if scoring.several else SINGLE

    def _looks(self, planner: Planner, routed: Routed) -> bool:
        """Tell whether any candidate may be judged by rows it has not seen, or raise."""
        if self.unseen not in ("auto", "off", "only"):
            raise ValueError(
                f'unseen of {type(self).__name__} must be "auto", "off" or "only", got '
                f"{self.unseen!r}."
            )
        if self.unseen == "only" and routed.groups is not None:
            raise ValueError(
                f'{type(self).__name__} got groups, and unseen="only" leaves out single rows, '
                'whose group would stay behind. Use unseen="off".'
            )
        own_rows = self.unseen == "auto" and hasattr(self.augmenter, "fixed_rows")
        if self.unseen == "off" or routed.groups is not None or own_rows:
            return False  # a user's own rows need no second witness
        candidates = planner.candidates or [Planner("a look").candidate(self._template(), {})]
        models = (configure(c.estimator, c.settings) for c in candidates)
        return self.unseen == "only" or any(_has_family(model) for model in models)

    def _keeper(self, rule: Rule, looks: bool) -> Keeper:
        if not self.refit and self.n_replicates != AUTO:
            return NoModel()
        # A score that waits for the word on other candidates is not known when the model is.
        by_score = isinstance(rule, HighestScore) and self.confirm is None
        by_score = by_score and (not looks or self.unseen == "only") and self.n_replicates != AUTO
        return BestModel() if by_score and not callable(self.refit) else AllModels()

    def _choose(self, conclusion: Conclusion, keeper: Keeper, rows: list[int]) -> None:
        """Set what users read of the winner; ``rows`` are those that candidates were planned for.

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
            self.best_index_ = check_index(self.refit(table), len(table["params"]), owner)
        elif conclusion.selection is not None:
            self.best_index_ = conclusion.selection.index
            main = self.refit if self.multimetric_ else SINGLE
            self.best_score_ = float(table[f"mean_test_{main}"][self.best_index_])
        else:
            return
        self.best_params_ = table["params"][self.best_index_]
        if self.refit:
            self.best_estimator_ = keeper.model_of(rows[self.best_index_])
            self.refit_time_ = 0.0  # nothing is fitted again
            if hasattr(self.best_estimator_, "feature_names_in_"):
                self.feature_names_in_ = self.best_estimator_.feature_names_in_

    def get_metadata_routing(self) -> Any:
        """Return who is asked for what, as scikit-learn's metadata routing wants it."""
        scoring = resolve_scoring(self.scoring, type(self).__name__)
        return router(self, self._members(), scoring)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._template())
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = inner.classifier_tags
        tags.regressor_tags = inner.regressor_tags
        tags.target_tags = inner.target_tags
        tags.target_tags.required = True
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.input_tags.pairwise = inner.input_tags.pairwise
        tags.input_tags.sparse = inner.input_tags.sparse
        return tags


def _has_family(model: Any) -> bool:
    family = family_of(model)
    return family is not None and family.refuses(model) is None


def _the_data(estimator: Any, X: Table, target: AnyArray, labeled: Ints | None) -> Replicates:
    """Return the given rows that have a label in the place of V."""
    if labeled is not None:
        X, target = take_rows(X, labeled), target[labeled]
    classes = np.unique(target) if is_classifier(estimator) and target.ndim == 1 else None
    return Replicates(ValidationSet(X, target), 1, classes, given=True)


def _some_rows(n_rows: int, most: int, root: np.random.SeedSequence) -> Ints | None:
    """Return some rows of V, the same for all candidates, where all of them are too many."""
    most = max(1_000, most)
    if n_rows <= most:
        return None
    return np.sort(stream(root, "some rows", most).choice(n_rows, size=most, replace=False))


# Tools ask isinstance(search, BaseSearchCV); inheriting would bring its fit, which refits.
# The class has no public address of its own: it is the base of the public GridSearchCV.
GridSearchCV.__base__.register(BaseSearchLZO)
