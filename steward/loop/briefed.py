"""What a conversation is told of its instruction documents, with the facts a front end is told of it."""

from __future__ import annotations

from dataclasses import dataclass

from steward.events import DocumentState, Event, InstructionsChanged, LimitNotice, Notice
from steward.prompts.briefing import Briefing
from steward.prompts.delivery import Delivery


@dataclass(frozen=True, slots=True)
class Delivered:
    """Text for the head of a tool's result, empty when there is nothing new, and what happened."""

    text: str
    events: tuple[Event, ...]


class Briefed:
    """Turns what a ``Briefing`` does into events."""

    def __init__(self, briefing: Briefing) -> None:
        self._briefing = briefing

    def touch(self, *paths: str) -> Delivered:
        """A tool touched these paths, the last being the focus now: what governs them is delivered."""
        return self._delivered(paths[-1], self._briefing.touch(*paths)) if paths else Delivered("", ())

    def unread(self, paths: tuple[str, ...]) -> Delivered | None:
        """The documents that must be read before these paths may be changed, ``None`` when all were."""
        if not any(self._briefing.missing(path) for path in paths):
            return None
        delivered = self._delivered(paths[-1], self._briefing.demand(*paths))
        return Delivered(
            delivered.text
            + "Nothing was proposed yet: the instructions above govern this path and were not in "
            "your context. Follow them and propose again.",
            delivered.events,
        )

    def guard(self, text: str) -> str:
        """A tool's result without anything that would pass for an instruction document."""
        return self._briefing.guard(text)

    def opened(self, focus: str) -> tuple[Event, ...]:
        """What came of the documents that the system message begins with."""
        delivery = self._briefing.opened
        return self._delivered(focus, delivery).events if delivery is not None else ()

    def changed(self, focus: str, arrived: tuple[str, ...] = ()) -> InstructionsChanged:
        """How the documents stand for ``focus``."""
        resolution = self._briefing.resolver.resolve(focus)
        return InstructionsChanged(
            focus,
            self.states(focus, arrived),
            tuple((skipped.path, skipped.reason) for skipped in resolution.skipped),
            arrived,
        )

    def states(self, focus: str, arrived: tuple[str, ...] = ()) -> tuple[DocumentState, ...]:
        """Every document that governs ``focus`` or was delivered, and how it stands."""
        return tuple(
            DocumentState(
                document.path,
                document.scope,
                document.bytes,
                document.tokens,
                document.sha256,
                "arrived" if document.path in arrived else state,
            )
            for document, state in self._briefing.state(focus)
        )

    def _delivered(self, path: str, delivery: Delivery) -> Delivered:
        events: list[Event] = [Notice(sentence, "warning") for sentence in delivery.notices]
        if (limit := delivery.limit) is not None:
            events.append(LimitNotice(limit.target, limit.outcome, limit.accepted, limit.size, limit.limit))
        arrived = tuple(document.path for document in (*delivery.arrived, *delivery.replaced))
        events.append(self.changed(path, arrived))
        return Delivered(delivery.text, tuple(events))
