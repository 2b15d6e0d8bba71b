"""Base class of all searches."""

import inspect
import sys
import time
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier, is_regressor
from sklearn.model_selection import GridSearchCV
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from leavezero._random import integer_seed, seed_sequence, stream
from leavezero._tables import take_rows
from leavezero._typing import AnyArray, Ints, RandomState, Table
from leavezero._warnings import warn_caller
from leavezero.augment import ValidationSet, resolve_augmenter, takes_unlabeled
from leavezero.evaluation import (
    ESTIMATOR,
    SINGLE,
    CandidateFactory,
    CandidateResult,
    CheckpointedResults,
    Evaluation,
    Fold,
    FoldPlan,
    Metric,
    ModelStore,
    Replicates,
    Run,
    Scoring,
    Selected,
    SelectionRule,
    Strategy,
    cross_validate_some,
    enough_folds,
    evaluate,
    final_estimator,
    fit_candidate,
    is_pairwise,
    make_folds,
    resolve_rule,
    resolve_scoring,
    sample_replicates,
    search_identity,
    select,
)
from leavezero.exceptions import CandidateFailedWarning, SmallClassWarning
from leavezero.execution import (
    Checkpoint,
    Limits,
    OpenCheckpoint,
    allowed_interrupts,
    data_seed,
    deferred_interrupts,
    resolve_limits,
    reused_workers,
)
from leavezero.leave_one_out import find_leave_one_out
from leavezero.search._messages import (
    Progress,
    check_checkpoint,
    check_index,
    check_own_score,
    check_parameters,
    check_refit,
    check_scorers_without_target,
    check_tables,
    check_target,
    check_values,
    failures,
    has_numbers_or_steps,
    is_count,
    is_from_sklearn,
    is_regression,
    log,
    no_validation_set_reason,
    not_exchangeable_reason,
    report_failures,
)
from leavezero.search._routing import (
    RoutedParams,
    make_router,
    route_fit,
    route_score,
    with_params,
)
from leavezero.search._summary import FittedState, ReportMixin
from leavezero.search._unlabeled_target import (
    Target,
    read_target,
    sortable_codes,
)
from leavezero.unsupervised import NearestRows, find_score

try:  # experimental, and not in older releases
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]  # where the import above failed
        """Replacement for releases of scikit-learn without callbacks."""

    def with_callbacks(method: Any) -> Any:
        """Return the method unchanged."""
        return method


KEPT_CELLS = 2**27  # per-row scores kept for statistics: half a gibibyte in single precision
FIT_SHARE = 0.6  # of the time budget, if folds are used: without fold scores some types have none
COMPARED_ROWS = 5_000  # validation rows by which models are compared


@dataclass(frozen=True, eq=False)
class _Request:
    """The checked parameters of one call of ``fit``."""

    X: Table
    target: Target
    params: RoutedParams
    scoring: Scoring
    rule: SelectionRule
    strategy: Strategy
    root: np.random.SeedSequence
    limits: Limits | None
    checkpoint: Checkpoint | None
    no_loo_reason: str | None  # of all candidates
    fold_plan: FoldPlan | None
    y_fit: Any  # the target that candidates are fitted to; None: there is none
    folds: Sequence[Fold] = ()  # of all candidates, if they replace the validation set


def _best_estimator_has(method: str) -> Callable[["BestEstimatorMixin"], bool]:
    """Return a check that the best estimator, or before fit the estimator, has a method."""

    def check(self: "BestEstimatorMixin") -> bool:
        if not getattr(self, "refit", True):
            raise AttributeError(
                f"{type(self).__name__} was initialized with `refit=False`. {method} is available "
                "only after refitting on the best parameters: use refit=True."
            )
        getattr(getattr(self, "best_estimator_", self._representative()), method)
        return True

    return check


def _can_predict(search: "BaseSearchLZO") -> bool:
    return hasattr(search, "nearest_rows_") or _best_estimator_has("predict")(search)


def _call_best(name: str) -> Any:
    """Return a method that calls the method of the best estimator, if that has it."""

    def method(self: "BestEstimatorMixin", X: Table) -> Any:
        return getattr(self._fitted_best(), name)(X)

    method.__name__, method.__qualname__ = name, f"BestEstimatorMixin.{name}"
    method.__doc__ = f"Call {name} on the best estimator."
    return available_if(_best_estimator_has(name))(method)


