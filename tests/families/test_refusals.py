"""What exact families refuse, doubt or leave out, and how they say it."""

import numpy as np
import pytest
from sklearn.covariance import OAS
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier, RidgeCV
from sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    NearestCentroid,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
)

from leavezero.families._centroid import NearestCentroidFamily
from leavezero.families._count_bayes import CountBayesFamily
from leavezero.families._discriminant import LinearDiscriminantFamily
from leavezero.families._kernel import GaussianProcessFamily, KernelRidgeFamily
from leavezero.families._linear import LinearFamily, RidgeClassifierFamily
from leavezero.families._naive_bayes import GaussianNBFamily
from leavezero.families._neighbors import NeighborsFamily
from leavezero.families._quadratic import QuadraticDiscriminantFamily

CASES = [
    (NeighborsFamily(), KNeighborsClassifier(2)),
    (NeighborsFamily(), KNeighborsRegressor(2)),
    (NeighborsFamily(), RadiusNeighborsClassifier(9.0)),
    (NeighborsFamily(), RadiusNeighborsRegressor(1.0)),
    (NearestCentroidFamily(), NearestCentroid()),
    (LinearFamily(), LinearRegression()),
    (LinearFamily(), Ridge()),
    (RidgeClassifierFamily(), RidgeClassifier()),
    (KernelRidgeFamily(), KernelRidge(kernel="rbf")),
    (GaussianProcessFamily(), GaussianProcessRegressor(RBF(), alpha=0.1, optimizer=None)),
    (LinearDiscriminantFamily(), LinearDiscriminantAnalysis()),
    (QuadraticDiscriminantFamily(), QuadraticDiscriminantAnalysis()),
    (GaussianNBFamily(), GaussianNB()),
    (CountBayesFamily(), MultinomialNB()),
    (CountBayesFamily(), BernoulliNB(binarize=0.5)),
    (CountBayesFamily(), ComplementNB()),
]
WEIGHTED = (LinearFamily, RidgeClassifierFamily, KernelRidgeFamily, GaussianNBFamily)
WEIGHTED += (CountBayesFamily,)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    codes = np.arange(20) % 2
    return np.abs(rng.normal(size=(20, 2)) + codes[:, None]), codes


@pytest.mark.parametrize(("family", "estimator"), CASES)
def test_other_rows_are_refused(family, estimator, data):
    """Rows, targets or weights that the model was not fitted to raise an error that says so."""
    X, y = data
    model = estimator.fit(X, y)
    message = "was not fitted to these rows: .* Pass the X, y and sample_weight that it was fitted"
    trials = [(X * 2 + 0.3, y, None), (X[:15], y[:15], None)]
    if not isinstance(estimator, RadiusNeighborsClassifier):  # all rows are near to all
        trials.append((X, np.roll(y, 5), None))
    if isinstance(family, WEIGHTED):
        trials.append((X, y, np.linspace(1, 3, 20)))
    for trial in trials:
        with pytest.raises(ValueError, match=message):
            family.unseen(model, *trial)


@pytest.mark.parametrize(("family", "estimator"), CASES)
def test_the_model_stays_as_it_is_and_must_be_fitted(family, estimator, data):
    """A model that is not fitted has seen nothing."""
    X, y = data
    assert family.covers(estimator)
    assert family.refuses(estimator) is None
    with pytest.raises(NotFittedError):
        family.unseen(type(estimator)(), X, y)


@pytest.mark.parametrize(
    ("family", "estimator"), [case for case in CASES if not isinstance(case[0], WEIGHTED)]
)
def test_weights_for_models_without(family, estimator, data):
    """Weights that no fit can have had are an error."""
    X, y = data
    message = f"sample_weight must be None, because {type(estimator).__name__} is fitted without"
    with pytest.raises(ValueError, match=message):
        family.unseen(estimator.fit(X, y), X, y, np.ones(20))


@pytest.mark.parametrize(
    ("family", "estimator", "reason"),
    [
        (LinearFamily(), Ridge(positive=True), "positive=True"),
        (LinearFamily(), LinearRegression(positive=True), "positive=True"),
        (RidgeClassifierFamily(), RidgeClassifier(positive=True), "positive=True"),
        (
            LinearDiscriminantFamily(),
            LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
            "shrinkage='auto' learns another shrinkage from every set of rows",
        ),
        (
            LinearDiscriminantFamily(),
            LinearDiscriminantAnalysis(solver="lsqr", covariance_estimator=OAS()),
            "an own covariance_estimator may do anything with the row that leaves",
        ),
        (CountBayesFamily(), MultinomialNB(alpha=0.0), "alpha=0"),
    ],
)
def test_parameters_without_a_formula(family, estimator, reason, data):
    """They are covered, refused with the reason, and an error if asked all the same."""
    assert family.covers(estimator)
    assert reason in family.refuses(estimator)
    X, y = data
    with np.errstate(all="ignore"):
        model = estimator.fit(X, y)
    message = f"unseen of {type(estimator).__name__} is not available, because .*{reason[:9]}"
    with pytest.raises(ValueError, match=message):
        family.unseen(model, X, y)


