"""What an augmenter cannot take is refused in one sentence that names one that can."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from leavezero.augment import (
    Chain,
    CopulaAugmenter,
    FunctionAugmenter,
    GaussianAugmenter,
    GaussianMixtureAugmenter,
    GivenValidationSet,
    ImageAugmenter,
    LabelInvariantMixup,
    NeighborLabelAugmenter,
    NeighborMixup,
    OrthogonalTransform,
    Portfolio,
    ResamplerAugmenter,
    TeacherLabeled,
    TextAugmenter,
    ValidationSet,
    Weighted,
)
from leavezero.exceptions import SmallClassWarning

X = np.random.default_rng(0).normal(size=(20, 2))
Y = np.tile([0, 1], 10)
GAPS = np.where(X > 1.0, np.nan, X)
FRAME = pd.DataFrame({"a": ["x", "y"] * 10})


class Lazy:
    def fit_resample(self, X, y):
        return X, y


class OneSided:
    def fit_resample(self, X, y):
        return np.vstack([X, X[y == 0]]), np.append(y, y[y == 0])


@pytest.mark.parametrize(
    ("augmenter", "X", "y", "message"),
    [
        (GaussianAugmenter(), GAPS, Y, "does not take missing cells. Use CopulaAugmenter"),
        (GaussianMixtureAugmenter(), FRAME, Y, "columns that are not numbers. Use Copula"),
        (CopulaAugmenter(), sparse.csr_matrix(X), Y, "a sparse matrix. Use LabelInvariantMixup"),
        (CopulaAugmenter(), ["a b"] * 20, Y, "does not take text. Use TextAugmenter"),
        (OrthogonalTransform(), X, X[:, 0], "does not take numbers as y. Use CopulaAugmenter"),
        (TextAugmenter(), X, Y, "takes a sequence of strings, got ndarray with 2 columns"),
        (LabelInvariantMixup(), X, None, "requires y to be passed"),
        (LabelInvariantMixup(), X[:3], Y, "inconsistent numbers of samples"),
        (GaussianMixtureAugmenter(max_components=0), X, Y, "max_components .* positive int"),
        (CopulaAugmenter(margins="rough"), X, Y, 'must be "smooth" or "empirical"'),
        (NeighborMixup(n_neighbors=0), X, Y, "n_neighbors of NeighborMixup must be a positive"),
        (NeighborLabelAugmenter(1.5), X, Y, "n_neighbors of NeighborLabelAugmenter must be"),
        (TextAugmenter(alpha=0), ["a"], [0], "alpha of TextAugmenter must be a positive"),
        (TextAugmenter(dropout=1), ["a"], [0], r"dropout of TextAugmenter must be in \[0, 1\)"),
        (Portfolio([]), X, Y, "augmenters of Portfolio must be a list with at least one"),
        (Chain([]), X, Y, "augmenters of Chain must be a list with at least one"),
        (Weighted(LabelInvariantMixup(), n_folds=0), X, Y, "n_folds of Weighted must be a pos"),
        (Weighted(LabelInvariantMixup()), X, X[:, 0], "Weighted needs one column of classes"),
        (TeacherLabeled(LabelInvariantMixup(), n_folds=1), X, Y, "n_folds of TeacherLabeled"),
        (TeacherLabeled(LabelInvariantMixup(), []), X, Y, "teachers of TeacherLabeled must be"),
        (
            TeacherLabeled(LabelInvariantMixup()),
            X,
            np.column_stack([Y, Y]),
            "does not take several outputs of classes",
        ),
        (ResamplerAugmenter(3), X, Y, "resampler of ResamplerAugmenter must have fit_resample"),
        (ResamplerAugmenter(Lazy()), X, X[:, 0], "needs one column of classes"),
        (FunctionAugmenter(3), X, Y, "function of FunctionAugmenter must be callable"),
        (ImageAugmenter((2,)), X, Y, r"image_shape of ImageAugmenter must be \(height, width\)"),
        (ImageAugmenter((1, 2), ["spin"]), X, Y, "transforms of ImageAugmenter must be callables"),
        (ImageAugmenter((3, 2)), X, Y, r"has 2 columns, and image_shape \(3, 2\) has 6 pixels"),
        (
            ImageAugmenter((3, 2)),
            np.zeros((20, 2, 2)),
            Y,
            r"images of shape \(2, 2\), and image_shape is \(3, 2\)",
        ),
        (OrthogonalTransform(), np.zeros((20, 2001)), Y, "at most 2000 columns, got 2001"),
        (NeighborLabelAugmenter(), X[:1], Y[:1], "needs at least two rows"),
        (GivenValidationSet(X[:, :1], Y), X, Y, r"columns of shape \(1,\), the data \(2,\)"),
        (GivenValidationSet(X, Y + 5), X, Y, r"classes \[5, 6\] that the data lack"),
        (
            GivenValidationSet(FRAME.rename(columns={"a": "b"}), Y),
            FRAME,
            Y,
            r"has the columns \['b'\], the data \['a'\]",
        ),
    ],
)
def test_fit_refuses(augmenter, X, y, message):
    """One sentence says what came and what to use."""
    with pytest.raises(ValueError, match=message):
        augmenter.fit(X, y)


@pytest.mark.parametrize(
    ("augmenter", "message"),
    [
        (ResamplerAugmenter(Lazy()), "returned no new rows. Give an over-sampler"),
        (ResamplerAugmenter(OneSided()), "returned no new rows of class 1"),
        (FunctionAugmenter(lambda X, y, n, rng: X), "must return .* or a ValidationSet, got nda"),
        (
            FunctionAugmenter(lambda X, y, n, rng: (X[:n, :1], y[:n])),
            r"returned X of shape \(4, 1\) where \(4, 2\) was asked for",
        ),
        (ImageAugmenter((1, 2), [np.ravel]), r"returned an image of shape \(2,\) for one of"),
    ],
)
def test_sample_refuses(augmenter, message):
    """What a stranger's code returns is checked."""
    with pytest.raises(ValueError, match=message):
        augmenter.fit(X, Y).sample(4, 0)


