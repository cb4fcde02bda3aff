"""``doctor``: what of this installation and this workspace works, and what to do about the rest."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from steward.cli import output
from steward.cli.options import Options, global_options
from steward.errors import StewardError

if TYPE_CHECKING:
    from steward.service import House
    from steward.service.finding import Finding


class Unwell(StewardError):
    """At least one check failed."""


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--model-too", is_flag=True, help="Also start the worker and ask the model for one word.")
@global_options
def doctor(options: Options, as_json: bool, model_too: bool) -> None:
    """Check this installation and this workspace, and finish what a killed process left.

    No model is started unless --model-too is given.
    """
    from steward.cli.house import rooms

    with rooms(options) as house:
        found = list(_checks(house, options))
        if model_too:
            import asyncio

            found += asyncio.run(_ask(house, options))
    if as_json:
        output.say_json([finding.to_json() for finding in found])
    else:
        output.say(_text(found))
    bad = sum(finding.state == "bad" for finding in found)
    if bad:
        raise Unwell(f"{output.plural(bad, 'check')} failed.")


def _checks(house: House, options: Options) -> Iterator[Finding]:
    from steward.cli.house import trusted
    from steward.service.confine import confinements
    from steward.service.doctor import examine, repository
    from steward.service.finding import Finding
    from steward.service.model_settings import model_of

    yield from examine(house, os.environ, chosen=options.model or "")
    yield from repository(house.trust.view(), forced=trusted(options, house.settings) is True)
    yield from confinements(house, model_of(options.model, house.settings, house.state.parent))
    try:
        notes = house.changes.recover()
    except StewardError as error:
        remedy = "What it names in the state directory's journal holds your old files; keep a copy before you mend it."
        yield Finding("recovery", "bad", str(error), remedy)
        return
    if not notes:
        yield Finding("recovery", "ok", "Nothing was left unfinished.")
    for sentence in notes:
        yield Finding("recovery", "warn", sentence, "It is done; look at these files before you go on.")


async def _ask(house: House, options: Options) -> list[Finding]:
    from steward.service.confine import confinement, gateway_for
    from steward.service.doctor import from_keyring, reached, worker
    from steward.service.model_settings import model_of

    model = model_of(options.model, house.settings, house.state.parent)
    gateway = gateway_for(house.settings, model)
    try:
        found = [await worker(gateway)]
        found.append(confinement(gateway, house.settings))
        found += from_keyring(gateway)
        if found[0].state != "bad":
            found.append(await reached(gateway, model, dict(house.settings.options)))
        return found
    finally:
        await gateway.close()


def _text(found: list[Finding]) -> str:
    marks = {"ok": "✓", "warn": "!", "bad": "✗"}
    rows = [
        [marks[f.state], f.name, f"{f.sentence} {f.remedy}".strip() if f.state != "ok" else f.sentence]
        for f in found
    ]
    return output.table(rows)
