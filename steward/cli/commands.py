"""Every command of the command line, declared once; its module is imported when the command is used."""

from __future__ import annotations

import importlib
from dataclasses import dataclass

import click


@dataclass(frozen=True, slots=True)
class Entry:
    """One command: where its click command lives and what the list of commands says about it."""

    name: str
    usage: str
    help: str
    module: str
    attribute: str

    @property
    def where(self) -> str:
        """The module in full."""
        return f"steward.cli.{self.module}"


ENTRIES: tuple[Entry, ...] = (
    Entry("open", "[PATH]", "Open the screen in the repository that holds PATH", "screen", "open_screen"),
    Entry("ask", "QUESTION", "Ask one question without the screen", "ask", "ask"),
    Entry("changes", "", "List the pending changes", "changes", "changes"),
    Entry("show-change", "[ID]", "Show a change as a diff", "changes", "show_change"),
    Entry("apply-change", "[ID]", "Apply a change after showing its diff", "decide", "apply_change"),
    Entry("discard-change", "ID", "Discard a pending change", "decide", "discard_change"),
    Entry("undo-change", "[ID]", "Bring back what a change replaced", "decide", "undo_change"),
    Entry("rebase-change", "ID", "Re-anchor a stale change", "decide", "rebase_change"),
    Entry("propose", "--patch FILE", "Make a pending change of a unified diff", "propose", "propose"),
    Entry("instructions", "[PATH]", "Show which documents govern a path", "instructions", "instructions"),
    Entry("tool", "NAME ARGUMENTS", "Run one tool as the model would", "tool", "tool"),
    Entry("skills", "[check [DIR]]", "List the skills, or check those in a directory", "skills", "skills"),
    Entry("trust", "", "Show what of the repository steers the model, and allow it", "trust", "trust"),
    Entry(
        "config",
        "[edit]",
        "Show every setting and where it comes from",
        "config",
        "config",
    ),
    Entry("sessions", "", "List, search or export the sessions of this workspace", "sessions", "sessions"),
    Entry("replay", "FILE", "Run an exported session again and compare the requests", "replay", "replay"),
    Entry("rename-session", "ID TITLE", "Give a session another title", "sessions", "rename_session"),
    Entry("delete-session", "ID", "Delete a session", "sessions", "delete_session"),
    Entry("doctor", "", "Check this installation and this workspace", "doctor", "doctor"),
    Entry(
        "check-model", "[MODEL]", "Examine a model and say what it is fit for", "check_model", "check_model"
    ),
    Entry("help", "[TOPIC]", "Show the manual", "manual", "manual"),
    Entry("completion", "SHELL", "Print the completion script of a shell", "completion", "completion"),
    Entry("acp", "", "Serve an editor over the Agent Client Protocol", "acp", "acp"),
)


def command(name: str) -> click.Command | None:
    """The click command of that name, imported now, with what its page says below the options."""
    entry = find(name)
    if entry is None:
        return None
    from steward.cli.pages import below

    made: click.Command = getattr(importlib.import_module(entry.where), entry.attribute)
    made.epilog = below(name)
    return made


def find(name: str) -> Entry | None:
    """The command of that name."""
    return next((entry for entry in ENTRIES if entry.name == name), None)
