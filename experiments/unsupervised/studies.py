"""All studies by name."""

from collections.abc import Mapping

from experiments.unsupervised.cluster_study import CLUSTERS
from experiments.unsupervised.component_study import COMPONENTS
from experiments.unsupervised.density_study import DENSITIES
from experiments.unsupervised.detector_study import OUTLIERS
from experiments.unsupervised.query_study import QUERIES
from experiments.unsupervised.stream_study import STREAMS
from experiments.unsupervised.study import Study

STUDIES: Mapping[str, Study] = {
    "clusters": CLUSTERS,
    "densities": DENSITIES,
    "components": COMPONENTS,
    "outliers": OUTLIERS,
    "streams": STREAMS,
    "queries": QUERIES,
}
