"""Trust in a repository: what of it would steer the model, what the person accepted of that, and what differs."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from steward import agents_md
from steward.config.repository import PLACE, parse_repository
from steward.errors import ConfigError, Conflict, PathRefused
from steward.service.steering_texts import Kind, Search, bytes_of, own, read_configuration
from steward.storage.trust import Accepted, Place, TrustStore

if TYPE_CHECKING:
    from steward.service.house import House
    from steward.skills import Catalog, Skill

Standing = Literal["", "not trusted", "changed", "new"]
"""What a person should know at a glance: nothing, that texts are withheld, that accepted ones are others by now,
or that there are others besides."""
State = Literal["new", "changed", "accepted", "yours"]

UNTRUSTED = (
    "This repository is not trusted: its instructions, skills and configuration are not used "
    "(/trust and steward trust show them, and ask)."
)
UNSEEN = (
    "Nobody has trusted yet what this repository says to the model; it is shown here, and no model is sent it before "
    "somebody does (steward trust)."
)
FORCED = (
    "This run was told which texts of repositories to use (--trust, or the setting trust); start it without that to "
    "decide."
)
NOTE = "Made in an untrusted repository, without its instructions."


@dataclass(frozen=True, slots=True)
class TrustItem:
    """One text of the repository that would be loaded; a URL is the person's own and is only listed."""

    kind: Kind
    path: str
    data: bytes = field(repr=False)
    state: State
    accepted: bytes | None = field(default=None, repr=False)
    """The text that was accepted before, where this one differs from it."""

    @property
    def sha256(self) -> str:
        """Hex digest of what the item is now."""
        return hashlib.sha256(self.data).hexdigest()

    @property
    def bytes(self) -> int:
        """Its size."""
        return len(self.data)

    @property
    def text(self) -> str:
        """It as text, for a person; pass it through ``visible``."""
        return self.data.decode("utf-8", "backslashreplace")

    @property
    def warnings(self) -> tuple[str, ...]:
        """Phrases that finish the sentence "It …"."""
        from steward.service.suspect import warnings_of
        from steward.tools.redact import redacted

        found = warnings_of(self.text)
        if redacted(self.text) != self.text:
            found += ("holds what looks like a key",)
        if self.kind == "configuration":
            try:
                parse_repository(self.data)
            except ConfigError as error:
                found += (f"would not be used: {error}".rstrip("."),)
        return found

    @property
    def difference(self) -> str:
        """A unified diff from what was accepted to what it is now; empty for an item that is new or the same."""
        if self.accepted is None:
            return ""
        import difflib  # here, since it is slow to import and seldom needed

        before = self.accepted.decode("utf-8", "backslashreplace").split("\n")
        return "\n".join(
            difflib.unified_diff(before, self.text.split("\n"), "accepted", "now", lineterm="", n=3)
        )


@dataclass(frozen=True, slots=True)
class TrustView:
    """What trusting this repository would mean."""

    root: str
    trusted: bool
    """Whether the place is trusted; items that are ``new`` or ``changed`` are not used even then."""
    items: tuple[TrustItem, ...]
    gone: tuple[tuple[str, str], ...] = ()
    """Kind and path of what was accepted and is no longer there."""
    incomplete: bool = False
    """Whether there are more documents than were looked for."""
    forced: bool = False
    """Whether this run was told to use all of it unseen; nothing can be decided then."""

    @property
    def pending(self) -> tuple[TrustItem, ...]:
        """What is not used until the person accepts it."""
        return tuple(item for item in self.items if item.state in ("new", "changed"))

    @property
    def digests(self) -> dict[str, str]:
        """Digest by ``kind:path`` of all that was shown; what ``Trust.accept`` wants back."""
        return {f"{item.kind}:{item.path}": item.sha256 for item in self.items if item.state != "yours"}


