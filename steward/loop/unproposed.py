"""Says when a turn ended as if there were a change and made none: judged by what happened, not by what was asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from steward.events import Notice

_FENCE = re.compile(
    r"^[ \t]*(`{3,}|~{3,})[ \t]*([^\s`]*)[^\n]*\n(.*?)(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)
_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@|^--- \S.*\n\+\+\+ \S", re.MULTILINE)
_NO_CODE = frozenset({
    "", "text", "txt", "plain", "plaintext", "output", "console", "terminal", "sh", "bash", "shell", "zsh", "fish",
    "powershell", "cmd", "bat", "log", "markdown", "md", "mermaid", "tree", "math", "latex", "csv", "http", "regex",
})  # fmt: skip
_FEWEST = 3
"""Lines of code that are worth a word."""


def unproposed(answer: str, refused: int, given: Iterable[str]) -> Notice | None:
    """What to say of a turn in which nothing was proposed; ``None`` when there is nothing to say.

    ``refused`` is how many patches of the turn were refused, ``given`` what the model was given in this conversation:
    code that stands there is shown, not suggested.
    """
    if refused:
        times = (
            "the one patch of this turn was" if refused == 1 else f"all {refused} patches of this turn were"
        )
        return Notice(f"Nothing was proposed: {times} refused.", "warning")
    known = frozenset(line for text in given for line in _lines(text))
    for label, body in _blocks(answer):
        if label in ("diff", "patch") or _HUNK.search(body):
            changed = re.findall(r"^[+-](?!--|\+\+).*", body, re.MULTILINE)
            if any(_bare(line) not in known for line in changed):
                return Notice(
                    "The answer holds a diff, but nothing was proposed, so there is nothing to apply; ask for it.",
                    "warning",
                )
        elif label not in _NO_CODE:
            lines = list(_lines(body))
            new = [line for line in lines if line not in known]
            if len(new) >= _FEWEST and 2 * len(new) > len(lines):
                return Notice(
                    "The answer shows new code, but nothing was proposed, so there is nothing to apply."
                )
    return None


def _blocks(answer: str) -> Iterator[tuple[str, str]]:
    """Label and body of each fenced block."""
    for match in _FENCE.finditer(answer):
        yield match[2].lower().lstrip("{.").rstrip("}"), match[3]


def _lines(text: str) -> Iterator[str]:
    """Lines without their spaces and without the number that ``readFile`` puts before them; blank ones left out."""
    for line in text.split("\n"):
        for form in {line, re.sub(r"^\s*\d+\s*[:|\t]", "", line)}:
            bare = _bare(form)
            if bare:
                yield bare


def _bare(line: str) -> str:
    return "".join(line.split())
