"""Every command a person can give, declared once: key binding, palette entry, slash command and manual row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Argument = Literal[
    "none", "change", "path", "model", "topic", "text", "session", "skill", "question", "profile"
]


@dataclass(frozen=True, slots=True)
class Command:
    """One command. ``name`` is also its slash name; ``key`` is Textual's name of a key, empty for none."""

    name: str
    help: str
    key: str = ""
    argument: Argument = "none"
    """What may follow the name; an argument of a command is always optional."""
    where: Literal["main", "review"] = "main"
    """On which screen the key works; the slash name works in the prompt always."""
    short: str = ""
    """What a bar of keys calls it; empty for what such a bar does not name."""


COMMANDS: tuple[Command, ...] = (
    Command("help", "Show the manual, or one topic of it", "f1", "topic", short="help"),
    Command("workspace", "Show the workspace, its boundary and what the tools may touch"),
    Command(
        "instructions",
        "Show which AGENTS.md documents govern a path, and why",
        "f2",
        "path",
        short="instructions",
    ),
    Command("changes", "List the changes, pending ones first", "f3", short="changes"),
    Command("show-change", "Review a change as a diff", "f4", "change", short="review"),
    Command("apply-change", "Apply a change after showing its diff", "a", "change", "review", short="apply"),
    Command(
        "discard-change", "Discard a pending change, with a reason", "d", "change", "review", short="discard"
    ),
    Command("undo-change", "Bring back what a change replaced", "u", "change", "review", short="undo"),
    Command(
        "rebase-change",
        "Re-anchor a stale change; it must be read again",
        "b",
        "change",
        "review",
        short="rebase",
    ),
    Command("new", "Start a new conversation", "ctrl+n"),
    Command(
        "sessions", "List the sessions of this workspace, or those that hold some words", argument="text"
    ),
    Command("resume", "Go on with a stored session: search, pick or delete one", argument="session"),
    Command("rename", "Give this session another title", argument="text"),
    Command("delete-session", "Delete a stored session; its changes stay", argument="session"),
    Command("fork", "Begin again before an earlier question, and ask it otherwise", argument="question"),
    Command("compact", "Make room: the model sums up, you read, edit and accept"),
    Command("summary", "Read or change the summary that a compacted session goes on from"),
    Command("context", "Show what fills the model's window, part by part"),
    Command("cost", "Show what the last turn and the session have used"),
    Command("ask", "Ask beside this conversation, under a profile of your settings", argument="profile"),
    Command("model", "Show or choose the model", "f6", "model", short="model"),
    Command("check-model", "Examine a model and say what it is fit for; esc stops it", argument="model"),
    Command("skills", "List the skills, where they come from and what is wrong with any"),
    Command("skill", "Load a skill by hand, for your next question", argument="skill"),
    Command("init", "Have this repository studied, and an AGENTS.md proposed or mended", argument="text"),
    Command("trust", "Show what of this repository steers the model, read it, and decide"),
    Command("copy", "Copy the last answer, or its code block of that number", argument="text"),
    Command(
        "export", "Write the conversation to a file you name: Markdown, or .jsonl to replay", argument="text"
    ),
    Command("attach", "Send the output of your last !command along with the next question"),
    Command("filter", "Side panel: pending, stale, applied or all changes in turn", "f5"),
    Command("exit", "Leave", "ctrl+q"),
)


def find(name: str) -> Command | None:
    """The command of that name, without its slash."""
    return next((command for command in COMMANDS if command.name == name), None)
