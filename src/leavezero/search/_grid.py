"""Grid search."""

from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid

from leavezero._typing import AnyArray, RandomState
from leavezero.evaluation import CandidateFactory, SingleRound, Strategy
from leavezero.search._base import BaseSearchLZO


class GridSearchLZO(BaseSearchLZO):
    """Grid search with one fit per candidate and no held-out rows.

    A validation set is generated from the training data by an augmenter. Every candidate is fitted
    once, on all rows, and scored on that set. For many estimators the score also uses leave-one-out
    or out-of-bag predictions, computed from the same fit. The best fitted model is returned without
    refitting, so that C candidates take C fits, where K-fold cross-validation takes K * C + 1.

    Parameters
    ----------
    estimator : classifier or regressor
        An estimator with scikit-learn's interface.
    param_grid : dict or list of dicts
        The values of each parameter, as in ``GridSearchCV``. Equal candidates are fitted once.
        ``{}`` is the estimator as it is.
    augmenter : "auto" or augmenter, default="auto"
        What generates the validation set. "auto" chooses by the type of the data;
        :class:`LabelInvariantMixup` is the one of the paper.
    n_replicates : int, default=10
        The number of independent validation sets; scores are averaged over them.
    validation_size : "auto", float or int, default="auto"
        The number of rows of one replicate: a float is a share of the training rows, an int the
        number itself. "auto" is the number of training rows, but all replicates together have at
        most 10,000 rows.
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
        that takes ``cv_results_`` and returns a row. False keeps no estimator. Nothing is refitted.
    select : "best", "one_se", "vote" or rule, default="best"
        The selection rule: the highest score; the simplest candidate within one standard error of
        it (see :class:`OneStandardError`); or the candidate that is best in most replicates.
    cv_finalists : int, "auto" or None, default=None
        Cross-validate up to this many candidates that are statistically tied with the best, and
        select among them by the mean of both scores. "auto" cross-validates up to five, and only
        if a check of :meth:`diagnose` warns that is known to indicate a worse selection.
    cv : int, splitter or iterable, default=5
        The folds of ``cv_finalists``; those of an int are shuffled.
    error_score : "raise" or number, default=nan
        The score of a candidate that fails; it is never selected.
    return_train_score : bool, default=False
        Whether to add training scores to ``cv_results_``.
    n_jobs : int or None, default=None
        The number of workers of joblib. Results do not depend on it: inside a fit, BLAS and OpenMP
        use one thread.
    random_state : int, RandomState, Generator or None, default=None
        The seed of the validation set and of every ``random_state`` of None inside the estimator,
        which is the same for all candidates.
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
        running ones are terminated, and the best finished one is selected.
    memory_limit : int, str or None, default=None
        The maximum number of bytes that a candidate may use beyond what its process started with,
        as a number or as in "2GB". A candidate that uses more is terminated and counts as failed.

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
        One row per candidate, with the columns of ``GridSearchCV``. ``mean_validation_score`` is
        the score on the validation set, ``mean_loo_score`` the leave-one-out or out-of-bag score
        with its ``loo_method`` and a ``loo_note`` if there is none, and ``mean_test_score`` the
        validation score corrected by its bias, which is estimated from the LOO scores.
        ``split{r}_test_score`` refers to replicate r. ``low_test_score`` and ``high_test_score``
        are the ends of a 95 % bootstrap interval (see :class:`Selection` for what is resampled).
        ``mean_cv_score`` is the score of cross-validated finalists.
    selection_ : Selection
        How the best was selected and how clearly.
    fit_counts_ : dict
        The number of fits by purpose: "candidate", "auxiliary" (models that label or weight the
        validation set), "cv" (folds of finalists) and "refit" (a winner whose fitted model was not
        available, such as after a resume).
    n_fits_ : int
        Their sum.
    failures_ : dict
        Tracebacks of failed candidates by their row in ``cv_results_``.
    scorer_ : callable or dict
        The scorer, or a dict of scorers.
    n_splits_ : int
        The number of replicates.
    tasks_ : tuple of JointTask
        The candidates that were fitted jointly.
    augment_time_ : float
        Seconds to generate the validation set.
    refit_time_ : float
        Seconds to fit the winner again; 0 if it was not.
    augmenter_ : augmenter or None
        The fitted augmenter.
    validation_set_ : ValidationSet or None
        The rows of all replicates; None with ``loo="only"``.
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
        cv_finalists: int | str | None = None,
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
    ) -> None:
        super().__init__(
            augmenter=augmenter,
            n_replicates=n_replicates,
            validation_size=validation_size,
            loo=loo,
            scoring=scoring,
            refit=refit,
            select=select,
            cv_finalists=cv_finalists,
            cv=cv,
            error_score=error_score,
            return_train_score=return_train_score,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            checkpoint=checkpoint,
            timeout=timeout,
            time_budget=time_budget,
            memory_limit=memory_limit,
        )
        self.estimator = estimator
        self.param_grid = param_grid

    def _strategy(
        self, factory: CandidateFactory, y: AnyArray, root: np.random.SeedSequence
    ) -> Strategy:
        for params in ParameterGrid(self.param_grid):
            factory.candidate(self.estimator, params)
        if not factory.candidates:
            raise ValueError("param_grid of GridSearchLZO must contain at least one candidate.")
        return SingleRound(factory.candidates)
