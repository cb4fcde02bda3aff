"""Keeps thinking on where Anthropic takes it: a turn that began without a thought ends without, the next one thinks."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from steward.conversation import JsonObject

_ASKED = "last_assistant_with_tool_calls_has_no_thinking_blocks"


def keep_on() -> None:
    """From now on litellm turns thinking off for the rest of such a turn alone, and not for the whole conversation.

    Thoughts of earlier turns are not remembered for ever, nor does Anthropic ask for them. A litellm that asks in
    another way keeps its own.
    """
    with suppress(ImportError):
        from litellm.llms.anthropic.chat import transformation as anthropic
        from litellm.llms.bedrock.chat import converse_transformation as bedrock

        for module in (anthropic, bedrock):
            if hasattr(module, _ASKED):
                setattr(module, _ASKED, began_without_a_thought)


def began_without_a_thought(messages: list[Any]) -> bool:
    """Whether the turn that goes on was begun by calls that came with no thought."""
    shapes: list[JsonObject] = list(messages)
    asked = max((place for place, one in enumerate(shapes) if one.get("role") == "user"), default=-1)
    first = next((one for one in shapes[asked + 1 :] if one.get("role") == "assistant"), None)
    return first is not None and bool(first.get("tool_calls")) and not first.get("thinking_blocks")
