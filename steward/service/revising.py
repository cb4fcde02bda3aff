"""The hand of the person in a pending change: what they leave out, what they say of it, what they write in it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeVar

from steward.errors import Conflict, NoSuchThing, UsageError
from steward.proposals import Choice, FileChange, Proposal, between, choose_files, file_diff, with_result
from steward.workspace import RepoPath

if TYPE_CHECKING:
    from steward.service.changes import Changes
    from steward.service.house import House
    from steward.service.reading import Kept
    from steward.service.talk import Talk

T = TypeVar("T")

NAMED = 12
"""Hunks that a sentence to the model names one by one."""

QUOTED = 40
"""Lines of a comment's range that are quoted."""

EDITED = 12_000
"""Characters of the person's edit that the model is told."""


@dataclass(frozen=True, slots=True)
class Comment:
    """What a person says about lines of one side of a change, counted from 1."""

    path: str
    side: Literal["base", "result"]
    first: int
    last: int
    text: str
    change: str = ""
    """The change whose review it was written in."""


def choose(changes: Changes, change: str, stamp: str, choices: Mapping[str, Choice | None]) -> Proposal:
    """The change without what the person left out, stored under its new stamp; it must be shown again.

    ``choices`` is by path; ``None`` leaves a file out and a file that is not named stays whole. ``stamp`` is that of
    what was shown. Raises ``Conflict`` when nothing would be left, ``StampMismatch`` or ``WrongStatus``.
    """

    def make(proposal: Proposal) -> Proposal:
        if unknown := choices.keys() - {file.path for file in proposal.files}:
            raise NoSuchThing(f"file of {proposal.id}", min(unknown))
        made = choose_files(proposal, choices)
        if not made.files:
            raise Conflict(f"Nothing of {proposal.id} would be left; discard it instead.")
        return made

    def tell(before: Proposal, _: Proposal) -> str:
        return (
            f"The person left parts of {before.id} out of it: {'; '.join(left_out(before, choices))}. "
            "It is still pending, without them; do not propose them again unless you are asked to."
        )

    return changes.revise(change, stamp, make, tell)


def left_out(proposal: Proposal, choices: Mapping[str, Choice | None]) -> tuple[str, ...]:
    """Which files, hunks and lines of a change the choices leave out, in words that hold no contents."""
    named: list[str] = []
    for file in proposal.files:
        choice = choices.get(file.path, file)
        if choice is None:
            named.append(f"all of {file.path}")
        elif isinstance(choice, Choice):
            named.extend(_parts(file, choice))
    if len(named) > NAMED:
        named[NAMED:] = [f"and {len(named) - NAMED} more hunks"]
    return tuple(named)


def _parts(file: FileChange, choice: Choice) -> Iterable[str]:
    hunks = file_diff(file, choice.context).hunks
    for number, hunk in enumerate(hunks):
        changed = {i for i, line in enumerate(hunk.lines) if line.sign in "+-"}
        kept = changed & set(choice.lines[number]) if number in choice.lines else changed
        if number not in choice.lines and number not in choice.hunks:
            kept = set[int]()
        if kept != changed:
            some = "some lines of " if kept else ""
            yield f"{some}hunk {number + 1} of {len(hunks)} of {file.path} ({hunk.header})"


def edit_result(
    changes: Changes,
    change: str,
    stamp: str,
    path: str,
    data: bytes,
    *,
    limit: int,
    told: Callable[[str], str] = str,
) -> Proposal:
    """The change leaving the person's own bytes at ``path``, under a new stamp; it must be shown again.

    ``limit`` is the most bytes a file of a change may have. The model is told the edit as a diff, which goes through
    ``told``. Raises ``UsageError`` above the limit, ``Conflict`` when nothing would be left, ``NoSuchThing``,
    ``StampMismatch`` or ``WrongStatus``.
    """
    if len(data) > limit:
        raise UsageError(f"{path} would have {len(data)} bytes; a change holds at most {limit} of one file.")

    def make(proposal: Proposal) -> Proposal:
        file = proposal.file(path)
        if file is None or file.result is None:
            raise NoSuchThing(f"result in {proposal.id}", path)
        edited = with_result(file, data)
        files = tuple(edited if f is file else f for f in proposal.files)
        files = tuple(f for f in files if not f.noop)
        if not files:
            raise Conflict(f"Nothing of {proposal.id} would be left; discard it instead.")
        note = f"You edited {file.path} yourself."
        notes = proposal.notes if note in proposal.notes else (*proposal.notes, note)
        return replace(proposal, files=files, notes=notes)

    def tell(before: Proposal, _: Proposal) -> str:
        file = before.file(path)
        return (
            f"The person edited what {before.id} leaves at {path} with their own hand. It is still pending with "
            "their text, which is not to be undone; what you amend goes on from it. Their edit of what you proposed:\n"
            + told(_edit(path, (file and file.result) or b"", data))
        )

    return changes.revise(change, stamp, make, tell)


