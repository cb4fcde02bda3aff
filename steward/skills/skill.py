"""One skill as a value, and the rules by which a SKILL.md becomes one."""

from __future__ import annotations

import hashlib
import os
import unicodedata
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from steward.skills.allowed import Rule, parse_rules
from steward.skills.contain import Container, Leaves, NotRegular, Place, TooLarge
from steward.skills.diagnostic import Diagnostic, fatal, fault, note
from steward.skills.frontmatter import FrontMatter, Value, parse
from steward.visible import hidden

Source = Literal["project", "user", "shipped"]
Mark = tuple[int, ...]
"""What of a file's status changes when its contents do."""

MAX_NAME = 64
MAX_DESCRIPTION = 1_024
MAX_COMPATIBILITY = 500
LONG_BODY = 500
"""Lines of instructions beyond which the specification advises to move parts into files of their own."""
FIELDS = frozenset({"name", "description", "license", "allowed-tools", "metadata", "compatibility"})
_UNUSABLE = frozenset("/\\")
_TRUE = frozenset({"true", "yes", "on"})


@dataclass(frozen=True, slots=True)
class Loaded:
    """What loading a skill brings: its instructions and the names of its files."""

    body: str
    files: tuple[str, ...]
    """Paths below the skill's folder, without SKILL.md itself."""
    files_left_out: bool
    """Whether there are more files than were listed."""
    digest: str
    """SHA-256 of the SKILL.md, 64 hex digits."""


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill that can be loaded."""

    name: str
    description: str
    """One line; empty when the file gives none."""
    directory: str
    """The folder as people see it: relative to the workspace, ``~/…``, or ``shipped/NAME``."""
    source: Source
    file: str = "SKILL.md"
    rules: tuple[Rule, ...] | None = None
    """What ``allowed-tools`` names; ``None`` when the skill locks nothing."""
    license: str = ""
    compatibility: str = ""
    metadata: tuple[tuple[str, str], ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    digest: str = ""
    body_characters: int = 0
    by_hand: bool = False
    """Whether its author keeps it from the model (``disable-model-invocation``), so that only a person loads it."""
    readable: str | None = None
    """The folder as ``readFile`` takes it, when it lies inside the workspace."""
    place: Place | None = field(default=None, repr=False)
    """The folder itself, where no link is left on the way."""
    container: Container | None = field(default=None, repr=False)
    """Where a link that is the SKILL.md itself may lead."""
    mark: Mark = field(default=(), repr=False)
    """Changes when the SKILL.md does; see ``mark_of``."""

    @property
    def location(self) -> str:
        """The SKILL.md as people see it."""
        return f"{self.directory}/{self.file}"

    @property
    def allowed_tools(self) -> tuple[str, ...]:
        """What ``allowed-tools`` names, word for word."""
        return tuple(rule.text for rule in self.rules or ())

    @property
    def unavailable(self) -> tuple[str, ...]:
        """Words of ``allowed-tools`` that name no tool of the steward."""
        return tuple(rule.text for rule in self.rules or () if not rule.tools)

    @property
    def valid(self) -> bool:
        """Whether nothing in it is against the specification."""
        return all(d.level == "note" for d in self.diagnostics)

    def load(self) -> Loaded:
        """The instructions as they are on disk now; raises ``OSError`` or ``ValueError`` with one sentence."""
        from steward.skills.files import load

        return load(self)


@dataclass(frozen=True, slots=True)
class Broken:
    """A folder with a SKILL.md that cannot be loaded."""

    name: str
    """The folder's name."""
    location: str
    source: Source
    diagnostics: tuple[Diagnostic, ...]

    @property
    def valid(self) -> bool:
        """Never."""
        return False


