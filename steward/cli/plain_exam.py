"""``/check-model`` in the conversation in lines."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from steward.cli import output
from steward.cli.check_model import said
from steward.cli.esc import esc_is_ctrl_c
from steward.visible import line

if TYPE_CHECKING:
    from steward.service import Steward


def examine(steward: Steward, run: Callable[[Coroutine[Any, Any, Any]], Any], name: str) -> None:
    """Examine the model of that name, or the one in use, and say each try and the report."""
    model = name or steward.model

    async def follow() -> None:
        from steward.service.examining import Tried

        async with aclosing(steward.examine(model)) as facts:
            output.say(
                f"Examining {line(model)}; esc or ctrl+c stops it. It is asked for real: a hosted model costs what "
                "some thirty short conversations cost."
            )
            output.flush()
            async for fact in facts:
                match fact:
                    case Tried(number, of, title, passed, seconds, why):
                        output.say(said(number, of, title, passed, seconds, why))
                        output.flush()
                    case _:
                        output.say(fact.text)

    with esc_is_ctrl_c():
        run(follow())
