"""The tool that loads a skill, gives out its files, finds skills by words, and keeps the lock of the turn."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Callable

from pydantic import Field

from steward.conversation import JsonObject
from steward.errors import NoSuchThing
from steward.skills import Catalog, Lock, Places, Skill
from steward.skills.catalog import BUDGET, line
from steward.skills.files import Unreadable, read_reference
from steward.skills.reach import Reach
from steward.tools.base import Arguments, ToolResult, described
from steward.workspace import RepoPath, Workspace

PAGE_LINES = 400
PAGE_CHARACTERS = 24_000
_LINE = re.compile(r"(?P<path>.+):(?P<line>[1-9][0-9]{0,8})")


class SkillArguments(Arguments):
    """What a model may ask of the skills."""

    command: str = Field(description='A skill\'s name, "name/path/to/file", or "?words" to search.')


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
    ) -> None:
        """``places`` lets ``announce`` find skills of directories reached later; ``notice`` tells the person.

        With ``workspace`` the files of a skill inside it are read by its rules about secrets and protected areas.
        """
        listing = catalog.listing(budget)
        self.description = f"{described('Skill')}\n\n<skills>\n{listing}\n</skills>"
        self.listing_characters = len(listing)
        self._reach = Reach(catalog, places)
        self._workspace = workspace
        self._notice = notice or _nobody
        self._loaded: dict[str, str] = {}
        self._weights: dict[str, int] = {}
        self._lock = Lock()
        self._next_lock = Lock()

    @property
    def catalog(self) -> Catalog:
        """The skills as they are known now, with those reached since the conversation began."""
        return self._reach.catalog

    @property
    def loaded(self) -> tuple[str, ...]:
        """Names of the skills whose instructions this conversation holds, in the order they were loaded."""
        return tuple(self._loaded)

    @property
    def weights(self) -> tuple[tuple[str, int], ...]:
        """Name of each loaded skill, with the characters that its instructions take in the conversation."""
        return tuple((name, self._weights.get(name, 0)) for name in self._loaded)

    @property
    def record(self) -> tuple[str, ...]:
        """One sentence for each loaded skill, for what is made under it."""
        found = ((name, self.catalog.find(name), digest) for name, digest in self._loaded.items())
        return tuple(
            f"Made with the skill {name!r} from {skill.location if skill else 'elsewhere'} (sha256 {digest[:12]})."
            for name, skill, digest in found
        )

    @property
    def lock(self) -> Lock:
        """What the skills loaded in this turn leave of the tools."""
        return self._lock

    def new_turn(self) -> None:
        """Lift the lock; a skill that the person loaded by hand since the last turn locks the one that begins."""
        self._lock, self._next_lock = self._next_lock, Lock()

    def forget(self) -> None:
        """The conversation no longer holds any instructions of skills: it is new, or was compacted."""
        self._loaded.clear()
        self._weights.clear()

    def announce(self, path: str) -> str:
        """What to say of skills at the head of the result of a tool that touched ``path``.

        Empty for nothing, else lines that end with a blank one. Each fact is said once. Reads the disk.
        """
        said = self._reach.announce(path, self.loaded)
        return f"{said}\n\n" if said else ""

    def dump(self) -> JsonObject:
        """What a stored session needs to know."""
        return {"loaded": dict(self._loaded), "characters": dict(self._weights)}

    def restore(self, shape: JsonObject) -> None:
        """Take up what ``dump`` gave."""
        self._loaded = {str(name): str(digest) for name, digest in dict(shape.get("loaded", {})).items()}
        self._weights = {str(name): int(number) for name, number in dict(shape.get("characters", {})).items()}

    async def run(self, arguments: SkillArguments) -> ToolResult:
        """Load, read or search; whatever cannot be done is said with the nearest thing that can."""
        command = arguments.command.strip()
        if command.startswith("?"):
            return await asyncio.to_thread(self._search, command[1:].strip())
        if "/" in command.strip("/"):
            name, _, path = command.partition("/")
            skill = self.catalog.find(name)
            if skill is not None:
                return await asyncio.to_thread(self._reference, skill, path)
            return await asyncio.to_thread(self._unknown, name)
        skill = self.catalog.find(command.rstrip("/"))
        rest = ""
        if skill is None and " " in command:
            first, _, rest = command.partition(" ")
            skill = self.catalog.find(first)
        if skill is None:
            return await asyncio.to_thread(self._unknown, command)
        result = await asyncio.to_thread(self._load, skill)
        if rest and result.ok:
            said = "The words after the skill's name were not used.\n"
            return ToolResult(said + result.text, True, result.touched, result.summary)
        return result

    async def load_by_hand(self, name: str) -> str:
        """The skill's instructions for the person's next message; its lock holds in the turn that follows.

        Raises ``NoSuchThing`` when there is no such skill or it cannot be read.
        """
        skill = self.catalog.find(name)
        if skill is None:
            near = await asyncio.to_thread(self.catalog.near, name)
            raise NoSuchThing("skill", name, near)
        before = self._lock
        result = await asyncio.to_thread(self._load, skill)
        self._lock = before
        if not result.ok:
            raise NoSuchThing("skill", name)
        self._next_lock = self._next_lock.with_skill(skill.name, skill.rules)
        return result.text

    async def carried(self) -> str:
        """The instructions of all loaded skills once more, to be kept when a conversation is compacted."""
        names = self.loaded
        self.forget()
        before = self._lock
        texts = [await asyncio.to_thread(self._load, s) for name in names if (s := self.catalog.find(name))]
        self._lock = before
        return "\n\n".join(result.text for result in texts if result.ok)

    def _load(self, skill: Skill) -> ToolResult:
        try:
            loaded = skill.load()
            if not self._reach.allows(skill, loaded.digest):
                raise Unreadable(
                    f"The skill {skill.name!r} has changed since the person trusted it; it was not loaded."
                )
        except Unreadable as error:
            self._notice(str(error))
            return ToolResult(str(error), ok=False, summary="cannot be read")
        self._lock = self._lock.with_skill(skill.name, skill.rules)
        locked = (
            f"\n{Lock().with_skill(skill.name, skill.rules).sentence()}" if skill.rules is not None else ""
        )
        earlier = self._loaded.get(skill.name)
        if earlier == loaded.digest:
            text = f"The skill {skill.name!r} is already loaded in this conversation; follow it as it stands above."
            return ToolResult(text + locked, summary=f"{skill.name}: already loaded")
        self._loaded[skill.name] = loaded.digest
        self._weights[skill.name] = len(loaded.body)
        head = "It replaces the copy loaded earlier.\n" if earlier else ""
        fence = f"skill-{hashlib.sha256(loaded.body.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"
        text = (
            f"{head}<{fence} name={skill.name!r} from={skill.location!r}>\n{loaded.body}\n</{fence}>\n"
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

    def _unknown(self, name: str) -> ToolResult:
        near = self.catalog.near(name)
        broken = next((b for b in self.catalog.broken if b.name == name), None)
        shown = name[:80]
        if broken is not None:
            reason = broken.diagnostics[-1].sentence
            text = f"The skill {shown!r} is there but cannot be loaded: {reason}"
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
