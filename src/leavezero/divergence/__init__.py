"""Numbers between two samples."""

from leavezero.divergence._discrete import jensen_shannon_labels, total_variation_limit

__all__ = ["jensen_shannon_labels", "total_variation_limit"]
