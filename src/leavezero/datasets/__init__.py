"""Named data sets for experiments."""

from leavezero.datasets._load import (
    DataSet,
    Source,
    dataset_names,
    describe,
    fetch,
    find_source,
    load,
)
from leavezero.datasets._registry import Description, OpenMLRecord
from leavezero.datasets._ssl_book import Splits, load_splits

__all__ = [
    "DataSet",
    "Description",
    "OpenMLRecord",
    "Source",
    "Splits",
    "dataset_names",
    "describe",
    "fetch",
    "find_source",
    "load",
    "load_splits",
]
