"""A path inside the workspace, parsed once at the door; whoever holds one need not check it again."""

from __future__ import annotations

from dataclasses import dataclass

from steward.errors import PathRefused
from steward.visible import line

MAX_NAME_BYTES = 255
MAX_PATH_BYTES = 4095


@dataclass(frozen=True, slots=True, order=True)
class RepoPath:
    """Names from the workspace's root downwards; none is empty, ``.`` or ``..``, none holds ``/`` or NUL.

    It says nothing about what is on disk: links, protected areas and kinds are the workspace's business.
    """

    parts: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> RepoPath:
        """The path that ``text`` names, taken literally: ``~``, ``%2e``, ``[id]`` and ``\\`` mean themselves.

        ``.`` and ``..`` are resolved on the text alone. Raises ``PathRefused`` of kind ``empty``, ``nul``,
        ``absolute``, ``escapes``, ``too-long`` or ``not-text`` (a lone surrogate).
        """
        if not text:
            raise PathRefused("empty", text, "The path is empty; '.' is the workspace itself.")
        if "\0" in text:
            raise PathRefused("nul", text, f"The path {quoted(text)} holds a NUL character.")
        if text.startswith("/"):
            raise PathRefused(
                "absolute",
                text,
                "Absolute paths are refused; paths are relative to the workspace, like src/app.py.",
            )
        parts: list[str] = []
        for name in text.split("/"):
            if name in ("", "."):
                continue
            if name == "..":
                if not parts:
                    raise PathRefused("escapes", text, f"The path {quoted(text)} leaves the workspace.")
                parts.pop()
                continue
            parts.append(name)
        return cls.of(parts)

    @classmethod
    def of(cls, parts: list[str] | tuple[str, ...]) -> RepoPath:
        """The path of names that hold no ``/``; checks that they are text and not too long."""
        path = cls(tuple(parts))
        total = -1
        for name in parts:
            try:
                size = len(name) if name.isascii() else len(name.encode("utf-8"))
            except UnicodeEncodeError:
                raise PathRefused(
                    "not-text", path.text, f"The path {quoted(path.text)} is not valid UTF-8."
                ) from None
            if size > MAX_NAME_BYTES:
                raise PathRefused(
                    "too-long",
                    path.text,
                    f"The path holds a name of {size} bytes; at most {MAX_NAME_BYTES} are possible.",
                )
            total += size + 1
        if total > MAX_PATH_BYTES:
            raise PathRefused(
                "too-long",
                path.text,
                f"The path is {total} bytes long; at most {MAX_PATH_BYTES} are possible.",
            )
        return path

    @property
    def text(self) -> str:
        """The names joined by ``/``; ``.`` for the root."""
        return "/".join(self.parts) or "."

    @property
    def parent(self) -> RepoPath:
        """The directory that holds it; the root is its own parent."""
        return RepoPath(self.parts[:-1])

    @property
    def name(self) -> str:
        """The last name; empty for the root."""
        return self.parts[-1] if self.parts else ""

    def child(self, name: str) -> RepoPath:
        """The path of ``name`` in this directory; ``name`` must be one valid name, as ``readdir`` gives it."""
        return RepoPath((*self.parts, name))

    def within(self, directory: RepoPath) -> bool:
        """Whether it is ``directory`` or lies beneath it."""
        return self.parts[: len(directory.parts)] == directory.parts

    def __str__(self) -> str:
        return self.text


ROOT = RepoPath()


def is_text(name: str) -> bool:
    """Whether a name is UTF-8 on disk; in one that is not, a lone surrogate stands for each odd byte."""
    if name.isascii():
        return True
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def quoted(text: str) -> str:
    """A path as it stands in a sentence: on one line, nothing hidden, cut in the middle when long."""
    if len(text) > 160:
        text = f"{text[:100]}…{text[-50:]}"
    return line(text)
