"""What stands behind every front end and command: workspace, database, changes, instructions; opened once."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Literal

from steward import agents_md
from steward.config import Settings, parse_repository, with_repository
from steward.config.repository import PLACE
from steward.errors import ConfigError, UsageError
from steward.service.profiles import named, under
from steward.service.steering_texts import read_configuration
from steward.service.trust import UNSEEN, UNTRUSTED, Trust
from steward.storage import Database
from steward.storage.trust import TrustStore
from steward.workspace import Policy, Workspace

if TYPE_CHECKING:
    from steward.confine.outside import Outside
    from steward.service.changes import Changes
    from steward.service.remote import RemoteDocuments
    from steward.service.views import WorkspaceView
    from steward.skills import Places
    from steward.storage import AuditLog, PromptStore, SessionStore


class House:
    """The rooms that need neither a model nor a screen.

    ``state`` is the directory of all workspaces' state; this workspace's own lies below it. ``home`` and
    ``config_directory`` are where the person's own documents are looked for; ``reads`` are files they name.
    ``trusted`` says whether texts of the repository may steer the model: ``True`` all, ``False`` none, ``None`` those
    that the person accepted, ``"undecided"`` all until the person was asked, with a notice, and then as ``None``.
    ``outside`` starts the worker where this process cannot. ``configuration`` is the file that ``settings`` are from,
    when it is not the person's usual one.
    """

    def __init__(
        self,
        root: Path,
        settings: Settings,
        *,
        state: Path,
        home: Path | None = None,
        config_directory: Path | None = None,
        reads: tuple[Path, ...] = (),
        profile: str = "",
        trusted: bool | Literal["undecided"] | None = True,
        outside: Outside | None = None,
        configuration: Path | None = None,
    ) -> None:
        if not root.is_dir():
            raise UsageError(f"{root.name or root} is not a directory.")
        self.profile = named(settings, profile)
        self.profile_name = profile
        self.settings = under(settings, self.profile)
        self.home = home
        self.config_directory = config_directory
        self.reads = reads
        self.outside = outside
        self.configuration = configuration
        self._given = (settings, state)
        self._left: list[Workspace] = []
        self._trusted: bool | None = True if trusted == "undecided" else trusted
        self._unasked = False
        """Whether texts of the repository count although nobody was asked about them."""
        self._unused: list[str] = []
        """Why the repository's configuration is not used."""
        self.stop_looking = Event()
        """Set by a person who will not wait for skills: a conversation begins with those that were found by then."""
        self.told_of_skills: set[str] = set()
        """What the person was told of skills, whichever conversation it was told in."""
        self.workspace = Workspace.open(root, self._policy())
        self.state = state / self.workspace.identity
        self.own_settings = self.settings
        """The person's settings without anything of the repository's."""
        try:
            if trusted == "undecided":
                self._unasked = not TrustStore(self.database).decided()
                self._trusted = self._unasked or None
            self._take_configuration()
        except BaseException:
            self.close()
            raise

    def under(self, profile: str) -> House:
        """The same house under that profile, opened once more. Raises ``NoSuchThing``."""
        settings, state = self._given
        return House(
            self.workspace.root,
            settings,
            state=state,
            home=self.home,
            config_directory=self.config_directory,
            reads=self.reads,
            profile=profile,
            trusted=self._trusted,
            outside=self.outside,
            configuration=self.configuration,
        )

    def _policy(self) -> Policy:
        tools = self.settings.tools
        return Policy(
            secrets_allowed=tools.secrets,
            denied=tools.ignore,
            redact=tools.redact,
            unredacted=tools.unredacted,
            git_environment=os.environ if self.home else {},
            state_dir=self._given[1],
            max_file_bytes=tools.max_file_bytes,
        )

    def _take_configuration(self) -> None:
        """Join the repository's configuration to the person's, when it may be used and is in order."""
        data = read_configuration(self, self._unused)
        if data is None:
            return
        if not self.trust.configuration(data):
            if self.trust.trusted:
                self._unused.append(
                    ".steward/config.toml is not used: it is new or has changed since you trusted this repository."
                )
            return
        try:
            self.settings = self._with(data)
        except ConfigError as error:
            self._unused.append(f"{error} The file is not used.")
            return
        self.__dict__.pop("resolver", None)
        if self.settings.tools.ignore != self.own_settings.tools.ignore:
            self.workspace.close()
            self.workspace = Workspace.open(self.workspace.root, self._policy())

    def _with(self, data: bytes) -> Settings:
        """The person's settings with the repository's configuration; raises ``ConfigError``."""
        joined = with_repository(self.own_settings, parse_repository(data))
        try:
            self.instruction_settings(joined)
        except ConfigError as error:
            raise ConfigError(f"{PLACE}: {error}") from None
        return joined

    def take_up(self) -> None:
        """Take up the repository's configuration, or drop it, as the person has decided by now.

        What was made of the rooms before (a conversation, an index of paths) still goes by what held then.
        """
        before = self.settings
        self.settings = self.own_settings
        self._unused.clear()
        for name in ("notices", "resolver", "changes"):
            self.__dict__.pop(name, None)
        data = read_configuration(self)
        if data is not None and self.trust.configuration(data):
            with suppress(ConfigError):
                self.settings = self._with(data)
        if self.settings.tools.ignore != before.tools.ignore:
            self._left.append(self.workspace)  # somebody may still be reading through it
            self.workspace = Workspace.open(self.workspace.root, self._policy())

    @cached_property
    def notices(self) -> tuple[str, ...]:
        """What the person must be told of how the house was opened. Looks through the repository's texts."""
        unseen = (UNSEEN,) if self._unasked and self.trust.steered() else ()
        untrusted = (UNTRUSTED,) if self.trust.withheld() else ()
        return (*unseen, *untrusted, *self._unused)

    @cached_property
    def trust(self) -> Trust:
        """Which texts of the repository may steer the model."""
        store = TrustStore(self.database) if self._trusted is None else None
        return Trust(self, store, self._trusted)

    def boundary(self) -> str:
        """Where looking for instructions and skills stops, relative to the workspace."""
        return self.resolver.resolve(".").boundary

    def skill_places(self) -> Places:
        """Where skills are looked for, and which of the repository's may be used."""
        from steward.skills import Places  # here, since most commands need none

        wanted = self.settings.skills.directories
        named = tuple(entry for entry in wanted if entry.startswith(("/", "~")))
        return Places(
            self.workspace.root,
            self.workspace.root / self.boundary(),
            self.home,
            self.config_directory,
            extra=tuple(Path(entry).expanduser() for entry in named),
            folders=tuple(entry for entry in wanted if entry not in named),
            trusted=self.trust.trusted,
            accepts=None if self._trusted else self.trust.skill,
        )

    def expire(self) -> tuple[str, ...]:
        """Delete sessions that were not used for as long as the settings say; sentences for the person."""
        days = self.settings.sessions.keep_days
        gone = len(self.sessions.expire(days))
        if not gone:
            return ()
        many = "1 session was" if gone == 1 else f"{gone} sessions were"
        return (f"{many} deleted: not used for more than {days} days (sessions.keep_days).",)

    @cached_property
    def database(self) -> Database:
        """The workspace's database, made when it is first needed. Raises ``StorageError``."""
        return Database(self.state)

    @cached_property
    def changes(self) -> Changes:
        """The changes of this workspace."""
        from steward.service.changes import Changes  # here, since not every command needs them
        from steward.storage import ChangeStore

        return Changes(
            self.workspace,
            ChangeStore(self.database),
            self.state,
            self.governing,
            keep=self.settings.proposals,
        )

    def unsettled(self) -> bool:
        """Whether a change that was cut off, or is being written now, may not have been settled yet."""
        from steward.proposals.record import standing  # here, since not every command needs it

        try:
            return any(standing(self.state / "journal"))
        except OSError:
            return False

    @cached_property
    def sessions(self) -> SessionStore:
        """The stored conversations of this workspace."""
        from steward.storage import SessionStore

        return SessionStore(self.database)

    @cached_property
    def prompts(self) -> PromptStore:
        """What the person typed before."""
        from steward.storage import PromptStore

        return PromptStore(self.database)

    @cached_property
    def audit(self) -> AuditLog:
        """What happened to changes."""
        from steward.storage import AuditLog

        return AuditLog(self.database)

    @cached_property
    def secret(self) -> str:
        """What marks the steward's own envelopes in this workspace."""
        return self.database.secret()

    @cached_property
    def resolver(self) -> agents_md.Resolver:
        """Finds the instruction documents that govern a path."""
        return agents_md.Resolver(
            self.workspace.root,
            self.instruction_settings(),
            remote=lambda url: self.remote.get(url),
            home=self.home or self.state,
            accept=None if self._trusted else self.trust.document,
        )

    @cached_property
    def remote(self) -> RemoteDocuments:
        """What the configured URLs hold."""
        from steward.service.remote import RemoteDocuments
        from steward.storage import CopyStore

        limit = self.settings.instructions.max_document_bytes
        return RemoteDocuments(CopyStore(self.database), limit=limit)

    @property
    def instruction_urls(self) -> tuple[str, ...]:
        """URLs among the configured instruction files."""
        wanted = self.settings.instructions
        return tuple(entry for entry in wanted.files if "://" in entry) if wanted.enabled else ()

    def governing(self, path: str) -> dict[str, str]:
        """Path and digest of the documents that govern a file now."""
        return {document.path: document.sha256 for document in self.resolver.resolve(path).documents}

    def directories_that_matter(self, focus: str) -> set[Path]:
        """Where a change on disk would be of interest: beside pending files, and from the focus to the boundary."""
        root = self.workspace.root
        resolution = self.resolver.resolve(focus)
        boundary = (root / resolution.boundary).resolve()
        place = root / focus
        found = {p for p in (place, *place.parents) if p == boundary or boundary in p.parents}
        here = [d for d in resolution.documents if d.kind in ("agents", "override", "fallback")]
        found.update((root / document.path).parent for document in here)
        named = (self.resolver.place(d) for d in resolution.documents if d.kind != "remote")
        # What is edited is the end of a link.
        ends = (Path(os.path.realpath(place)).parent for place in named)
        found.update(end for end in ends if end == boundary or boundary in end.parents)
        for proposal in self.changes.store.pending():
            for file in proposal.files:
                found.update({(root / file.path).parent, (root / file.source).parent})
        return found

    def view(self) -> WorkspaceView:
        """The bounds of the tools, for a person."""
        from steward.service.views import WorkspaceView

        resolution = self.resolver.resolve(".")
        secrets = (".env files, private keys, .netrc, .npmrc, .pypirc and Terraform state",)
        return WorkspaceView(
            name=self.workspace.name,
            root=str(self.workspace.root),
            boundary=resolution.boundary,
            engine=self.workspace.engine,
            identity=self.workspace.identity,
            state=str(self.state),
            documents=tuple(document.path for document in resolution.documents),
            protected=(
                ".git in every spelling a file system honours",
                *(() if self.settings.tools.secrets else secrets),
                "symbolic links, pipes, sockets, devices and other mounts",
                "the steward's own state",
            ),
        )

    def instruction_settings(self, settings: Settings | None = None) -> agents_md.Settings:
        """Settings (those in force) in the terms of the instruction library. Raises ``ConfigError``."""
        wanted = (settings or self.settings).instructions
        try:
            return agents_md.Settings(
                enabled=wanted.enabled,
                fallback_names=wanted.fallback_names,
                boundary=wanted.boundary,
                keep=wanted.keep,
                max_depth=wanted.max_depth,
                max_documents=wanted.max_documents,
                max_document_bytes=wanted.max_document_bytes,
                max_total_bytes=wanted.max_total_bytes,
                user_documents=self._user_documents(),
                files=wanted.files,
                read_files=self.reads,
            )
        except ValueError as error:
            raise ConfigError(f"instructions: {error}") from None

    def _user_documents(self) -> tuple[Path, ...]:
        if self.home is None:
            return (self.config_directory / "AGENTS.md",) if self.config_directory else ()
        config = self.config_directory or self.home / ".config" / "steward"
        return agents_md.user_locations(config, self.home, claude=self.settings.instructions.claude)

    def close(self) -> None:
        """Give back what was opened."""
        if "database" in self.__dict__:
            self.database.close()
        for workspace in (*self._left, self.workspace):
            workspace.close()


def home_directory() -> Path | None:
    """The person's home, ``None`` where there is none."""
    home = os.environ.get("HOME", "")
    return Path(home) if home and Path(home).is_dir() else None
