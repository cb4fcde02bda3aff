"""Taking a part of a file's change: what is left out makes a new result, and so a new stamp."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from steward.proposals.diff import FileDiff, Line, file_diff
from steward.proposals.lines import split
from steward.proposals.proposal import Edit, FileChange, Proposal


@dataclass(frozen=True, slots=True)
class Choice:
    """What is kept of one file's diff, by position in ``FileDiff.hunks`` and ``Hunk.lines``, from 0.

    A hunk named in ``lines`` keeps exactly those of its added and removed lines; any other hunk is kept whole when
    it is in ``hunks``, else left out whole. ``context`` is that of the diff the positions were read from.
    """

    hunks: Collection[int] = ()
    lines: Mapping[int, Collection[int]] = field(default_factory=dict[int, Collection[int]])
    context: int = 3


def choose(change: FileChange, choice: Choice) -> FileChange:
    """The change with only the chosen hunks; all of them give it back, none gives ``result == base``.

    A deletion of which lines are left out becomes a modification. A rename stays a rename. A binary change is
    taken whole by naming hunk 0.
    """
    diff = file_diff(change, choice.context)
    everything = len(diff.hunks) or 1
    if not choice.lines and all(index in choice.hunks for index in range(everything)):
        return change
    if not diff.hunks:
        return with_result(change, change.base)
    kept = _kept(diff, choice)
    if not kept:
        return with_result(change, change.base)
    if kept == _changed(diff):
        return change
    result = _assembled(split(change.base or b""), diff, kept)
    return with_result(change, result)


def choose_files(proposal: Proposal, choices: Mapping[str, Choice | None]) -> Proposal:
    """The proposal with parts of its files, by path; ``None`` leaves a file out, an unnamed one stays whole.

    Files that are left without any change fall away; ``files`` is empty when nothing was kept. The stamp is new
    when anything was left out.
    """
    files: list[FileChange] = []
    for file in proposal.files:
        part = file
        if file.path in choices:
            choice = choices[file.path]
            if choice is None:
                continue
            part = choose(file, choice)
        if not part.noop:
            files.append(part)
    paths = {f.path for f in files} | {f.source for f in files}
    return replace(
        proposal,
        files=tuple(files),
        instructions=tuple(g for g in proposal.instructions if g.file in paths),
    )


def with_result(change: FileChange, result: bytes | None) -> FileChange:
    """The change leaving other bytes, as after a person's own edit; its edits are made from the difference."""
    if result == change.result:
        return change
    if change.base is None:
        return replace(change, result=result, edits=())
    if result is None:
        return replace(
            change,
            action="delete",
            path=change.source,
            old_path=None,
            result=None,
            result_mode=None,
            edits=(),
        )
    mode = change.result_mode if change.result_mode is not None else change.base_mode
    action = "rename" if change.old_path is not None else "modify"
    edits = edits_between(change.base, result)
    return replace(change, action=action, result=result, result_mode=mode, edits=edits)


def edits_between(base: bytes, result: bytes) -> tuple[Edit, ...]:
    """Replacements that lead from ``base`` to ``result``, each with lines enough around it to be the only one.

    Empty when there are none to give: bytes that are not UTF-8, or an empty base.
    """
    try:
        base.decode("utf-8")
        result.decode("utf-8")
    except UnicodeDecodeError:
        return ()
    if base == result or not base:
        return ()
    for context in (3, 8, 30):
        edits = _edits(base, result, context)
        if edits:
            return edits
    return (Edit(base.decode("utf-8"), result.decode("utf-8")),)


def _edits(base: bytes, result: bytes, context: int) -> tuple[Edit, ...]:
    edits: list[Edit] = []
    text = base
    for hunk in file_diff(FileChange("x", "modify", base, result), context).hunks:
        old = b"".join(line.raw for line in hunk.lines if line.sign in (" ", "-"))
        new = b"".join(line.raw for line in hunk.lines if line.sign in (" ", "+"))
        at = text.find(old)
        if not old or at < 0 or text.find(old, at + 1) >= 0:
            return ()
        edits.append(Edit(old.decode("utf-8"), new.decode("utf-8")))
        text = text[:at] + new + text[at + len(old) :]
    return tuple(edits) if text == result else ()


def _changed(diff: FileDiff) -> set[tuple[int, int]]:
    return {
        (h, i)
        for h, hunk in enumerate(diff.hunks)
        for i, line in enumerate(hunk.lines)
        if line.sign in ("+", "-")
    }


def _kept(diff: FileDiff, choice: Choice) -> set[tuple[int, int]]:
    kept: set[tuple[int, int]] = set()
    for h, i in _changed(diff):
        if h in choice.lines:
            if i in choice.lines[h]:
                kept.add((h, i))
        elif h in choice.hunks:
            kept.add((h, i))
    return kept


def _assembled(lines: list[bytes], diff: FileDiff, kept: set[tuple[int, int]]) -> bytes:
    done: list[bytes] = []
    at = 0
    for h, hunk in enumerate(diff.hunks):
        start = hunk.old_start - 1 if hunk.old_lines else hunk.old_start
        done += lines[at:start]
        at = start
        for i, line in enumerate(hunk.lines):
            at += line.sign in (" ", "-")
            if line.sign == " " or _stays(line, (h, i) in kept):
                done.append(line.raw)
    done += lines[at:]
    ending = b"\r\n" if any(line.endswith(b"\r\n") for line in done) else b"\n"
    # A last line without newline may have come to stand before others.
    return b"".join(line if line.endswith(b"\n") else line + ending for line in done[:-1]) + b"".join(
        done[-1:]
    )


def _stays(line: Line, kept: bool) -> bool:
    return (line.sign == "+" and kept) or (line.sign == "-" and not kept)
