"""What a conversation is made of: each block lays itself out as lines and keeps them until it changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rich.segment import Segment

from steward.tui.lines import Line, expand, pad, plain, safe, shorten, wrap
from steward.tui.looks import Looks

GUTTER = 3
"""Cells before the text of every block; its mark stands in them."""

FENCE_RECOLOUR = 1.5
"""A code block that is still arriving gets new colours when it has grown by this factor."""


class Block:
    """One block. ``lines`` is cheap while nothing changed; ``estimate`` is cheap always."""

    foldable = False
    change = ""
    """Id of the change this block is about; opening the block reviews it."""

    def __init__(self, gap: bool = True) -> None:
        self.gap = gap
        """Whether an empty line stands before it."""
        self.open = False
        self._lines: list[Line] | None = None
        self._made_for: tuple[int, int] = (0, 0)

    def lines(self, width: int, looks: Looks) -> list[Line]:
        """The block as lines of at most ``width`` cells."""
        key = (width, id(looks))
        if self._lines is None or key != self._made_for:
            self._lines = self.lay_out(width, looks)
            self._made_for = key
        return self._lines

    @property
    def gap_lines(self) -> int:
        """Empty lines before it."""
        return 1 if self.gap else 0

    def changed(self) -> None:
        """What was laid out is no longer right."""
        self._lines = None

    @property
    def laid_out(self) -> bool:
        """Whether its lines are kept."""
        return self._lines is not None

    def forget(self) -> None:
        """Let go of what was laid out; it is made again when it is asked for."""
        self._lines = None

    def lay_out(self, width: int, looks: Looks) -> list[Line]:
        """Make the lines."""
        raise NotImplementedError

    def estimate(self, width: int) -> int:
        """About how many lines there will be."""
        return 1

    def toggle(self) -> None:
        """Open or close what the block folds away."""
        if self.foldable:
            self.open = not self.open
            self.changed()

    def text(self) -> str:
        """What the block says, for copying."""
        return ""


def estimate(text: str, width: int) -> int:
    """About how many lines ``text`` takes."""
    return text.count("\n") + 1 + len(text) // max(width, 20)


class MarkdownBlock(Block):
    """A piece of an answer."""

    def __init__(self, source: str, gap: bool = True) -> None:
        super().__init__(gap)
        self.source = source

    def update(self, source: str) -> None:
        """The piece has grown."""
        if source != self.source:
            self.source = source
            self.changed()

    def lay_out(self, width: int, looks: Looks) -> list[Line]:
        from steward.tui.markdown import render

        margin = Segment(" " * GUTTER, looks.base)
        return [[margin, *line] for line in render(self.source, max(width - GUTTER - 1, 8), looks)]

    def estimate(self, width: int) -> int:
        return estimate(self.source, width - GUTTER)

    def text(self) -> str:
        return self.source


class FenceBlock(Block):
    """A code block that is still arriving: complete lines are laid out once; colours follow as it grows."""

    def __init__(self, language: str, gap: bool = True) -> None:
        super().__init__(gap)
        self.language = language
        self.source: list[str] = []
        self.partial = ""
        self.closed = False
        self._laid: list[Line] = []
        self._laid_source = 0
        self._coloured = 0
        self._laid_for: tuple[int, int] = (0, 0)

    def add(self, lines: Sequence[str], partial: str) -> None:
        """More lines, and the beginning of the next."""
        self.source.extend(lines)
        self.partial = partial
        self.changed()

    def close(self) -> None:
        """The end of the block has come."""
        if self.partial:
            self.source.append(self.partial)
            self.partial = ""
        self.closed = True
        self.changed()

    def forget(self) -> None:
        super().forget()
        self._laid, self._laid_for = [], (0, 0)

    def lay_out(self, width: int, looks: Looks) -> list[Line]:
        from steward.tui.markdown import code_lines

        room = max(width - GUTTER - 1, 8)
        key = (width, id(looks))
        size = len(self.source)
        if self.closed or key != self._laid_for or size > max(self._coloured * FENCE_RECOLOUR, 12):
            self._laid = code_lines(self.source, self.language, room, looks) if size else []
            self._coloured = size
        else:
            self._laid += code_lines(self.source[self._laid_source :], "", room, looks, colours=False)
        self._laid_source, self._laid_for = size, key
        rest = (
            code_lines([self.partial], "", room, looks, colours=False)
            if self.partial or not self.source
            else []
        )
        margin = Segment(" " * GUTTER, looks.base)
        return [[margin, *line] for line in (*self._laid, *rest)]

    def estimate(self, width: int) -> int:
        return max(len(self.source), 1)

    def text(self) -> str:
        return "\n".join(
            ["```" + self.language, *self.source, *([self.partial] if self.partial else []), "```"]
        )


class UserBlock(Block):
    """The person's own words, exactly as they were sent."""

    def __init__(self, words: str, queued: bool = False) -> None:
        super().__init__()
        self.words = words
        self.queued = queued

    def lay_out(self, width: int, looks: Looks) -> list[Line]:
        mark = [Segment(" ❯ ", looks.user_mark)]
        rest = [Segment("   ", looks.user)]
        lines: list[Line] = []
        for text in safe(self.words).split("\n"):
            spans = [Segment(expand(text), looks.user)]
            if self.queued and not lines:
                spans.insert(0, Segment("queued · ", looks.user_mark))
            lines.extend(wrap(spans, width - 1, rest if lines else mark, rest))
        return [pad(line, width, looks.user) for line in lines]

    def estimate(self, width: int) -> int:
        return estimate(self.words, width - GUTTER)

    def text(self) -> str:
        return self.words


