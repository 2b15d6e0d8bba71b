"""New images from given ones: turned, shifted, recoloured, partly erased."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy import ndimage

from leavezero._tables import TableCodec
from leavezero._typing import AnyArray, Floats, Table
from leavezero.augment._strata import ClassConditionalAugmenter, Stratum, StratumDraw
from leavezero.augment._validation_set import ValidationSet

_Transform = Callable[[Floats, np.random.Generator, float, float], Floats]


class ImageAugmenter(ClassConditionalAugmenter):
    """Draw a given image of a class and transform it.

    The transformations are those that the paper names beside mix-up: geometric (``"shift"``,
    ``"rotate"``, ``"zoom"``), of colour (``"brightness"``, ``"contrast"``), information dropping
    (``"dropout"``) and random erasing (``"erase"``). Which of them keep a label is the user's
    knowledge: a 6 that is turned too far is a 9, so that turns are small.

    Parameters
    ----------
    image_shape : tuple of int
        Height and width, and the number of channels where there are several.
    transforms : list of str and callables, default=("shift", "rotate", "brightness", "erase")
        Applied in this order, each with a strength of its own for each image. A callable takes one
        image of shape ``image_shape`` and returns one of the same shape, as the pipelines of
        Albumentations and torchvision do.

    Attributes
    ----------
    classes_, n_rows_, n_features_in_
        As for :class:`LabelInvariantMixup`.

    Notes
    -----
    X is an array of flat images, a row each, or of shape (n_samples, height, width[, channels]);
    new images come in the same shape. Pixels stay within the range that they have in the data.

    References
    ----------
    Z. Zhong et al. Random Erasing Data Augmentation. AAAI, 2020. T. DeVries, G. W. Taylor.
    Improved Regularization of Convolutional Neural Networks with Cutout. arXiv:1708.04552, 2017.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from leavezero.augment import ImageAugmenter
    >>> X, y = load_digits(return_X_y=True)
    >>> V = ImageAugmenter((8, 8)).fit(X, y).sample(20, random_state=0)
    >>> V.X.shape, float(V.X.max()) <= 16
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
                f"channels), got {shape!r}. Use (8, 8) for scikit-learn's digits."
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
                f"image_shape is {tuple(self.image_shape)}. Make them equal."
            )
        self._tail = images.shape[1:]
        values, codec = super()._read_table(
            images.reshape(len(images), -1) if images.ndim > 2 else X
        )
        if values.shape[1] != np.prod(self.image_shape):
            raise ValueError(
                f"X given to ImageAugmenter has {values.shape[1]} columns, and image_shape "
                f"{tuple(self.image_shape)} has {np.prod(self.image_shape)} pixels. "
                "Make them equal."
            )
        self._range = (float(values.min()), float(values.max()))
        return values, codec

    def _draw(self, n_samples: int, root: np.random.SeedSequence) -> ValidationSet:
        drawn = super()._draw(n_samples, root)
        if len(self._tail) == 1:
            return drawn
        return ValidationSet(
            drawn.X.reshape(n_samples, *self._tail), drawn.y, origins=drawn.origins
        )

    def _fit_stratum(self, stratum: Stratum) -> None:
        """Nothing to learn: every given image of a class may be drawn."""

    def _sample_stratum(
        self, stratum: Stratum, fitted: None, n_samples: int, rng: np.random.Generator
    ) -> StratumDraw:
        rows = rng.integers(len(stratum), size=n_samples)
        new = np.array([self._transformed(stratum.values[row], rng) for row in rows])
        return StratumDraw(new.reshape(n_samples, stratum.values.shape[1]), rows[:, None])

    def _transformed(self, pixels: Floats, rng: np.random.Generator) -> Floats:
        low, high = self._range
        image = pixels.reshape(self.image_shape)
        for transform in self.transforms:
            if callable(transform):
                image = _own(transform, image, tuple(self.image_shape))
            else:
                image = _TRANSFORMS[transform](image, rng, low, high)
        return np.clip(image, low, high).ravel()


def _own(transform: Callable[[Any], Any], image: Floats, shape: tuple[int, ...]) -> Floats:
    made: AnyArray = np.asarray(transform(image.copy()), dtype=np.float64)
    if made.shape != shape:
        raise ValueError(
            f"{transform!r} of ImageAugmenter returned an image of shape {made.shape} for one of "
            f"{shape}. Return one of the same shape."
        )
    return made


def _shift(image: Floats, rng: np.random.Generator, low: float, high: float) -> Floats:
    """Move by up to a tenth of the size, a pixel at least."""
    reach = np.maximum(1.0, 0.1 * np.array(image.shape[:2]))
    by = [*rng.uniform(-reach, reach), *[0.0] * (image.ndim - 2)]
    return ndimage.shift(image, by, order=1, mode="nearest")


def _rotate(image: Floats, rng: np.random.Generator, low: float, high: float) -> Floats:
    """Turn by up to 15 degrees."""
    return ndimage.rotate(image, rng.uniform(-15, 15), reshape=False, order=1, mode="nearest")


def _zoom(image: Floats, rng: np.random.Generator, low: float, high: float) -> Floats:
    """Enlarge or shrink about the middle by up to a tenth."""
    factor = rng.uniform(0.9, 1.1)
    middle = (np.array(image.shape[:2]) - 1) / 2
    matrix = np.diag([1 / factor, 1 / factor, *[1.0] * (image.ndim - 2)])
    offset = np.append(middle - middle / factor, np.zeros(image.ndim - 2))
    return ndimage.affine_transform(image, matrix, offset, order=1, mode="nearest")


def _brightness(image: Floats, rng: np.random.Generator, low: float, high: float) -> Floats:
    """Scale all pixels by 0.8 to 1.2, away from the darkest value."""
    return low + (image - low) * rng.uniform(0.8, 1.2)


def _contrast(image: Floats, rng: np.random.Generator, low: float, high: float) -> Floats:
    """Scale the distance of all pixels to their mean by 0.8 to 1.2."""
    middle = image.mean()
    return middle + (image - middle) * rng.uniform(0.8, 1.2)


def _dropout(image: Floats, rng: np.random.Generator, low: float, high: float) -> Floats:
    """Set a tenth of the pixels to the darkest value."""
    lost = rng.random(image.shape[:2]) < 0.1
    return np.where(lost if image.ndim == 2 else lost[..., None], low, image)


def _erase(image: Floats, rng: np.random.Generator, low: float, high: float) -> Floats:
    """Fill a rectangle of up to a quarter of each side with one random value, half of the time."""
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
