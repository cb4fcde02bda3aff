"""A personal override that would be committed by accident is noticed, without running git."""

from __future__ import annotations

from pathlib import Path

import pytest

from steward.agents_md import Memory, override_notice
from steward.agents_md.ignored import tracked

NAME = "AGENTS.override.md"


def index_of(version: int, names: list[str], *, extended: bool = False) -> bytes:
    """An index as git writes it (gitformat-index), with nothing but names that matter."""
    data = b"DIRC" + version.to_bytes(4, "big") + len(names).to_bytes(4, "big")
    before = b""
    for name in sorted(names):
        raw = name.encode()
        flags = min(len(raw), 0xFFF) | (0x4000 if extended else 0)
        entry = bytes(60) + flags.to_bytes(2, "big") + (b"\x40\x00" if extended else b"")
        if version == 4:
            shared = 0
            while shared < min(len(before), len(raw)) and before[shared] == raw[shared]:
                shared += 1
            entry += varint(len(before) - shared) + raw[shared:] + b"\0"
        else:
            entry += raw + b"\0" * (8 - (len(entry) + len(raw)) % 8)
        data += entry
        before = raw
    return data + bytes(20)


def varint(value: int) -> bytes:
    """The offset encoding of pack files."""
    found = [value & 0x7F]
    value >>= 7
    while value:
        value -= 1
        found.append(0x80 | (value & 0x7F))
        value >>= 7
    return bytes(reversed(found))


@pytest.mark.parametrize(("version", "extended"), [(2, False), (3, False), (3, True), (4, False), (4, True)])
def test_a_name_is_found_in_every_kind_of_index(version: int, extended: bool) -> None:
    names = ["a.py", "AGENTS.md", f"backend/{NAME}", "zeta/" + "x" * 300, "zeta/y", "zoo.py"]
    index = index_of(version, names, extended=extended)
    assert tracked(index, f"backend/{NAME}")
    assert all(tracked(index, name) for name in names)
    for absent in (NAME, "backend", "backend/AGENTS.md", "AGENTS.m", "ta/y", "x" * 300):
        assert not tracked(index, absent)


@pytest.mark.parametrize(
    "index",
    [
        None,
        b"",
        b"DIRC",
        b"DIRC\0\0\0\x02",
        b"DIRC\0\0\0\x09\0\0\0\x01" + bytes(80),
        b"DIRC\0\0\0\x04\0\0\0\x05" + bytes(62),
        b"DIRC\0\0\0\x04\xff\xff\xff\xff" + b"\xff" * 90,
        b"not an index at all, whatever it is",
    ],
)
def test_a_broken_index_holds_nothing(index: bytes | None) -> None:
    assert not tracked(index, NAME)


def notice(tree: dict[str, str | bytes], path: str = NAME, root: str = "/repository") -> str | None:
    return override_notice(root, path, files=Memory(tree), home="/nobody")


def test_an_override_that_nothing_ignores_gets_a_notice_that_says_how() -> None:
    said = notice({".git/HEAD": "x", NAME: "mine"})
    assert said is not None
    assert "not ignored" in said
    assert ".git/info/exclude" in said


def test_an_override_that_git_tracks_gets_a_notice_that_says_how() -> None:
    said = notice(
        {".git/HEAD": "x", ".git/index": index_of(2, [NAME, "a.py"]), ".gitignore": NAME, NAME: "mine"}
    )
    assert said is not None
    assert f"git rm --cached {NAME}" in said


def test_without_a_repository_there_is_nothing_to_notice() -> None:
    assert notice({NAME: "mine"}) is None


def test_the_workspace_may_lie_in_a_repository_above_it() -> None:
    tree: dict[str, str | bytes] = {".git/HEAD": "x", f"backend/{NAME}": "mine"}
    said = override_notice("/repository/backend", NAME, files=Memory(tree), home="/nobody")
    assert said is not None
    assert f"add backend/{NAME}" in said


