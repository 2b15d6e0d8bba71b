"""Transform training images: shift, rotate, recolor, erase parts."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from scipy import ndimage

from leavezero._tables import TableCodec
from leavezero._typing import AnyArray, Floats, Table
from leavezero.augment._augmenter import ValidationSet
from leavezero.augment._table_augmenter import ClassConditionalAugmenter, ClassRows, ClassSample

_Transform = Callable[[Floats, np.random.Generator, float, float], Floats]


class ImageAugmenter(ClassConditionalAugmenter):
    """Transform random training images of each class.

    The transformations are those that the paper names in addition to mix-up: geometric
    (``"shift"``, ``"rotate"``, ``"zoom"``), color (``"brightness"``, ``"contrast"``), information
    dropping (``"dropout"``) and random erasing (``"erase"``). They must not change the label: a 6
    that is rotated too far is a 9, so rotations are small.

    Parameters
    ----------
    image_shape : tuple of int
        Height and width, and the number of channels if there are several.
    transforms : list of str and callables, default=("shift", "rotate", "brightness", "erase")
        Applied in this order, each with a random strength per image. A callable takes one image
        of shape ``image_shape`` and returns one of the same shape, as the pipelines of
        Albumentations and torchvision do.

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
        shape = self.image_shape
        if not isinstance(shape, tuple | list) or len(shape) not in (2, 3) or min(shape) < 1:
            raise ValueError(
                "image_shape of ImageAugmenter must be (height, width) or (height, width, "
                f"channels), got {shape!r}."
            )
        unknown = [t for t in self.transforms if not callable(t) and t not in _TRANSFORMS]
        if unknown or not self.transforms:
            raise ValueError(
                f"transforms of ImageAugmenter must be callables or among {sorted(_TRANSFORMS)}, "
                f"at least one, got {self.transforms!r}."
            )

    def _read_table(self, X: Table) -> tuple[Any, TableCodec | None]:
        images = np.asarray(X)
        if images.ndim > 2 and images.shape[1:] != tuple(self.image_shape):
            raise ValueError(
                f"X given to ImageAugmenter has images of shape {images.shape[1:]}, and "
                f"image_shape is {tuple(self.image_shape)}."
            )
        self._shape = images.shape[1:]
        values, codec = super()._read_table(
            images.reshape(len(images), -1) if images.ndim > 2 else X
        )
        if values.shape[1] != np.prod(self.image_shape):
            raise ValueError(
                f"X given to ImageAugmenter has {values.shape[1]} columns, and image_shape "
                f"{tuple(self.image_shape)} has {np.prod(self.image_shape)} pixels."
            )
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
        low, high = self._range
        image = pixels.reshape(self.image_shape)
        for transform in self.transforms:
            if callable(transform):
                image = _apply(transform, image, tuple(self.image_shape))
            else:
                image = _TRANSFORMS[transform](image, rng, low, high)
        return np.clip(image, low, high).ravel()


def _apply(transform: Callable[[Any], Any], image: Floats, shape: tuple[int, ...]) -> Floats:
    result: AnyArray = np.asarray(transform(image.copy()), dtype=np.float64)
    if result.shape != shape:
        raise ValueError(
            f"{transform!r} of ImageAugmenter returned an image of shape {result.shape} for an "
            f"image of shape {shape}."
        )
    return result


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
