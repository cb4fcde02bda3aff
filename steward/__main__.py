"""The door: no module from the current directory, safe descriptors, then the command line."""

from __future__ import annotations

import gc
import io
import os
import sys


def main() -> None:
    """Run the command line and leave with its exit code."""
    # What is imported stays: looking through it for garbage again and again takes a tenth of the time to start.
    gc.set_threshold(50_000, 20, 50)
    try:
        _leave_current_directory()
        _fill_closed_descriptors()
        from steward.cli.app import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = 130
    # All that is left goes with the process: a last look through it for garbage takes a tenth of a short command.
    gc.freeze()
    sys.exit(code)


def _leave_current_directory() -> None:
    """Take the current directory off the module path: a repository's ``click.py`` must never be what we import.

    ``python -m`` puts it there, and so does an empty entry in PYTHONPATH. It stays when this very package, or
    Python's own library, runs from it.
    """
    try:
        here = os.path.realpath(os.getcwd())  # noqa: PTH109 -- pathlib would be imported from the path being mended
    except OSError:
        here = ""
    package = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))  # noqa: PTH120
    if here in (package, os.path.dirname(os.path.realpath(os.__file__))):  # noqa: PTH120
        return
    sys.path[:] = [entry for entry in sys.path if entry and os.path.realpath(entry) != here]


def _fill_closed_descriptors() -> None:
    """Open ``/dev/null`` where 0, 1 or 2 is closed, so that no file the steward opens takes their place."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nowhere = io.TextIOWrapper(io.FileIO(os.devnull, mode), encoding="utf-8")
            setattr(sys, name, nowhere)


if __name__ == "__main__":
    main()
