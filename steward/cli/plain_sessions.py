"""The commands about sessions, the window and cost, and ``/ask``, in the conversation in lines."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steward.cli import confirm, output
from steward.errors import NothingYet, UsageError
from steward.events import Event, Notice, Retrying, ToolStarted
from steward.visible import line

if TYPE_CHECKING:
    from steward.confine.outside import Outside
    from steward.conversation import Message
    from steward.service import Steward
    from steward.service.views import SessionView

NAMES = frozenset(
    {
        "new",
        "sessions",
        "resume",
        "rename",
        "delete-session",
        "fork",
        "compact",
        "summary",
        "context",
        "cost",
        "ask",
    }
)

MOST = 20
"""Sessions and questions of one list to choose from."""

RETOLD = 6
"""Questions and answers that are said again when a session is resumed."""

SHOWN = 100
"""Characters of a question or of a call's arguments in a list."""

Run = Callable[[Coroutine[Any, Any, Any]], Any]


class Sessions:
    """Carries these commands out. ``offered`` is a question that an empty line asks."""

    def __init__(self, steward: Steward, run: Run, outside: Outside) -> None:
        self._steward = steward
        self._run = run
        self._outside = outside
        self.offered = ""

    def do(self, name: str, argument: str) -> str:
        """Carry out one; gives what another agent answered, empty for nothing."""
        match name:
            case "new":
                self._run(self._steward.new_session())
                output.say("A new conversation.")
            case "sessions":
                self._list(self._run(self._steward.sessions(argument)))
            case "resume":
                self._resume(argument)
            case "rename":
                self._rename(argument)
            case "delete-session":
                self._delete(argument)
            case "fork":
                self._fork(argument)
            case "compact":
                self._compact()
            case "summary":
                self._summary()
            case "context":
                self._context()
            case "cost":
                self._cost()
            case _:
                return self._ask(argument)
        return ""

    # Stored conversations

    def _list(self, found: Sequence[SessionView]) -> None:
        for number, session in enumerate(found[:MOST], 1):
            place = f", found in: {line(session.found)}" if session.found else ""
            here = ", this one" if session.id == self._steward.session_id else ""
            here += f", forked from {session.parent}" if session.parent else ""
            output.say(
                f"{number}. {line(session.title) or '(no title)'}, {output.plural(session.messages, 'message')}, "
                f"last used {session.updated[:16].replace('T', ' ')}, {session.id}{here}{place}"
            )
        if len(found) > MOST:
            output.say(
                f"And {len(found) - MOST} older ones; /sessions WORDS finds those that hold the words."
            )
        if not found:
            output.say("No session was found.")

    def _resume(self, session: str) -> None:
        if not session:
            found = self._run(self._steward.sessions())
            self._list(found)
            session = self._chosen([view.id for view in found], "Number of the session to go on with")
        if session:
            messages = self._run(self._steward.stored(session))
            self._run(self._steward.resume(session))
            self.retell(messages)

    def retell(self, messages: Sequence[Message]) -> None:
        """Say which session is held and how it ended."""
        from steward.conversation import Assistant, User

        said = [m for m in messages if isinstance(m, User | Assistant) and m.text.strip()]
        said = [m for m in said if not (isinstance(m, User) and m.note)]
        output.say(
            f"Session {self._steward.session_id}: {line(self._steward.session_title) or '(no title)'}, "
            f"{output.plural(len(messages), 'message')}."
        )
        if len(said) > RETOLD:
            output.say(
                f"{len(said) - RETOLD} earlier questions and answers; /export FILE writes all of them."
            )
        for message in said[-RETOLD:]:
            output.say(f"{'Answer' if isinstance(message, Assistant) else 'You asked'}:\n{message.text}")

    def _rename(self, title: str) -> None:
        if not title:
            raise UsageError("Give the session a title: /rename TITLE.")
        output.say(f"This session is called {self._run(self._steward.rename(title))} from now on.")

    def _delete(self, session: str) -> None:
        found = self._run(self._steward.sessions())
        if not session:
            self._list(found)
            session = self._chosen([view.id for view in found], "Number of the session to delete")
            if not session:
                return
        title = next((view.title for view in found if view.id == session), session)
        if confirm.asked_for(
            "delete", f"\nType delete to delete “{line(title)}”, anything else to keep it: "
        ):
            gone = self._run(self._steward.delete(session))
            output.say(f"{gone} is deleted; its changes stay.")
        else:
            output.say("Nothing was deleted.")

    def _fork(self, number: str) -> None:
        if not number:
            asked = self._run(self._steward.questions())
            if not asked:
                raise NothingYet("question", "Nothing was asked in this conversation yet.")
            for question in asked[-MOST:]:
                output.say(f"{question.number}. {_cut(question.text)}")
            number = self._chosen(
                [str(q.number) for q in asked], "Number of the question to begin again before"
            )
            if not number:
                return
        if not (number.isascii() and number.isdigit()):
            raise UsageError("Name the question by its number: /fork 2; /fork alone lists them.")
        self.offered = self._run(self._steward.fork(int(number)))
        output.say(
            f"A new session that holds what was before question {number}. That question was:\n{self.offered}\n"
            "Ask it otherwise now; an empty line asks it as it was."
        )

    def _chosen(self, values: Sequence[str], question: str) -> str:
        """The value of the number that the person types; empty for none."""
        if not values:
            return ""
        typed = confirm.answer(f"\n{question}, anything else to leave it: ").strip()
        if typed in values:
            return typed
        return values[int(typed) - 1] if typed.isdecimal() and 0 < int(typed) <= len(values) else ""

    # The window

    def _compact(self) -> None:
        steward = self._steward
        output.say("The model is asked for a summary; ctrl+c ends that.")
        output.flush()
        summary = self._reworked(self._run(steward.propose_summary()))
        if summary:
            self._run(steward.accept_summary(summary))

    def _summary(self) -> None:
        if not self._steward.summary:
            raise NothingYet("summary", "This conversation was not compacted, so it has no summary.")
        summary = self._reworked(self._steward.summary)
        if summary and summary != self._steward.summary:
            self._run(self._steward.revise_summary(summary))
            output.say("The conversation goes on from the changed summary.")

    def _reworked(self, summary: str) -> str:
        """The summary as the person accepts it; empty when they do not."""
        while True:
            output.say(f"Summary:\n{summary}")
            answer = confirm.answer(
                "\nType accept to go on from it, edit to change it in your editor, anything else to leave it: "
            )
            match answer:
                case "accept":
                    return summary
                case "edit":
                    summary = self._edited(summary)
                case _:
                    output.say("The conversation is as it was.")
                    return ""

    def _edited(self, summary: str) -> str:
        from steward.tui.review import editor

        argv = editor.command()
        if argv is None:
            output.say("Set VISUAL or EDITOR to the editor that is to be opened.")
            return summary
        place = Path(self._steward.workspace_view().state) if self._outside.helped else None
        edited = editor.edit(argv, "summary.md", summary.encode(), outside=self._outside, place=place)
        if edited.data is None:
            output.say(edited.sentence)
            return summary
        return edited.data.decode("utf-8", "replace").strip() or summary

    def _context(self) -> None:
        view = self._steward.context()
        whole = view.window or max(view.total, 1)
        share = f" of {view.window:,}, {100 * view.total / view.window:.1f}%" if view.window else ""
        output.say(f"{view.total:,} tokens{share}.")
        for part in view.parts:
            output.say(f"{line(part.label)}: {part.tokens:,} tokens, {100 * part.tokens / whole:.1f}%")
        if view.window:
            output.say(f"free: {max(view.window - view.total, 0):,} tokens")
        else:
            output.say("Nobody knows this model's window.")
        output.say(
            "The tokens are estimated."
            if view.counted is None
            else f"The provider counted {view.counted:,} tokens; the parts are estimated in proportion."
        )

    def _cost(self) -> None:
        view = self._steward.cost()
        for name, used in (("The last turn", view.turn), ("The session", view.session)):
            facts = [
                f"{amount:,} tokens {words}"
                for amount, words in (
                    (used.prompt, "to the model"),
                    (used.cached, "of them from a cache"),
                    (used.completion, "from the model"),
                )
                if amount is not None
            ]
            if used.cost is not None:
                facts.append(f"${used.cost:.4f}")
            output.say(f"{name}: {', '.join(facts) or 'the provider said nothing'}.")
        if view.bounds is None:
            return
        budget, rounds = view.bounds.budget, output.plural(view.bounds.rounds, "round")
        for name, first, tokens, cost in (
            ("A turn", (rounds,), budget.turn_tokens, budget.turn_cost),
            ("A session", (), budget.session_tokens, budget.session_cost),
        ):
            limits = (
                *first,
                *((f"{tokens:,} tokens",) if tokens else ()),
                *((f"${cost:.4f}",) if cost else ()),
            )
            output.say(f"{name} may have {', '.join(limits)} at most." if limits else f"{name} has no limit.")

    # Another agent

    def _ask(self, argument: str) -> str:
        from steward.cli.turn import Turn, gather
        from steward.service.profiles import named, names

        profile, _, question = argument.partition(" ")
        if not profile or not question.strip():
            known = output.listed(names(self._steward.settings))
            raise UsageError(f"Name a profile and a question: /ask reviewer QUESTION. There are {known}.")
        named(self._steward.settings, profile)
        output.say(f"{line(profile)} is asked beside this conversation; ctrl+c ends that.")
        output.flush()

        def watch(event: Event) -> None:
            match event:
                case ToolStarted(_, name, arguments):
                    output.say(f"{line(profile)} calls {line(name)} {_cut(arguments)}")
                case Notice(text, level) if level != "info":
                    output.say(f"Warning from {line(profile)}: {text}")
                case Retrying(attempt, seconds, reason):
                    output.say(f"Asks again in {seconds:.0f} seconds, attempt {attempt}: {line(reason)}")
                case _:
                    pass

        turn = Turn(profile)
        self._run(gather(self._steward.ask_beside(profile, question.strip()), turn, watch))
        if turn.answer.strip():
            output.say(f"{line(profile)} answers:\n{turn.answer.strip()}")
        if turn.reason != "answered":
            output.say(f"{line(profile)} ended: {line(turn.error) or turn.reason}.")
            return ""
        return turn.answer.strip()


def _cut(text: str) -> str:
    words = line(" ".join(text.split()))
    return words if len(words) <= SHOWN else words[: SHOWN - 1] + "…"
