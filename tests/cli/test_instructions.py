"""``instructions`` from a shell: the cases of the library, driven through the command line."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import Program
from tests.monorepo import FIXTURES

CASES: list[dict[str, Any]] = tomllib.loads((FIXTURES / "cases" / "instructions.toml").read_text())["case"]
PLAIN = [case for case in CASES if not {"settings", "user", "files"} & set(case)]


def grow(tree: dict[str, Any], root: Path) -> None:
    """Make the tree of a case."""
    for name, what in tree.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        match what:
            case str():
                path.write_bytes(what.encode())
            case {"hex": text}:
                path.write_bytes(bytes.fromhex(text))
            case {"link": target}:
                path.symlink_to(target)
            case {"dir": True}:
                path.mkdir(exist_ok=True)
            case {"fifo": True}:
                os.mkfifo(path)
            case {"repeat": text, "times": times}:
                path.write_bytes(text.encode() * times)
            case _:
                raise ValueError(f"unknown kind of file {what!r}")


@pytest.mark.parametrize("case", PLAIN, ids=[case["id"] for case in PLAIN])
def test_the_command_line_gives_what_the_case_says(case: dict[str, Any], tmp_path: Path):
    grow(case["tree"], tmp_path / "root")
    (tmp_path / "home").mkdir()
    steward = Program(tmp_path, tmp_path / "home")
    workspace = tmp_path / "root" / case.get("workspace", ".")
    ran = steward("--workspace", str(workspace), "instructions", "--json", case["target"])
    shape = ran.json
    assert ran.code == 0
    assert [document["path"] for document in shape["documents"]] == case["documents"]
    assert shape["outcome"] == case["outcome"]
    assert shape["boundary"] == case.get("boundary", shape["boundary"])
    skipped = {item["path"] for item in shape["skipped"]}
    assert skipped >= {item if isinstance(item, str) else item["path"] for item in case.get("skipped", [])}


def test_the_promised_keys_are_there(steward: Program):
    shape = steward("instructions", "--json", "services/ledger/ledger/book.py").json
    assert {"target", "boundary", "outcome", "limit", "documents", "skipped"} <= set(shape)
    assert [(d["path"], d["scope"], d["kind"]) for d in shape["documents"]] == [
        ("AGENTS.md", ".", "agents"),
        ("services/ledger/AGENTS.override.md", "services/ledger", "override"),
    ]
    assert {"bytes", "chars", "tokens", "sha256"} <= set(shape["documents"][0])


def test_a_path_is_relative_to_where_the_person_stands(steward: Program, monorepo: Path):
    inside = Program(monorepo / "web" / "src", steward.home)
    expected = ["AGENTS.md", "web/CLAUDE.md", "web/src/cart/AGENTS.md"]
    for typed in ("cart/cart.ts", "../src/cart/cart.ts", str(monorepo / "web/src/cart/cart.ts")):
        shape = inside("instructions", "--json", typed).json
        assert shape["target"] == "web/src/cart/cart.ts"
        assert [document["path"] for document in shape["documents"]] == expected
    shape = inside("instructions", "--json", "--workspace", str(monorepo), "web/src/cart/cart.ts").json
    assert [document["path"] for document in shape["documents"]] == expected


@pytest.mark.parametrize("path", ["../elsewhere", "/etc/passwd"])
def test_a_path_outside_is_refused_in_one_sentence(steward: Program, path: str):
    ran = steward("instructions", path)
    assert ran.code in (1, 2)
    assert ran.out == "" and ran.err.count("\n") == 1


def test_a_further_document_may_be_named(steward: Program, tmp_path: Path):
    (tmp_path / "mine.md").write_text("Be brief.\n")
    shape = steward("instructions", "--json", "--read", str(tmp_path / "mine.md")).json
    assert len(shape["documents"]) == 2


def test_a_name_with_a_line_break_begins_no_line_of_its_own(steward: Program):
    (steward.directory / "new\nLeft out: x").mkdir()
    (steward.directory / "new\nLeft out: x" / "agents.md").write_text("x")
    ran = steward("instructions", "new\nLeft out: x/y.py")
    assert ran.code == 0 and "new␊Left out: x/y.py" in ran.out
    assert not any(row.startswith("Left out: x") for row in ran.out.splitlines())
