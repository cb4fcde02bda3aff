"""Front matter as people write it, made YAML: values with unquoted colons, brackets and the like are quoted.

The specification's guide for clients asks for this leniency: ``description: Use when: a PDF is open`` is the most
common fault of skills in the wild.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_LINE = re.compile(r"(?P<indent> *)(?P<key>[A-Za-z_][\w.-]*):[ \t]+(?P<value>\S.*)")
_ODD_ESCAPE = re.compile(
    r"(?<!\\)(?:\\\\)*\\(?![\\\"/0abtnvfre N_LP\t]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})"
)
"""A backslash that begins no escape of YAML, as in a path of Windows."""
_BLOCK = re.compile(r"[|>][-+0-9]*\s*(?:#.*)?")


@dataclass(frozen=True, slots=True)
class Mended:
    """Text that may now be YAML, and the keys whose values were quoted because they needed it."""

    text: str
    keys: tuple[str, ...]


def mend(block: str) -> Mended | None:
    """``block`` with each troublesome plain value quoted, or ``None`` when no value needs it."""
    out: list[str] = []
    keys: list[str] = []
    lines = block.split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        match = _LINE.fullmatch(line)
        if match is None:
            out.append(line)
            continue
        indent = len(match["indent"])
        value = match["value"].rstrip()
        more: list[str] = []
        while at < len(lines) and lines[at].strip() and _indent(lines[at]) > indent:
            more.append(lines[at])
            at += 1
        if _BLOCK.fullmatch(value):
            # Blank lines inside a literal block keep what follows them in it.
            while at < len(lines) and (not lines[at].strip() or _indent(lines[at]) > indent):
                more.append(lines[at])
                at += 1
            out += [line, *more]
            continue
        whole = " ".join([value, *(part.strip() for part in more)])
        if not _needs_quotes(whole):
            out += [line, *more]
            continue
        if whole[0] == '"' and len(whole) > 1 and whole[-1] == '"' and _ODD_ESCAPE.search(whole):
            whole = whole[1:-1].replace('\\"', '"')
        keys.append(match["key"])
        out.append(f"{match['indent']}{match['key']}: '" + whole.replace("'", "''") + "'")
        out += [""] * len(more)  # so that every line keeps its number
    return Mended("\n".join(out), tuple(keys)) if keys else None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _needs_quotes(value: str) -> bool:
    first = value[0]
    if first in "\"'":
        if first == '"' and len(value) > 1 and value[-1] == '"' and _ODD_ESCAPE.search(value):
            return True
        return (
            len(value) < 2
            or value[-1] != first
            or first in value[1:-1].replace(first * 2, "").replace('\\"', "")
        )
    return (
        ": " in value
        or value.endswith(":")
        or ":\t" in value
        or first in "[]{},&*!%@`|>"
        or value[:2] in ("- ", "? ", ": ")
    )
