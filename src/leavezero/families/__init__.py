"""What we know about one kind of estimator."""

from leavezero.families._base import Family, Kind, Unseen
from leavezero.families._registry import family_of, register_family

__all__ = ["Family", "Kind", "Unseen", "family_of", "register_family"]
