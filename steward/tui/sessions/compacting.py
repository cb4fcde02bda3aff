"""``/compact`` and ``/summary``: the model sums up, the person reads, edits and accepts; nothing goes before that."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.segment import Segment

from steward.errors import NothingYet, StewardError
from steward.tui.conversation.blocks import FoldBlock
from steward.tui.lines import Line

if TYPE_CHECKING:
    from steward.tui.app import StewardApp
    from steward.tui.looks import Looks
    from steward.tui.sessions.summary import SummaryScreen


class SummaryBlock(FoldBlock):
    """The summary that the conversation goes on from, folded."""

    def __init__(self, summary: str) -> None:
        super().__init__()
        self.summary = summary

    def headline(self, looks: Looks) -> Line:
        words = len(self.summary.split())
        return [Segment(f"summary · {words:,} words · /summary changes it", looks.faint)]

    def body(self, width: int, looks: Looks) -> list[Line]:
        from steward.tui.markdown import render

        return render(self.summary, width, looks)

    def text(self) -> str:
        return self.summary


class Compacting:
    """Has summaries made, read and changed."""

    def __init__(self, app: StewardApp) -> None:
        self._app = app
        self._screen: SummaryScreen | None = None
        self._known = ""

    async def compact(self) -> None:
        """Have the model sum up, and go on from what the person accepts of it."""
        app, steward = self._app, self._app.steward
        async with app.turns.held("summing up", "compact the conversation", self._stop):
            try:
                summary = await steward.propose_summary()
            except StewardError:
                if app.turns.interrupted:
                    app.feed.say("Interrupted; the conversation is as it was.", "warning")
                    return
                app.feed.say("Nothing was compacted; the conversation is as it was.", "warning")
                raise
            app.turns.doing("the summary waits for you")
            accepted = await self._read(
                "The model's summary; accept it, and the conversation goes on from it", summary
            )
            if accepted is None:
                app.feed.say("Nothing was compacted; the conversation is as it was.", "info")
                return
            self._known = accepted.strip()
            await steward.accept_summary(accepted)
        self._show(accepted)
        await app.deeds.look()

    async def change(self) -> None:
        """Show the summary that the conversation goes on from, and put in its place what the person accepts."""
        app, steward = self._app, self._app.steward
        before = steward.summary
        if not before:
            raise NothingYet("summary", "This conversation was not compacted, so it has no summary.")
        async with app.turns.held("reading the summary", "change its summary", self._stop):
            changed = await self._read("The summary that this conversation goes on from", before)
            if changed is None or changed.strip() == before:
                return
            self._known = changed.strip()
            await steward.revise_summary(changed)
        app.feed.say(
            "The conversation goes on from the changed summary; the prompt cache begins anew.", "done"
        )
        self._show(changed)
        await app.deeds.look()

    def look(self) -> None:
        """Show the summary when the conversation was compacted by itself."""
        summary = self._app.steward.summary
        if summary and summary != self._known:
            self._show(summary)

    def forget(self) -> None:
        """Another conversation is held; its summary, if it has one, is in what is shown of it."""
        self._known = self._app.steward.summary

    def _show(self, summary: str) -> None:
        self._known = summary.strip()
        self._app.feed.put(SummaryBlock(summary))

    async def _read(self, title: str, summary: str) -> str | None:
        from steward.tui.sessions.summary import SummaryScreen

        outside = self._app.outside
        # A confined steward can write to its state alone.
        place = Path(self._app.steward.workspace_view().state) if outside.helped else None
        self._screen = SummaryScreen(title, summary, outside, place)
        try:
            return await self._app.deeds.pick(self._screen)
        finally:
            self._screen = None

    def _stop(self) -> None:
        if self._screen is not None:
            self._screen.dismiss(None)
        else:
            self._app.steward.interrupt()
