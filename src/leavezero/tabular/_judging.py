"""Whether a metric can judge the rows that a comparison holds back."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import get_scorer

from leavezero._typing import AnyArray
from leavezero.tabular._errors import TableError
from leavezero.tabular._preparation import Prepared
from leavezero.tabular._split import Plan
from leavezero.tabular._target import Task

_ADVICE: dict[Task, str] = {
    "classification": "accuracy or balanced_accuracy, or leave out classes of few rows",
    "regression": "neg_mean_absolute_error, or hold back more rows in fewer folds",
}


def refuse_unjudged(prepared: Prepared, plan: Plan) -> None:
    """Raise if a model that guesses has no score on the rows held back or on a fold."""
    scorer, task = get_scorer(prepared.scoring), prepared.target.task
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a class with fewer rows than folds is told before
        for where, learned, judged in _parts(prepared.target.values, plan):
            reason = _trouble(scorer, task, learned, judged)
            if reason:
                raise TableError(
                    f"--metric {prepared.metric} cannot judge {where}: {reason}. "
                    f"Use {_ADVICE[task]}."
                )


def _parts(y: AnyArray, plan: Plan) -> Iterator[tuple[str, AnyArray, AnyArray]]:
    """Yield targets to learn from and to judge by, and what the latter are called."""
    inside = y[plan.inside]
    yield "the rows held back", inside, y[plan.outside]
    for learned, judged in plan.folds.split(np.zeros((len(inside), 1)), inside):
        yield f"each of the {plan.folds.n_splits} folds", inside[learned], inside[judged]


def _trouble(scorer: Any, task: Task, learned: AnyArray, judged: AnyArray) -> str:
    """Return why there is no score; empty if there is one."""
    guesser = DummyRegressor() if task == "regression" else DummyClassifier(strategy="prior")
    reason = "its score there is no number"
    try:
        guesser.fit(np.zeros((len(learned), 1)), learned)
        if np.isfinite(scorer(guesser, np.zeros((len(judged), 1)), judged)):
            return ""
    except ValueError as error:
        reason = str(error).partition("\n")[0].rstrip(".")
    return _lacking(task, learned, judged) or reason


def _lacking(task: Task, learned: AnyArray, judged: AnyArray) -> str:
    """Return which class is in one part only; empty if none is."""
    if task == "regression":
        return ""
    unknown, absent = np.setdiff1d(judged, learned), np.setdiff1d(learned, judged)
    if len(unknown):
        return f"class {str(unknown[0])!r} is not among the rows to learn from"
    return f"class {str(absent[0])!r} is not there" if len(absent) else ""
