"""Slips of models in the texts of a patch, told so that the next call is right, before they become a change."""

from __future__ import annotations

import re
from collections.abc import Callable

from steward.visible import line

_PROSE = (".md", ".mdx", ".markdown", ".rst", ".txt", ".adoc", ".patch", ".diff", ".csv", ".tsv")
"""Files in which fences, ellipses and signs at the head of a line may be what is meant."""

_NUMBERED = re.compile(r"[ \t]*(\d+)\t")
_FENCED = re.compile(r"\s*(`{3,}|~{3,})[^\n]*\n(?:.*\n)?\s*\1\s*", re.DOTALL)
_BLOCK = re.compile(r"^(?:<{5,9} ?(?:SEARCH|ORIGINAL)|>{5,9} ?(?:REPLACE|UPDATED))\b", re.MULTILINE)
_DIFF = re.compile(
    r"^(?:@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@|\*\*\* (?:Begin Patch|Update File:))", re.MULTILINE
)
_QUOTED = re.compile(r"""(["'`])(?:\\.|(?!\1)[^\\\n])*\1""")
_WRITTEN_OUT = re.compile(r"(?<!\\)(?:\\r)?\\n(?=\\n|\\t|[ \t]|$)")
_LEFT_OUT = re.compile(
    r"[ \t]*(?://|#|--|/\*|<!--|;|%|\{/\*)[ \t]*(?:"
    r"(?:\.{3}|…).{0,40}\b(?:existing|rest|remaining|unchanged|same|previous|omitted)\b.*"
    r"|(?:the )?(?:rest of (?:the |your |this )?|(?:existing|remaining) (?=\w+[ .…]+(?:\.{3}|…|\w)))"
    r"(?:code|file|function|class|method|implementation|module|component|content)s?"
    r"(?: (?:is|are|stays?|remains?|goes|unchanged|the same|here|as before))*[ .…]*"
    r")[ \t]*(?:\*/\}?|-->)?[ \t]*",
    re.IGNORECASE,
)


def in_new(path: str, old: str, new: str) -> str:
    """One sentence on what of ``new`` cannot be meant to stand in the file; empty when nothing is odd.

    What ``old`` holds too is meant. Each sentence says what to write instead.
    """
    checks: list[Callable[[str, str], str]] = [_line_numbers, _search_blocks, _line_breaks]
    if not path.lower().endswith(_PROSE):
        checks += [_fence, _diff, _left_out]
    return next((said for check in checks if (said := check(old, new))), "")


def in_old(old: str) -> str:
    """What of an ``old`` that is nowhere in the file was not copied from it; empty when nothing is odd."""
    if said := _search_blocks("", old):
        return said
    if _FENCED.fullmatch(old):
        return "oldText is wrapped in a Markdown fence (```), which the file does not hold; leave its two lines out."
    if _DIFF.search(old):
        return "oldText is a diff; give only the lines as they stand in the file, without @@ lines and signs."
    return ""


def _line_numbers(old: str, new: str) -> str:
    numbers = _numbers(new)
    if (
        not numbers
        or _numbers(old)
        or not old
        or numbers != list(range(numbers[0], numbers[0] + len(numbers)))
    ):
        return ""
    return (
        f"newText begins its lines with the numbers of readFile (from {numbers[0]}); they are no part of the file. "
        "Leave each number and the tab after it out."
    )


def _numbers(text: str) -> list[int]:
    """The number at the head of each line that is not blank; none unless all have one."""
    rows = [row for row in text.split("\n") if row.strip()]
    found = [_NUMBERED.match(row) for row in rows]
    return [int(match[1][:9]) for match in found if match] if all(found) else []


def _search_blocks(old: str, new: str) -> str:
    if not _BLOCK.search(new) or _BLOCK.search(old):
        return ""
    return (
        "A SEARCH/REPLACE block is not understood: give the lines below <<<<<<< SEARCH as oldText, those below ======= "
        "as newText, and none of the three marker lines."
    )


def _line_breaks(old: str, new: str) -> str:
    many = not old or "\n" in old
    if not many or "\n" in new or not _WRITTEN_OUT.search(_QUOTED.sub("", new)):
        return ""
    return (
        "newText has its line breaks written out as \\n, a backslash and an n, and would be one long line. In JSON a "
        'line break is "\\n" with one backslash, not two.'
    )


def _fence(old: str, new: str) -> str:
    if not _FENCED.fullmatch(new) or old.lstrip().startswith(("```", "~~~")):
        return ""
    return (
        "newText is wrapped in a Markdown fence (```), which would be written too; leave its two lines out."
    )


def _diff(old: str, new: str) -> str:
    rows = [row for row in new.split("\n") if row.strip()]
    added = bool(rows) and all(row.startswith("+") for row in rows)
    if not (_DIFF.search(new) or added) or _DIFF.search(old) or old.lstrip().startswith("+"):
        return ""
    return "newText is a diff; give the new lines as they are to stand in the file, without @@ lines and + or - signs."


def _left_out(old: str, new: str) -> str:
    known = {row.strip() for row in old.split("\n")}
    for number, row in enumerate(new.split("\n"), 1):
        if row.strip() not in known and _LEFT_OUT.fullmatch(row.rstrip("\r")):
            return (
                f"Line {number} of newText, {line(row.strip())[:80]}, stands for text that was left out; nothing is "
                "filled in for it. Give the whole text, or replace only the lines that change."
            )
    return ""
