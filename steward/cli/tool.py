"""``tool``: one tool call as the model would make it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from steward.cli import output
from steward.cli.completing import tools
from steward.cli.named_file import read_standard_input
from steward.cli.options import Options, global_options
from steward.errors import UsageError

if TYPE_CHECKING:
    from steward.tools import ToolResult

MAX_BYTES = 8_388_608


@click.command()
@click.argument("name", shell_complete=tools)
@click.argument("arguments", required=False, default="{}")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: ok, text, summary, touched.")
@global_options
def tool(options: Options, name: str, arguments: str, as_json: bool) -> int:
    """Run one tool and print exactly what the model would be told.

    ARGUMENTS is a JSON object, or - to read it from standard input. In a pipe the text is exact; on a terminal
    hidden characters are shown as marks. Exit code 1 means that the call was refused; the refusal is what is
    printed.
    """
    from steward.cli.house import rooms
    from steward.service.tool_call import run_alone

    given = _standard_input() if arguments == "-" else arguments
    with rooms(options) as house:
        alone = run_alone(house, name, given)
        notices = house.notices
    result = alone or _in_conversation(options, name, given)
    if as_json:
        touched = [path.text for path in result.touched]
        output.say_json({"ok": result.ok, "text": result.text, "summary": result.summary, "touched": touched})
    else:
        output.say_exactly(result.text if result.text.endswith("\n") else result.text + "\n")
    for sentence in notices:
        output.note(sentence)
    return 0 if result.ok else 1


def _in_conversation(options: Options, name: str, arguments: str) -> ToolResult:
    import asyncio

    from steward.cli.house import new_steward, running

    async def run() -> ToolResult:
        async with running(new_steward(options, worker=False, watch=False)) as steward:
            return await steward.run_tool(name, arguments)

    return asyncio.run(run())


def _standard_input() -> str:
    data = read_standard_input(MAX_BYTES)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"Standard input is not UTF-8 at byte {error.start}.") from None
