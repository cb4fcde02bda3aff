"""Files and directories of the model disk, with what the platter holds of each, and what a power cut may leave."""

from __future__ import annotations

import random
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

Change = tuple[str, str, "str | Node"]
"""``bind name node``, ``unbind name``, ``move old new`` or ``swap one other`` in one directory."""


@dataclass(eq=False)
class Node:
    """A file or a directory. ``durable`` is what the platter holds; for a directory ``pending`` is what it may lack."""

    ino: int
    kind: int
    mode: int
    data: bytes = b""
    durable: tuple[bytes, int] = (b"", 0o600)
    names: dict[str, tuple[str, Node]] = field(default_factory=dict[str, "tuple[str, Node]"])
    durable_names: dict[str, tuple[str, Node]] = field(default_factory=dict[str, "tuple[str, Node]"])
    pending: list[Change] = field(default_factory=list[Change])
    links: int = 1

    @property
    def directory(self) -> bool:
        return self.kind == stat.S_IFDIR

    @property
    def dirty(self) -> bool:
        return bool(self.pending) if self.directory else self.durable != (self.data, self.mode)


@dataclass(frozen=True)
class Choice:
    """What survives: numbers of pending changes by directory, and files (as change 0); the rest is lost.

    ``remains`` is what a lost file holds instead.
    """

    survivors: frozenset[tuple[int, int]]
    remains: dict[int, bytes]

    def kept(self, node: Node, number: int = 0) -> bool:
        """Whether a pending change, or an unsynced file, survives."""
        return (node.ino, number) in self.survivors or (not node.directory and not node.dirty)


def choices(nodes: Iterable[Node], samples: int, random_: random.Random) -> Iterator[Choice]:
    """What may survive a power cut now: nothing, everything, each thing alone, all but each, and samples."""
    items: list[tuple[int, int]] = []
    dirty: list[Node] = []
    for node in nodes:
        if node.directory:
            items += [(node.ino, number) for number in range(len(node.pending))]
        elif node.dirty:
            dirty.append(node)
            items.append((node.ino, 0))

    def remains() -> dict[int, bytes]:
        return {
            node.ino: random_.choice(
                (
                    node.durable[0],
                    b"",
                    node.data[: len(node.data) // 2],
                    bytes(len(node.data)),
                    _torn(node, random_),
                )
            )
            for node in dirty
        }

    if not items:
        yield Choice(frozenset(), {})
        return
    if len(items) <= 4:
        for bits in range(1 << len(items)):
            yield Choice(frozenset(i for n, i in enumerate(items) if bits >> n & 1), remains())
        return
    everything = frozenset(items)
    yield Choice(frozenset(), remains())
    yield Choice(everything, {})
    for item in items:
        yield Choice(frozenset((item,)), remains())
        yield Choice(everything - {item}, remains())
    for _ in range(samples):
        yield Choice(frozenset(i for i in items if random_.random() < 0.5), remains())


def _torn(node: Node, random_: random.Random) -> bytes:
    """The beginning of the new bytes, and from somewhere on the old ones."""
    old, new = node.durable[0], node.data
    at = (
        random_.randrange(len(new) + 1)
        if random_.random() < 0.5
        else random_.randrange(min(len(new), 700) + 1)
    )
    return new[:at] + old[at:]
