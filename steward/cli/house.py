"""Puts the house together: workspace, settings and state directory become one ``Steward``."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from steward.cli.options import Options
from steward.errors import NoSuchThing, StorageError, UsageError

if TYPE_CHECKING:
    from steward.config import Settings
    from steward.confine.outside import Outside
    from steward.service import House, Steward


def state_directory() -> Path:
    """``STEWARD_STATE_DIR``, else where this system keeps a user's state."""
    chosen = os.environ.get("STEWARD_STATE_DIR", "").strip()
    try:
        if chosen:  # Whatever sets it need not be a shell, so that ~ may have been left to us.
            return Path(chosen).expanduser().absolute()
        from platformdirs import user_state_dir

        return Path(user_state_dir("steward", appauthor=False)).absolute()
    except RuntimeError:
        raise StorageError(
            "There is no home directory; set STEWARD_STATE_DIR to a directory of your own."
        ) from None


def configuration_directory() -> Path | None:
    """Where the user's own configuration stands, whether or not it is there; ``None`` without a home."""
    from platformdirs import user_config_dir

    try:
        return Path(user_config_dir("steward", appauthor=False)).absolute()
    except RuntimeError:
        return None


def configuration_file(options: Options) -> Path | None:
    """``--config``, else the user's own file."""
    directory = configuration_directory()
    return options.config or (directory and directory / "config.toml")


def settings_of(options: Options) -> Settings:
    """The settings in force: ``--config``, else the user's file, and the environment over it."""
    from steward.config import load

    return load(configuration_file(options), os.environ, required=options.config is not None)


def workspace_root(options: Options, start: Path | None = None) -> Path:
    """``--workspace`` as it is; else the repository that holds ``start``, or the current directory."""
    from steward.workspace import find_root

    if options.workspace is not None and start is None:
        return _directory(options.workspace, of_file=False)
    place = _directory(start or _current_directory())
    return find_root(place)


def target_in(root: Path, options: Options, path: str | None) -> str:
    """A path that a person typed, relative to the workspace.

    It is taken relative to the current directory when that lies in the workspace and ``--workspace`` was not
    given, else relative to the workspace.
    """
    if path is None:
        return "."
    typed = Path(path)
    if not typed.is_absolute():
        here = _current_directory().resolve()
        if options.workspace is not None or not here.is_relative_to(root.resolve()):
            return path
        typed = here / path
    plain = Path(os.path.normpath(typed))
    for base in (root, root.resolve()):
        if plain.is_relative_to(base):
            return plain.relative_to(base).as_posix()
    raise UsageError(f"{path} is outside the workspace.")


@contextmanager
def rooms(
    options: Options,
    reads: tuple[Path, ...] = (),
    *,
    start: Path | None = None,
    stored_trust: bool = False,
) -> Generator[House, None, None]:
    """The rooms that need neither a model nor a screen, for one command.

    With ``stored_trust`` only what the person accepted counts, whatever options and settings say.
    """
    from steward.service.house import House, home_directory

    settings = settings_of(options)
    house = House(
        workspace_root(options, start),
        settings,
        state=state_directory(),
        home=home_directory(),
        config_directory=configuration_directory(),
        reads=reads,
        profile=options.profile or "",
        trusted=None if stored_trust else trusted(options, settings),
    )
    try:
        yield house
    finally:
        house.close()


def trusted(
    options: Options, settings: Settings, *, asked: bool = False
) -> bool | Literal["undecided"] | None:
    """Which texts of the repository count; see ``House``.

    ``asked``: what is not accepted is not used, since it would be sent to a model. Else it is only shown to the person,
    for as long as nobody asked them about it.
    """
    if options.trust or settings.trust == "always":
        return True
    return None if asked or settings.trust == "require" else "undecided"


def new_steward(
    options: Options,
    *,
    settings: Settings | None = None,
    start: Path | None = None,
    reads: tuple[Path, ...] = (),
    worker: bool = True,
    watch: bool = True,
    asked: bool = False,
    outside: Outside | None = None,
) -> Steward:
    """The whole house, not started yet. ``asked``: only texts of the repository that the person accepted are used.

    ``outside``, where it has a helper, starts the worker; this process is confined by ``Steward.hold``.
    """
    from steward.cli.log import log_to
    from steward.service import open_steward

    state = state_directory()
    log_to(state)
    settings = settings or settings_of(options)
    return open_steward(
        workspace_root(options, start),
        settings,
        state=state,
        model=options.model,
        worker=worker,
        watch=watch,
        config_directory=configuration_directory(),
        reads=reads,
        profile=options.profile or "",
        trusted=trusted(options, settings, asked=asked),
        outside=outside,
        configuration=options.config,
    )


@asynccontextmanager
async def running(steward: Steward) -> AsyncGenerator[Steward, None]:
    """Start it, and close it at the end."""
    try:
        await steward.start()
        yield steward
    finally:
        await steward.close()


def _current_directory() -> Path:
    try:
        return Path.cwd()
    except OSError:
        raise UsageError("The current directory is no longer there.") from None


def _directory(path: Path, *, of_file: bool = True) -> Path:
    """An existing directory: ``path`` itself, or with ``of_file`` the one that holds it when it is a file."""
    try:
        if path.is_dir():
            return path.absolute()
        if of_file and path.exists():
            return path.absolute().parent
    except OSError:
        pass
    raise NoSuchThing("directory", path.name or str(path))
