"""The command line: words to calls and an exit code."""

from leavezero.cli._main import main

__all__ = ["main"]