def test_a_worktree_uses_the_index_of_its_own_and_the_exclude_file_of_all() -> None:
    tree: dict[str, str | bytes] = {
        "main/.git/HEAD": "x",
        "main/.git/info/exclude": NAME + "\n",
        "main/.git/worktrees/w/commondir": "../..\n",
        "main/.git/worktrees/w/index": index_of(4, ["a.py"]),
        "wt/.git": "gitdir: ../main/.git/worktrees/w\n",
        f"wt/{NAME}": "mine",
    }
    assert override_notice("/repository/wt", NAME, files=Memory(tree), home="/nobody") is None
    tree["main/.git/worktrees/w/index"] = index_of(4, ["a.py", NAME])
    said = override_notice("/repository/wt", NAME, files=Memory(tree), home="/nobody")
    assert said is not None
    assert "tracked" in said


@pytest.mark.parametrize(
    ("where", "line"),
    [
        (".gitignore", NAME),
        (".gitignore", f"/a/b/{NAME}"),
        (".gitignore", "*.override.md"),
        (".gitignore", "AGENTS.*.md"),
        (".gitignore", "AGENTS.override.m?"),
        (".gitignore", "AGENTS.[n-p]verride.md"),
        (".gitignore", "AGENTS.[!x]verride.md"),
        (".gitignore", f"**/{NAME}"),
        (".gitignore", f"a/**/{NAME}"),
        (".gitignore", "a/**"),
        (".gitignore", "a/"),
        (".gitignore", "/a"),
        (".gitignore", "b/"),
        (".gitignore", f"{NAME}   "),
        (".gitignore", f"# comment\r\n{NAME}\r\n"),
        (".gitignore", "\\AGENTS.override.md"),
        ("a/.gitignore", f"b/{NAME}"),
        ("a/b/.gitignore", NAME),
        ("a/b/.gitignore", f"/{NAME}"),
        (".git/info/exclude", NAME),
    ],
)
def test_what_git_ignores_needs_no_notice(where: str, line: str) -> None:
    assert notice({".git/HEAD": "x", f"a/b/{NAME}": "mine", where: line}, f"a/b/{NAME}") is None


@pytest.mark.parametrize(
    "lines",
    [
        {".gitignore": f"/{NAME}"},
        {".gitignore": f"b/{NAME}"},
        {".gitignore": f"{NAME}/"},
        {".gitignore": f"*.md\n!{NAME}"},
        {".gitignore": NAME, "a/b/.gitignore": f"!{NAME}"},
        {".gitignore": f"#{NAME}"},
        {".gitignore": "agents.override.md"},
        {".gitignore": "a/*.md"},
        {".gitignore": "[broken"},
        {"other/.gitignore": NAME},
        {".gitignore": ""},
    ],
)
def test_what_git_does_not_ignore_needs_one(lines: dict[str, str]) -> None:
    assert notice({".git/HEAD": "x", f"a/b/{NAME}": "mine", **lines}, f"a/b/{NAME}") is not None


def test_the_users_own_ignore_file_counts(tmp_path: Path) -> None:
    (tmp_path / "repository/.git").mkdir(parents=True)
    (tmp_path / "repository/.git/HEAD").write_text("x")
    (tmp_path / "repository" / NAME).write_text("mine")
    (tmp_path / "home/.config/git").mkdir(parents=True)
    root, home = str(tmp_path / "repository"), str(tmp_path / "home")
    assert override_notice(root, NAME, home=home) is not None
    (tmp_path / "home/.config/git/ignore").write_text(f"{NAME}\n")
    assert override_notice(root, NAME, home=home) is None
    (tmp_path / "home/.gitconfig").write_text("[core]\n\texcludesFile = ~/ignored-everywhere\n")
    assert override_notice(root, NAME, home=home) is not None
    (tmp_path / "home/ignored-everywhere").write_text("*.override.md\n")
    assert override_notice(root, NAME, home=home) is None
