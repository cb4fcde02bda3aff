"""What stands at the top of a conversation: where you are, what governs here, who will answer."""

from __future__ import annotations

from dataclasses import dataclass

from rich.segment import Segment

from steward.tui.conversation.blocks import Block
from steward.tui.lines import Line, plain, wrap
from steward.tui.looks import Looks

HERE = "this machine"
"""The host of a model that needs no network."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What the welcome says."""

    workspace: str
    model: str
    host: str = ""
    documents: tuple[str, ...] | None = None
    """Documents for the whole workspace; ``None`` while they are not known."""
    pending: int = 0
    withheld: bool = False
    """Whether texts of the repository are kept from the model because nobody has trusted them."""


class Welcome(Block):
    """A few calm lines."""

    def __init__(self, facts: Facts) -> None:
        super().__init__()
        self.facts = facts

    def update(self, facts: Facts) -> None:
        """Say something else."""
        self.facts = facts
        self.changed()

    def estimate(self, width: int) -> int:
        return 9

    def text(self) -> str:
        return self.facts.workspace

    def lay_out(self, width: int, looks: Looks) -> list[Line]:
        facts, lines = self.facts, list[Line]()
        margin = [Segment("   ", looks.base)]

        def put(*spans: Segment) -> None:
            lines.extend(wrap(spans, width - 1, margin, margin))

        put(
            Segment("steward", looks.heading),
            Segment("  in ", looks.faint),
            Segment(plain(facts.workspace), looks.strong),
        )
        lines.append([])
        if facts.model.startswith("offline/"):
            put(
                Segment("No language model is in use. ", looks.base),
                Segment(
                    "The offline guide answers by searching and reading this repository, and turns "
                    '“replace "A" with "B" in FILE” into a change you can review. ',
                    looks.muted,
                ),
            )
            put(
                Segment("To have a model answer: ", looks.muted),
                Segment("/model", looks.accent),
                Segment(
                    " lists what was found here; a key in the environment or a local server is found by itself.",
                    looks.muted,
                ),
            )
        else:
            where = f" {'on' if facts.host == HERE else 'at'} {plain(facts.host)}" if facts.host else ""
            put(
                Segment(plain(facts.model), looks.base),
                Segment(f" answers{where}. It reads; only you apply a change.", looks.muted),
            )
        lines.append([])
        if facts.documents is None:
            put(Segment("Instructions: …", looks.faint))
        elif facts.documents:
            put(
                Segment("Instructions here: ", looks.muted),
                Segment(", ".join(map(plain, facts.documents)), looks.base),
            )
        elif not facts.withheld:
            put(Segment("No AGENTS.md governs the whole repository.", looks.muted))
        if facts.withheld:
            put(
                Segment("What this repository says to the model is not used: ", looks.warning),
                Segment("/trust", looks.accent),
                Segment(" shows it, and asks.", looks.muted),
            )
        if facts.pending:
            many = "change waits" if facts.pending == 1 else "changes wait"
            put(
                Segment(f"{facts.pending} {many} for review · ", looks.accent),
                Segment("F4", looks.primary),
                Segment(" opens the newest", looks.muted),
            )
        put(
            Segment("Enter", looks.primary),
            Segment(" sends · ", looks.muted),
            Segment("ctrl+j", looks.primary),
            Segment(" new line · ", looks.muted),
            Segment("/", looks.primary),
            Segment(" commands · ", looks.muted),
            Segment("@", looks.primary),
            Segment(" files · ", looks.muted),
            Segment("F1", looks.primary),
            Segment(" help", looks.muted),
        )
        return lines
