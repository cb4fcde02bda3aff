"""A stored conversation as the updates that an editor was given, or would have been given, while it was held."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import assert_never

import acp
from acp.helpers import SessionUpdate

from steward.acp.updates import Updates, aside, shown
from steward.conversation import Assistant, Message, System, ToolAnswer, User
from steward.events import ToolFinished, ToolStarted


class Replay:
    """Turns messages into updates, in order."""

    def __init__(self, root: Path, turns: int) -> None:
        self._root = root
        self.turns = turns
        """Turns counted so far, those of this conversation after the ``turns`` before it."""
        self._updates = Updates(root, turns)

    def of(self, message: Message) -> Iterable[SessionUpdate]:
        """What the editor is told of the message."""
        match message:
            case System():
                pass
            case User(text, note):
                if note:
                    yield aside(text)
                    return
                self.turns += 1
                self._updates = Updates(self._root, self.turns)
                yield acp.update_user_message_text(shown(text))
            case Assistant(text, calls, reasoning):
                if reasoning:
                    yield acp.update_agent_thought_text(shown(reasoning))
                if text:
                    yield acp.update_agent_message_text(shown(text))
                for call in calls:
                    yield from self._updates.of(ToolStarted(call.id, call.name, call.arguments))
            case ToolAnswer(call_id, name, text, ok):
                yield from self._updates.of(ToolFinished(call_id, name, ok, text, ""))
            case _:
                assert_never(message)
