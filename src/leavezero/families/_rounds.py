"""XGBoost and LightGBM whose number of rounds is all that differs: the largest is boosted once."""

import copy
import sys
from typing import Any

import numpy as np

from leavezero._typing import AnyArray, Floats, Table
from leavezero.families._base import Family
from leavezero.families._together import fit_each, fit_one, settings_key

KINDS = {
    "xgboost": ("XGBClassifier", "XGBRegressor"),
    "lightgbm": ("LGBMClassifier", "LGBMRegressor"),
}
# What may be given by name beside LightGBM's own parameters: the same for every round.
STEADY = {
    "bagging_fraction",
    "bagging_freq",
    "deterministic",
    "extra_trees",
    "feature_fraction",
    "force_col_wise",
    "force_row_wise",
    "lambda_l1",
    "lambda_l2",
    "max_bin",
    "min_data_in_leaf",
    "num_threads",
    "path_smooth",
    "seed",
    "verbose",
    "verbosity",
}


class RoundsFamily(Family):
    """XGBoost and LightGBM: a model with few rounds is the beginning of one with more.

    Neither package is imported here. The models equal plain fits bit for bit, so that each answers
    for V by itself. What may end early, forgets rounds or is not built round by round is fitted
    plainly. Nothing is known of rows that a model has not seen.
    """

    name = "rounds"

    def covers(self, estimator: Any) -> bool:
        """Tell whether the estimator is one of the two packages' own classes."""
        return _package(estimator) is not None

    def shares(self, estimator: Any) -> Any:
        """Return all parameters but the number of rounds; None if rounds do not nest."""
        nests = _xgboost_nests if _package(estimator) == "xgboost" else _lightgbm_nests
        seeded = isinstance(estimator.random_state, int | np.integer | None)
        if not seeded or not nests(estimator):
            return None
        return settings_key(estimator, "n_estimators")

    def fit_many(
        self, estimators: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> None:
        """Boost the largest once, and give the others its first rounds; equal bit for bit."""
        if not all(_is_count(_rounds(one)) for one in estimators):
            fit_each(estimators, X, y, sample_weight)
            return
        largest = max(estimators, key=_rounds)
        settings = dict(vars(largest))
        fit_one(largest, X, y, sample_weight)
        others = [one for one in estimators if one is not largest]
        if not _can_be_cut(largest):
            fit_each(others, X, y, sample_weight)
            return
        learned = [
            name
            for name, value in vars(largest).items()
            if name not in settings or settings[name] is not value
        ]
        for estimator in others:
            _hand_on_rounds(largest, estimator, learned)


def _package(estimator: Any) -> str | None:
    """Return the package whose class, not a subclass, an estimator is of; None for others."""
    kind = type(estimator)
    name = kind.__module__.partition(".")[0]
    own = kind.__name__ in KINDS.get(name, ())
    return name if own and getattr(sys.modules.get(name), kind.__name__, None) is kind else None


def _xgboost_nests(estimator: Any) -> bool:
    """Tell whether the first rounds of an XGBoost model do not depend on how many follow."""
    asked = estimator.get_params(deep=False).get
    return (
        asked("booster") in (None, "gbtree")  # dart drops rounds, gblinear has none to take
        and asked("num_parallel_tree") in (None, 1)
        and asked("device") in (None, "cpu")
        and asked("early_stopping_rounds") is None
        and asked("callbacks") is None
        and not getattr(estimator, "kwargs", None)  # parameters that it does not know by name
    )


def _lightgbm_nests(estimator: Any) -> bool:
    """Tell whether the first rounds of a LightGBM model do not depend on how many follow."""
    parameters = estimator.get_params(deep=False)
    named = type(estimator)().get_params(deep=False).keys()
    return estimator.boosting_type == "gbdt" and parameters.keys() - named <= STEADY


def _rounds(estimator: Any) -> Any:
    if _package(estimator) == "xgboost":
        return estimator.get_num_boosting_rounds()  # None is a default
    return estimator.n_estimators


def _is_count(rounds: Any) -> bool:
    return isinstance(rounds, int | np.integer) and int(rounds) > 0


def _can_be_cut(model: Any) -> bool:
    """Tell whether a fitted model has all its rounds, and is more than them in nothing."""
    if _package(model) == "xgboost":  # a part of a booster forgets the names of categories
        return "c" not in (model.get_booster().feature_types or ())
    # LightGBM drops a round that finds no split, and may go on after it.
    return bool(model.booster_.current_iteration() == model.n_estimators)


def _hand_on_rounds(largest: Any, estimator: Any, learned: list[str]) -> None:
    """Give an estimator what the largest has learned, and its first rounds.

    What a fit changes is all that is handed on: XGBoost changes parameters, and LightGBM keeps some
    of them twice.
    """
    whole = largest.get_booster() if _package(largest) == "xgboost" else largest.booster_
    part = _first_rounds(whole, _rounds(estimator))
    for name in learned:
        value = vars(largest)[name]
        setattr(estimator, name, part if value is whole else copy.deepcopy(value))


def _first_rounds(booster: Any, rounds: int) -> Any:
    """Return a booster that ends after so many rounds."""
    if hasattr(booster, "num_boosted_rounds"):
        return booster[:rounds]
    part = type(booster)(model_str=booster.model_to_string(num_iteration=rounds))
    part.params = {**booster.params, "num_iterations": rounds}
    part.best_iteration = booster.best_iteration
    return part


FAMILIES = (RoundsFamily(),)
