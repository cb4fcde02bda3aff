"""What git writes of random trees becomes, through ``propose``, exactly what ``git apply`` makes of it."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from steward.config import Settings
from steward.service import House
from steward.service.importing import import_patch
from tests.support import plant

State = dict[str, tuple[bytes, bool]]
"""Each file's bytes, and whether it can be executed."""

NAMES = (
    "plain.txt",
    "with space.txt",
    "two  blanks and b/x.txt",
    "ümläut.txt",
    "tab\tname.txt",
    'quo"te.txt',
    "back\\slash.txt",
    "a/x.txt",
    "b/x.txt",
    "a/b/deep.txt",
    "old/a/b.py",
    "-dash",
    "new mode 100755",
)
ROWS = (
    b"one",
    b"",
    b"  two",
    b"\tthree",
    b"- four",
    b"-- ",
    b"--- a/x",
    b"+++ b/x",
    b"@@ -1 +1 @@",
    b"\\ five",
    b"diff --git a/x b/x",
    b"\xff\xfe",
    b"caf\xe9",
    "ünï".encode(),
    b"six\r",
    b"\x0b\x0c\x1c\x85",
    b"seven ",
)

FORMS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    ((), ()),
    (("-M",), ()),
    (("-M", "-C", "--find-copies-harder"), ()),
    (("-U0",), ("--unidiff-zero",)),
    (("-U1", "--no-renames", "--full-index"), ()),
    (("--no-prefix",), ("-p0",)),
    (("--src-prefix=old/", "--dst-prefix=new/", "-M"), ()),
    (("--histogram", "--inter-hunk-context=4", "-B", "-M"), ()),
    (("--summary", "--stat", "-p", "-U10"), ()),
)


def git(folder: Path, *arguments: str, data: bytes | None = None) -> bytes:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    settings = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "core.autocrlf=false"]
    done = subprocess.run(
        ["git", *settings, *arguments],
        cwd=folder,
        check=False,
        capture_output=True,
        env=environment,
        input=data,
    )
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout


def content(chance: random.Random) -> bytes:
    rows = [chance.choice(ROWS) + b"%d" % chance.randrange(40) for _ in range(chance.randrange(30))]
    if chance.random() < 0.2:
        rows = [row.rstrip(b"\r") + b"\r" for row in rows]
    return b"\n".join(rows) + (b"\n" if chance.random() < 0.7 and rows else b"")


def edited(chance: random.Random, data: bytes) -> bytes:
    rows = data.split(b"\n")
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(len(rows))
        match chance.randrange(3):
            case 0:
                rows[at:at] = [chance.choice(ROWS)]
            case 1:
                rows[at] = chance.choice(ROWS) + b"!"
            case _:
                del rows[at]
                rows = rows or [b""]
    return b"\n".join(rows)


def moved(chance: random.Random, before: State) -> State:
    """Another state of the tree: files made, changed, deleted, renamed, copied, made executable."""
    after = dict(before)
    for name, (data, executable) in before.items():
        free = [other for other in NAMES if other not in after]
        match chance.randrange(8):
            case 0 | 1 | 2:
                after[name] = edited(chance, data), executable
            case 3:
                del after[name]
            case 4 if free:
                after[chance.choice(free)] = edited(chance, data), executable
                del after[name]
            case 5 if free:
                after[chance.choice(free)] = data, executable
            case 6:
                after[name] = data, not executable
            case _:
                pass
    for name in NAMES:
        if name not in after and name not in before and chance.random() < 0.2:
            after[name] = content(chance), chance.random() < 0.3
    return after


def put(folder: Path, state: State) -> None:
    """Make the tree what ``state`` says."""
    for path in sorted(folder.rglob("*"), reverse=True):
        if ".git" in path.relative_to(folder).parts:
            continue
        path.rmdir() if path.is_dir() else path.unlink()
    plant(folder, {name: data for name, (data, _) in state.items()})
    for name, (_, executable) in state.items():
        (folder / name).chmod(0o755 if executable else 0o644)


def look(folder: Path) -> State:
    return {
        path.relative_to(folder).as_posix(): (path.read_bytes(), bool(path.stat().st_mode & 0o100))
        for path in folder.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(folder).parts
    }


def imported(folder: Path, state: Path, patch: bytes) -> State:
    """The tree as the pending change of the patch would leave it."""
    before = look(folder)
    house = House(folder, Settings(), state=state)
    try:
        proposal = import_patch(house, patch)
    finally:
        house.close()
    assert look(folder) == before
    after: State = dict(before)
    for file in proposal.files:
        assert file.base is None or before[file.source][0] == file.base
        if file.action in ("delete", "rename"):
            after.pop(file.source, None)
    for file in proposal.files:
        if file.result is not None:
            after[file.path] = file.result, bool((file.result_mode or 0) & 0o100)
    return after


def commit(folder: Path, state: State, message: str = "a step") -> None:
    put(folder, state)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", message, "--allow-empty")


def begun(folder: Path, state: State) -> None:
    folder.mkdir()
    git(folder, "init", "-q")
    commit(folder, state)


def start(chance: random.Random) -> State:
    return {name: (content(chance), chance.random() < 0.2) for name in NAMES if chance.random() < 0.7}


def differences(one: Mapping[str, object], other: Mapping[str, object]) -> dict[str, tuple[object, object]]:
    return {
        name: (one.get(name), other.get(name)) for name in {*one, *other} if one.get(name) != other.get(name)
    }


@pytest.mark.parametrize("seed", range(18))
def test_a_diff_of_random_trees_gives_what_git_apply_gives(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    form, how = FORMS[seed % len(FORMS)]
    before = start(chance)
    after = moved(chance, before)
    repository = tmp_path / "repository"
    begun(repository, before)
    put(repository, after)
    git(repository, "add", "-A")
    patch = git(repository, "diff", "--cached", *form)
    put(repository, before)
    if not patch:
        return
    ours = imported(repository, tmp_path / "state", patch)
    git(repository, "apply", "--whitespace=nowarn", *how, data=patch)
    assert differences(look(repository), after) == {}
    assert differences(ours, after) == {}


@pytest.mark.parametrize("seed", range(100, 106))
@pytest.mark.parametrize("form", ["format-patch", "log"])
def test_a_series_of_commits_gives_their_last_tree(tmp_path: Path, seed: int, form: str) -> None:
    chance = random.Random(seed)
    states = [start(chance)]
    repository = tmp_path / "repository"
    begun(repository, states[0])
    for number in range(3):
        states.append(moved(chance, states[-1]))
        commit(repository, states[-1], f"step {number}\n\nSome words:\n\n  --- here\n  +++ and there\n\nEnd.")
    if form == "format-patch":
        patch = git(repository, "format-patch", "--stdout", "-M", "HEAD~3")
    else:
        patch = git(repository, "log", "-p", "--reverse", "HEAD~3..")
    put(repository, states[0])
    ours = imported(repository, tmp_path / "state", patch)
    assert differences(ours, states[-1]) == {}
