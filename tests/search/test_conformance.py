"""scikit-learn's own conformance checks."""

from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from leavezero import GridSearchLZO, LabelInvariantMixup, RandomizedSearchLZO


@parametrize_with_checks(
    [
        GridSearchLZO(LogisticRegression(), {"C": [0.1, 1.0]}, n_replicates=2),
        GridSearchLZO(Ridge(), {"alpha": [0.1, 1.0]}, n_replicates=2),
        RandomizedSearchLZO(LogisticRegression(), {"C": [0.1, 1.0]}, n_iter=2, n_replicates=2),
        LabelInvariantMixup(),
    ]
)
def test_scikit_learn_checks(estimator, check):
    """No check is excepted.

    scikit-learn itself skips its array-API check unless SCIPY_ARRAY_API is set before scipy is
    imported; with it set, that check passes too.
    """
    check(estimator)
