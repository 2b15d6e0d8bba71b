"""The search over candidates drawn from distributions."""

import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterSampler

from leavezero._random import integer_seed
from leavezero._typing import AnyArray, RandomState
from leavezero._warning import warn_caller
from leavezero.engine import AllAtOnce, Planner, Strategy
from leavezero.search._base import BaseSearchLZO
from leavezero.search._checks import is_count


class RandomizedSearchLZO(BaseSearchLZO):
    """Choose the best of candidates drawn at random, with one fit each and nothing held out.

    As :class:`GridSearchLZO`, but the candidates are drawn from lists and distributions, as in
    scikit-learn's ``RandomizedSearchCV``.

    Parameters
    ----------
    estimator : classifier or regressor
        What to fit, with scikit-learn's methods.
    param_distributions : dict or list of dicts
        For each parameter a list of values, or a distribution with ``rvs`` such as those of
        ``scipy.stats``.
    n_iter : int, default=10
        How many candidates are drawn. Equal ones are fitted once.
    augmenter, n_replicates, validation_size, unseen, scoring, refit, select, confirm, confirm_cv
        As for :class:`GridSearchLZO`.
    error_score, return_train_score, n_jobs, verbose, journal
        As for :class:`GridSearchLZO`.
    timeout, time_budget, memory_limit
        As for :class:`GridSearchLZO`.
    random_state : int, RandomState, Generator or None, default=None
        The seed of the candidates, of the validation set and of every ``random_state`` of None
        inside the estimator.

    Attributes
    ----------
    best_estimator_, best_params_, best_score_, best_index_, selection_, cv_results_
        As for :class:`GridSearchLZO`.
    fits_, n_fits_, augmenter_, validation_set_, scorer_, classes_, n_features_in_, multimetric_
        As for :class:`GridSearchLZO`.

    See Also
    --------
    GridSearchLZO : Every combination of a grid.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from leavezero import RandomizedSearchLZO
    >>> X, y = load_iris(return_X_y=True)
    >>> search = RandomizedSearchLZO(SVC(), {"C": loguniform(0.01, 100)}, n_iter=4, random_state=0)
    >>> search.fit(X, y).n_fits_
    4
    """

    def __init__(
        self,
        estimator: Any,
        param_distributions: Any,
        *,
        n_iter: int = 10,
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
        self.n_iter = n_iter

    def _strategy(
        self, planner: Planner, target: AnyArray, root: np.random.SeedSequence
    ) -> Strategy:
        if not is_count(self.n_iter):
            raise ValueError(
                f"n_iter of RandomizedSearchLZO must be a positive int, got {self.n_iter!r}. "
                "Use 10 for ten candidates."
            )
        seed = integer_seed(root, "proposals")
        for params in sampled(self.param_distributions, self.n_iter, seed, "n_iter", self):
            planner.candidate(self.estimator, params)
        return AllAtOnce(planner.candidates)


def sampled(space: Any, n_wanted: int, seed: int, name: str, search: Any) -> list[dict[str, Any]]:
    """Return parameters drawn from a space; all of them where it has fewer, with a warning."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The total space of parameters")  # names GridSearchCV
        found = list(ParameterSampler(space, n_wanted, random_state=seed))
    if len(found) < n_wanted:
        warn_caller(
            f"{name} of {type(search).__name__} is {n_wanted}, and there are {len(found)} "
            "candidates: all are tried, as GridSearchLZO does without a number.",
        )
    return found
