"""What a reader takes of a change and what they leave out, by line, whatever context the diff is read with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from steward.tui import sentences
from steward.tui.review.rows import CodeRow

if TYPE_CHECKING:
    from steward.proposals import Choice
    from steward.proposals.diff import FileDiff, Hunk, Line
    from steward.tui.review.rows import Row

Taken = Literal["whole", "part", "none"]


class Parts:
    """Everything is taken at first. Files count from 0 as in the review; ``diffs`` are those the review came with."""

    def __init__(self, diffs: Sequence[FileDiff]) -> None:
        self._diffs = diffs
        self._out: set[tuple[int, str, int]] = set()
        self._files_out: set[int] = set()
        """Files that have no lines and are left out."""

    @property
    def lines_out(self) -> tuple[tuple[int, str, int], ...]:
        """The lines that are left out: file, sign, and number on the side of that sign."""
        return tuple(sorted(self._out))

    @property
    def files_out(self) -> tuple[int, ...]:
        """The files without lines that are left out."""
        return tuple(sorted(self._files_out))

    def restore(self, lines: Iterable[tuple[int, str, int]], files: Iterable[int]) -> None:
        """Leave out what was left out before, of the same version."""
        self._out = set(lines)
        self._files_out = set(files)

    def is_out(self, file: int, line: Line | None) -> bool:
        """Whether a line is left out."""
        return line is not None and (key := _key(file, line)) is not None and key in self._out

    def taken(self, file: int, lines: Iterable[Line]) -> Taken:
        """How much of these lines is taken."""
        keys = _keys(file, lines)
        out = len(keys & self._out)
        return "whole" if not out else "none" if out == len(keys) else "part"

    def taken_file(self, file: int) -> Taken:
        """How much of a file is taken."""
        if file in self._files_out:
            return "none"
        return self.taken(file, self.lines_of(file))

    def lines_of(self, file: int) -> list[Line]:
        """All lines of a file's hunks."""
        return [line for hunk in self._diffs[file].hunks for line in hunk.lines]

    def hunk_of(self, file: int, line: Line | None) -> Hunk | None:
        """The hunk that holds a line, which may have been read with more context."""
        if line is None:
            return None
        for hunk in self._diffs[file].hunks:
            if line.old_no and hunk.old_start <= line.old_no < hunk.old_start + hunk.old_lines:
                return hunk
            if line.new_no and hunk.new_start <= line.new_no < hunk.new_start + hunk.new_lines:
                return hunk
        return None

    def beginnings(self, rows: Sequence[Row]) -> list[int]:
        """Where each hunk begins to change something, among rows that may show more context."""
        first = {
            next(key for line in hunk.lines if (key := _key(file, line)) is not None)
            for file, diff in enumerate(self._diffs)
            for hunk in diff.hunks
        }
        return [
            index
            for index, row in enumerate(rows)
            if isinstance(row, CodeRow)
            and any(line is not None and _key(row.file, line) in first for line in (row.old, row.new))
        ]

    def toggle(self, file: int, lines: Iterable[Line]) -> bool:
        """Leave these lines out, or take them again if all of them are out; whether there was anything to do."""
        keys = _keys(file, lines)
        if keys and keys <= self._out:
            self._out -= keys
        else:
            self._out |= keys
        return bool(keys)

    def toggle_file(self, file: int) -> bool:
        """Leave a whole file out, or take it again."""
        if self._diffs[file].hunks:
            return self.toggle(file, self.lines_of(file))
        self._files_out ^= {file}
        return True

    def __bool__(self) -> bool:
        """Whether anything is left out."""
        return bool(self._out or self._files_out)

    @property
    def sentence(self) -> str:
        """What is left out, in few words; empty for nothing."""
        hunks = lines = 0
        for file, diff in enumerate(self._diffs):
            for hunk in diff.hunks:
                keys = _keys(file, hunk.lines)
                out = len(keys & self._out)
                hunks += bool(keys) and out == len(keys)
                lines += out if out < len(keys) else 0
        files = len(self._files_out)
        counts = ((files, "file"), (hunks, "hunk"), (lines, "line"))
        return ", ".join(sentences.count(number, noun) for number, noun in counts if number)

    def choices(self) -> dict[str, Choice | None]:
        """The same as the steward takes it: only files of which something is left out."""
        from steward.proposals import Choice

        found: dict[str, Choice | None] = {}
        for file, diff in enumerate(self._diffs):
            taken = self.taken_file(file)
            if taken == "whole":
                continue
            if taken == "none" and not _moves(diff):
                found[diff.path] = None
                continue
            whole: list[int] = []
            some: dict[int, tuple[int, ...]] = {}
            for number, hunk in enumerate(diff.hunks):
                match self.taken(file, hunk.lines):
                    case "whole":
                        whole.append(number)
                    case "part":
                        some[number] = tuple(
                            i for i, line in enumerate(hunk.lines) if not self.is_out(file, line)
                        )
                    case "none":
                        pass
            found[diff.path] = Choice(tuple(whole), some) if file not in self._files_out else None
        return found


def _moves(diff: FileDiff) -> bool:
    """Whether more than lines changes: a rename or a mode stays when every line is left out."""
    change = diff.change
    return change.old_path is not None or (
        change.base is not None and change.result is not None and change.base_mode != change.result_mode
    )


def _key(file: int, line: Line) -> tuple[int, str, int] | None:
    match line.sign:
        case "-":
            return (file, "-", line.old_no or 0)
        case "+":
            return (file, "+", line.new_no or 0)
        case _:
            return None


def _keys(file: int, lines: Iterable[Line]) -> set[tuple[int, str, int]]:
    return {key for line in lines if (key := _key(file, line)) is not None}
