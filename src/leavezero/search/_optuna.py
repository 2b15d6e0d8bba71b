"""Search with candidates proposed by Optuna."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from leavezero._random import integer_seed
from leavezero._typing import AnyArray, Params, RandomState
from leavezero.evaluation import Candidate, CandidateFactory, CandidateResult, Strategy, Trial
from leavezero.search._base import BaseSearchLZO, common_params
from leavezero.search._messages import check_parameter, is_count


class OptunaStrategy:
    """Batches of trials; results are reported in the order in which trials were proposed.

    Therefore proposals do not depend on the number of workers.
    """

    def __init__(
        self,
        study: Any,
        propose: Callable[[Any], tuple[Any, Candidate]],
        n_trials: int,
        batch_size: int,
    ) -> None:
        self._study = study
        self._propose = propose
        self._n_left = n_trials
        self._batch_size = batch_size
        self._batch: list[tuple[Any, Candidate]] = []  # trials of the study that have no score yet
        self._scores: dict[Any, float] = {}  # by candidate; NaN while being computed
        self.n_trials = n_trials

    def ask(self) -> Sequence[Trial]:
        """Return the new candidates of the next batch that has any."""
        new: list[Trial] = []
        while not new and self._n_left:
            self._report_batch()
            size = min(self._batch_size, self._n_left)
            self._n_left -= size
            for _ in range(size):
                trial, candidate = self._propose(self._study)
                if candidate.key not in self._scores:
                    new.append(Trial(candidate, len(self._scores)))
                self._batch.append((trial, candidate))
                self._scores.setdefault(candidate.key, np.nan)
        if not new:
            self._report_batch()
        return new

    def tell(self, results: Sequence[CandidateResult]) -> None:
        """Record the scores; equal candidates get the same score."""
        for result in results:
            self._scores[result.trial.candidate.key] = result.main_score
        self._report_batch()

    def _report_batch(self) -> None:
        from optuna.trial import TrialState

        for trial, candidate in self._batch:
            score = self._scores[candidate.key]
            outcome = {"state": TrialState.FAIL} if np.isnan(score) else {"values": score}
            try:
                self._study.tell(trial, **outcome)
            except RuntimeError as error:  # an exhausted grid; the trial has been recorded
                if "Study.stop" not in str(error):
                    raise
                self._n_left = 0
        self._batch = []


class OptunaSearchLZO(BaseSearchLZO):
    """Search with candidates proposed by Optuna, with one fit per candidate.

    Candidates are proposed in batches, so that the number of workers does not change them. It
    requires Optuna: ``pip install "leavezero[optuna]"``.

    Parameters
    ----------
    estimator : classifier or regressor
        An estimator with scikit-learn's interface.
    param_distributions : dict or callable
        For each parameter one of ``optuna.distributions``, or a list of values. A callable takes
        an Optuna trial and returns the parameters.
    n_trials : int, default=20
        The number of trials. Equal candidates are fitted once.
    batch_size : int, default=4
        The number of candidates proposed at a time. Larger batches keep more workers busy, smaller
        ones let Optuna adapt sooner; results depend on it and not on ``n_jobs``.
    sampler, storage, study_name
        See ``optuna.create_study``; a stored study of that name continues. The default sampler is
        ``TPESampler`` with a seed from ``random_state``.
    study : optuna.Study or None, default=None
        An existing study to continue instead of the three above. It must maximize.
    {common}

    Attributes
    ----------
    study_ : optuna.Study
        The study with all its trials.
    cv_results_ : dict of arrays
        One row per candidate.
    best_estimator_, best_params_, best_score_, best_index_, selection_
        See :class:`GridSearchLZO`, also for further attributes.

    See Also
    --------
    RandomizedSearchLZO : Candidates sampled at random.

    Examples
    --------
    >>> import optuna
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from leavezero import OptunaSearchLZO
    >>> X, y = load_iris(return_X_y=True)
    >>> space = {"C": optuna.distributions.FloatDistribution(0.01, 100, log=True)}
    >>> search = OptunaSearchLZO(SVC(), space, n_trials=6, random_state=0).fit(X, y)
    >>> search.n_fits_, len(search.study_.trials)
    (6, 6)
    """

    def __init__(
        self,
        estimator: Any,
        param_distributions: Any,
        *,
        n_trials: int = 20,
        batch_size: int = 4,
        sampler: Any = None,
        storage: Any = None,
        study_name: str | None = None,
        study: Any = None,
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
        super().__init__(**common_params(locals()))
        self.estimator = estimator
        self.param_distributions = param_distributions
        self.n_trials = n_trials
        self.batch_size = batch_size
        self.sampler = sampler
        self.storage = storage
        self.study_name = study_name
        self.study = study

    def _strategy(
        self, factory: CandidateFactory, y: AnyArray, root: np.random.SeedSequence
    ) -> Strategy:
        self._check_options()
        try:
            import optuna
        except ImportError as error:
            raise ImportError(
                'OptunaSearchLZO requires Optuna: pip install "leavezero[optuna]".'
            ) from error
        self.study_ = self._study(optuna, root)
        distributions = self._distributions(optuna)

        def propose(study: Any) -> tuple[Any, Candidate]:
            if distributions is None:
                trial = study.ask()
                params: Params = self.param_distributions(trial)
            else:
                trial = study.ask(distributions)
                params = trial.params
            return trial, factory.candidate(self.estimator, params)

        return OptunaStrategy(self.study_, propose, self.n_trials, self.batch_size)

    def _check_options(self) -> None:
        for name in ("n_trials", "batch_size"):
            check_parameter(self, name, is_count(getattr(self, name)), "a positive int")
        one = self.scoring is None or isinstance(self.scoring, str) or callable(self.scoring)
        is_valid = one or isinstance(self.refit, str)
        check_parameter(self, "refit", is_valid, "the name of one of several metrics")
        conflicts = [n for n in ("storage", "study") if getattr(self, n) is not None]
        if self.checkpoint is not None and conflicts:
            raise ValueError(
                f"checkpoint of OptunaSearchLZO must be None if {conflicts[0]} is set. A storage "
                "of Optuna keeps a study."
            )

    def _study(self, optuna: Any, root: np.random.SeedSequence) -> Any:
        if self.study is None:
            seed = integer_seed(root, "proposals")
            return optuna.create_study(
                direction="maximize",
                sampler=self.sampler or optuna.samplers.TPESampler(seed=seed),
                storage=self.storage,
                study_name=self.study_name,
                load_if_exists=self.study_name is not None,
            )
        if self.study.direction != optuna.study.StudyDirection.MAXIMIZE:
            raise ValueError(
                "study of OptunaSearchLZO must maximize: use "
                'optuna.create_study(direction="maximize").'
            )
        return self.study

    def _distributions(self, optuna: Any) -> dict[str, Any] | None:
        """Return Optuna's distributions, lists as categorical ones; None for a callable."""
        space, types = self.param_distributions, optuna.distributions
        if callable(space):
            return None
        is_valid = isinstance(space, Mapping) and all(
            isinstance(values, list | tuple | np.ndarray | types.BaseDistribution)
            for values in space.values()
        )
        required = "a dict of Optuna distributions or lists, or a callable that takes a trial"
        check_parameter(self, "param_distributions", is_valid, required)
        return {
            name: values
            if isinstance(values, types.BaseDistribution)
            else types.CategoricalDistribution(list(values))
            for name, values in space.items()
        }
