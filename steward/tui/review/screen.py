"""The review screen: a change whole, and the keys that decide about it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message

from steward.errors import StewardError
from steward.tui import sentences
from steward.tui.keys import REVIEW, bindings, entry
from steward.tui.lines import plain
from steward.tui.review.bars import Place, Title, standing, useful
from steward.tui.review.confirm import ANSWER, Confirm, Deed
from steward.tui.review.diff_view import DiffView
from steward.tui.review.one_line import OneLine
from steward.tui.review.reading import Reading, Readings
from steward.tui.review.rework import Rework
from steward.tui.review.rows import in_version
from steward.tui.status import KeyBar

if TYPE_CHECKING:
    from textual.app import App

    from steward.proposals import Proposal
    from steward.service import Steward
    from steward.service.views import Review
    from steward.tui.keyboard import Keyboard

TOO_SOON = f"That key came too soon after another, or before this could be read; press {ANSWER} once more."

SMALL = f"Type {ANSWER}, with shift, to answer; a small {ANSWER.lower()} may be the end of a word."

STOPPED = f"A key came right after {ANSWER}; nothing was written."


class ReviewScreen(Rework):
    """Shows one change. What it applies is what it has drawn, by stamp."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(REVIEW)

    DEFAULT_CSS = """
    ReviewScreen { background: $background; layers: base above; overflow: hidden; }
    ReviewScreen.-asked KeyBar { display: none; }
    ReviewScreen Input, ReviewScreen Input:focus {
        height: 1; border: none; background: $panel; padding: 0 1; display: none;
    }
    """

    class Decided(Message):
        """Something was done to the change: a sentence for the conversation, and its kind."""

        def __init__(self, sentence: str, kind: str) -> None:
            self.sentence = sentence
            self.kind = kind
            super().__init__()

    def __init__(
        self,
        steward: Steward,
        keyboard: Keyboard,
        change: str | None,
        then: str = "",
        readings: Readings | None = None,
    ) -> None:
        """``change`` is an id (the newest pending change); ``then`` is a command to ask for once it is drawn.

        ``readings`` remembers what was read before.
        """
        super().__init__()
        self._steward = steward
        self._keyboard = keyboard
        self._readings = readings if readings is not None else Readings()
        self.reading: Reading | None = None
        self._change = change
        self._then = then
        self._deciding = False
        self._loading = asyncio.Lock()
        """Held while the change is asked for, so that no older version is shown after a newer one."""
        self._discards = ""
        """The stamp of what a reason is being typed for."""
        self._last_key = ""
        self._twice = False
        """Whether the key being handled is the one before it pressed again."""
        self.drawn: float | None = None
        """When the diff had been on the screen."""
        self.review: Review | None = None

    def compose(self) -> ComposeResult:
        yield Title()
        yield DiffView()
        yield Confirm()
        yield OneLine(select_on_focus=False)
        yield Place()
        yield KeyBar(self._keys())

    def on_mount(self) -> None:
        self.query_one(OneLine).cursor_blink = False
        self.query_one(DiffView).focus()
        self.query_one(Title).note = "…"
        self.run_worker(self._load, group="load", exclusive=True, exit_on_error=False)

    # Showing

    async def _load(self) -> None:
        """Ask for the change and show it; if it is another one than was shown, say so."""
        async with self._loading:
            try:
                review = await self._steward.review(self._change)
                reading = await self._readings.of(review, self._steward)
            except StewardError as error:
                if not self.gone:
                    self.query_one(Title).note = plain(str(error))
                    self.query_one(Title).refresh()
                    self._say(str(error))
                return
            if not self.gone:
                self._loaded(review, reading)

    def _loaded(self, review: Review, reading: Reading) -> None:
        before = self.review
        self._change = review.proposal.id
        self.review, self.reading = review, reading
        self.query_one(Title).review = review
        self._reworked()
        view, place = self.query_one(DiffView), self.query_one(Place)
        same = before is not None and before.proposal.stamp == review.proposal.stamp
        if not same:
            self._keep()
        if same and view.review is not None and _alike(before, review):
            return
        if self.query_one(Confirm).deed is not None:
            place.say("Something has changed meanwhile: the question is gone, and nothing was written.")
        self.query_one(Confirm).close()
        self.drawn = None
        if self._deciding and not same and self.reading.place is None:
            self.reading.place = in_version(
                view.place, view.diffs, review.diffs
            )  # what is different is the person's own doing
        view.show(review, self.reading, self.reading.place)
        if self.reading.place is None:
            view.begin()
        if before is not None and not same:
            place.say(
                f"{review.proposal.id} is not what you were reading: its stamp was "
                f"{before.proposal.short_stamp} and now is {review.proposal.short_stamp}. Read it again."
            )
        self._reworked()

    def _reworked(self) -> None:
        title = self.query_one(Title)
        title.left_out = self.reading.parts.sentence if self.reading is not None else ""
        title.comments = len(self.reading.comments) if self.reading is not None else 0
        title.refresh()
        if not self._input_for:
            self.query_one(KeyBar).show(self._keys())
        self._say_where()

    def look_again(self) -> None:
        """The changes may have moved."""
        self.run_worker(self._load, group="load", exclusive=True, exit_on_error=False)

    def on_diff_view_drawn(self) -> None:
        self.drawn = self._keyboard.now()
        self._say_where()
        then, self._then = self._then, ""
        if then:
            self.decide(then)

    def on_diff_view_moved(self) -> None:
        self.query_one(Place).say("")
        view = self.query_one(DiffView)
        if self.reading is not None and not view.since:
            self.reading.place = view.place
        self._say_where()

    def _say_where(self) -> None:
        view, place = self.query_one(DiffView), self.query_one(Place)
        if not view.rows:
            return
        place.where = standing(view)
        place.refresh()

    def _keys(self) -> tuple[tuple[str, str, str], ...]:
        app = cast("App[Any]", self.app)  # pyright: ignore[reportUnknownMemberType]
        return tuple(entry(app, *names) for names in useful(self.review, self.reading))

    # Keys

    def on_key(self, event: events.Key) -> None:
        confirm = self.query_one(Confirm)
        self._twice, self._last_key = event.key == self._last_key, event.key
        if confirm.deed is None:
            if self.hurried(event):
                event.stop()
                event.prevent_default()
                return
            means = self._means(event.key)
            if event.is_printable and not means:
                self._keyboard.stray()
            elif means and not event.is_printable:
                self._keyboard.sure()
            return
        event.stop()
        event.prevent_default()
        late = confirm.answered
        if event.key == ANSWER.lower() and not late:
            confirm.tell(SMALL)
        elif event.key != ANSWER:
            confirm.close()
            if event.is_printable:
                self._keyboard.stray()
            self.query_one(Place).say(STOPPED if late else "Nothing was written.")
        elif late:
            pass
        elif not self._keyboard.deliberate(confirm.drawn):
            confirm.tell(TOO_SOON)
        else:
            confirm.answer(self._answered, self._keyboard.pause, self._keyboard.now)

    def _answered(self) -> None:
        """The answer counts: nothing came after it."""
        confirm = self.query_one(Confirm)
        deed = confirm.deed
        confirm.close()
        if deed is not None:
            self._do(deed)

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        self._keyboard.stray()
        if self.query_one(Confirm).deed is not None:
            self.query_one(Confirm).close()
            self.query_one(Place).say("A paste is never an answer; nothing was written.")

    def _means(self, key: str) -> bool:
        return any(key in bindings.key_to_bindings for _, bindings in self._modal_binding_chain)

    def action_back(self) -> None:
        """Leave the line being typed, or the review."""
        view = self.query_one(DiffView)
        if self._input_for:
            self._close_input()
            self.query_one(Place).say("")
        elif view.mark is not None:
            view.action_range()
        elif unsent := self._unsent:
            self._leave(f"{unsent} on {self._change}; s in the review sends.", "info")
        else:
            self.dismiss()

    def action_decide(self, command: str) -> None:
        """A key that decides about the change."""
        if not self._keyboard.deliberate(self.drawn):
            self.query_one(Place).say("That key came too soon after another; press it once more.")
        elif self._keyboard.doubtful and not self._twice:
            self.query_one(Place).say(
                "Keys came that mean nothing here; press this one once more if you meant it."
            )
        else:
            self._keyboard.sure()
            self.decide(command)

    def decide(self, command: str) -> None:
        """Ask about a command that decides about the change, or say why it cannot be."""
        review, place = self.review, self.query_one(Place)
        if review is None or self._deciding:
            return
        proposal = review.proposal
        match command:
            case "apply-change":
                if proposal.status != "pending":
                    place.say(f"{proposal.id} is {proposal.status}; only a pending change can be applied.")
                elif self.query_one(DiffView).since:
                    place.say("Only what changed since your last look is shown; i shows the whole change.")
                elif self.reading is not None and self.reading.parts:
                    self._work(self.choose(review, self.reading))
                elif review.stale:
                    named = ", ".join(file.path for file in review.stale)
                    place.say(f"{proposal.id} is stale ({named}) and cannot be applied; b re-anchors it.")
                else:
                    self._ask("apply", review)
            case "undo-change":
                if proposal.status != "applied":
                    place.say(f"{proposal.id} is {proposal.status}; only an applied change can be undone.")
                else:
                    self._ask("undo", review)
            case "rebase-change":
                if proposal.status != "pending":
                    place.say(
                        f"{proposal.id} is {proposal.status}; only a pending change can be re-anchored."
                    )
                elif not review.stale:
                    place.say(f"{proposal.id} is not stale; there is nothing to re-anchor.")
                else:
                    self._work(self._rebase(proposal))
            case "discard-change":
                if proposal.status != "pending":
                    place.say(f"{proposal.id} is {proposal.status}; only a pending change can be discarded.")
                else:
                    place.say(f"{self._unsent} will be forgotten." if self._unsent else "")
                    self._ask_reason(proposal)
            case _:
                pass

    def _ask_reason(self, proposal: Proposal, typed: str = "") -> None:
        self._discards = proposal.stamp
        self._open_input("discard", f"Why discard {proposal.id}?", "discards it", "keeps it", typed)

    @property
    def _unsent(self) -> str:
        """How many comments could still be sent, in words; empty when there are none."""
        if self.reading is None or not self.reading.comments or self.reading.proposal.status != "pending":
            return ""
        return sentences.count(len(self.reading.comments), "unsent comment")

    def _ask(self, deed: Deed, review: Review) -> None:
        proposal = review.proposal
        added = sum(count.added for count in review.counts)
        removed = sum(count.removed for count in review.counts)
        many = len(review.counts)
        files = review.counts[0].path if many == 1 else sentences.count(many, "file")
        applies = deed == "apply"
        warnings = [
            f"{path} {text}" if text[:1].islower() else f"{path}: {text}" for path, text in review.banners
        ]
        if review.hidden and applies:
            warnings.append(f"It adds {sentences.count(review.hidden, 'hidden character')}.")
        if review.overlaps:
            warnings.append(f"Other pending changes touch the same files: {', '.join(review.overlaps)}.")
        if review.instructions_changed and applies:
            warnings.append(f"Instructions changed since: {', '.join(review.instructions_changed)}.")
        if (unsent := self._unsent) and applies:
            warnings.append(f"{unsent} will be forgotten; s sends first.")
        self.query_one(Place).say("")
        confirm = self.query_one(Confirm)
        confirm.ask(
            deed,
            f"{proposal.id} · +{added} −{removed} in {files} · stamp {proposal.short_stamp}",
            tuple(warnings),
        )
        self.query_one(DiffView).focus()
        confirm.call_after_refresh(self._asked)

    def _asked(self) -> None:
        confirm = self.query_one(Confirm)
        if confirm.deed is not None and confirm.drawn is None:
            confirm.drawn = self._keyboard.now()

    # Doing

    def _do(self, deed: Deed) -> None:
        if self.review is not None and not self._deciding:
            proposal = self.review.proposal
            self._work(self._apply(proposal) if deed == "apply" else self._undo(proposal))

    def _work(self, work: Coroutine[Any, Any, None]) -> None:
        self._deciding = True
        # The app's, since it goes on and has an end to tell when the review is left.
        self.app.run_worker(self._guarded(work), group="decide", exit_on_error=False)  # pyright: ignore[reportUnknownMemberType]

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except StewardError as error:
            self._say(str(error), "error")
            if not self.gone:
                self.look_again()
        finally:
            self._deciding = False

    def _say(self, sentence: str, kind: str = "info") -> None:
        """Say it here, or in the conversation when the review was left meanwhile."""
        if self.gone:
            self.app.post_message(self.Decided(sentence, kind))  # pyright: ignore[reportUnknownMemberType]
        else:
            super()._say(sentence)

    async def _apply(self, proposal: Proposal) -> None:
        done = await self._steward.apply_change(proposal.id, proposal.stamp)
        self._leave(sentences.applied(done.id, done.paths, done.warnings), "done")

    async def _undo(self, proposal: Proposal) -> None:
        done = await self._steward.undo_change(proposal.id)
        self._leave(sentences.applied(done.id, done.paths, done.warnings, "undone"), "done")

    async def _rebase(self, proposal: Proposal) -> None:
        moved = await self._steward.rebase_change(proposal.id)
        await self._load()
        self._say(f"{moved.id} was re-anchored and has the stamp {moved.short_stamp}. Read it again.")

    async def _discard(self, proposal: Proposal, reason: str) -> None:
        gone = await self._steward.discard_change(proposal.id, reason)
        because = f": {plain(reason)}" if reason else ""
        self._leave(f"{plain(gone.id)} discarded{because}", "info")

    def _leave(self, sentence: str, kind: str) -> None:
        self.app.post_message(self.Decided(sentence, kind))  # pyright: ignore[reportUnknownMemberType]
        self.dismiss()

    # The line for a reason or a search

    def action_search(self) -> None:
        """Type what to find."""
        self._open_input("search", "find in this change", "finds", "leaves")

    def typed(self, purpose: str, text: str) -> None:
        if purpose == "search":
            found = self.query_one(DiffView).search(text)
            self._say_where()
            if text and not found:
                self.query_one(Place).say(f"“{text}” is not in this change.")
        elif purpose == "comment":
            self.commented(text)
        elif purpose == "discard" and self.review is not None and not self._deciding:
            proposal = self.review.proposal
            if proposal.stamp == self._discards:
                self._work(self._discard(proposal, text))
            else:
                self._ask_reason(proposal, text)
                self._say(
                    f"{proposal.id} is not what it was when you pressed d; enter once more discards it."
                )


def _alike(before: Review | None, now: Review) -> bool:
    """Whether a reader would see no difference."""
    return before is not None and (
        before.proposal.status,
        before.stale,
        before.overlaps,
        before.instructions_changed,
    ) == (now.proposal.status, now.stale, now.overlaps, now.instructions_changed)
