"""What ``allowed-tools`` names, in terms of the steward's own tools, and the lock it makes of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase

from steward.skills.diagnostic import Diagnostic, note
from steward.skills.frontmatter import Value

SKILL = "Skill"
"""The tool that loads skills and reads their files; no lock closes it, and through it a lock only narrows."""

_READ = ("readFile",)
_SEARCH = ("searchFiles",)
_LIST = ("listFiles",)
_PROPOSE = ("proposePatch",)
TOOLS: dict[str, tuple[str, ...]] = {
    "read": _READ,
    "readfile": _READ,
    "read_file": _READ,
    "grep": _SEARCH,
    "search": _SEARCH,
    "searchfiles": _SEARCH,
    "search_files": _SEARCH,
    "glob": _LIST,
    "ls": _LIST,
    "list": _LIST,
    "listfiles": _LIST,
    "list_files": _LIST,
    "edit": _PROPOSE,
    "multiedit": _PROPOSE,
    "write": _PROPOSE,
    "proposepatch": _PROPOSE,
    "propose_patch": _PROPOSE,
    "skill": (SKILL,),
}
EVERY = ("listFiles", "searchFiles", "readFile", "proposePatch", SKILL)
_WORD = re.compile(r"[^\s,(]+(?:\((?:[^()]|\([^()]*\))*\)?)?")
_WHOLE_TREES = frozenset({"listFiles", "searchFiles"})


@dataclass(frozen=True, slots=True)
class Rule:
    """One word of ``allowed-tools``."""

    text: str
    """The word as it stands in the file: ``Read``, ``Edit(docs/**)``, ``Bash(git:*)``."""
    tools: tuple[str, ...]
    """The steward's tools that it names; empty when the steward has no such tool."""
    pattern: str = ""
    """Paths that it is limited to; empty for all."""

    def allows(self, tool: str, target: str) -> bool:
        """Whether ``tool`` may be used on ``target``, a path relative to the workspace."""
        if tool not in self.tools:
            return False
        if not self.pattern:
            return True
        return _matches(self.pattern, target, whole_tree=tool in _WHOLE_TREES)


@dataclass(frozen=True, slots=True)
class Lock:
    """What the skills loaded in this turn leave of the tools: each of them has to allow a call."""

    holders: tuple[tuple[str, tuple[Rule, ...]], ...] = ()
    """Name of each skill that locks, with its rules."""

    def __bool__(self) -> bool:
        return bool(self.holders)

    def with_skill(self, name: str, rules: tuple[Rule, ...] | None) -> Lock:
        """This lock, narrowed by one more skill; a skill without rules narrows nothing."""
        if rules is None or any(holder == name for holder, _ in self.holders):
            return self
        return Lock((*self.holders, (name, rules)))

    def allows(self, tool: str, *targets: str) -> str | None:
        """``None`` when the call may run, else the sentence that refuses it and names the skill.

        ``targets`` are the paths the call is about; without any it is about the whole workspace.
        """
        if tool == SKILL:
            return None
        for holder, rules in self.holders:
            refused = [
                target for target in targets or (".",) if not any(rule.allows(tool, target) for rule in rules)
            ]
            if refused:
                limited = any(tool in rule.tools for rule in rules)
                where = f" on {', '.join(refused)}" if limited else ""
                return (
                    f"{tool} was not run{where}: the skill {holder!r} is loaded and allows only "
                    f"{named(rules)} until this turn ends."
                )
        return None

    def sentence(self) -> str:
        """The lock in words, for the model and for a person; empty when nothing is locked."""
        return " ".join(
            f"Until this turn ends the skill {holder!r} allows only {named(rules)}."
            for holder, rules in self.holders
        )


def parse_rules(value: Value | None, line: int = 0) -> tuple[tuple[Rule, ...] | None, tuple[Diagnostic, ...]]:
    """The rules of an ``allowed-tools`` field (``None``: it locks nothing), and what is odd about it.

    ``line`` is where the field begins in its file.
    """
    found: list[Diagnostic] = []
    if value is None:
        return None, ()
    if isinstance(value, dict):
        sentence = "The field allowed-tools is not a list of words; every tool is locked."
        return (), (note("odd-tools", sentence, line),)
    if isinstance(value, str):
        if not value.strip():
            return None, (note("empty-tools", "The field allowed-tools is empty and locks nothing.", line),)
        words = _WORD.findall(value)
    else:
        words = [word.strip() for item in value if isinstance(item, str) for word in _WORD.findall(item)]
    rules = tuple(_rule(word) for word in words)
    if any(rule.text == "*" for rule in rules):
        sentence = "The field allowed-tools allows every tool and locks nothing."
        return None, (note("every-tool", sentence, line),)
    missing = [rule.text for rule in rules if not rule.tools]
    if missing:
        sentence = f"The steward has no tool {', '.join(missing)[:200]}; scripts are never run."
        found.append(note("unavailable-tool", sentence, line))
    return rules, tuple(found)


def _rule(word: str) -> Rule:
    name, bracket, rest = word.partition("(")
    pattern = rest.removesuffix(")").strip() if bracket else ""
    if pattern in ("*", "**", "**/*", ":*"):
        pattern = ""
    return Rule(word, TOOLS.get(name.lower(), ()), pattern.removeprefix("./"))


def named(rules: tuple[Rule, ...]) -> str:
    """The tools that rules leave, as a list in words."""
    names: list[str] = []
    for rule in rules:
        for tool in rule.tools:
            name = f"{tool} on {rule.pattern}" if rule.pattern else tool
            if tool != SKILL and name not in names:
                names.append(name)
    return ", ".join(names) if names else "Skill"


def _matches(pattern: str, target: str, *, whole_tree: bool) -> bool:
    """Whether a path is within a pattern: ``*`` stays inside one part, ``**`` spans any number of them.

    With ``whole_tree`` everything below ``target`` must be within it too.
    """
    parts = pattern.strip("/").split("/")
    path = [] if target == "." else target.split("/")
    if whole_tree and parts[-1] != "**" and any(c in pattern for c in "*?["):
        return False
    return _match_parts(parts, path)


def _match_parts(parts: list[str], path: list[str]) -> bool:
    # Row by row, so that many ** in a pattern cost no more than their number times the path's.
    row = [True] + [False] * len(path)
    for part in parts:
        if part == "**":
            reached = False
            following: list[bool] = []
            for here in row:
                reached = reached or here
                following.append(reached)
        else:
            following = [False] + [row[i] and fnmatchcase(path[i], part) for i in range(len(path))]
        row = following
    return row[-1]
