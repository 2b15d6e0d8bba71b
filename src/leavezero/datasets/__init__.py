"""Named data sets for experiments."""

from leavezero.datasets._load import DataSet, dataset_names, load_dataset

__all__ = ["DataSet", "dataset_names", "load_dataset"]
