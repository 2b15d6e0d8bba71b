"""What a family is: all that we know about one kind of estimator."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from leavezero._typing import AnyArray, Bools, Floats, Ints, Table

MOST_TOGETHER = 64  # models that are in memory at the same time
Kind = Literal["exact", "approximate", "out-of-bag", "folds"]


@dataclass(frozen=True, eq=False)
class Unseen:
    """What a model says about the rows it was fitted to, as if it had not seen each of them.

    Parameters
    ----------
    kind : "exact", "approximate", "out-of-bag" or "folds"
        Exact equals a fit without the row, up to ties and rounding; approximate is a step from the
        one fit towards it; out-of-bag is what the members that did not draw the row say; folds are
        answers without the labels of several rows at a time.
    responses : mapping of str to array
        For each method that the family can answer for ("predict", "predict_proba",
        "decision_function") an array with a row for each given row, as the method returns it, or
        for each of ``rows``.
    known : array of bool of shape (n_rows,) or None
        Which rows have a response; None if all have.
    doubt : str or None
        Why the responses should not be believed for this model, as the end of the sentence "the
        rows are judged by V, because ..."; None if they may be believed.
    rows : array of int or None
        Which given row each response is about, if not each once and in order; a row may have
        several.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.families import Unseen
    >>> Unseen("exact", {"predict": np.array([0, 1])}).doubt is None
    True
    """

    kind: Kind
    responses: Mapping[str, AnyArray] = field(repr=False)
    known: Bools | None = field(default=None, repr=False)
    doubt: str | None = None
    rows: Ints | None = field(default=None, repr=False)


Asked = Callable[[], Unseen]


class Family(ABC):
    """Base of all families: what a subclass does not say, the family cannot do.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from leavezero.families import Family
    >>> class Silent(Family):
    ...     name = "silent"
    ...     def covers(self, estimator):
    ...         return isinstance(estimator, SVC)
    >>> Silent().refuses(SVC())
    'the family silent knows nothing of rows that a model has not seen'
    """

    name: str = "unnamed"
    pays_alone: bool = False  # whether fitting and asking together is faster for one model too
    makes_drafts: bool = False  # whether draft_many ever returns models

    @abstractmethod
    def covers(self, estimator: Any) -> bool:
        """Tell whether the estimator, fitted or not, is of this kind."""

    def refuses(self, estimator: Any) -> str | None:
        """Return why unseen rows are not available for these parameters; None if they are."""
        return f"the family {self.name} knows nothing of rows that a model has not seen"

    def unseen(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> Unseen:
        """Return what a fitted model says about each row of its data, as if not seen.

        The rows and the weights are those that the model was fitted to; others are refused.
        """
        raise ValueError(f"{self.refuses(model)}.")

    def unseen_many(
        self, models: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> list[Asked]:
        """Return for each of some models fitted together a call that answers as :meth:`unseen`.

        What they share is computed once, at the first call that needs it; a model that cannot
        answer raises in its own call.
        """
        return [partial(self.unseen, model, X, y, sample_weight) for model in models]

    def shares(self, estimator: Any) -> Any:
        """Return what an unfitted estimator has in common with those it can be fitted with.

        Estimators with an equal, hashable answer are fitted together by :meth:`fit_many`; None is
        fitted by itself.
        """
        return None

    def most_together(self, estimator: Any) -> int:
        """Return how many estimators like this one are fitted together at most."""
        return MOST_TOGETHER

    def order_key(self, estimator: Any) -> Any:
        """Return what orders estimators that share something, those with most in common together.

        Where they are too many for one task, they are parted along this order.
        """
        return 0

    def fit_many(
        self, estimators: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> None:
        """Fit estimators that share something, each as by itself, doing the shared work once.

        What cannot be fitted together is an error; the estimators are then fitted one by one.
        """
        raise ValueError(f"the family {self.name} fits its estimators one by one.")

    def draft_many(
        self, estimators: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> list[Any] | None:
        """Return models that answer as the fitted estimators would, where solving them is faster.

        None where it is not; then :meth:`fit_many` fits them. A model for which :meth:`is_draft` is
        true is never handed to users: the one that wins is fitted plainly. The others are fitted.
        """
        return None

    def is_draft(self, model: Any) -> bool:
        """Tell whether a model only answers, and is not of the class that users gave."""
        return False

    def remember(self, models: list[Any], X: Table, y: AnyArray) -> None:
        """Note what :meth:`respond_many` needs of models that were fitted together elsewhere.

        X and y are what they were fitted to. What a fit notes beside its models stays behind when
        they travel from another process.
        """
        return

    def respond_many(self, models: list[Any], X: Table) -> Sequence[Mapping[str, AnyArray]] | None:
        """Return what models fitted together say of rows, by method; None if it is no faster.

        A method that is missing is asked of the model itself.
        """
        return None