@pytest.mark.parametrize(
    "augmenter", [ResamplerAugmenter(Lazy()), FunctionAugmenter(lambda X, y, n, rng: (X, y))]
)
def test_weights_and_groups_that_cannot_be_honoured_are_refused(augmenter):
    """They are never dropped in silence."""
    with pytest.raises(ValueError, match="neither sample_weight nor groups"):
        augmenter.fit(X, Y, sample_weight=np.ones(20))
    with pytest.raises(ValueError, match="neither sample_weight nor groups"):
        augmenter.fit(X, Y, groups=Y)


@pytest.mark.parametrize(
    "augmenter",
    [
        LabelInvariantMixup(),
        NeighborMixup(),
        GaussianAugmenter(),
        GaussianMixtureAugmenter(random_state=0),
        CopulaAugmenter(),
        OrthogonalTransform(),
    ],
    ids=repr,
)
def test_a_class_of_one_row_falls_back_with_a_warning(augmenter):
    """The warning names the class, and V has it all the same."""
    y = np.append(np.zeros(19, dtype=int), 7)
    with pytest.warns(SmallClassWarning, match="Class 7 has a single row"):
        fitted = augmenter.fit(X, y)
    V = fitted.sample(40, 0)
    np.testing.assert_allclose(V.X[V.y == 7], np.tile(X[-1], (2, 1)), atol=1e-9)


@pytest.mark.parametrize(
    "augmenter",
    [
        LabelInvariantMixup(),
        NeighborMixup(),
        NeighborLabelAugmenter(),
        GaussianAugmenter(),
        GaussianMixtureAugmenter(random_state=0),
        CopulaAugmenter(),
        OrthogonalTransform(),
        TeacherLabeled(LabelInvariantMixup(), random_state=0),
    ],
    ids=lambda a: type(a).__name__,
)
@pytest.mark.filterwarnings("ignore:.*Number of distinct clusters:Warning")
@pytest.mark.parametrize("same", [np.ones((20, 2)), np.repeat(X[:2], 10, axis=0)])
def test_equal_rows_are_no_trouble(augmenter, same):
    """All rows equal, and each row ten times."""
    V = augmenter.fit(same, Y).sample(30, 0)
    assert np.isfinite(V.X).all()


def test_a_validation_set_of_ones_own_is_given_back():
    """All rows once, a part, or more by drawing again."""
    weight = np.arange(20.0)
    given = GivenValidationSet(X, Y, weight).fit(X, Y)
    assert np.array_equal(given.sample(20).X, X)
    assert np.array_equal(given.sample(20).sample_weight, weight)
    assert len(given.sample(5, 0)) == 5
    assert len(given.sample(50, 0)) == 50


def test_a_function_may_return_a_validation_set():
    """With weights of its own."""
    made = ValidationSet(X[:4], Y[:4], np.ones(4))
    function = FunctionAugmenter(lambda X, y, n, rng: made)
    assert function.fit(X, Y).sample(4, 0) is made
