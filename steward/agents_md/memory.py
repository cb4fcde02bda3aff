"""A file system in memory, so that a program which uses a resolver can be tested without a disk."""

from __future__ import annotations

import errno
import os
import posixpath
import stat
from collections.abc import Mapping
from dataclasses import dataclass

from steward.agents_md.files import Calls, CallsFolder, Stat


@dataclass(frozen=True, slots=True)
class Link:
    """A symbolic link to ``target``."""

    target: str


class Memory:
    """Files by their path beneath ``root``: text, bytes or a ``Link``; directories come into being by themselves.

    A path that ends with ``/`` is an empty directory. The mapping may be changed between two resolutions.
    """

    def __init__(self, tree: Mapping[str, str | bytes | Link], root: str = "/repository") -> None:
        self.tree = tree
        self.root = root
        self._seen: dict[str, str | bytes | Link] | None = None
        self._made: dict[str, str | bytes | Link | None] = {}
        self._inodes: dict[str, int] = {}
        self._calls = Calls(self._stat, self._read, self._names, self._link)

    def open(self, path: str) -> CallsFolder | None:
        """The directory at ``path``."""
        return self._calls.open(path)

    def stat(self, path: str) -> Stat | None:
        """What is at ``path``."""
        return self._calls.stat(path)

    def real(self, path: str) -> str:
        """``path`` with every link followed."""
        return self._calls.real(path)

    def _nodes(self) -> dict[str, str | bytes | Link | None]:
        if self._seen != self.tree:
            self._seen = dict(self.tree)
            self._made = self._make()
            self._inodes = {path: number for number, path in enumerate(sorted(self._made), start=2)}
        return self._made

    def _make(self) -> dict[str, str | bytes | Link | None]:
        nodes: dict[str, str | bytes | Link | None] = {}
        for name, value in self.tree.items():
            path = posixpath.join(self.root, name)
            if path.endswith("/"):
                nodes[path.rstrip("/")] = None
            else:
                nodes[path] = value
            while path != "/":
                path = posixpath.dirname(path.rstrip("/"))
                nodes.setdefault(path, None)
        return nodes

    def _stat(self, path: str) -> Stat | None:
        nodes = self._nodes()
        parent, name = posixpath.split(path)
        if parent not in nodes or isinstance(nodes[parent], Link):
            parent = self.real(parent)  # only the last part of a path is not followed
        path = posixpath.join(parent, name)
        if path not in nodes:
            return None
        value = nodes[path]
        match value:
            case None:
                mode, size = stat.S_IFDIR | 0o755, 0
            case Link(target):
                mode, size = stat.S_IFLNK | 0o777, len(target)
            case _:
                mode, size = stat.S_IFREG | 0o644, len(_data(value))
        return os.stat_result((mode, self._inodes[path], 1, 1, 0, 0, size, 0, 0, 0))

    def _read(self, path: str) -> bytes:
        value = self._nodes().get(self.real(path))
        if not isinstance(value, str | bytes):
            raise FileNotFoundError(errno.ENOENT, "no such file")
        return _data(value)

    def _names(self, path: str) -> list[str]:
        prefix = path.rstrip("/") + "/"
        return sorted(
            {node[len(prefix) :] for node in self._nodes() if posixpath.dirname(node) == path} - {""}
        )

    def _link(self, path: str) -> str:
        value = self._nodes().get(path)
        if not isinstance(value, Link):
            raise OSError(errno.EINVAL, "not a link")
        return value.target


def _data(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value
