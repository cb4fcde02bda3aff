"""The current conversation: its messages, its tools, what it was told of the instructions, and its place on disk."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from steward.conversation import Conversation, JsonObject, Message, System, ToolAnswer, Usage
from steward.errors import EditRefused
from steward.events import Event, Notice
from steward.loop import Bounds, Briefed, Desk, run_turn
from steward.loop.turn import INTERRUPTED, tokens, tokens_of
from steward.model.gateway import Gateway
from steward.model.request import ModelRequest
from steward.prompts import note_tag, system_text
from steward.prompts.briefing import Briefing
from steward.proposals import Governing, Proposal
from steward.proposals.draft import Draft, Pending
from steward.service import by_hand
from steward.service.as_told import as_told, cleaned, shown
from steward.service.compaction import Asked
from steward.service.fitting import Fitting
from steward.service.history import missed
from steward.service.house import House
from steward.service.manner import manner
from steward.service.record import Record
from steward.service.since import changed_since
from steward.service.title import title_of
from steward.service.trust import NOTE
from steward.service.views import ContextView, Share, in_proportion
from steward.skills import discover
from steward.skills.allowed import named
from steward.skills.discover import STOPPED
from steward.storage import SessionRow
from steward.tools import Tool, ToolBox, ToolResult
from steward.tools.list_files import ListFilesTool
from steward.tools.meant import meant
from steward.tools.propose_patch import ProposePatchTool
from steward.tools.read_file import ReadFileTool
from steward.tools.search_files import SearchFilesTool
from steward.tools.skill import SkillTool


class Talk:
    """One conversation. It is made empty, or from a stored session (up to a question of it, to fork there).

    ``made`` is called with each proposal as it is stored, from a thread.
    """

    def __init__(
        self,
        house: House,
        model: str,
        made: Callable[[Proposal], None],
        *,
        session: SessionRow | None = None,
        upto: Asked | None = None,
        window: int | None = None,
    ) -> None:
        self.house = house
        self.model = model
        self.window = window
        self.focus = "."
        self.title = ""
        self.conversation = Conversation()
        self.usage = Usage()
        """Of the whole session."""
        self.turn_usage = Usage()
        """Of the turn that runs, or of the last one."""
        self.words: tuple[str, ...] = ()
        """What the person said before the conversation was last compacted."""
        self.summary = ""
        """What the model made of it then."""
        self.record = Record(house.sessions)
        self.fitting = Fitting(self)
        self._made = made
        self._desk: Desk | None = None
        self.closing = INTERRUPTED
        """What a turn that is broken off leaves in the history."""
        self.local: Callable[[], bool] = lambda: False
        """Whether the model is on this machine, as far as that is known by now."""
        self._told = house.changes.store.audit.last()
        """The last line of the audit log that this conversation's model knows of."""
        self._missed: tuple[str, ...] = ()
        """What was done to changes before a fork began and is told nowhere in what it holds."""
        self._reported: tuple[int, int] | None = None
        """Tokens that a provider counted, and how many messages it had been sent or had replied with then."""
        self.briefing = Briefing(
            house.resolver,
            house.secret,
            mode=house.settings.instructions.refresh,
            window=window,
            clean=partial(shown, house.workspace.policy),
        )
        self.briefed = Briefed(self.briefing)
        places = house.skill_places()
        house.stop_looking.clear()
        house.told_of_skills.discard(STOPPED)
        self._notices: list[str] = list(house.notices)
        self.skill = SkillTool(
            discover(places, stop=house.stop_looking.is_set),
            places,
            notice=self._notices.append,
            workspace=house.workspace,
            told=house.told_of_skills,
            listing=str(session.state.get("skill", {}).get("listing", "")) if session is not None else "",
        )
        self._draft = self._new_draft("")
        self.toolbox = ToolBox(
            self._tools(),
            partial(cleaned, house.workspace.policy),
            lambda path: meant(house.workspace, path),
        )
        if session is not None:
            self._resume(session, upto)

    @property
    def session(self) -> str:
        """The stored session; empty until the first question."""
        return self.record.session

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages so far."""
        return tuple(self.conversation.messages)

    async def turn(
        self, question: str, gateway: Gateway, bounds: Bounds, news: Callable[[], tuple[str, ...]]
    ) -> AsyncGenerator[Event]:
        """One turn, its messages stored as they come."""
        if not self.title:
            self.title = title_of(question)
        await asyncio.to_thread(self.record.begin, self.model, self.title)
        opened = self._begin()
        self._draft = self._new_draft(question)
        self.skill.new_turn()
        self.fitting.new_turn()
        self.turn_usage = Usage()
        changes = self.house.changes
        self._told = await asyncio.to_thread(changes.catch_up, self._told, self.session)
        desk = self._desk = Desk(
            conversation=self.conversation,
            gateway=gateway,
            toolbox=self.toolbox,
            briefed=self.briefed,
            request=self._request,
            news=lambda: (*dict.fromkeys((*self._take_missed(), *news())), *self._by_hand()),
            secret=self.house.secret,
            refusal=lambda tool, paths: self.skill.lock.allows(tool, *paths),
            announce=self.skill.announced,
            ids=changes.store.statuses,
            window=self.window,
            spent=self.usage,
            local=self.local,
            closing=lambda: self.closing,
            room=lambda overflow: self.fitting.room(gateway, overflow),
        )
        async with aclosing(run_turn(question, desk, bounds)) as events:
            async for event in events:
                yield event
                for fact in (*opened, *self.take_notices()):
                    yield fact
                opened = ()

    def take_notices(self) -> tuple[Notice, ...]:
        """What the person is to be told by now, each once."""
        taken, self._notices[:] = tuple(self._notices), ()
        return tuple(Notice(sentence, "warning") for sentence in taken)

    async def run_tool(self, name: str, arguments: str) -> ToolResult:
        """One tool as the model would run it first thing, what governs its path at the head of its result.

        What governs the starting focus stands in the system message of a conversation, and so not here.
        """
        if not self.conversation.messages:
            self.briefing.opening(self.focus)
        head = ""
        if name == "proposePatch":
            head = self.briefed.touch(*(path.text for path in self.toolbox.targets(arguments))).text
        result = await self.toolbox.run(name, arguments)
        return as_told(result, self.briefing, self.skill.announce, head)

    async def load_skill(self, name: str) -> str:
        """Load a skill by hand: it goes along with the next question, and its lock holds in that turn.

        A sentence for the person; see ``SkillTool.load_by_hand`` for what it raises.
        """
        await self.skill.load_by_hand(name)
        skill = self.skill.catalog.find(name)
        assert skill is not None
        size = dict(self.skill.weights)[name]
        locks = f" In that turn it allows only {named(skill.rules)}." if skill.rules is not None else ""
        missing = f" Not available here: {', '.join(skill.unavailable)}." if skill.unavailable else ""
        return (
            f"The skill {name!r} from {skill.location} (about {tokens_of(size)} tokens) goes along with your next "
            f"question.{locks}{missing}"
        )

    def _by_hand(self) -> tuple[str, ...]:
        """What the model is told of the skills that the person loaded for this question."""
        return tuple(
            by_hand.told(name, digest, self.guarded(self.cleaned(text)))
            for name, digest, text in self.skill.take_waiting()
        )

    def cleaned(self, text: str) -> str:
        """``text`` without keys, as a tool's result would give it."""
        return cleaned(self.house.workspace.policy, ToolResult(text)).text

    def _take_missed(self) -> tuple[str, ...]:
        taken, self._missed = self._missed, ()
        return taken

    def save(self) -> None:
        """Store what is new. Blocks for one durable write; does nothing when nothing is new."""
        sentence = self.record.save(self.conversation, self.title, self.model, self.focus, self._shape())
        if sentence:
            self._notices.append(sentence)

    def _shape(self) -> JsonObject:
        return {
            "briefing": self.briefing.dump(),
            "skill": self.skill.dump(),
            "usage": asdict(self.usage),
            "told": self._told,
            "words": list(self.words),
            "summary": self.summary,
            "manner": manner(self.house, self.toolbox.specs),
        }

    def opening(self) -> System:
        """A system message with what governs the focus now; that counts as delivered."""
        return System(self._system(self.briefing.opening(self.focus)))

    def replace(self, messages: tuple[Message, ...]) -> None:
        """Go on with these messages instead; those so far, which must be saved, are kept in the session."""
        self.conversation = Conversation()
        for message in messages:
            self.conversation.append(message)
        self.record.begin_anew()
        self._reported = None
        if self._desk is not None:
            self._desk.conversation = self.conversation

    def spent(self, usage: Usage) -> None:
        """Count what a model call has cost."""
        self.usage += usage
        self.turn_usage += usage

    def context(self) -> ContextView:
        """What fills the window, by part."""
        documents = tuple(
            Share(document.path, document.tokens, "instructions")
            for document, state in self.briefing.state(self.focus)
            if state in ("in-effect", "arrived", "delivered")
        )
        skills = tuple(Share(name, tokens_of(size), "skills") for name, size in self.skill.weights)
        spoken, called = map(tokens_of, self.skill.placed)
        told = sum(share.tokens for share in documents)
        system = tokens_of(self.conversation.characters_of(System))
        results = tokens_of(self.conversation.characters_of(ToolAnswer))
        whole = tokens_of(self.conversation.characters())
        specs = tokens_of(self.toolbox.characters)
        parts = (
            Share("base prompt", max(0, system - told) if system else 0, "base"),
            Share("tools", specs, "tools"),
            *documents,
            *skills,
            Share("conversation", max(0, whole - system - results - spoken), "conversation"),
            Share("tool results", max(0, results - called - max(0, told - system)), "results"),
        )
        total = self._total(sum(share.tokens for share in parts))
        if self._reported is None:
            return ContextView(parts, total, self.window)
        return ContextView(in_proportion(parts, total), total, self.window, self._reported[0])

    def _total(self, estimate: int) -> int:
        """What the provider counted, with an estimate of what was added since and goes along next."""
        if self._reported is None:
            return estimate
        counted, messages = self._reported
        added = (*(message.text for message in self.conversation.messages[messages:]), *self.skill.waiting)
        return counted + sum(map(tokens, added))

    def reported(self, context: int, usage: Usage) -> None:
        """What the window holds now, and what a provider counted of it."""
        self.spent(usage)
        self.briefing.used = context
        if usage.prompt:
            self._reported = (context, len(self.conversation.messages) + 1)
            self.briefing.measure(self.conversation.characters(), usage.prompt)

    def settle(self) -> None:
        """Hold what counts as told against what the conversation really holds, after it was cut off."""
        told = [m.text for m in self.conversation.messages if isinstance(m, System | ToolAnswer)]
        self.briefing.reconcile(told)
        self.skill.settle(m.text for m in self.conversation.messages)

    def _begin(self) -> tuple[Event, ...]:
        """Make sure there is a system message; gives what came of the documents it holds."""
        if self.conversation.messages:
            return ()
        self.conversation.append(self.opening())
        return self.briefed.opened(self.focus)

    def guarded(self, text: str) -> str:
        """``text`` without anything that would pass for the steward's own words."""
        return self.briefing.guard(text).replace(note_tag(self.house.secret), "steward-note-[tag removed]")

    def _system(self, opening: str) -> str:
        return system_text(
            name=self.house.workspace.name,
            instructions_tag=self.briefing.tag,
            secret=self.house.secret,
            opening=opening,
            extra=self.house.profile.prompt,
        )

    def _request(self) -> ModelRequest:
        replaced = None
        if self.house.settings.instructions.refresh == "replace":
            replaced = self._system(self.briefing.opening(self.focus))
        return ModelRequest(
            self.model,
            self.conversation.wire(replaced),
            self.toolbox.specs,
            dict(self.house.settings.options),
        )

    def _new_draft(self, question: str) -> Draft:
        house = self.house
        return Draft(
            house.workspace,
            _Shelf(house, self._notes, self._made),
            self._governing,
            title=title_of(question) or "A change",
            session=self.session,
            model=self.model,
            max_file_bytes=house.settings.tools.max_file_bytes,
        )

    def _notes(self, path: str) -> tuple[str, ...]:
        """What a reviewer should know of how a proposal for ``path`` came about."""
        untrusted = (NOTE,) if self.house.trust.withheld(path) else ()
        return (*untrusted, *self.briefing.notes(path), *self.skill.record)

    def _governing(self, path: str) -> tuple[Governing, ...]:
        if self.briefing.missing(path):
            raise EditRefused("instructions", f"Read what governs {path} first; it has changed meanwhile.")
        return tuple(Governing(path, d.path, d.sha256) for d in self.briefing.governing(path))

    def _tools(self) -> tuple[Tool[Any], ...]:
        workspace = self.house.workspace
        proposing = (ProposePatchTool(lambda: self._draft),) if self.house.settings.tools.proposals else ()
        tools: tuple[Tool[Any], ...] = (
            ListFilesTool(workspace, self._views),
            SearchFilesTool(workspace, self._views),
            ReadFileTool(workspace, self._views),
            *proposing,
            self.skill,
        )
        allowed = self.house.profile.tools
        return tools if allowed is None else tuple(tool for tool in tools if tool.name in allowed)

    def _views(self) -> Mapping[str, Pending]:
        return self._draft.views()

    def _resume(self, row: SessionRow, upto: Asked | None) -> None:
        # Another steward may have gone on with it, or deleted it, since it was found.
        row, stored = self.house.sessions.load(row.id, everything=upto is not None)
        if upto is not None:
            stored = stored[upto.begin : upto.position]
        for message in stored:
            self.conversation.append(message)
        self.title, self.focus = row.title, row.focus
        if upto is None:
            self.record.take_up(row, len(stored))
        else:
            self.record.parent = row.id
        if "briefing" in row.state:
            self.briefing.load(row.state["briefing"])
        if upto is not None:
            self._missed = missed(
                self.house.changes.store, row.created, "\n".join(message.text for message in stored)
            )
        if upto is None:
            self._told = int(row.state.get("told", self._told))
            self.usage = Usage(**row.state.get("usage", {}))
        if "skill" in row.state:
            self.skill.restore(row.state["skill"])
        if upto is None or upto.begin:
            self.words = tuple(map(str, row.state.get("words", ())))
            self.summary = str(row.state.get("summary", ""))
        self.conversation.close(INTERRUPTED)
        self.settle()
        changed = changed_since(self.house.resolver, self.briefing.dump()["given"], self.focus)
        if changed and self.house.settings.instructions.refresh == "conversation":
            self.fitting.reread()
        self._notices += changed


class _Shelf:
    """The store as a draft sees it; what is stored is told."""

    def __init__(
        self, house: House, notes: Callable[[str], tuple[str, ...]], made: Callable[[Proposal], None]
    ) -> None:
        self._changes = house.changes
        self._store = house.changes.store
        self._notes = notes
        self._made = made

    def get(self, change: str) -> Proposal:
        return self._store.get(change)

    def pending(self) -> tuple[Proposal, ...]:
        return self._store.pending()

    def next_id(self) -> str:
        return self._store.next_id()

    def put(self, proposal: Proposal, read: Proposal | None = None) -> None:
        notes = (note for file in proposal.files for note in self._notes(file.path))
        proposal = replace(proposal, notes=tuple(dict.fromkeys((*proposal.notes, *notes))))
        self._changes.put(proposal, read)
        self._made(proposal)
