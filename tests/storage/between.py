"""Lets another process act on a database before any one statement of the first one."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, TypeVar

import pytest

from steward.storage import Database

T = TypeVar("T")


class Between:
    """Acts before statement ``number`` of a connection, counted from 0."""

    def __init__(self, number: int, act: Callable[[], object]) -> None:
        self._number = number
        self._act = act
        self._seen = 0
        self._failed: list[BaseException] = []

    @property
    def reached(self) -> bool:
        """Whether there was such a statement. Raises what the act raised, since SQLite swallows that."""
        if self._failed:
            raise self._failed[0]
        return self._seen > self._number

    def watch(self, connection: sqlite3.Connection) -> None:
        """Count the statements of this connection from now on."""
        connection.set_trace_callback(self._statement)

    def watch_next(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Count the statements of the connection that is made next."""
        connect = sqlite3.connect

        def watched(*arguments: Any, **options: Any) -> sqlite3.Connection:
            monkeypatch.setattr(sqlite3, "connect", connect)
            connection = connect(*arguments, **options)
            self.watch(connection)
            return connection

        monkeypatch.setattr(sqlite3, "connect", watched)

    def _statement(self, _: str) -> None:
        self._seen += 1
        if self._seen == self._number + 1:
            try:
                self._act()
            except BaseException as error:
                self._failed.append(error)


def in_turns(
    database: Database, turn: Callable[[], tuple[Callable[[], T], Callable[[], object]]]
) -> Iterator[T]:
    """What the first deed gives when another process does the second one before one of its statements.

    ``turn`` makes both anew for each of the statements; the last one is done when the first deed is over.
    """
    connection = database._connection  # pyright: ignore[reportPrivateUsage]
    for number in count():
        first, second = turn()
        between = Between(number, second)
        between.watch(connection)
        try:
            given = first()
        finally:
            connection.set_trace_callback(None)
        if not between.reached:
            second()
        yield given
        if not between.reached:
            return
