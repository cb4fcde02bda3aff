"""Non-recursive watches on named directories, bursts made one call, limits and faults said once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent, FileSystemEventHandler
    from watchdog.observers.api import BaseObserver, ObservedWatch

QUIET_SECONDS = 0.05
"""A burst is over when nothing has come for so long."""

LONGEST_SECONDS = 0.5
"""A burst that does not end is told after so long all the same."""


class Watcher:
    """Watches directories and calls ``changed`` with the paths that moved, from a thread of its own.

    ``limited`` is called with one sentence when directories cannot be watched: what they hold must then be
    looked at when it is needed. Both calls come from other threads.
    """

    def __init__(self, changed: Callable[[frozenset[Path]], None], limited: Callable[[str], None]) -> None:
        self._changed = changed
        self._limited = limited
        self._observer: BaseObserver | None = None
        self._watches: dict[Path, ObservedWatch] = {}
        self._vanished: list[ObservedWatch] = []
        self._lock = threading.Lock()
        self._moved: set[Path] = set()
        self._timer: threading.Timer | None = None
        self._since = 0.0
        self._said = False
        self._closed = False

    @property
    def directories(self) -> frozenset[Path]:
        """What is watched now."""
        return frozenset(self._watches)

    def watch(self, directories: Iterable[Path]) -> None:
        """Watch exactly these directories; those that do not exist are left out without a word."""
        wanted = {directory for directory in directories if directory.is_dir()}
        if self._closed or (not wanted and self._observer is None):
            return
        observer = self._started()
        if observer is None:
            return
        with self._lock:
            unwanted = self._vanished + [self._watches.pop(gone) for gone in set(self._watches) - wanted]
            self._vanished = []
        for watch in unwanted:
            try:
                observer.unschedule(watch)
            except (KeyError, OSError):
                pass  # The directory went away by itself, and its watch with it.
        refused = 0
        for directory in wanted - set(self._watches):
            try:
                self._watches[directory] = self._schedule(observer, directory)
            except OSError:
                refused += 1
        if refused and not self._said:
            self._said = True
            self._limited(
                f"{refused} of {len(wanted)} directories cannot be watched (the system's limit is reached); "
                "changes there are noticed when they are looked at."
            )

    def close(self) -> None:
        """Stop; no call comes afterwards."""
        self._closed = True
        with self._lock:
            if self._timer:
                self._timer.cancel()
        if self._observer is not None:
            self._observer.stop()
            self._observer.join(timeout=2)
            self._observer = None

    def _started(self) -> BaseObserver | None:
        if self._observer is None:
            import logging

            from watchdog.observers import Observer

            logging.getLogger("watchdog").addHandler(logging.NullHandler())
            observer = Observer()
            observer.daemon = True
            try:
                observer.start()
            except OSError:
                self._limited(
                    "Files cannot be watched on this system; changes are noticed when they are looked at."
                )
                self._closed = True
                return None
            self._observer = observer
        return self._observer

    def _schedule(self, observer: BaseObserver, directory: Path) -> ObservedWatch:
        from watchdog import events

        # Without a filter the watcher's own scans of the directory wake it, without end.
        return observer.schedule(
            _handler(self._event),
            str(directory),
            recursive=False,
            event_filter=[
                events.FileCreatedEvent,
                events.FileModifiedEvent,
                events.FileClosedEvent,
                events.FileDeletedEvent,
                events.FileMovedEvent,
                events.DirCreatedEvent,
                events.DirDeletedEvent,
                events.DirMovedEvent,
            ],
        )

    def _event(self, event: FileSystemEvent) -> None:
        names = [name for name in (event.src_path, event.dest_path) if name]
        with self._lock:
            if self._closed:
                return
            now = time.monotonic()
            if not self._moved:
                self._since = now
            self._moved.update(Path(name if isinstance(name, str) else name.decode()) for name in names)
            if self._timer and now - self._since < LONGEST_SECONDS:
                self._timer.cancel()
            elif self._timer and self._timer.is_alive():
                return
            self._timer = threading.Timer(QUIET_SECONDS, self._tell)
            self._timer.daemon = True
            self._timer.start()

    def _tell(self) -> None:
        with self._lock:
            moved, self._moved, self._timer = frozenset(self._moved), set[Path](), None
            if self._closed or not moved:
                return
            # A directory that is made again is another one: it gets a new watch at the next ``watch``.
            gone = [directory for directory in self._watches if directory in moved]
            self._vanished += [self._watches.pop(directory) for directory in gone]
        self._changed(moved)


def _handler(call: Callable[[FileSystemEvent], None]) -> FileSystemEventHandler:
    from watchdog.events import FileSystemEventHandler

    class Handler(FileSystemEventHandler):
        def on_any_event(self, event: FileSystemEvent) -> None:
            call(event)

    return Handler()
