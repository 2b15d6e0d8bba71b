"""The command ``leavezero``."""

from leavezero.cli._main import main

__all__ = ["main"]
