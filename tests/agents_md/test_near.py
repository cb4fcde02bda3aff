"""Near misses are found, kept no longer than the directory stays as it is, and never cost much."""

from __future__ import annotations

import os
import posixpath
import time
from pathlib import Path

from steward.agents_md import Disk, Folder, Memory, Resolver
from steward.agents_md.near import NearMisses


class CountingFolder:
    """A folder that counts how often its names were asked for."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.listed = 0

    def stat(self, name: str) -> os.stat_result | None:
        return self.folder.stat(name)

    def enter(self, name: str) -> Folder | None:
        return self.folder.enter(name)

    def names(self, most: int) -> list[str]:
        self.listed += 1
        return self.folder.names(most)

    def read(self, name: str, most: int) -> tuple[bytes, os.stat_result]:
        return self.folder.read(name, most)

    def close(self) -> None:
        self.folder.close()


def opened(directory: Path) -> CountingFolder:
    folder = Disk().open(str(directory))
    assert folder is not None
    return CountingFolder(folder)


def test_a_directory_that_was_just_changed_is_listed_again(tmp_path: Path) -> None:
    near = NearMisses(("AGENTS.md",))
    folder = opened(tmp_path)
    assert near.look(folder).near == ()
    (tmp_path / "agents.md").write_text("x")
    assert near.look(folder).near == ("agents.md",)
    folder.close()


class Stamped(CountingFolder):
    """A folder whose time of change is given."""

    changed = 5

    def stat(self, name: str) -> os.stat_result | None:
        found = self.folder.stat(name)
        if name or found is None:
            return found
        return os.stat_result(tuple(found)[:10], {"st_mtime_ns": self.changed, "st_ctime_ns": self.changed})


def test_a_directory_that_stays_as_it_is_is_listed_once(tmp_path: Path) -> None:
    folder = Stamped(opened(tmp_path).folder)
    near = NearMisses(("AGENTS.md",))
    for _ in range(3):
        near.look(folder)
    assert folder.listed == 1
    near.look(folder, again=True)
    assert folder.listed == 2
    folder.changed = 6
    near.look(folder)
    assert folder.listed == 3
    folder.close()


def test_a_directory_whose_clock_may_not_have_ticked_yet_is_not_trusted(tmp_path: Path) -> None:
    folder = Stamped(opened(tmp_path).folder)
    folder.changed = time.time_ns() + 10**9
    near = NearMisses(("AGENTS.md",))
    for _ in range(3):
        near.look(folder)
    assert folder.listed == 3
    folder.close()


def test_what_is_not_listed_is_known_not_to_be_there_only_by_a_clock_that_ticks_finely(
    tmp_path: Path,
) -> None:
    folder = Stamped(opened(tmp_path).folder)
    near = NearMisses(("AGENTS.md",))
    for changed, sure in ((5, True), (5, True), (7_000_000, False), (7_000_001, True)):
        folder.changed = changed
        assert near.look(folder).sure is sure
    folder.changed = time.time_ns() + 10**9 + 1
    assert not near.look(folder).sure
    folder.close()


def test_a_document_that_appears_in_a_directory_that_was_quiet_counts_at_once(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    resolver = Resolver(tmp_path)
    time.sleep(0.15)
    assert resolver.resolve("a/b").paths == resolver.resolve("a/b").paths == ()
    (tmp_path / "a" / "AGENTS.md").write_text("new\n")
    assert resolver.resolve("a/b").paths == ("a/AGENTS.md",)
    time.sleep(0.15)
    assert resolver.resolve("a/b").paths == resolver.resolve("a/b").paths == ("a/AGENTS.md",)
    (tmp_path / "a" / "AGENTS.override.md").write_text("newer\n")
    assert resolver.resolve("a/b").paths == ("a/AGENTS.override.md",)
    (tmp_path / "a" / "AGENTS.override.md").unlink()
    (tmp_path / "a" / "AGENTS.md").unlink()
    assert resolver.resolve("a/b").paths == ()


def test_a_directory_with_very_many_names_is_not_read_to_its_end(tmp_path: Path) -> None:
    for number in range(2500):
        (tmp_path / f"file-{number}.txt").touch()
    (tmp_path / "AGENTS.md").write_text("root\n")
    (tmp_path / "agents.md").write_text("wrong\n")
    folder = opened(tmp_path)
    listing = NearMisses(("AGENTS.md",)).look(folder)
    folder.close()
    assert not listing.whole
    assert "agents.md" in listing.near
    resolution = Resolver(tmp_path).resolve("a.py")
    assert resolution.paths == ("AGENTS.md",)
    assert [item.path for item in resolution.skipped] == ["agents.md"]


class CaseBlind(Memory):
    """A file system to which ``AGENTS.md`` and ``agents.md`` are one name."""

    def __init__(self, tree: dict[str, str]) -> None:
        super().__init__(tree)
        self._calls = type(self._calls)(self._blind, self._blind_read, self._names, self._link)

    def _spelled(self, path: str) -> str:
        parent, name = posixpath.split(path)
        if parent not in self._nodes():
            return path
        return posixpath.join(
            parent, next((n for n in self._names(parent) if n.lower() == name.lower()), name)
        )

    def _blind(self, path: str) -> os.stat_result | None:
        return self._stat(self._spelled(path))

    def _blind_read(self, path: str) -> bytes:
        return self._read(self._spelled(path))


def test_where_case_makes_no_difference_the_name_still_has_to_be_right() -> None:
    resolution = Resolver("/repository", files=CaseBlind({"agents.md": "wrong\n"})).resolve("a.py")
    assert resolution.paths == ()
    assert [item.path for item in resolution.skipped] == ["agents.md"]
    assert Resolver("/repository", files=CaseBlind({"AGENTS.md": "right\n"})).resolve("a.py").paths == (
        "AGENTS.md",
    )


def test_one_wrong_letter_or_letters_in_another_order_are_near(tmp_path: Path) -> None:
    near = NearMisses(("AGENTS.override.md", "AGENTS.md", "CLAUDE.md", "AI.md"))
    slips = {
        "AGNETS.md",
        "AGETNS.md",
        "AGENTES.md",
        "AGNTS.md",
        "AGENT5.md",
        "CLUADE.md",
        "Claud.md",
        "AGENTS.overide.md",
    }
    others = {"EVENTS.md", "AGENDA.md", "AI2.md", "IA.md", "A.md", "AGENTS.rs", "CLOUD.md", "CHANGES.md"}
    for name in slips | others:
        (tmp_path / name).write_text("x")
    folder = opened(tmp_path)
    assert set(near.look(folder).near) == slips
    folder.close()
