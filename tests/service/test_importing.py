"""A unified diff from anyone becomes a pending change, byte for byte what it says, or one sentence why not."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steward.config import Settings
from steward.errors import StewardError
from steward.proposals import FileChange, Proposal, patch_text
from steward.service import House
from steward.service.importing import import_patch
from tests.support import TREE, plant

BASE = "".join(f"line {n}\n" for n in range(1, 31))


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    plant(tmp_path / "repository", {**TREE, "thirty.txt": BASE})
    opened = House(tmp_path / "repository", Settings(), state=tmp_path / "state")
    yield opened
    opened.close()


def git(folder: Path, *arguments: str) -> bytes:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    names = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    return subprocess.run(
        ["git", *names, *arguments], cwd=folder, check=True, capture_output=True, env=environment
    ).stdout


def patch_of_git(folder: Path, before: dict[str, bytes], after: dict[str, bytes], *options: str) -> bytes:
    """What git says of the way from one tree to another."""
    folder.mkdir()
    git(folder, "init", "-q")
    for tree in (before, after):
        for path in folder.rglob("*"):
            if path.is_file() and ".git" not in path.parts:
                path.unlink()
        plant(folder, tree)
        git(folder, "add", "-A")
        if tree is before:
            git(folder, "commit", "-qm", "before", "--allow-empty")
    return git(folder, "diff", "--cached", *options)


NAMES = ["plain.txt", "with space.txt", "ümläut.txt", "tab\tname.txt", 'quo"te.txt', "b/c.txt", "a/b/x y.txt"]


@pytest.mark.parametrize(
    "options", [(), ("-U0",), ("-U1", "--no-renames"), ("-M", "--patience"), ("--no-prefix",)]
)
def test_what_git_says_is_taken_exactly_whatever_the_names(
    house: House, tmp_path: Path, options: tuple[str, ...]
) -> None:
    names = [name for name in NAMES if options != ("--no-prefix",) or not set(name) & {"/", " "}]
    before = {name: BASE.encode().replace(b"line 7", b"line \x85 \xff") for name in names}
    before |= {"crlf.txt": BASE.replace("\n", "\r\n").encode(), "end.txt": b"no newline", "gone.txt": b"x\ny"}
    before |= {"vt.txt": b"a\x0bb\x0cc\x1cd\xe2\x80\xa8e\rf\n" * 5, "old.txt": BASE.encode() * 2}
    after = {name: data.replace(b"line 3\n", b"line three\n") + b"more\n" for name, data in before.items()}
    after |= {"crlf.txt": before["crlf.txt"].replace(b"line 9\r\n", b"nine\r\n"), "end.txt": b"no newline\n"}
    after |= {"vt.txt": before["vt.txt"] + b"\x0b\x85end", "new.txt": b"made\n", "empty.txt": b""}
    del after["gone.txt"]
    after["renamed.txt"] = after.pop("old.txt").replace(b"line 8\n", b"line eight\n")
    plant(house.workspace.root, before)
    patch = patch_of_git(tmp_path / "git", before, after, *options)
    made = import_patch(house, patch)
    results = {file.path: file.result for file in made.files}
    for name, data in after.items():
        assert results.pop(name) == data, name
    assert set(results) <= {"gone.txt", "old.txt"} and not any(results.values())
    assert house.changes.store.get(made.id).files == made.files


ROWS = [b"a", b"b", b"", b"c\r", b"\xff", b"- x", b"+++ y", b"\\ z"]


def joined(rows: list[bytes], end: bytes) -> bytes:
    return b"\n".join(rows) + end


texts = st.builds(joined, st.lists(st.sampled_from(ROWS), max_size=12), st.sampled_from([b"", b"\n"]))


@given(texts, texts)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_diff_shown_here_can_be_taken_in_again(house: House, base: bytes, result: bytes) -> None:
    if base == result or not base:
        return
    plant(house.workspace.root, {"any.bin": base})
    change = FileChange("any.bin", "modify", base, result, 0o644, 0o644)
    patch = patch_text(Proposal("change-900", "t", "2026-01-01T00:00:00Z", (change,), "w"))
    if b"GIT binary patch" in patch or b"Binary files" in patch:
        return
    (file,) = import_patch(house, patch).files
    assert (file.path, file.base, file.result) == ("any.bin", base, result)


def test_a_change_from_a_patch_can_be_applied_undone_and_is_marked(house: House) -> None:
    patch = b"--- a/src/app.py\n+++ b/src/app.py\n@@ -1,2 +1,2 @@\n def answer():\n-    return 41\n+    return 42\n"
    made = import_patch(house, patch, name="fix.patch")
    assert (made.id, made.title, made.status) == ("change-001", "Imported from fix.patch", "pending")
    assert [(g.file, g.path) for g in made.instructions] == [
        ("src/app.py", "AGENTS.md"),
        ("src/app.py", "src/AGENTS.md"),
    ]
    assert "Imported from a patch" in made.notes[0]
    review = house.changes.review(made.id)
    house.changes.shown(review.proposal)
    house.changes.apply(made.id, review.proposal.stamp)
    file = house.workspace.root / "src/app.py"
    assert file.read_bytes() == b"def answer():\n    return 42\n"
    house.changes.undo(made.id)
    assert file.read_bytes() == b"def answer():\n    return 41\n"


def test_the_subject_of_a_mailed_patch_is_its_title(house: House) -> None:
    mail = (
        b"From 0123 Mon Sep 17 00:00:00 2001\nFrom: A <a@example.org>\nSubject: [PATCH 1/2] Mend the\n answer\n\n---\n"
        b" src/app.py | 2 +-\n\ndiff --git a/src/app.py b/src/app.py\nindex 111..222 100644\n--- a/src/app.py\n"
        b"+++ b/src/app.py\n@@ -2 +2 @@ def answer():\n-    return 41\n+    return 42\n-- \n2.43.0\n\n"
    )
    made = import_patch(house, mail)
    assert made.title == "Mend the answer" and made.files[0].result == b"def answer():\n    return 42\n"


def test_a_hunk_that_moved_is_found_where_its_lines_are_alone(house: House) -> None:
    patch = b"--- a/thirty.txt\n+++ b/thirty.txt\n@@ -3,2 +3,2 @@\n line 20\n-line 21\n+twenty-one\n"
    assert import_patch(house, patch).files[0].result == BASE.replace("line 21\n", "twenty-one\n").encode()


def test_lf_hunks_fit_a_crlf_file_and_keep_its_endings(house: House) -> None:
    patch = b"--- a/web/page.js\n+++ b/web/page.js\n@@ -1,2 +1,3 @@\n let x = 1;\n+let z = 3;\n let y = 2;\n"
    for form in (patch, patch.replace(b"\n", b"\r\n")):
        made = import_patch(house, form)
        assert made.files[0].result == b"let x = 1;\r\nlet z = 3;\r\nlet y = 2;\r\n"


def test_a_mode_that_becomes_executable_is_taken(house: House) -> None:
    patch = b"diff --git a/README.md b/README.md\nold mode 100644\nnew mode 100755\n"
    (file,) = import_patch(house, patch).files
    assert (file.base == file.result, file.base_mode, file.result_mode) == (True, 0o644, 0o755)


HEAD = b"--- a/%s\n+++ b/%s\n@@ -1 +1 @@\n-x\n+y\n"


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        (b"", "no unified diff"),
        (b"hello\n", "no unified diff"),
        (b"--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n", "other lines than its header says"),
        (HEAD.replace(b"%s", b"../out.txt"), "leaves|outside|escapes"),
        (HEAD.replace(b"a/%s", b"/etc/passwd").replace(b"b/%s", b"/etc/passwd"), "Absolute"),
        (HEAD.replace(b"%s", b".git/config"), ".git"),
        (HEAD.replace(b"%s", b".env"), "secret|.env"),
        (HEAD.replace(b"%s", b"missing.txt"), "does not exist"),
        (HEAD.replace(b"%s", b"README.md"), "does not fit"),
        (HEAD.replace(b"%s", b"link.txt"), "link"),
        (HEAD.replace(b"%s", b"thirty.txt") + HEAD.replace(b"%s", b"thirty.txt"), "fit|more than once"),
        (b"--- /dev/null\n+++ b/README.md\n@@ -0,0 +1 @@\n+x\n", "there already"),
        (b"--- a/thirty.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-line 1\n", "more than the patch deletes"),
        (
            b"--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n A small repository.\n",
            "changes nothing|can be read",
        ),
        (
            b"diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc\n",
            "symbolic link",
        ),
        (b"@@ -1 +1 @@\n-x\n+y\n", "no file above it"),
        (b"diff --cc x\nindex 1,2..3\n--- a/x\n+++ b/x\n@@@ -1,1 -1,1 +1,1 @@@\n- x\n", "merge"),
        (b"Binary files a/x.png and b/x.png differ\n", "Only text"),
        (b"diff --git a/one b/two\nnew mode 100755\n", "cannot be told which file"),
        (b"--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-x\n+y\n", "no name"),
        (b'--- "a/\\377.txt"\n+++ "b/\\377.txt"\n@@ -1 +1 @@\n-x\n+y\n', "not UTF-8"),
        (
            b"diff --git a/i.png b/i.png\nindex 1..2 100644\nBinary files a/i.png and b/i.png differ\n",
            "binary",
        ),
        (
            b"--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n--- /dev/null\n+++ b/n/m\n@@ -0,0 +1 @@\n+x\n",
            "file and a directory",
        ),
    ],
)
def test_what_cannot_be_taken_is_one_sentence_and_nothing_is_stored(
    house: House, patch: bytes, said: str
) -> None:

    (house.workspace.root / "link.txt").symlink_to("README.md")
    good = b"--- a/src/app.py\n+++ b/src/app.py\n@@ -2 +2 @@\n-    return 41\n+    return 42\n"
    for whole in (patch, good + patch):
        if whole.startswith(good) and not patch.startswith((b"-", b"d")):
            continue
        with pytest.raises(StewardError) as refused:
            import_patch(house, whole)
        assert re.search(said, str(refused.value)), str(refused.value)
        assert "\n" not in str(refused.value) and str(house.workspace.root) not in str(refused.value)
    assert house.changes.store.pending() == ()
