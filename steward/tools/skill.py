"""The tool that loads a skill, gives out its files, finds skills by words, and keeps the lock of the turn."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from threading import Event
from typing import Annotated

from steward.conversation import JsonObject
from steward.errors import Conflict, NoSuchThing
from steward.skills import Catalog, Loaded, Lock, Places, Skill
from steward.skills.catalog import BUDGET, few, line
from steward.skills.files import Unreadable, read_reference
from steward.skills.held import Copy, Held, fence, opening
from steward.skills.reach import Reach, Sight
from steward.tools.arguments import About, Arguments
from steward.tools.base import ToolResult, blocking, described
from steward.workspace import RepoPath, Workspace

PAGE_LINES = 400
PAGE_CHARACTERS = 24_000
_LINE = re.compile(r"(?P<path>.+):(?P<line>[1-9][0-9]{0,8})")


@dataclass(frozen=True, slots=True)
class SkillArguments(Arguments):
    """What a model may ask of the skills."""

    command: Annotated[str, About('A skill\'s name, "name/path/to/file", or "?words" to search.')]


class SkillTool:
    """Skill(command). The listing in its description is frozen when it is made, as the list of tools must be."""

    name = "Skill"
    arguments = SkillArguments

    def __init__(
        self,
        catalog: Catalog,
        places: Places | None = None,
        *,
        budget: int = BUDGET,
        notice: Callable[[str], None] | None = None,
        workspace: Workspace | None = None,
        told: set[str] | None = None,
        listing: str = "",
    ) -> None:
        """``places`` lets skills of directories reached later be found; ``notice`` tells the person.

        With ``workspace`` the files of a skill inside it are read by its rules about secrets and protected areas.
        ``told`` holds what the person has been told of skills before, and takes up what they are told here.
        ``listing`` is the one of a conversation that is gone on with; what differs by now is announced.
        """
        fresh = catalog.listing(budget)
        self.listing = listing or fresh
        """The skills as the model was told of them when the conversation began."""
        self.description = f"{described('Skill')}\n\n<skills>\n{self.listing}\n</skills>"
        self.listing_characters = len(self.listing)
        self._reach = Reach(catalog, places, "" if self.listing == fresh else self.listing)
        self._workspace = workspace
        self._notice = notice or _nobody
        self._told: set[str] = set() if told is None else told
        self._held = Held()
        self._waiting: dict[str, str] = {}
        self._lock = Lock()
        self._next_lock = Lock()
        self._tell(catalog, catalog.squeezed(budget))

    @property
    def catalog(self) -> Catalog:
        """The skills as they are known now, with those reached since the conversation began."""
        return self._reach.catalog

    @property
    def loaded(self) -> tuple[str, ...]:
        """Names of the skills whose instructions this conversation holds, in the order they were loaded."""
        return self._held.names

    @property
    def weights(self) -> tuple[tuple[str, int], ...]:
        """Name of each loaded skill, with the characters that its instructions take in the conversation."""
        return tuple((name, copy.characters) for name, copy in self._held.items())

    @property
    def placed(self) -> tuple[int, int]:
        """Characters of those instructions that stand in messages of the person's side, and in results of calls."""
        placed = [copy for name, copy in self._held.items() if name not in self._waiting]
        spoken = sum(copy.characters for copy in placed if copy.spoken)
        return spoken, sum(copy.characters for copy in placed) - spoken

    @property
    def waiting(self) -> tuple[str, ...]:
        """Instructions that were loaded by hand and go along with the person's next message."""
        return tuple(self._waiting.values())

    @property
    def waiting_names(self) -> tuple[str, ...]:
        """Names of the skills they belong to."""
        return tuple(self._waiting)

    @property
    def record(self) -> tuple[str, ...]:
        """One sentence for each loaded skill, for what is made under it."""
        found = ((name, self.catalog.find(name), copy) for name, copy in self._held.items())
        return tuple(
            f"Made with the skill {name!r} from {skill.location if skill else 'elsewhere'} "
            f"(sha256 {copy.digest[:12]})."
            for name, skill, copy in found
        )

    @property
    def lock(self) -> Lock:
        """What the skills loaded in this turn leave of the tools."""
        return self._lock

    def new_turn(self) -> None:
        """Lift the lock; a skill that the person loaded by hand since the last turn locks the one that begins."""
        self._lock, self._next_lock = self._next_lock, Lock()

    def take_waiting(self) -> tuple[tuple[str, str, str], ...]:
        """Name, digest of the file and text of what ``waiting`` holds, once: the message goes off now."""
        held = {name: copy.digest for name, copy in self._held.items()}
        taken = tuple((name, held[name], text) for name, text in self._waiting.items())
        self._waiting.clear()
        return taken

    def forget(self) -> None:
        """The conversation no longer holds any instructions of skills: it is new, or was compacted."""
        self._held.clear()

    def settle(self, texts: Iterable[str]) -> None:
        """Count as loaded only what one of these messages, or the next one, holds."""
        self._held.settle((*texts, *self.waiting))

    def move(self, places: Places) -> None:
        """Look in other places from now on: the person has said anew what may be used."""
        self._reach.move(places)

    def announce(self, path: str) -> str:
        """What to say of skills at the head of the result of a tool that touched ``path``.

        Empty for nothing, else lines that end with a blank one. Each fact is said once. Reads the disk.
        """
        return self._announced(self._reach.look(path))

    async def announced(self, *paths: str) -> str:
        """The same for several paths, without keeping anybody waiting who shares the loop.

        What is found counts as said when this returns, and not at all when it is cancelled.
        """
        return self._announced(await self._look(*paths)) if paths else ""

    async def refresh(self) -> None:
        """Look at the disk again from the path touched last; the model is told with the next result."""
        self._take(await self._look())

    async def _look(self, *paths: str) -> Sight | None:
        """Look in a thread, which stops when this is cancelled."""
        unwanted = Event()
        try:
            return await blocking(partial(self._reach.look, *paths, stop=unwanted.is_set))
        finally:
            unwanted.set()

    def dump(self) -> JsonObject:
        """What a stored session needs to know."""
        return {"listing": self.listing, **self._held.dump(self._waiting)}

    def restore(self, shape: JsonObject) -> None:
        """Take up what ``dump`` gave."""
        self._held.restore(shape)

    async def run(self, arguments: SkillArguments) -> ToolResult:
        """Load, read or search; whatever cannot be done is said with the nearest thing that can."""
        command = arguments.command.strip()
        if command.startswith("?"):
            return await blocking(self._search, command[1:].strip())
        skill, path, words = self._meant(command)
        if skill is None:
            await self.refresh()
            skill, path, words = self._meant(command)
        if skill is None:
            return await blocking(self._unknown, command.partition("/")[0] if path else command)
        if skill.by_hand and self._held.copy(skill.name) is None:
            return self._reserved(skill)
        if path:
            return await blocking(self._reference, skill, path)
        result = await self._load(skill)
        if words and result.ok:
            said = "The words after the skill's name were not used.\n"
            return ToolResult(said + result.text, True, result.touched, result.summary)
        return result

    def _meant(self, command: str) -> tuple[Skill | None, str, str]:
        """The skill that is asked for, the path in its folder, and words that follow its name."""
        if "/" in command.strip("/"):
            name, _, path = command.partition("/")
            return self.catalog.find(name), path, ""
        skill = self.catalog.find(command.rstrip("/"))
        first, _, words = command.partition(" ")
        return (skill, "", "") if skill is not None or not words else (self.catalog.find(first), "", words)

    async def load_by_hand(self, name: str) -> str:
        """The skill's instructions, which also wait for the person's next message; its lock holds in that turn.

        Raises ``NoSuchThing`` when there is no such skill, ``Conflict`` when it cannot be read.
        """
        await self.refresh()
        skill = self.catalog.find(name)
        if skill is None:
            if (broken := self._broken(name)) is not None:
                raise Conflict(broken)
            near = await blocking(partial(self.catalog.near, name, by_hand=True))
            raise NoSuchThing("skill", name, near)
        try:
            loaded = await blocking(self._read, skill)
        except Unreadable as error:
            raise Conflict(str(error)) from None
        if skill.name in self._waiting:
            self._held.drop(skill.name)  # no message holds it yet: it goes along whole
        result = self._given(skill, loaded, Lock().with_skill(skill.name, skill.rules), spoken=True)
        self._next_lock = self._next_lock.with_skill(skill.name, skill.rules)
        self._waiting[skill.name] = result.text
        return result.text

    async def carried(self, standing: Iterable[str] = ()) -> str:
        """The instructions of all loaded skills once more, to be kept when a conversation is compacted.

        ``standing`` are the texts of the messages that go on: what stands in one of them already is left out.
        """
        texts: list[str] = []
        stand = self._held.standing(standing)
        for name in self.loaded:
            if name in self._waiting or name in stand:
                continue
            skill = self.catalog.find(name)
            try:
                if skill is None:
                    raise Unreadable(f"The skill {name!r} is gone.")
                loaded = await blocking(self._read, skill)
            except Unreadable as error:
                said = f"{error} The conversation goes on without its instructions."
                self._notice(said)
                texts.append(said)
                self._held.drop(name)
                continue
            self._held.drop(name)
            locks = any(holder == name for holder, _ in self._lock.holders)
            lock = Lock().with_skill(name, skill.rules) if locks else Lock()
            texts.append(self._given(skill, loaded, lock, spoken=True).text)
        return "\n\n".join(texts)

    def _announced(self, sight: Sight | None) -> str:
        self._take(sight)
        said = self._reach.news(self.loaded)
        return f"{said}\n\n" if said else ""

    def _take(self, sight: Sight | None) -> None:
        self._reach.take(sight)
        if sight is not None:
            self._tell(sight.catalog)

    def _tell(self, catalog: Catalog, squeezed: str = "") -> None:
        """Tell the person what is cut, wrong or shadowed, each once."""
        said = (*filter(None, (squeezed,)), *catalog.warnings)
        fresh = [sentence for sentence in said if sentence not in self._told]
        self._told.update(fresh)
        for sentence in few(fresh):
            self._notice(sentence)

    def _read(self, skill: Skill) -> Loaded:
        loaded = skill.load()
        if not self._reach.allows(skill, loaded.digest):
            raise Unreadable(
                f"The skill {skill.name!r} was not loaded: the person has not trusted it as it is now."
            )
        return loaded

    async def _load(self, skill: Skill) -> ToolResult:
        try:
            loaded = await blocking(self._read, skill)
        except Unreadable as error:
            self._notice(str(error))
            return ToolResult(str(error), ok=False, summary="cannot be read")
        self._lock = self._lock.with_skill(skill.name, skill.rules)
        return self._given(skill, loaded, Lock().with_skill(skill.name, skill.rules))

    def _given(self, skill: Skill, loaded: Loaded, lock: Lock, *, spoken: bool = False) -> ToolResult:
        """The instructions in their envelope, or that they were given before; they count as loaded then."""
        locked = f"\n{lock.sentence()}" if lock else ""
        earlier = self._held.copy(skill.name)
        if earlier is not None and earlier.digest == loaded.digest:
            text = f"The skill {skill.name!r} is already loaded in this conversation; follow it as it stands above."
            return ToolResult(text + locked, summary=f"{skill.name}: already loaded")
        self._held.put(skill.name, Copy(loaded.digest, len(loaded.body), spoken))
        head = "It replaces the copy loaded earlier.\n" if earlier else ""
        text = (
            f"{head}{opening(skill.name, loaded.digest)}from={skill.location!r}>\n{loaded.body}\n"
            f"</{fence(loaded.digest)}>\n"
            f"{_files(skill, loaded.files, loaded.files_left_out)}{_unavailable(skill)}{locked}"
        )
        return ToolResult(text, summary=f"{skill.name} from {skill.location}, {len(loaded.body)} characters")

    def _reference(self, skill: Skill, path: str) -> ToolResult:
        try:
            text, begin = self._text(skill, path), 1
        except Unreadable as error:
            match = _LINE.fullmatch(path)
            if match is None:
                return self._unreadable(skill, error)
            path, begin = match["path"], int(match["line"])
            try:
                text = self._text(skill, path)
            except Unreadable as again:
                return self._unreadable(skill, again)
        page, shown, total = _page(text, begin)
        if not page and begin > 1:
            return ToolResult(f"{skill.name}/{path} has {total} lines.", ok=False, summary="past the end")
        end = begin + shown - 1
        head = f"{skill.name}/{path}, lines {begin} to {end} of {total}"
        more = f'\nGo on with Skill("{skill.name}/{path}:{end + 1}").' if end < total else ""
        touched = (RepoPath.parse(f"{skill.readable}/{path}"),) if skill.readable else ()
        return ToolResult(f"{head}:\n{page}{more}", touched=touched, summary=head)

    def _text(self, skill: Skill, path: str) -> str:
        if self._workspace is not None and skill.readable is not None:
            self._workspace.allowed(RepoPath.parse(f"{skill.readable}/{path}"))
        return read_reference(skill, path)

    def _unreadable(self, skill: Skill, error: Unreadable) -> ToolResult:
        from steward.skills.files import listing

        files, left_out = listing(skill)
        return ToolResult(f"{error}\n{_files(skill, files, left_out)}".rstrip(), ok=False, summary="refused")

    def _search(self, words: str) -> ToolResult:
        found = self.catalog.search(words)
        if not found:
            return ToolResult(f"No skill goes with {words!r}.", summary="no skill found")
        text = "\n".join(line(skill) for skill in found)
        return ToolResult(f"Skills that go with {words!r}:\n{text}", summary=f"{len(found)} skills found")

    def _reserved(self, skill: Skill) -> ToolResult:
        text = (
            f"The skill {skill.name!r} is only loaded by a person's hand: they give /skill {skill.name}. "
            "Ask them for it instead of working around it."
        )
        self._notice(
            f"The model asked for the skill {skill.name!r}, which only you can load: /skill {skill.name}."
        )
        return ToolResult(text, ok=False, summary=f"{skill.name}: only by hand")

    def _broken(self, name: str) -> str | None:
        broken = next((b for b in self.catalog.broken if b.name == name), None)
        if broken is None:
            return None
        return f"The skill {name[:80]!r} is there but cannot be loaded: {broken.diagnostics[-1].sentence}"

    def _unknown(self, name: str) -> ToolResult:
        near = self.catalog.near(name)
        shown = name[:80]
        if (broken := self._broken(name)) is not None:
            text = broken
        elif near:
            text = f"There is no skill {shown!r}. The nearest are: {', '.join(near)}."
        else:
            text = f'There is no skill {shown!r}. Skill("?words") finds skills by words.'
        self._notice(f"The model asked for a skill: {text}")
        return ToolResult(text, ok=False, summary=f"no skill {shown!r}")


