"""Metrics and augmenters by the names that the command line takes."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import (
    f1_score,
    get_scorer,
    get_scorer_names,
    jaccard_score,
    make_scorer,
    precision_score,
    recall_score,
)

from leavezero.augment import (
    AugmenterUnion,
    CopulaAugmenter,
    GaussianAugmenter,
    GaussianMixtureAugmenter,
    LabelInvariantMixup,
    NeighborMixup,
    SoftLabeled,
)
from leavezero.tabular._errors import TableError
from leavezero.tabular._schema import Schema
from leavezero.tabular._target import Target
from leavezero.tabular._words import did_you_mean

AUGMENTERS: dict[str, Callable[[], Any]] = {
    "auto": lambda: "auto",
    "mixup": LabelInvariantMixup,
    "neighbor-mixup": NeighborMixup,
    "gaussian": GaussianAugmenter,
    "gaussian-mixture": GaussianMixtureAugmenter,
    "copula": CopulaAugmenter,
    "portfolio": lambda: AugmenterUnion([GaussianMixtureAugmenter(), CopulaAugmenter()]),
    "teacher-copula": lambda: SoftLabeled(CopulaAugmenter()),
}
_NUMBERS_ONLY = ("gaussian", "gaussian-mixture", "portfolio")
_HOLDS: dict[str, str] = {"category": "categories", "text": "text", "date": "dates"}
_ONE_CLASS: dict[str, Any] = {
    "f1": f1_score,
    "precision": precision_score,
    "recall": recall_score,
    "jaccard": jaccard_score,
}
_DEFAULT = {"classification": "accuracy", "regression": "r2"}


def named_augmenter(name: str) -> Any:
    """Return what draws V.

    Parameters
    ----------
    name : str
        As the option ``--augmenter`` takes it.

    Examples
    --------
    >>> from leavezero.tabular import named_augmenter
    >>> named_augmenter("copula")
    CopulaAugmenter()
    """
    if name not in AUGMENTERS:
        known = tuple(AUGMENTERS)
        hint = did_you_mean(name, known, len(known))
        raise TableError(f"--augmenter {name!r} is unknown. {hint}")
    return AUGMENTERS[name]()


def refuse_augmenter(name: str, schema: Schema, X: Any) -> None:
    """Raise if an augmenter takes complete numbers only, and a table has something else."""
    if name not in _NUMBERS_ONLY:
        return
    for column in schema.used:
        what = _HOLDS.get(column.kind, "missing cells" if X[column.name].isna().any() else None)
        if what is not None:
            raise TableError(
                f"--augmenter {name} takes complete numbers only, and column {column.name!r} "
                f"holds {what}. Use --augmenter copula."
            )


def named_metric(name: str | None, target: Target) -> tuple[str, Any, list[str]]:
    """Return a metric's name, what computes it, and what there is to say about it.

    Parameters
    ----------
    name : str or None
        The name of one of scikit-learn's scorers; None is accuracy, or R2 for numbers.
    target : Target
        What is to be predicted.

    Returns
    -------
    name : str
        The metric.
    scoring : str or callable
        What a search takes.
    notices : list of str
        Which of two classes a metric looks for.

    Examples
    --------
    >>> import pandas as pd
    >>> from leavezero.tabular import decide_target, named_metric
    >>> target = decide_target(pd.DataFrame({"y": ["no", "yes"]}), "y")
    >>> named_metric("f1", target)[2]
    ["f1 looks for the class 'yes'."]
    """
    if name is None:
        name = _DEFAULT[target.task]
    if name not in get_scorer_names():
        raise TableError(f"--metric {name!r} is unknown. {did_you_mean(name, get_scorer_names())}")
    classes = target.classes
    if name not in _ONE_CLASS or classes is None:
        _refuse_unfit(name, target)
        return name, name, []
    if len(classes) > 2:
        raise TableError(
            f"--metric {name} looks for one of two classes, and the target has {len(classes)}. "
            f"Use {name}_macro or {name}_weighted."
        )
    scorer = make_scorer(_ONE_CLASS[name], pos_label=classes[1], zero_division=0)
    return name, scorer, [f"{name} looks for the class {classes[1]!r}."]


def _refuse_unfit(name: str, target: Target) -> None:
    """Raise if a metric has no word for such a target; a model that guesses tells soon."""
    classes = target.task == "classification"
    guesser = DummyClassifier(strategy="prior") if classes else DummyRegressor()
    X = np.zeros((len(target.values), 1))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            get_scorer(name)(guesser.fit(X, target.values), X, target.values)
    except (AttributeError, ValueError) as error:
        known = "accuracy, balanced_accuracy or neg_log_loss" if classes else "r2 or max_error"
        raise TableError(
            f"--metric {name} does not suit a {target.task}: "
            f"{str(error).partition(chr(10))[0].rstrip('.')}. Use {known}, for example."
        ) from error
