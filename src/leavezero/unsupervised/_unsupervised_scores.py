"""Which score a search without a target uses."""

from collections.abc import Iterable
from typing import Any

from leavezero.unsupervised._clusters import ClusterScore
from leavezero.unsupervised._components import ComponentScore
from leavezero.unsupervised._density import DensityScore
from leavezero.unsupervised._outliers import OutlierScore
from leavezero.unsupervised._unsupervised_score import UnsupervisedScore, last_step

# Mixtures are densities, and clusters only next to clusterers.
SCORES: tuple[UnsupervisedScore, ...] = (
    DensityScore(),
    ClusterScore(),
    ComponentScore(),
    OutlierScore(),
)


def find_score(estimators: Iterable[Any]) -> UnsupervisedScore | None:
    """Return the default score of all estimators, or None if they have none in common.

    Parameters
    ----------
    estimators : iterable of estimators
        Of a pipeline, the last step counts.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from leavezero.unsupervised import find_score
    >>> find_score([KMeans()]).name
    'depth of the valleys between clusters'
    """
    last = [last_step(estimator) for estimator in estimators]
    return next((score for score in SCORES if all(map(score.is_default_for, last))), None)
