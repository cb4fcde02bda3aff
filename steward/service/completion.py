"""Completes paths of the workspace as they are typed, from a list that is made once and refreshed when it is old."""

from __future__ import annotations

import threading
import time

from steward.workspace import Workspace

FRESH_SECONDS = 5.0
MOST = 200_000


class PathIndex:
    """The workspace's files that are not ignored."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._files: list[str] = []
        self._made = float("-inf")
        self._lock = threading.Lock()

    def complete(self, text: str, limit: int) -> tuple[str, ...]:
        """Paths that fit ``text``, best first: those that begin with it, then by fuzzy match."""
        files = self._listed()
        if not text:
            return tuple(sorted(files, key=lambda f: (f.count("/"), f))[:limit])
        begin = [file for file in files if file.startswith(text)]
        if len(begin) >= limit:
            return tuple(sorted(begin, key=lambda f: (f.count("/"), f))[:limit])
        from rapidfuzz import fuzz, process

        wanted = text.casefold()
        within = [file for file in files if wanted in file.casefold()] or files
        scored = process.extract(
            text, within, scorer=fuzz.WRatio, processor=str.casefold, limit=limit, score_cutoff=50
        )
        return tuple(dict.fromkeys((*begin, *(file for file, _, _ in scored))))[:limit]

    def _listed(self) -> list[str]:
        with self._lock:
            if time.monotonic() - self._made > FRESH_SECONDS:
                self._files = self._workspace.files(MOST)
                self._made = time.monotonic()
            return self._files