class BestEstimatorMixin(MetaEstimatorMixin, BaseEstimator):
    """Methods and tags of a search that are those of its best estimator."""

    estimator: Any

    def _representative(self) -> Any:
        """Return the estimator that determines whether this is a classifier or a regressor."""
        return self.estimator

    @property
    def classes_(self) -> AnyArray:
        """Class labels of the best estimator."""
        _best_estimator_has("classes_")(self)
        return self._fitted_best().classes_

    @property
    def n_features_in_(self) -> int:
        """Number of features seen during fit."""
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(f"{type(self).__name__} has no n_features_in_ before fit.")
        return int(self.best_estimator_.n_features_in_)

    predict = _call_best("predict")
    predict_proba = _call_best("predict_proba")
    predict_log_proba = _call_best("predict_log_proba")
    decision_function = _call_best("decision_function")
    score_samples = _call_best("score_samples")
    transform = _call_best("transform")
    inverse_transform = _call_best("inverse_transform")

    def _reset(self) -> None:
        """Delete the attributes of an earlier fit, so that a failed fit leaves none of them."""
        for name in list(vars(self)):
            if name in ("_state", "_models") or (name[-1] == "_" and name[0] != "_"):
                delattr(self, name)

    def _fitted_best(self) -> Any:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._representative())
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = inner.classifier_tags
        tags.regressor_tags = inner.regressor_tags
        tags.target_tags = inner.target_tags
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.input_tags.pairwise = inner.input_tags.pairwise
        tags.input_tags.sparse = inner.input_tags.sparse
        return tags


