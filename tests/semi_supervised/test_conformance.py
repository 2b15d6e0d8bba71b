"""The classifier is one in scikit-learn's own sense."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from leavezero.semi_supervised import SMIRClassifier

# scikit-learn excuses its own semi-supervised classifiers from this part of the check by name.
MARKER = {"check_classifiers_classes": "fits labels -1 and 1, but -1 marks rows without a label"}


@parametrize_with_checks(
    [
        SMIRClassifier(),
        SMIRClassifier(unlabeled=None),
        SMIRClassifier(unlabeled=None, n_components=20),
    ],
    expected_failed_checks=lambda model: MARKER if model.unlabeled == -1 else {},
)
def test_scikit_learn_checks(estimator, check):
    """All of scikit-learn's checks pass, whether missing values or -1 mark rows without a label."""
    check(estimator)
