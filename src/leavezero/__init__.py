"""Model selection without cross-validation.

Every candidate is fitted once, on all rows, and scored on a validation set generated from the
training data, corrected by leave-one-out and out-of-bag scores from the same fit. The best fitted
model is returned as it is.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from leavezero._version import __version__ as __version__

if TYPE_CHECKING:
    from leavezero._public_api import *  # noqa: F403, which are all in its __all__
    from leavezero._public_api import __all__ as __all__
else:  # the command line starts without scikit-learn

    def __getattr__(name: str) -> Any:
        """Import all public names at the first use of one, or of a subpackage."""
        public = import_module("leavezero._public_api")
        globals().update({one: getattr(public, one) for one in ("__all__", *public.__all__)})
        if name in globals():
            return globals()[name]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__getattr__("__all__")})