def _edit(path: str, theirs: bytes, mine: bytes) -> str:
    """The person's edit as the hunks of a diff, in at most ``EDITED`` characters."""
    diff = between(path, theirs, mine)
    if diff.binary:
        return f"(bytes that are no text, {len(mine)} of them)"
    lines: list[str] = []
    for hunk in diff.hunks:
        lines.append(hunk.header)
        lines += (line.sign + (line.text if line.sign == "\\" else _shown(line.raw)) for line in hunk.lines)
    whole = "\n".join(lines)
    if len(whole) <= EDITED:
        return whole
    shown = whole[:EDITED].rpartition("\n")[0]
    return f"{shown}\n[{len(lines) - shown.count(chr(10)) - 1} more lines of the diff; readFile shows the result]"


def _shown(raw: bytes) -> str:
    return raw.decode("utf-8", "replace").removesuffix("\n")


def comment(
    proposal: Proposal, comments: Sequence[Comment], told: Callable[[str, str], str] = lambda _, text: text
) -> str:
    """All comments on a change as one message in the person's name: file, side, lines, quoted text, comment.

    What is quoted of a path goes through ``told`` first. Raises ``UsageError`` when there is none.
    """
    if not comments:
        raise UsageError("There is no comment to send.")
    parts = [f"My comments on {proposal.id} (stamp {proposal.short_stamp}):"]
    for number, said in enumerate(comments, 1):
        file = proposal.file(said.path)
        lines = f"line {said.first}" if said.first == said.last else f"lines {said.first}-{said.last}"
        side = "as the file is now" if said.side == "base" else "as you propose it"
        quoted = told(said.path, _quoted(file, said)) if file else "(no longer in the change)"
        parts.append(f"{number}. {said.path}, {lines} ({said.side}: {side})\n{quoted}\n{said.text.strip()}")
    parts.append(f'Please amend {proposal.id} accordingly (proposePatch with change="{proposal.id}").')
    return "\n\n".join(parts)


def _quoted(file: FileChange, said: Comment) -> str:
    data = (file.base if said.side == "base" else file.result) or b""
    lines = data.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")[said.first - 1 : said.last]
    rest = len(lines) - QUOTED
    more = [f"> [{rest} more lines]"] if rest > 0 else []
    return "\n".join([*(f"> {line}" for line in lines[:QUOTED]), *more])


class Revisions:
    """The part of ``Steward`` by which a person reworks a pending change."""

    _house: House

    @property
    def _talk(self) -> Talk:
        raise NotImplementedError

    async def choose(self, change: str, stamp: str, choices: Mapping[str, Choice | None]) -> Proposal:
        """Leave parts of a change out; see ``choose``. It has a new stamp and must be reviewed again."""
        return await self._moving(lambda: choose(self._house.changes, change, stamp, choices))

    async def edit_result(self, change: str, path: str, data: bytes, stamp: str) -> Proposal:
        """Put the person's own bytes in; see ``edit_result``. It has a new stamp and must be reviewed again."""
        limit = self._house.settings.tools.max_file_bytes
        guarded = self._talk.guarded
        return await self._moving(
            lambda: edit_result(
                self._house.changes,
                change,
                stamp,
                path,
                data,
                limit=limit,
                told=lambda text: guarded(self._without_keys(path, text)),
            )
        )

    async def comment(self, change: str, comments: Sequence[Comment]) -> str:
        """What to ask next, so that the model hears of the comments: see ``comment``."""
        message = await asyncio.to_thread(
            lambda: comment(self._house.changes.find(change), comments, self._without_keys)
        )
        return self._talk.guarded(message)

    async def reading(self, change: str) -> Kept | None:
        """What the person had made of a pending change when they last read it."""
        from steward.service.reading import find

        return await asyncio.to_thread(lambda: find(self._house.changes.store, change))

    async def keep_reading(self, change: str, kept: Kept) -> None:
        """Keep what the person makes of a pending change, until it is decided on."""
        from steward.service.reading import keep

        await asyncio.to_thread(lambda: keep(self._house.changes.store, change, kept))

    def _without_keys(self, path: str, text: str) -> str:
        """What the model may be told of a file's text, by the person's settings."""
        from steward.tools.redact import redacted, redacts

        return redacted(text) if redacts(self._house.workspace.policy, RepoPath.parse(path)) else text

    async def _moving(self, work: Callable[[], T]) -> T:
        raise NotImplementedError