class Trust:
    """The gate of one workspace. ``forced`` is ``True`` to let everything through, ``False`` to let nothing."""

    def __init__(self, house: House, store: TrustStore | None, forced: bool | None = None) -> None:
        self._house = house
        self._store = store
        self._forced = forced
        self._accepted: dict[tuple[str, str], Accepted] | None = None
        self._met: dict[str, agents_md.Document] = {}
        self._same: dict[tuple[str, str], tuple[int, ...]] = {}
        self._catalog: Catalog | None = None
        """The repository's skills as they were last looked at, so that what is the same is not read again."""

    @property
    def trusted(self) -> bool:
        """Whether texts of this repository may be used at all."""
        return self._forced if self._forced is not None else self._known() is not None

    def withheld(self, path: str = ".") -> bool:
        """Whether a repository that is not trusted holds anything for ``path`` that is kept from the model."""
        return not self.trusted and self.steered(path)

    def steered(self, path: str = ".") -> bool:
        """Whether the repository holds anything for ``path`` that would steer the model."""
        house = self._house
        resolution = house.resolver.resolve(path)
        if any(skipped.cause == "untrusted" for skipped in resolution.skipped):
            return True
        if any(document.kind in ("agents", "override", "fallback") for document in resolution.documents):
            return True
        return read_configuration(house) is not None or bool(self._skills(path))

    def standing(self) -> Standing:
        """How things stand. Reads the texts that were accepted, where they may have changed, or looks for others."""
        if self._forced:
            return ""
        if self.trusted:
            return "changed" if self.differs() else "new" if self.fresh() else ""
        return "not trusted" if self.steered() else ""

    def fresh(self) -> bool:
        """Whether a trusted repository holds a text that the person was never shown.

        Known are those for its top directory, and the documents that were met since on the way to a path.
        """
        known = self._known() or {}
        house = self._house
        paths = {skip.path for skip in house.resolver.resolve(".").skipped if skip.cause == "untrusted"}
        paths |= {path for path in self._met if (house.workspace.root / path).is_file()}
        if any(("instructions", path) not in known for path in paths):
            return True
        if ("configuration", PLACE) not in known and read_configuration(house) is not None:
            return True
        return any(("skill", skill.location) not in known for skill in self._skills("."))

    def _skills(self, path: str) -> list[Skill]:
        """The repository's skills for a path, whether they may be used or not."""
        from steward.skills import Places, discover

        root, wanted = self._house.workspace.root, self._house.settings.skills.directories
        folders = tuple(entry for entry in wanted if not entry.startswith(("/", "~")))
        places = Places(root, root / self._house.boundary(), folders=folders, shipped=False)
        self._catalog = discover(places, path, self._catalog)
        return [skill for skill in self._catalog.skills if skill.source == "project"]

    def differs(self) -> bool:
        """Whether one of the texts that were accepted is another by now. Reads those files alone."""
        root = self._house.workspace.root
        for key, accepted in (self._known() or {}).items():
            try:
                with (root / accepted.path).open("rb") as file:
                    status = os.fstat(file.fileno())
                    mark = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
                    if self._same.get(key) == mark:
                        continue
                    if file.read(len(accepted.data) + 1) != accepted.data:
                        return True
            except OSError:
                return True
            self._same[key] = mark
        return False

    def unasked(self) -> TrustView | None:
        """What the person has yet to be asked about by itself; ``None`` for nothing.

        Whoever went on without a text is not asked about that very text again, and whoever went on without a whole
        repository not about that repository.
        """
        if self._store is None or (self.trusted and not self.differs() and not self.fresh()):
            return None
        declined = self._store.declined(self._place())
        if not self.trusted and declined is not None:
            return None
        view = self.view()
        names = {f"{item.kind}:{item.path}": item.sha256 for item in view.pending}
        return view if any((declined or {}).get(name) != digest for name, digest in names.items()) else None

    def declined(self) -> bool:
        """Whether the person went on without texts of this very place."""
        return self._store is not None and self._store.declined(self._place()) is not None

    def decline(self, digests: Mapping[str, str]) -> None:
        """The person was asked about these texts, ``TrustView.digests``, and goes on without them."""
        self._kept().decline(self._place(), digests)

    def document(self, document: agents_md.Document) -> str | None:
        """Why an instruction document may not be used, ``None`` when it may."""
        if self._forced or own(document):
            return None
        known = self._known()
        if known is None:
            return "this repository is not trusted"
        accepted = known.get(("instructions", document.path))
        if accepted is not None and accepted.sha256 == document.sha256:
            return None
        self._met[document.path] = document
        what = "has changed since you trusted it" if accepted else "is new since you trusted this repository"
        return f"it {what}; /trust and steward trust show how"

    def skill(self, location: str, digest: str) -> bool:
        """Whether a skill of the repository may be used as it is."""
        return self._allowed("skill", location, digest)

    def configuration(self, data: bytes) -> bool:
        """Whether the repository's configuration may be used as it is."""
        return self._allowed("configuration", PLACE, hashlib.sha256(data).hexdigest())

    def view(self) -> TrustView:
        """All that would be loaded, and how it compares with what was accepted. Reads the disk."""
        self._place()  # Without it there is nothing to look through.
        known = self._known() or {}
        items: list[TrustItem] = []
        seen: set[tuple[str, str]] = set()
        search = Search(self._house)
        for kind, path, data in (*search.found(), *self._met_before()):
            if (kind, path) in seen:
                continue
            seen.add((kind, path))
            before = known.get((kind, path))
            state: State = "new" if before is None else "accepted" if before.data == data else "changed"
            state = "accepted" if self._forced else state
            items.append(
                TrustItem(kind, path, data, state, before.data if before and state == "changed" else None)
            )
        items += [TrustItem("url", url, b"", "yours") for url in self._house.instruction_urls]
        gone = tuple(key for key in known if key not in seen)
        root, forced = str(self._house.workspace.root), self._store is None
        return TrustView(root, self.trusted, tuple(items), gone, search.incomplete, forced)

    def accept(self, digests: Mapping[str, str]) -> TrustView:
        """Trust the place with exactly the texts that were shown: ``TrustView.digests``, or a part of it.

        Raises ``Conflict``, and trusts nothing, when one of them is another by now.
        """
        store = self._kept()
        view = self.view()
        now = {f"{item.kind}:{item.path}": item for item in view.items if item.state != "yours"}
        for name, digest in digests.items():
            if name not in now or now[name].sha256 != digest:
                raise Conflict(f"{name.partition(':')[2]} has changed since it was shown; look at it again.")
        texts = [Accepted(item.kind, item.path, item.data) for name, item in now.items() if name in digests]
        store.trust(self._place(), texts, view.gone)
        self._accepted = None
        self._met.clear()
        self._same.clear()
        return self.view()

    def forget(self) -> None:
        """Trust nothing here any more."""
        self._kept().forget(self._place())
        self._accepted = None

    def _kept(self) -> TrustStore:
        if self._store is None:
            raise Conflict(FORCED)
        return self._store

    def _allowed(self, kind: str, path: str, digest: str) -> bool:
        if self._forced:
            return True
        accepted = (self._known() or {}).get((kind, path))
        return accepted is not None and accepted.sha256 == digest

    def _known(self) -> dict[tuple[str, str], Accepted] | None:
        """What was accepted here, ``None`` when this very directory is not trusted.

        The device is compared through the digests alone: its number changes when a machine starts anew.
        """
        if self._forced is not None or self._store is None:
            return {} if self._forced else None
        if self._accepted is None:
            place, here = self._store.place(), self._place()
            if place is None or (place.path, place.inode) != (here.path, here.inode):
                return None
            self._accepted = {(text.kind, text.path): text for text in self._store.accepted()}
            if place.device != here.device and self.view().pending:
                self._accepted = None
                return None
        return self._accepted

    def _place(self) -> Place:
        root = self._house.workspace.root
        try:
            status = os.stat(root)
        except OSError:
            raise PathRefused("missing", ".", "The workspace's directory is no longer there.") from None
        return Place(os.fsencode(root).decode("utf-8", "backslashreplace"), status.st_dev, status.st_ino)

    def _met_before(self) -> Iterator[tuple[Kind, str, bytes]]:
        for document in self._met.values():
            yield "instructions", document.path, bytes_of(document)
