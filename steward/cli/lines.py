"""Events as JSON Lines, one object for each as it comes."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

from steward.cli import output, shapes
from steward.cli.turn import usage
from steward.conversation import JsonObject, Usage
from steward.events import DocumentState, Event
from steward.proposals import Proposal


def event_shape(event: Event) -> JsonObject:
    """The event as plain values under its name, ``tool-started`` for ``ToolStarted``."""
    name = re.sub(r"(?<!^)(?=[A-Z])", "-", type(event).__name__).lower()
    shape: JsonObject = {"event": name}
    for item in fields(event):
        value: Any = getattr(event, item.name)
        shape[item.name] = shapes.arguments(value) if item.name == "arguments" else _plain(value)
    return shape


def say_event(event: Event) -> None:
    """Print it now, so that a reader can follow."""
    output.say_json_line(event_shape(event))


def _plain(value: Any) -> Any:
    match value:
        case Proposal():
            return {
                "id": value.id,
                "stamp": value.stamp,
                "title": value.title,
                "files": [{"path": file.path, "action": file.action} for file in value.files],
            }
        case Usage():
            return usage(value)
        case DocumentState():
            return {item.name: getattr(value, item.name) for item in fields(value)}
        case tuple():
            return [_plain(item) for item in value]  # pyright: ignore[reportUnknownVariableType] -- any tuple
        case _:
            return value
