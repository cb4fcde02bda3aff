"""What the terminal sends: keys are keys, and whatever is in a paste stays a paste."""

from __future__ import annotations

import pytest
from textual import events
from textual.message import Message

from steward.tui.terminal import PATIENCE, TerminalParser

HOSTILE = "a\x1b[31mred\x1b[0m\x1b\r\x1b]52;c;eA==\x07\tay\rlast, and longer than any sequence\x1b[A\x1b"


def _told(message: Message) -> str:
    match message:
        case events.Paste(text=text):
            return f"paste {text}"
        case events.Key(key=key):
            return key
        case _:
            return type(message).__name__


def _fed(*pieces: str) -> list[str]:
    parser = TerminalParser()
    return [_told(message) for piece in pieces for message in parser.feed(piece)]


def test_a_paste_with_escapes_and_line_ends_gives_no_key() -> None:
    assert _fed(f"x\x1b[200~{HOSTILE}\x1b[201~y") == ["x", f"paste {HOSTILE}", "y"]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 40])
def test_a_paste_is_one_paste_however_it_is_read(size: int) -> None:
    text = f"\x1b[200~{HOSTILE}\x1b[201~"
    pieces = [text[0:2], *(text[at : at + size] for at in range(2, len(text), size))]
    assert _fed(*pieces) == [f"paste {HOSTILE}"]


def test_two_pastes_in_one_read_are_two() -> None:
    assert _fed("\x1b[200~a\x00\x1b[201~\x1b[200~b\x1b[201~") == ["paste a", "paste b"]


def test_a_paste_that_begins_at_the_end_of_a_long_read_is_found() -> None:
    assert _fed("k" * 2000 + "\x1b", "[200~a\rb\x1b[201~")[-1] == "paste a\rb"


@pytest.mark.parametrize(
    ("sent", "keys"),
    [
        ("\x1b\r", ["alt+enter"]),
        ("\r", ["enter"]),
        ("\x1b[A", ["up"]),
        ("\x1b[2~", ["insert"]),
        ("ab\x1b[B", ["a", "b", "down"]),
    ],
)
def test_keys_are_what_they_were(sent: str, keys: list[str]) -> None:
    assert _fed(sent) == keys
    assert _fed(*sent) == keys


def test_what_might_have_begun_a_paste_is_kept_back_only_for_a_moment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    moment = 0.0
    monkeypatch.setattr("steward.tui.terminal.monotonic", lambda: moment)
    parser = TerminalParser()
    assert not [*parser.feed("\x1b[2"), *parser.tick()]
    moment += PATIENCE
    list(parser.tick())
    assert [_told(message) for message in parser.feed("~")] == ["insert"]
