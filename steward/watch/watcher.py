"""Non-recursive watches on named directories, bursts made one call, limits and faults said once."""

from __future__ import annotations

import errno
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent, FileSystemEventHandler
    from watchdog.observers.api import BaseObserver, ObservedWatch

    Watches = dict[Path, tuple[ObservedWatch, tuple[int, int]]]
    """By directory, with device and inode: one that was made again is another one."""

QUIET_SECONDS = 0.05
"""A burst is over when nothing has come for so long."""

LONGEST_SECONDS = 0.5
"""A burst that does not end is told after so long all the same."""

MOST_PATHS = 5000
"""Of a burst of more paths only their directories are told."""

PATIENCE = 0.1
"""Seconds that closing may take; threads that end later do no harm."""

_ELSE = "changes there are noticed when they are looked at."
_LIMITS = (errno.ENOSPC, errno.EMFILE, errno.ENFILE, errno.ENOMEM)


class Watcher:
    """Watches directories and calls ``changed`` with the paths that moved, from a thread of its own.

    A directory that vanishes is waited for: the nearest one above it that exists is watched in its place.
    ``limited`` is called with one sentence, each only once, when directories cannot be watched or watching has
    ended: what they hold must then be looked at when it is needed. Both calls may come from other threads.
    """

    def __init__(self, changed: Callable[[frozenset[Path]], None], limited: Callable[[str], None]) -> None:
        self._changed = changed
        self._limited = limited
        self._wanted: frozenset[Path] = frozenset()
        self._observer: BaseObserver | None = None
        self._watches: Watches = {}
        """What is watched. Other threads read it, so it is never changed, only replaced."""
        self._gone: set[Path] = set()
        """Directories that went away since they were last arranged: one that is made again may get the same inode."""
        self._arranging = threading.Lock()
        self._news = threading.Condition()
        self._moved: set[Path] = set()
        self._teller: threading.Thread | None = None
        self._said: set[str] = set()
        self._broken = False
        self._closed = False

    @property
    def directories(self) -> frozenset[Path]:
        """What is watched now."""
        return frozenset(self._watches)

    def watch(self, directories: Iterable[Path]) -> None:
        """Watch exactly these directories, and wait for those of them that do not exist."""
        self._wanted = frozenset(directories)
        self._arrange()

    def close(self) -> None:
        """Stop; no call comes afterwards. Takes no longer than ``PATIENCE``, whatever the threads do."""
        with self._news:
            self._closed = True
            self._news.notify()
        observer, self._observer = self._observer, None
        if observer is not None:
            ending = threading.Thread(target=observer.stop, daemon=True)
            ending.start()
            ending.join(PATIENCE)

    def _arrange(self) -> None:
        """Make what is watched fit what is wanted and what exists."""
        with self._arranging:
            if self._closed or self._broken:
                return
            needed = {place for directory in self._wanted if (place := _nearest(directory)) is not None}
            if not needed and self._observer is None:
                return
            observer = self._started()
            if observer is None:
                return
            if not _alive(observer):
                self._give_up(
                    "Watching files has stopped working; changes are noticed when they are looked at."
                )
                return
            watches = self._kept(observer, needed)
            refused: Counter[str] = Counter()
            for directory in needed - watches.keys():
                try:
                    watches[directory] = (_scheduled(observer, directory, self._event), _identity(directory))
                except (FileNotFoundError, NotADirectoryError):
                    continue
                except OSError as error:
                    refused[_reason(error)] += 1
            self._watches = watches
        for why, count in refused.items():
            self._say(why, f"{count} of {len(needed)} directories cannot be watched ({why.lower()}); {_ELSE}")

    def _kept(self, observer: BaseObserver, needed: set[Path]) -> Watches:
        """The watches that are still needed and still on what stands there; the others are given up."""
        with self._news:
            gone, self._gone = self._gone, set[Path]()
        kept: Watches = {}
        for directory, (watch, identity) in self._watches.items():
            if directory in needed and directory not in gone and _identity(directory) == identity:
                kept[directory] = (watch, identity)
            else:
                _unscheduled(observer, watch)
        return kept

    def _started(self) -> BaseObserver | None:
        if self._observer is None:
            import logging

            logging.getLogger("watchdog").addHandler(logging.NullHandler())
            try:
                from watchdog.observers import Observer

                observer = Observer()
                observer.daemon = True
                observer.start()
            except (OSError, ImportError):
                self._give_up(
                    "Files cannot be watched on this system; changes are noticed when they are looked at."
                )
                return None
            self._observer = observer
            self._teller = threading.Thread(target=self._tell, name="watcher", daemon=True)
            self._teller.start()
        return self._observer

    def _give_up(self, sentence: str) -> None:
        self._broken = True
        observer, self._observer = self._observer, None
        self._watches = {}
        if observer is not None:
            threading.Thread(target=observer.stop, daemon=True).start()
        self._say("broken", sentence)

    def _say(self, what: str, sentence: str) -> None:
        if what not in self._said:
            self._said.add(what)
            self._limited(sentence)

    def _event(self, event: FileSystemEvent) -> None:
        names = [os.fsdecode(name) for name in (event.src_path, event.dest_path) if name]
        with self._news:
            if event.is_directory and event.event_type in ("deleted", "moved"):
                self._gone.add(Path(os.fsdecode(event.src_path)))
            if len(self._moved) < MOST_PATHS:
                self._moved.update(map(Path, names))
            else:
                self._moved.update(Path(name).parent for name in names)
            self._news.notify()

    def _tell(self) -> None:
        """Wait for a burst and for its end, and tell it; until the watcher is closed."""
        while True:
            with self._news:
                while not self._moved and not self._closed:
                    self._news.wait()
                latest = time.monotonic() + LONGEST_SECONDS
                while not self._closed and self._news.wait(QUIET_SECONDS) and time.monotonic() < latest:
                    pass
                moved, self._moved = frozenset(self._moved), set[Path]()
            if self._closed:
                return
            if moved & (self._watches.keys() | self._wanted) or any(
                moved & set(w.parents) for w in self._missing()
            ):
                self._arrange()
            with self._news:
                if self._closed:
                    return
                self._changed(moved)

    def _missing(self) -> frozenset[Path]:
        return self._wanted - self._watches.keys()