def _nobody(sentence: str) -> None:
    """Nobody listens."""


def _files(skill: Skill, files: tuple[str, ...], left_out: bool) -> str:
    if not files:
        return ""
    inside = skill.readable is not None
    how = (
        f"read them with readFile under {skill.readable}/"
        if inside
        else f'read them with Skill("{skill.name}/…")'
    )
    more = "\n- and more" if left_out else ""
    return (
        f"Files of the skill ({how}; scripts are never run):\n"
        + "\n".join(f"- {f}" for f in files)
        + more
        + "\n"
    )


def _unavailable(skill: Skill) -> str:
    if not skill.unavailable:
        return ""
    return f"Not available here: {', '.join(skill.unavailable)}. Say so instead of working around it.\n"


def _page(text: str, begin: int) -> tuple[str, int, int]:
    """Lines from ``begin`` on within the bounds of a page, how many they are, and how many there are in all."""
    lines = text.split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    taken: list[str] = []
    room = PAGE_CHARACTERS
    for text_line in lines[begin - 1 : begin - 1 + PAGE_LINES]:
        shown = text_line.removesuffix("\r")
        if len(shown) > PAGE_CHARACTERS:
            shown = shown[:2_000] + f" [line cut, {len(text_line)} characters]"
        if len(shown) > room:
            break
        room -= len(shown)
        taken.append(shown)
    return "\n".join(taken), len(taken), len(lines)
