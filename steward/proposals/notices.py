"""What the lines of a change do not show, in sentences: endings, final newline, mode, hidden characters."""

from __future__ import annotations

from steward.proposals.lines import BOM, ending_of, split, text_of
from steward.proposals.proposal import FileChange
from steward.visible import hidden


def notices(change: FileChange, gone: tuple[bytes, ...], come: tuple[bytes, ...]) -> tuple[str, ...]:
    """Sentences on a change of which the lines ``gone`` are removed and the lines ``come`` are added."""
    said: list[str] = []
    base, result = change.base, change.result
    if change.binary:
        size = len(base if base is not None else result or b"")
        said.append(f"Binary file of {size} bytes; its contents are not shown.")
    if change.action == "rename" and base == result:
        said.append("Renamed without a change of its contents.")
    if result == b"" and base is None:
        said.append("The new file is empty.")
    if base == b"" and result is None:
        said.append("The deleted file is empty.")
    if (
        change.base_mode is not None
        and change.result_mode is not None
        and change.base_mode != change.result_mode
    ):
        said.append(f"The mode changes from {change.base_mode:o} to {change.result_mode:o}.")
    if base is None and change.result_mode is not None and change.result_mode & 0o7111:
        said.append(f"The new file has mode {change.result_mode:o}.")
    if base is not None and result is not None and not change.binary:
        said += _ending_notices(base, result, gone, come)
        said += _hidden_notices(gone, come)
    elif result is not None and not change.binary:
        if result and not result.endswith(b"\n"):
            said.append("The new file has no newline at its end.")
        endings = {ending_of(line) for line in come} - {""}
        if "\r\n" in endings:
            mixed = "CRLF and LF endings mixed" if len(endings) > 1 else "CRLF endings"
            said.append(f"The new file has {mixed}.")
    return tuple(said)


def _ending_notices(
    base: bytes, result: bytes, gone: tuple[bytes, ...], come: tuple[bytes, ...]
) -> list[str]:
    said: list[str] = []
    if base and result and base.endswith(b"\n") != result.endswith(b"\n"):
        removed = base.endswith(b"\n")
        said.append(f"The newline at the end of the file is {'removed' if removed else 'added'}.")
    before = [ending_of(line) for line in gone]
    after = [ending_of(line) for line in come]
    moved: dict[tuple[str, str], int] = {}
    if len(gone) == len(come):
        for one, two in zip(before, after, strict=True):
            if one and two and one != two:
                moved[one, two] = moved.get((one, two), 0) + 1
    names = {"\n": "LF", "\r\n": "CRLF"}
    for (one, two), number in moved.items():
        lines = "one line" if number == 1 else f"{number} lines"
        said.append(f"The ending of {lines} changes from {names[one]} to {names[two]}.")
    if not moved:
        had = {ending_of(line) for line in split(base)} - {""}
        for style in sorted(set(after) - {""} - had):
            if had:
                said.append(f"Lines ending in {names[style]} come into a file that had none.")
    if gone and come and _plain(gone) == _plain(come):
        said.append("Only line endings or the final newline change.")
    elif gone and come and _squeezed(gone) == _squeezed(come):
        said.append("Only blank space changes.")
    if base.startswith(BOM) != result.startswith(BOM) and base and result:
        removed = base.startswith(BOM)
        said.append(f"The byte order mark is {'removed' if removed else 'added'}.")
    return said


def _hidden_notices(gone: tuple[bytes, ...], come: tuple[bytes, ...]) -> list[str]:
    before, after = (sum(hidden(text_of(line)) for line in lines) for lines in (gone, come))
    if before == after:
        return []
    number, verb = abs(after - before), "added" if after > before else "removed"
    return [f"{number} invisible character{'s are' if number > 1 else ' is'} {verb}."]


def _plain(lines: tuple[bytes, ...]) -> list[str]:
    return [text_of(line) for line in lines]


def _squeezed(lines: tuple[bytes, ...]) -> bytes:
    return b"".join(b"".join(lines).split())
