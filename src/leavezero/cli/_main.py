"""Entry point of the command."""

import atexit
import gc
import os
import sys
from importlib.util import find_spec

_REQUIRED = ("typer", "rich", "pandas", "pyarrow", "skops", "skrub")


def main() -> None:
    """Run the command ``leavezero``; exit with 1 if the extra ``app`` is not installed.

    Examples
    --------
    >>> import sys
    >>> from leavezero.cli import main
    >>> sys.argv = ["leavezero", "--version"]
    >>> main()
    Traceback (most recent call last):
    SystemExit: 0
    """
    missing = [name for name in _REQUIRED if find_spec(name) is None]
    if missing:
        print(
            f"The command leavezero requires {', '.join(missing)}. "
            'Install with: pip install "leavezero[app]"',
            file=sys.stderr,
        )
        raise SystemExit(1)
    # Threads of OpenMP that wait actively for each other on a busy machine make boosting many times
    # slower. It is read when scikit-learn is imported.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    # skrub, skops and scikit-learn create a million objects that live until the end: fewer garbage
    # collections while they are imported, and none at the end, save half a second.
    gc.set_threshold(100_000)
    atexit.register(gc.freeze)
    from leavezero.cli._commands import app

    app(prog_name="leavezero")
