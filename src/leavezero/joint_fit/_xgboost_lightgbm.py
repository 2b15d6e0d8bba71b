"""XGBoost and LightGBM along their number of boosting rounds: the largest is boosted once."""

import sys
from collections.abc import Hashable
from typing import Any

import numpy as np

from leavezero._typing import AnyArray, Floats, Table
from leavezero.joint_fit._joint_fit import (
    JointFit,
    JointlyFitted,
    fit_plainly,
    is_count,
    params_key,
)

CLASSES = {
    "xgboost": ("XGBClassifier", "XGBRegressor"),
    "lightgbm": ("LGBMClassifier", "LGBMRegressor"),
}
# Keyword parameters of LightGBM, in addition to the named ones, that act alike in every round.
SAFE_KEYWORDS = """
    bagging_fraction bagging_freq deterministic extra_trees feature_fraction force_col_wise
    force_row_wise lambda_l1 lambda_l2 max_bin min_data_in_leaf num_threads path_smooth seed
    verbose verbosity
"""


class BoostedRounds(JointFit):
    """XGBoost and LightGBM: a model with few rounds is the beginning of one with more.

    The models equal plain fits bit for bit, and each predicts by itself. Neither package is
    imported here. What may stop early, drops rounds or is not built round by round is excluded.
    """

    name = "boosted rounds"
    estimator_names = (*CLASSES["xgboost"], *CLASSES["lightgbm"])
    one_model = True

    def key(self, estimator: Any) -> Hashable | None:
        """Return all parameters but the number of rounds."""
        package = _package(estimator)
        if package is None or not isinstance(estimator.random_state, int | np.integer | None):
            return None
        nested = _xgboost_nests if package == "xgboost" else _lightgbm_nests
        if not nested(estimator) or not is_count(_rounds(estimator)):
            return None
        return params_key(estimator, "n_estimators")

    def order(self, estimator: Any) -> int:
        """Return the number of rounds."""
        return int(_rounds(estimator))

    def fit(
        self, estimators: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> JointlyFitted:
        """Boost the largest model; the others consist of its first rounds."""
        largest = max(estimators, key=_rounds)
        before = dict(vars(largest))
        fit_plainly(largest, X, y, sample_weight)
        # A fit of XGBoost changes parameters too, and LightGBM stores some of them twice.
        after = vars(largest).items()
        learned = [name for name, value in after if before.get(name, before) is not value]
        can_be_cut = _can_be_cut(largest)
        for estimator in estimators:
            if estimator is not largest and can_be_cut:
                _copy_first_rounds(largest, estimator, learned)
            elif estimator is not largest:
                fit_plainly(estimator, X, y, sample_weight)
        return JointlyFitted(estimators)


def _package(estimator: Any) -> str | None:
    """Return the package whose class, not a subclass, an estimator is of; None for others."""
    kind = type(estimator)
    name = kind.__module__.partition(".")[0]
    own = kind.__name__ in CLASSES.get(name, ())
    return name if own and getattr(sys.modules.get(name), kind.__name__, None) is kind else None


def _xgboost_nests(estimator: Any) -> bool:
    """Return True if the first rounds of an XGBoost model do not depend on how many follow."""
    get = estimator.get_params(deep=False).get
    return (
        get("booster") in (None, "gbtree")  # dart drops rounds, gblinear has no trees
        and get("num_parallel_tree") in (None, 1)
        and get("device") in (None, "cpu")
        and get("early_stopping_rounds") is None
        and get("callbacks") is None
        and not getattr(estimator, "kwargs", None)  # parameters without a name in the signature
    )


def _lightgbm_nests(estimator: Any) -> bool:
    """Return True if the first rounds of a LightGBM model do not depend on how many follow."""
    named = type(estimator)().get_params(deep=False).keys()
    more = estimator.get_params(deep=False).keys() - named
    return estimator.boosting_type == "gbdt" and more <= set(SAFE_KEYWORDS.split())


def _rounds(estimator: Any) -> Any:
    if _package(estimator) == "xgboost":
        return estimator.get_num_boosting_rounds()  # None stands for a default
    return estimator.n_estimators


def _can_be_cut(model: Any) -> bool:
    """Return True if the first rounds of a fitted model are all that a smaller one consists of."""
    if _package(model) == "xgboost":  # a slice of a booster loses the names of categories
        return "c" not in (model.get_booster().feature_types or ())
    # LightGBM drops a round that finds no split, and may continue after it.
    return bool(model.booster_.current_iteration() == model.n_estimators)


def _copy_first_rounds(largest: Any, estimator: Any, learned: list[str]) -> None:
    """Give an estimator what the largest has learned, with the first rounds of its booster."""
    rounds = _rounds(estimator)
    if _package(largest) == "xgboost":
        whole = largest.get_booster()
        part = whole[:rounds]
    else:
        whole = largest.booster_
        part = type(whole)(model_str=whole.model_to_string(num_iteration=rounds))
        part.params = {**whole.params, "num_iterations": rounds}
        part.best_iteration = whole.best_iteration
    for name in learned:
        value = vars(largest)[name]
        setattr(estimator, name, part if value is whole else value)
