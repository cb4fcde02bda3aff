"""Every key of the screen, declared once: binding, name in ``[keys]``, row of the help, entry of the bar."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from textual.binding import Binding, BindingType

from steward.errors import ConfigError
from steward.service.commands import COMMANDS

if TYPE_CHECKING:
    from typing import Any

    from textual.app import App


@dataclass(frozen=True, slots=True)
class Key:
    """One deed of a key. ``keys`` are Textual's names, the first of them the one that is shown."""

    name: str
    keys: str
    action: str
    """Empty when the view looks for the key itself."""
    help: str
    short: str = ""
    """What the bar of keys calls it; empty for what the bar does not name."""
    priority: bool = False
    """It works whatever has the focus, before all keys that are not handled yet."""
    typing: bool = False
    """It works where text is typed, after that text, and so cannot be a key that types a character either."""


MAIN: tuple[Key, ...] = (
    *(
        Key(c.name, c.key, f"command('{c.name}')", c.help, c.short, priority=True)
        for c in COMMANDS
        if c.where == "main" and c.key
    ),
    Key("panel", "ctrl+b", "panel", "Show or hide the side panel", "panel", priority=True),
    Key("panel-narrower", "f7", "resize_panel(-4)", "Make the side panel narrower", priority=True),
    Key("panel-wider", "f8", "resize_panel(4)", "Make the side panel wider", priority=True),
    Key("calls", "ctrl+o", "fold", "Open or close all calls", "open calls"),
    Key("palette", "ctrl+p", "palette", "Find a command by its name", "palette", priority=True),
    Key("interrupt", "escape", "interrupt", "Stop the turn"),
    Key(
        "stop", "ctrl+c", "stop_or_leave", "Copy, stop or clear; twice within a second leaves", priority=True
    ),
    Key("suspend", "ctrl+z", "suspend_process", "Suspend the program", priority=True),
)
"""Keys of the conversation's screen."""

PROMPT: tuple[Key, ...] = (
    Key("send", "enter", "", "Send what is typed, or take the completion"),
    Key("newline", "ctrl+j,shift+enter,alt+enter,ctrl+enter", "", "Begin a new line"),
    Key("complete", "tab", "", "Take the completion; without one, walk through the conversation"),
    Key("undo-typing", "ctrl+underscore", "undo", "Take back the last change to what is typed"),
    Key("search-history", "ctrl+r", "search_history", "Search what you asked before"),
    Key("page-up", "pageup", "transcript('page_up')", "Conversation a page up"),
    Key("page-down", "pagedown", "transcript('page_down')", "Conversation a page down"),
    Key("scroll-up", "ctrl+up", "transcript('scroll_up')", "Conversation a line up"),
    Key("scroll-down", "ctrl+down", "transcript('scroll_down')", "Conversation a line down"),
    Key("conversation-top", "ctrl+home", "transcript('scroll_home')", "To the top of the conversation"),
    Key("conversation-end", "ctrl+end", "transcript('scroll_end')", "To the end of the conversation"),
)
"""Keys while typing."""

REVIEW: tuple[Key, ...] = (
    *(
        Key(c.name, c.key, f"decide('{c.name}')", c.help, c.short)
        for c in COMMANDS
        if c.where == "review" and c.key
    ),
    Key(
        "take-hunk",
        "space",
        "take_hunk",
        "Leave a hunk or a file out of the change, or take it again",
        "take/leave",
    ),
    Key("take-line", "x", "take_line", "Leave the line or the range out, or take it again", "line"),
    Key("comment", "c", "comment", "Comment on the line or the range; on a comment: change it", "comment"),
    Key("send-comments", "s", "send", "Send your comments to the model", "send"),
    Key("edit", "e", "edit", "Open what the change leaves in your editor", "edit"),
    Key("since", "i", "since", "Only what changed since your last look, or all", "since"),
    Key("search", "slash", "search", "Find text in the change", "find"),
    Key("back", "escape,q", "back", "Let the range go, or leave the review", "back"),
)
"""Keys of the review that decide or say something about the change."""

