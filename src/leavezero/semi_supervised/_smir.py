"""The classifier that users meet: squared-loss mutual information regularization."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from leavezero._typing import AnyArray, Floats, RandomState, Table
from leavezero.semi_supervised._solve import probabilities
from leavezero.semi_supervised._together import fit_many, values_at


class SMIRClassifier(ClassifierMixin, BaseEstimator):
    """Learn from few labels and many rows without: squared-loss mutual information regularization.

    The model of the class probabilities fits the labels by squared loss, and is rewarded by
    ``gamma`` times the squared-loss mutual information that it gives between all rows and their
    classes: classes should be told apart clearly, all of them being used. The problem is
    convex, and its solution is one system of linear equations (Niu et al. 2013).

    Parameters
    ----------
    kernel : "rbf", "cosine", "precomputed" or callable, default="rbf"
        How alike two rows are; never negative. "rbf" is exp(-d^2 / (2 w^2)) of the Euclidean
        distance d. With "precomputed" X is the kernel matrix of all rows with one another, and in
        ``predict`` that of new rows with them. A callable takes two tables and returns the matrix.
    width : float, default=0.2
        The width w of "rbf" as a factor of the median distance between rows (of at most 2,000
        rows, evenly spaced). Other kernels ignore it.
    gamma : float, default=0.1
        Weight of the mutual information, at least 0.
    offset : float, default=1e-6
        How far the weight of the squared penalty, lambda = gamma * n_classes / n_rows + offset, is
        above the limit below which the problem need not be convex. Positive.
    prior : "empirical", "uniform" or array of shape (n_classes,), default="empirical"
        Share of each class among all rows: that of the labels, all the same, or as given, in the
        order of ``classes_``.
    unlabeled : object, default=-1
        Marker in y of rows without a label. None and NaN both stand for all missing values.
    n_components : int or None, default=None
        Number of landmarks of the Nyström approximation of the kernel. None is the exact solution
        for up to 10,000 rows, and 2,000 landmarks for more.
    random_state : int, RandomState, Generator or None, default=None
        For the choice of landmarks; the exact solution draws nothing.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels that occur.
    label_distributions_ : array of shape (n_rows, n_classes)
        Class probabilities of the given rows.
    transduction_ : array of shape (n_rows,)
        Most probable class of each given row.
    labeled_ : array of int of shape (n_labeled,)
        Positions of the rows that had a label.
    class_prior_ : array of shape (n_classes,)
        Share of each class.
    coef_ : array of shape (n_support, n_classes)
        Weights of the kernel with the given rows, or with the landmarks.
    n_features_in_, feature_names_in_
        As for all estimators of scikit-learn.

    See Also
    --------
    held_out_scores : What the model would say of labelled rows without their labels.
    fit_many : Fit many settings at the cost of little more than one.

    Notes
    -----
    The exact solution takes two eigendecompositions of n x n, time n^3 and memory of a few n^2;
    Nyström's with m landmarks takes time n m^2 and memory of a few m^2, and (number of labels) x
    m. The approximation is poor where rows are far from all landmarks, so narrow kernels need
    more landmarks.

    The values of each class are scaled so that their mean over all given rows is the class's
    share, and negative values count as 0. Far from all rows the probabilities are the shares.

    References
    ----------
    G. Niu, W. Jitkrittum, B. Dai, H. Hachiya, M. Sugiyama (2013). Squared-loss mutual information
    regularization: a novel information-theoretic approach to semi-supervised learning. ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from leavezero.semi_supervised import SMIRClassifier
    >>> X, y = make_moons(200, noise=0.05, random_state=0)
    >>> few = np.full(200, -1)
    >>> few[:10] = y[:10]
    >>> model = SMIRClassifier().fit(X, few)
    >>> bool((model.transduction_ == y).mean() > 0.95)
    True
    """

    def __init__(
        self,
        kernel: str | Callable[[Table, Table], Any] = "rbf",
        *,
        width: float = 0.2,
        gamma: float = 0.1,
        offset: float = 1e-6,
        prior: str | ArrayLike = "empirical",
        unlabeled: Any = -1,
        n_components: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.kernel = kernel
        self.width = width
        self.gamma = gamma
        self.offset = offset
        self.prior = prior
        self.unlabeled = unlabeled
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X: Table, y: Any) -> Self:
        """Learn from all rows, and from the labels of some.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_rows, n_features)
        y : array of shape (n_rows,)
            Labels, and the marker in rows without one. All may have one.

        Returns
        -------
        self
        """
        fit_many([self], X, y)
        return self

    def predict_proba(self, X: Table) -> Floats:
        """Return the class probabilities of rows, given ones or new ones.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        array of shape (n_rows, n_classes)
        """
        check_is_fitted(self)
        rows = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        values = values_at(self._kernel, rows, self._support, self.coef_)
        return probabilities(values, self.class_prior_)

    def predict(self, X: Table) -> AnyArray:
        """Return the most probable class of rows, given ones or new ones.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        array of shape (n_rows,)
        """
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
