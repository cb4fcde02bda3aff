"""Where skills are looked for, in the order in which they win."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from steward.skills.contain import Container, Place
from steward.skills.linked import linked
from steward.skills.skill import Source
from steward.visible import line

SHELF = "skills"
"""What a folder of skills is called."""

FOLDERS = ((".agents", SHELF), (".steward", SHELF), (".claude", SHELF))
"""Below a directory of the repository, in the order in which they win."""

ELSEWHERE = (
    (".codex", SHELF), (".cursor", SHELF), (".gemini", SHELF), (".github", SHELF), (".opencode", SHELF),
    (".opencode", "skill"), (".vibe", SHELF),
)  # fmt: skip
"""Where other programs keep skills that the specification gives no place for."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of discovery; each one that is hit is reported."""

    depth: int = 3
    """How many folders below a skills folder a skill may lie."""
    folders: int = 4_000
    """Folders looked into, over all places."""
    skills: int = 2_000
    skill_bytes: int = 262_144
    """Bytes of one SKILL.md."""
    total_bytes: int = 33_554_432
    """Bytes of all SKILL.md files together."""
    levels: int = 32
    """Directories between the focus and the boundary."""

    def __post_init__(self) -> None:
        for name in ("depth", "folders", "skills", "skill_bytes", "total_bytes", "levels"):
            if getattr(self, name) < 1:
                raise ValueError(f"The limit {name} of skills must be at least 1.")


@dataclass(frozen=True, slots=True)
class Root:
    """One folder of skills."""

    container: Container
    place: Place
    shown: str
    """The folder as people see it."""
    source: Source
    named: bool = False
    """Whether somebody has named it, so that it is missed where it is not there."""


@dataclass(frozen=True)
class Places:
    """All that discovery needs to know of this machine and this repository."""

    workspace: Path
    boundary: Path | None = None
    """Where looking upwards stops; the workspace when left out. May lie above it."""
    home: Path | None = None
    """The person's home directory; ``None`` looks for no skills of the person."""
    config: Path | None = None
    """The person's own configuration directory of the steward; ``HOME/.config/steward`` when left out."""
    extra: tuple[Path, ...] = ()
    """Further folders of skills from the person's own configuration, nearer than the ones below home."""
    folders: tuple[str, ...] = ()
    """Further folders of the repository, relative to the workspace."""
    trusted: bool = True
    """Whether skills of the repository are read at all."""
    accepts: Callable[[str, str], bool] | None = None
    """Whether a skill of the repository, by its location and digest, may be used; ``None`` accepts all."""
    shipped: bool = True
    limits: Limits = field(default_factory=Limits)

    @cached_property
    def root(self) -> Path:
        """The workspace's real path."""
        return self.workspace.resolve()

    @cached_property
    def top(self) -> Path:
        """The boundary's real path; the workspace's when the boundary does not hold it."""
        top = (self.boundary or self.workspace).resolve()
        return top if self.root.is_relative_to(top) else self.root

    def project(self, focus: str = ".") -> Iterator[Root]:
        """The folders of each directory from the focus up to the boundary, nearest first.

        ``focus`` is a path relative to the workspace, of a directory or a file that may not exist.
        """
        container = Container((self.top,))
        parts = [part for part in focus.split("/") if part not in ("", ".")]
        if ".." in parts:
            parts = []
        base = self.root.relative_to(self.top).parts
        levels = [(*base, *parts[:length]) for length in range(len(parts), -1, -1)]
        levels += [base[:length] for length in range(len(base) - 1, -1, -1)]
        for level in levels[: self.limits.levels]:
            for folder in FOLDERS:
                place = Place(self.top, (*level, *folder))
                yield Root(container, place, self.shown(place), "project")
        for folder in self.folders:
            named = tuple(part for part in folder.split("/") if part not in ("", "."))
            if named and ".." not in named:
                place = Place(self.top, (*base, *named))
                yield Root(container, place, self.shown(place), "project", named=True)

    def elsewhere(self) -> Iterator[Place]:
        """Folders of the workspace that other programs look for skills in, and that nobody has named here."""
        base = self.root.relative_to(self.top).parts
        named = {
            tuple(part for part in folder.split("/") if part not in ("", ".")) for folder in self.folders
        }
        for folder in ELSEWHERE:
            if folder not in named and self.root.joinpath(*folder).is_dir():
                yield Place(self.top, (*base, *folder))

    def personal(self) -> Iterator[Root]:
        """The folders of the person's own, in which links lead to single skills anywhere but in the repository."""
        folders: list[tuple[Path, str]] = [(path, _short(path, self.home)) for path in self.extra]
        if self.home is not None:
            config = self.config or self.home / ".config" / "steward"
            folders += [
                (self.home / ".agents" / "skills", "~/.agents/skills"),
                (config / "skills", _short(config / "skills", self.home)),
                (self.home / ".claude" / "skills", "~/.claude/skills"),
            ]
        real = [(path.expanduser().resolve(), shown) for path, shown in folders]
        links = {
            link: target
            for path, _ in real
            for link, target in linked(path)
            if not target.is_relative_to(self.top)
        }
        container = Container((*(path for path, _ in real), *links.values()), links)
        for number, (path, shown) in enumerate(real):
            yield Root(container, Place(path), shown, "user", named=number < len(self.extra))

    def own(self) -> Iterator[Root]:
        """The folder that ships with the package."""
        from importlib import resources

        path = Path(str(resources.files("steward.skills") / "shipped")).resolve()
        if self.shipped:
            yield Root(Container((path,)), Place(path), "shipped", "shipped")

    def allows(self, source: Source, location: str, digest: str) -> bool:
        """Whether a skill may be used as it is; only those of the repository are ever refused."""
        return source != "project" or self.accepts is None or self.accepts(location, digest)

    def shown(self, place: Place) -> str:
        """A place of the repository relative to the workspace, ``../`` above it; what is hidden in it is drawn."""
        path = place.path
        if path.is_relative_to(self.root):
            return line(path.relative_to(self.root).as_posix())
        up = len(self.root.relative_to(self.top).parts)
        common = 0
        for mine, theirs in zip(self.root.parts, path.parts, strict=False):
            if mine != theirs:
                break
            common += 1
        up = len(self.root.parts) - common
        return line("/".join([*[".."] * up, *path.parts[common:]]))

    def readable(self, place: Place) -> str | None:
        """The place as ``readFile`` takes it, when it lies inside the workspace."""
        path = place.path
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else None


def _short(path: Path, home: Path | None) -> str:
    """A path outside the repository without naming the machine's directories where that is possible."""
    if home is not None and path.is_relative_to(home):
        return "~/" + path.relative_to(home).as_posix()
    return path.name
