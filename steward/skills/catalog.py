"""All skills of a conversation: looked up by name, searched by words, listed within a budget."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from steward.skills.skill import Broken, Mark, Skill

BUDGET = 8_000
"""Characters that the listing may cost in every request."""

_MORE = re.compile(r" and (\d+) more\.$")


@dataclass(frozen=True, slots=True)
class Shadow:
    """Two skills of one name: the nearer one is used."""

    name: str
    used: str
    """The SKILL.md that is used, as people see it."""
    hidden: str
    """The SKILL.md that is not."""

    @property
    def sentence(self) -> str:
        """The fact in words for a person."""
        return f"The skill {self.name!r} is read from {self.used}; it shadows {self.hidden}."


@dataclass(frozen=True, slots=True)
class Catalog:
    """What discovery found."""

    skills: tuple[Skill, ...] = ()
    """Nearest first; those without a description last."""
    broken: tuple[Broken, ...] = ()
    shadows: tuple[Shadow, ...] = ()
    notes: tuple[str, ...] = ()
    """Sentences about folders and limits rather than about one skill."""
    shadowed: tuple[Skill, ...] = ()
    """The skills that the shadows hide."""
    marks: tuple[tuple[Path, Mark | None], ...] = field(default=(), repr=False, compare=False)
    """Every folder and SKILL.md that was looked at, as it was then; ``None`` where there was nothing."""

    @property
    def offered(self) -> tuple[Skill, ...]:
        """The skills that the model may load by itself, and is told of."""
        return tuple(skill for skill in self.skills if not skill.by_hand)

    def find(self, name: str) -> Skill | None:
        """The skill of exactly that name."""
        return next((skill for skill in self.skills if skill.name == name), None)

    def near(self, name: str, limit: int = 3, *, by_hand: bool = False) -> tuple[str, ...]:
        """Names of skills that may have been meant, nearest first; with ``by_hand`` those for a person alone too."""
        skills = self.skills if by_hand else self.offered
        scored = [(-_likeness(name, skill.name), index, skill.name) for index, skill in enumerate(skills)]
        return tuple(found for score, _, found in sorted(scored)[:limit] if score <= -60)

    def search(self, words: str, limit: int = 10) -> tuple[Skill, ...]:
        """Skills for the model whose name or description goes with ``words``, best first."""
        wanted = [word for word in re.findall(r"\w+", words.lower()) if len(word) > 1]
        if not wanted:
            return self.offered[:limit]
        scored: list[tuple[float, int, Skill]] = []
        for index, skill in enumerate(self.offered):
            text = f"{skill.name} {skill.description}".lower()
            score = max(
                sum(_within(word, text) for word in wanted) / len(wanted), _likeness(words, skill.name)
            )
            if score >= 70:
                scored.append((-score, index, skill))
        return tuple(skill for _, _, skill in sorted(scored, key=lambda item: item[:2])[:limit])

    def listing(self, budget: int = BUDGET) -> str:
        """The skills for the model in at most ``budget`` characters: with descriptions if they fit, else names."""
        skills = self.offered
        if not skills:
            return "No skills are available."
        full = "\n".join(line(skill) for skill in skills)
        if len(full) <= budget:
            return full
        head = f'{len(skills)} skills, by name alone; Skill("?words") finds skills by words:\n'
        names = [skill.name for skill in skills]
        text = head + ", ".join(names)
        if len(text) <= budget:
            return text
        kept: list[str] = []
        room = budget - len(head) - 40
        for name in names:
            if room < len(name) + 2:
                break
            room -= len(name) + 2
            kept.append(name)
        return f"{head}{', '.join(kept)} and {len(names) - len(kept)} more."

    def squeezed(self, budget: int = BUDGET) -> str:
        """One sentence for a person when the listing has no room for every description; "" when it has."""
        listing = self.listing(budget)
        if not self.offered or listing.startswith("- "):
            return ""
        left = _MORE.search(listing)
        cut = f", and of {int(left[1]):,} of them not at all" if left else ""
        return (
            f"The model is told of {len(self.offered):,} skills by name alone{cut}: with descriptions the list would "
            f"pass {budget:,} characters."
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """Every sentence a person should see once: limits first, then shadows, broken skills, faults."""
        lines = [shadow.sentence for shadow in self.shadows]
        for broken in self.broken:
            lines += [
                f"{broken.location}: {d.sentence} The skill is not loaded." for d in broken.diagnostics[-1:]
            ]
        for skill in self.skills:
            lines += [f"{skill.location}: {d.sentence}" for d in skill.diagnostics if d.level == "fault"]
        return (*self.notes, *lines)


def listed(listing: str, catalog: Catalog) -> dict[str, bool]:
    """Every name that a listing holds, and whether it says of it what ``catalog`` would say now."""
    lines = listing.split("\n")
    if lines[0].startswith("- "):
        now = {line(skill) for skill in catalog.offered}
        return {row[2:].partition(":")[0]: row in now for row in lines}
    names = _MORE.sub("", lines[-1]).split(", ") if len(lines) > 1 else []
    return dict.fromkeys(filter(None, names), True)


def few(sentences: Sequence[str], most: int = 8) -> tuple[str, ...]:
    """``sentences`` for a person who cannot read hundreds: the first ones, and how many more there are."""
    if len(sentences) <= most:
        return tuple(sentences)
    return (
        *sentences[:most],
        f"There is more to say of {len(sentences) - most} other skills; /skills lists it.",
    )


def line(skill: Skill) -> str:
    """One skill as the model sees it in the listing."""
    return f"- {skill.name}: {skill.description or '(no description)'}"


def _fuzz() -> Any:
    from rapidfuzz import fuzz

    return fuzz


def _likeness(asked: str, name: str) -> float:
    """How much a word looks like a name, 0 to 100."""
    return float(_fuzz().WRatio(asked.lower(), name.lower()))


def _within(word: str, text: str) -> float:
    """How much of a word stands somewhere in a text, 0 to 100."""
    return float(_fuzz().partial_ratio(word, text))
