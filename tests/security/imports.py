"""What imports what, and what calls what by name, read from the source without running it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from tests.monorepo import PROJECT

PACKAGE = PROJECT / "steward"


@cache
def modules() -> Mapping[str, ast.Module]:
    """Every module of the package, by its dotted name."""
    return {_name(path): ast.parse(path.read_bytes()) for path in sorted(PACKAGE.rglob("*.py"))}


def _name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imported(module: str) -> frozenset[str]:
    """Modules of the package that a module imports anywhere, in a function too, with the packages that hold them."""
    found: set[str] = set()
    for node in ast.walk(modules()[module]):
        match node:
            case ast.Import(names):
                found.update(alias.name for alias in names)
            case ast.ImportFrom(str(source), names, 0):
                found.update((source, *(f"{source}.{alias.name}" for alias in names)))
            case ast.ImportFrom():
                raise AssertionError(f"{module} imports relatively; nobody here does")
            case _:
                pass
    holding = {".".join(name.split(".")[:n]) for name in found for n in range(1, name.count(".") + 2)}
    return frozenset(holding & modules().keys())


def reached(module: str) -> frozenset[str]:
    """Modules that are loaded, sooner or later, when a module is."""
    seen: set[str] = set()
    waiting = [module]
    while waiting:
        for name in imported(waiting.pop()) - seen:
            seen.add(name)
            waiting.append(name)
    return frozenset(seen)


def attributes(module: str) -> Iterator[tuple[str, str]]:
    """Every attribute that a module names, with the name it is taken from when that is a plain one."""
    for node in ast.walk(modules()[module]):
        if isinstance(node, ast.Attribute):
            yield (node.value.id if isinstance(node.value, ast.Name) else "", node.attr)


def names(module: str) -> frozenset[str]:
    """Every plain name that a module reads."""
    return frozenset(node.id for node in ast.walk(modules()[module]) if isinstance(node, ast.Name))
