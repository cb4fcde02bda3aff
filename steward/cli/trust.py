"""``trust``: what of a repository would steer the model, and the person's word that it may."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from steward.cli import output
from steward.cli.options import Options, global_options
from steward.conversation import JsonObject
from steward.errors import NeedsPerson, UsageError
from steward.visible import line, visible

if TYPE_CHECKING:
    from steward.service.trust import TrustItem, TrustView


@click.command()
@click.option("--yes", is_flag=True, help="Trust what is listed, without asking.")
@click.option("--forget", is_flag=True, help="Trust nothing here any more.")
@click.option("--read", "reading", is_flag=True, help="Print each text in full, or how it differs.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and trust nothing.")
@global_options
def trust(options: Options, yes: bool, forget: bool, reading: bool, as_json: bool) -> int:
    """Show what of this repository would steer the model, and let it.

    These are its instruction documents, skills and configuration. Each counts only in the very words that were
    shown; when one changes, the difference is shown before the new text is used.
    """
    from steward.cli.house import rooms

    if forget and (yes or reading or as_json):
        raise UsageError("--forget goes with no other option.")
    with rooms(options, stored_trust=True) as house:
        if forget:
            house.trust.forget()
            output.say("Nothing of this repository is used any more; steward trust and /trust ask again.")
            return 0
        view = house.trust.view()
        if as_json:
            output.say_json(_json(view, declined=house.trust.declined()))
            return 0
        output.say(listed(view, reading=reading))
        if view.trusted and not view.pending:
            output.say("All of it is trusted.")
            return 0
        if not yes and not _asked():
            output.note("Nothing was trusted.")
            return 1
        house.trust.accept(view.digests)
        output.say("Trusted.")
    return 0


def before_screen(options: Options, start: Path | None) -> bool:
    """Ask at a terminal, by one key, about texts that nobody has accepted yet; whether the screen should open.

    Only the key t trusts. What was typed before the question stood there is thrown away.
    """
    from steward.cli.house import rooms, settings_of, trusted

    if trusted(options, settings_of(options), asked=True):
        return True
    with rooms(options, start=start, stored_trust=True) as house:
        view = house.trust.unasked()
        if view is None:
            return True
        output.say(listed(view, numbered=True))
        output.say("\nThe model would be told what these texts say. Nothing of them has been used so far.")
        one = f"[1-{min(len(view.items), 9)}] read one  " if len(view.items) > 1 else ""
        while True:
            output.say(f"\n[t] trust these texts  {one}[r] read them  [Enter] go on without them  [q] leave")
            output.flush()
            match _key():
                case "t" | "T":
                    house.trust.accept(view.digests)
                    return True
                case "r" | "R":
                    output.say(listed(view, reading=True))
                case "\r" | "\n" | "n" | "N":
                    house.trust.decline(view.digests)
                    output.say("They are not used. /trust and steward trust ask again.")
                    return True
                case "q" | "Q" | "\x1b" | "\x03" | "\x04":
                    return False
                case key if key.isdigit() and 0 < int(key) <= len(view.items):
                    output.say(read(view.items[int(key) - 1]))
                case _:
                    pass


def _key() -> str:
    if sys.platform != "win32":
        import termios

        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    return click.getchar()


def _asked() -> bool:
    """Whether a person at a terminal typed the word, after the question stood there."""
    from steward.cli import confirm

    if not confirm.at_a_terminal():
        raise NeedsPerson("Trusting needs a person at a terminal, or --yes; nothing was trusted.")
    return confirm.asked_for("trust", "Type trust to use these texts: ")


def listed(view: TrustView, *, reading: bool = False, numbered: bool = False) -> str:
    """What trusting would mean, in lines; with ``reading`` every text in full."""
    rows = [f"{line(str(view.root))} is {'trusted' if view.trusted else 'not trusted'}."]
    if not view.items:
        return f"{rows[0]}\nIt holds no instructions, skills or configuration."
    cells = [[item.state, item.kind, line(item.path), _size(item)] for item in view.items]
    if numbered:
        cells = [[str(number) if number < 10 else "", *row] for number, row in enumerate(cells, 1)]
    rows.append(output.table(cells))
    for item in view.items:
        rows += [f"{line(item.path)} {warning}." for warning in item.warnings]
    if view.incomplete:
        rows.append("There are more documents than were looked for; each is asked about when it is met.")
    rows += [f"{line(path)} was trusted and is not loaded any more." for _, path in view.gone]
    if reading or any(item.state == "changed" for item in view.items):
        for item in view.pending if not reading else view.items:
            if item.difference or (reading and item.kind != "url"):
                rows += ["", read(item)]
    return "\n".join(rows)


def read(item: TrustItem) -> str:
    """One text in full, or how it differs from what was accepted; and what a reader may overlook in it.

    Each of its lines is set off, so that none can pass for a heading or a question of ours.
    """
    warnings = [f"It {warning}." for warning in item.warnings]
    body = visible(item.difference or item.text, keep="\n\t").rstrip("\n").split("\n")
    return "\n".join([f"== {line(item.path)}", *warnings, *(f"| {row}".rstrip() for row in body)])


def _size(item: TrustItem) -> str:
    return "" if item.kind == "url" else f"{item.bytes:,} bytes"


def _json(view: TrustView, *, declined: bool) -> JsonObject:
    return {
        "trusted": view.trusted,
        "declined": declined,
        "incomplete": view.incomplete,
        "items": [
            {
                "kind": item.kind,
                "path": item.path,
                "state": item.state,
                "bytes": item.bytes,
                "sha256": item.sha256,
                "warnings": list(item.warnings),
                "difference": item.difference,
            }
            for item in view.items
        ],
        "gone": [path for _, path in view.gone],
    }
