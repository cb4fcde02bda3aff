"""The keys by which a person reworks a change while reading it: leave out, comment, write themselves, compare."""

from __future__ import annotations

from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import SuspendNotSupported
from textual.message import Message

from steward.errors import StewardError
from steward.tui import sentences
from steward.tui.lines import plain
from steward.tui.review import editor
from steward.tui.review.asking import Asking
from steward.tui.review.bars import Place
from steward.tui.review.diff_view import DiffView
from steward.tui.review.rows import CodeRow, CommentRow, FileRow, IndexRow, TextRow

if TYPE_CHECKING:
    from steward.confine.outside import Outside
    from steward.proposals import Proposal
    from steward.service import Steward
    from steward.service.revising import Comment
    from steward.service.views import Review
    from steward.tui.keyboard import Keyboard
    from steward.tui.review.reading import Reading, Readings


class Rework(Asking):
    """The half of the review that makes another change of this one; nothing in it can write to the workspace."""

    class Ask(Message):
        """A question to ask, made of the person's comments."""

        def __init__(self, text: str) -> None:
            self.text = text
            super().__init__()

    _steward: Steward
    _keyboard: Keyboard
    _readings: Readings
    review: Review | None
    reading: Reading | None

    # What the screen itself does

    def _work(self, work: Coroutine[Any, Any, None]) -> None:
        raise NotImplementedError

    async def _load(self) -> None:
        raise NotImplementedError

    def _reworked(self) -> None:
        """Bars and keys are to say how things stand."""
        raise NotImplementedError

    def _keep(self) -> None:
        """Keep what the person has made of the change, also when the screen is left or killed meanwhile."""
        self.app.run_worker(self._kept(), group="keep", exit_on_error=False)  # pyright: ignore[reportUnknownMemberType]

    async def _kept(self) -> None:
        if self.review is not None and self.review.proposal.status == "pending":
            try:
                await self._readings.keep(self._steward, self.review.proposal.id)
            except StewardError as error:
                if self.is_mounted:
                    self._say(str(error))

    def _say(self, sentence: str) -> None:
        self.query_one(Place).say(sentence)

    def _refuse(self, sentence: str) -> None:
        """A key could do nothing here: it may not have been meant for this screen."""
        self._keyboard.stray()
        self._say(sentence)

    def _workable(self, wanted: str) -> tuple[Review, Reading] | None:
        """The change, if it can be reworked now; else says why not."""
        review, reading = self.review, self.reading
        if review is None or reading is None:
            return None
        if review.proposal.status != "pending":
            self._refuse(
                f"{review.proposal.id} is {review.proposal.status}; {wanted} only in a pending change."
            )
            return None
        return review, reading

    # Leaving out

    def action_take_hunk(self) -> None:
        """Leave the hunk (on the head of a file: the file) out, or take it again."""
        view, found = self.query_one(DiffView), self._takeable()
        if found is None or not view.rows:
            return
        row = view.rows[view.cursor]
        if isinstance(row, FileRow | IndexRow) or (isinstance(row, TextRow) and row.file >= 0):
            done = found.parts.toggle_file(row.file)
        elif isinstance(row, TextRow | CommentRow):
            done = False
        else:
            done = found.parts.toggle(row.file, view.lines_at(row))
        self._taken(done, "There is no hunk here.")

    def action_take_line(self) -> None:
        """Leave the line or the range out, or take it again."""
        found = self._takeable()
        if found is None:
            return
        rows = self.query_one(DiffView).chosen
        lines = [line for row in rows for line in (row.old, row.new) if line is not None]
        done = bool(rows) and found.parts.toggle(rows[0].file, lines)
        self._taken(done, "No line is added or removed here.")

    def _takeable(self) -> Reading | None:
        found = self._workable("parts are left out")
        if found is not None and self.query_one(DiffView).since:
            self._refuse("Only what changed since your last look is shown; i shows the whole change.")
            return None
        return found[1] if found is not None else None

    def _taken(self, done: bool, otherwise: str) -> None:
        if not done:
            self._refuse(otherwise)
            return
        self.query_one(DiffView).repaint()
        self._reworked()
        self._keep()

    async def choose(self, review: Review, reading: Reading) -> None:
        """Store the change without what is left out and show it again."""
        said = reading.parts.sentence
        made = await self._steward.choose(review.proposal.id, review.proposal.stamp, reading.parts.choices())
        await self._load()
        self._say(f"Without {said} {made.id} has the stamp {made.short_stamp}. Read it again; a applies it.")

    # Comments

    def action_comment(self) -> None:
        """Comment on the line or the range; on a comment, change it."""
        found, view = self._workable("comments are made"), self.query_one(DiffView)
        if found is None or not view.rows:
            return
        row = view.rows[view.cursor]
        if isinstance(row, CommentRow):
            self._editing = row.index
            self._open_input("comment", "empty takes the comment away", "keeps it", "leaves it", row.text)
            return
        self._about = _target(view, found[0])
        if self._about is None:
            self._refuse("A comment is about lines; there is none here.")
            return
        self._editing, self._about_in = None, found[0].proposal
        self._open_input("comment", f"comment on {_named(self._about)}", "keeps it", "leaves it")

    _editing: int | None = None
    _about: Comment | None = None
    _about_in: Proposal | None = None
    """The version whose lines it is about; another one may be shown before it is typed."""

    def commented(self, text: str) -> None:
        """The comment was typed."""
        from dataclasses import replace

        from steward.tui.review.reading import moved

        if self.reading is None:
            return
        comments = self.reading.comments
        if self._editing is not None and self._editing < len(comments):
            if text:
                comments[self._editing] = replace(comments[self._editing], text=text)
            else:
                del comments[self._editing]
        elif text and self._about is not None and self._about_in is not None:
            comments.append(moved(replace(self._about, text=text), self._about_in, self.reading.proposal))
        self.query_one(DiffView).changed()
        self._reworked()
        self._keep()

    def action_send(self) -> None:
        """Send all comments as one question and leave."""
        found = self._workable("comments are sent")
        if found is None:
            return
        review, reading = found
        if not reading.comments:
            self._refuse("There is no comment yet; c comments on a line, V begins a range.")
            return
        self._work(self._send(review, reading))

    async def _send(self, review: Review, reading: Reading) -> None:
        sent = tuple(reading.comments)
        text = await self._steward.comment(review.proposal.id, sent)
        reading.comments[:] = [comment for comment in reading.comments if comment not in sent]
        self._keep()
        self.app.post_message(self.Ask(text))  # pyright: ignore[reportUnknownMemberType]
        self.dismiss()

    # Since the last look

    def action_since(self) -> None:
        """Show only what changed since the last look, or the whole change again."""
        view = self.query_one(DiffView)
        if self.reading is None:
            return
        if self.reading.before is None:
            self._refuse(f"{self.reading.proposal.id} is as it was when you first looked at it.")
            return
        view.show_since(not view.since)
        self._reworked()

    # The person's own edit

    def action_edit(self) -> None:
        """Open what the change leaves in the person's editor."""
        found, view = self._workable("results are edited"), self.query_one(DiffView)
        if found is None or not view.rows:
            return
        row, diffs = view.rows[view.cursor], view.diffs
        path = diffs[max(row.file, 0)].path if diffs else ""
        file = found[0].proposal.file(path)
        if file is None or file.result is None:
            self._refuse(f"{plain(path)} is deleted by this change; there is nothing to edit.")
            return
        if self._steward.busy:
            self._say("A turn is running, which an editor would hold up; wait for its end, or stop it.")
            return
        argv = editor.command()
        if argv is None:
            self._say("Set VISUAL or EDITOR to the editor that is to be opened.")
            return
        line = next((n for row in view.chosen for n in (row.new and row.new.new_no,) if n), 1)
        outside: Outside | None = getattr(self.app, "outside", None)  # pyright: ignore
        # A confined steward can write to its state alone.
        confined = outside is not None and outside.helped
        place = Path(self._steward.workspace_view().state) if confined else None
        try:
            with self.app.suspend():  # pyright: ignore[reportUnknownMemberType]
                edited = editor.edit(argv, path, file.result, line, outside=outside, place=place)
        except SuspendNotSupported:
            self._say("The screen cannot be left for an editor here.")
            return
        if edited.data is None or edited.data == file.result:
            self._say(edited.sentence or f"{plain(path)} is unchanged.")
        else:
            self._work(self._edited(found[0], path, edited.data))

    async def _edited(self, review: Review, path: str, data: bytes) -> None:
        made = await self._steward.edit_result(review.proposal.id, path, data, review.proposal.stamp)
        await self._load()
        self._say(f"With your edit {made.id} has the stamp {made.short_stamp}. Read it again; a applies it.")


def _target(view: DiffView, review: Review) -> Comment | None:
    """The lines a comment would be about: those the change leaves, else those it takes away."""
    from steward.service.revising import Comment

    rows: list[CodeRow] = view.chosen
    new = [row.new.new_no for row in rows if row.new is not None and row.new.new_no]
    old = [row.old.old_no for row in rows if row.old is not None and row.old.old_no]
    if not rows or not (new or (old and not view.since)):
        return None
    path, change = view.diffs[rows[0].file].path, review.proposal.id
    if new:
        return Comment(path, "result", min(new), max(new), "", change)
    return Comment(path, "base", min(old), max(old), "", change)


def _named(comment: Comment) -> str:
    if comment.first == comment.last:
        return f"line {comment.first}"
    return f"{sentences.count(comment.last - comment.first + 1, 'line')} from {comment.first} on"
