"""What the process that reads the repository may still use once it is up, and the moment when it gives up the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from steward.confine.landlock import OWN, READ, RUN, USE, Grant, Ruleset, restricted, threads
from steward.confine.libraries import imported, libraries
from steward.confine.programs import loader_of
from steward.confine.seccomp import no_sockets

_SYSTEM = ("/proc/sys/fs/inotify", "/proc/meminfo", "/usr/share/terminfo", "/etc/terminfo", "/lib/terminfo",
           "/etc/os-release")  # fmt: skip
_DEVICES = ("/dev/null", "/dev/tty")


@dataclass(frozen=True, slots=True)
class Held:
    """What the kernel holds this process to."""

    files: bool = False
    programs: bool = False
    """Whether it can start none but ripgrep; so it is too where it is held to its files."""
    sockets: bool = False
    """Whether it can make none at all; else only TCP is closed, where Landlock knows of it."""
    tcp: bool = False
    loose: int = 0
    """Threads that were there before and are not held."""

    def __str__(self) -> str:
        """In a few words; empty for nothing."""
        programs = "its own files" if self.files else "no program but ripgrep" if self.programs else ""
        network = "no socket" if self.sockets else "no TCP" if self.tcp else ""
        words = " and ".join(filter(None, (programs, network)))
        return f"{words}, but for {self.loose} threads of libraries" if words and self.loose else words


def own_grants(
    workspace: Path, state: Path, program: str | None, reads: Iterable[Path] = ()
) -> Iterator[Grant]:
    """Workspace and state to work in, ``program`` (ripgrep) to start, and what is only read."""
    base = tuple(libraries())
    for path in (*base, *imported(base), *map(Path, _SYSTEM), *reads):
        yield Grant(path, READ)
    for name in _DEVICES:
        yield Grant(Path(name), USE)
    yield Grant(workspace, OWN)
    yield Grant(state, OWN)
    yield from program_grants(program)


def program_grants(program: str | None) -> Iterator[Grant]:
    """What starting ``program`` needs."""
    if program is not None:
        yield Grant(Path(program), RUN)
        if loader := loader_of(Path(program)):
            yield Grant(loader, RUN)


def hold(grants: Iterable[Grant], *, files: bool = True) -> Held:
    """Hold this thread and all it starts to the grants, without a network, for good; what holds now.

    Without ``files`` only the starting of programs is held to them. It belongs into the first thread, before there are
    others. Nothing is raised: a kernel may know none of it.
    """
    try:
        rules = Ruleset(grants, ports=(), handled=None if files else RUN & ~READ)
        try:
            rules.restrict()
        finally:
            rules.close()
    except OSError:
        return Held()
    return Held(files, True, no_sockets(), rules.version >= 4, max(0, threads() - 1))


def perhaps_why(error: BaseException) -> str:
    """A sentence to add to a failure that the kernel's confinement may be the reason of; empty for any other."""
    if not isinstance(error, PermissionError) or not restricted():
        return ""
    return " Should its confinement be why: STEWARD_CONFINE=false starts it without."
