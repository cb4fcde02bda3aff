"""``replay``: runs an exported session again, in a copy that is thrown away, and says whether it asks the same."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from steward.cli import output
from steward.cli.named_file import text_named
from steward.cli.options import Options, global_options
from steward.errors import StewardError

if TYPE_CHECKING:
    from steward.conversation import JsonObject
    from steward.service.replay import Replayed


class Differs(StewardError):
    """The replay was not as recorded."""


@click.command()
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--requests", is_flag=True, help="With --json: also what the model would be sent, in full.")
@global_options
def replay(options: Options, file: Path, as_json: bool, requests: bool) -> None:
    """Run an exported session again and say whether the model would be sent the same, byte for byte.

    FILE is what `steward sessions --export ID --format script` wrote. No model is asked: the replies are those of the
    recording. It runs in a copy that is thrown away, made of the files in the recording, or else of the workspace as
    it is here without what was applied since the session began; the workspace itself is only read. The exit code is 0
    when all requests are the same, 1 when one differs.
    """
    from steward.cli.ending import ended_in_order
    from steward.cli.house import configuration_directory, rooms
    from steward.cli.throwaway import thrown_away
    from steward.service.beginning import beginning
    from steward.service.earlier import earlier
    from steward.service.house import home_directory
    from steward.service.recording import FILE
    from steward.service.replay import MOST_BYTES, PREFIX, parse_header
    from steward.service.replay import replay as run

    text = text_named(file, MOST_BYTES)
    header = parse_header(text)
    alone = f"\n{FILE}" in text
    with ended_in_order() as ending, rooms(options) as house, thrown_away(PREFIX) as place:
        if not alone and house.workspace.name != header["workspace"]:
            output.note(
                f"The recording is of a workspace called {header['workspace']}, and holds no files of it."
            )
        here = str(header["identity"]) == house.workspace.identity
        session = next((row for row in house.sessions.all() if row.id == header["session"]), None)
        found = ending.run(
            run(
                text,
                None if alone else beginning(house, session if here else None),
                house.settings,
                home=home_directory(),
                config_directory=configuration_directory(),
                secret=house.secret if here else "",
                above=place,
                earlier=earlier(house, session).changes if here and session is not None else (),
            )
        )
    if as_json:
        output.say_json(_shape(header, found, requests))
    else:
        _tell(header, found)
        unknown: list[str] = header["lost"] + ([] if alone or here else header["pending"])
        if unknown:
            verb = "was" if len(unknown) == 1 else "were"
            output.say(
                f"{output.listed(unknown)} {verb} pending when the session began, with texts that are not known here."
            )
    if found.differences:
        raise Differs(f"The session was not replayed as it was recorded. {found.differences[0]}")


def _tell(header: JsonObject, found: Replayed) -> None:
    output.say(f"Session {header['session']}, {output.plural(found.files, 'file')} in a copy thrown away.")
    marks = {True: "the same", False: "differs", None: "not recorded"}
    rows = [
        [str(one.number), f"{one.bytes:,} bytes", one.sha256[:12], marks[one.same]] for one in found.compared
    ]
    output.say(output.table(rows))
    known = [one for one in found.compared if one.same is not None]
    same = sum(one.same is True for one in known)
    output.say(f"{same} of {output.plural(len(found.compared), 'request')}: the same, byte for byte.")
    if len(known) < len(found.compared):
        why = "a key was redacted" if header.get("redacted") else "instructions are recomposed each round"
        output.say(f"{len(found.compared) - len(known)} could not be compared: {why}.")
    if not header.get("complete", True):
        output.say("The session was compacted; it is replayed up to that point.")


def _shape(header: JsonObject, found: Replayed, requests: bool) -> JsonObject:
    import json

    shape: JsonObject = {
        "session": header["session"],
        "same": not found.differences,
        "files": found.files,
        "replies": found.entries,
        "requests": [
            {"number": one.number, "bytes": one.bytes, "sha256": one.sha256, "same": one.same}
            for one in found.compared
        ],
        "differences": list(found.differences),
    }
    if requests:
        for entry, request in zip(shape["requests"], found.requests, strict=False):
            entry["messages"] = json.loads(request.messages)
    return shape
