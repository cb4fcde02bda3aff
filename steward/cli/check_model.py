"""``check-model``: holds the exam with a model and prints its report card."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from steward.cli import output
from steward.cli.options import Options, global_options
from steward.errors import StewardError, UsageError

if TYPE_CHECKING:
    from steward.service.exam_card import Try
    from steward.service.exam_tasks import Task


class Unfit(StewardError):
    """The model cannot be used."""


class Unreached(StewardError):
    """The exam could not begin; nothing is known of the model."""


def said(number: int, of: int, title: str, passed: bool, seconds: float, why: str) -> str:
    """One try in a line."""
    return f"{number}/{of} {'✓' if passed else '✗'} {title} ({seconds:.1f} s) {why}".rstrip()


@click.command("check-model")
@click.argument("name", required=False, metavar="[MODEL]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--json-lines", "as_lines", is_flag=True, help="Print each try as JSON as it ends, then the report."
)
@click.option("--tries", type=click.IntRange(1, 20), default=3, show_default=True, help="Tries of each task.")
@click.option("--quiet", is_flag=True, help="No progress on standard error.")
@global_options
def check_model(
    options: Options, name: str | None, as_json: bool, as_lines: bool, tries: int, quiet: bool
) -> None:
    """Give a model small tasks in throw-away repositories and say what it can do.

    Without MODEL it is the one that would answer now. It is asked for real, so a hosted model costs what some thirty
    short conversations cost. Esc and ctrl+c stop the exam. The exit code is 0 when the model is fit for questions or
    changes.
    """
    from steward.cli.ending import ended_in_order
    from steward.cli.esc import esc_is_ctrl_c
    from steward.cli.house import settings_of, state_directory
    from steward.cli.log import log_to
    from steward.cli.throwaway import thrown_away
    from steward.service.exam import PREFIX, hold_exam
    from steward.service.exam_card import keep
    from steward.service.exam_tasks import TASKS
    from steward.service.model_settings import model_of

    if as_json and as_lines:
        raise UsageError("--json and --json-lines exclude each other.")
    quiet = quiet or as_lines
    settings = settings_of(options)
    log_to(state_directory())
    chosen = model_of(name or options.model, settings, state_directory())
    number, of = 0, tries * len(TASKS)

    def tell(task: Task, done: Try) -> None:
        nonlocal number
        number += 1
        if number == 1 and done.unreached:
            return
        if as_lines:
            output.say_json_line(
                {
                    "event": "try",
                    "number": number,
                    "of": of,
                    "name": task.name,
                    "title": task.title,
                    "passed": done.passed,
                    "seconds": round(done.seconds, 3),
                    "why": done.why,
                }
            )
        if not quiet:
            output.note(said(number, of, task.title, done.passed, done.seconds, done.why))

    if not quiet:
        each = "1 try" if tries == 1 else f"{tries} tries"
        output.note(f"Examining {chosen}: {len(TASKS)} tasks, {each} each; esc or ctrl+c stops it.")
    with ended_in_order() as ending, thrown_away(PREFIX) as place, esc_is_ctrl_c():
        card = ending.run(hold_exam(chosen, settings, tries=tries, progress=tell, place=place))
    if not card.reached:
        if as_json:
            output.say_json(card.to_json())
        raise Unreached(f"{card.model} was not examined: {card.tasks[0].why}")
    try:
        keep(state_directory(), card)
    except OSError as error:
        output.note(f"Warning: the report could not be kept ({(error.strerror or 'error').lower()}).")
    if as_json:
        output.say_json(card.to_json())
    elif as_lines:
        output.say_json_line({"event": "result", **card.to_json(), "text": card.text()})
    else:
        output.say(card.text())
    if not card.fit:
        raise Unfit(f"{card.model} is {card.verdict}.")
