"""Resolve the parameter ``augmenter`` of a search, and choose an augmenter for "auto"."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from leavezero._tables import TableCodec, count_rows, is_pandas, is_polars, is_text
from leavezero._typing import AnyArray, Table
from leavezero.augment._composition import AugmenterUnion
from leavezero.augment._copula import CopulaAugmenter
from leavezero.augment._forest import ForestAugmenter
from leavezero.augment._gaussian import GaussianMixtureAugmenter
from leavezero.augment._mixup import LabelInvariantMixup
from leavezero.augment._pseudo_labels import LabeledOnly, PseudoLabeled, default_labelers
from leavezero.augment._text_and_images import ImageAugmenter, TextAugmenter


@dataclass(frozen=True)
class ResolvedAugmenter:
    """An augmenter, and the reason why it was chosen."""

    augmenter: Any
    reason: str


def resolve_augmenter(
    augmenter: Any,
    X: Table,
    y: AnyArray,
    *,
    unlabeled: Any = None,
    candidate_types: Collection[type] = (),
) -> ResolvedAugmenter:
    """Return the augmenter that the user passed, or the one that "auto" means for the data.

    If some rows are ``unlabeled``, "auto" uses pseudo labels by models that are not of the
    ``candidate_types``, and an augmenter that does not know the marker the labeled rows.
    """
    if hasattr(augmenter, "fit") and hasattr(augmenter, "sample"):
        knows_marker = hasattr(augmenter, "unlabeled") or hasattr(augmenter, "fixed_rows")
        if unlabeled is None or knows_marker:
            return ResolvedAugmenter(augmenter, "it was passed")
        reason = "it was passed, and some rows have no label"
        return ResolvedAugmenter(LabeledOnly(augmenter, unlabeled), reason)
    if unlabeled is not None:
        known = default_labelers(count_rows(X)).values()
        others = [labeler for labeler in known if type(labeler) not in candidate_types]
        pseudo = PseudoLabeled(_auto(X).augmenter, others or "auto", unlabeled=unlabeled)
        return ResolvedAugmenter(pseudo, "some rows have no label")
    return _auto(X)


def _auto(X: Table) -> ResolvedAugmenter:
    """Choose by the kind of table."""
    if is_text(X):
        return ResolvedAugmenter(TextAugmenter(), "X is text")
    if sparse.issparse(X):
        return ResolvedAugmenter(LabelInvariantMixup(), "X is sparse")
    if len(getattr(X, "shape", ())) > 2:
        return ResolvedAugmenter(ImageAugmenter(np.shape(X)[1:]), "X has images")
    if not _is_complete_numeric(X):
        union = AugmenterUnion([CopulaAugmenter(), ForestAugmenter()])
        return ResolvedAugmenter(union, "X has missing values or non-numeric columns")
    union = AugmenterUnion([GaussianMixtureAugmenter(), CopulaAugmenter(), ForestAugmenter()])
    return ResolvedAugmenter(union, "X is numeric and complete")


def _is_complete_numeric(X: Table) -> bool:
    if is_pandas(X) or is_polars(X):
        codec = TableCodec.of(X)
        return not codec.is_mixed and not np.isnan(codec.encode(X)).any()
    matrix = np.asarray(X)
    if matrix.dtype.kind in "iub":
        return True
    try:
        return not np.isnan(matrix.astype(np.float64, copy=False)).any()
    except (OverflowError, ValueError):  # strings, or integers beyond floats
        return False
    except TypeError:  # neither numbers nor strings: fit raises an error
        return True
