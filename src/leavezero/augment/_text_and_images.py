"""Augmenters for raw data: mix the words of documents, transform images."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import compress
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import ndimage

from leavezero._tables import TableCodec
from leavezero._typing import AnyArray, Floats, Table
from leavezero.augment._augmenter import (
    ClassConditionalAugmenter,
    ClassRows,
    ClassSample,
    ValidationSet,
    is_positive,
)

_Transform = Callable[[Floats, np.random.Generator, float, float], Floats]


class TextAugmenter(ClassConditionalAugmenter):
    """Mix the words of two documents of a class, and drop some.

    The mix-up of :class:`LabelInvariantMixup` for raw strings: each word of the first document is
    kept with a probability from Beta(alpha, alpha), each word of the second with the complement;
    then some words are dropped. The order of words is kept.

    Parameters
    ----------
    alpha : float, default=1.0
        Shape of the Beta distribution, as for :class:`LabelInvariantMixup`.
    dropout : float, default=0.1
        The probability that a word is dropped.

    Examples
    --------
    >>> from leavezero.augment import TextAugmenter
    >>> X = ["good film", "very good", "bad film", "so bad"]
    >>> augmenter = TextAugmenter(dropout=0.0).fit(X, [1, 1, 0, 0])
    >>> validation_set = augmenter.sample(4, random_state=0)
    >>> any("bad" in text for text in validation_set.X[validation_set.y == 1])
    False
    """

    takes: ClassVar[frozenset[str]] = frozenset({"text", "text only", "several outputs"})
    mixes_rows: ClassVar[bool] = True
    min_rows: ClassVar[int] = 2

    def __init__(self, alpha: float = 1.0, dropout: float = 0.1) -> None:
        self.alpha = alpha
        self.dropout = dropout

    def _check_parameters(self) -> None:
        self._require("alpha", is_positive(self.alpha), "be a positive finite number")
        is_share = isinstance(self.dropout, Real) and 0 <= self.dropout < 1
        self._require("dropout", is_share, "be in [0, 1)")

    def _fit_class(self, one: ClassRows) -> list[list[str]]:
        return [document.split() for document in one.values]

    def _sample_class(
        self, one: ClassRows, fitted: Any, n_samples: int, rng: np.random.Generator
    ) -> ClassSample:
        n_rows = len(one)
        first = rng.integers(n_rows, size=n_samples)
        step = rng.integers(1, n_rows, size=n_samples) if n_rows > 1 else 0
        second = (first + step) % n_rows
        weights, kept = rng.beta(self.alpha, self.alpha, size=n_samples), 1.0 - self.dropout
        documents: AnyArray = np.empty(n_samples, dtype=object)
        for at, (i, k, weight) in enumerate(zip(first, second, weights, strict=True)):
            one_words, other_words = fitted[i], fitted[k] if k != i else []
            sizes = [len(one_words), len(other_words)]
            shares = np.repeat([weight * kept, (1.0 - weight) * kept], sizes)
            words = compress(one_words + other_words, rng.random(sum(sizes)) < shares)
            # Keep one word, since vectorizers reject empty documents.
            documents[at] = " ".join(words) or " ".join(one_words[:1])
        return ClassSample(documents, np.column_stack([first, second]))


class ImageAugmenter(ClassConditionalAugmenter):
    """Transform random training images of each class.

    The transformations are those that the paper names in addition to mix-up: "shift", "rotate",
    "zoom", "brightness", "contrast", "dropout" (of pixels) and "erase" (a rectangle). They must
    not change the label: a 6 that is rotated too far is a 9, so rotations are small.

    Parameters
    ----------
    image_shape : tuple of int
        Height and width, and the number of channels if there are several.
    transforms : list of str and callables, default=("shift", "rotate", "brightness", "erase")
        Applied in this order, each with a random strength per image. A callable takes one image
        and returns one of the same shape, as the pipelines of torchvision do.

    Notes
    -----
    X is an array of flat images, one per row, or of shape (n_samples, height, width[, channels]);
    generated images have the same shape. Pixels stay within the range of the training data.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from leavezero.augment import ImageAugmenter
    >>> X, y = load_digits(return_X_y=True)
    >>> validation_set = ImageAugmenter((8, 8)).fit(X, y).sample(20, random_state=0)
    >>> validation_set.X.shape, float(validation_set.X.max()) <= 16
    ((20, 64), True)
    """

    takes: ClassVar[frozenset[str]] = frozenset({"several outputs"})

    def __init__(
        self,
        image_shape: tuple[int, ...],
        transforms: Sequence[Any] = ("shift", "rotate", "brightness", "erase"),
    ) -> None:
        self.image_shape = image_shape
        self.transforms = transforms

    def _check_parameters(self) -> None:
        shape, names = self.image_shape, sorted(_TRANSFORMS)
        is_shape = isinstance(shape, tuple | list) and len(shape) in (2, 3) and min(shape) > 0
        self._require("image_shape", is_shape, "be (height, width) or (height, width, channels)")
        are_known = all(callable(one) or one in names for one in self.transforms)
        requirement = f"be callables or among {names}, at least one"
        self._require("transforms", are_known and len(self.transforms) > 0, requirement)

    def _read_table(self, X: Table) -> tuple[Any, TableCodec | None]:
        self._shape, shape = np.shape(X)[1:], tuple(self.image_shape)
        n_pixels = (int(np.prod(shape)),)
        if self._shape not in (shape, n_pixels):
            raise ValueError(
                f"X given to ImageAugmenter has images of shape {self._shape}, and image_shape is "
                f"{shape}. Flat images have shape {n_pixels}."
            )
        flat = X if len(self._shape) == 1 else np.reshape(X, (-1, *n_pixels))
        values, codec = super()._read_table(flat)
        self._range = (float(values.min()), float(values.max()))
        return values, codec

    def _sample(self, n_samples: int, root: np.random.SeedSequence) -> ValidationSet:
        sample = super()._sample(n_samples, root)
        if len(self._shape) == 1:
            return sample
        return replace(sample, X=sample.X.reshape(n_samples, *self._shape))

    def _fit_class(self, one: ClassRows) -> None:
        """Learn nothing: any training image of a class may be transformed."""

    def _sample_class(
        self, one: ClassRows, fitted: None, n_samples: int, rng: np.random.Generator
    ) -> ClassSample:
        rows = rng.integers(len(one), size=n_samples)
        new = np.array([self._transformed(one.values[row], rng) for row in rows])
        return ClassSample(new.reshape(n_samples, one.values.shape[1]), rows[:, None])

    def _transformed(self, pixels: Floats, rng: np.random.Generator) -> Floats:
        (low, high), shape = self._range, tuple(self.image_shape)
        image = pixels.reshape(shape)
        for transform in self.transforms:
            if not callable(transform):
                image = _TRANSFORMS[transform](image, rng, low, high)
                continue
            image = np.asarray(transform(image.copy()), dtype=np.float64)
            if image.shape != shape:
                raise ValueError(
                    f"{transform!r} of ImageAugmenter returned an image of shape {image.shape} "
                    f"for an image of shape {shape}."
                )
        return np.clip(image, low, high).ravel()


def _shift(image: Floats, rng: np.random.Generator, low: float, high: float) -> Floats:
    """Shift by up to a tenth of the size, at least one pixel."""
    reach = np.maximum(1.0, 0.1 * np.array(image.shape[:2]))
    offsets = [*rng.uniform(-reach, reach), *[0.0] * (image.ndim - 2)]
    return ndimage.shift(image, offsets, order=1, mode="nearest")


def _rotate(image: Floats, rng: np.random.Generator, low: float, high: float) -> Floats:
    """Rotate by up to 15 degrees."""
    return ndimage.rotate(image, rng.uniform(-15, 15), reshape=False, order=1, mode="nearest")


def _zoom(image: Floats, rng: np.random.Generator, low: float, high: float) -> Floats:
    """Scale about the center by 0.9 to 1.1."""
    factor = rng.uniform(0.9, 1.1)
    center = (np.array(image.shape[:2]) - 1) / 2
    matrix = np.diag([1 / factor, 1 / factor, *[1.0] * (image.ndim - 2)])
    offset = np.append(center - center / factor, np.zeros(image.ndim - 2))
    return ndimage.affine_transform(image, matrix, offset, order=1, mode="nearest")


def _brightness(image: Floats, rng: np.random.Generator, low: float, high: float) -> Floats:
    """Scale the difference of all pixels to the darkest value by 0.8 to 1.2."""
    return low + (image - low) * rng.uniform(0.8, 1.2)


def _contrast(image: Floats, rng: np.random.Generator, low: float, high: float) -> Floats:
    """Scale the difference of all pixels to their mean by 0.8 to 1.2."""
    mean = image.mean()
    return mean + (image - mean) * rng.uniform(0.8, 1.2)


def _dropout(image: Floats, rng: np.random.Generator, low: float, high: float) -> Floats:
    """Set a tenth of the pixels to the darkest value."""
    dropped = rng.random(image.shape[:2]) < 0.1
    return np.where(dropped if image.ndim == 2 else dropped[..., None], low, image)


def _erase(image: Floats, rng: np.random.Generator, low: float, high: float) -> Floats:
    """Fill a rectangle of up to a quarter of each side with a random value, in half of images."""
    if rng.random() < 0.5:
        return image
    image = image.copy()
    size = [int(rng.integers(1, max(2, side // 4 + 1))) for side in image.shape[:2]]
    at = [int(rng.integers(0, side - s + 1)) for side, s in zip(image.shape, size, strict=False)]
    image[at[0] : at[0] + size[0], at[1] : at[1] + size[1]] = rng.uniform(low, high)
    return image


_TRANSFORMS: dict[str, _Transform] = {
    "brightness": _brightness,
    "contrast": _contrast,
    "dropout": _dropout,
    "erase": _erase,
    "rotate": _rotate,
    "shift": _shift,
    "zoom": _zoom,
}
