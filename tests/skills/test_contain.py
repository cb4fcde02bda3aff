"""Nothing outside a skill's folder is opened, whatever is put in the way."""

from __future__ import annotations

import errno
import os
import socket
import tempfile
import threading
from pathlib import Path

import pytest

from steward.skills import Limits, Places, Skill, discover
from steward.skills.contain import Container, Leaves, NotRegular, Place, TooLarge
from steward.skills.files import MAX_FILES, Unreadable, listing, read_reference
from tests.skills.trees import build

SKILL_MD = "---\nname: one\ndescription: A\n---\nBody\n"


def only(root: Path) -> Skill:
    """The one skill of a person whose home is ``root/home``."""
    (root / "repo").mkdir(exist_ok=True)
    (skill,) = discover(Places(root / "repo", home=root / "home", shipped=False)).skills
    return skill


def test_links_lead_only_from_root_to_root(tmp_path: Path) -> None:
    build(
        tmp_path,
        {
            "a/file": "in a",
            "a/to-b": {"link": "../b/file"},
            "a/absolute": {"link": str(tmp_path / "b" / "file")},
            "a/out": {"link": "../c/file"},
            "a/up": {"link": ".."},
            "b/file": "in b",
            "b/back": {"link": "../a"},
            "c/file": "in c",
        },
    )
    both = Container((tmp_path / "a", tmp_path / "b"))
    assert both.read(Place(tmp_path / "a", ("to-b",)), 100)[0] == b"in b"
    assert both.read(Place(tmp_path / "a", ("absolute",)), 100)[0] == b"in b"
    assert both.read(Place(tmp_path / "b", ("back", "file")), 100)[0] == b"in a"
    for parts in [("out",), ("up", "c", "file"), ("up", "a", "file")]:
        if parts == ("up", "a", "file"):
            assert both.read(Place(tmp_path / "a", parts), 100)[0] == b"in a"
            continue
        with pytest.raises(Leaves):
            both.read(Place(tmp_path / "a", parts), 100)
    with pytest.raises(Leaves):
        Container((tmp_path / "a",)).read(Place(tmp_path / "a", ("to-b",)), 100)
    with pytest.raises(Leaves):
        both.read(Place(tmp_path / "a", ("to-b",)), 100, follow=False)


def test_a_prefix_twin_is_outside(tmp_path: Path) -> None:
    build(tmp_path, {"a/link": {"link": "../a-twin/file"}, "a-twin/file": "x"})
    with pytest.raises(Leaves):
        Container((tmp_path / "a",)).read(Place(tmp_path / "a", ("link",)), 100)


def test_pipes_sockets_and_devices_are_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        old = Path.cwd()
        os.chdir(tmp_path)
        try:
            listener.bind("sock")
        finally:
            os.chdir(old)
        container = Container((tmp_path,))
        for name in ("pipe", "sock"):
            with pytest.raises(NotRegular):
                container.read(Place(tmp_path, (name,)), 100)
    with pytest.raises(NotRegular):
        Container((Path("/dev"),)).read(Place(Path("/dev"), ("null",)), 100)


