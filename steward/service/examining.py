"""Holds an exam in a process of its own: the one that reads the repository starts no worker and writes nowhere else."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from steward.errors import StewardError
from steward.model.process import own_program

if TYPE_CHECKING:
    from steward.confine.outside import Outside, Program
    from steward.conversation import JsonObject

_FAILED = "steward: "


class NotExamined(StewardError):
    """The exam came to no verdict; nothing new is known of the model."""


@dataclass(frozen=True, slots=True)
class Tried:
    """One try of one task."""

    number: int
    """From 1, over all tasks."""
    of: int
    title: str
    passed: bool
    seconds: float
    why: str
    """What was wrong, one sentence."""


@dataclass(frozen=True, slots=True)
class Examined:
    """The exam is over."""

    model: str
    verdict: str
    fit: bool
    """Whether the model can be used at all."""
    text: str
    """The report card as a table, with the verdict below it."""


async def examined(
    outside: Outside, model: str, configuration: Path | None = None
) -> AsyncGenerator[Tried | Examined]:
    """Each try as it ends, then what came of all; ``NotExamined`` when nothing did.

    ``configuration`` is read in the place of the person's usual file. Closing the generator ends the exam, which takes
    with it all that it has written.
    """
    named = ["--config", str(configuration.absolute())] if configuration is not None else []
    argv = [*own_program("steward"), "check-model", "--json-lines", *named, "--", model]
    try:
        program = await outside.program(argv, _here())
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise NotExamined(f"The exam could not be started: {reason}.") from None
    over, said = False, ""
    try:
        async for line in _lines(program):
            fact = _fact(line)
            if fact is None:
                said = line or said
            else:
                over = over or isinstance(fact, Examined)
                yield fact
        await program.wait()
    finally:
        if program.returncode is None:
            outside.end(program, signal.SIGTERM)
            await program.wait()
    if not over:
        raise NotExamined(said.removeprefix(_FAILED) or f"The exam of {model} ended before its end.")


def _here() -> Path:
    """Where a relative path in a model's name begins."""
    try:
        return Path.cwd()
    except OSError:
        return Path(os.sep)


async def _lines(program: Program) -> AsyncIterator[str]:
    assert program.stdout is not None
    rest = b""
    while piece := await program.stdout.read(65_536):
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            yield line.decode("utf-8", "replace").strip()
    yield rest.decode("utf-8", "replace").strip()


def _fact(line: str) -> Tried | Examined | None:
    """What a line of ``check-model --json-lines`` tells; ``None`` for a sentence."""
    if not line.startswith("{"):
        return None
    told: JsonObject = json.loads(line)
    if told["event"] == "try":
        return Tried(
            told["number"], told["of"], told["title"], told["passed"], told["seconds"], str(told["why"])
        )
    return Examined(told["model"], told["verdict"], told["fit"], told["text"])
