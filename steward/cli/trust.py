"""``trust``: what of a repository would steer the model, and the person's word that it may."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from steward.cli import output
from steward.cli.options import Options, global_options
from steward.conversation import JsonObject
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

    with rooms(options, stored_trust=True) as house:
        if forget:
            house.trust.forget()
            output.say("Nothing of this repository is used any more.")
            return 0
        view = house.trust.view()
        if as_json:
            output.say_json(_json(view))
            return 0
        output.say(_text(view, reading=reading))
        if view.trusted and not view.pending:
            output.say("All of it is trusted.")
            return 0
        if not yes and not _asked():
            output.note("Nothing was trusted.")
            return 5 if not sys.stdin.isatty() else 0
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
        if house.trust.trusted and not house.trust.differs():
            return True
        view = house.trust.view()
        if not view.pending:
            return True
        output.say(_text(view, reading=False))
        while True:
            output.say("\n[t] trust these texts  [r] read them  [Enter] go on without them  [q] leave")
            output.flush()
            match _key():
                case "t" | "T":
                    house.trust.accept(view.digests)
                    return True
                case "r" | "R":
                    output.say(_text(view, reading=True))
                case "\r" | "\n" | "n" | "N":
                    house.trust.decline()
                    return True
                case "q" | "Q" | "\x1b" | "\x03" | "\x04":
                    return False
                case _:
                    pass


def _key() -> str:
    if sys.platform != "win32":
        import termios

        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    return click.getchar()


def _asked() -> bool:
    """Whether a person at a terminal typed the word."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        output.note("Say --yes to trust it without a terminal.")
        return False
    output.flush()
    return bool(
        click.prompt("Type trust to use these texts", default="", show_default=False).strip() == "trust"
    )


def _text(view: TrustView, *, reading: bool) -> str:
    rows = [f"{view.root} is {'trusted' if view.trusted else 'not trusted'}."]
    if not view.items:
        return f"{rows[0]}\nIt holds no instructions, skills or configuration."
    listed = [[item.state, item.kind, line(item.path), _size(item)] for item in view.items]
    rows.append(output.table(listed))
    for item in view.items:
        rows += [f"{line(item.path)} {warning}." for warning in item.warnings]
    if view.incomplete:
        rows.append("There are more documents than were looked for; each is asked about when it is met.")
    rows += [f"{line(path)} was trusted and is gone." for _, path in view.gone]
    if reading or any(item.state == "changed" for item in view.items):
        for item in view.pending if not reading else view.items:
            body = item.difference or (item.text if reading else "")
            if body:
                rows += ["", f"== {line(item.path)}", visible(body, keep="\n\t").rstrip("\n")]
    return "\n".join(rows)


def _size(item: TrustItem) -> str:
    return "" if item.kind == "url" else f"{item.bytes:,} bytes"


def _json(view: TrustView) -> JsonObject:
    return {
        "trusted": view.trusted,
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
