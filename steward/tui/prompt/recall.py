"""What was typed before, walked with up and down; the line being typed is kept meanwhile."""

from __future__ import annotations


class Recall:
    """Earlier prompts, oldest first."""

    def __init__(self) -> None:
        self._entries: list[str] = []
        self._at: int | None = None
        self._kept = ""

    def load(self, entries: tuple[str, ...]) -> None:
        """Put stored prompts before those of this run."""
        self._entries = [*entries, *self._entries]
        if self._at is not None:
            self._at += len(entries)

    def remember(self, prompt: str) -> None:
        """Add a prompt that was sent."""
        if not self._entries or self._entries[-1] != prompt:
            self._entries.append(prompt)
        self.rest()

    def rest(self) -> None:
        """Back to the line being typed."""
        self._at, self._kept = None, ""

    def older(self, typed: str) -> str | None:
        """The prompt before the one shown; ``None`` at the oldest."""
        if self._at is None:
            if not self._entries:
                return None
            self._kept, self._at = typed, len(self._entries)
        if self._at == 0:
            return None
        self._at -= 1
        return self._entries[self._at]

    def newer(self) -> str | None:
        """The prompt after the one shown, in the end the line that was being typed; ``None`` when on it."""
        if self._at is None:
            return None
        self._at += 1
        if self._at < len(self._entries):
            return self._entries[self._at]
        kept = self._kept
        self.rest()
        return kept
