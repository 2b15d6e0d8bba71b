"""The search over every combination of a grid."""

from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid

from leavezero._typing import AnyArray, RandomState
from leavezero.engine import AllAtOnce, Planner, Strategy
from leavezero.search._base import BaseSearchLZO


class GridSearchLZO(BaseSearchLZO):
    """Choose the best of a grid of candidates, with one fit each and nothing held out.

    A validation set is drawn from the data by an augmenter. Every candidate is fitted once, on
    all the data, and scored on that set. The best model is kept as it is: nothing is refitted,
    so that C candidates cost C fits, where K-fold cross validation costs K * C + 1.

    Parameters
    ----------
    estimator : classifier or regressor
        What to fit, with scikit-learn's methods.
    param_grid : dict or list of dicts
        The values to try of each parameter, as for scikit-learn's ``GridSearchCV``. Equal
        candidates are fitted once. ``{}`` is the estimator as it is, one candidate.
    augmenter : "auto" or augmenter, default="auto"
        What draws the validation set. "auto" chooses by the kind of data, and adds reference
        models that calibrate the score where the candidates' fits are dear enough to pay for
        them; :class:`LabelInvariantMixup` is the paper's own.
    n_replicates : int or "auto", default=10
        How many independent validation sets are drawn; scores are averaged over them. "auto"
        draws one, then three, then ten, until the best candidate's lead over every other is
        beyond chance in drawing them (95 %, at whatever moment one looks); ``n_splits_`` says how
        many it took. It asks all models again, so it needs all candidates at once, no journal and
        no limits, and a metric that is a mean over rows: others take ten.
    validation_size : float or int, default=1.0
        The rows of one replicate: a float is a share of the given rows (all replicates together
        have at most 200,000 rows then), an int the number itself.
    unseen : "auto", "off" or "only", default="auto"
        Whether models are also judged by given rows as if they had not seen them, where a family
        knows how (see :mod:`leavezero.families`): "auto" hears both witnesses, "only" draws no
        validation set and leaves out candidates without one. No fit is added. With groups, or
        with rows of the user's own as validation set, "auto" hears the validation set alone.
    scoring : str, callable, list, dict or None, default=None
        The metric: the name of a scikit-learn scorer, or a callable ``scorer(estimator, X, y)``.
        A list of names, a dictionary of names and scorers, or a callable that returns a dictionary
        are several. None is the estimator's own, accuracy for classifiers and R2 for regressors.
    refit : bool, str or callable, default=True
        What the best is; nothing is fitted again. With several metrics the name of one, or a
        callable that takes ``cv_results_`` and returns a row. False keeps no model.
    select : "best", "one_se", "vote" or rule, default="best"
        How a metric chooses: the highest score; the simplest candidate within one standard error
        of it (see :class:`OneStandardError` for what simple means); or the candidate that is best
        in most replicates.
    confirm : int, "auto" or None, default=None
        At most so many candidates, those that cannot be told from the best, get folds too, and
        the mean of both scores decides among them. The model is still the one fitted to all rows.
        "auto" asks for the folds of five only where a finding of :meth:`trust` warns whose
        warnings are known to tell of a larger regret.
    confirm_cv : int or splitter, default=5
        The folds of ``confirm``; those of an int are shuffled.
    error_score : number or "raise", default=nan
        The score of a candidate that fails; it is never chosen.
    return_train_score : bool, default=False
        Whether to score the data themselves too.
    n_jobs : int or None, default=None
        The number of workers, as joblib reads it. Results do not depend on it: inside a fit BLAS
        and OpenMP use one thread.
    random_state : int, RandomState, Generator or None, default=None
        The seed of the validation set and of every ``random_state`` of None inside the
        estimator, which is the same for all candidates.
    verbose : int, default=0
        1 prints what draws the validation set, and why; 2 a line for each candidate; 3 the score
        on each replicate and the errors of those that failed. The logger "leavezero" hears the
        same at the levels INFO and DEBUG.
    journal : str, path, Journal or None, default=None
        A file that holds what is finished: the same call again goes on where the last one ended,
        and several processes of one host share the work. It needs a ``random_state`` of an int.
        :class:`leavezero.Journal` names types of models that may be read from it.
    timeout : float or None, default=None
        The seconds that a candidate may take to be fitted and scored. One that takes longer is
        ended and counts as failed, and the others go on. Candidates that are fitted together have
        so many seconds each, together. With any of these three limits candidates run in processes
        of their own on this machine, and one whose process dies is tried once more and counts as
        failed then; they need a system that forks.
    time_budget : float or None, default=None
        The seconds for the whole search but the start of its processes. When they are over, no
        candidate is begun, those at work are ended, and the best of the finished ones is chosen;
        the others count as failed.
    memory_limit : int, str or None, default=None
        The bytes that a candidate may take beyond what its process began with, as a number or as
        in "2GB". One that takes more is ended and counts as failed. Linux only.

    Attributes
    ----------
    best_estimator_ : estimator
        The best candidate, as it was fitted on all the data.
    best_params_ : dict
        Its parameters.
    best_score_ : float
        Its mean score over the replicates.
    best_index_ : int
        Its row in ``cv_results_``. Ties go to the smaller value of the alphabetically first
        parameter, whatever the order of the grid.
    cv_results_ : dict of arrays
        A row for each candidate, with scikit-learn's columns; ``split{r}_test_score`` is the
        score on replicate r. ``low_test_score`` and ``high_test_score`` are the ends of a 95 %
        interval over resamples of the given rows, or of V's where these have no origins; then it
        tells how far the score depends on the draw of V, and nothing of the risk.
        ``mean_augmented_score`` is V's plain word and ``mean_unseen_score`` that of rows the model
        has not seen, with its kind and a note where there is none; ``mean_test_score`` is what
        both make of it. With ``confirm``, ``mean_confirm_score`` is the folds' word, and the final
        score the mean of it and the others', or theirs moved by the mean difference.
    selection_ : Selection
        How the best was chosen and how clearly: ties, contenders, margin, and the best score
        without its luck on V.
    fits_ : dict
        The number of fits made by purpose: of candidates, of the models that label V's rows
        ("teacher"), and of folds ("confirm"). What a journal held is not counted; "again" are
        fits of a winner whose model it did not keep.
    n_fits_ : int
        Their sum.
    failures_ : dict
        Why candidates failed, by their row in ``cv_results_``: a traceback, the limit that they
        went over, or how their process ended.
    scorer_ : callable or dict
        The metric, called as ``scorer_(estimator, X, y)``; by name where there are several.
    n_splits_ : int
        The number of replicates.
    plan_ : tuple of Task
        What was fitted together: each task has the rows of its ``candidates`` in
        ``cv_results_`` and the ``family`` that shared their work, or None.
    draw_time_ : float
        The seconds in which the validation set was drawn, fits of teachers included.
    refit_time_ : float
        Always 0: nothing is fitted again.
    augmenter_ : augmenter or None
        What drew the validation set, fitted.
    validation_set_ : ValidationSet or None
        The rows of all replicates, one below the other; None with ``unseen="only"``.
    classes_ : array of shape (n_classes,)
        The classes of the best model.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : array of shape (n_features_in_,)
        The names of the columns, where X was a frame with string names.
    multimetric_ : bool
        Whether there are several metrics.

    See Also
    --------
    RandomizedSearchLZO, HalvingGridSearchLZO, OptunaSearchLZO : Other ways to propose candidates.
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
        self.param_grid = param_grid

    def _strategy(
        self, planner: Planner, target: AnyArray, root: np.random.SeedSequence
    ) -> Strategy:
        for params in ParameterGrid(self.param_grid):
            planner.candidate(self.estimator, params)
        if not planner.candidates:
            raise ValueError("GridSearchLZO got an empty grid. Name at least one candidate.")
        return AllAtOnce(planner.candidates)
