"""The face that all searches share."""

from abc import abstractmethod
from contextlib import AbstractContextManager, closing, nullcontext
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.model_selection import GridSearchCV
from sklearn.utils import get_tags

from leavezero._random import seed_sequence
from leavezero._typing import AnyArray, RandomState, Table
from leavezero.engine import (
    ESTIMATOR,
    AllModels,
    BestModel,
    HighestScore,
    Job,
    Journal,
    Keeper,
    Limits,
    NoModel,
    OpenJournal,
    Planner,
    Replicates,
    Rule,
    Strategy,
    crew_for,
    identity,
    prepare_workers,
    resolve_limits,
    resolve_rule,
    resolve_scoring,
    run,
    until_separated,
)
from leavezero.search._checks import (
    AUTO,
    check_auto_replicates,
    check_confirm,
    check_data,
    check_error_score,
    check_estimator_kind,
    check_journal,
    check_n_jobs,
    check_own_rows,
    check_pairwise,
    check_refit,
    check_verbose,
    scoring_names,
)
from leavezero.search._conclusion import ConclusionMixin
from leavezero.search._draw import DrawMixin
from leavezero.search._job import job_of, the_data
from leavezero.search._labels import Labels, configured, has_marker, read_labels, sortable
from leavezero.search._monitor import CallbackSupportMixin, Monitor, with_callbacks
from leavezero.search._report import ReportMixin
from leavezero.search._routing import Routed, route_fit, router
from leavezero.search._trust import TrustMixin
from leavezero.search._unseen import looks_at_unseen
from leavezero.search._winner import WinnerMixin


class BaseSearchLZO(
    DrawMixin,
    ConclusionMixin,
    ReportMixin,
    TrustMixin,
    WinnerMixin,
    CallbackSupportMixin,
    MetaEstimatorMixin,
    BaseEstimator,
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
        self._forget()
        limits = resolve_limits(self.timeout, self.time_budget, self.memory_limit, owner)
        check_estimator_kind(self._template(), owner, own_score=self.scoring is None)
        check_error_score(self.error_score, owner)
        check_verbose(self.verbose, owner)
        check_n_jobs(self.n_jobs, owner)
        scoring = resolve_scoring(self.scoring, owner)
        check_refit(self.refit, scoring_names(self.scoring), scoring.several, owner)
        check_confirm(self.confirm, self.refit, owner)
        rule = resolve_rule(self.select, owner)
        where = check_journal(self.journal, self.random_state, owner)
        if self.unseen != "only":
            check_pairwise(self._template(), self.augmenter, owner)
            check_own_rows(self.augmenter, owner)
        members = self._members().values()
        semi_supervised = has_marker(members)
        target = check_data(self._template(), X, y, owner, semi_supervised=semi_supervised)
        routed = route_fit(self, params, scoring, self._members(), len(target))
        root = seed_sequence(self.random_state)
        planner = Planner(owner)
        strategy = self._strategy(planner, sortable(target), root)
        labels = Labels(target)
        if semi_supervised:
            labels = read_labels(configured(planner.candidates) or members, target, owner)
        target, labeled = labels.target, labels.rows
        check_auto_replicates(
            self.n_replicates, strategy, journal=where is not None, limits=limits, owner=owner
        )
        looks = looks_at_unseen(self, planner, routed)
        confirmation = self._confirmation(target, labeled, routed, root)
        if limits.any:
            prepare_workers()  # they take seconds, in which V is drawn
        self.draw_time_ = 0.0
        if self.unseen == "only":
            augmenter, replicates = None, the_data(self._template(), X, target, labeled)
        else:
            augmenter, replicates = self._draw(X, labels, routed, planner, strategy, root)

        def job_with(rows: Replicates) -> Job:
            given = (scoring, routed, strategy, root)
            return job_of(self, X, labels, rows, *given, looks=looks)

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
            interrupt = self._conclude(job, outcome, keeper, rule, routed, confirmation, root)
        monitor.end()
        if interrupt is not None:
            raise interrupt
        return self

    def _forget(self) -> None:
        """Drop what an earlier fit learned, of which a fit that fails would leave a part."""
        kept = ("_kept", "_told")
        learned = [n for n in vars(self) if n in kept or (n[-1] == "_" and n[0] != "_")]
        for name in learned:
            delattr(self, name)

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

    def _keeper(self, rule: Rule, looks: bool) -> Keeper:
        if not self.refit and self.n_replicates != AUTO:
            return NoModel()
        # A score that waits for the word on other candidates is not known when the model is.
        by_score = isinstance(rule, HighestScore) and self.confirm is None
        by_score = by_score and (not looks or self.unseen == "only") and self.n_replicates != AUTO
        return BestModel() if by_score and not callable(self.refit) else AllModels()

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


# Tools ask isinstance(search, BaseSearchCV); inheriting would bring its fit, which refits.
# The class has no public address of its own: it is the base of the public GridSearchCV.
GridSearchCV.__base__.register(BaseSearchLZO)
