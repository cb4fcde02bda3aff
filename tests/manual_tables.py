"""The manual's tables as the code says they are; ``python -m tests.manual_tables`` writes them into the pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from steward.cli.commands import ENTRIES
from steward.config.keys import fields
from steward.service.commands import COMMANDS, Command
from tests.monorepo import PROJECT

MANUAL = PROJECT / "steward" / "manual"


def table(header: Sequence[str], rows: Iterator[Sequence[str]] | Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def keys() -> str:
    """Every command with its key."""
    return table(
        ("Key", "Command", "What it does"),
        [(key_name(c), f"`/{c.name}`", c.help) for c in COMMANDS],
    )


def key_name(command: Command) -> str:
    """The key as people write it, and where it works."""
    if not command.key:
        return ""
    parts = command.key.split("+")
    name = "+".join(part.capitalize() if len(part) > 1 or len(parts) > 1 else part for part in parts)
    return f"`{name}` in the review" if command.where == "review" else f"`{name}`"


def commands() -> str:
    """The commands of the command line."""
    return table(
        ("Command", "What it does"),
        [(f"`steward {e.name} {e.usage}`".replace(" `", "`"), e.help) for e in ENTRIES if e.name != "open"],
    )


def settings() -> str:
    """Every setting."""
    rows = [
        (f"`{name}`", _default(field), _values(field), " ".join((field.description or "").split()))
        for name, field in fields()
    ]
    return table(("Setting", "Default", "Values", "What it is for"), rows)


def _default(field: FieldInfo) -> str:
    value: Any = field.get_default(call_default_factory=True)
    match value:
        case bool():
            return f"`{str(value).lower()}`"
        case str():
            return f'`"{value}"`'
        case tuple() | list():
            return "`[" + ", ".join(f'"{item}"' for item in value) + "]`"  # pyright: ignore[reportUnknownVariableType]
        case dict():
            return "`{}`"
        case _:
            return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


def _values(field: FieldInfo) -> str:
    kind: Any = field.annotation
    if get_origin(kind) is Literal:
        return ", ".join(f'`"{choice}"`' for choice in get_args(kind))
    bounds = {
        key: value
        for rule in field.metadata
        for key in ("ge", "gt", "le")
        if (value := getattr(rule, key, None)) is not None
    }
    if bounds:
        low = f"{bounds['ge']}" if "ge" in bounds else f"above {bounds['gt']}"
        return f"{low} to {bounds['le']}"
    return {bool: "`true`, `false`", str: "a text", dict: "a table"}.get(
        get_origin(kind) or kind, "a list of texts"
    )


TABLES = (("keys.md", keys), ("command-line.md", commands), ("configuration.md", settings))


def in_page(page: Path, wanted: str) -> str:
    """The table of ``page`` that has the same header as ``wanted``; empty when there is none."""
    header = wanted.split("\n", 1)[0]
    lines = page.read_text("utf-8").split("\n")
    if header not in lines:
        return ""
    start = lines.index(header)
    end = next(i for i in range(start, len(lines) + 1) if i == len(lines) or not lines[i].startswith("|"))
    return "\n".join(lines[start:end])


def write() -> None:
    """Put the tables into their pages."""
    for name, make in TABLES:
        page = MANUAL / name
        page.write_text(page.read_text("utf-8").replace(in_page(page, make()), make()), "utf-8")


if __name__ == "__main__":
    write()
