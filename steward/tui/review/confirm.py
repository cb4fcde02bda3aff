"""The question before anything is written: drawn in the review, answered by one deliberate key."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Literal

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from steward.tui.lines import Line, pad, plain, wrap
from steward.tui.looks import looks_for

if TYPE_CHECKING:
    from textual.timer import Timer

Deed = Literal["apply", "undo"]

ANSWER = "Y"
"""The answer. No word that is typed for another window has a capital after a small letter; many end in a small y."""

LEFT_FOR_DIFF = 5
"""Lines of the screen that the question leaves for the rest, however much it has to say."""

SETTLE = 0.6
"""Seconds without another key after the answer before it counts: a word that ends in it goes on with some key."""

SLOWEST = 1.2
"""Seconds between two keys of the slowest typist; who waits longer before the answer has read the question."""

RHYTHM = 1.5
"""How many times as long as the pause before the answer it is waited: who types slowly goes on slowly."""

LATE = 0.1
"""Seconds after its time from which on a look at the clock means that the screen stood still: keys may wait unseen."""

SHORTEST = 0.02
"""Seconds; a timer of next to none is passed over without a call."""

ROOMY = 20
"""From this height on the question stands free."""


def settle(pause: float) -> float:
    """How many seconds must pass without a key after an answer that came ``pause`` seconds after another key."""
    return max(SETTLE, pause * RHYTHM) if pause <= SLOWEST else SETTLE


class Confirm(Widget, can_focus=False):
    """Says exactly what the answer would do. It is hidden until asked for, and knows when it was drawn."""

    DEFAULT_CSS = "Confirm { height: auto; width: 1fr; display: none; }"
    ALLOW_SELECT: ClassVar[bool] = False

    def __init__(self) -> None:
        super().__init__()
        self.deed: Deed | None = None
        self.drawn: float | None = None
        """When the question had been on the screen; ``None`` while it has not."""
        self._facts = ""
        self._warnings: tuple[str, ...] = ()
        self._told = ""
        self._answered: Timer | None = None

    def ask(self, deed: Deed, facts: str, warnings: tuple[str, ...]) -> None:
        """Put the question."""
        self.deed, self._facts, self._warnings, self._told = deed, facts, warnings, ""
        self.drawn = None
        self._forget_answer()
        self.display = True
        self.screen.set_class(True, "-asked")
        self._fit()

    def tell(self, sentence: str) -> None:
        """Say why a key was not taken as the answer."""
        if self._told != sentence:
            self._told = sentence
            self._fit()

    @property
    def answered(self) -> bool:
        """Whether the answer was given and waits for a moment without another key."""
        return self._answered is not None

    def answer(self, do: Callable[[], object], pause: float, now: Callable[[], float]) -> None:
        """The answer was given, ``pause`` seconds after another key: ``do`` it when none has come for a moment.

        The moment is measured by ``now``, the clock of the keys, and begins anew when the screen stood still in it.
        """
        self.tell("Any key now stops it.")
        due = now() + settle(pause)

        def look() -> None:
            nonlocal due
            if now() > due + LATE:
                due = now() + SETTLE
            if now() < due:
                self._answered = self.set_timer(max(due - now(), SHORTEST), look)
            else:
                do()

        look()

    def _forget_answer(self) -> None:
        if self._answered is not None:
            self._answered.stop()
            self._answered = None

    def close(self) -> None:
        """Take the question away, and with it an answer that has not counted yet."""
        self._forget_answer()
        self.deed, self.drawn = None, None
        self.display = False
        self.screen.set_class(False, "-asked")

    def _fit(self) -> None:
        self.styles.height = len(self._lines(max(self.screen.size.width, 20)))
        self.refresh(layout=True)

    def on_resize(self) -> None:
        if self.deed is not None:
            self._fit()

    def _lines(self, width: int) -> list[Line]:
        looks = looks_for(self)
        back = looks.user
        margin = [Segment("   ", back)]
        verb, does = ("Write", "apply") if self.deed == "apply" else ("Take back", "undo")
        head = [Segment(f"{verb} {plain(self._facts)}", back + looks.bold)]
        lines = wrap(head, width - 1, [Segment(" ◆ ", looks.user_mark)], margin)
        keys = [
            Segment(f" {ANSWER} ", looks.chip),
            Segment(f" {does}  ", back),
            Segment(" any other key ", looks.chip_warning),
            Segment(" leaves it", back),
        ]
        lines.append([*margin, *keys])
        if self._told:
            lines.extend(wrap([Segment(self._told, looks.user_mark)], width - 1, margin, margin))
        said: list[Line] = []
        for warning in self._warnings:
            mark = [Segment(" ▲ ", looks.user_mark)]
            said.extend(wrap([Segment(plain(warning), back)], width - 1, mark, margin))
        room = max(self.screen.size.height - len(lines) - LEFT_FOR_DIFF, 1)
        if len(said) > room:
            said = [*said[: room - 1], [Segment(" ▲ more is said in the review above", back)]]
        lines.extend(said)
        if self.screen.size.height >= ROOMY:
            empty: Line = [Segment("", back)]
            lines = [empty, *lines, empty]
        return [pad(line, width, back) for line in lines]

    def render_line(self, y: int) -> Strip:
        lines = self._lines(self.size.width)
        looks = looks_for(self)
        return Strip(lines[y] if y < len(lines) else []).adjust_cell_length(self.size.width, looks.user)
