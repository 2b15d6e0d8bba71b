"""The metrics of a search, whichever way the user names them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from leavezero.engine._metrics import Metric, resolve_metric

SINGLE = "score"  # the name of the columns of a single metric


@dataclass(frozen=True, eq=False)
class Scoring:
    """Metrics by the names of their columns.

    A callable that returns a dictionary is one metric here; its names are known when it is called.
    """

    metrics: dict[str, Metric]
    several: bool

    @property
    def scorers(self) -> Any:
        """What scikit-learn calls ``scorer_``: a callable, or a dictionary of them."""
        found = {name: metric.scorer or own_score for name, metric in self.metrics.items()}
        return found if self.several else found[SINGLE]


def resolve_scoring(scoring: Any, owner: str) -> Scoring:
    """Return the metrics that a name, a callable, a list or a dictionary stands for.

    Examples
    --------
    >>> list(resolve_scoring(["accuracy", "roc_auc"], "a search").metrics)
    ['accuracy', 'roc_auc']
    """
    if isinstance(scoring, list | tuple | set):
        names = list(scoring) if not isinstance(scoring, set) else sorted(scoring)
        if not names or len(set(names)) < len(names) or not all(isinstance(n, str) for n in names):
            raise ValueError(
                f"scoring of {owner} as a list must hold different names of scorers, got "
                f"{scoring!r}. Use a dictionary of name and callable for callables."
            )
        return Scoring({name: resolve_metric(name, owner) for name in names}, several=True)
    if isinstance(scoring, Mapping):
        if not scoring or not all(isinstance(name, str) for name in scoring):
            raise ValueError(
                f"scoring of {owner} as a dictionary must map names to scorers, got {scoring!r}. "
                'Use {"accuracy": "accuracy"} for one.'
            )
        metrics = {name: resolve_metric(scorer, owner) for name, scorer in scoring.items()}
        return Scoring(metrics, several=True)
    return Scoring({SINGLE: resolve_metric(scoring, owner)}, several=False)


def own_score(estimator: Any, X: Any, y: Any = None, **params: Any) -> float:
    """Score a model by its own method, as a scorer does."""
    return float(estimator.score(X, y, **params))
