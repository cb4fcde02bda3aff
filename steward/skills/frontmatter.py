"""The front matter of a SKILL.md: split from the body, read as plain text values, every oddity named.

YAML is read from its events alone, so that no tag can make an object, no alias can multiply and no nesting can
exhaust the stack. Every scalar stays the text that stands in the file: a skill may be named ``on`` or ``123``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from steward.skills.diagnostic import Diagnostic, fatal, fault, note
from steward.skills.mend import mend

MAX_FRONT_MATTER = 65_536
"""Characters of front matter that are read."""
MAX_DEPTH = 8
MAX_VALUES = 2_000

Value = str | tuple["Value", ...] | dict[str, "Value"]


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The fields and the body of one SKILL.md, with what was found on the way."""

    fields: dict[str, Value] = field(default_factory=dict[str, Value])
    body: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    plain: frozenset[str] = frozenset()
    """Fields whose value stands unquoted and that YAML itself would read as something else than text."""
    lines: dict[str, int] = field(default_factory=dict[str, int])
    """Line of the file on which each field begins, from 1."""

    @property
    def fatal(self) -> bool:
        """Whether there is nothing to load."""
        return any(d.level == "fatal" for d in self.diagnostics)


class _Refused(Exception):
    def __init__(self, diagnostic: Diagnostic) -> None:
        self.diagnostic = diagnostic
        super().__init__(diagnostic.sentence)


def parse(text: str) -> FrontMatter:
    """The front matter and the body of ``text``; never raises."""
    found: list[Diagnostic] = []
    try:
        block, body, first = _split(text, found)
        reader = _read(block, first, found)
    except _Refused as refused:
        return FrontMatter(diagnostics=(*found, refused.diagnostic))
    if not body.strip():
        found.append(note("empty-body", "There are no instructions after the front matter."))
    return FrontMatter(reader.fields, body, tuple(found), frozenset(reader.typed), reader.lines)


def _split(text: str, found: list[Diagnostic]) -> tuple[str, str, int]:
    """The lines between the two lines of three dashes, all that follows them, and the line the first of them has."""
    if text.startswith("\ufeff"):
        sentence = "The file begins with a byte order mark; other programs may not see its front matter."
        found.append(fault("bom", sentence, 1))
        text = text[1:]
    text = text.replace("\r\n", "\n")
    begun = _begun(text)
    start = 2
    if begun != text and begun.startswith("---"):
        start += text[: len(text) - len(begun)].count("\n")
        found.append(fault("late-front-matter", "The front matter must begin on the first line.", start - 1))
        text = begun
    first, newline, rest = text.partition("\n")
    if first.rstrip() != "---":
        raise _Refused(fatal("no-front-matter", "The file does not begin with a line of three dashes.", 1))
    position = 0
    while newline and position <= len(rest):
        end = rest.find("\n", position)
        line = rest[position:] if end < 0 else rest[position:end]
        if line.rstrip() == "---":
            block = rest[:position]
            if len(block) > MAX_FRONT_MATTER:
                break
            if "---" in block:
                sentence = "A value holds three dashes; some programs end the front matter there."
                at = start + block[: block.index("---")].count("\n")
                found.append(note("dashes-inside", sentence, at))
            return block, "" if end < 0 else rest[end + 1 :], start
        if end < 0 or end > MAX_FRONT_MATTER:
            position = len(rest) if end < 0 else end
            break
        position = end + 1
    if position > MAX_FRONT_MATTER:
        raise _Refused(
            fatal("front-matter-too-large", f"The front matter is longer than {MAX_FRONT_MATTER} characters.")
        )
    raise _Refused(
        fatal("unclosed-front-matter", "No line of three dashes closes the front matter.", start - 1)
    )


def _begun(text: str) -> str:
    """``text`` from its first line that is neither blank nor part of a comment for HTML."""
    text = text.lstrip()
    while text.startswith("<!--"):
        _, closed, text = text.partition("-->")
        if not closed:
            return ""
        text = text.lstrip()
    return text


def _read(block: str, first: int, found: list[Diagnostic]) -> _Reader:
    yaml = _yaml()
    reader = _Reader(found, first)
    try:
        reader.read(block)
        return reader
    except yaml.YAMLError as error:
        problem = error
    mended = mend(block)
    if mended is not None:
        reader = _Reader(found, first)
        try:
            reader.read(mended.text)
        except yaml.YAMLError:
            pass
        else:
            named = ", ".join(mended.keys)
            sentence = f"The value of {named} must be quoted to be YAML; it was read as plain text."
            found.append(fault("unquoted", sentence, reader.lines.get(mended.keys[0], 0)))
            return reader
    mark: Any = getattr(problem, "problem_mark", None)
    at = first + mark.line if mark is not None else 0
    where = f" (line {at})" if at else ""
    tab = "; a tab stands where YAML wants spaces" if r"'\t'" in str(getattr(problem, "problem", "")) else ""
    raise _Refused(fatal("bad-yaml", f"The front matter is not YAML{where}{tab}.", at))


def _yaml() -> Any:
    import yaml

    return yaml


