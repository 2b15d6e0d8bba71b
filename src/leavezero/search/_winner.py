"""What a fitted search does as its best model does."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from leavezero._typing import AnyArray, Table
from leavezero.engine import SINGLE
from leavezero.search._routing import route_score


def _winner_has(method: str) -> Callable[["WinnerMixin"], bool]:
    """Return a check that the fitted winner, or before fit the estimator, has a method."""

    def check(self: "WinnerMixin") -> bool:
        if not self.refit:
            raise AttributeError(
                f"{type(self).__name__} was made with refit=False, which keeps no model. "
                f"{method} needs one: set refit=True."
            )
        getattr(getattr(self, "best_estimator_", self._template()), method)
        return True

    return check


class WinnerMixin:
    """Methods of the best model, there exactly when it has them.

    Examples
    --------
    >>> from leavezero import GridSearchLZO
    >>> from leavezero.search._winner import WinnerMixin
    >>> issubclass(GridSearchLZO, WinnerMixin)
    True
    """

    refit: Any
    best_estimator_: Any
    scorer_: Any
    multimetric_: bool

    @abstractmethod
    def _template(self) -> Any:
        """Return the estimator whose kind is the search's own."""

    @property
    def classes_(self) -> AnyArray:
        """The classes of the best model."""
        _winner_has("classes_")(self)
        return self._winner().classes_

    @property
    def n_features_in_(self) -> int:
        """The number of columns that the best model was fitted on."""
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(f"{type(self).__name__} has no n_features_in_ before fit.")
        return int(self.best_estimator_.n_features_in_)

    def score(self, X: Table, y: AnyArray | None = None, **params: Any) -> float:
        """Return the best model's score on given rows, by the metric of the search."""
        _winner_has("fit")(self)
        model, scorer, name = self._winner(), self.scorer_, SINGLE
        if self.multimetric_:
            if not isinstance(self.refit, str):
                raise ValueError(
                    f"score of {type(self).__name__} with several metrics needs one of them: set "
                    "refit to its name, or call scorer_ yourself."
                )
            name = self.refit
        if isinstance(scorer, dict):
            scorer = scorer[name]
        value = scorer(model, X, y, **route_score(self, params, name))
        return float(value[name] if isinstance(value, dict) else value)

    @available_if(_winner_has("predict"))
    def predict(self, X: Table) -> AnyArray:
        """Return the best model's prediction for each row."""
        return self._winner().predict(X)

    @available_if(_winner_has("predict_proba"))
    def predict_proba(self, X: Table) -> AnyArray:
        """Return the best model's probability of each class, for each row."""
        return self._winner().predict_proba(X)

    @available_if(_winner_has("predict_log_proba"))
    def predict_log_proba(self, X: Table) -> AnyArray:
        """Return the best model's log-probability of each class, for each row."""
        return self._winner().predict_log_proba(X)

    @available_if(_winner_has("decision_function"))
    def decision_function(self, X: Table) -> AnyArray:
        """Return the best model's decision values, for each row."""
        return self._winner().decision_function(X)

    @available_if(_winner_has("score_samples"))
    def score_samples(self, X: Table) -> AnyArray:
        """Return the best model's own score of each row."""
        return self._winner().score_samples(X)

    @available_if(_winner_has("transform"))
    def transform(self, X: Table) -> Table:
        """Return the rows as the best model transforms them."""
        return self._winner().transform(X)

    @available_if(_winner_has("inverse_transform"))
    def inverse_transform(self, X: Table) -> Table:
        """Return transformed rows as they were before."""
        return self._winner().inverse_transform(X)

    def _winner(self) -> Any:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_
