"""Finds the texts of a repository that would steer the model: its documents, skills and configuration."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

from steward import agents_md
from steward.config.repository import MAX_BYTES, PLACE, parse_repository, with_repository
from steward.errors import ConfigError, PathRefused
from steward.workspace import RepoPath

if TYPE_CHECKING:
    from steward.service.house import House

Kind = Literal["instructions", "skill", "configuration", "url"]
MOST_DIRECTORIES = 2_000
"""Directories with documents that are looked at; those past it are met, and refused, when a tool comes by."""


class Search:
    """Finds every text of the repository that could steer the model."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._settings = house.settings
        self._documented = {"."}
        self._skilled = {"."}
        self.incomplete = False
        """Whether there are more documents than were looked for."""

    def found(self) -> list[tuple[Kind, str, bytes]]:
        """Kind, path and bytes of each."""
        found: list[tuple[Kind, str, bytes]] = []
        configuration = read_configuration(self._house)
        if configuration is not None:
            found.append(("configuration", PLACE, configuration))
            # What the configuration brings with it is seen together with it.
            with suppress(ConfigError):
                joined = with_repository(self._house.own_settings, parse_repository(configuration))
                self._house.instruction_settings(joined)
                self._settings = joined
        self._look()
        found += self._documents()
        found += self._skills()
        return found

    def _documents(self) -> Iterator[tuple[Kind, str, bytes]]:
        house = self._house
        if not self._settings.instructions.enabled:
            return
        settings = house.instruction_settings(self._settings)
        resolver = agents_md.Resolver(house.workspace.root, settings, home=house.home or house.state)
        for place in sorted(self._documented, key=lambda text: (text != ".", text)):
            for document in resolver.resolve(place).documents:
                if not own(document):
                    yield "instructions", document.path, bytes_of(document)

    def _skills(self) -> Iterator[tuple[Kind, str, bytes]]:
        from steward.skills import Places, discover

        house = self._house
        root = house.workspace.root
        boundary = root / house.boundary()
        wanted = self._settings.skills.directories
        folders = tuple(entry for entry in wanted if not entry.startswith(("/", "~")))
        for focus in sorted(self._skilled):
            places = Places(root, boundary, folders=folders, shipped=False)
            catalog = discover(places, focus)
            for skill in (*catalog.skills, *catalog.shadowed):
                if skill.source == "project" and skill.place is not None and skill.container is not None:
                    try:
                        data, _ = skill.container.read(skill.place.child(skill.file), 1_048_576)
                    except OSError:
                        continue
                    yield "skill", skill.location, data

    def _look(self) -> None:
        """Walk the repository once: directories with a document in them, and those with a folder of skills."""
        names = self._house.instruction_settings(self._settings).names
        for path, kind in self._house.workspace.walk():
            if kind != "directory" and path.name in names:
                self._documented.add(path.parent.text)
            elif kind == "directory" and path.name == "skills" and len(path.parts) > 2:
                self._skilled.add(path.parent.parent.text)
            if len(self._documented) + len(self._skilled) >= MOST_DIRECTORIES:
                self.incomplete = True
                return


def read_configuration(house: House, told: list[str] | None = None) -> bytes | None:
    """The bytes of the repository's configuration; ``None`` when there is none, or it is no plain file inside.

    A file that is there and cannot be read is said in a sentence of ``told``.
    """
    try:
        return house.workspace.read(RepoPath.parse(PLACE), MAX_BYTES).data
    except PathRefused as refused:
        if told is not None and refused.kind != "missing":
            told.append(f"{refused} The repository's configuration is not used.")
        return None


def own(document: agents_md.Document) -> bool:
    """Whether a document is the person's own: by its kind, or configured by a path outside the workspace."""
    if document.kind in ("user", "read", "remote", "location"):
        return True
    return document.kind == "configured" and document.path.startswith(("/", "~"))


def bytes_of(document: agents_md.Document) -> bytes:
    """The file's bytes: the text, with the byte order mark that was taken off when the digest says so."""
    data = document.text.encode("utf-8")
    if hashlib.sha256(data).hexdigest() != document.sha256:
        return b"\xef\xbb\xbf" + data
    return data
