"""Scores of models without a target, from one fit per candidate."""

from leavezero.unsupervised._clusters import ClusterScore
from leavezero.unsupervised._components import ComponentScore
from leavezero.unsupervised._density import DensityScore
from leavezero.unsupervised._nearest_rows import NearestRows
from leavezero.unsupervised._outliers import OutlierScore
from leavezero.unsupervised._unsupervised_score import UnsupervisedScore
from leavezero.unsupervised._unsupervised_scores import find_score

__all__ = [
    "ClusterScore",
    "ComponentScore",
    "DensityScore",
    "NearestRows",
    "OutlierScore",
    "UnsupervisedScore",
    "find_score",
]
