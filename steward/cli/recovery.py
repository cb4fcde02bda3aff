"""What was found undone when a command began, and how it is told beside the command's own end."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from steward.cli import output
from steward.errors import StewardError
from steward.visible import line

if TYPE_CHECKING:
    from steward.service import House


@contextmanager
def recovered(house: House) -> Generator[None, None, None]:
    """Recover, and tell what came of it when the block ends, however it ends.

    An error of the block that says the same, as of a damaged database, is said once: as the error.
    """
    notes = house.changes.recover()
    said = ""
    try:
        yield
    except StewardError as error:
        said = str(error)
        raise
    finally:
        for note in notes:
            if not said or said not in note:
                output.note(f"Warning: {line(note)}")
