"""Encode tables of any container as numeric arrays, and decode them again."""

from leavezero._tables._containers import (
    count_rows,
    is_pandas,
    is_polars,
    is_text,
    plain,
    stack_rows,
    take_rows,
)
from leavezero._tables._featurizer import Featurizer
from leavezero._tables._table_codec import ColumnKind, TableCodec

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
