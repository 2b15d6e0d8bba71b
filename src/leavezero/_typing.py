"""Types that several packages share."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.floating[Any]]
Ints: TypeAlias = NDArray[np.integer[Any]]
Bools: TypeAlias = NDArray[np.bool_]
AnyArray: TypeAlias = NDArray[Any]

Table: TypeAlias = Any  # what a user calls X: an array or a frame
Params: TypeAlias = Mapping[str, Any]
RandomState: TypeAlias = int | np.random.RandomState | np.random.Generator | None
