"""Unified diffs of every writer but git: diff, Mercurial, Subversion, mail, and what agents put into fences."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from steward.config import Settings
from steward.errors import StewardError
from steward.proposals import FileChange
from steward.service import House
from steward.service.importing import import_patch
from tests.support import TREE, plant

APP = b"def answer():\n    return 41\n"
MENDED = b"def answer():\n    return 42\n"
HUNK = "@@ -1,2 +1,2 @@\n def answer():\n-    return 41\n+    return 42\n"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    plant(tmp_path / "repository", {**TREE, "a/x.txt": "x\n", "spaced name.txt": "x\n", "run.sh": "x\n"})
    opened = House(tmp_path / "repository", Settings(), state=tmp_path / "state")
    yield opened
    opened.close()


def only(house: House, patch: str | bytes) -> FileChange:
    (file,) = import_patch(house, patch if isinstance(patch, bytes) else patch.encode()).files
    return file


HEADERS = {
    "git": "diff --git a/src/app.py b/src/app.py\nindex 1..2 100644\n--- a/src/app.py\n+++ b/src/app.py\n",
    "git without prefixes": "diff --git src/app.py src/app.py\n--- src/app.py\n+++ src/app.py\n",
    "git with mnemonic prefixes": "diff --git i/src/app.py w/src/app.py\n--- i/src/app.py\n+++ w/src/app.py\n",
    "git backwards": "diff --git b/src/app.py a/src/app.py\n--- b/src/app.py\n+++ a/src/app.py\n",
    "diff -u": "--- src/app.py\t2026-01-02 03:04:05.678 +0100\n+++ src/app.py\t2026-01-02 03:04:06.000 +0100\n",
    "diff -u with a backup": "--- src/app.py.orig\t2026-01-02 03:04:05 +0100\n+++ src/app.py\tx\n",
    "diff -u of two files": "--- src/app.py\n+++ src/app.py.new\n",
    "diff -ruN": "diff -ruN old/src/app.py new/src/app.py\n--- old/src/app.py\tx\n+++ new/src/app.py\tx\n",
    "hg": "diff -r 0123456789ab -r ba9876543210 src/app.py\n--- a/src/app.py\tThu Jan 01 00:00:00 1970 +0000\n"
    "+++ b/src/app.py\tMon Nov 30 12:00:00 2026 +0000\n",
    "hg export": "# HG changeset patch\n# User A\n# Date 0 0\nMend it\n\ndiff --git a/src/app.py b/src/app.py\n"
    "--- a/src/app.py\n+++ b/src/app.py\n",
    "svn": f"Index: src/app.py\n{'=' * 67}\n--- src/app.py\t(revision 7)\n+++ src/app.py\t(working copy)\n",
    "one prefix twice": "--- a/src/app.py\n+++ a/src/app.py\n",
    "an agent": "Here is the change you asked for:\n\n```diff\n--- a/src/app.py\n+++ b/src/app.py\n",
    "quoted": '--- "a/src/app.py"\n+++ "b/src/app.py"\n',
}


@pytest.mark.parametrize("form", HEADERS)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_change_is_read_from_every_form_of_header(house: House, form: str, ending: str) -> None:
    tail = "```\n\nThat is all.\n" if form == "an agent" else ""
    file = only(house, (HEADERS[form] + HUNK + tail).replace("\n", ending))
    assert (file.path, file.action, file.result) == ("src/app.py", "modify", MENDED)


MADE = "@@ -0,0 +1 @@\n+made\n"


@pytest.mark.parametrize(
    "header",
    [
        "--- /dev/null\n+++ b/docs/new.txt\n",
        "--- /dev/null\n+++ docs/new.txt\n",
        "--- /dev/null\tThu Jan 01 00:00:00 1970 +0000\n+++ b/docs/new.txt\tx\n",
        "--- old/docs/new.txt\t1970-01-01 00:00:00.000000000 +0000\n+++ new/docs/new.txt\tx\n",
        "--- old/docs/new.txt\t1969-12-31 19:00:00.000000000 -0500\n+++ new/docs/new.txt\tx\n",
        "--- docs/new.txt\t(nonexistent)\n+++ docs/new.txt\t(working copy)\n",
        "--- docs/new.txt\t(revision 0)\n+++ docs/new.txt\t(working copy)\n",
        "diff --git a/docs/new.txt b/docs/new.txt\nnew file mode 100644\n--- /dev/null\n+++ b/docs/new.txt\n",
        "diff --git docs/new.txt docs/new.txt\nnew file mode 100644\n--- /dev/null\n+++ docs/new.txt\n",
    ],
)
def test_a_file_is_made_from_every_form_of_header(house: House, header: str) -> None:
    file = only(house, header + MADE)
    assert (file.path, file.action, file.result) == ("docs/new.txt", "create", b"made\n")


@pytest.mark.parametrize(
    "header",
    [
        "--- a/src/app.py\n+++ /dev/null\n",
        "--- src/app.py\n+++ /dev/null\n",
        "--- old/src/app.py\tx\n+++ new/src/app.py\t1970-01-01 00:00:00.000000000 +0000\n",
        "--- src/app.py\t(revision 3)\n+++ src/app.py\t(nonexistent)\n",
        "diff --git a/src/app.py b/src/app.py\ndeleted file mode 100644\n--- a/src/app.py\n+++ /dev/null\n",
    ],
)
def test_a_file_is_deleted_by_every_form_of_header(house: House, header: str) -> None:
    file = only(house, header + "@@ -1,2 +0,0 @@\n-def answer():\n-    return 41\n")
    assert (file.path, file.action, file.result) == ("src/app.py", "delete", None)


def test_a_directory_that_is_named_like_a_prefix_is_kept_when_it_is_one(house: House) -> None:
    hunk = "@@ -1 +1 @@\n-x\n+y\n"
    for header in (
        "--- a/x.txt\n+++ a/x.txt\n",
        "--- a/a/x.txt\n+++ b/a/x.txt\n",
        "diff --git a/x.txt a/x.txt\n--- a/x.txt\n+++ a/x.txt\n",
    ):
        assert only(house, header + hunk).path == "a/x.txt"
    assert only(house, f"--- a/spaced name.txt\t\n+++ b/spaced name.txt\t\n{hunk}").path == "spaced name.txt"


def test_a_copy_is_a_new_file_and_its_source_stays(house: House) -> None:
    patch = "diff --git a/src/app.py b/src/two.py\nsimilarity index 90%\ncopy from src/app.py\ncopy to src/two.py\n"
    file = only(house, patch + "--- a/src/app.py\n+++ b/src/two.py\n" + HUNK)
    assert (file.path, file.action, file.base, file.result) == ("src/two.py", "create", None, MENDED)


def test_a_script_that_may_be_executed_stays_one_when_it_is_copied(house: House) -> None:
    (house.workspace.root / "run.sh").chmod(0o755)
    file = only(
        house, "diff --git a/run.sh b/go.sh\nsimilarity index 100%\ncopy from run.sh\ncopy to go.sh\n"
    )
    assert (file.path, file.result_mode, file.result) == ("go.sh", 0o755, b"x\n")


def test_the_mark_of_a_missing_end_of_line_is_understood_in_any_language(house: House) -> None:
    for words in ("No newline at end of file", "Kein Zeilenumbruch am Dateiende.", "文件尾没有换行符"):
        assert only(house, f"--- a/a/x.txt\n+++ b/a/x.txt\n@@ -1 +1 @@\n-x\n+y\n\\ {words}\n").result == b"y"


def test_an_empty_line_of_a_hunk_stands_for_an_empty_line_of_the_file(house: House) -> None:
    plant(house.workspace.root, {"gap.txt": "one\n\ntwo\n"})
    patch = "--- a/gap.txt\n+++ b/gap.txt\n@@ -1,3 +1,3 @@\n one\n\n-two\n+three\n"
    assert only(house, patch).result == b"one\n\nthree\n"


def test_what_a_patch_only_mentions_is_noted_on_the_change(house: House) -> None:
    made = import_patch(house, f"Only in new/src: extra.py\n{HEADERS['diff -ruN']}{HUNK}".encode())
    assert any("Only in new/src: extra.py" in note for note in made.notes)


def test_the_same_file_may_come_again_as_in_a_series(house: House) -> None:
    second = "--- a/src/app.py\n+++ b/src/app.py\n@@ -2 +2,2 @@\n     return 42\n+# so\n"
    file = only(house, HEADERS["git"] + HUNK + second)
    assert (file.base, file.result) == (APP, MENDED + b"# so\n")


def test_what_a_series_takes_back_is_no_change(house: House) -> None:
    back = HUNK.replace("-    return 41\n+    return 42", "-    return 42\n+    return 41")
    with pytest.raises(StewardError, match="changes nothing"):
        import_patch(house, (HEADERS["git"] + HUNK + HEADERS["git"] + back).encode())
    assert house.changes.store.pending() == ()


def test_diff_itself_is_taken_with_all_that_it_does_to_a_tree(house: House, tmp_path: Path) -> None:
    root = house.workspace.root
    plant(tmp_path / "new", {name: (root / name).read_bytes() for name in ("src/app.py", "README.md")})
    plant(tmp_path / "new", {"src/app.py": MENDED, "src/added.py": "new = 1\n", "README.md": "No end"})
    plant(
        tmp_path / "old",
        {"src/app.py": APP, "README.md": TREE["README.md"], "web/page.js": TREE["web/page.js"]},
    )
    done = subprocess.run(["diff", "-ruN", "old", "new"], cwd=tmp_path, capture_output=True, check=False)
    made = import_patch(house, done.stdout)
    assert {file.path: (file.action, file.result) for file in made.files} == {
        "src/app.py": ("modify", MENDED),
        "src/added.py": ("create", b"new = 1\n"),
        "README.md": ("modify", b"No end"),
        "web/page.js": ("delete", None),
    }
