"""One run of ripgrep, which names the files that are worth a look; what is in them is read through the workspace."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING

from steward.workspace import RepoPath, Workspace
from steward.workspace.policy import SECRET_GLOBS

if TYPE_CHECKING:
    import subprocess

MAX_NAMES_BYTES = 64 * 1024 * 1024
MAX_ERROR_BYTES = 1024 * 1024
MAX_RULES = 500
MEMORY_BYTES = 4 * 1024**3
"""Address space of a run; a file without line breaks is held in memory as a whole."""

ARGUMENTS = (
    "--no-config",
    "--files-with-matches",
    "--null",
    "--color=never",
    "--case-sensitive",
    "--hidden",
    "--no-ignore",
    "--no-follow",
    "--one-file-system",
    "--no-mmap",
    "--no-pre",
    "--no-search-zip",
    "--no-multiline",
    "--no-crlf",
    "--no-text",
    "--no-binary",
    "--encoding=auto",
    "--engine=default",
    "--glob=!.git",
)
"""What every run begins with: nothing of the user's or the repository's configuration takes part."""

_ERROR = re.compile(r"rg: \./(.*): [^:]* \(os error \d+\)")


class Ripgrep:
    """A run over the files at or beneath ``start``, begun when this is made and ended by ``close``.

    It may name files that are ignored or out of bounds. It does not name files that match one of ``left_out``,
    which are lines of an ignore file at the top, or that lie on another device. ``endings`` are the ends of names
    of which one must match the file or a directory above it; none means any. Raises ``OSError`` when it cannot
    be started.
    """

    def __init__(
        self,
        program: str,
        workspace: Workspace,
        start: RepoPath,
        pattern: str,
        *,
        fixed: bool,
        left_out: Sequence[str] = (),
        endings: Sequence[str] = (),
    ) -> None:
        arguments = [program, *ARGUMENTS]
        for ending in endings:
            arguments += [f"--glob=*{ending}", f"--glob=**/*{ending}/**"]
        arguments += [f"--glob=!{rule}" for rule in left_out[:MAX_RULES]]
        if not workspace.policy.secrets_allowed:
            arguments += [f"--iglob=!{glob}" for glob in SECRET_GLOBS]
        arguments += ["--fixed-strings"] if fixed else []
        arguments += ["--", pattern, "/".join((".", *start.parts))]
        self._names = b""
        self._errors = b""
        self._process: subprocess.Popen[bytes] = _begun(workspace, arguments)
        out, err = self._process.stdout, self._process.stderr
        assert out is not None
        assert err is not None
        self._threads = (
            threading.Thread(target=self._read_names, args=(out,), daemon=True),
            threading.Thread(target=self._read_errors, args=(err,), daemon=True),
        )
        for thread in self._threads:
            thread.start()

    def wait(self, seconds: float) -> bool:
        """Whether it is done, at the latest after so many seconds."""
        for thread in self._threads:
            thread.join(seconds)
        return not any(thread.is_alive() for thread in self._threads)

    def named(self) -> dict[str, set[str]] | None:
        """The files it named, and those it could not read, as names by directory (empty, or with a slash at its end).

        To be asked when it is done; ``None`` when it failed.
        """
        code = self._process.wait()
        errors = [line for line in os.fsdecode(self._errors).split("\n") if line]
        unread = [_ERROR.fullmatch(line) for line in errors]
        if code not in (0, 1) and (code != 2 or not errors):
            return None
        if None in unread or len(self._names) > MAX_NAMES_BYTES or len(self._errors) > MAX_ERROR_BYTES:
            return None
        found = self.so_far()
        for error in filter(None, unread):
            _add(found, error[1])
        return found

    def so_far(self) -> dict[str, set[str]]:
        """The files it had named when it ended or was ended."""
        found: dict[str, set[str]] = {}
        for name in os.fsdecode(self._names).split("\0")[:-1]:
            _add(found, name.removeprefix("./"))
        return found

    def close(self) -> None:
        """End it if it still runs."""
        self._process.kill()
        for thread in self._threads:
            thread.join()
        self._process.wait()
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()

    def _read_names(self, stream: IO[bytes]) -> None:
        self._names = _all(stream, MAX_NAMES_BYTES)

    def _read_errors(self, stream: IO[bytes]) -> None:
        self._errors = _all(stream, MAX_ERROR_BYTES)


def _begun(workspace: Workspace, arguments: list[str]) -> subprocess.Popen[bytes]:
    """The process, in the workspace's directory whatever its path leads to by now, with an empty environment."""
    import subprocess

    descriptor = workspace.open_directory(RepoPath())
    try:
        by_descriptor = f"/proc/self/fd/{descriptor}"
        process = subprocess.Popen(
            [os.fsencode(argument) for argument in arguments],
            cwd=by_descriptor if os.path.isdir(by_descriptor) else workspace.root,  # noqa: PTH112 -- never raises
            env={},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    finally:
        os.close(descriptor)
    if sys.platform == "linux":
        import resource

        try:
            resource.prlimit(process.pid, resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        except (OSError, ValueError):
            pass  # It has ended already, or the limit is lower than that.
    return process


def _add(found: dict[str, set[str]], path: str) -> None:
    above, slash, name = path.rpartition("/")
    found.setdefault(above + slash, set()).add(name)


def _all(stream: IO[bytes], most: int) -> bytes:
    """What the stream gives, or a little more than ``most`` of it; the rest is read and dropped."""
    pieces: list[bytes] = []
    size = 0
    while piece := stream.read(65536):
        if size <= most:
            pieces.append(piece)
            size += len(piece)
    return b"".join(pieces)