DIFF: tuple[Key, ...] = (
    Key("line-down", "j,down", "line(1)", "A line down"),
    Key("line-up", "k,up", "line(-1)", "A line up"),
    Key("range", "V", "range", "Begin a range of lines, or let it go", "range"),
    Key("range-down", "J,shift+down", "extend(1)", "The range a line further down"),
    Key("range-up", "K,shift+up", "extend(-1)", "The range a line further up"),
    Key("next-hunk", "right_square_bracket", "hunk(1)", "To the next hunk", "hunk"),
    Key("previous-hunk", "left_square_bracket", "hunk(-1)", "To the previous hunk"),
    Key(
        "go",
        "enter",
        "go",
        "To the file under the cursor; in a file: back to the list of files",
        "to the file",
    ),
    Key("next-file", "n", "file(1)", "To the next file", "file"),
    Key("previous-file", "p", "file(-1)", "To the previous file"),
    Key("top", "g,home", "edge(0)", "To the top"),
    Key("end", "G,end", "edge(1)", "To the end"),
    Key("diff-page-down", "pagedown", "page(1)", "A page down"),
    Key("diff-page-up", "pageup", "page(-1)", "A page up"),
    Key("sides", "v", "sides", "Side by side, or one column", "sides"),
    Key("widen", "w", "widen", "More lines around each hunk, up to the whole file", "wider"),
    Key("next-hit", "full_stop", "hit(1)", "To the next hit of the search"),
    Key("previous-hit", "comma", "hit(-1)", "To the previous hit"),
)
"""Keys that move in the review's diff."""

SESSIONS: tuple[Key, ...] = (
    Key("delete-stored", "ctrl+d", "delete", "Delete the session; asks once", "deletes", typing=True),
)
"""Keys in the list of sessions."""

SUMMARY: tuple[Key, ...] = (
    Key("accept-summary", "ctrl+s", "accept", "Go on from the summary as it stands", "accept", typing=True),
    Key("edit-summary", "ctrl+g", "edit", "Open the summary in your editor", "your editor", typing=True),
    Key("leave-summary", "escape", "leave", "Leave the conversation as it is", "leave all as it is"),
)
"""Keys while reading a summary."""

READING: tuple[Key, ...] = (
    Key("read-up", "up,k", "scroll_up", "A line up", "up"),
    Key("read-down", "down,j", "scroll_down", "A line down", "down"),
    Key("read-page-up", "pageup,b", "page_up", "A page up", "page up"),
    Key("read-page-down", "pagedown,f", "page_down", "A page down", "page down"),
    Key("read-top", "g,home", "scroll_home", "To the top", "top"),
    Key("read-end", "G,end", "scroll_end", "To the end", "end"),
)
"""Keys in the conversation, while it is walked through, and on a page."""

CALLS: tuple[Key, ...] = (
    Key("next-call", "n,right_square_bracket", "next_fold(1)", "To the next call or change", "next call"),
    Key("previous-call", "p,left_square_bracket", "next_fold(-1)", "To the previous one", "previous"),
    Key("open-call", "enter,space", "open", "Open or close it; on a change: review it", "open"),
    Key("leave-conversation", "escape,tab,i", "leave", "Back to the prompt", "prompt"),
)
"""Keys in the conversation alone."""

PAGE: tuple[Key, ...] = (
    Key("page-on", "space", "page_down", "A page down"),
    Key("leave-page", "escape,q", "dismiss", "Back", "back"),
)
"""Keys on a page: the manual, the workspace, the instructions."""

LIST: tuple[Key, ...] = (
    Key("pick", "enter", "pick", "Take the row", "picks"),
    Key("leave-list", "escape", "dismiss", "Back", "back"),
    Key("list-up", "up,ctrl+p", "move(-1)", "A row up", "up", typing=True),
    Key("list-down", "down,ctrl+n", "move(1)", "A row down", "down", typing=True),
    Key("list-page-up", "pageup", "move(-10)", "Ten rows up", typing=True),
    Key("list-page-down", "pagedown", "move(10)", "Ten rows down", typing=True),
)
"""Keys in a list to pick from."""

TRUST: tuple[Key, ...] = (
    Key("trust-all", "t", "decide('all')", "Trust every text that is listed", "trust all"),
    Key("trust-one", "o", "decide('one')", "Trust the chosen text alone", "only this one"),
    Key(
        "trust-decline", "x", "decide('decline')", "Go on without them and be asked no more", "go on without"
    ),
    Key(
        "trust-nothing", "N", "decide('nothing')", "Trust nothing of the repository any more", "trust nothing"
    ),
)
"""Keys in the list of texts that would steer the model."""

TABLES: tuple[tuple[str, tuple[Key, ...]], ...] = (
    ("Everywhere", MAIN),
    ("While typing", PROMPT),
    ("In the review", (*REVIEW, *DIFF)),
    ("While reading", READING),
    ("In the conversation", CALLS),
    ("On a page", PAGE),
    ("In a list", LIST),
    ("In the list of sessions", SESSIONS),
    ("In a summary", SUMMARY),
    ("In /trust", TRUST),
)
"""All of them, as the help shows them."""

TOGETHER = (*(keys for _, keys in TABLES), (*READING, *CALLS), (*READING, *PAGE), (*LIST, *SESSIONS))
"""Keys that work at the same time: no two of them may be the same."""

