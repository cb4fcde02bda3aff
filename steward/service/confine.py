"""What the person's settings let either process use, and what the kernel holds them to."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from steward.confine.landlock import Ruleset, abi
from steward.confine.own import Held, hold, own_grants
from steward.confine.ports import local_ports, ports_in, ports_of
from steward.confine.programs import find_program
from steward.confine.worker import worker_grants
from steward.service.finding import Finding

if TYPE_CHECKING:
    from steward.config import Settings
    from steward.confine.landlock import Grant
    from steward.confine.outside import Outside
    from steward.model.gateway import Gateway
    from steward.service.house import House


# The worker


def gateway_for(settings: Settings, model: str, outside: Outside | None = None) -> Gateway:
    """A gateway whose worker is held to its files and to the ports of the person's models."""
    from steward.model.gateway import Gateway
    from steward.service.model_settings import clocks_of

    return Gateway(
        environment_of(settings),
        clocks=clocks_of(settings),
        confine=settings.confine,
        ports=worker_ports(settings, model, os.environ),
        models=models_of(settings, model),
        seeks=local_ports(settings.options, os.environ),
        outside=outside,
    )


def environment_of(settings: Settings) -> dict[str, str]:
    """What the worker is started with: the person's environment, and whether it may ask their keyring."""
    from steward.model.process import KEYRING

    return {**os.environ, KEYRING: "1"} if settings.keyring else dict(os.environ)


def models_of(settings: Settings, model: str) -> tuple[str, ...]:
    """The model in use and those of the person's profiles."""
    return tuple(dict.fromkeys((model, *(p.model for p in settings.profile.values() if p.model))))


def worker_ports(settings: Settings, model: str, environment: Mapping[str, str]) -> frozenset[int]:
    """The ports of the models and of the documents that settings name.

    As long as there is no model but the guide, servers on this machine are looked for, and so theirs too.
    """
    names = models_of(settings, model)
    found = ports_in(settings.instructions.files)
    for name in names:
        found |= ports_of(name, settings.options, environment)
    if all(name.startswith("offline/") for name in names):
        found |= local_ports(settings.options, environment)
    return found


# The process that reads the repository


def hold_steward(house: House, model: str) -> Held:
    """Hold this process to what it needs from here on, when the settings let it; see ``hold``."""
    return hold(steward_grants(house, model)) if house.settings.confine else Held()


def steward_grants(house: House, model: str) -> Iterator[Grant]:
    """Workspace and state, and to read: the person's configuration, documents and skills, and git's ignore files."""
    root, state = house.workspace.root, house.state.parent
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    return own_grants(root, state, find_program(root), _reads(house, model))


def _reads(house: House, model: str) -> Iterator[Path]:
    root, home = house.workspace.root, house.home
    if house.config_directory is not None:
        yield house.config_directory
    yield from house.instruction_settings().user_documents
    yield from house.reads
    for entry in house.settings.instructions.files:
        if "://" not in entry:
            yield from _named(entry, home)
    yield from _skills(house)
    yield from house.workspace.outside()
    for name in models_of(house.settings, model):
        if name.startswith("script/"):
            yield Path(name.removeprefix("script/")).absolute()
    if house.settings.instructions.boundary == "nearest" and (root / ".git" / "HEAD").is_file():
        return  # The boundary is the workspace itself; this is known without looking for documents.
    boundary = (root / house.boundary()).resolve()
    if boundary == root:
        return
    if home is None or not home.is_relative_to(boundary):
        yield boundary
        return
    # The home itself is a repository: what governs the workspace is read, and nothing else of it.
    for folder in root.parents:
        yield from (folder / name for name in (*_DOCUMENTS, *house.settings.instructions.fallback_names))
        yield from (folder / ".git" / name for name in ("HEAD", "config", "info/exclude"))
        yield from (folder / name / "skills" for name in (".agents", ".steward", ".claude"))
        if folder == boundary:
            break


def _skills(house: House) -> Iterator[Path]:
    """The folders of the person's own skills, and the skills that are linked into them.

    Importing the room that reads them takes longer than all the rest, so only a link does.
    """
    named = (entry for entry in house.settings.skills.directories if entry.startswith(("/", "~")))
    folders = [Path(entry).expanduser() for entry in named]
    if house.home is not None:
        folders += [
            house.home / name for name in (".agents/skills", ".config/steward/skills", ".claude/skills")
        ]
    if house.config_directory is not None:
        folders.append(house.config_directory / "skills")
    for folder in (one.resolve() for one in folders):
        yield folder
        if _holds_link(folder):
            from steward.skills.linked import linked

            yield from (target for _, target in linked(folder))


def _holds_link(folder: Path) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(entry.is_symlink() for entry in entries)
    except OSError:
        return False


_DOCUMENTS = ("AGENTS.md", "AGENTS.override.md")
_MAGIC = frozenset("*?[")


def _named(entry: str, home: Path | None) -> Iterator[Path]:
    """A configured document: its folder, so that it may be replaced or a pattern match more, else the file alone."""
    path = Path(entry).expanduser()
    if not path.is_absolute():
        return
    fixed = path
    while _MAGIC & set(str(fixed)):
        fixed = fixed.parent
    yield fixed
    if fixed.is_file() and home is not None and not home.is_relative_to(fixed.parent):
        yield fixed.parent


# What doctor says


def confinement(gateway: Gateway, settings: Settings) -> Finding:
    """What the kernel holds the running worker to; ask when it is ready."""
    if gateway.confined:
        return Finding(
            "confinement", "ok", f"The kernel holds the worker to its own {gateway.confined}. {_UDP}"
        )
    return _not_confined(settings, "The worker")


def confinements(house: House, model: str) -> Iterator[Finding]:
    """What the kernel would hold either process to: tried in children that do nothing else."""
    settings = house.settings
    ports = sorted(worker_ports(settings, model, os.environ))

    def steward() -> str:
        return str(hold_steward(house, model))

    def worker() -> str:
        rules = Ruleset(worker_grants(os.environ, ",".join(models_of(settings, model))), ports)
        rules.restrict()
        if rules.ports is None:
            return "its own files"
        return (
            f"its own files and ports {', '.join(map(str, ports))}" if ports else "its own files and no port"
        )

    for name, more, work in (
        (
            "The steward",
            "on the screen, with --plain and in ask; in acp, which serves many repositories, to no socket.",
            steward,
        ),
        ("The worker", _UDP, worker),
    ):
        said = _tried(work) if settings.confine else ""
        if said:
            sentence = f"{name} is held by the kernel to {said}{',' if name == 'The steward' else '.'} {more}"
            yield Finding("confinement", "ok", sentence)
        else:
            yield _not_confined(settings, name)


_UDP = "UDP, by which names are looked up, stays open."


def _tried(work: Callable[[], str]) -> str:
    """What ``work`` says in a child process; empty when it cannot."""
    if not hasattr(os, "fork"):
        return ""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(theirs, work().encode())
        finally:
            os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, "rb") as pipe:
        said = pipe.read().decode()
    os.waitpid(child, 0)
    return said


def _not_confined(settings: Settings, name: str) -> Finding:
    why, remedy = "Landlock is not to be had here", "A container may forbid it; the other bounds hold."
    if not settings.confine:
        why, remedy = "confine is off in your settings", "Set it to true."
    elif abi():
        why = "the kernel did not take the rules"
    return Finding("confinement", "warn", f"{name} is not confined by the kernel: {why}.", remedy)
