"""Any table to numbers, and back into the container that it came in."""

from leavezero._tables._codec import TableCodec
from leavezero._tables._columns import ColumnKind
from leavezero._tables._features import Featurizer
from leavezero._tables._rows import (
    count_rows,
    is_pandas,
    is_polars,
    is_text,
    plain,
    stack_rows,
    take_rows,
)

__all__ = [
    "ColumnKind",
    "Featurizer",
    "TableCodec",
    "count_rows",
    "is_pandas",
    "is_polars",
    "is_text",
    "plain",
    "stack_rows",
    "take_rows",
]
