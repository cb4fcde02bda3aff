"""What a program gets from a resolver."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from pathlib import Path

import pytest

from steward.agents_md import (
    Calls,
    LimitReached,
    Link,
    Memory,
    RemoteDocument,
    Resolver,
    Settings,
    tokens_in,
    user_locations,
)

ROOT = "/repository"


def resolver_of(tree: dict[str, str | bytes | Link], **given: object) -> Resolver:
    """A resolver over a tree in memory."""
    return Resolver(ROOT, Settings(**given), files=Memory(tree, ROOT), home="/home/someone")  # pyright: ignore[reportArgumentType]


def test_sizes_and_digests_are_those_of_the_file(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbfZ\xc3\xa4hlen\n"
    (tmp_path / "AGENTS.md").write_bytes(data)
    (document,) = Resolver(tmp_path).resolve("a.py").documents
    assert document.bytes == len(data)
    assert document.sha256 == hashlib.sha256(data).hexdigest()
    assert document.text == "Zählen\n"
    assert document.chars == 7
    assert document.tokens == 2
    assert (document.device, document.inode) == (
        (tmp_path / "AGENTS.md").stat().st_dev,
        (tmp_path / "AGENTS.md").stat().st_ino,
    )


@pytest.mark.parametrize(
    ("characters", "tokens"), [(0, 0), (1, 1), (3, 1), (4, 2), (7, 2), (8, 3), (3500, 1000)]
)
def test_tokens_are_characters_by_three_and_a_half_rounded_up(characters: int, tokens: int) -> None:
    assert tokens_in(characters) == tokens


def test_the_plain_form_has_the_agreed_keys_and_no_contents() -> None:
    resolver = resolver_of({".git/HEAD": "x", "AGENTS.md": "wombat\n", "pkg/agents.md": "x"})
    shape = json.loads(json.dumps(resolver.resolve("pkg/a.py").to_json()))
    assert shape["target"] == "pkg/a.py"
    assert shape["boundary"] == "."
    assert (shape["outcome"], shape["limit"]) == ("complete", None)
    assert set(shape["documents"][0]) == {"path", "scope", "kind", "bytes", "chars", "tokens", "sha256"}
    assert shape["skipped"][0]["path"] == "pkg/agents.md"
    assert "AGENTS.md" in shape["skipped"][0]["reason"]
    assert "wombat" not in json.dumps(shape)


def test_rendering_is_broadest_first_and_says_that_the_closest_wins() -> None:
    text = (
        resolver_of({"AGENTS.md": "root\n", "pkg/AGENTS.md": "pkg, no newline"}).resolve("pkg/a.py").render()
    )
    assert text.index("root\n") < text.index("pkg, no newline\n</")
    assert "closest" in text.splitlines()[0]
    assert "user's own words win" in text.splitlines()[0]
    assert 'scope="pkg"' in text


def test_rendering_nothing_is_empty() -> None:
    assert resolver_of({"a.py": ""}).resolve("a.py").render() == ""


def test_a_document_cannot_hold_the_tag_it_is_rendered_in() -> None:
    files: dict[str, str | bytes | Link] = {"AGENTS.md": "first\n"}
    resolver = resolver_of(files)
    tag = resolver.resolve(".").render().split("<", 1)[1].split(" ", 1)[0]
    files["AGENTS.md"] = f"</{tag}> escaped\n"
    assert tag not in resolver.resolve(".").render().replace(f"</{tag}> escaped", "")


def test_odd_characters_in_a_path_cannot_leave_their_attribute() -> None:
    name = 'we"ird><\n\x1b]52;c;x\x07\u202e'
    text = resolver_of({f"{name}/AGENTS.md": "x\n"}).resolve(f"{name}/a.py").render()
    head = next(line for line in text.splitlines() if "sha256" in line)
    assert head.count('"') == 6
    assert not any(char in text for char in "\x1b\x07\u202e")


def test_a_listener_hears_of_a_limit_without_contents() -> None:
    heard: list[LimitReached] = []
    files = Memory({"AGENTS.md": "root\n", "pkg/AGENTS.md": "wombat\n"}, ROOT)
    resolver = Resolver(ROOT, Settings(max_documents=1), heard.append, files=files)
    resolver.resolve("pkg/a.py")
    assert heard == [LimitReached("pkg/a.py", "document-limit", accepted=1, size=7, limit=1)]
    assert "wombat" not in repr(heard)


def test_every_limit_that_was_met_is_told() -> None:
    resolver = resolver_of(
        {"AGENTS.md": "root\n", "a/AGENTS.md": "far too long\n", "a/b/AGENTS.md": "b\n", "a/b/c/AGENTS.md": "c\n"},
        max_depth=3, max_documents=1, max_document_bytes=8,
    )  # fmt: skip
    resolution = resolver.resolve("a/b/c/d.py")
    assert [limit.outcome for limit in resolution.limits] == ["depth-limit", "document-limit", "size-limit"]
    assert resolution.outcome == "depth-limit"


def test_switched_off_says_so_and_reads_nothing() -> None:
    def never(path: str) -> os.stat_result:
        raise AssertionError(path)

    class Nothing(Memory):
        def open(self, path: str) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
            never(path)

    resolver = Resolver(ROOT, Settings(enabled=False), files=Nothing({"AGENTS.md": "x"}, ROOT))
    resolution = resolver.resolve("a.py")
    assert not resolution.enabled
    assert resolution.documents == ()
    assert resolution.skipped[0].cause == "off"


def test_an_explicit_location_replaces_discovery() -> None:
    tree: dict[str, str | bytes | Link] = {
        ".git/HEAD": "x",
        "AGENTS.md": "root\n",
        "other/rules.md": "other\n",
    }
    resolution = resolver_of(tree, location=Path("other/rules.md")).resolve("a.py")
    assert [(d.path, d.kind, d.text) for d in resolution.documents] == [
        ("other/rules.md", "location", "other\n")
    ]


def test_a_directory_as_location_means_its_document() -> None:
    resolution = resolver_of({"other/AGENTS.md": "other\n"}, location=Path("other")).resolve("a.py")
    assert resolution.paths == ("other/AGENTS.md",)


def test_a_location_must_exist() -> None:
    with pytest.raises(FileNotFoundError, match=r"absent\.md"):
        resolver_of({"AGENTS.md": "root\n"}, location=Path("absent.md"))


def test_a_location_that_vanishes_is_told() -> None:
    tree: dict[str, str | bytes | Link] = {"rules.md": "x\n", "a.py": ""}
    resolver = resolver_of(tree, location=Path("rules.md"))
    del tree["rules.md"]
    with pytest.raises(FileNotFoundError):
        resolver.resolve("a.py")


def test_a_fallback_location_serves_when_nothing_applies() -> None:
    tree: dict[str, str | bytes | Link] = {"pkg/AGENTS.md": "pkg\n", "default.md": "default\n"}
    resolver = resolver_of(tree, fallback_location=Path("default.md"))
    assert resolver.resolve("pkg/a.py").paths == ("pkg/AGENTS.md",)
    assert resolver.resolve("a.py").paths == ("default.md",)
    del tree["default.md"]
    assert [item.path for item in resolver.resolve("a.py").skipped] == ["default.md"]


def test_reading_through_given_callables_needs_no_disk() -> None:
    def stat(path: str) -> os.stat_result:
        if path in ("/", "/place", "/place/pkg"):
            return os.stat_result((0o040755, 2, 1, 1, 0, 0, 0, 0, 0, 0))
        if path == "/place/pkg/AGENTS.md":
            return os.stat_result((0o100644, 3, 1, 1, 0, 0, 6, 0, 0, 0))
        raise FileNotFoundError(path)

    resolver = Resolver("/place", files=Calls(stat, lambda path: b"given\n"))
    assert [d.text for d in resolver.resolve("pkg/a.py").documents] == ["given\n"]


def test_links_in_memory_are_followed_like_on_a_disk() -> None:
    tree: dict[str, str | bytes | Link] = {"docs/rules.md": "rules\n", "AGENTS.md": Link("docs/rules.md")}
    assert [d.text for d in resolver_of(tree).resolve("a.py").documents] == ["rules\n"]
    tree["AGENTS.md"] = Link("../outside.md")
    tree["../outside.md"] = "outside\n"
    assert resolver_of(tree).resolve("a.py").documents == ()


def test_a_workspace_given_through_a_link_is_the_real_one(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real/AGENTS.md").write_text("root\n")
    (tmp_path / "link").symlink_to("real")
    resolver = Resolver(tmp_path / "link")
    assert resolver.resolve(tmp_path / "link/a.py").paths == ("AGENTS.md",)
    assert resolver.resolve(tmp_path / "real/a.py").target == "a.py"


def test_a_workspace_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Resolver(tmp_path / "absent")


def test_a_workspace_that_vanishes_is_reported(tmp_path: Path) -> None:
    root = tmp_path / "workspace"
    root.mkdir()
    resolver = Resolver(root)
    root.rmdir()
    assert [item.path for item in resolver.resolve("a.py").skipped] == ["."]


def test_a_target_with_nul_is_no_path(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="NUL"):
        Resolver(tmp_path).resolve("a\0b")


def test_a_very_long_target_is_a_target_that_does_not_exist(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("root\n")
    assert Resolver(tmp_path).resolve("x" * 5000 + "/a.py").paths == ("AGENTS.md",)
    assert Resolver(tmp_path).resolve("x/" * 5000 + "a.py").outcome == "depth-limit"


def test_a_name_that_is_not_utf8_is_a_target_too(tmp_path: Path) -> None:
    directory = os.fsencode(tmp_path) + b"/caf\xe9"
    Path(os.fsdecode(directory)).mkdir()
    Path(os.fsdecode(directory + b"/AGENTS.md")).write_text("x\n")
    resolution = Resolver(tmp_path).resolve(os.fsdecode(b"caf\xe9/a.py"))
    assert resolution.paths == (os.fsdecode(b"caf\xe9/AGENTS.md"),)
    assert resolution.render().isprintable() or resolution.render().encode("utf-8")


def test_a_change_on_disk_is_seen_by_the_next_resolution(tmp_path: Path) -> None:
    resolver = Resolver(tmp_path)
    assert resolver.resolve("a.py").paths == ()
    for text in ("one\n", "two\n"):
        (tmp_path / "AGENTS.md").write_text(text)
        assert [d.text for d in resolver.resolve("a.py").documents] == [text]
    (tmp_path / "AGENTS.md").unlink()
    assert resolver.resolve("a.py").paths == ()


def test_several_threads_may_share_a_resolver(tmp_path: Path) -> None:
    for depth in range(1, 6):
        directory = tmp_path.joinpath(*"abcdef"[:depth])
        directory.mkdir()
        (directory / "AGENTS.md").write_text(f"{depth}\n")
    resolver = Resolver(tmp_path)
    wrong: list[int] = []

    def work() -> None:
        for _ in range(100):
            for depth in range(1, 6):
                if len(resolver.resolve("/".join("abcdef"[:depth]) + "/x.py").documents) != depth:
                    wrong.append(depth)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_no_descriptor_stays_open(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "AGENTS.md").symlink_to("a/rules.md")
    (tmp_path / "a/rules.md").write_text("x\n")
    (tmp_path / "link").symlink_to("a")
    os.mkfifo(tmp_path / "a/AGENTS.md")
    resolver = Resolver(
        tmp_path, Settings(files=("**/*.md", "a/rules.md"), user_documents=(tmp_path / "u.md",))
    )
    resolver.resolve("a/b/c.py")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for target in ("a/b/c.py", "link/b/c.py", "../x", "a/rules.md/x", "."):
        resolver.resolve(target)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_url_comes_as_somebody_fetched_it() -> None:
    url = "https://someone:pass@rules.example/team.md?token=wombat"
    remote = {url: RemoteDocument(b"team rules\n")}
    files = Memory({"AGENTS.md": "root\n"}, ROOT)
    resolution = Resolver(ROOT, Settings(files=(url,)), remote=remote, files=files).resolve("a.py")
    assert [(d.kind, d.text) for d in resolution.documents] == [
        ("remote", "team rules\n"),
        ("agents", "root\n"),
    ]
    assert resolution.paths[0].startswith("https://rules.example/team.md?")
    assert "wombat" not in repr(resolution.to_json())
    assert "pass" not in repr(resolution.to_json())


@pytest.mark.parametrize(
    ("found", "documents", "said"),
    [
        (None, 0, "not been fetched"),
        (RemoteDocument(error="timed out after 5 s"), 0, "timed out"),
        (RemoteDocument(b"old\n", error="timed out", age=7200.0), 1, "2 hours old"),
        (RemoteDocument(b"x" * 70_000), 0, "over the limit"),
        (RemoteDocument(b"\xff\xfe\xff"), 0, "UTF-16"),
    ],
)
def test_a_url_that_failed_is_visible(found: RemoteDocument | None, documents: int, said: str) -> None:
    settings = Settings(files=("http://rules.example/a.md",))
    resolution = Resolver(ROOT, settings, remote=lambda _: found, files=Memory({"a.py": ""}, ROOT)).resolve(
        "a.py"
    )
    assert len(resolution.documents) == documents
    told = [item.reason for item in resolution.skipped] + [note.text for note in resolution.notes]
    assert said in " ".join(told)


def test_the_users_own_documents_have_known_places() -> None:
    home, config = Path("/home/someone"), Path("/home/someone/.config/steward")
    assert user_locations(config, home) == (
        Path("/home/someone/.config/agents/AGENTS.md"),
        Path("/home/someone/.config/steward/AGENTS.md"),
    )
    assert user_locations(config, home, claude=True)[0] == Path("/home/someone/.claude/CLAUDE.md")


def test_a_device_is_never_opened(tmp_path: Path) -> None:
    (tmp_path / "mine.md").symlink_to("/dev/zero")  # the user's own links may lead anywhere
    resolution = Resolver(tmp_path, Settings(user_documents=(tmp_path / "mine.md",))).resolve("a.py")
    assert [(item.path, item.cause) for item in resolution.skipped] == [("mine.md", "special")]


def test_an_entry_that_names_no_file_says_what_would(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.md").write_text("a\n")
    resolution = Resolver(tmp_path, Settings(files=("docs/", "docs/{a,b}.md"))).resolve()
    assert [(item.path, item.reason) for item in resolution.skipped] == [
        ("docs/", "it is a directory; docs/* names the files in it, docs/** all beneath it"),
        ("docs/{a,b}.md", "it does not exist; braces mean themselves, so write an entry for each file"),
    ]


def test_an_absolute_glob_is_not_expanded_outside_the_workspace(tmp_path: Path) -> None:
    resolution = Resolver(tmp_path, Settings(files=("/etc/*.conf",))).resolve("a.py")
    (skipped,) = resolution.skipped
    assert skipped.cause == "absent" and skipped.reason.startswith(
        "patterns are matched in the workspace alone"
    )


def test_a_glob_that_would_look_at_too_much_is_given_up_and_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steward.agents_md.sources._GLOB_DIRECTORIES", 5)
    for number in range(9):
        (tmp_path / f"d{number}").mkdir()
        (tmp_path / f"d{number}/RULES.md").write_text("x\n")
    resolution = Resolver(tmp_path, Settings(files=("**/RULES.md",))).resolve("a.py")
    assert [item.cause for item in resolution.skipped] == ["glob"]
