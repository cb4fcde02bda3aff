"""Changes to apply and the files that they are made for, on the real disk and in the model."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from steward.proposals.proposal import FileChange, Proposal
from tests.proposals.model_disk import ModelDisk, ModelGround, Snapshot

File = tuple[bytes, int]
"""Bytes and mode."""


@dataclass(frozen=True, eq=False)
class Scene:
    """Files that exist, and a change of some of them."""

    files: dict[str, File]
    changes: tuple[FileChange, ...]

    @property
    def before(self) -> Snapshot:
        """The tree without the change."""
        return _tree(self.files)

    @property
    def after(self) -> Snapshot:
        """The tree with the whole change; directories that it emptied stay."""
        files = dict(self.files)
        for change in self.changes:
            if change.base is not None:
                files.pop(change.source, None)
        for change in self.changes:
            if change.result is not None:
                assert change.result_mode is not None
                files[change.path] = (change.result, change.result_mode)
        return {**{p: s for p, s in self.before.items() if s[0] == "directory"}, **_tree(files)}

    def proposal(self, workspace: str, id: str = "change-001") -> Proposal:
        """The change as it is proposed in a workspace."""
        return Proposal(id, "A change", "2026-01-01T00:00:00Z", self.changes, workspace)

    def in_model(self, *, ignore_case: bool = False, missing: tuple[str, ...] = ()) -> ModelDisk:
        """A model disk that holds the files, durably, and lacks some operations."""
        disk = ModelDisk(ignore_case=ignore_case)
        disk.missing = frozenset(missing)
        for path, (data, mode) in self.files.items():
            disk.put(path, data, mode)
        disk.settle()
        return disk

    def in_directory(self, root: Path) -> None:
        """Write the files into an empty or missing directory."""
        root.mkdir(parents=True, exist_ok=True)
        for path, (data, mode) in self.files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            target.chmod(mode)


def applied(proposal: Proposal) -> Proposal:
    """The same change once its new status is stored."""
    return replace(proposal, status="applied")


def snapshot(root: Path) -> Snapshot:
    """Everything in a real directory, links as kind ``link``."""
    found: Snapshot = {}
    for directory, names, files in os.walk(root):
        for name in (*names, *files):
            path = Path(directory, name)
            mode = path.lstat().st_mode
            kind = "directory" if stat.S_ISDIR(mode) else "file" if stat.S_ISREG(mode) else "other"
            entry = (kind, stat.S_IMODE(mode), path.read_bytes()) if kind == "file" else (kind, 0, b"")
            found[path.relative_to(root).as_posix()] = entry
    return found


def _tree(files: dict[str, File]) -> Snapshot:
    tree: Snapshot = {}
    for path, (data, mode) in files.items():
        for parent in PurePosixPath(path).parents:
            if parent.name:
                tree[parent.as_posix()] = ("directory", 0, b"")
        tree[path] = ("file", mode, data)
    return tree


EVERYTHING = Scene(
    files={
        "a.txt": (b"old a\n", 0o644),
        "run.sh": (b"#!/bin/sh\n", 0o644),
        "src/b.txt": (b"old b\n" * 30, 0o640),
        "src/e.txt": (b"old e\n", 0o644),
        "src/f.txt": (b"old f\n", 0o600),
        "src/bystander.txt": (b"not part of it\n", 0o644),
        "lib/g.txt": (b"", 0o644),
    },
    changes=(
        FileChange("a.txt", "modify", b"old a\n", b"the new a\n", 0o644, 0o644),
        FileChange("run.sh", "modify", b"#!/bin/sh\n", b"#!/bin/sh\n", 0o644, 0o755),
        FileChange("src/b.txt", "modify", b"old b\n" * 30, b"new b\n" * 40, 0o640, 0o640),
        FileChange("new/deep/c.txt", "create", None, b"created\n", None, 0o644),
        FileChange("src/d.txt", "create", None, b"", None, 0o644),
        FileChange("src/e.txt", "delete", b"old e\n", None, 0o644, None),
        FileChange("lib/f.txt", "rename", b"old f\n", b"new f\n", 0o600, 0o600, old_path="src/f.txt"),
    ),
)
"""Every kind of change over four directories, two of them new."""

SMALL = Scene(
    files={"a.txt": (b"old a\n", 0o644), "d/b.txt": (b"old b\n", 0o644)},
    changes=(
        FileChange("a.txt", "modify", b"old a\n", b"the new a\n", 0o644, 0o644),
        FileChange("d/b.txt", "delete", b"old b\n", None, 0o644, None),
        FileChange("n/c.txt", "create", None, b"created\n", None, 0o644),
    ),
)
"""One change of each kind of step."""

PAIR = Scene(
    files={"a.txt": (b"old a\n", 0o644), "d/b.txt": (b"old b\n", 0o644)},
    changes=(
        FileChange("a.txt", "modify", b"old a\n", b"the new a\n", 0o644, 0o644),
        FileChange("d/b.txt", "modify", b"old b\n", b"the new b\n", 0o644, 0o644),
    ),
)
"""Two files in two directories."""

SWAPPED = Scene(
    files={"one.txt": (b"first\n", 0o644), "two.txt": (b"second\n", 0o644), "three.txt": (b"third\n", 0o644)},
    changes=(
        FileChange("two.txt", "rename", b"first\n", b"first\n", 0o644, 0o644, old_path="one.txt"),
        FileChange("one.txt", "rename", b"second\n", b"second\n", 0o644, 0o644, old_path="two.txt"),
        FileChange("3.txt", "rename", b"third\n", b"third\n", 0o644, 0o644, old_path="three.txt"),
        FileChange("three.txt", "create", None, b"in its place\n", None, 0o644),
    ),
)
"""Two files trade their names, and a new file takes the name of a renamed one."""

CASE_ONLY = Scene(
    files={"Name.txt": (b"old\n", 0o644)},
    changes=(FileChange("name.txt", "rename", b"old\n", b"old\n", 0o644, 0o644, old_path="Name.txt"),),
)
"""A rename in which only case changes."""

GROUND = ModelGround()
