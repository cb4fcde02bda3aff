"""A steward without disk, model or process: what the screen is tested against."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from steward.agents_md import Document, Resolution, Skipped
from steward.config import Settings
from steward.conversation import Message, Usage
from steward.errors import (
    ConfigError,
    Conflict,
    NeedsPerson,
    NoSuchThing,
    StaleProposal,
    StampMismatch,
    WrongStatus,
)
from steward.events import (
    AnswerText,
    ChangesMoved,
    DocumentState,
    Event,
    ProposalMade,
    RoundEnded,
    RoundStarted,
    TurnEnded,
    TurnStarted,
)
from steward.model.choices import ModelChoice
from steward.proposals import Choice, FileChange, Governing, Proposal, choose_files, with_result
from steward.proposals.apply import Applied
from steward.proposals.banner import banner
from steward.proposals.diff import file_diff
from steward.proposals.stale import StaleFile
from steward.service import Steward
from steward.service.compaction import Asked
from steward.service.examining import Examined, Tried
from steward.service.reading import Kept
from steward.service.revising import Comment, comment
from steward.service.steering import SkillsView
from steward.service.trust import Standing, TrustItem, TrustView
from steward.service.views import (
    ChangeView,
    ContextView,
    CostView,
    FileCount,
    InstructionsView,
    Review,
    SessionView,
    Share,
    WorkspaceView,
)
from steward.skills import Catalog

WORKSPACE = "0123456789abcdef"

Step = Event | float | Callable[[], None]
"""An event to give, seconds to wait, or something to do."""


def modify(path: str, base: str | bytes, result: str | bytes) -> FileChange:
    """A change of one file."""
    return FileChange(path, "modify", _bytes(base), _bytes(result), 0o644, 0o644)


def create(path: str, result: str | bytes) -> FileChange:
    """A new file."""
    return FileChange(path, "create", None, _bytes(result), None, 0o644)


def proposal(
    number: int, *files: FileChange, title: str = "", status: str = "pending", **more: object
) -> Proposal:
    """A change of the fake workspace."""
    return Proposal(
        id=f"change-{number:03d}",
        title=title,
        created="2026-11-30T10:00:00Z",
        files=files,
        workspace=WORKSPACE,
        status=status,  # type: ignore[arg-type]
        **more,  # type: ignore[arg-type]
    )


def answer(*texts: str) -> list[Step]:
    """A turn of one round that says these pieces."""
    return [
        RoundStarted(1),
        *map(AnswerText, texts),
        RoundEnded(1, Usage(1200, 60), 1260, 32_000),
        TurnEnded("answered", 1, Usage(1200, 60), 1.2),
    ]


class FakeSteward:
    """Has the interface of ``Steward``; turns are scripted, changes are a dictionary."""

    def __init__(self, *, name: str = "shop", model: str = "script/demo", pause: float = 0.0) -> None:
        self.workspace_name = name
        self.settings = Settings()
        self.root = Path("/nowhere") / name
        self.model = model
        self.profile = ""
        self.model_host = ""
        self.focus = "."
        self.session_id = ""
        self.session_title = ""
        self.window: int | None = 32_000
        self.scripts: list[list[Step]] = []
        self.asked: list[str] = []
        self.proposals: dict[str, Proposal] = {}
        self.stale: dict[str, tuple[StaleFile, ...]] = {}
        self.shown: dict[str, str] = {}
        self.applied: list[tuple[str, str]] = []
        self.discarded: list[tuple[str, str]] = []
        self.chosen: list[dict[str, Choice | None]] = []
        self.readings: dict[str, Kept] = {}
        self.kept_draft = ""
        self.remembered: list[str] = []
        self.paths: tuple[str, ...] = ("src/app.py", "src/retry.py", "src/a b.py", "README.md", "docs/")
        self.messages: tuple[Message, ...] = ()
        self.documents: tuple[DocumentState, ...] = (
            DocumentState("AGENTS.md", ".", 1200, 340, "a" * 64, "in-effect"),
        )
        self.skipped: tuple[tuple[str, str], ...] = ()
        self.trusted = True
        self.texts: tuple[TrustItem, ...] = ()
        self.accepted: dict[str, str] = {}
        self.declined: dict[str, str] = {}
        self.catalog = Catalog()
        self.loaded: list[str] = []
        self.started = self.closed = False
        self._pause = pause
        self._turn: asyncio.Event | None = None
        self._listeners: list[asyncio.Queue[Event | None]] = []

    def as_steward(self) -> Steward:
        """Itself, typed as what it stands for."""
        return cast(Steward, self)

    @property
    def busy(self) -> bool:
        return self._turn is not None

    async def start(self) -> None:
        self.started = True

    async def close(self) -> None:
        self.closed = True
        for queue in self._listeners:
            queue.put_nowait(None)

    def tell(self, event: Event) -> None:
        """Give a fact to whoever listens."""
        for queue in self._listeners:
            queue.put_nowait(event)

    async def listen(self) -> AsyncGenerator[Event]:
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        self._listeners.append(queue)
        while (event := await queue.get()) is not None:
            yield event

    async def ask(self, question: str) -> AsyncGenerator[Event]:
        if self._turn is not None:
            raise Conflict("A turn is running; interrupt it or wait for its end.")
        self.asked.append(question)
        stop = self._turn = asyncio.Event()
        steps = self.scripts.pop(0) if self.scripts else answer(f"You asked: {question}")
        try:
            yield TurnStarted(question)
            for step in steps:
                if stop.is_set():
                    yield TurnEnded("interrupted", 1, Usage(), 0.5)
                    return
                if isinstance(step, int | float):
                    try:
                        await asyncio.wait_for(stop.wait(), step)
                    except TimeoutError:
                        pass
                elif callable(step):
                    step()
                else:
                    if isinstance(step, ProposalMade):
                        self.proposals[step.proposal.id] = step.proposal
                    yield step
                    if self._pause:
                        await asyncio.sleep(self._pause)
        finally:
            self._turn = None

    def interrupt(self) -> None:
        if self._turn is not None:
            self._turn.set()

    def put(self, *proposals: Proposal) -> None:
        """Have these changes."""
        for made in proposals:
            self.proposals[made.id] = made

    def make_stale(self, change: str, *paths: str) -> None:
        """Let files of a change move on disk."""
        self.stale[change] = tuple(StaleFile(path, "changed") for path in paths)
        self.tell(ChangesMoved((change,)))

    async def changes(self, everything: bool = False) -> tuple[ChangeView, ...]:
        found = sorted(self.proposals.values(), key=lambda p: (p.status == "pending", p.id), reverse=True)
        return tuple(self._view(p) for p in found if everything or p.status == "pending")

    def _view(self, made: Proposal) -> ChangeView:
        counts: list[FileCount] = []
        for file in made.files:
            diff = file_diff(file)
            counts.append(FileCount(file.path, file.action, diff.added, diff.removed))
        paths = {file.path for file in made.files}
        overlaps = tuple(
            other.id
            for other in self.proposals.values()
            if other.id != made.id and other.status == "pending" and paths & {f.path for f in other.files}
        )
        pending = made.status == "pending"
        return ChangeView(
            made, tuple(counts), self.stale.get(made.id, ()) if pending else (), overlaps if pending else ()
        )

    def _find(self, change: str | None) -> Proposal:
        if change is None:
            pending = [p for p in self.proposals.values() if p.status == "pending"]
            if not pending:
                raise NoSuchThing("pending change", "newest")
            return pending[-1]
        if change not in self.proposals:
            raise NoSuchThing("change", change)
        return self.proposals[change]

    async def review(self, change: str | None = None, *, shown: bool = True) -> Review:
        made = self._find(change)
        view = self._view(made)
        diffs = tuple(file_diff(file) for file in made.files)
        if shown:
            self.shown[made.id] = made.stamp
        banners = tuple((f.path, text) for f in made.files if (text := banner(f.path)) is not None)
        return Review(
            made, diffs, view.counts, view.stale, view.overlaps, banners, sum(d.hidden for d in diffs), ()
        )

    async def apply_change(self, change: str, stamp: str) -> Applied:
        made = self._find(change)
        if made.status != "pending":
            raise WrongStatus(change, made.status, "applied")
        if change not in self.shown:
            raise NeedsPerson(f"{change} must be shown before it can be applied.")
        if stamp != made.stamp:
            raise StampMismatch(change, stamp[:12], made.short_stamp)
        if self.stale.get(change):
            raise StaleProposal(change, tuple(file.path for file in self.stale[change]))
        self.applied.append((change, stamp))
        self.proposals[change] = replace(made, status="applied")
        self.tell(ChangesMoved((change,)))
        return Applied(change, tuple(file.path for file in made.files), ())

    async def discard_change(self, change: str, reason: str = "") -> Proposal:
        made = replace(self._find(change), status="discarded", reason=reason)
        self.proposals[change] = made
        self.discarded.append((change, reason))
        self.tell(ChangesMoved((change,)))
        return made

    async def undo_change(self, change: str | None = None) -> Applied:
        made = self._find(change)
        self.proposals[made.id] = replace(made, status="undone")
        self.tell(ChangesMoved((made.id,)))
        return Applied(made.id, tuple(file.path for file in made.files), ())

    async def rebase_change(self, change: str) -> Proposal:
        made = self._find(change)
        files = tuple(
            replace(file, base=b"# moved\n" + (file.base or b""), result=b"# moved\n" + (file.result or b""))
            for file in made.files
        )
        self.stale.pop(change, None)
        self.proposals[change] = replace(made, files=files)
        return self.proposals[change]

    async def choose(self, change: str, stamp: str, choices: Mapping[str, Choice | None]) -> Proposal:
        made = self._find(change)
        if stamp != made.stamp:
            raise StampMismatch(change, stamp[:12], made.short_stamp)
        chosen = choose_files(made, choices)
        if not chosen.files:
            raise Conflict(f"Nothing of {change} would be left; discard it instead.")
        self.chosen.append(dict(choices))
        self._amend(chosen)
        return chosen

    async def edit_result(self, change: str, path: str, data: bytes, stamp: str) -> Proposal:
        made = self._find(change)
        files = tuple(with_result(file, data) if file.path == path else file for file in made.files)
        edited = replace(made, files=files, notes=(*made.notes, f"You edited {path} yourself."))
        self._amend(edited)
        return edited

    async def comment(self, change: str, comments: Sequence[Comment]) -> str:
        return comment(self._find(change), comments)

    async def reading(self, change: str) -> Kept | None:
        return self.readings.get(change)

    async def keep_reading(self, change: str, kept: Kept) -> None:
        self.readings[change] = kept

    def _amend(self, made: Proposal) -> None:
        self.proposals[made.id] = made
        self.shown.pop(made.id, None)
        self.tell(ChangesMoved((made.id,)))

    async def instructions(self, path: str | None = None) -> InstructionsView:
        documents = tuple(
            Document(
                path=d.path,
                scope=d.scope,
                kind="agents",
                text="Be kind.\n",
                bytes=d.bytes,
                chars=d.bytes,
                sha256=d.sha256,
            )
            for d in self.documents
        )
        resolution = Resolution(
            path or self.focus, ".", documents, tuple(Skipped(p, r) for p, r in self.skipped)
        )
        return InstructionsView(resolution, self.documents, self.window, True, "append")

    def context(self) -> ContextView:
        parts = (
            Share("Base prompt", 900, "base"),
            Share("Tools", 600, "tools"),
            Share("Instructions", 340, "instructions"),
            Share("Conversation", 2100, "conversation"),
            Share("Tool results", 5200, "results"),
        )
        return ContextView(parts, sum(part.tokens for part in parts), self.window)

    def workspace_view(self) -> WorkspaceView:
        return WorkspaceView(
            self.workspace_name,
            str(self.root),
            ".",
            "openat2",
            WORKSPACE,
            "/state",
            ("AGENTS.md",),
            (".git", ".env"),
        )

    async def models(self) -> tuple[ModelChoice, ...]:
        return (
            ModelChoice("offline/guide", "this machine", None, None, None, True, "built in"),
            ModelChoice("openai/gpt-x", "api.openai.com", 128_000, 2.5, 10.0, True, "OPENAI_API_KEY"),
            ModelChoice("ollama/qwen", "127.0.0.1:11434", 32_000, None, None, True, "local server"),
        )

    async def examine(self, name: str = "") -> AsyncGenerator[Tried | Examined]:
        yield Tried(1, 1, "finds and reads a planted fact", True, 1.25, "")
        yield Examined(name or self.model, "fit for changes", True, f"{name or self.model}: fit for changes")

    async def choose_model(self, name: str) -> None:
        if " " in name:
            raise ConfigError("A model's name has no spaces; `/model` lists what was found.")
        self.model = name

    async def new_session(self) -> None:
        self.messages = ()
        self.focus = "."

    async def sessions(self, search: str = "") -> tuple[SessionView, ...]:
        return (
            SessionView(
                "s1",
                "How does retry work?",
                "2026-11-29T09:00:00Z",
                "2026-11-29T09:30:00Z",
                12,
                "script/demo",
            ),
        )

    async def resume(self, session: str | None = None) -> None:
        self.session_id = session or "s1"

    summary = "They want one."

    async def propose_summary(self) -> str:
        return self.summary

    async def accept_summary(self, text: str) -> None:
        self.summary = text

    async def questions(self, session: str | None = None) -> tuple[Asked, ...]:
        return (Asked(1, "an old question", 0, 1),)

    def cost(self) -> CostView:
        return CostView(Usage(1200, 60), Usage(4800, 240, 1000, 0.0125))

    def transcript(self) -> tuple[Message, ...]:
        return self.messages

    def told(self) -> tuple[Message, ...]:
        return self.messages

    async def stored(self, session: str | None = None) -> tuple[Message, ...]:
        return self.messages

    paths_listed = True

    async def complete_path(self, text: str, limit: int = 12) -> tuple[str, ...]:
        return tuple(path for path in self.paths if text in path)[:limit]

    async def history(self, limit: int = 500) -> tuple[str, ...]:
        return ("an old question", "two\nlines")

    async def remember(self, prompt: str) -> None:
        self.remembered.append(prompt)

    async def draft(self) -> str:
        return self.kept_draft

    async def keep_draft(self, text: str) -> None:
        self.kept_draft = text

    async def skills(self) -> Catalog:
        return self.catalog

    async def skills_view(self) -> SkillsView:
        return SkillsView(self.catalog, tuple(self.loaded), tuple(self.loaded))

    async def load_skill(self, name: str) -> str:
        if self.catalog.find(name) is None:
            raise NoSuchThing("skill", name, self.catalog.near(name))
        self.loaded.append(name)
        return f"The skill {name!r} goes along with your next question."

    async def begin_init(self, more: str = "") -> tuple[str, str]:
        return await self.load_skill("write-agents-md"), f"Study this repository.\n{more}"

    async def trust_standing(self) -> Standing:
        return "" if self.trusted else "not trusted"

    async def accept_trust(self, digests: Mapping[str, str]) -> TrustView:
        self.accepted = dict(digests)
        self.trusted = True
        return await self.trust_view()

    async def decline_trust(self, digests: Mapping[str, str]) -> None:
        self.declined = dict(digests)

    async def forget_trust(self) -> None:
        self.trusted = False

    async def trust_view(self) -> TrustView:
        return TrustView(str(self.root), self.trusted, self.texts)

    async def export(self, session: str | None = None, form: str = "script") -> str:
        return f"# {form}\n"

    def manual(self, topic: str | None = None) -> str:
        if topic not in (None, "keys"):
            raise NoSuchThing("manual page", topic, ("keys",))
        return "# Manual\n\nSome *help*.\n\n- one\n- two\n"


def _bytes(text: str | bytes) -> bytes:
    return text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text


def governed(*paths: str) -> tuple[Governing, ...]:
    """Instruction documents of a change."""
    return tuple(Governing("src/app.py", path, "b" * 64) for path in paths)


def lines(count: int, word: str = "line") -> Iterable[str]:
    """Numbered lines with their ends."""
    return (f"{word} {number}\n" for number in range(count))
