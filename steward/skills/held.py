"""Which skills a conversation holds the instructions of, and in what envelope they stand there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from steward.conversation import JsonObject


@dataclass(frozen=True, slots=True)
class Copy:
    """The instructions of one skill as they were loaded."""

    digest: str
    """SHA-256 of the SKILL.md, 64 hex digits."""
    characters: int
    spoken: bool = False
    """Whether they came with a message from the person's side, and not as the result of a call."""


def fence(digest: str) -> str:
    """The tag of a skill's envelope; since the whole file decides it, the file cannot hold it."""
    return f"skill-{digest[:12]}"


def opening(name: str, digest: str) -> str:
    """How the envelope of a skill begins."""
    return f"<{fence(digest)} name={name!r} "


class Held:
    """Copies by the name of their skill, in the order in which they were loaded."""

    def __init__(self) -> None:
        self._copies: dict[str, Copy] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the skills."""
        return tuple(self._copies)

    def copy(self, name: str) -> Copy | None:
        """The copy of that skill."""
        return self._copies.get(name)

    def items(self) -> tuple[tuple[str, Copy], ...]:
        """All names with their copies."""
        return tuple(self._copies.items())

    def put(self, name: str, copy: Copy) -> None:
        """The conversation holds this copy now; an earlier one no longer counts."""
        self._copies[name] = copy

    def drop(self, name: str) -> None:
        """The conversation no longer holds that one."""
        self._copies.pop(name, None)

    def clear(self) -> None:
        """The conversation holds none."""
        self._copies.clear()

    def settle(self, texts: Iterable[str]) -> None:
        """Forget what none of these messages holds: a turn was cut off before it got there, or was forked before."""
        found = self.standing(texts)
        for name in [name for name in self._copies if name not in found]:
            del self._copies[name]

    def standing(self, texts: Iterable[str]) -> frozenset[str]:
        """Names of the skills whose copy one of these messages holds."""
        missing = dict(self._copies)
        for text in texts:
            for name in [name for name, copy in missing.items() if opening(name, copy.digest) in text]:
                del missing[name]
            if not missing:
                break
        return frozenset(self._copies) - frozenset(missing)

    def dump(self, without: Iterable[str] = ()) -> JsonObject:
        """What a stored session needs to know; ``without`` are names that no stored message holds yet."""
        left_out = frozenset(without)
        kept = {name: copy for name, copy in self._copies.items() if name not in left_out}
        return {
            "loaded": {name: copy.digest for name, copy in kept.items()},
            "characters": {name: copy.characters for name, copy in kept.items()},
            "spoken": [name for name, copy in kept.items() if copy.spoken],
        }

    def restore(self, shape: JsonObject) -> None:
        """Take up what ``dump`` gave."""
        sizes, spoken = dict(shape.get("characters", {})), frozenset(map(str, shape.get("spoken", ())))
        self._copies = {
            str(name): Copy(str(digest), int(sizes.get(name, 0)), str(name) in spoken)
            for name, digest in dict(shape.get("loaded", {})).items()
        }
