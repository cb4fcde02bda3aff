"""``steward --plain``: the conversation as lines, one after the other, for screen readers and plain terminals."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, assert_never

from steward.cli import confirm, output, plain_lines
from steward.cli.diff_text import review_text
from steward.cli.plain_sessions import NAMES, Sessions
from steward.confine.outside import Outside
from steward.errors import NoSuchThing, StaleProposal, StewardError, UsageError, WrongStatus
from steward.events import (
    AnswerText,
    CallForming,
    ChangesMoved,
    Event,
    FocusMoved,
    InstructionsChanged,
    LimitNotice,
    Notice,
    ProposalMade,
    ReasoningText,
    Retrying,
    RoundEnded,
    RoundStarted,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from steward.service.commands import COMMANDS, find
from steward.visible import line

if TYPE_CHECKING:
    from steward.service import Steward

T = TypeVar("T")


def converse(steward: Steward, outside: Outside | None = None) -> int:
    """Ask for a line, do what it says, until ``/exit`` or the end of input; the exit code.

    Where ``outside`` has a helper, this process is confined first.
    """
    if outside is not None and outside.helped:
        steward.hold()
    with asyncio.Runner() as runner:

        def run(work: Coroutine[Any, Any, T]) -> T:
            return runner.run(work)

        plain = Plain(steward, run, outside)
        try:
            plain.open()
            while plain.going and (typed := plain_lines.read()) is not None:
                plain.take(typed)
        finally:
            run(steward.close())
    return 0


class Plain:
    """Carries lines to the steward and its answers back as lines. ``run`` runs a coroutine to its end."""

    def __init__(
        self,
        steward: Steward,
        run: Callable[[Coroutine[Any, Any, Any]], Any],
        outside: Outside | None = None,
    ) -> None:
        self._outside = outside or Outside()
        self._steward = steward
        self._run = run
        self._sessions = Sessions(steward, run, self._outside)
        self._answer: list[str] = []
        self.last = ""
        """The last answer."""
        self.going = True

    def open(self) -> None:
        """Start, and say where this is."""
        self._run(self._steward.start())
        output.say(
            f"steward in {line(self._steward.workspace_name)}; {line(self._steward.model)} answers. "
            "Type a question, or /help for the commands."
        )
        self._guard(self._changes)
        if self._steward.session_id:
            self._guard(
                lambda: self._sessions.retell(self._run(self._steward.stored(self._steward.session_id)))
            )
        self._hear()

    def take(self, typed: str) -> None:
        """What the person typed: a line, or a paste of several, which is never a command."""
        match = re.fullmatch(r"/([a-z-]+)(?:\s+(.*))?", typed.strip())
        offered, self._sessions.offered = self._sessions.offered, ""
        if not typed.strip():
            if offered:
                self._guard(lambda: self._run(self._ask(offered)))
            return
        if match is None:
            self._guard(lambda: self._run(self._ask(typed)))
        elif find(match[1]) is None:
            output.say(f"There is no command /{line(match[1])}; /help lists them.")
        else:
            self._guard(lambda: self._command(match[1], (match[2] or "").strip()))
        self._hear()

    def _hear(self) -> None:
        """Say what was told outside a turn."""
        for event in self._steward.unheard():
            self._tell(event)

    def _guard(self, work: Callable[[], None]) -> None:
        try:
            work()
        except StewardError as error:
            output.say(f"Refused: {error}")
        except KeyboardInterrupt:
            output.say("Interrupted.")

    # A turn

    async def _ask(self, question: str) -> None:
        await self._steward.remember(question)
        async with aclosing(self._steward.ask(question)) as events:
            async for event in events:
                self._tell(event)

    def _tell(self, event: Event) -> None:
        match event:
            case AnswerText(text):
                self._answer.append(text)
            case RoundEnded() | TurnEnded():
                if text := "".join(self._answer).strip("\n"):
                    self.last = text
                    output.say(f"Answer:\n{text}")
                self._answer.clear()
                if isinstance(event, TurnEnded):
                    output.say(f"End of the turn: {line(event.error) if event.error else event.reason}.")
            case ToolStarted(_, name, arguments):
                output.say(f"Calls {line(name)} {line(arguments)[:200]}")
            case ToolFinished(_, name, ok, _, summary):
                output.say(f"{line(name)} {'gave' if ok else 'failed'}: {line(summary)}")
            case ProposalMade(proposal, amended):
                word = "was amended" if amended else "waits for you"
                output.say(f"{proposal.id} {word}; /show-change reads it, /apply-change writes it.")
            case InstructionsChanged(_, _, _, arrived):
                for path in arrived:
                    output.say(f"Instructions: {line(path)}")
            case Retrying(attempt, seconds, reason):
                output.say(f"Asks again in {seconds:.0f} seconds, attempt {attempt}: {line(reason)}")
            case Notice(text, level):
                output.say(text if level == "info" else f"Warning: {text}")
            case LimitNotice(target, outcome, accepted):
                output.say(
                    f"Warning: instructions for {line(target)} met the {outcome}; {accepted} are kept."
                )
            case (
                TurnStarted()
                | RoundStarted()
                | ReasoningText()
                | CallForming()
                | FocusMoved()
                | ChangesMoved()
            ):
                pass
            case _:
                assert_never(event)

    # Commands

    def _command(self, name: str, argument: str) -> None:
        steward, run = self._steward, self._run
        match name:
            case "help":
                output.say(steward.manual(argument) if argument else _commands())
            case "workspace":
                view = steward.workspace_view()
                output.say(
                    f"{line(view.name)} at {line(view.root)}\nNever touched: {', '.join(view.protected)}"
                )
            case "instructions":
                view = run(steward.instructions(argument or None))
                for document in view.resolution.documents:
                    output.say(f"{line(document.path)}, {document.bytes} bytes")
                for skipped in view.resolution.skipped:
                    output.say(f"Left out: {line(skipped.path)}: {line(skipped.reason)}")
            case "changes" | "filter":
                self._changes(everything=True)
            case "show-change":
                output.say_diff(review_text(run(steward.review(argument or None))))
            case "apply-change":
                self._apply(argument or None)
            case "discard-change":
                self._discard(argument)
            case "undo-change":
                self._undo(argument or None)
            case "rebase-change":
                moved = run(steward.rebase_change(argument or run(steward.review(None)).proposal.id))
                output.say(
                    f"{moved.id} has the stamp {moved.short_stamp} now; read it again before applying it."
                )
            case _ if name in NAMES:
                self.last = self._sessions.do(name, argument) or self.last
            case "model":
                if argument:
                    run(steward.choose_model(argument))
                output.say(f"{line(steward.model)} answers.")
                if not argument:
                    for choice in run(steward.models()):
                        output.say(f"{line(choice.name)}: {line(choice.origin)}, {line(choice.ability)}")
            case "check-model":
                from steward.cli.plain_exam import examine

                examine(steward, run, argument)
            case "skills" | "skill" | "init" | "trust":
                from steward.cli.plain_steering import steer

                if question := steer(steward, run, name, argument):
                    run(self._ask(question))
            case "export":
                self._export(argument)
            case "copy":
                output.say(self.last or "There is no answer yet.")
            case "attach":
                output.say("There are no shell commands in this mode.")
            case "exit":
                self.going = False
            case _:
                raise NoSuchThing("command here", f"/{name}")

    def _changes(self, everything: bool = False) -> None:
        views = self._run(self._steward.changes(everything))
        for view in views:
            stale = ", stale" if view.stale else ""
            output.say(
                f"{view.proposal.id} {view.proposal.status}{stale}: {line(view.proposal.title)}, "
                f"{view.added} line{'s' * (view.added != 1)} added, {view.removed} removed"
            )
        if everything and not views:
            output.say("No change has been proposed yet.")

    def _apply(self, change: str | None) -> None:
        review = self._run(self._steward.review(change))
        proposal = review.proposal
        if proposal.status != "pending":
            raise WrongStatus(proposal.id, proposal.status, "applied")
        if review.stale:
            raise StaleProposal(proposal.id, tuple(stale.path for stale in review.stale))
        output.say_diff(review_text(review))
        if not confirm.asked_for(
            "apply", f"\nType apply to write {proposal.id}, anything else to leave it: "
        ):
            output.say("Nothing was written.")
            return
        done = self._run(self._steward.apply_change(proposal.id, proposal.stamp))
        output.say(f"{done.id} applied: {output.listed(done.paths)}.")
        for warning in done.warnings:
            output.say(f"Warning: {warning}")

    def _discard(self, argument: str) -> None:
        named, _, reason = argument.partition(" ")
        proposal = self._run(self._steward.review(named or None)).proposal
        if proposal.status != "pending":
            raise WrongStatus(proposal.id, proposal.status, "discarded")
        question = f"\nType discard to set {proposal.id} aside, anything else to leave it: "
        if not confirm.asked_for("discard", question):
            output.say(f"{proposal.id} stays pending.")
            return
        gone = self._run(self._steward.discard_change(proposal.id, reason))
        output.say(f"{gone.id} discarded.")

    def _undo(self, change: str | None) -> None:
        named = change or "the change applied last"
        if not confirm.asked_for(
            "undo", f"\nType undo to take back {line(named)}, anything else to leave it: "
        ):
            output.say("Nothing was taken back.")
            return
        done = self._run(self._steward.undo_change(change))
        output.say(f"{done.id} undone: {output.listed(done.paths)}.")

    def _export(self, name: str) -> None:
        if not name:
            raise UsageError(
                "Name a file: /export talk.md, or /export talk.jsonl for a script that replays it."
            )
        text = self._run(self._steward.export(None, "script" if name.endswith(".jsonl") else "markdown"))
        path = Path(name).expanduser()
        try:
            with open(self._outside.new_file(path), "wb") as file:
                file.write(text.encode("utf-8", "surrogateescape"))
        except OSError as error:
            raise UsageError(
                f"{path.name} was not written: {error.strerror or type(error).__name__}."
            ) from None
        output.say(f"The conversation was written to {line(path.name)}.")


def _commands() -> str:
    rows = (f"/{command.name}: {command.help}" for command in COMMANDS)
    return "\n".join((*rows, "Anything else is a question. /help keys and other topics show the manual."))
