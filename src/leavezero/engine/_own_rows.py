"""Rows of their own for models that may write into what they are given."""

import copy
from typing import Any


def writes_in_place(model: Any) -> bool:
    """Tell whether a parameter, however deep, says that rows need not be copied before a change.

    Parameters are read where they are kept: ``get_params`` takes longer than some answers.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> writes_in_place(Ridge(copy_X=False)), writes_in_place(Ridge())
    (True, False)
    """
    if isinstance(model, list | tuple):  # the steps of a pipeline, with their names
        return any(writes_in_place(part) for part in model)
    if not hasattr(model, "get_params"):
        return False
    return any(
        (name.startswith("copy") and not value) or writes_in_place(value)
        for name, value in vars(model).items()
        if name == name.strip("_")  # neither private nor learned
    )


def own_rows(model: Any, *tables: Any) -> tuple[Any, ...]:
    """Return tables for a model: as they are, unless it may write into them."""
    return copy.deepcopy(tables) if writes_in_place(model) else tables
