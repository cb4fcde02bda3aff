"""Parts an answer from the thoughts before it, where a server leaves them in the text, between ``<think>`` tags."""

from __future__ import annotations

from enum import Enum, auto

_TAGS = ("think", "thinking", "thought")


class _At(Enum):
    BEGINNING = auto()
    THOUGHT = auto()
    BETWEEN = auto()
    ANSWER = auto()


class Tagged:
    """A stream of text; only what it begins with can be a thought, so that tags may be spoken of in an answer."""

    def __init__(self) -> None:
        self._at = _At.BEGINNING
        self._held = ""
        self._end = ""

    def feed(self, text: str) -> tuple[str, str]:
        """What the text adds to the thought, and what to the answer; what could be half a tag waits for the rest."""
        if self._at is _At.ANSWER:
            return "", text
        self._held += text
        thought = ""
        if self._at is _At.BEGINNING:
            begin = self._held.lstrip()
            tag = next((tag for tag in _TAGS if begin.startswith(f"<{tag}>")), None)
            if tag is None:
                if any(f"<{tag}>".startswith(begin) for tag in _TAGS):
                    return "", ""
                self._at = _At.ANSWER
                return "", self._taken()
            self._at, self._end, self._held = _At.THOUGHT, f"</{tag}>", begin.removeprefix(f"<{tag}>")
        if self._at is _At.THOUGHT:
            thought, found, after = self._held.partition(self._end)
            if not found:
                half = max((n for n in range(len(self._end)) if thought.endswith(self._end[:n])), default=0)
                self._held = thought[len(thought) - half :]
                return thought[: len(thought) - half], ""
            self._at, self._held = _At.BETWEEN, after
        self._held = self._held.lstrip()
        if self._held:
            self._at = _At.ANSWER
        return thought, self._taken()

    def rest(self) -> tuple[str, str]:
        """What still waited when the stream ended."""
        held = self._taken()
        return (held, "") if self._at is _At.THOUGHT else ("", held)

    def _taken(self) -> str:
        held, self._held = self._held, ""
        return held


def answer_in(text: str) -> str:
    """The text without the thought that it begins with."""
    tagged = Tagged()
    return tagged.feed(text)[1] + tagged.rest()[1]
