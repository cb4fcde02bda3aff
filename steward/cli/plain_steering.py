"""``/skills``, ``/skill``, ``/init`` and ``/trust`` in the conversation in lines."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from steward.cli import confirm, output
from steward.cli.trust import listed
from steward.errors import UsageError
from steward.service.trust import FORCED
from steward.skills.report import catalog_lines

if TYPE_CHECKING:
    from steward.service import Steward

Run = Callable[[Coroutine[Any, Any, Any]], Any]


def steer(steward: Steward, run: Run, name: str, argument: str) -> str:
    """Do what the command says; gives the question that it asks, empty for none."""
    match name:
        case "skills":
            view = run(steward.skills_view())
            output.say("\n".join(catalog_lines(view.catalog, view.loaded)))
        case "skill":
            if not argument:
                raise UsageError("Name a skill: /skill NAME; /skills lists them.")
            output.say(run(steward.load_skill(argument)))
        case "init":
            sentence, question = run(steward.begin_init(argument))
            output.say(sentence)
            return question
        case _:
            _trust(steward, run, argument)
    return ""


def _trust(steward: Steward, run: Run, argument: str) -> None:
    if argument not in ("", "read", "nothing"):
        raise UsageError(
            "/trust lists the texts, /trust read shows each in full, /trust nothing takes trust back."
        )
    if argument == "nothing":
        run(steward.forget_trust())
        output.say("Nothing of this repository is used from here on; /trust asks again.")
        return
    view = run(steward.trust_view())
    output.say(listed(view, reading=argument == "read"))
    if view.forced:
        output.say(FORCED)
    elif not view.pending:
        output.say("All of it is trusted." if view.trusted else "There is nothing to decide.")
    elif confirm.asked_for("trust", "\nType trust to use these texts, anything else to go on without them: "):
        run(steward.accept_trust(view.digests))
        output.say(
            "They count from the next path on; the configuration, once a conversation has begun, at the next start."
        )
    else:
        run(steward.decline_trust(view.digests))
        output.say("They are not used; /trust asks again.")
