"""Nothing outside the workspace is reached, whatever the path and whatever lies there; nothing hangs."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from steward.errors import PathRefused, UsageError
from steward.visible import visible
from steward.workspace import ROOT, Policy, RepoPath, Workspace
from steward.workspace import engine as engines
from tests.workspace.hostile import OUTSIDE, READABLE, TRAPS, Trap, build

pytestmark = pytest.mark.timeout(60)
ENGINES = ("openat2", "walk")


@pytest.fixture(scope="module")
def traps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("traps"))


@pytest.fixture(scope="module", params=ENGINES)
def workspace(request: pytest.FixtureRequest, traps: Path) -> Iterator[Workspace]:
    with Workspace.open(traps, Policy(state_dir=traps / "state"), engine=request.param) as opened:
        assert opened.engine == request.param
        yield opened


def in_child(user: int | None, work: Callable[[], str]) -> str:
    """What ``work`` returns in a forked child that is an ordinary user."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if user is not None and os.geteuid() == 0:
                os.setgroups([])
                os.setgid(user)
                os.setuid(user)
            os.write(write, work().encode())
        except BaseException as error:
            os.write(write, f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        said = answer.read()
    os.waitpid(child, 0)
    return said


def refusal(act: Callable[[], object]) -> PathRefused:
    with pytest.raises(PathRefused) as caught:
        act()
    return caught.value


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: ascii(trap.path)[1:41])
def test_each_trap_is_refused_for_its_own_reason_in_one_plain_sentence(
    workspace: Workspace, traps: Path, trap: Trap
) -> None:
    error = refusal(lambda: workspace.read(RepoPath.parse(trap.path)))
    sentence = str(error)
    assert (error.kind, trap.says in sentence) == (trap.kind, True), sentence
    assert sentence.endswith((".", "?"))
    assert "\n" not in sentence
    assert visible(sentence) == sentence
    assert len(sentence) < 700
    assert str(traps.parent) not in sentence
    assert OUTSIDE.decode() not in sentence


DIRECTORIES = {".", "src", "src/app.py/..", "state"}


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: ascii(trap.path)[1:41])
def test_no_trap_can_be_listed_walked_or_opened_as_a_directory(workspace: Workspace, trap: Trap) -> None:
    if trap.path in DIRECTORIES and trap.kind != "protected":
        assert OUTSIDE not in repr(workspace.entries(RepoPath.parse(trap.path))).encode()
        return
    for act in (workspace.entries, workspace.open_directory, workspace.walk):
        error = refusal(lambda act=act: act(RepoPath.parse(trap.path)))  # type: ignore[misc]
        assert error.kind == trap.kind or (
            trap.kind in ("special", "too-large") and error.kind == "not-a-directory"
        )


@pytest.mark.parametrize("path", READABLE)
def test_odd_names_are_taken_literally(workspace: Workspace, path: str) -> None:
    parsed = RepoPath.parse(path)
    assert workspace.read(parsed).data == b"inside " + parsed.text.encode()


def test_a_stat_shows_a_link_and_a_pipe_without_following_or_opening(workspace: Workspace) -> None:
    kinds = {}
    for name in ("abs-out", "pipe", "socket", "src", "src/app.py", "giant"):
        found = workspace.stat(RepoPath.parse(name))
        kinds[name] = found.kind if found else None
    assert kinds == {
        "abs-out": "link",
        "pipe": "special",
        "socket": "special",
        "src": "directory",
        "src/app.py": "file",
        "giant": "file",
    }
    assert workspace.stat(RepoPath.parse("src/none")) is None
    assert workspace.stat(RepoPath.parse("none/at/all")) is None
    assert refusal(lambda: workspace.stat(RepoPath.parse("dir-out/secret.txt"))).kind == "link"
    assert refusal(lambda: workspace.stat(RepoPath.parse("src/app.py/x"))).kind == "not-a-directory"
    assert refusal(lambda: workspace.stat(RepoPath.parse(".git/HEAD"))).kind == "protected"


def test_entries_say_where_links_point_when_that_is_inside(workspace: Workspace) -> None:
    found = {entry.name: entry for entry in workspace.entries(ROOT)}
    assert ".git" not in found
    assert "state" not in found
    assert ".env" in found
    assert (found["abs-in"].kind, found["abs-in"].target) == ("link", "src/app.py")
    assert found["dir-in"].target == "real"
    assert found["abs-out"].target is None
    assert found["up"].target is None
    assert found["here"].target == "."
    assert found["pipe"].kind == "special"
    assert os.fsencode("caf\udce9.txt") in [os.fsencode(name) for name in found]
    assert [*found] == sorted(found)


