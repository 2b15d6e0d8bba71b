"""Grid search, randomized search, and search over several estimators."""

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.model_selection import ParameterGrid, ParameterSampler

from leavezero._random import integer_seed
from leavezero._typing import AnyArray, RandomState
from leavezero._warnings import warn_caller
from leavezero.evaluation import ESTIMATOR, CandidateFactory, SingleRound, Strategy
from leavezero.search._base import BaseSearchLZO, common_params
from leavezero.search._messages import check_parameter, is_count

NAME = "candidate"  # the parameter that holds an estimator's name in cv_results_


class GridSearchLZO(BaseSearchLZO):
    """Grid search with one fit per candidate instead of cross-validation.

    Every candidate is fitted once, on all rows, and scored on a validation set that an augmenter
    generates from the training data. The bias of this score is estimated from leave-one-out or
    out-of-bag predictions, which many estimators provide from the same fit. The best fitted model
    is returned without refitting, so that C candidates take C fits, where K-fold cross-validation
    takes K * C + 1. Of model types without such predictions (trees, boosting, neural networks), a
    few candidates are cross-validated in addition.

    Parameters
    ----------
    estimator : estimator
        A classifier or regressor with scikit-learn's interface, or, without y, a clusterer, density
        model, decomposition or outlier detector.
    param_grid : dict or list of dicts
        The values of each parameter, as in ``GridSearchCV``. Equal candidates are fitted once.
        ``{}`` is the estimator as it is.
    {common}

    Attributes
    ----------
    best_estimator_ : estimator
        The best candidate, fitted on all rows.
    best_params_ : dict
        Its parameters.
    best_score_ : float
        Its ``mean_test_score``.
    best_index_ : int
        Its row in ``cv_results_``. Ties go to the smaller value of the alphabetically first
        parameter, whatever the order of the grid.
    cv_results_ : dict of arrays
        One row per candidate, with the columns of ``GridSearchCV`` and these:

        - ``mean_test_score``: the validation score minus its estimated bias, by which the best
          candidate is selected.
        - ``mean_validation_score``: the score on the validation set.
        - ``mean_loo_score``: the leave-one-out or out-of-bag score, with its ``loo_method``; NaN if
          there is none, for the reason in ``loo_note``.
        - ``mean_cv_score``: the mean score on folds; NaN if the candidate was not cross-validated.
        - ``split{r}_test_score``: the score on replicate r, shifted by the same correction.
        - ``low_test_score``, ``high_test_score``: a 95 % interval for the score on new data (see
          ``new_data_low`` of :class:`Selection` for what it leaves out).
    selection_ : Selection
        How the best was selected and how clearly.
    fit_counts_ : dict
        The number of fits by purpose: "candidate", "auxiliary" (models that label or weight the
        validation set), "cv" (folds of some candidates) and "refit" (the best candidate, if its
        fitted model is not available, such as after a resume).
    n_fits_ : int
        Their sum.
    failures_ : dict
        Tracebacks of failed candidates by their row in ``cv_results_``.
    scorer_ : callable or dict
        The scorer, or a dict of scorers.
    n_splits_ : int
        The number of replicates, or of folds if these alone score the candidates.
    tasks_ : tuple of JointTask
        The candidates that were fitted jointly.
    augment_time_ : float
        Seconds to generate the validation set.
    refit_time_ : float
        Seconds to fit the best candidate again; 0 if it was not.
    augmenter_ : augmenter or None
        The fitted augmenter. That of "auto" is not fitted after pickling, as it has training rows.
    validation_set_ : ValidationSet or None
        The rows of all replicates; None with ``loo="only"``. Pickles leave it out.
    classes_ : array of shape (n_classes,)
        Class labels of the best estimator.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of features seen during fit, if X has string column names.
    multimetric_ : bool
        Whether there are several metrics.

    See Also
    --------
    RandomizedSearchLZO, HalvingGridSearchLZO, OptunaSearchLZO : Other strategies.
    CandidateSearchLZO : Several estimators in one search.
    leave_zero_out_score : The scores of one estimator.

    References
    ----------
    W. Li, C. Geng, S. Chen. Leave Zero Out: Towards a No-Cross-Validation Approach for Model
    Selection. arXiv:2012.13309, 2020. Algorithm 1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from leavezero import GridSearchLZO
    >>> X, y = load_iris(return_X_y=True)
    >>> search = GridSearchLZO(SVC(kernel="linear"), {"C": [0.01, 1, 100]}, random_state=0)
    >>> search.fit(X, y).n_fits_
    3
    >>> search.predict(X[:3])
    array([0, 0, 0])
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
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
        super().__init__(**common_params(locals()))
        self.estimator = estimator
        self.param_grid = param_grid

    def _strategy(
        self, factory: CandidateFactory, y: AnyArray, root: np.random.SeedSequence
    ) -> Strategy:
        for params in ParameterGrid(self.param_grid):
            factory.candidate(self.estimator, params)
        has_candidates = bool(factory.candidates)
        check_parameter(self, "param_grid", has_candidates, "a grid of at least one candidate")
        return SingleRound(factory.candidates)


class RandomizedSearchLZO(BaseSearchLZO):
    """Search over sampled candidates, with one fit per candidate and no held-out rows.

    Like :class:`GridSearchLZO`, but the candidates are sampled from lists and distributions, as in
    ``RandomizedSearchCV``.

    Parameters
    ----------
    estimator : classifier or regressor
        An estimator with scikit-learn's interface.
    param_distributions : dict or list of dicts
        For each parameter a list of values or a distribution with ``rvs``, such as those of
        ``scipy.stats``.
    n_iter : int, default=10
        The number of candidates that are sampled. Equal ones are fitted once. With an int as
        ``random_state`` they are those of ``RandomizedSearchCV``; with None they differ from call
        to call.
    {common}

    Attributes
    ----------
    best_estimator_, best_params_, best_score_, best_index_, selection_, cv_results_
        See :class:`GridSearchLZO`, also for further attributes.

    See Also
    --------
    GridSearchLZO : All combinations of a grid.

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
        self.n_iter = n_iter

    def _strategy(
        self, factory: CandidateFactory, y: AnyArray, root: np.random.SeedSequence
    ) -> Strategy:
        check_parameter(self, "n_iter", is_count(self.n_iter), "a positive int")
        for params in sample_params(self.param_distributions, self.n_iter, root, "n_iter", self):
            factory.candidate(self.estimator, params)
        return SingleRound(factory.candidates)


