"""What the word "auto" stands for."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from leavezero._tables import TableCodec, count_rows, is_pandas, is_polars, is_text
from leavezero._typing import AnyArray, Table
from leavezero.augment._calibrated import Calibrated
from leavezero.augment._copula import CopulaAugmenter
from leavezero.augment._gaussian import GaussianMixtureAugmenter
from leavezero.augment._images import ImageAugmenter
from leavezero.augment._labelers import default_labelers
from leavezero.augment._mixup import LabelInvariantMixup
from leavezero.augment._portfolio import Portfolio
from leavezero.augment._pseudo_labeled import LabeledOnly, PseudoLabeled
from leavezero.augment._target import Target
from leavezero.augment._teacher_labeled import TeacherLabeled
from leavezero.augment._text import TextAugmenter

MAX_CALIBRATED_ROWS = 5_000
MAX_CALIBRATED_COLUMNS = 2_000


@dataclass(frozen=True)
class Choice:
    """An augmenter, and why it was chosen.

    Examples
    --------
    >>> from leavezero.augment import Choice, CopulaAugmenter
    >>> Choice(CopulaAugmenter(), "X has gaps").reason
    'X has gaps'
    """

    augmenter: Any
    reason: str


def resolve_augmenter(
    augmenter: Any,
    X: Table,
    y: AnyArray,
    groups: AnyArray | None = None,
    *,
    dear: bool = True,
    unlabeled: Any = None,
    judged: Collection[type] = (),
) -> Choice:
    """Return the augmenter that the user named, or the one that "auto" stands for.

    Parameters
    ----------
    augmenter : "auto" or augmenter
        What the user said.
    X, y, groups
        The data.
    dear : bool, default=True
        Whether the candidates' fits cost enough to pay for models that label or calibrate V.
    unlabeled : object or None, default=None
        What marks rows without a label, if there are any. Then "auto" draws from rows with pseudo
        labels, and a given augmenter that does not know the marker from the labelled rows alone.
    judged : collection of type, default=()
        The kinds of the candidates, which must not label the rows that they are judged by. Where
        they are several, rows of mostly names are drawn in two ways.

    Returns
    -------
    Choice

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import resolve_augmenter
    >>> X, y = np.random.default_rng(0).normal(size=(40, 2)), np.tile([0, 1], 20)
    >>> resolve_augmenter("auto", X, y, dear=False).augmenter
    Portfolio(augmenters=[GaussianMixtureAugmenter(), CopulaAugmenter()])
    """
    if unlabeled is not None:
        return _with_unlabeled(augmenter, X, unlabeled, judged)
    if isinstance(augmenter, str) and augmenter == "auto":
        return _auto(X, Target.of(y, "auto"), groups is not None, dear, len(judged) > 1)
    return Choice(_given(augmenter), "it was given")


def _given(augmenter: Any) -> Any:
    """Return what the user gave, if it is an augmenter."""
    if hasattr(augmenter, "fit") and hasattr(augmenter, "sample"):
        return augmenter
    raise ValueError(
        'augmenter must be "auto" or an object with fit(X, y) and sample(n_samples), '
        f"got {augmenter!r}. Use LabelInvariantMixup() for the paper's own."
    )


def _with_unlabeled(augmenter: Any, X: Table, marker: Any, judged: Collection[type]) -> Choice:
    """Return what draws V where rows have no label."""
    if isinstance(augmenter, str) and augmenter == "auto":
        sparse_or_text = sparse.issparse(X) or is_text(X)
        rows = LabelInvariantMixup() if sparse_or_text else _generator(X)[0]
        known = default_labelers(count_rows(X)).values()
        others = [labeler for labeler in known if type(labeler) not in judged]
        pseudo = PseudoLabeled(rows, others or "auto", unlabeled=marker)
        return Choice(pseudo, "some rows have no label")
    if hasattr(_given(augmenter), "unlabeled") or hasattr(augmenter, "fixed_rows"):
        return Choice(augmenter, "it was given")
    return Choice(LabeledOnly(augmenter, marker), "it was given, for the labelled rows")


def _auto(X: Table, target: Target, grouped: bool, dear: bool, several: bool) -> Choice:
    """Choose by the kind of table, the kind of target, the size of the data and the candidates."""
    if is_text(X):
        return _labeled(TextAugmenter(), "X is text", target, dear)
    if sparse.issparse(X):
        return _labeled(LabelInvariantMixup(), "X is sparse", target, dear)
    shape = _shape(X)
    if len(shape) > 2:
        return Choice(ImageAugmenter(shape[1:]), "X holds images")
    rows, what = _generator(X)
    if target.kind == "combinations":
        return Choice(rows, f"{what}, and y has several outputs of classes")
    if target.kind == "numbers":
        return _labeled(LabelInvariantMixup(), "y is numbers", target, dear, cheap=rows)
    many = shape[0] > MAX_CALIBRATED_ROWS or shape[1] > MAX_CALIBRATED_COLUMNS
    if not dear or many or grouped or min(np.bincount(target.codes)) < 2:
        why = "fits are cheap" if not dear else "rows or columns are many"
        why = "rows are in groups" if grouped else why
        if several and not grouped and _mostly_names(X):
            rows, what = _names_generator(), "most columns of X are names"
        return Choice(rows, f"{what}, and {why}")
    labeled = Calibrated(TeacherLabeled(rows))
    return Choice(labeled, f"{what}, and fits are dear enough for teachers and references")


def _generator(X: Table) -> tuple[Any, str]:
    """Return what draws rows of a table, and what kind of table it is."""
    if not _is_complete_numbers(X):
        return CopulaAugmenter(), "X has gaps or columns that are not numbers"
    return Portfolio([GaussianMixtureAugmenter(), CopulaAugmenter()]), "X is complete numbers"


def _names_generator() -> Any:
    """Return what draws rows of mostly names, where several kinds of models are compared.

    A copula orders names as they are spelled, and loses most of how they depend on one another:
    what takes columns for independent looks best on its rows. Mixed rows keep that dependence and
    flatter what learns rows by heart. Neither error is left alone. Among models of one kind the
    first error hardly shows, and the second does, so that the copula draws alone.
    """
    return Portfolio([CopulaAugmenter(), LabelInvariantMixup()])


def _mostly_names(X: Table) -> bool:
    """Tell whether most columns of a table hold categories."""
    if not is_pandas(X) and not is_polars(X):
        X = np.asarray(X)
        if X.dtype.kind not in "OUS":
            return False
        X = X.astype(object)
    return bool(TableCodec.of(X).categories.mean() > 0.5)


def _is_complete_numbers(X: Table) -> bool:
    """Tell whether a table holds numbers only; what is no table at all is left to the checks."""
    if is_pandas(X) or is_polars(X):
        codec = TableCodec.of(X)
        return not codec.is_mixed and not np.isnan(codec.encode(X)).any()
    matrix = np.asarray(X)
    if matrix.dtype.kind in "iub":
        return True
    try:
        return not np.isnan(matrix.astype(np.float64)).any()
    except ValueError:  # strings
        return False
    except TypeError:  # cells that are neither numbers nor strings
        return True


def _labeled(rows: Any, what: str, target: Target, dear: bool, cheap: Any = None) -> Choice:
    """Return rows labelled by teachers where they pay; else the rows, or cheaper ones."""
    if dear and target.kind != "combinations":
        return Choice(TeacherLabeled(rows), f"{what}, and fits are dear enough for teachers")
    return Choice(rows if cheap is None else cheap, what)


def _shape(X: Table) -> tuple[int, ...]:
    shape = tuple(X.shape) if hasattr(X, "shape") else np.shape(np.asarray(X))
    return shape if len(shape) > 1 else (*shape, 1)
