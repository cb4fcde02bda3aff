"""Where Python and what it has imported lie: the folders that either process goes on reading."""

from __future__ import annotations

import os
import site
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import steward

_FOLDERS = frozenset({"site-packages", "dist-packages", "lib-dynload"})
_INSTALLED = (".dist-info", ".egg-info")
"""Beside packages that an installer has put into a folder of another name, as ``pip install --target`` does."""
_NEEDED = (
    "acp", "click", "jsonschema", "keyring", "litellm", "markdown_it", "openai", "opentelemetry", "platformdirs",
    "pydantic", "pygments", "regex", "rapidfuzz", "rich", "textual", "unidiff", "watchdog", "yaml",
)  # fmt: skip
"""Packages that may be imported late, and lie in a folder of sources where somebody works on one of them."""


def libraries() -> Iterator[Path]:
    """The steward's own package, Python's library, installed packages, and shared libraries of the system."""
    yield Path(steward.__file__).resolve().parent
    for prefix in {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}:
        for name in ("lib", "lib64", "share", "pyvenv.cfg"):
            yield Path(prefix) / name
    for entry in {*sys.path, site.getusersitepackages()}:
        yield from _packages(Path(entry))
    for name in ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/share/zoneinfo", "/nix/store",
                 "/etc/localtime", "/etc/ld.so.cache", "/proc/self", "/dev/urandom", "/dev/random"):  # fmt: skip
        yield Path(name)


def imported(known: Iterable[Path]) -> Iterator[Path]:
    """Packages that are loaded from elsewhere, as from a folder that PYTHONPATH names."""
    folders = tuple(f"{path}/" for path in known)
    for name, module in tuple(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if "." in name or not isinstance(file, str) or file.startswith(folders) or file[0] != os.sep:
            continue
        place = os.path.realpath(file)
        if not place.startswith(folders):
            yield Path(place).parent if Path(place).name.startswith("__init__.") else Path(place)


def _packages(entry: Path) -> Iterator[Path]:
    """What of an entry of the module path is read: a folder of installed packages whole, of another only packages."""
    if not entry.is_absolute():
        return
    if entry.name in _FOLDERS or entry.suffix in (".zip", ".pyz", ".pex", ".whl") or _is_installed(entry):
        yield entry
        yield from _linked(entry)
        return
    for name in _NEEDED:
        if (entry / name / "__init__.py").is_file():
            yield (entry / name).resolve()


def _is_installed(entry: Path) -> bool:
    with suppress(OSError), os.scandir(entry) as names:
        return any(name.name.endswith(_INSTALLED) for name in names)
    return False


def _linked(packages: Path) -> Iterator[Path]:
    """Where packages really are that an installer has linked instead of copied."""
    with suppress(OSError), os.scandir(packages) as entries:
        for entry in entries:
            if entry.is_symlink():
                yield Path(entry.path).resolve()
            elif entry.is_dir() and (first := Path(entry.path) / "__init__.py").is_symlink():
                yield first.resolve().parent