class BaseSearchLZO(CallbackSupportMixin, BestEstimatorMixin, ReportMixin):
    """Base class of all searches; a subclass implements the strategy that proposes candidates.

    The descriptions of the parameters below replace ``{common}`` in the docstring of a subclass.

    Parameters
    ----------
    augmenter : "auto" or augmenter, default="auto"
        What generates the validation set. "auto" chooses by the type of the data;
        :class:`LabelInvariantMixup` is the one of the paper.
    n_replicates : int, default=10
        The number of independent validation sets; scores are averaged over them.
    validation_size : "auto", float or int, default="auto"
        The number of rows of one replicate: a float is a share of the training rows, an int the
        number itself. "auto" is the number of training rows, but all replicates together have at
        most 5,000 rows.
    loo : "auto", False or "only", default="auto"
        Whether scores use leave-one-out or out-of-bag predictions, for estimators that
        :mod:`leavezero.leave_one_out` supports; no fit is added. "only" generates no validation set
        and requires candidates with such predictions. "auto" does not use them with groups or with
        a :class:`FixedValidationSet`.
    scoring : str, callable, list, dict or None, default=None
        The metric or metrics, as in ``GridSearchCV``. None uses the estimator's own, accuracy for
        classifiers and R2 for regressors.
    refit : bool, str or callable, default=True
        With several metrics the name of the one that selects the best candidate, or a callable
        that takes ``cv_results_`` and returns a row. False keeps no estimator.
    select : "best", "one_se", "vote" or rule, default="best"
        The selection rule: the highest score; the simplest candidate within one standard error of
        it (see :class:`OneStandardError`); or the candidate that is best in most replicates.
    cv_finalists : "auto", "all" or int, default="auto"
        How many candidates are cross-validated in addition, so that the bias of validation scores
        is known for them. "auto" cross-validates a few candidates of model types without
        leave-one-out scores (trees, boosting, neural networks): at least two per type, with at most
        25 fits per type, and at most 15 in all, or one per candidate from ten candidates on (one
        per two candidates with 5,000 or more rows); none with ``loo=False``. An int
        cross-validates that many of the best candidates, 0 none.
    cv : int, splitter or iterable, default=5
        The folds of ``cv_finalists``, as in ``GridSearchCV``; those of an int are shuffled, and
        with "auto" only some are used: as many as have 1,000 test rows together, and so few that
        at least five candidates can be cross-validated. With ``groups``, an iterable or a splitter
        for rows that are not exchangeable, such as ``TimeSeriesSplit``, the folds alone score all
        candidates, with a warning; likewise if no rows can be generated: without y, and for
        precomputed kernels. An augmenter that is passed, or another ``loo`` or ``cv_finalists``
        than "auto", prevents this.
    error_score : "raise" or number, default=nan
        The score of a candidate that fails; it is never selected.
    return_train_score : bool, default=False
        Whether to add training scores to ``cv_results_``: one per candidate, the same for all
        replicates.
    n_jobs : int or None, default=None
        The number of workers of joblib. Several workers divide the cores among the threads of their
        fits; one worker leaves threads alone. Results do not depend on it, except for the last
        digits of sums in BLAS and OpenMP, which depend on the number of threads.
    random_state : int, RandomState, Generator or None, default=None
        The seed of the validation set and of every ``random_state`` of None inside the estimator,
        which is the same for all candidates. None derives it from the data, so that the same call
        gives the same result.
    verbose : int, default=0
        1 prints the augmenter and why it was chosen; 2 one line per candidate; 3 the scores of
        each replicate and tracebacks. The logger "leavezero" receives the same at the levels INFO
        and DEBUG.
    checkpoint : str, path, Checkpoint or None, default=None
        A file that stores finished candidates: the same call resumes where the last one ended. It
        requires an int as ``random_state``.
    timeout : float or None, default=None
        The maximum number of seconds to fit and score one candidate. A candidate that takes longer
        is terminated and counts as failed. With any of these three limits, candidates run in
        separate processes on this machine, and one whose process dies is tried once more.
    time_budget : float or None, default=None
        The maximum number of seconds of the search. When they are over, no candidate is started,
        running ones are terminated, and the best finished one is selected. If candidates are
        cross-validated, 60 % of the time are for fits to all rows, or more until one has finished.
    memory_limit : int, str or None, default=None
        The maximum number of bytes that a candidate may use beyond what its process started with,
        as a number or as in "2GB". A candidate that uses more is terminated and counts as failed.
    pre_dispatch : int or str, default="2*n_jobs"
        Accepted for compatibility with ``GridSearchCV`` and ignored: tasks share the data, so that
        waiting ones use no memory.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from leavezero.search import BaseSearchLZO, SingleRound
    >>> class ListSearchLZO(BaseSearchLZO):
    ...     def __init__(self, estimator, settings, *, random_state=None):
    ...         super().__init__(random_state=random_state)
    ...         self.estimator = estimator
    ...         self.settings = settings
    ...     def _strategy(self, factory, y, root):
    ...         candidates = [factory.candidate(self.estimator, one) for one in self.settings]
    ...         return SingleRound(candidates)
    >>> search = ListSearchLZO(SVC(), [{"C": 1}, {"gamma": 100}], random_state=0)
    >>> search.fit(*load_iris(return_X_y=True)).best_params_
    {'C': 1}
    """

    def __init__(
        self,
        *,
        augmenter: Any = "auto",
        n_replicates: int = 10,
        validation_size: float | str = "auto",
        loo: bool | str = "auto",
        scoring: Any = None,
        refit: Any = True,
        select: Any = "best",
        cv_finalists: int | str = "auto",
        cv: Any = 5,
        error_score: Any = float("nan"),
        return_train_score: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
        checkpoint: Any = None,
        timeout: float | None = None,
        time_budget: float | None = None,
        memory_limit: int | str | None = None,
        pre_dispatch: Any = "2*n_jobs",
    ) -> None:
        self.augmenter = augmenter
        self.n_replicates = n_replicates
        self.validation_size = validation_size
        self.loo = loo
        self.scoring = scoring
        self.refit = refit
        self.select = select
        self.cv_finalists = cv_finalists
        self.cv = cv
        self.error_score = error_score
        self.return_train_score = return_train_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.checkpoint = checkpoint
        self.timeout = timeout
        self.time_budget = time_budget
        self.memory_limit = memory_limit
        self.pre_dispatch = pre_dispatch

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Describe the common parameters in the docstring of a subclass."""
        super().__init_subclass__(**kwargs)
        described = inspect.cleandoc(BaseSearchLZO.__doc__ or "").partition("----------\n")[2]
        described = described.partition("\n\nExamples")[0]
        cls.__doc__ = inspect.cleandoc(cls.__doc__ or "").replace("{common}", described)

    @abstractmethod
    def _strategy(
        self, factory: CandidateFactory, y: AnyArray, root: np.random.SeedSequence
    ) -> Strategy:
        """Return what proposes candidates: ``n_trials``, ``ask()`` and ``tell(results)``.

        Parameters
        ----------
        factory : candidate factory
            ``factory.candidate(estimator, params)`` returns a candidate.
        y : array
            The target.
        root : SeedSequence
            The source of all randomness, so that results depend on the seed only.

        Returns
        -------
        strategy
            Such as :class:`SingleRound`. ``ask`` returns the next list of :class:`Trial`, empty at
            the end; ``tell`` receives their results in the same order; ``n_trials`` is the largest
            possible number of trials.
        """

    def _estimators(self) -> dict[str, Any]:
        """Return all estimators by name."""
        return {ESTIMATOR: self.estimator}

    @with_callbacks
    def fit(self, X: Table, y: AnyArray | None = None, **params: Any) -> Self:
        """Fit every candidate once, on all rows, and keep the best (Li et al., Algorithm 1).

        Parameters
        ----------
        X : array, dataframe, sparse matrix or sequence of strings
            The features, as far as the estimator and the augmenter support them.
        y : array of shape (n_samples,) or (n_samples, n_outputs), or None
            The target, which candidates receive in the container that is passed. None for
            estimators that need none.
        **params : dict
            ``groups`` is passed to the splitter ``cv`` and, if one is given, to the augmenter,
            everything else to the estimator's ``fit``. ``sample_weight`` also weights the scores: a
            generated row has the mean weight of its source rows, and if an augmenter reports none,
            the validation set is sampled from the weighted training data. With scikit-learn's
            metadata routing enabled, each parameter goes where it was requested.

        Returns
        -------
        self
        """
        self._reset()
        request = self._prepare(X, y, params)
        run = self._sample_validation_set(request)
        progress = Progress(self, X, y, params, request.strategy.n_trials)
        with deferred_interrupts(), ExitStack() as resources:
            if request.limits is not None:
                limits = resources.enter_context(reused_workers(request.limits))
                request = replace(request, limits=limits)
            models = resources.enter_context(ModelStore(keep=bool(self.refit)))
            checkpoint = self._open_checkpoint(request, run, resources)
            evaluation = evaluate(
                run,
                request.strategy,
                models,
                n_jobs=self.n_jobs,
                limits=self._fit_limits(request),
                checkpoint=checkpoint,
                on_start=progress.on_start,
                on_result=progress.on_result,
            )
            progress.end_search()
            interrupt = self._select(request, run, evaluation, models, checkpoint)
        progress.end()
        if interrupt is not None:
            raise interrupt
        return self

    def _prepare(self, X: Table, y: AnyArray | None, params: dict[str, Any]) -> _Request:
        """Check parameters and data, route metadata, derive seeds, propose candidates."""
        owner, estimator = type(self).__name__, self._representative()
        limits = None
        if any(limit is not None for limit in (self.timeout, self.time_budget, self.memory_limit)):
            limits = resolve_limits(self.timeout, self.time_budget, self.memory_limit, owner)
        scoring = resolve_scoring(self.scoring, owner)
        check_parameters(self, estimator)
        rule = resolve_rule(self.select, owner)
        checkpoint = check_checkpoint(self)
        check_tables(X, y, owner)
        estimators = self._estimators()
        semi_supervised = any(takes_unlabeled(final_estimator(e)) for e in estimators.values())
        folds_reason = no_validation_set_reason(self, estimator, X, y)
        values = check_target(
            estimator,
            X,
            y,
            owner,
            semi_supervised=semi_supervised,
            is_generated=folds_reason is None,
        )
        routed = RoutedParams({name: {} for name in estimators}, {n: {} for n in scoring.metrics})
        if params:
            routed = route_fit(self, params, scoring, estimators, len(values))
        folds_reason = folds_reason or not_exchangeable_reason(self, routed)
        seed = data_seed(X, values) if self.random_state is None else self.random_state
        root = seed_sequence(seed)
        factory = CandidateFactory(owner)
        target = Target(values)
        strategy = self._strategy(
            factory, sortable_codes(values) if semi_supervised else values, root
        )

        def configured() -> Iterator[Any]:
            for candidate in factory.candidates:
                yield candidate.make_estimator(0)
            if not factory.candidates:
                yield from estimators.values()

        check_values(X, values, configured(), owner)
        if semi_supervised:
            target = read_target(configured(), values, owner)
        # scikit-learn's estimators would flatten a y of shape (n, 1); others, such as networks, may
        # require it.
        are_known = all(is_from_sklearn(final_estimator(e)) for e in estimators.values())
        y_fit = values if are_known and y is not None and np.asarray(y).ndim != values.ndim else y
        if target.with_own_marker is not None:
            y_fit = target.with_own_marker
        if y is not None and scoring.unsupervised is not None:
            raise ValueError(
                f"scoring={type(scoring.unsupervised).__name__}() of {owner} is a score without a "
                "target and requires y=None, got a y."
            )
        if y is None:
            check_scorers_without_target(scoring, owner)
            scoring = self._unsupervised_scoring(scoring, list(configured()), X, bool(params))
        self.scorer_ = scoring.scorers
        request = _Request(
            X,
            target,
            routed,
            scoring,
            rule,
            strategy,
            root,
            limits,
            checkpoint,
            no_loo_reason=folds_reason or self._no_loo_reason(routed),
            fold_plan=None,
            y_fit=y_fit,
        )
        if scoring.unsupervised is not None:
            return request
        if folds_reason is None:
            return replace(request, fold_plan=self._fold_plan(request))
        folds = self._make_folds(request)
        if y is not None:
            number = "fold" if len(folds) == 1 else f"{len(folds)} folds"
            warn_caller(
                f"{owner} scores every candidate by the {number} of cv, as GridSearchCV does, "
                f"because {folds_reason}."
            )
        return replace(request, folds=folds)

    def _unsupervised_scoring(
        self, scoring: Scoring, estimators: list[Any], X: Table, has_metadata: bool
    ) -> Scoring:
        """Return the scoring that needs neither a target nor folds, if the candidates have one."""
        score = scoring.unsupervised
        if self.scoring is None and has_numbers_or_steps(X, estimators):
            wants_folds = has_metadata or not is_count(self.cv) or self.cv_finalists != "auto"
            wants_folds = wants_folds or self.return_train_score
            score = None if wants_folds else find_score(estimators)
        if score is None and self.scoring is None:
            check_own_score(self, estimators)
        if score is None:
            return scoring
        score.check([final_estimator(e) for e in estimators], X, type(self).__name__)
        return Scoring({SINGLE: Metric(score.name, score)}, multimetric=False)

    def _no_loo_reason(self, params: RoutedParams) -> str | None:
        """Return why no candidate gets a LOO score, whatever its model type."""
        if params.groups is not None and self.loo == "only":
            raise ValueError(
                f'loo="only" of {type(self).__name__} leaves out single rows and cannot be used '
                "with groups. Use loo=False."
            )
        if params.groups is not None:
            return "rows are grouped, and leaving out single rows would leak"
        if self.loo == "auto" and hasattr(self.augmenter, "fixed_rows"):
            return "the validation set was given"
        return None

    def _fit_limits(self, request: _Request) -> Limits | None:
        """Return the limits of fits to all rows; folds have the rest of the time budget."""
        plan, limits = request.fold_plan, request.limits
        if limits is None or plan is None:
            return limits
        finals = [final_estimator(one) for one in self._estimators().values()]
        if plan.n_candidates is None and all(map(find_leave_one_out, finals)):
            return limits  # without folds
        return replace(limits, share=FIT_SHARE)

    def _make_folds(self, request: _Request) -> list[Fold]:
        target, estimator = request.target, self._representative()
        y = target.values
        is_classification = is_classifier(estimator) or not (
            is_regressor(estimator) or y.dtype.kind in "fV"
        )
        return make_folds(
            self.cv,
            y,
            request.params.groups,
            target.labeled,
            is_classification=is_classification and y.ndim == 1,
            seed=integer_seed(request.root, "candidate"),
            owner=type(self).__name__,
            X=request.X,
        )

    def _fold_plan(self, request: _Request) -> FoldPlan | None:
        """Return which folds are used for how many candidates; None for none."""
        is_auto = self.cv_finalists == "auto"
        given = self.loo != "auto" or hasattr(self.augmenter, "fixed_rows")
        has_unlabeled = request.target.labeled is not None
        if self.cv_finalists == 0 or (is_auto and (given or has_unlabeled)):
            return None
        try:
            with warnings.catch_warnings():
                if is_auto:  # which has its own warnings of small classes
                    warnings.filterwarnings("ignore", "The least populated class", UserWarning)
                folds = self._make_folds(request)
        except ValueError:
            if is_auto and is_count(self.cv, 2):  # too few rows
                return None
            raise
        if self._main_metric(request.scoring) is None:
            return None
        if is_auto and is_count(self.cv):  # folds that are not used need as much memory as columns
            return FoldPlan(enough_folds(folds, sys.maxsize, 1), may_be_fewer=True)
        if is_auto:
            return FoldPlan(folds)
        n_candidates = sys.maxsize if self.cv_finalists == "all" else int(self.cv_finalists)
        return FoldPlan(folds, n_candidates)

    def _sample_validation_set(self, request: _Request) -> Run:
        """Sample the validation set; return the data and options that all candidates share."""
        started = time.perf_counter()
        target, root = request.target, request.root
        self.augmenter_, replicates = None, _training_replicates(self._representative(), request)
        training = replicates
        unsupervised = request.scoring.unsupervised
        use_validation_set = self.loo != "only" and not request.folds and unsupervised is None
        if use_validation_set:
            self.augmenter_, replicates = self._replicates(request)
        elif request.folds:
            replicates = replace(replicates, n_replicates=len(request.folds))
        elif unsupervised is not None and not unsupervised.per_row:
            replicates = replace(replicates, n_replicates=unsupervised.n_values)
        self.augment_time_ = time.perf_counter() - started
        self.validation_set_ = None if self.augmenter_ is None else replicates.rows
        self.n_splits_ = replicates.n_replicates
        n_rows, n_trials = len(replicates.rows), request.strategy.n_trials

        def metrics_for(rows: Replicates | None) -> dict[str, Metric]:
            metrics = dict(request.scoring.metrics)
            for name, params in request.params.score.items():
                if params:
                    metrics[name] = with_params(metrics[name], params, len(target.values), rows)
            return metrics

        return Run(
            request.X,
            target.values,
            request.y_fit,
            replicates,
            metrics=metrics_for(replicates if use_validation_set else None),
            main_metric=self._main_metric(request.scoring),
            seed=integer_seed(root, "candidate"),
            fit_params=request.params.fit,
            training_metrics=metrics_for(None),
            training_set=training if self.return_train_score else None,
            kept_rows=_sample_rows(n_rows, KEPT_CELLS // n_trials, root),
            compared_rows=_sample_rows(n_rows, COMPARED_ROWS, root),
            use_loo=self.loo is not False,
            no_loo_reason=request.no_loo_reason,
            use_validation_set=use_validation_set,
            labeled=target.labeled,
            pairwise=is_pairwise(self._representative()),
            folds=request.folds,
            error_score=self.error_score,
        )

    def _replicates(self, request: _Request) -> tuple[Any, Replicates]:
        """Return the fitted augmenter and the replicates that it generated."""
        target, owner = request.target, type(self).__name__
        augmenter = self.augmenter
        if target.with_own_marker is not None and hasattr(augmenter, "unlabeled"):
            augmenter = clone(augmenter).set_params(unlabeled=target.marker)
        if isinstance(augmenter, str) or target.labeled is not None:
            resolved = resolve_augmenter(
                augmenter,
                request.X,
                target.values,
                unlabeled=None if target.labeled is None else target.marker,
                candidate_types={type(final_estimator(e)) for e in self._estimators().values()},
            )
            augmenter, reason = resolved.augmenter, resolved.reason
            log(f"{owner}: augmenter {augmenter!r}, because {reason}.", 1, self.verbose)
        regression = is_regression(self._representative(), target.values)
        with warnings.catch_warnings():
            if regression:  # targets with few distinct values are generated one by one
                warnings.filterwarnings("ignore", "Class ", SmallClassWarning)
            fitted, replicates = sample_replicates(
                augmenter,
                request.X,
                target.values,
                sample_weight=request.params.sample_weight,
                groups=request.params.groups,
                n_replicates=self.n_replicates,
                validation_size=self.validation_size,
                root=request.root,
                owner=owner,
            )
        if regression:
            replicates = replace(replicates, classes=None)
        if replicates.weighted and request.params.weights_differ:
            raise ValueError(
                f"The metrics of {owner} have different weights, which requires an augmenter whose "
                "rows have source rows, such as LabelInvariantMixup()."
            )
        return fitted, replicates

    def _main_metric(self, scoring: Scoring) -> str | None:
        """Return the metric that selects the best; None if a callable does."""
        may_be_named = scoring.multimetric or callable(self.scoring)
        if isinstance(self.refit, str) and may_be_named:
            return self.refit
        return None if scoring.multimetric else SINGLE

    def _open_checkpoint(
        self, request: _Request, run: Run, resources: ExitStack
    ) -> CheckpointedResults | None:
        if request.checkpoint is None:
            return None
        identity = search_identity(run, self.random_state, request.params.groups)
        store = OpenCheckpoint(request.checkpoint, identity, type(self).__name__)
        return CheckpointedResults(resources.enter_context(store), run)

    def _select(
        self,
        request: _Request,
        run: Run,
        evaluation: Evaluation,
        models: ModelStore,
        checkpoint: CheckpointedResults | None,
    ) -> KeyboardInterrupt | None:
        """Set the fitted attributes; return the interrupt that ended the search, if any."""
        interrupt = evaluation.interrupt
        results = evaluation.results
        if interrupt is not None and not results:
            return interrupt
        n_cv_fits = 0
        if interrupt is None:
            report_failures(results, run, type(self).__name__)
            results, n_cv_fits, interrupt = self._cross_validate(
                request, run, evaluation, checkpoint
            )
        selected = select(run, results, request.rule, request.root)
        self._state = FittedState(run, selected, request.params.groups, request.root)
        self.cv_results_ = selected.table
        self.failures_ = failures(results)
        self.tasks_ = evaluation.tasks
        self.fit_counts_ = {
            "candidate": evaluation.n_fits,
            "auxiliary": getattr(self.augmenter_, "n_fits_", 0),
            "cv": n_cv_fits,
            "refit": 0,
        }
        try:
            self._set_best(run, selected, evaluation, models)
        except KeyboardInterrupt as caught:  # in the refit: there is no best_estimator_
            interrupt = caught
        self.n_fits_ = sum(self.fit_counts_.values())
        return interrupt

    def _cross_validate(
        self,
        request: _Request,
        run: Run,
        evaluation: Evaluation,
        checkpoint: CheckpointedResults | None,
    ) -> tuple[list[CandidateResult], int, KeyboardInterrupt | None]:
        """Return the results after some candidates were cross-validated, and the number of fits."""
        plan, limits, owner = request.fold_plan, request.limits, type(self).__name__
        results, n_fits = evaluation.results, 0
        if plan is None:
            return results, 0, None
        if not evaluation.is_stopped:
            try:
                results, n_fits = cross_validate_some(
                    run, results, plan, n_jobs=self.n_jobs, limits=limits, checkpoint=checkpoint
                )
            except KeyboardInterrupt as interrupt:
                return evaluation.results, 0, interrupt
        n_found = sum(bool(result.cv) for result in results)
        if n_fits:
            log(f"{owner}: {n_found} candidates cross-validated, {n_fits} fits.", 1, self.verbose)
        is_incomplete = plan.n_candidates is not None and n_found < plan.n_candidates
        if is_incomplete and limits is not None and limits.spent():
            warn_caller(
                f"time_budget of {owner} was spent when {n_found} candidates were cross-validated; "
                "the best is selected by the scores so far.",
                CandidateFailedWarning,
            )
        return results, n_fits, None

    def _set_best(
        self, run: Run, selected: Selected, evaluation: Evaluation, models: ModelStore
    ) -> None:
        table, owner = selected.table, type(self).__name__
        names = [name[len("mean_test_") :] for name in table if name.startswith("mean_test_")]
        self.multimetric_ = isinstance(self.scorer_, dict) or names not in ([], [SINGLE])
        if callable(self.scoring) and names:  # its names are known now
            check_refit(self, names, multimetric=self.multimetric_)
        if selected.selection is not None:
            self.selection_ = selected.selection
        if callable(self.refit):
            self.best_index_ = check_index(self.refit(table), evaluation.results, owner)
        elif selected.selection is not None:
            self.best_index_ = selected.selection.index
            main = self.refit if self.multimetric_ else SINGLE
            self.best_score_ = float(table[f"mean_test_{main}"][self.best_index_])
        else:
            return
        self.best_params_ = table["params"][self.best_index_]
        if not self.refit:
            return
        self.refit_time_ = 0.0
        trial = evaluation.results[self.best_index_].trial
        stored = models.get(trial.row)
        if stored is not None and not stored[1]:
            self.best_estimator_ = stored[0]
        else:  # only its predictions were computed, or its scores are from a checkpoint
            started = time.perf_counter()
            with allowed_interrupts():
                self.best_estimator_ = fit_candidate(run, trial.candidate, trial.training_rows)
            self.refit_time_ = time.perf_counter() - started
            self.fit_counts_ = self.fit_counts_ | {"refit": 1}
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_
        if run.unsupervised is not None:
            X = run.X if trial.training_rows is None else take_rows(run.X, trial.training_rows)
            nearest_rows = NearestRows.of(self.best_estimator_, X)
            if nearest_rows is not None:
                self.nearest_rows_ = nearest_rows

    @available_if(_can_predict)
    def predict(self, X: Table) -> Any:
        """Call predict on the best estimator.

        Clusterers without it, such as ``DBSCAN``, label new rows by the nearest training row: see
        :class:`~leavezero.unsupervised.NearestRows`.
        """
        best = self._fitted_best()
        return getattr(self, "nearest_rows_", best).predict(X)

    def score(self, X: Table, y: AnyArray | None = None, **params: Any) -> float:
        """Return the score of the best estimator on X and y, by the metric of the search.

        Scores without a target are those of training rows: the estimator's own is returned instead.
        """
        _best_estimator_has("fit")(self)
        estimator, scorer, name = self._fitted_best(), self.scorer_, SINGLE
        if self.multimetric_:
            if not isinstance(self.refit, str):
                raise ValueError(
                    f"score of {type(self).__name__} with several metrics requires refit to be the "
                    f"name of one, got {self.refit!r}."
                )
            name = self.refit
        if isinstance(scorer, dict):
            scorer = scorer[name]
        value = scorer(estimator, X, y, **route_score(self, params, name))
        return float(value[name] if isinstance(value, dict) else value)

    # scikit-learn's protocols

    def get_metadata_routing(self) -> Any:
        """Return the metadata router."""
        scoring = resolve_scoring(self.scoring, type(self).__name__)
        return make_router(self, self._estimators(), scoring)

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        state = {n: value for n, value in state.items() if n not in ("_state", "validation_set_")}
        if isinstance(self.augmenter, str) and state.get("augmenter_") is not None:
            state["augmenter_"] = clone(state["augmenter_"])  # fitted, it has training rows
        return state

    def __copy__(self) -> Self:
        copied = type(self).__new__(type(self))
        copied.__dict__.update(vars(self))  # unlike a pickle, with all data
        return copied

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        copied = self.__copy__()
        memo[id(self)] = copied
        if hasattr(self, "_state"):
            memo[id(self._state)] = self._state
        copied.__dict__.update({n: deepcopy(value, memo) for n, value in vars(self).items()})
        return copied


def common_params(values: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters that all searches have from the local variables of a constructor."""
    return {name: values[name] for name in inspect.signature(BaseSearchLZO).parameters}


def _training_replicates(estimator: Any, request: _Request) -> Replicates:
    """Return the labeled training rows in the role of a validation set."""
    X, y, labeled = request.X, request.target.values, request.target.labeled
    if labeled is not None:
        X, y = take_rows(X, labeled), y[labeled]
    classes = np.unique(y) if is_classifier(estimator) and y.ndim == 1 else None
    return Replicates(ValidationSet(X, y), 1, classes, fixed=True)


def _sample_rows(n_rows: int, limit: int, root: np.random.SeedSequence) -> Ints | None:
    """Return some row numbers, the same for all candidates; None if all are few enough."""
    limit = max(1_000, limit)
    if n_rows <= limit:
        return None
    return np.sort(stream(root, "some rows", limit).choice(n_rows, size=limit, replace=False))


# Tools check isinstance(search, BaseSearchCV); inheriting from it would bring its fit. The class is
# not public itself, but it is the base of the public GridSearchCV.
GridSearchCV.__base__.register(BaseSearchLZO)
