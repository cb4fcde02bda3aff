"""Resolves a target to the documents that govern it, at a cost that grows with its depth alone."""

from __future__ import annotations

import logging
import os
import posixpath
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from steward.agents_md import observe
from steward.agents_md.discovery import Discoverer, Discovery, absolute
from steward.agents_md.document import Document, LimitReached, Note, Outcome, Resolution, Skipped
from steward.agents_md.files import Disk, FileSystem
from steward.agents_md.imports import Imports
from steward.agents_md.limits import distinct, limited
from steward.agents_md.reading import inside
from steward.agents_md.remote import Remote
from steward.agents_md.settings import Settings
from steward.agents_md.sources import Gathered, Sources

log = logging.getLogger("steward.agents_md")

_OFF = Skipped(".", "instructions are switched off", "off")
_ORDER: tuple[Outcome, ...] = ("depth-limit", "document-limit", "size-limit")


class Resolver:
    """Finds the documents of one workspace; may be used from several threads.

    ``on_limit`` hears of each limit met by each resolution. ``remote`` gives the content of configured URLs.
    ``files`` replaces the disk. ``home`` is what ``~`` means. ``accept`` says why a document may not be used, ``None``
    when it may. The workspace must exist, else ``FileNotFoundError``.
    """

    def __init__(
        self,
        workspace_root: str | os.PathLike[str],
        settings: Settings | None = None,
        on_limit: Callable[[LimitReached], None] | None = None,
        *,
        remote: Remote | None = None,
        files: FileSystem | None = None,
        home: str | os.PathLike[str] | None = None,
        accept: Callable[[Document], str | None] | None = None,
    ) -> None:
        self.settings = Settings() if settings is None else settings
        self._files: FileSystem = Disk() if files is None else files
        self._given: str = os.path.abspath(os.fspath(workspace_root))  # noqa: PTH100 -- links stay
        self.root = self._files.real(self._given)
        """The workspace's real, absolute path."""
        self._on_limit = on_limit
        self._accept = accept
        self._discoverer = Discoverer(self._files, self.root, self.settings)
        self._sources = Sources(
            self._files, self.root, self.settings, remote=remote,
            home=posixpath.normpath(os.fspath(home)) if home is not None else os.path.expanduser("~"),  # noqa: PTH111
            relative=self._discoverer.relative,
        )  # fmt: skip
        self._imports = Imports(self._files, self._sources.absolute, self._sources.shown)
        self._plain = not (self.settings.user_documents or self.settings.files or self.settings.read_files)
        if self.settings.enabled and self.settings.location is not None:
            self._sources.location(self.settings.location)

    def resolve(self, target: str | os.PathLike[str] = ".") -> Resolution:
        """The documents that govern ``target``, a path that may not exist yet.

        A relative target counts from the workspace. Only a target that is no path (it holds NUL) raises
        ``ValueError``, and a missing ``location`` raises ``FileNotFoundError``; all else is in the result.
        """
        path, directory = absolute(self.root, target)
        if self._given != self.root and inside(path, self._given):
            path = self.root + path[len(self._given) :]
        span = observe.begin()
        try:
            resolution = self._resolve(path, directory)
        except BaseException:
            observe.end(span, None)
            raise
        observe.end(span, resolution)
        if log.isEnabledFor(logging.DEBUG):
            log.debug(
                "target %r, boundary %r: %d documents, %d bytes, %d left out, %s",
                resolution.target, resolution.boundary, len(resolution.documents), resolution.size,
                len(resolution.skipped), resolution.outcome,
            )  # fmt: skip
            for document in resolution.documents:
                log.debug("document %r, scope %r, %d bytes", document.path, document.scope, document.bytes)
        if self._on_limit is not None:
            for limit in resolution.limits:
                self._on_limit(limit)
        return resolution

    def augment(
        self,
        messages: Sequence[Mapping[str, Any]],
        target: str | os.PathLike[str] | None = None,
        *,
        touched: Iterable[str] | None = None,
        place: str = "system",
    ) -> list[dict[str, Any]]:
        """``messages`` with the documents that govern ``target`` added; see ``steward.agents_md.augment``."""
        from steward.agents_md.messages import augment

        return augment(messages, target, resolver=self, touched=touched, place=place)

    def relative(self, path: str | os.PathLike[str]) -> str:
        """A path as it stands in resolutions: relative to the workspace."""
        return self._discoverer.relative(absolute(self.root, path)[0])

    def place(self, document: Document) -> str:
        """The absolute path of a document as it is named, links not followed; of one from a URL it says nothing."""
        return self._sources.absolute(document.path)

    def _resolve(self, path: str, directory: bool) -> Resolution:
        target = self._discoverer.relative(path)
        if not self.settings.enabled:
            return Resolution(target, ".", skipped=(_OFF,), enabled=False)
        if self.settings.location is not None:
            discovery = Discovery(self.root)
            gathered = self._sources.location(self.settings.location)
        else:
            discovery = self._discoverer.discover(path, directory=directory)
            gathered = Gathered()
        if not self._plain:
            before = self._sources.gather(discovery.boundary)
            before.documents += gathered.documents
            before.skipped += gathered.skipped
            before.oversized |= gathered.oversized
            gathered = before
        documents = gathered.documents
        skipped = gathered.skipped + discovery.skipped
        notes = gathered.notes
        oversized = gathered.oversized
        for look in discovery.looks:
            if look.document is not None:
                documents.append(look.document)
            skipped += look.skipped
            notes += look.notes
            oversized |= look.oversized
        if not documents and self.settings.fallback_location is not None:
            documents, oversized = self._fallback(skipped, oversized)
        if self._accept is not None:
            asked = [(document, self._accept(document)) for document in documents]
            documents = [document for document, refused in asked if refused is None]
            skipped = skipped + [Skipped(d.path, refused, "untrusted") for d, refused in asked if refused]
        return self._finish(target, discovery, documents, skipped, notes, oversized)

    def _fallback(self, skipped: list[Skipped], oversized: bool) -> tuple[list[Document], bool]:
        place = self.settings.fallback_location
        assert place is not None
        try:
            found = self._sources.location(place)
        except FileNotFoundError:
            skipped.append(
                Skipped(self._sources.shown(str(place)), "the fallback location does not exist", "absent")
            )
            return [], oversized
        skipped += found.skipped
        return found.documents, oversized or found.oversized

    def _finish(
        self, target: str, discovery: Discovery, documents: list[Document],
        skipped: list[Skipped], notes: list[Note], oversized: bool,
    ) -> Resolution:  # fmt: skip
        settings = self.settings
        documents, same = distinct(documents)
        documents, over, met = limited(documents, settings)
        reached = dict(met)
        if discovery.too_deep:
            reached["depth-limit"] = settings.max_depth
        if oversized:
            reached.setdefault("size-limit", settings.max_document_bytes)
        notes = notes + self._imports.notes(documents, discovery.boundary)
        if not self._plain and skipped:  # one that bears a wrong name may have been named by hand
            named = {document.path for document in documents}
            skipped = [item for item in skipped if item.cause != "name" or item.path not in named]
        size = sum(document.bytes for document in documents)
        limits = tuple(
            LimitReached(target, outcome, len(documents), size, reached[outcome])
            for outcome in _ORDER
            if outcome in reached
        )
        return Resolution(
            target,
            self._discoverer.relative(discovery.boundary),
            tuple(documents),
            tuple(skipped + same + over),
            limits[0].outcome if limits else "complete",
            limits[0].limit if limits else None,
            limits,
            tuple(notes),
        )
