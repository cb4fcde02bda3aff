"""Reading a diff back: what it says of the result, whatever made it."""

from __future__ import annotations

from steward.proposals.diff import FileDiff
from steward.proposals.lines import split


def apply_diff(base: bytes, diff: FileDiff) -> bytes:
    """The result, read from the lines that are shown; ``ValueError`` when they are not of this base."""
    lines = split(base)
    done: list[bytes] = []
    at = 0
    for hunk in diff.hunks:
        start = hunk.old_start - 1 if hunk.old_lines else hunk.old_start
        done += lines[at:start]
        at = start
        for line in hunk.lines:
            if line.sign in (" ", "-"):
                if at >= len(lines) or lines[at] != line.raw:
                    raise ValueError(f"line {at + 1} is not the line of the diff")
                at += 1
            if line.sign in (" ", "+"):
                done.append(line.raw)
    return b"".join(done + lines[at:])