def sample_params(
    space: Any, n_params: int, root: np.random.SeedSequence, name: str, search: Any
) -> list[dict[str, Any]]:
    """Return sampled parameters; all of them, with a warning, if there are fewer.

    With an int or None as ``random_state`` they are those of ``RandomizedSearchCV``.
    """
    seed = search.random_state
    if seed is not None and not (is_count(seed, 0) and seed < 2**32):
        seed = integer_seed(root, "proposals")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The total space of parameters")  # names GridSearchCV
        params = list(ParameterSampler(space, n_params, random_state=seed))
    if len(params) < n_params:
        warn_caller(
            f"{name} of {type(search).__name__} is {n_params}, but there are only {len(params)} "
            "candidates; all of them are evaluated."
        )
    return params


class CandidateSearchLZO(BaseSearchLZO):
    """Search over named estimators, each with its own grid or as it is.

    This is the candidate set Q of the paper: all candidates are fitted once, on all rows, and
    scored on the same validation set.

    Parameters
    ----------
    candidates : dict
        Maps names to an estimator, or to a pair of an estimator and a grid as in
        :class:`GridSearchLZO`. All are classifiers or all are regressors.
    {common}

    Attributes
    ----------
    best_params_ : dict
        The best estimator's name as "candidate", and the parameters of its grid.
    cv_results_ : dict of arrays
        One row per candidate; ``param_candidate`` is the estimator's name.
    best_estimator_, best_score_, best_index_, selection_
        See :class:`GridSearchLZO`, also for further attributes.

    See Also
    --------
    GridSearchLZO : One estimator.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.svm import SVC
    >>> from leavezero import CandidateSearchLZO
    >>> X, y = load_iris(return_X_y=True)
    >>> candidates = {"svm": (SVC(), {"C": [0.001, 1.0]}), "bayes": GaussianNB()}
    >>> search = CandidateSearchLZO(candidates, random_state=0).fit(X, y)
    >>> search.cv_results_["params"]
    [{'candidate': 'svm', 'C': 0.001}, {'candidate': 'svm', 'C': 1.0}, {'candidate': 'bayes'}]
    """

    def __init__(
        self,
        candidates: Any,
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
        super().__init__(**common_params(locals()))
        self.candidates = candidates

    def _representative(self) -> Any:
        return next(self._listed())[1]

    def _estimators(self) -> dict[str, Any]:
        return {f"{ESTIMATOR}_{name}": estimator for name, estimator, _ in self._listed()}

    def _listed(self) -> Iterator[tuple[str, Any, Any]]:
        """Yield the name, the estimator and the grid of each candidate."""
        required = "a dict that maps strings to estimators or to pairs of estimator and grid"
        is_dict = isinstance(self.candidates, Mapping) and len(self.candidates) > 0
        check_parameter(self, "candidates", is_dict, required)
        for name, value in self.candidates.items():
            pair = value if isinstance(value, tuple | list) else (value, {})
            is_valid = isinstance(name, str) and len(pair) == 2 and hasattr(pair[0], "fit")
            check_parameter(self, "candidates", is_valid, required)
            yield name, *pair

    def _strategy(
        self, factory: CandidateFactory, y: AnyArray, root: np.random.SeedSequence
    ) -> Strategy:
        self._check_types()
        for name, estimator, grid in self._listed():
            for params in ParameterGrid(grid):
                if NAME in params:
                    raise ValueError(
                        f"The grid of {name!r} must not contain the parameter {NAME!r}, which "
                        "holds the estimators' names."
                    )
                factory.candidate(estimator, params, {NAME: name, **params}, f"{ESTIMATOR}_{name}")
        return SingleRound(factory.candidates)

    def _check_types(self) -> None:
        for has_type in (is_classifier, is_regressor):
            types = {name: has_type(estimator) for name, estimator, _ in self._listed()}
            if len(set(types.values())) > 1:
                raise ValueError(
                    "candidates of CandidateSearchLZO must be all classifiers or all regressors, "
                    f"got a mixture: {', '.join(types)}."
                )
