"""Error messages of augmenters."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from leavezero.augment import (
    AugmenterPipeline,
    AugmenterUnion,
    CopulaAugmenter,
    DensityRatioWeighted,
    FixedValidationSet,
    ForestAugmenter,
    FunctionAugmenter,
    GaussianAugmenter,
    GaussianMixtureAugmenter,
    ImageAugmenter,
    LabelInvariantMixup,
    NeighborMixup,
    OrthogonalTransform,
    TextAugmenter,
    ValidationSet,
)
from leavezero.exceptions import SmallClassWarning

X = np.random.default_rng(0).normal(size=(20, 2))
Y = np.tile([0, 1], 10)
WITH_NAN = np.where(X > 1.0, np.nan, X)
FRAME = pd.DataFrame({"a": ["x", "y"] * 10})


@pytest.mark.parametrize(
    ("augmenter", "X", "y", "message"),
    [
        (GaussianAugmenter(), WITH_NAN, Y, "does not support missing values. Use CopulaAug"),
        (GaussianMixtureAugmenter(), FRAME, Y, "non-numeric columns. Use Copula"),
        (CopulaAugmenter(), sparse.csr_matrix(X), Y, "sparse matrices. Use LabelInvariantMixup"),
        (CopulaAugmenter(), ["a b"] * 20, Y, "does not support text. Use TextAugmenter"),
        (OrthogonalTransform(), X, X[:, 0], "does not support regression targets. Use Cop"),
        (TextAugmenter(), X, Y, "requires a sequence of strings, got a table with 2"),
        (LabelInvariantMixup(), X, None, "requires y to be passed"),
        (LabelInvariantMixup(), X[:3], Y, "inconsistent numbers of samples"),
        (GaussianMixtureAugmenter(max_components=0), X, Y, "max_components .* positive int"),
        (NeighborMixup(n_neighbors=0), X, Y, "n_neighbors of NeighborMixup must be a positive"),
        (TextAugmenter(alpha=0), ["a"], [0], "alpha of TextAugmenter must be a positive"),
        (TextAugmenter(dropout=1), ["a"], [0], r"dropout of TextAugmenter must be in \[0, 1\)"),
        (AugmenterUnion([]), X, Y, "augmenters of AugmenterUnion must be a list with at least one"),
        (AugmenterPipeline([]), X, Y, "augmenters of AugmenterPipeline must be a list"),
        (
            DensityRatioWeighted(LabelInvariantMixup()),
            X,
            X[:, 0],
            "requires one column of classes",
        ),
        (FunctionAugmenter(3), X, Y, "function of FunctionAugmenter must be callable"),
        (ImageAugmenter((2,)), X, Y, r"image_shape of ImageAugmenter must be \(height, width\)"),
        (ImageAugmenter((1, 2), ["spin"]), X, Y, "transforms of ImageAugmenter must be callables"),
        (ImageAugmenter((3, 2)), X, Y, r"has images of shape \(2,\), and image_shape is \(3, 2\)"),
        (
            ImageAugmenter((3, 2)),
            np.zeros((20, 2, 2)),
            Y,
            r"images of shape \(2, 2\), and image_shape is \(3, 2\)",
        ),
        (OrthogonalTransform(), np.zeros((20, 2001)), Y, "at most 2000 columns, got 2001"),
        (
            FixedValidationSet(X[:, :1], Y),
            X,
            Y,
            r"columns of shape \(1,\), the training data \(2,\)",
        ),
        (FixedValidationSet(X, Y + 5), X, Y, r"classes \[5, 6\] that are not in the training"),
        (
            FixedValidationSet(FRAME.rename(columns={"a": "b"}), Y),
            FRAME,
            Y,
            r"has the columns \['b'\], the training data \['a'\]",
        ),
    ],
)
def test_fit_rejects_what_is_not_supported(augmenter, X, y, message):
    with pytest.raises(ValueError, match=message):
        augmenter.fit(X, y)


@pytest.mark.parametrize(
    ("augmenter", "message"),
    [
        (FunctionAugmenter(lambda X, y, n, rng: X), "must return .* or a ValidationSet, got nda"),
        (
            FunctionAugmenter(lambda X, y, n, rng: (X[:n, :1], y[:n])),
            r"must return X of shape \(4, 2\), got \(4, 1\)",
        ),
        (ImageAugmenter((1, 2), [np.ravel]), r"returned an image of shape \(2,\) for an"),
    ],
)
def test_sample_checks_what_user_code_returns(augmenter, message):
    with pytest.raises(ValueError, match=message):
        augmenter.fit(X, Y).sample(4, 0)


def test_unsupported_weights_and_groups_are_rejected():
    """They are not silently ignored."""
    augmenter = FunctionAugmenter(lambda X, y, n, rng: (X, y))
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
        ForestAugmenter(random_state=0),
        OrthogonalTransform(),
    ],
    ids=repr,
)
def test_a_class_of_one_row_is_copied_with_a_warning(augmenter):
    """The warning names the class."""
    y = np.append(np.zeros(19, dtype=int), 7)
    with pytest.warns(SmallClassWarning, match="Class 7 has a single row"):
        fitted = augmenter.fit(X, y)
    new = fitted.sample(40, 0)
    np.testing.assert_allclose(new.X[new.y == 7], np.tile(X[-1], (2, 1)), atol=1e-9)


@pytest.mark.parametrize(
    "augmenter",
    [
        LabelInvariantMixup(),
        NeighborMixup(),
        GaussianAugmenter(),
        GaussianMixtureAugmenter(random_state=0),
        CopulaAugmenter(),
        ForestAugmenter(random_state=0),
        OrthogonalTransform(),
    ],
    ids=lambda a: type(a).__name__,
)
@pytest.mark.parametrize("same", [np.ones((20, 2)), np.repeat(X[:2], 10, axis=0)])
def test_duplicate_rows_give_finite_rows(augmenter, same):
    """All rows equal, and each row ten times."""
    new = augmenter.fit(same, Y).sample(30, 0)
    assert np.isfinite(new.X).all()


def test_a_fixed_validation_set_is_returned():
    """All rows once, a part of them, or more with replacement."""
    weight = np.arange(20.0)
    fixed = FixedValidationSet(X, Y, weight).fit(X, Y)
    assert np.array_equal(fixed.sample(20).X, X)
    assert np.array_equal(fixed.sample(20).sample_weight, weight)
    assert len(fixed.sample(5, 0)) == 5
    assert len(fixed.sample(50, 0)) == 50


def test_a_function_may_return_a_validation_set():
    """With weights."""
    made = ValidationSet(X[:4], Y[:4], np.ones(4))
    function = FunctionAugmenter(lambda X, y, n, rng: made)
    assert function.fit(X, Y).sample(4, 0) is made