def _nearest(directory: Path) -> Path | None:
    """The directory itself, or the nearest one above it that exists."""
    for place in (directory, *directory.parents):
        if os.path.isdir(place):  # noqa: PTH112 -- it never raises
            return place
    return None


def _identity(directory: Path) -> tuple[int, int]:
    try:
        found = directory.stat()
    except OSError:
        return (0, 0)
    return (found.st_dev, found.st_ino)


def _reason(error: OSError) -> str:
    return "the system's limit is reached" if error.errno in _LIMITS else os.strerror(error.errno or 0)


def _alive(observer: BaseObserver) -> bool:
    """Whether every thread that events go through still runs."""
    inner: Any = getattr(observer, "_inotify_fd", None)
    return observer.is_alive() and (inner is None or inner.is_alive())


def _unscheduled(observer: BaseObserver, watch: ObservedWatch) -> None:
    try:
        observer.unschedule(watch)
    except (KeyError, OSError):
        pass  # The directory went away by itself, and its watch with it.


def _scheduled(
    observer: BaseObserver, directory: Path, call: Callable[[FileSystemEvent], None]
) -> ObservedWatch:
    from watchdog import events

    if not os.access(directory, os.R_OK):  # Of this alone watchdog says nothing.
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    # Without a filter the watcher's own scans of the directory wake it, without end.
    return observer.schedule(
        _handler(call),
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


def _handler(call: Callable[[FileSystemEvent], None]) -> FileSystemEventHandler:
    from watchdog.events import FileSystemEventHandler

    class Handler(FileSystemEventHandler):
        def on_any_event(self, event: FileSystemEvent) -> None:
            call(event)

    return Handler()
