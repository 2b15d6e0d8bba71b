"""scikit-learn's check_estimator."""

from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from leavezero import (
    CandidateSearchLZO,
    GridSearchLZO,
    HalvingGridSearchLZO,
    HalvingRandomSearchLZO,
    LabelInvariantMixup,
    OptunaSearchLZO,
    RandomizedSearchLZO,
)

C, ALPHA = {"C": [0.1, 1.0]}, {"alpha": [0.1, 1.0]}
FEW = {"n_replicates": 2}
CHEAP = {"augmenter": LabelInvariantMixup(), "loo": False, **FEW}
SMALL = {"min_resources": 4, **CHEAP}


# The classes differ in how they propose candidates. That depends on the target only where rows are
# sampled (halving) or several estimators must agree (candidates).
@parametrize_with_checks(
    [
        GridSearchLZO(LogisticRegression(), C, **FEW),
        GridSearchLZO(Ridge(), ALPHA, **FEW),
        RandomizedSearchLZO(LogisticRegression(), C, n_iter=2, **CHEAP),
        HalvingGridSearchLZO(LogisticRegression(), C, factor=2, **SMALL),
        HalvingGridSearchLZO(Ridge(), ALPHA, factor=2, **SMALL),
        HalvingRandomSearchLZO(LogisticRegression(), C, n_candidates=2, factor=2, **SMALL),
        OptunaSearchLZO(LogisticRegression(), C, n_trials=2, **CHEAP),
        CandidateSearchLZO(
            {"one": LogisticRegression(), "two": (LogisticRegression(), C)}, **CHEAP
        ),
        CandidateSearchLZO({"plain": Ridge(), "grid": (Ridge(), ALPHA)}, **CHEAP),
        LabelInvariantMixup(),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
