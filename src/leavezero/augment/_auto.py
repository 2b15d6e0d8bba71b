"""What the word "auto" stands for."""

from typing import Any

from leavezero._typing import AnyArray, Table
from leavezero.augment._mixup import LabelInvariantMixup


def resolve_augmenter(augmenter: Any, X: Table, y: AnyArray, groups: AnyArray | None = None) -> Any:
    """Return the augmenter that the user named, or the one that "auto" stands for.

    Examples
    --------
    >>> from leavezero.augment import resolve_augmenter
    >>> resolve_augmenter("auto", [[0.0], [1.0]], [0, 0])
    LabelInvariantMixup()
    """
    if isinstance(augmenter, str) and augmenter == "auto":
        return LabelInvariantMixup()
    if hasattr(augmenter, "fit") and hasattr(augmenter, "sample"):
        return augmenter
    raise ValueError(
        'augmenter must be "auto" or an object with fit(X, y) and sample(n_samples), '
        f"got {augmenter!r}. Use LabelInvariantMixup() for the paper's own."
    )
