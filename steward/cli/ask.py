"""``ask``: one turn without the screen, for people in a hurry, scripts and CI."""

from __future__ import annotations

import signal
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import click

from steward.cli import output
from steward.cli.completing import session_ids
from steward.cli.options import GivenPath, Options, further_texts, global_options
from steward.errors import StewardError, UsageError

if TYPE_CHECKING:
    from steward.cli.schema import AnswerSchema
    from steward.cli.turn import Turn
    from steward.config import Settings
    from steward.service.steward import Steward

ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that end the turn as a person's ctrl+c does: what it has done so far is stored, and reported."""


class TurnFailed(StewardError):
    """The turn ended without an answer."""


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for on the command line."""

    question: str
    form: str
    """``text``, ``json`` or ``lines``."""
    quiet: bool
    schema: AnswerSchema | None
    rounds: int
    """Model calls at most, a second try for the schema among them."""
    cost: float
    """US dollars at most, the same; 0 for no limit."""
    tokens: int
    """Tokens at most, the same; 0 for no limit."""


class Left(TypedDict):
    """What is left of the bounds for a second try; ``None`` where there is no limit."""

    rounds: int
    cost: float | None
    tokens: int | None


@click.command()
@click.argument("question", required=False)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print one JSON object at the end: answer, changes, tools, usage and more.",
)
@click.option("--json-lines", "as_lines", is_flag=True, help="Print each event as JSON as it comes.")
@click.option(
    "--schema",
    metavar="FILE",
    type=GivenPath(),
    help="The answer must be JSON that fits this JSON Schema; AGENTS.md is left out unless --instructions.",
)
@click.option(
    "--instructions/--no-instructions", default=None, help="Load AGENTS.md documents, or leave them out."
)
@click.option(
    "--read",
    "reads",
    metavar="FILE",
    multiple=True,
    type=GivenPath(),
    callback=further_texts,
    help="A further instruction document; a directory means its files. May be repeated.",
)
@click.option(
    "--max-rounds",
    type=click.IntRange(1, 1000),
    metavar="N",
    help="Model calls at most, a second one for --schema among them.",
)
@click.option("--no-proposals", is_flag=True, help="Do not let the model propose changes.")
@click.option(
    "--max-cost",
    type=click.FloatRange(0, 1_000_000, min_open=True),
    metavar="USD",
    help="US dollars at most, a second try for --schema among them, where the provider reports costs.",
)
@click.option("--continue", "resume_last", is_flag=True, help="Go on with the last session.")
@click.option(
    "--resume",
    metavar="SESSION",
    shell_complete=session_ids,
    help="Go on with this session; its id may be shortened.",
)
@click.option(
    "--file",
    "question_file",
    metavar="FILE",
    type=GivenPath(dash=True),
    help="Read the question from FILE, - for standard input; QUESTION, if given, is added below it.",
)
@click.option("--quiet", is_flag=True, help="No progress on standard error.")
@global_options
def ask(
    options: Options,
    question: str | None,
    as_json: bool,
    as_lines: bool,
    schema: Path | None,
    instructions: bool | None,
    reads: tuple[Path, ...],
    max_rounds: int | None,
    no_proposals: bool,
    max_cost: float | None,
    resume_last: bool,
    resume: str | None,
    question_file: Path | None,
    quiet: bool,
) -> int:
    """Ask one question; the answer goes to standard output, progress to standard error.

    QUESTION is the argument, or standard input when it is - or missing. With both, what is piped in is added
    to the question. Changes the model proposes stay pending.
    """
    import asyncio

    from steward.cli.door import outside_for
    from steward.cli.house import new_steward, settings_of
    from steward.cli.question import question_in, question_of

    if as_json and as_lines:
        raise UsageError("--json and --json-lines exclude each other.")
    if resume_last and resume is not None:
        raise UsageError("--continue and --resume exclude each other.")
    if max_cost is not None and max_cost != max_cost:
        raise UsageError("--max-cost takes a number of US dollars.")
    fitting = None
    if schema is not None:
        from steward.cli.schema import AnswerSchema

        fitting = AnswerSchema(schema)
    settings = settings_of(options)
    bounds = {"rounds": max_rounds, "turn_cost": max_cost}
    limits = settings.limits.model_copy(update={key: n for key, n in bounds.items() if n is not None})
    settings = settings.model_copy(update={"limits": limits})
    settings = _narrowed(settings, schema is None if instructions is None else instructions, not no_proposals)
    form = "json" if as_json else "lines" if as_lines else "text"
    whole = question_of(question) if question_file is None else question_in(question_file, question)
    request = Request(whole, form, quiet, fitting, limits.rounds, limits.turn_cost, limits.turn_tokens)
    outside = outside_for(settings, programs=False)
    steward = new_steward(options, settings=settings, reads=reads, watch=False, asked=True, outside=outside)
    steward.hold()
    return asyncio.run(_run(steward, request, resume_last, resume))


def _narrowed(settings: Settings, instructions: bool, proposals: bool) -> Settings:
    """The settings without AGENTS.md documents, or without proposals."""
    if not instructions:
        without = settings.instructions.model_copy(update={"enabled": False})
        settings = settings.model_copy(update={"instructions": without})
    if not proposals:
        tools = settings.tools.model_copy(update={"proposals": False})
        settings = settings.model_copy(update={"tools": tools})
    return settings


async def _run(steward: Steward, request: Request, resume_last: bool, resume: str | None) -> int:
    from steward.cli.house import running

    async with running(steward):
        if resume_last or resume is not None:
            await steward.resume(resume)
        return await _turns(steward, request)


async def _turns(steward: Steward, request: Request) -> int:
    """Ask, and with a schema ask once more when the answer does not fit."""
    schema = request.schema
    question = request.question if schema is None else f"{request.question}\n\n{schema.request}"
    turn = await _one(steward, question, request, None)
    value, mismatch = _value(turn, request)
    if schema is not None and mismatch is not None and (again := _left(turn, request)) is not None:
        _progress_note(request, f"{mismatch} Asking once more.")
        turn = _joined(turn, await _one(steward, f"{mismatch} {schema.request}", request, again))
        value, mismatch = _value(turn, request)
    _report(turn, request, value, fits=schema is not None and turn.reason == "answered" and mismatch is None)
    if mismatch is not None:
        raise mismatch
    match turn.reason:
        case "answered":
            return 0
        case "interrupted":
            output.fail("Interrupted.")
            return 130
        case _:
            raise TurnFailed(turn.error or "The model gave no answer.")


def _value(turn: Turn, request: Request) -> tuple[Any, StewardError | None]:
    """What the answer is under the schema, or why it is nothing."""
    from steward.cli.schema import SchemaMismatch

    if request.schema is None or turn.reason != "answered":
        return None, None
    try:
        return request.schema.read(turn.answer), None
    except SchemaMismatch as mismatch:
        return None, mismatch


def _left(turn: Turn, request: Request) -> Left | None:
    """What is left for a second try; ``None`` when the first one used up a bound, as far as the provider said."""
    rounds = request.rounds - turn.rounds
    cost = request.cost - (turn.usage.cost or 0.0)
    tokens = request.tokens - (turn.usage.prompt or 0) - (turn.usage.completion or 0)
    if rounds < 1 or (request.cost and cost <= 0) or (request.tokens and tokens <= 0):
        return None
    return Left(rounds=rounds, cost=cost if request.cost else None, tokens=tokens if request.tokens else None)


async def _one(steward: Steward, question: str, request: Request, left: Left | None) -> Turn:
    from steward.cli.lines import say_event
    from steward.cli.progress import Progress
    from steward.cli.turn import Turn, gather
    from steward.events import Event

    progress = Progress(request.quiet or request.form == "lines")

    def watch(event: Event) -> None:
        progress.tell(event)
        if request.form == "lines":
            say_event(event)

    asked = steward.ask(question, **left) if left is not None else steward.ask(question)
    with _ended_by_signals(steward):
        try:
            return await gather(asked, Turn(steward.model), watch)
        finally:
            progress.clear()


@contextmanager
def _ended_by_signals(steward: Steward) -> Generator[None]:
    """While the turn runs, a signal ends the turn and not the process."""
    import asyncio

    loop = asyncio.get_running_loop()
    # One that is ignored, as nohup has it, stays so.
    heard = [number for number in ENDS if signal.getsignal(number) is not signal.SIG_IGN]
    for number in heard:
        loop.add_signal_handler(number, steward.interrupt)
    try:
        yield
    finally:
        for number in heard:
            loop.remove_signal_handler(number)


def _joined(first: Turn, second: Turn) -> Turn:
    """The second turn with what the first one cost and did."""
    second.rounds += first.rounds
    second.usage = first.usage + second.usage
    second.tools = first.tools + second.tools
    second.proposals = first.proposals | second.proposals
    second.instructions = list(dict.fromkeys(first.instructions + second.instructions))
    second.warnings = list(dict.fromkeys(first.warnings + second.warnings))
    return second


def _report(turn: Turn, request: Request, value: Any, *, fits: bool) -> None:
    shape = turn.json()
    if fits:
        shape["value"] = value
    if request.form == "json":
        output.say_json(shape)
    elif request.form == "lines":
        output.say_json_line({"event": "result", **shape})
    elif fits:
        output.say_json(value)
    elif turn.answer and request.schema is None:
        output.say_exactly(turn.answer if turn.answer.endswith("\n") else turn.answer + "\n")
    if request.form == "text":
        for proposal in turn.proposals.values():
            _progress_note(
                request,
                f"{proposal.id} is pending; read and apply it with: steward apply-change {proposal.id}",
            )


def _progress_note(request: Request, text: str) -> None:
    if not request.quiet:
        output.note(text)