def test_a_walk_leaves_out_and_counts_what_is_out_of_bounds(workspace: Workspace) -> None:
    walk = workspace.walk()
    found = {path.text: kind for path, kind in walk}
    assert found["src/app.py"] == "file"
    assert found["dir-out"] == "link"
    assert "dir-out/secret.txt" not in found
    assert not [path for path in found if ".git" in path or path.startswith("state")]
    assert ".env" not in found
    assert walk.left_out.protected == 3
    assert walk.left_out.secret == 8
    assert walk.left_out.unnamed == 1
    assert [name for _, name in walk.unnamed] == ["caf\udce9.txt"]
    assert ".env" in {path.text for path, _ in workspace.walk(secrets=True)}


def test_the_settings_open_secrets_and_nothing_else(traps: Path) -> None:
    with Workspace.open(traps, Policy(secrets_allowed=True)) as opened:
        assert opened.read(RepoPath.parse(".env")).data == b"inside .env"
        assert refusal(lambda: opened.read(RepoPath.parse(".git/config"))).kind == "protected"


def test_denied_patterns_close_what_they_match_and_all_beneath(traps: Path) -> None:
    with Workspace.open(traps, Policy(denied=("real/", "*.tsx"))) as opened:
        assert refusal(lambda: opened.read(RepoPath.parse("real/deep/file"))).kind == "protected"
        assert refusal(lambda: opened.read(RepoPath.parse("[id]/page.tsx"))).kind == "protected"
        assert opened.read(RepoPath.parse("src/app.py")).data


@pytest.mark.parametrize("engine", ENGINES)
def test_devices_are_not_opened(engine: engines.EngineName) -> None:
    with Workspace.open(Path("/dev"), engine=engine) as devices:
        for name in ("null", "zero", "full", "tty"):
            assert refusal(lambda name=name: devices.read(RepoPath.parse(name))).kind == "special"


@pytest.mark.parametrize("engine", ENGINES)
def test_magic_links_of_proc_are_links(engine: engines.EngineName) -> None:
    with Workspace.open(Path(f"/proc/{os.getpid()}"), engine=engine) as process:
        for name in ("exe", "cwd", "root/etc/passwd", "fd/0", "ns/mnt"):
            assert refusal(lambda name=name: process.read(RepoPath.parse(name))).kind in (
                "link",
                "unreadable",
            )


@pytest.mark.parametrize("engine", ENGINES)
def test_other_mounts_are_not_entered(engine: engines.EngineName) -> None:
    with Workspace.open(Path("/"), engine=engine) as everything:
        for name in ("proc/version", "proc/self", "proc"):
            path = RepoPath.parse(name)
            assert refusal(lambda path=path: everything.read(path)).kind == "other-mount"
            assert refusal(lambda path=path: everything.entries(path)).kind == "other-mount"
        walk = everything.walk(depth=2)
        assert not [path for path, _ in walk if path.parts[0] == "proc" and len(path.parts) > 1]
        assert walk.left_out.other_mounts >= 1


BIND = """
import ctypes, os, sys
from pathlib import Path
from steward.errors import PathRefused
from steward.workspace import RepoPath, Workspace
libc = ctypes.CDLL(None, use_errno=True)
flags = 0x00020000 | (0 if os.geteuid() == 0 else 0x10000000)
assert libc.unshare(flags) == 0, os.strerror(ctypes.get_errno())
root = Path(sys.argv[1])
libc.mount(b"none", b"/", None, 0x4000 | 0x40000, None)
for source, target in ((root / "outside", root / "ws" / "hole"), (root / "outside" / "f", root / "ws" / "file-hole")):
    done = libc.mount(os.fsencode(source), os.fsencode(target), None, 0x1000, None)
    assert done == 0, os.strerror(ctypes.get_errno())
for engine in ("openat2", "walk"):
    with Workspace.open(root / "ws", engine=engine) as workspace:
        for path in ("hole/f", "hole", "file-hole"):
            try:
                print(workspace.read(RepoPath.parse(path)).data)
            except PathRefused as error:
                print(engine, path, error.kind)
        walk = workspace.walk()
        print(sorted(p.text for p, _ in walk), walk.left_out.other_mounts)
"""


