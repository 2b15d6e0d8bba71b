"""The search whose candidates Optuna proposes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from leavezero._random import integer_seed
from leavezero._typing import AnyArray, Params, RandomState
from leavezero.engine import Candidate, Planner, Record, Strategy, Trial
from leavezero.search._base import BaseSearchLZO
from leavezero.search._checks import is_count


@dataclass(eq=False)
class _Asked:
    """A trial of the study that waits for its score."""

    trial: Any
    candidate: Candidate
    row: int | None  # None if the candidate's score is known or on its way
    model: Any = None
    passes: int = 0


class OptunaStrategy:
    """Batches of trials, asked for together and told in the order in which they were asked for.

    Nothing here depends on which worker is first, so that proposals do not depend on their number.
    """

    def __init__(
        self,
        study: Any,
        propose: Callable[[Any], tuple[Any, Candidate]],
        *,
        n_trials: int,
        batch_size: int,
        n_passes: int | None,
    ) -> None:
        self._study = study
        self._propose = propose
        self._left = n_trials
        self._batch_size = batch_size
        self._n_passes = n_passes
        self._batch: list[_Asked] = []
        self._scores: dict[Any, float] = {}  # by candidate; NaN while on its way
        self.n_trials = n_trials

    def ask(self) -> Sequence[Trial]:
        """Return the next batch, or the next pass of those that go on."""
        while not any(asked.row is not None for asked in self._batch):
            self._tell_known()
            if self._left == 0:
                return []
            self._ask_study()
        return [self._trial(asked) for asked in self._batch if asked.row is not None]

    def tell(self, records: Sequence[Record]) -> None:
        """Tell the study; a score it knows already is told again for an equal candidate."""
        by_row = {record.trial.row: record for record in records}
        for asked in self._batch:
            if asked.row is None:
                continue
            record = by_row[asked.row]
            asked.passes += 1
            self._scores[asked.candidate.key] = record.main_score
            if self._n_passes is None or np.isnan(record.main_score):
                asked.row = None
            else:
                self._go_on(asked, record)
        if all(asked.row is None for asked in self._batch):
            self._tell_known()

    def _ask_study(self) -> None:
        size = min(self._batch_size, self._left)
        self._left -= size
        for _ in range(size):
            trial, candidate = self._propose(self._study)
            new = candidate.key not in self._scores
            self._batch.append(_Asked(trial, candidate, len(self._scores) if new else None))
            self._scores.setdefault(candidate.key, np.nan)

    def _trial(self, asked: _Asked) -> Trial:
        assert asked.row is not None
        if self._n_passes is None:
            return Trial(asked.candidate, asked.row)
        passes = asked.passes + 1
        return Trial(
            asked.candidate,
            asked.row,
            may_win=passes == self._n_passes,
            passes=passes,
            model=asked.model,
            columns={"n_passes": passes},
        )

    def _go_on(self, asked: _Asked, record: Record) -> None:
        """Report a pass, and end the trial if it was the last or the pruner says so."""
        from optuna.trial import TrialState

        asked.model = record.model
        asked.trial.report(record.main_score, step=asked.passes)
        if asked.passes == self._n_passes:
            asked.row = None
        elif asked.trial.should_prune():
            asked.row = None
            self._study.tell(asked.trial, state=TrialState.PRUNED)
            self._batch.remove(asked)

    def _tell_known(self) -> None:
        """Tell the study of a whole batch, in order."""
        from optuna.trial import TrialState

        for asked in self._batch:
            score = self._scores[asked.candidate.key]
            told = {"state": TrialState.FAIL} if np.isnan(score) else {"values": score}
            try:
                self._study.tell(asked.trial, **told)
            except RuntimeError as error:  # a grid is used up; the trial has been told
                if "Study.stop" not in str(error):
                    raise
                self._left = 0
        self._batch = []


class OptunaSearchLZO(BaseSearchLZO):
    """Let Optuna propose candidates, each fitted once on all the data and judged on the same V.

    Candidates are asked for in batches and told in order, so that the number of workers does not
    change what is proposed. It needs Optuna: ``pip install "leavezero[optuna]"``.

    Parameters
    ----------
    estimator : classifier or regressor
        What to fit, with scikit-learn's methods.
    param_distributions : dict or callable
        For each parameter one of ``optuna.distributions``, or a list of values. A callable takes
        an Optuna trial and returns the parameters.
    n_trials : int, default=20
        How many candidates are asked for. Equal ones are fitted once.
    batch_size : int, default=4
        How many are asked for before the first of them is told. More keep more workers busy, fewer
        let Optuna learn sooner; results depend on it and not on ``n_jobs``.
    sampler, pruner, storage, study_name
        As ``optuna.create_study`` takes them; a stored study of that name goes on. The default
        sampler is ``TPESampler`` with a seed from ``random_state``. With a pruner the estimator
        needs ``partial_fit``, and is trained pass by pass over the data.
    n_passes : int, default=10
        The number of passes of a candidate that is not pruned. Only with a pruner.
    study : optuna.Study or None, default=None
        A study to go on with, instead of the four above. It must maximise.
    augmenter, n_replicates, validation_size, unseen, scoring, refit, select, confirm, confirm_cv
        As for :class:`GridSearchLZO`; there must be a metric to tell Optuna.
    error_score, return_train_score, n_jobs, random_state, verbose, journal
        As for :class:`GridSearchLZO`.
    timeout, time_budget, memory_limit
        As for :class:`GridSearchLZO`.

    Attributes
    ----------
    study_ : optuna.Study
        The study with all its trials.
    cv_results_ : dict of arrays
        A row for each candidate. With a pruner ``n_passes`` tells how far it came; one that was
        pruned cannot win.
    best_estimator_, best_params_, best_score_, best_index_, selection_, fits_, n_fits_
        As for :class:`GridSearchLZO`.

    See Also
    --------
    RandomizedSearchLZO : Candidates drawn at random.

    Examples
    --------
    >>> import pytest
    >>> optuna = pytest.importorskip("optuna")
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
        pruner: Any = None,
        storage: Any = None,
        study_name: str | None = None,
        n_passes: int = 10,
        study: Any = None,
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
        super().__init__(
            estimator,
            augmenter=augmenter,
            n_replicates=n_replicates,
            validation_size=validation_size,
            unseen=unseen,
            scoring=scoring,
            refit=refit,
            select=select,
            confirm=confirm,
            confirm_cv=confirm_cv,
            error_score=error_score,
            return_train_score=return_train_score,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            journal=journal,
            timeout=timeout,
            time_budget=time_budget,
            memory_limit=memory_limit,
        )
        self.param_distributions = param_distributions
        self.n_trials = n_trials
        self.batch_size = batch_size
        self.sampler = sampler
        self.pruner = pruner
        self.storage = storage
        self.study_name = study_name
        self.n_passes = n_passes
        self.study = study

    def _strategy(
        self, planner: Planner, target: AnyArray, root: np.random.SeedSequence
    ) -> Strategy:
        self._check_numbers()
        self._check_journal()
        optuna = _import_optuna()
        self.study_ = self._study(optuna, root)
        distributions = _distributions(optuna, self.param_distributions)

        def propose(study: Any) -> tuple[Any, Candidate]:
            if distributions is None:
                trial = study.ask()
                params: Params = self.param_distributions(trial)
            else:
                trial = study.ask(distributions)
                params = trial.params
            return trial, planner.candidate(self.estimator, params)

        prunes = self.pruner is not None
        if prunes and not hasattr(self.estimator, "partial_fit"):
            raise ValueError(
                "pruner of OptunaSearchLZO needs an estimator with partial_fit, which "
                f"{self.estimator!r} has not. Set pruner=None."
            )
        return OptunaStrategy(
            self.study_,
            propose,
            n_trials=self.n_trials,
            batch_size=self.batch_size,
            n_passes=self.n_passes if prunes else None,
        )

    def _check_numbers(self) -> None:
        for name in ("n_trials", "batch_size", "n_passes"):
            value = getattr(self, name)
            if not is_count(value):
                raise ValueError(
                    f"{name} of OptunaSearchLZO must be a positive int, got {value!r}. Use 10."
                )
        one = self.scoring is None or isinstance(self.scoring, str) or callable(self.scoring)
        if not one and not isinstance(self.refit, str):
            raise ValueError(
                "OptunaSearchLZO tells Optuna one metric, and scoring has several. Set refit to "
                f"the name of one, got {self.refit!r}."
            )

    def _check_journal(self) -> None:
        """Raise where a journal could not repeat what Optuna proposed."""
        names = ("pruner", "storage", "study")
        given = [name for name in names if getattr(self, name) is not None]
        if self.journal is not None and given:
            raise ValueError(
                f"journal of OptunaSearchLZO must be None where {given[0]} is given: candidates "
                "are known by one fit on all rows, and proposed again from the seed. Optuna's "
                "storage keeps a study."
            )

    def _study(self, optuna: Any, root: np.random.SeedSequence) -> Any:
        if self.study is None:
            seed = integer_seed(root, "proposals")
            return optuna.create_study(
                direction="maximize",
                sampler=self.sampler or optuna.samplers.TPESampler(seed=seed),
                pruner=self.pruner,
                storage=self.storage,
                study_name=self.study_name,
                load_if_exists=self.study_name is not None,
            )
        if self.study.direction != optuna.study.StudyDirection.MAXIMIZE:
            raise ValueError(
                "study of OptunaSearchLZO must maximise, since a higher score is better. Make it "
                'with optuna.create_study(direction="maximize").'
            )
        return self.study


def _import_optuna() -> Any:
    try:
        import optuna
    except ImportError as error:
        raise ImportError(
            'OptunaSearchLZO needs Optuna. Install it with pip install "leavezero[optuna]".'
        ) from error
    return optuna


def _distributions(optuna: Any, given: Any) -> dict[str, Any] | None:
    """Return Optuna's distributions, lists made categorical; None where a callable proposes."""
    if callable(given):
        return None
    if not isinstance(given, Mapping):
        raise ValueError(
            "param_distributions of OptunaSearchLZO must be a dict of distributions of Optuna or "
            f"lists, or a callable that takes a trial, got {given!r}."
        )
    kinds, found = optuna.distributions, {}
    for name, values in given.items():
        if isinstance(values, list | tuple | np.ndarray):
            found[name] = kinds.CategoricalDistribution(list(values))
        elif isinstance(values, kinds.BaseDistribution):
            found[name] = values
        else:
            raise ValueError(
                f"param_distributions of OptunaSearchLZO must hold distributions of Optuna or "
                f"lists, got {name!r}: {values!r}. Use optuna.distributions.FloatDistribution."
            )
    return found
