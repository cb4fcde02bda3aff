"""Paths are completed from one list: the best first, nothing ignored or secret; an old list is made anew."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from steward.service import completion
from steward.service.completion import PathIndex
from steward.workspace import Workspace

FILES = [
    "README.md",
    "src/app.py",
    "src/apple/tree.py",
    "src/billing/tax_rates.py",
    "src/billing/test_tax.py",
    "docs/Readme First.md",
    "docs/deep/er/app.py",
    "tests/test_app.py",
    "STRASSE/straße.txt",
    "odd\nname/app x.py",
    "-v",
]
APPS = ["odd\nname/app x.py", "src/app.py", "docs/deep/er/app.py", "tests/test_app.py", "src/apple/tree.py"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    return tmp_path


def complete(root: Path, text: str, limit: int = 12) -> tuple[str, ...]:
    with Workspace.open(root) as workspace:
        return PathIndex(workspace).complete(text, limit)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("", ["-v", "README.md"]),
        ("src/b", ["src/billing/tax_rates.py", "src/billing/test_tax.py"]),
        ("read", ["README.md", "docs/Readme First.md"]),
        ("app", APPS),
        ("tax", ["src/billing/tax_rates.py", "src/billing/test_tax.py"]),
        ("billing/test", ["src/billing/test_tax.py"]),
        ("sbtx", ["src/billing/tax_rates.py", "src/billing/test_tax.py"]),
        ("tax rates", ["src/billing/tax_rates.py"]),
        ("raedme.md", ["README.md"]),
        ("STRASSE", ["STRASSE/straße.txt"]),
        ("strasse.t", ["STRASSE/straße.txt"]),
        ("zzzzzz", []),
        ("a\nb", []),
    ],
)
def test_the_paths_that_fit_best_come_first(root: Path, text: str, first: list[str]) -> None:
    found = complete(root, text)
    assert list(found[: len(first)]) == first
    if not first:
        assert found == ()


TREE = [
    "lib/main.py",
    "textual/_compat.py",
    "textual/acp.py",
    "textual/_dispatch_key.py",
    "textual/_keyboard_protocol.py",
    "textual/app.py",
    "textual/await_complete.py",
    "textual/demo/demo_app.py",
    "textual/widgets/_input.py",
    "textual/widgets/_masked_input.py",
    "textual/widgets/input.py",
    "typed/extra/apps.py",
    "zoo/main/lib.py",
    "zoo/plain/libmap.py",
]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("txtapp", ["textual/app.py", "typed/extra/apps.py", "textual/demo/demo_app.py"]),
        ("textapp", ["textual/app.py", "textual/demo/demo_app.py"]),
        ("app textual", ["textual/app.py", "textual/demo/demo_app.py"]),
        ("wdgtinput", ["textual/widgets/input.py", "textual/widgets/_input.py"]),
        ("lib main", ["lib/main.py", "zoo/main/lib.py"]),
        ("main lib", ["lib/main.py", "zoo/main/lib.py"]),
        ("map lib", ["zoo/plain/libmap.py"]),
        ("txxt/app", ["textual/app.py", "textual/acp.py"]),
    ],
)
def test_a_piece_in_one_and_at_the_beginning_of_a_word_comes_before_letters_far_apart(
    text: str, first: list[str]
) -> None:
    found = completion._Listing(TREE).matches(text, 12)  # pyright: ignore[reportPrivateUsage]
    assert list(dict.fromkeys(found))[: len(first)] == first


def test_a_limit_is_kept_and_no_path_comes_twice(root: Path) -> None:
    assert len(complete(root, "", 3)) == 3
    assert len(complete(root, "a", 2)) == 2
    found = complete(root, "app")
    assert len(found) == len(set(found))


def test_what_is_ignored_or_secret_is_not_offered(root: Path) -> None:
    (root / ".gitignore").write_text("*.log\n")
    for name in ("a.log", ".env", "key.pem"):
        (root / name).write_text("x")
    for text in ("", "a.log", ".env", "key"):
        assert not {"a.log", ".env", "key.pem"} & set(complete(root, text, 50))


texts = st.text("abAB/._ \nß", min_size=1, max_size=6)


@settings(max_examples=60, deadline=None)
@example(files=[], wanted=" ")
@given(files=st.lists(texts, max_size=12, unique=True), wanted=texts)
def test_whatever_holds_the_text_is_offered_before_what_does_not(files: list[str], wanted: str) -> None:
    found = list(completion._Listing(files).matches(wanted.casefold(), 100))  # pyright: ignore[reportPrivateUsage]
    holding = {file for file in files if wanted.casefold() in file.casefold()}
    if "\n" not in wanted:
        seen = list(dict.fromkeys(found))
        assert set(seen[: len(holding)]) == holding
    assert set(found) <= set(files)


def test_an_old_list_is_given_at_once_and_a_new_one_made_meanwhile(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(completion, "FRESH_SECONDS", 0.0)
    monkeypatch.setattr(completion, "SHARE", 0)
    with Workspace.open(root) as workspace:
        index = PathIndex(workspace)
        index.complete("new", 5)
        (root / "newcomer").write_text("x")
        end = time.monotonic() + 30
        while index.complete("newc", 5) != ("newcomer",):
            assert time.monotonic() < end
            time.sleep(0.005)
        index.close()


def test_a_list_is_not_made_anew_while_it_is_fresh(root: Path) -> None:
    with Workspace.open(root) as workspace:
        index = PathIndex(workspace)
        index.complete("x", 5)
        (root / "newcomer").write_text("x")
        assert "newcomer" not in index.complete("newcomer", 5)


def test_closing_waits_for_no_list_and_leaves_no_thread(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(completion, "FRESH_SECONDS", -1.0)
    monkeypatch.setattr(completion, "SHARE", 0)
    before = threading.active_count()
    with Workspace.open(root) as workspace:
        index = PathIndex(workspace)
        for _ in range(20):
            index.complete("a", 3)
        index.close()
        assert threading.active_count() == before