def read_skill(
    container: Container,
    place: Place,
    *,
    shown: str,
    source: Source,
    file: str = "SKILL.md",
    readable: str | None = None,
    folder: str = "",
    limit: int = 262_144,
) -> Skill | Broken:
    """Read the skill in the folder ``place``; never raises for what the file may be.

    ``folder`` is the name by which the folder was reached, when that is another than its own (a link).
    """
    folder = folder or (place.parts[-1] if place.parts else place.root.name)
    where = f"{shown}/{file}"
    try:
        data, status = container.read(place.child(file), limit)
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        at = error.object[: error.start].count(b"\n") + 1
        reason = fatal("not-utf8", f"The file is not UTF-8 (byte {error.start}).", at)
        return Broken(folder, where, source, (reason,))
    except OSError as error:
        return Broken(folder, where, source, (_unread(error, limit),))
    front = parse(text)
    if front.fatal:
        return Broken(folder, where, source, front.diagnostics)
    name, description, found = judge(front, folder, text)
    if name is None:
        return Broken(folder, where, source, found)
    rules, more = parse_rules(front.fields.get("allowed-tools"), front.lines.get("allowed-tools", 0))
    if file != "SKILL.md":
        found = (*found, note("lowercase-file", "The file should be called SKILL.md."))
    seen = hidden(name + description + front.body)
    if seen:
        at = next((n for n, row in enumerate(text.split("\n"), 1) if hidden(row.removeprefix("\ufeff"))), 0)
        more = (
            *more,
            note("hidden-characters", f"The file holds {seen} characters that cannot be seen.", at),
        )
    return Skill(
        name=name,
        description=description,
        directory=shown,
        source=source,
        file=file,
        rules=rules,
        license=_text(front.fields.get("license")),
        compatibility=_text(front.fields.get("compatibility")),
        metadata=_pairs(front.fields.get("metadata")),
        diagnostics=(*found, *more),
        digest=hashlib.sha256(data).hexdigest(),
        body_characters=len(front.body),
        by_hand=_text(front.fields.get("disable-model-invocation")).lower() in _TRUE,
        readable=readable,
        place=place,
        container=container,
        mark=mark_of(status),
    )


def mark_of(status: os.stat_result) -> Mark:
    """Device, inode, size, and the times of the last change of contents and of status."""
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def mark_at(path: Path) -> Mark | None:
    """The mark of what stands there now, ``None`` when there is nothing to be seen."""
    try:
        return mark_of(os.stat(path))
    except (OSError, ValueError):
        return None


def judge(front: FrontMatter, folder: str, text: str) -> tuple[str | None, str, tuple[Diagnostic, ...]]:
    """The name and the description to use, and every finding; no name when none of the candidates is usable."""
    found = list(front.diagnostics)
    if "---" in "".join(f"{key}{value!r}" for key, value in front.fields.items()):
        found += _cut_at_dashes(text, folder)
    found += _strict(front, folder)
    found += _notes(front)
    given = front.fields.get("name")
    name = unicodedata.normalize("NFKC", given.strip()) if isinstance(given, str) else ""
    if not _usable(name):
        name = unicodedata.normalize("NFKC", folder)
        if not _usable(name):
            found.append(
                fatal("unusable-name", "Neither the front matter nor the folder gives a usable name.")
            )
            return None, "", tuple(found)
    described = front.fields.get("description")
    description = " ".join(described.split()) if isinstance(described, str) else ""
    return name, description[:MAX_DESCRIPTION], tuple(found)


def _strict(front: FrontMatter, folder: str) -> list[Diagnostic]:
    """Findings against the published specification about the fields."""
    found: list[Diagnostic] = []
    fields, lines = front.fields, front.lines
    extra = sorted(set(fields) - FIELDS)
    if extra:
        meant = sorted({key for key in map(_meant, extra) if key})
        instead = f"; write {', '.join(meant)}" if meant else ""
        sentence = f"The specification has no field {', '.join(extra)[:200]}{instead}."
        found.append(fault("unknown-field", sentence, lines.get(extra[0], 0)))
    given = fields.get("name")
    if "name" not in fields:
        found.append(fault("no-name", "There is no name; the folder's name is used."))
    elif not isinstance(given, str) or not given.strip():
        sentence = "The name is empty or not a word; the folder's name is used."
        found.append(fault("empty-name", sentence, lines.get("name", 0)))
    else:
        wrong = _name(unicodedata.normalize("NFKC", given.strip()), folder)
        found += [replace(finding, line=lines.get("name", 0)) for finding in wrong]
    described = fields.get("description")
    if not isinstance(described, str) or not described.strip():
        code = "no-description" if "description" not in fields else "empty-description"
        sentence = "There is no description, so that nobody can tell when to use the skill."
        found.append(fault(code, sentence, lines.get("description", 0)))
    elif len(described) > MAX_DESCRIPTION:
        sentence = (
            f"The description has {len(described)} characters; only the first {MAX_DESCRIPTION} are shown."
        )
        found.append(fault("long-description", sentence, lines.get("description", 0)))
    compatibility, at = fields.get("compatibility", ""), lines.get("compatibility", 0)
    if not isinstance(compatibility, str):
        found.append(fault("bad-compatibility", "The field compatibility must be one text.", at))
    elif len(compatibility) > MAX_COMPATIBILITY:
        sentence = f"The field compatibility is longer than {MAX_COMPATIBILITY}."
        found.append(fault("long-compatibility", sentence, at))
    return found