BY_NAME = {key.name: key for _, keys in TABLES for key in keys}

_SIGNS = {
    "right_square_bracket": "]",
    "left_square_bracket": "[",
    "slash": "/",
    "full_stop": ".",
    "comma": ",",
    "underscore": "_",
    "escape": "esc",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "question_mark": "?",
    "up": "↑",
    "down": "↓",
}


def bindings(keys: Iterable[Key]) -> list[BindingType]:
    """Textual's bindings, each under its name, so that a keymap reaches it."""
    return [
        Binding(key.keys, key.action, key.help, show=False, priority=key.priority, id=key.name)
        for key in keys
        if key.action
    ]


def keymap(wanted: Mapping[str, str]) -> dict[str, str]:
    """The person's ``[keys]`` table as Textual's keymap. Raises ``ConfigError`` for what makes no sense."""
    for name, keys in wanted.items():
        key = BY_NAME.get(name)
        if key is None:
            raise ConfigError(f"keys.{name}: there is no such key; /help keys lists them.")
        pieces = [piece.strip() for piece in keys.split(",")]
        if not all(re.fullmatch(r"[!-~]|[a-z0-9_]+(\+[a-zA-Z0-9_]+)*", piece) for piece in pieces):
            raise ConfigError(
                f"keys.{name}: a key is written as f5, ctrl+g or x; several are parted by commas."
            )
        if (key.priority or key.typing or key in PROMPT) and any(len(piece) == 1 for piece in pieces):
            raise ConfigError(
                f"keys.{name}: a key that types a character cannot be taken; use ctrl, alt or F keys."
            )
    for together in TOGETHER:
        used: dict[str, str] = {}
        for key in together:
            for piece in wanted.get(key.name, key.keys).split(","):
                other = used.setdefault(piece.strip(), key.name)
                if other != key.name and (key.name in wanted or other in wanted):
                    raise ConfigError(f"keys.{key.name}: {piece.strip()} already is the key of {other}.")
    return dict(wanted)


def keys_of(app: App[Any], name: str) -> tuple[str, ...]:
    """Textual's names of the keys that do something now."""
    changed = cast("dict[str, str]", app._keymap)  # pyright: ignore[reportPrivateUsage]
    return tuple(piece.strip() for piece in changed.get(name, BY_NAME[name].keys).split(","))


def covered(app: App[Any], action: str, parameters: tuple[object, ...]) -> bool:
    """Whether the screen on top has one of the keys by which this is done in the conversation for itself."""
    written = f"{action}({', '.join(map(repr, parameters))})" if parameters else action
    keys = {piece for key in MAIN if key.action == written for piece in keys_of(app, key.name)}
    own = {binding.id for _, binding in app.screen._bindings}  # pyright: ignore[reportPrivateUsage]
    return any(keys & {*keys_of(app, name)} for name in own if name in BY_NAME)


def sign(key: str) -> str:
    """A key as people write it: ``^B``, ``F4``, ``]``, ``esc``."""
    if re.fullmatch(r"f\d+", key):
        return key.upper()
    *more, last = key.split("+")
    last = _SIGNS.get(last, last)
    if more == ["ctrl"]:
        return "^" + (last.upper() if len(last) == 1 else last)
    return "+".join([*more, last])


def entry(app: App[Any], *names: str) -> tuple[str, str, str]:
    """An entry of the bar of keys: the keys of the names, the first one's word, and the key a click presses."""
    shown = " ".join(sign(keys_of(app, name)[0]) for name in names)
    return shown, BY_NAME[names[0]].short, keys_of(app, names[0])[0]


def foot(app: App[Any], *names: str | tuple[Key, ...]) -> str:
    """The line at the bottom of a page or a list: keys with their words, and those that only move."""
    parts: list[str] = []
    for name in names:
        if isinstance(name, str):
            parts.append(" ".join(entry(app, name)[:2]))
        else:
            parts.append(" ".join(sign(keys_of(app, key.name)[0]) for key in name) + " move")
    return " · ".join(parts)


def help_table(app: App[Any]) -> str:
    """All keys as they are now, as Markdown."""
    lines = ["# Keys", ""]
    for title, keys in TABLES:
        lines += [f"## {title}", "", "| Key | Name | What it does |", "|---|---|---|"]
        for key in keys:
            shown = " ".join(f"`{sign(piece)}`" for piece in keys_of(app, key.name))
            lines.append(f"| {shown} | {key.name} | {key.help} |")
        lines.append("")
    lines.append(
        "The arrow keys and the editing keys of a text stay as they are, and `Y` alone answers the review's question."
    )
    return "\n".join(lines)
