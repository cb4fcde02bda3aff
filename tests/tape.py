"""Reads a tape in VHS's format and plays its keys in a pseudo-terminal."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from tests.pty_screen import PtyScreen

KEYS = {
    "Enter": "enter",
    "Escape": "escape",
    "Tab": "tab",
    "Space": "space",
    "Backspace": "backspace",
    "Delete": "delete",
    "Up": "up",
    "Down": "down",
    "Left": "left",
    "Right": "right",
    "PageUp": "pageup",
    "PageDown": "pagedown",
    "Home": "home",
    "End": "end",
}
SILENT = {"Output", "Require", "Set", "Hide", "Show", "Env", "Screenshot", "Copy", "Paste", "Source"}
PIXELS = {"FontSize": 16.0, "Width": 1200.0, "Height": 600.0, "Padding": 60.0, "LineHeight": 1.0}


@dataclass(frozen=True, slots=True)
class Step:
    """One line of a tape: the command's name with what follows its ``+`` or ``@``, and its argument."""

    number: int
    name: str
    suffix: str = ""
    argument: str = ""


class BadTape(ValueError):
    """A line that VHS would not take."""


def parse(text: str) -> list[Step]:
    """The steps of a tape in order. Raises ``BadTape``."""
    steps: list[Step] = []
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        word, _, rest = stripped.partition(" ")
        match = re.fullmatch(r"([A-Za-z]+)((?:[+@][A-Za-z0-9.]+)*)", word)
        if match is None:
            raise BadTape(f"line {number}: {stripped}")
        step = Step(number, match[1], match[2], rest.strip())
        if not _known(step):
            raise BadTape(f"line {number}: {stripped}")
        steps.append(step)
    return steps


def _known(step: Step) -> bool:
    match step.name:
        case "Type":
            return re.fullmatch(r'"[^"]*"|\'[^\']*\'|`[^`]*`', step.argument) is not None
        case "Sleep":
            return re.fullmatch(r"[0-9.]+(ms|s)?", step.argument) is not None
        case "Wait":
            return re.fullmatch(r"/.+/", step.argument) is not None and step.suffix in (
                "",
                "+Line",
                "+Screen",
            )
        case "Ctrl":
            return re.fullmatch(r"\+[A-Za-z]", step.suffix) is not None
        case name:
            return name in SILENT or (name in KEYS and re.fullmatch(r"[0-9]*", step.argument) is not None)


def size(steps: list[Step]) -> tuple[int, int]:
    """Columns and lines that the tape's pixels come to, a glyph being 0.6 by 1.25 of the font's size."""
    given = dict(PIXELS)
    for step in steps:
        if step.name == "Set":
            key, value = shlex.split(step.argument)[:2]
            if key in given:
                given[key] = float(value)
    inner = given["Width"] - 2 * given["Padding"], given["Height"] - 2 * given["Padding"]
    glyph = given["FontSize"] * 0.6, given["FontSize"] * 1.25 * given["LineHeight"]
    return int(inner[0] / glyph[0]), int(inner[1] / glyph[1])


def play(step: Step, screen: PtyScreen) -> None:
    """Do one step. A wait that is not met raises ``NeverShown`` with the screen as it was."""
    match step.name:
        case "Type":
            for character in step.argument[1:-1]:
                screen.type(character)
            screen.settle(0.05, 1)
        case "Sleep":
            screen.settle_for(_seconds(step.argument))
        case "Wait":
            pattern = re.compile(step.argument[1:-1])
            line = step.suffix != "+Screen"
            screen.wait_until(
                lambda: pattern.search(screen.line if line else screen.text) is not None,
                f"{step.argument} of line {step.number}",
                60,
            )
        case "Ctrl":
            screen.press(f"ctrl+{step.suffix[1].lower()}")
        case name if name in KEYS:
            for _ in range(int(step.argument or 1)):
                screen.press(KEYS[name])
                screen.settle_for(0.2)  # else Escape and the next key would be one sequence
        case _:
            pass


def _seconds(text: str) -> float:
    return float(text.removesuffix("ms")) / 1000 if text.endswith("ms") else float(text.removesuffix("s"))