def test_bind_mounts_of_the_same_file_system_are_other_mounts(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "f").write_bytes(OUTSIDE)
    (tmp_path / "ws" / "hole").mkdir(parents=True)
    (tmp_path / "ws" / "file-hole").write_bytes(b"")
    done = subprocess.run(
        [sys.executable, "-c", BIND, str(tmp_path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert OUTSIDE.decode() not in done.stdout
    lines = done.stdout.splitlines()
    for engine in ENGINES:
        for path in ("hole/f", "hole", "file-hole"):
            assert f"{engine} {path} other-mount" in lines
    assert lines.count("['file-hole', 'hole'] 1") == 2


@pytest.mark.parametrize("engine", ENGINES)
def test_an_unreadable_file_and_directory_are_refused_and_counted(
    tmp_path: Path, engine: engines.EngineName
) -> None:
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed" / "file").write_text("x")
    (tmp_path / "private").write_text("x")
    (tmp_path / "open").write_text("x")
    opened = Workspace.open(tmp_path, engine=engine)
    (tmp_path / "private").chmod(0)
    (tmp_path / "closed").chmod(0)
    tmp_path.chmod(0o755)

    def work() -> str:
        kinds: list[str] = []
        for name in ("private", "closed/file", "open"):
            try:
                kinds.append(opened.read(RepoPath.parse(name)).data.decode())
            except PathRefused as error:
                kinds.append(f"{error.kind}: {error}")
        walk = opened.walk()
        kinds.append(str(sorted(path.text for path, _ in walk)))
        kinds.append(str(walk.left_out.unreadable))
        return "\n".join(kinds)

    try:
        said = in_child(65534, work).splitlines()
    finally:
        opened.close()
        (tmp_path / "closed").chmod(0o755)
    assert said == [
        "unreadable: private may not be read by this user.",
        "unreadable: closed/file may not be read by this user.",
        "x",
        "['closed', 'open', 'private']",
        "1",
    ]


def test_a_file_larger_than_the_limit_is_refused_and_one_at_the_limit_is_read(tmp_path: Path) -> None:
    (tmp_path / "ten").write_bytes(b"0123456789")
    with Workspace.open(tmp_path, Policy(max_file_bytes=10)) as opened:
        path = RepoPath.parse("ten")
        assert opened.read(path).data == b"0123456789"
        assert refusal(lambda: opened.read(path, 9)).kind == "too-large"


def test_a_file_that_has_no_size_is_read_to_its_end_and_no_further_than_the_limit() -> None:
    with Workspace.open(Path("/proc/self/")) as process:
        assert process.read(RepoPath.parse("cmdline")).data
        assert refusal(lambda: process.read(RepoPath.parse("cmdline"), 3)).kind == "too-large"


def test_where_the_kernel_has_no_openat2_the_walk_takes_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "_OPENAT2", None)
    with Workspace.open(tmp_path) as opened:
        assert opened.engine == "walk"
    with pytest.raises(UsageError):
        Workspace.open(tmp_path, engine="openat2")


def test_where_a_sandbox_forbids_openat2_the_walk_takes_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(*_: object) -> int:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(engines, "openat2", forbidden)
    with Workspace.open(tmp_path) as opened:
        assert opened.engine == "walk"


@pytest.mark.parametrize("look", [engines._fdinfo, engines._statx()])  # pyright: ignore[reportPrivateUsage]
def test_every_way_to_tell_mounts_apart_finds_proc_to_be_another(look: Callable[[int], int]) -> None:
    here, there = os.open("/", os.O_RDONLY), os.open("/proc", os.O_RDONLY)
    try:
        assert look(here) != look(there)
        assert look(here) == look(here)
    finally:
        os.close(here)
        os.close(there)


def test_no_descriptor_is_left_open_by_refusals(workspace: Workspace) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for trap in TRAPS:
        for act in (workspace.read, workspace.stat, workspace.entries):
            try:
                act(RepoPath.parse(trap.path))
            except PathRefused:
                pass
    for _ in workspace.walk():
        pass
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("engine", ENGINES)
def test_a_pipe_does_not_even_notice_that_it_was_refused(tmp_path: Path, engine: engines.EngineName) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_text("x")
    libc = ctypes.CDLL(None, use_errno=True)
    watch = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        for name in ("pipe", "file"):
            assert libc.inotify_add_watch(watch, os.fsencode(tmp_path / name), 0x20) > 0  # IN_OPEN
        with Workspace.open(tmp_path, engine=engine) as opened:
            assert refusal(lambda: opened.read(RepoPath.parse("pipe"))).kind == "special"
            with pytest.raises(BlockingIOError):
                os.read(watch, 4096)
            assert opened.read(RepoPath.parse("file")).data == b"x"
            assert os.read(watch, 4096)
    finally:
        os.close(watch)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_outlives_its_workspace_reads_nothing_through_a_number_that_is_used_again(
    tmp_path: Path, engine: engines.EngineName
) -> None:
    root, outside = tmp_path / "ws", tmp_path / "outside"
    for place in (root, outside):
        (place / "src").mkdir(parents=True)
        (place / "src/file").write_text("x")
    workspace = Workspace.open(root, engine=engine)
    walk = iter(workspace.walk())
    assert next(walk)[0].text == "src"
    workspace.close()
    taken = [os.open(outside, os.O_RDONLY | os.O_DIRECTORY) for _ in range(4)]
    try:
        assert list(walk) == []
        refused = refusal(lambda: workspace.read(RepoPath.parse("src/file")))
        assert str(refused) == "The workspace is closed."
    finally:
        for descriptor in taken:
            os.close(descriptor)