def test_a_file_past_the_limit_is_not_read(tmp_path: Path) -> None:
    with open(tmp_path / "giant", "wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(TooLarge):
        Container((tmp_path,)).read(Place(tmp_path, ("giant",)), 1_000)


def test_descriptors_are_closed_whatever_happens(tmp_path: Path) -> None:
    build(
        tmp_path,
        {
            "home/.agents/skills/one/SKILL.md": SKILL_MD,
            "home/.agents/skills/one/out": {"link": "/etc/passwd"},
        },
    )
    skill = only(tmp_path)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(50):
        skill.load()
        only(tmp_path)
        for path in ("out", "none", "a/b/c", "SKILL.md/x"):
            with pytest.raises(Unreadable):
                read_reference(skill, path)
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize(
    "path",
    [
        "..",
        "../one/SKILL.md",
        "a/../../x",
        "/etc/passwd",
        "",
        ".",
        "\0",
        "a\0b",
        ".env",
        "x/.git/config",
        "a" * 5_000,
        "\ud800",
    ],
)
def test_no_reference_leaves_the_folder_or_hangs(path: str, tmp_path: Path) -> None:
    build(tmp_path, {"home/.agents/skills/one/SKILL.md": SKILL_MD})
    with pytest.raises(Unreadable) as refused:
        read_reference(only(tmp_path), path)
    assert str(tmp_path) not in str(refused.value)


def test_a_directory_swapped_for_a_link_never_leads_outside(tmp_path: Path) -> None:
    build(
        tmp_path,
        {
            "home/.agents/skills/one/SKILL.md": SKILL_MD,
            "home/.agents/skills/one/references/x.md": "inside",
            "outside/x.md": "OUTSIDE",
        },
    )
    skill = only(tmp_path)
    folder = tmp_path / "home/.agents/skills/one"
    stop = threading.Event()

    def swap() -> None:
        (folder / "link").symlink_to(tmp_path / "outside")
        while not stop.is_set():
            os.rename(folder / "references", folder / "real")
            os.rename(folder / "link", folder / "references")
            os.rename(folder / "references", folder / "link")
            os.rename(folder / "real", folder / "references")

    thread = threading.Thread(target=swap)
    thread.start()
    given = refused = 0
    try:
        for _ in range(4_000):
            try:
                assert read_reference(skill, "references/x.md") == "inside"
                given += 1
            except Unreadable:
                refused += 1
    finally:
        stop.set()
        thread.join()
    assert given and given + refused == 4_000


def test_the_list_of_files_is_bounded_and_holds_only_what_can_be_read(tmp_path: Path) -> None:
    build(
        tmp_path,
        {
            "home/.agents/skills/one/SKILL.md": SKILL_MD,
            "home/.agents/skills/one/a.md": "x",
            "home/.agents/skills/one/link.md": {"link": "a.md"},
            "home/.agents/skills/one/pipe": {"fifo": True},
            "home/.agents/skills/one/.hidden": "x",
            "home/.agents/skills/one/__pycache__/x.pyc": "x",
            "home/.agents/skills/one/loop": {"link": "."},
            "home/.agents/skills/one/references/b.md": "x",
        },
    )
    assert listing(only(tmp_path)) == (("a.md", "references/b.md"), False)
    build(tmp_path, {f"home/.agents/skills/one/many/{n:04}.md": "x" for n in range(MAX_FILES + 5)})
    files, left_out = listing(only(tmp_path))
    assert len(files) == MAX_FILES and left_out


def test_a_folder_nobody_may_read_is_named_and_the_others_are_found() -> None:
    with tempfile.TemporaryDirectory() as directory:
        _nobody_may_read(Path(directory))


def _nobody_may_read(tmp_path: Path) -> None:
    build(
        tmp_path,
        {
            "repo/.agents/skills/one/SKILL.md": SKILL_MD,
            "repo/.agents/skills/shut/SKILL.md": SKILL_MD.replace("one", "shut"),
            "repo/.claude/skills/two/SKILL.md": SKILL_MD.replace("one", "two"),
        },
    )
    os.chmod(tmp_path / "repo/.agents/skills/shut/SKILL.md", 0)
    os.chmod(tmp_path / "repo/.claude/skills", 0)
    os.chmod(tmp_path, 0o755)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.getuid() == 0:
                os.setuid(65534)
            catalog = discover(Places(tmp_path / "repo", shipped=False))
            said = [
                ",".join(skill.name for skill in catalog.skills),
                ",".join(d.code for b in catalog.broken for d in b.diagnostics),
                ",".join(catalog.notes),
            ]
            os.write(write, "|".join(said).encode())
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    said = os.read(read, 10_000).decode()
    os.close(read)
    os.chmod(tmp_path / "repo/.claude/skills", 0o755)
    assert said == "one|unreadable|.claude/skills cannot be read."


def test_names_that_are_no_text_are_passed_or_shown(tmp_path: Path) -> None:
    root = os.fsencode(tmp_path / "repo/.agents/skills")
    os.makedirs(root + b"/bad\xff")
    with open(root + b"/bad\xff/SKILL.md", "wb") as file:
        file.write(b"---\nname: fine\ndescription: A\n---\nBody\n")
    os.makedirs(root + b"/new\nline\x1b[2J")
    with open(root + b"/new\nline\x1b[2J/SKILL.md", "wb") as file:
        file.write(b"---\ndescription: A\n---\nBody\n")
    catalog = discover(Places(tmp_path / "repo", shipped=False))
    assert [skill.name for skill in catalog.skills] == ["fine"]
    assert catalog.skills[0].location.encode()
    assert [broken.diagnostics[-1].code for broken in catalog.broken] == ["unusable-name"]


def test_the_walk_is_bounded_in_depth_whatever_the_limits(tmp_path: Path) -> None:
    deep = "repo/.agents/skills/" + "d/" * 60 + "SKILL.md"
    build(tmp_path, {deep: SKILL_MD})
    assert discover(Places(tmp_path / "repo", shipped=False, limits=Limits(depth=20))).skills == ()
    assert [
        s.name for s in discover(Places(tmp_path / "repo", shipped=False, limits=Limits(depth=60))).skills
    ] == ["one"]


def test_a_root_that_is_a_file_or_missing_is_nothing_unless_somebody_named_it(tmp_path: Path) -> None:
    build(tmp_path, {"repo/.agents/skills": "a file", "repo/.claude": "a file"})
    places = Places(tmp_path / "repo", home=tmp_path / "home", extra=(tmp_path / "missing",), shipped=False)
    catalog = discover(places)
    assert catalog.skills == ()
    assert catalog.notes == ("missing, which skills.directories names, is no folder.",)


def test_errors_of_the_container_are_os_errors_with_numbers(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Container((tmp_path,)).read(Place(tmp_path, ("none",)), 1)
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(Leaves) as refused:
        Container((tmp_path,)).read(Place(tmp_path, ("loop",)), 1)
    assert refused.value.errno == errno.ELOOP