class _Reader:
    """Builds text values from YAML events, within bounds."""

    def __init__(self, found: list[Diagnostic], first: int) -> None:
        """``first`` is the line of the file on which the block begins."""
        self.fields: dict[str, Value] = {}
        self.typed: set[str] = set()
        self.lines: dict[str, int] = {}
        self._first = first
        self._rows: list[str] = []
        self._found = found
        self._pending: list[Diagnostic] = []
        self._values = 0
        self._depth = 0

    def read(self, block: str) -> None:
        """Fill ``fields``; raises ``YAMLError`` or ``_Refused``. Findings count only when reading succeeds."""
        yaml = _yaml()
        self._rows = block.split("\n")
        try:
            events: Iterator[Any] = iter(yaml.parse(block, Loader=yaml.SafeLoader))
            next(events)  # the stream begins
            start = next(events)
            if isinstance(start, yaml.StreamEndEvent):
                raise _Refused(fatal("no-fields", "The front matter is empty."))
            first = next(events)
            if not isinstance(first, yaml.MappingStartEvent):
                raise _Refused(
                    fatal("not-a-mapping", "The front matter is not a list of `key: value` lines.")
                )
            self._odd(first)
            self.fields = self._mapping(events, top=True)
            next(events)  # the document ends
            if not isinstance(next(events), yaml.StreamEndEvent):
                self._say(fault("two-documents", "The front matter holds more than one YAML document."))
        except RecursionError:
            raise _Refused(fatal("too-deep", "The front matter is nested too deeply.")) from None
        self._found += self._pending

    def _say(self, diagnostic: Diagnostic) -> None:
        """Note it once, on the line where it is seen first."""
        if all((d.code, d.sentence) != (diagnostic.code, diagnostic.sentence) for d in self._pending):
            self._pending.append(diagnostic)

    def _line(self, event: Any) -> int:
        return self._first + int(event.start_mark.line)

    def _odd(self, event: Any) -> None:
        at = self._line(event)
        if getattr(event, "anchor", None):
            self._say(fault("anchor", "The front matter uses a YAML anchor.", at))
        if getattr(event, "tag", None):
            self._say(fault("tag", "The front matter uses a YAML tag; its value is taken as plain text.", at))
        if getattr(event, "flow_style", None):
            sentence = "The front matter uses [ ] or { }; the specification wants indented lines."
            self._say(fault("flow-style", sentence, at))

    def _value(self, events: Iterator[Any], event: Any) -> Value:
        yaml = _yaml()
        self._values += 1
        if self._values > MAX_VALUES:
            sentence = f"The front matter holds more than {MAX_VALUES} values."
            raise _Refused(fatal("too-many-values", sentence, self._line(event)))
        if isinstance(event, yaml.AliasEvent):
            sentence = "The front matter repeats a value with a YAML alias, which is not followed."
            raise _Refused(fatal("alias", sentence, self._line(event)))
        self._odd(event)
        if isinstance(event, yaml.ScalarEvent):
            return str(event.value)
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _Refused(fatal("too-deep", "The front matter is nested too deeply.", self._line(event)))
        try:
            if isinstance(event, yaml.MappingStartEvent):
                return self._mapping(events)
            return self._sequence(events)
        finally:
            self._depth -= 1

    def _sequence(self, events: Iterator[Any]) -> tuple[Value, ...]:
        yaml = _yaml()
        items: list[Value] = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            items.append(self._value(events, event))
        return tuple(items)

    def _mapping(self, events: Iterator[Any], *, top: bool = False) -> dict[str, Value]:
        yaml = _yaml()
        fields: dict[str, Value] = {}
        column: int | None = None
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            at = self._line(event)
            key = self._value(events, event)
            if not isinstance(key, str):
                self._say(fault("odd-key", "The front matter has a key that is not a word.", at))
                key = ""
            event = next(events)
            value = self._value(events, event)
            if isinstance(event, yaml.MappingStartEvent):
                here: int = event.start_mark.column
                if column not in (None, here):
                    self._say(fault("indentation", "The front matter is not indented evenly.", at))
                column = here
            if key == "<<":
                sentence = "The front matter uses a YAML merge key, which is not followed."
                self._say(fault("merge-key", sentence, at))
            if key in fields:
                sentence = f"The key {key!r} stands twice; the first one counts."
                self._say(fault("duplicate-key", sentence, at))
                continue
            fields[key] = value
            if top:
                self.lines[key] = at
            if top and key == "description" and self._cut(event):
                sentence = (
                    "YAML takes what follows # in the description for a comment; put the value in quotes."
                )
                self._say(note("comment-cut", sentence, at))
            if top and isinstance(event, yaml.ScalarEvent) and event.implicit[0] and _typed(str(value)):
                self.typed.add(key)
        return fields

    def _cut(self, event: Any) -> bool:
        """Whether a comment follows an unquoted value."""
        if not isinstance(event, _yaml().ScalarEvent) or event.style:
            return False
        row, column = int(event.end_mark.line), int(event.end_mark.column)
        return row < len(self._rows) and _COMMENT.match(self._rows[row], column) is not None


_COMMENT = re.compile(r"[ \t]+#")
_TYPED = re.compile(
    r"(?:yes|no|true|false|on|off|~|null|\.inf|\.nan|[-+]?[0-9][0-9_,.:]*(?:e[-+]?[0-9]+)?|0x[0-9a-f_]+|"
    r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2})",
    re.IGNORECASE,
)


def _typed(value: str) -> bool:
    """Whether YAML 1.1 reads this unquoted word as a number, a truth value, a date or nothing."""
    return _TYPED.fullmatch(value) is not None
