"""The entry point of the command."""

import sys
from importlib.util import find_spec

_NEEDED = ("typer", "rich")


def main() -> None:
    """Run the command ``leavezero``, or say what to install if its tools are missing.

    Examples
    --------
    >>> import sys
    >>> from leavezero.cli import main
    >>> sys.argv = ["leavezero", "--version"]
    >>> main()
    Traceback (most recent call last):
    SystemExit: 0
    """
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        print(
            f"The command needs {' and '.join(missing)}. "
            'Install it with: pip install "leavezero[app]"',
            file=sys.stderr,
        )
        raise SystemExit(1)
    from leavezero.cli._app import app

    app(prog_name="leavezero")
