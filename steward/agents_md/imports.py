"""Notices what a document names with ``@``, as other programs would load it along: here nothing comes along."""

from __future__ import annotations

import posixpath
import re
import stat
from bisect import bisect
from collections.abc import Callable, Iterator, Sequence

from steward.agents_md.document import Document, Note
from steward.agents_md.files import FileSystem
from steward.agents_md.reading import inside

_NAMED = re.compile(r"(?<!\S)@([^\s`\"'<>()\[\]{}|*,;:@]+)")
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
_MOST_LOOKS = 256
"""Names of one document that are looked at."""
_MOST_KEPT = 256
"""Documents whose names are kept."""
_SHOWN = 3


class Imports:
    """Looks for imports; keeps the names that a text holds, by its digest, and nothing of what is on the disk.

    ``absolute`` gives the place of a document by its path, ``shown`` a place as people see it.
    """

    def __init__(
        self, files: FileSystem, absolute: Callable[[str], str], shown: Callable[[str], str]
    ) -> None:
        self._files = files
        self._absolute = absolute
        self._shown = shown
        self._named: dict[str, tuple[str, ...]] = {}

    def notes(self, documents: Sequence[Document], within: str) -> list[Note]:
        """A note for each document that names files in the way of an import, and not only files that came anyway.

        A relative name counts when it is a file beneath ``within``, one from the root or from the home directory when
        it is Markdown.
        """
        told: list[Note] = []
        for document in documents:
            if "@" not in document.text or document.kind == "remote":
                continue
            if names := self._names(document):
                found = self._missed(
                    document, names, {self._absolute(other.path) for other in documents}, within
                )
                told += [_note(document, found)] if found else []
        return told

    def _names(self, document: Document) -> tuple[str, ...]:
        names = self._named.get(document.sha256)
        if names is None:
            if len(self._named) >= _MOST_KEPT:
                self._named.clear()
            names = self._named[document.sha256] = tuple(dict.fromkeys(_names(document.text)))
        return names

    def _missed(self, document: Document, names: Sequence[str], came: set[str], within: str) -> list[str]:
        directory = posixpath.dirname(self._absolute(document.path))
        top = within if inside(directory, within) else directory
        found: dict[str, str] = {}
        for name in names:
            far = name.startswith(("~/", "/"))
            place = self._absolute(name) if far else posixpath.normpath(posixpath.join(directory, name))
            if place in came or place in found:
                continue
            if name.endswith(".md") if far else inside(place, top) and _is_file(self._files, place):
                found[place] = self._shown(place)
        return list(found.values())


def _names(text: str) -> Iterator[str]:
    """Names that look like files and stand outside of code, each as often as it stands there."""
    looks = 0
    fences: list[int] | None = None
    for match in _NAMED.finditer(text):
        name = match[1].rstrip(".!?")
        if "." not in name and "/" not in name:
            continue
        looks += 1
        if looks > _MOST_LOOKS:
            return
        begin = text.rfind("\n", 0, match.start()) + 1
        in_span = text.count("`", begin, match.start()) % 2
        if fences is None:
            fences = [fence.start() for fence in _FENCE.finditer(text)]
        if not in_span and bisect(fences, match.start()) % 2 == 0:
            yield name


def _is_file(files: FileSystem, place: str) -> bool:
    try:
        found = files.stat(place)
    except (OSError, ValueError):
        return False
    return found is not None and not stat.S_ISDIR(found.st_mode)


def _note(document: Document, found: list[str]) -> Note:
    more = len(found) - _SHOWN
    names = ", ".join(found[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
    return Note(
        document.path,
        f"it names {names} with @, which loads nothing here; instructions.files in your settings can name it",
        f"It names {names} with @. Nothing of that came with it: read there what you need.",
    )