def _meant(key: str) -> str:
    """The field of the specification that an unknown one was meant to be, "" when it is like none."""
    folded = key.strip().lower().replace("_", "-").replace(" ", "-")
    folded = "allowed-tools" if folded in ("tools", "allowedtools") else folded
    return folded if folded in FIELDS else ""


def _name(name: str, folder: str) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    if len(name) > MAX_NAME:
        found.append(
            fault("long-name", f"The name has {len(name)} characters; at most {MAX_NAME} are allowed.")
        )
    if name != name.lower():
        found.append(fault("uppercase-name", "The name must be lower case."))
    if name.startswith("-") or name.endswith("-"):
        found.append(fault("hyphen-at-end", "The name must not begin or end with a hyphen."))
    if "--" in name:
        found.append(fault("two-hyphens", "The name must not have two hyphens in a row."))
    if not all(c.isalnum() or c == "-" for c in name):
        found.append(fault("bad-name", "The name may hold only letters, digits and hyphens."))
    elif not name.isascii():
        found.append(note("unicode-name", "The name holds letters beyond a-z, which some programs refuse."))
    if unicodedata.normalize("NFKC", folder) != name:
        found.append(fault("name-mismatch", f"The name is {name[:80]!r}, but the folder is {folder[:80]!r}."))
    return found


def _notes(front: FrontMatter) -> list[Diagnostic]:
    """What is allowed and still likely to be a mistake."""
    found: list[Diagnostic] = []
    for key in ("name", "description"):
        if key in front.plain:
            sentence = f"YAML reads the {key} as a number or truth value; put it in quotes."
            found.append(note("typed-value", sentence, front.lines.get(key, 0)))
    for key in ("license", "metadata"):
        value = front.fields.get(key)
        wanted = isinstance(value, dict) if key == "metadata" else isinstance(value, str)
        if value and not wanted:
            sentence = f"The field {key} is not of the kind that the specification describes."
            found.append(note("odd-value", sentence, front.lines.get(key, 0)))
    lines = front.body.count("\n")
    if lines > LONG_BODY:
        found.append(
            note("long-body", f"The instructions have {lines} lines; past {LONG_BODY}, move parts to files.")
        )
    return found


def _cut_at_dashes(text: str, folder: str) -> list[Diagnostic]:
    """The reference validator ends the front matter at any three dashes: what it would find wrong then."""
    cut = parse("---" + text.lstrip("\ufeff").split("---", 2)[1].rstrip() + "\n---\n")
    wrong = cut.fatal or any(d.level == "fault" for d in (*cut.diagnostics, *_strict(cut, folder)))
    if not wrong:
        return []
    at = text.lstrip("\ufeff").split("---", 2)[1].count("\n") + 1
    sentence = "The three dashes inside a value end the front matter for the reference validator."
    return [fault("dashes-cut", sentence, at)]


def _usable(name: str) -> bool:
    """Whether a skill can be asked for by this name in one line of a command."""
    return (
        0 < len(name) <= 200
        and name.isprintable()
        and not _UNUSABLE & set(name)
        and not name.startswith(("?", "."))
        and hidden(name) == 0
    )


def _unread(error: OSError, limit: int) -> Diagnostic:
    if isinstance(error, Leaves):
        return fatal("link-outside", "The file is a link that leads outside.")
    if isinstance(error, NotRegular):
        return fatal("not-a-file", "The file is not a regular file.")
    if isinstance(error, TooLarge):
        return fatal("too-large", f"The file is larger than {limit // 1024} KiB.")
    return fatal("unreadable", "The file cannot be read.")


def _text(value: Value | None) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def _pairs(value: Value | None) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict):
        return ()
    return tuple((key, item) for key, item in value.items() if isinstance(item, str))
