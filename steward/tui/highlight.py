"""Syntax colours: which kind of token each piece of source text is. Pygments is imported at first use."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pygments.lexer import Lexer

Token = tuple[int, int, str]
"""Start and end within a line, in characters, and the kind: a key of ``Looks.syntax``."""

MAX_CHARACTERS = 200_000
"""Longest text that is coloured at once."""

_KINDS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("Comment", "Preproc"), "decorator"),
    (("Comment", "PreprocFile"), "string"),
    (("Comment",), "comment"),
    (("Keyword", "Constant"), "number"),
    (("Keyword", "Type"), "builtin"),
    (("Keyword",), "keyword"),
    (("Literal", "String", "Doc"), "comment"),
    (("Literal", "String"), "string"),
    (("Literal", "Number"), "number"),
    (("Literal",), "number"),
    (("Name", "Function"), "function"),
    (("Name", "Class"), "class"),
    (("Name", "Exception"), "class"),
    (("Name", "Namespace"), "class"),
    (("Name", "Builtin"), "builtin"),
    (("Name", "Decorator"), "decorator"),
    (("Name", "Tag"), "tag"),
    (("Name", "Attribute"), "attribute"),
    (("Name", "Label"), "attribute"),
    (("Operator", "Word"), "keyword"),
    (("Operator",), "operator"),
    (("Punctuation",), "operator"),
    (("Generic", "Heading"), "function"),
    (("Generic", "Subheading"), "function"),
    (("Generic", "Inserted"), "string"),
    (("Generic", "Deleted"), "tag"),
)


@lru_cache(maxsize=512)
def _kind(token_type: tuple[str, ...]) -> str:
    return next((kind for prefix, kind in _KINDS if token_type[: len(prefix)] == prefix), "")


@lru_cache(maxsize=64)
def lexer_for_language(language: str) -> Lexer | None:
    """The lexer for the name after a code fence, ``None`` when there is none."""
    from pygments.lexers import get_lexer_by_name  # pyright: ignore[reportUnknownVariableType]
    from pygments.util import ClassNotFound

    if not language or len(language) > 40:
        return None
    try:
        return get_lexer_by_name(language.lower(), stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


@lru_cache(maxsize=256)
def lexer_for_path(path: str) -> Lexer | None:
    """The lexer for a file's name, ``None`` when there is none."""
    from pygments.lexers import get_lexer_for_filename  # pyright: ignore[reportUnknownVariableType]
    from pygments.util import ClassNotFound

    try:
        return get_lexer_for_filename(path.rpartition("/")[2], stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def tokens_by_line(text: str, lexer: Lexer | None) -> list[list[Token]]:
    """The coloured pieces of each line of ``text``, lines cut at LF; empty lists where nothing is known."""
    lines: list[list[Token]] = [[]]
    if lexer is None or len(text) > MAX_CHARACTERS:
        return [[] for _ in range(text.count("\n") + 1)]
    column = 0
    for _, token_type, value in lexer.get_tokens_unprocessed(text):
        kind = _kind(tuple(token_type))
        for index, piece in enumerate(value.split("\n")):
            if index:
                lines.append([])
                column = 0
            if piece and kind:
                lines[-1].append((column, column + len(piece), kind))
            column += len(piece)
    return lines
