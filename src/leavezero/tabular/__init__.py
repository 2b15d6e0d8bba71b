"""A table on disk to pipelines and candidates, and a chosen model to a file and back."""

from leavezero.tabular._comparison import Compared, Way, compare_ways
from leavezero.tabular._comparison_results import write_comparison
from leavezero.tabular._cost import Cost, measured
from leavezero.tabular._dates import DateParts
from leavezero.tabular._dialect import PACKING
from leavezero.tabular._errors import TableError
from leavezero.tabular._grid_file import read_grid
from leavezero.tabular._kinds import Column, describe_columns
from leavezero.tabular._models import MODELS, candidates
from leavezero.tabular._named import AUGMENTERS, named_augmenter, named_metric
from leavezero.tabular._pipelines import make_pipeline_for
from leavezero.tabular._prediction import check_table, write_predictions
from leavezero.tabular._preparation import Prepared, prepare
from leavezero.tabular._read import Source, read_table
from leavezero.tabular._results import make_folder, write_results
from leavezero.tabular._schema import Schema
from leavezero.tabular._selection import Selected, select_model
from leavezero.tabular._split import Plan, plan_comparison
from leavezero.tabular._store import (
    TRUSTED,
    TableModel,
    load_model,
    other_versions,
    save_model,
    versions,
)
from leavezero.tabular._target import Target, decide_target
from leavezero.tabular._watch import Heard, label_of
from leavezero.tabular._wish import Wish
from leavezero.tabular._words import counted

__all__ = [
    "AUGMENTERS",
    "MODELS",
    "PACKING",
    "TRUSTED",
    "Column",
    "Compared",
    "Cost",
    "DateParts",
    "Heard",
    "Plan",
    "Prepared",
    "Schema",
    "Selected",
    "Source",
    "TableError",
    "TableModel",
    "Target",
    "Way",
    "Wish",
    "candidates",
    "check_table",
    "compare_ways",
    "counted",
    "decide_target",
    "describe_columns",
    "label_of",
    "load_model",
    "make_folder",
    "make_pipeline_for",
    "measured",
    "named_augmenter",
    "named_metric",
    "other_versions",
    "plan_comparison",
    "prepare",
    "read_grid",
    "read_table",
    "save_model",
    "select_model",
    "versions",
    "write_comparison",
    "write_predictions",
    "write_results",
]
