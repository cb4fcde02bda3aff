"""``apply-change``, ``discard-change``, ``undo-change`` and ``rebase-change``: a person's word on a change."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from steward.cli import confirm, output
from steward.cli.completing import change_ids
from steward.cli.diff_text import review_text
from steward.cli.house import rooms
from steward.cli.options import Options, global_options
from steward.cli.recovery import recovered
from steward.errors import NeedsPerson, StaleProposal, UsageError, WrongStatus
from steward.visible import line

if TYPE_CHECKING:
    from steward.service import House
    from steward.service.views import Review

MIN_DIGITS = 12
"""Hex digits of a stamp that count as having read it."""


@click.command("apply-change")
@click.argument("change", required=False, metavar="[ID]", shell_complete=change_ids("pending"))
@click.option(
    "--stamp",
    metavar="DIGITS",
    help="The stamp of the diff you read: at least 12 hex digits, dashes allowed.",
)
@global_options
def apply_change(options: Options, change: str | None, stamp: str | None) -> None:
    """Apply a change; without ID the newest pending one.

    On a terminal it shows the diff and applies after you have typed the word apply. Without a terminal it needs
    --stamp, which show-change prints.
    """
    digits = None if stamp is None else parse_stamp(stamp)
    with rooms(options) as house:
        _apply(house, change, digits)


def _apply(house: House, change: str | None, digits: str | None) -> None:
    with recovered(house):
        review = house.changes.review(change)
    proposal = review.proposal
    if proposal.status != "pending":
        raise WrongStatus(proposal.id, proposal.status, "applied")
    if digits is not None:
        applied = house.changes.apply_stamped(proposal.id, digits)
    else:
        _read_and_typed(review)
        # The diff that was rendered on this terminal is the one that is applied.
        house.changes.shown(proposal)
        applied = house.changes.apply(proposal.id, proposal.stamp)
    output.say(f"{applied.id} applied: {output.listed(map(line, applied.paths))}.")
    _tell(applied.warnings)


def _read_and_typed(review: Review) -> None:
    """Show the diff and return once the person has typed the word."""
    change = review.proposal.id
    if not confirm.at_a_terminal():
        raise NeedsPerson(
            f"Applying {change} needs a person at a terminal, or --stamp with the stamp that show-change prints."
        )
    _refuse_stale(review)
    output.say_diff(review_text(review))
    question = f"\nType apply to write {change}, anything else to leave it pending: "
    if not confirm.asked_for("apply", question):
        output.note(f"{change} stays pending; nothing was written.")
        raise click.exceptions.Exit(1)


def _tell(sentences: Iterable[str]) -> None:
    for sentence in sentences:
        output.note(f"Warning: {line(sentence)}")


def _refuse_stale(review: Review) -> None:
    if review.stale:
        raise StaleProposal(review.proposal.id, tuple(stale.path for stale in review.stale))


def parse_stamp(text: str) -> str:
    """The hex digits of a stamp as a person gives it."""
    digits = text.replace("-", "").strip().lower()
    if not re.fullmatch(r"[0-9a-f]{1,64}", digits):
        raise UsageError("--stamp takes hex digits, as in 3f9a-1c2d-77b0.")
    if len(digits) < MIN_DIGITS:
        raise UsageError(f"--stamp needs at least {MIN_DIGITS} hex digits.")
    return digits


@click.command("discard-change")
@click.argument("change", metavar="ID", shell_complete=change_ids("pending"))
@click.option("--reason", default="", metavar="TEXT", help="Why; the model is told.")
@global_options
def discard_change(options: Options, change: str, reason: str) -> None:
    """Discard a pending change."""
    with rooms(options) as house:
        proposal = house.changes.discard(change, reason)
    output.say(f"{proposal.id} discarded.")


@click.command("undo-change")
@click.argument("change", required=False, metavar="[ID]", shell_complete=change_ids("applied"))
@global_options
def undo_change(options: Options, change: str | None) -> None:
    """Bring back what a change replaced; without ID what the last applied one did.

    Only files that still hold exactly what the change wrote are touched.
    """
    with rooms(options) as house:
        undone = house.changes.undo(change)
        output.say(f"{undone.id} undone: {output.listed(map(line, undone.paths))}.")
        _tell(undone.warnings)


@click.command("rebase-change")
@click.argument("change", metavar="ID", shell_complete=change_ids("pending"))
@global_options
def rebase_change(options: Options, change: str) -> None:
    """Re-anchor a stale change whose old text is still unique; read it again before applying it."""
    with rooms(options) as house:
        proposal = house.changes.rebase(change)
    output.say(f"{proposal.id} has the stamp {proposal.short_stamp} now; read it again before applying it.")