@dataclass(frozen=True, slots=True)
class Said:
    """A mark and a style for one kind of line."""

    mark: str
    style: Literal["muted", "faint", "primary", "accent", "warning", "error", "ok"]


LINE_KINDS: dict[str, Said] = {
    "info": Said("·", "muted"),
    "warning": Said("▲", "warning"),
    "error": Said("✗", "error"),
    "instructions": Said("◈", "primary"),
    "proposal": Said("◆", "accent"),
    "done": Said("✓", "ok"),
    "end": Said("·", "faint"),
}


class LineBlock(Block):
    """One sentence of the steward: a notice, an arrival, a proposal, the end of a turn."""

    def __init__(self, sentence: str, kind: str = "info", *, change: str = "", gap: bool = True) -> None:
        super().__init__(gap)
        self.sentence = sentence
        self.kind = kind
        self.change = change

    def update(self, sentence: str) -> None:
        """The sentence is another now."""
        self.sentence = sentence
        self.changed()

    def lay_out(self, width: int, looks: Looks) -> list[Line]:
        said = LINE_KINDS[self.kind]
        style = {
            "muted": looks.muted,
            "faint": looks.faint,
            "primary": looks.primary,
            "accent": looks.accent,
            "warning": looks.warning,
            "error": looks.error,
            "ok": looks.ok,
        }[said.style]
        body = looks.faint if self.kind == "end" else looks.muted if self.kind != "error" else looks.base
        if self.kind == "proposal":
            body = looks.base
        lines: list[Line] = []
        for text in safe(self.sentence).split("\n"):
            opening = [Segment(f" {said.mark} ", style)] if not lines else [Segment("   ", looks.base)]
            lines.extend(
                wrap([Segment(expand(text), body)], width - 1, opening, [Segment("   ", looks.base)])
            )
        return lines

    def estimate(self, width: int) -> int:
        return estimate(self.sentence, width - GUTTER)

    def text(self) -> str:
        return self.sentence


class FoldBlock(Block):
    """A headline that opens to show more: base of tool calls and reasoning."""

    foldable = True

    def headline(self, looks: Looks) -> Line:
        """The one line that always shows, without its mark."""
        raise NotImplementedError

    def mark(self, looks: Looks) -> Segment:
        """What stands in the gutter."""
        return Segment(" ▾ " if self.open else " ▸ ", looks.faint)

    def body(self, width: int, looks: Looks) -> list[Line]:
        """What opening shows, at most ``width`` cells wide."""
        raise NotImplementedError

    def lay_out(self, width: int, looks: Looks) -> list[Line]:
        head = wrap(self.headline(looks), width - 1, [self.mark(looks)], [Segment("     ", looks.base)])
        if not self.open:
            return head
        edge = [Segment("   ", looks.base), Segment("│ ", looks.block_faint)]
        room = max(width - GUTTER - 3, 8)
        return head + [[*edge, *pad(line, room, looks.block)] for line in self.body(room, looks)]

    def estimate(self, width: int) -> int:
        return 1 if not self.open else estimate(self.text(), width - GUTTER)


class ReasoningBlock(FoldBlock):
    """What the model thought before it answered; folded."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self.words = 0
        self.done = False

    def add(self, text: str) -> None:
        """Another piece."""
        self.pieces.append(text)
        self.words += text.count(" ")
        self.changed()

    def headline(self, looks: Looks) -> Line:
        return [Segment(f"{'thought' if self.done else 'thinking'} · {self.words + 1:,} words", looks.faint)]

    def body(self, width: int, looks: Looks) -> list[Line]:
        style = looks.block + looks.italic
        lines: list[Line] = []
        for text in safe("".join(self.pieces)).split("\n"):
            lines.extend(wrap([Segment(expand(text), style)], width))
        return lines

    def text(self) -> str:
        return "".join(self.pieces)


class NoteBlock(FoldBlock):
    """What the steward told the model along with a question; folded."""

    def __init__(self, note: str) -> None:
        super().__init__()
        self.note = note

    def headline(self, looks: Looks) -> Line:
        first = " ".join(self.note.split("\n", 1)[0].split())
        return [Segment("told the model: ", looks.faint), Segment(shorten(plain(first), 100), looks.faint)]

    def body(self, width: int, looks: Looks) -> list[Line]:
        from steward.tui.markdown import render

        return render(self.note, width, looks)

    def text(self) -> str:
        return self.note
