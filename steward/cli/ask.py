"""``ask``: one turn without the screen, for people in a hurry, scripts and CI."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from steward.cli import output
from steward.cli.completing import session_ids
from steward.cli.options import Options, global_options
from steward.errors import StewardError, UsageError

if TYPE_CHECKING:
    from steward.cli.schema import AnswerSchema
    from steward.cli.turn import Turn
    from steward.service.steward import Steward


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


@click.command()
@click.argument("question", required=False)
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object: answer, changes, tools, usage, …"
)
@click.option("--json-lines", "as_lines", is_flag=True, help="Print each event as JSON as it comes.")
@click.option(
    "--schema",
    metavar="FILE",
    type=click.Path(path_type=Path),
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
    type=click.Path(path_type=Path),
    help="A further instruction document; a directory means its files. May be repeated.",
)
@click.option("--max-rounds", type=click.IntRange(1, 1000), metavar="N", help="Model calls at most.")
@click.option("--no-proposals", is_flag=True, help="Do not let the model propose changes.")
@click.option(
    "--max-cost",
    type=click.FloatRange(0, 1_000_000, min_open=True),
    metavar="USD",
    help="Stop when the turn has cost so much, where the provider reports costs.",
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
    type=click.Path(path_type=Path),
    help="Read the question from FILE; QUESTION, if given, is added below it.",
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

    from steward.cli.house import new_steward, settings_of
    from steward.cli.question import question_in, question_of

    if as_json and as_lines:
        raise UsageError("--json and --json-lines exclude each other.")
    if resume_last and resume:
        raise UsageError("--continue and --resume exclude each other.")
    fitting = None
    if schema is not None:
        from steward.cli.schema import AnswerSchema

        fitting = AnswerSchema(schema)
    settings = settings_of(options)
    bounds = {"rounds": max_rounds, "turn_cost": max_cost}
    limits = settings.limits.model_copy(update={key: n for key, n in bounds.items() if n is not None})
    settings = settings.model_copy(update={"limits": limits})
    loads = schema is None if instructions is None else instructions
    if not loads:
        without = settings.instructions.model_copy(update={"enabled": False})
        settings = settings.model_copy(update={"instructions": without})
    if no_proposals:
        tools = settings.tools.model_copy(update={"proposals": False})
        settings = settings.model_copy(update={"tools": tools})
    form = "json" if as_json else "lines" if as_lines else "text"
    whole = question_of(question) if question_file is None else question_in(question_file, question)
    request = Request(whole, form, quiet, fitting)
    steward = new_steward(options, settings=settings, reads=reads, watch=False)
    return asyncio.run(_run(steward, request, resume_last, resume))


async def _run(steward: Steward, request: Request, resume_last: bool, resume: str | None) -> int:
    import asyncio

    from steward.cli.house import running

    async with running(steward):
        if resume_last or resume:
            await steward.resume(resume)
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, steward.interrupt)
        try:
            return await _turns(steward, request)
        finally:
            loop.remove_signal_handler(signal.SIGINT)


async def _turns(steward: Steward, request: Request) -> int:
    """Ask, and with a schema ask once more when the answer does not fit."""
    from steward.cli.schema import SchemaMismatch

    schema = request.schema
    question = request.question if schema is None else f"{request.question}\n\n{schema.request}"
    turn = await _one(steward, question, request)
    value: Any = None
    if schema is not None and turn.reason == "answered":
        try:
            value = schema.read(turn.answer)
        except SchemaMismatch as mismatch:
            _progress_note(request, f"{mismatch} Asking once more.")
            turn = _joined(turn, await _one(steward, f"{mismatch} {schema.request}", request))
            if turn.reason == "answered":
                value = schema.read(turn.answer)
    _report(turn, request, value)
    match turn.reason:
        case "answered":
            return 0
        case "interrupted":
            output.fail("Interrupted.")
            return 130
        case _:
            raise TurnFailed(turn.error or "The model gave no answer.")


async def _one(steward: Steward, question: str, request: Request) -> Turn:
    from steward.cli.lines import say_event
    from steward.cli.progress import Progress
    from steward.cli.turn import Turn, gather
    from steward.events import Event

    progress = Progress(request.quiet or request.form == "lines")

    def watch(event: Event) -> None:
        progress.tell(event)
        if request.form == "lines":
            say_event(event)

    try:
        return await gather(steward.ask(question), Turn(steward.model), watch)
    finally:
        progress.clear()


def _joined(first: Turn, second: Turn) -> Turn:
    """The second turn with what the first one cost and did."""
    second.rounds += first.rounds
    second.usage = first.usage + second.usage
    second.tools = first.tools + second.tools
    second.proposals = first.proposals | second.proposals
    second.instructions = list(dict.fromkeys(first.instructions + second.instructions))
    second.warnings = list(dict.fromkeys(first.warnings + second.warnings))
    return second


def _report(turn: Turn, request: Request, value: Any) -> None:
    fits = request.schema is not None and turn.reason == "answered"
    shape = turn.json()
    if fits:
        shape["value"] = value
    if request.form == "json":
        output.say_json(shape)
    elif request.form == "lines":
        output.say_json_line({"event": "result", **shape})
    elif fits:
        output.say_json(value)
    elif turn.answer:
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