def test_relatives_are_not_covered():
    """A model that chooses its own penalty is none of the linear family's."""
    assert not LinearFamily().covers(RidgeCV())


def test_too_few_rows_for_the_neighbours(data):
    """Without a row there are fewer rows than neighbours: a doubt, no answer."""
    X, y = data
    unseen = NeighborsFamily().unseen(KNeighborsClassifier(20).fit(X, y), X, y)
    assert unseen.doubt == "without a row there are fewer rows than the n_neighbors it asks for"
    assert unseen.responses == {}


def test_rows_without_neighbours_are_not_known(data):
    """No row within the radius and no outlier label: no response."""
    X, y = data
    X[3] = 50.0
    for model in (RadiusNeighborsClassifier(3.0), RadiusNeighborsRegressor(3.0)):
        unseen = NeighborsFamily().unseen(model.fit(X, y), X, y)
        assert np.flatnonzero(~unseen.known).tolist() == [3]


def test_an_outlier_label_that_is_no_class(data):
    """Such a row has the label, and no probability."""
    X, y = data
    X[3] = 50.0
    model = RadiusNeighborsClassifier(3.0, outlier_label=-1).fit(X, y)
    unseen = NeighborsFamily().unseen(model, X, y)
    assert unseen.responses["predict"][3] == -1
    assert unseen.responses["predict_proba"][3].tolist() == [0.0, 0.0]


def test_doubts_of_discriminants(data):
    """Columns that depend on one another have no inverse to downdate."""
    X, y = data
    twice = np.column_stack([X, X[:, 0]])
    model = LinearDiscriminantAnalysis().fit(twice, y)
    unseen = LinearDiscriminantFamily().unseen(model, twice, y)
    assert unseen.doubt == "its columns depend on one another within the classes"


@pytest.mark.filterwarnings("ignore:Ill-conditioned", "ignore:Singular matrix")
def test_doubts_of_kernels(data):
    """Where the noise is as small as rounding, rounding decides."""
    X, y = data[0][::2], np.arange(10.0) % 3
    ridge = KernelRidge(1e-15, kernel="rbf", gamma=1e-3).fit(X, y)
    process = GaussianProcessRegressor(RBF(30.0), alpha=1e-14, optimizer=None).fit(X, y)
    for family, model in [(KernelRidgeFamily(), ridge), (GaussianProcessFamily(), process)]:
        doubt = family.unseen(model, X, y).doubt
        assert doubt == "its kernel matrix is so close to singular that rounding decides"


def test_doubts_of_solvers(data):
    """A solver that was stopped far from the minimum tells nothing of fits without a row."""
    X, y = data
    X = X * [1.0, 1e3]
    slow = Ridge(1e-3, solver="sag", max_iter=1, random_state=0)
    with pytest.warns(ConvergenceWarning):
        slow.fit(X, y)
    doubt = LinearFamily().unseen(slow, X, y).doubt
    assert doubt == "its solver stopped early, or it was fitted to other rows"


def test_doubts_of_least_squares(data):
    """Columns that differ by little more than rounding."""
    X, y = data
    nearly = np.column_stack([X, X[:, 0] + 1e-11 * X[:, 1] ** 2])
    model = LinearRegression()
    if "tol" in model.get_params():
        model.set_params(tol=1e-15)
    unseen = LinearFamily().unseen(model.fit(nearly, y), nearly, y)
    reason = "its columns depend on one another so closely that rounding decides"
    assert unseen.doubt == reason


def test_means_in_a_line():
    """Three means nearly in a line: the svd solver drops the other direction or does not."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(10, 2))
    noise -= noise.mean(axis=0)
    X = np.concatenate([noise, noise + [9.0, 0.0], noise + [18.0, 1e-3]])
    y = np.repeat([0, 1, 2], 10)
    unseen = LinearDiscriminantFamily().unseen(LinearDiscriminantAnalysis().fit(X, y), X, y)
    assert (
        unseen.doubt == "the means of its classes lie so nearly in a plane that its solver rounds"
    )


def test_several_balanced_labels():
    """Balanced weights of several labels are beyond the formula."""
    X = np.random.default_rng(0).normal(size=(12, 2))
    labels = np.column_stack([np.arange(12) % 2, np.arange(12) // 6])
    model = RidgeClassifier(class_weight="balanced").fit(X, labels)
    unseen = RidgeClassifierFamily().unseen(model, X, labels)
    assert unseen.doubt == "balanced weights of several labels are all changed by one row"


def test_no_row_with_a_neighbour(data):
    """If no row has a response, the whole is in doubt."""
    X, y = data
    unseen = NeighborsFamily().unseen(RadiusNeighborsRegressor(1e-9).fit(X, y * 1.0), X, y * 1.0)
    reason = "no row has a response without itself: classes or neighborhoods are too small"
    assert unseen.doubt == reason
    assert not unseen.known.any()
