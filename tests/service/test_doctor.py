"""The doctor's checks: each state of the world gives its finding, with a remedy when something is wrong."""

from __future__ import annotations

import ast
import asyncio
import errno
import json
import os
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, cast

import pytest

from steward.agents_md import Resolver
from steward.config import Settings
from steward.errors import ModelError
from steward.model.gateway import Gateway
from steward.model.request import ModelRequest, Part
from steward.proposals.record import Record, encode
from steward.service import doctor, doctor_disk
from steward.service.doctor import (
    examine,
    instructions,
    keys,
    litellm_version,
    model,
    reached,
    skills,
    terminal,
    versions,
    worker,
    worst,
)
from steward.service.doctor_disk import (
    file_system,
    journals,
    probe,
    search,
    state_directory,
    watching,
    workspace,
)
from steward.service.exam_card import CARDS
from steward.service.finding import Finding
from steward.service.house import House
from steward.service.model_settings import remember
from steward.service.private_file import write_private
from steward.service.trust import TrustItem, TrustView
from steward.skills import Places, discover
from tests.monorepo import PROJECT
from tests.support import plant

KEY = "sk-never-shown-4242"


def states(findings: list[Finding]) -> list[str]:
    """The states in order."""
    return [finding.state for finding in findings]


def test_this_installation_is_in_order() -> None:
    found = list(versions())
    assert worst(found) == "ok"
    assert any("litellm" in finding.sentence for finding in found)


def test_an_old_python_is_named() -> None:
    first = next(iter(versions((3, 10))))
    assert first.state == "bad" and "3.11" in first.remedy


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "NEEDED", ("textual", "no-such-package-at-all"))
    found = list(versions())
    assert states(found) == ["ok", "bad"] and "no-such-package-at-all" in found[1].sentence


def test_the_versions_that_stole_credentials_are_bad() -> None:
    assert litellm_version("1.82.7").state == "bad"
    assert litellm_version("1.82.8").state == "bad"
    assert litellm_version("1.91.5").state == "ok"


@pytest.mark.parametrize(
    ("environment", "is_terminal", "size", "encoding", "wanted"),
    [
        ({"TERM": "xterm-256color"}, True, (100, 40), "UTF-8", ["ok"]),
        ({"TERM": "xterm-256color", "TMUX": "x", "COLORTERM": "truecolor"}, True, (100, 40), "utf8", ["ok"]),
        ({"TERM": "dumb"}, True, (100, 40), "utf-8", ["warn"]),
        ({}, True, (100, 40), "utf-8", ["warn"]),
        ({"TERM": "xterm"}, True, (40, 10), "utf-8", ["ok", "warn"]),
        ({"TERM": "xterm", "NO_COLOR": ""}, True, (100, 40), "utf-8", ["ok", "ok"]),
        ({"TERM": "xterm"}, True, (100, 40), "latin-1", ["ok", "warn"]),
        ({}, False, None, "", ["ok", "warn"]),
    ],
)
def test_the_terminal(
    environment: dict[str, str],
    is_terminal: bool,
    size: tuple[int, int] | None,
    encoding: str,
    wanted: list[str],
) -> None:
    found = list(terminal(environment, is_terminal=is_terminal, size=size, encoding=encoding))
    assert states(found) == wanted
    assert all(finding.remedy for finding in found if finding.state != "ok")


def test_names_of_keys_are_shown_and_values_never_are() -> None:
    environment = {"OPENAI_API_KEY": KEY, "EMPTY_API_KEY": " ", "HOME": "/x", "AWS_ACCESS_KEY_ID": KEY}
    assert keys(environment) == ("AWS_ACCESS_KEY_ID", "OPENAI_API_KEY")
    for chosen in ("", "gpt-5", "anthropic/claude"):
        for finding in model(chosen, environment):
            assert KEY not in json.dumps(finding.to_json())


@pytest.mark.parametrize(
    ("chosen", "environment", "options", "state"),
    [
        ("", {}, {}, "warn"),
        ("offline/guide", {}, {}, "warn"),
        ("gpt-5", {}, {}, "warn"),
        ("gpt-5", {"OPENAI_API_KEY": KEY}, {}, "ok"),
        ("anthropic/claude-x", {"OPENAI_API_KEY": KEY}, {}, "warn"),
        ("claude-x", {"ANTHROPIC_API_KEY": KEY}, {}, "ok"),
        ("openai/local", {}, {"api_base": "http://127.0.0.1:1"}, "ok"),
        ("ollama_chat/qwen", {}, {}, "ok"),
        ("script/a.jsonl", {}, {}, "ok"),
    ],
)
def test_a_model_and_the_key_it_needs(
    chosen: str, environment: dict[str, str], options: dict[str, object], state: str
) -> None:
    found = list(model(chosen, environment, options))[-1]
    assert found.name == "model" and found.state == state
    assert bool(found.remedy) == (state != "ok")


async def test_the_worker_is_ready_quiet_and_answers(tmp_path: Path) -> None:
    script = tmp_path / "yes.jsonl"
    script.write_text('{"text": "yes"}\n')
    gateway = Gateway()
    try:
        assert (await worker(gateway)).state == "ok"
        assert (await reached(gateway, f"script/{script}")).state == "ok"
        missing = await reached(gateway, f"script/{tmp_path}/none.jsonl")
        assert missing.state == "bad" and missing.remedy
    finally:
        await gateway.close()


class Fake:
    """A gateway whose worker does as it is told."""

    def __init__(self, noise: str = "", error: ModelError | None = None) -> None:
        self.noise, self.error = noise, error

    async def start(self) -> None: ...

    async def ready(self) -> str:
        if self.error is not None:
            raise self.error
        return "1.2.3"

    def diagnostics(self) -> str:
        return self.noise

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Part]:
        await asyncio.sleep(60)
        raise AssertionError
        yield


async def test_a_worker_that_prints_or_dies_is_named_without_what_it_printed() -> None:
    noisy = await worker(cast(Any, Fake(noise=f"banner {KEY}")))
    assert noisy.state == "warn" and KEY not in noisy.sentence
    dead = await worker(cast(Any, Fake(error=ModelError("worker-died", "It cannot start."))))
    assert dead.state == "bad" and dead.sentence == "It cannot start." and dead.remedy


async def test_a_model_that_keeps_silent_is_bad_after_a_while() -> None:
    found = await reached(cast(Any, Fake()), "some/model", seconds=0.05)
    assert found.state == "bad" and "no answer within" in found.sentence


def test_a_state_directory_for_the_person_alone(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    assert states(list(state_directory(tmp_path))) == ["ok"]
    tmp_path.chmod(0o755)
    assert states(list(state_directory(tmp_path))) == ["warn", "ok"]
    assert list(tmp_path.iterdir()) == []
    assert states(list(state_directory(tmp_path / "none"))) == ["bad"]


def test_a_file_system_that_cannot_swap_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise OSError(errno.EINVAL, "no")

    monkeypatch.setattr(doctor_disk, "exchange", refuse)
    found = probe(tmp_path, "state")
    assert found.state == "warn" and "window" in found.sentence and list(tmp_path.iterdir()) == []


def test_a_disk_that_fails_is_bad_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "fsync", fail)
    found = probe(tmp_path, "state")
    assert found.state == "bad" and str(tmp_path) not in found.sentence and list(tmp_path.iterdir()) == []


MOUNTS = (
    "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
    "23 22 0:30 / /srv rw - nfs4 server:/x rw\n"
    "24 22 0:31 / /srv/with\\040space rw - fuse.sshfs host:/ rw\n"
    "nonsense\n"
)


@pytest.mark.parametrize(
    ("path", "kind"),
    [("/home/me", "ext4"), ("/srv/a", "nfs4"), ("/srv/with space/a", "fuse.sshfs"), ("/srvx", "ext4")],
)
def test_the_file_system_is_that_of_the_longest_mount_point(path: str, kind: str) -> None:
    assert file_system(Path(path), MOUNTS) == kind
    assert file_system(Path(path), "") == ""


def test_nothing_is_written_in_the_workspace(tmp_path: Path) -> None:
    root, state = tmp_path / "repo", tmp_path / "state"
    (root / ".git").mkdir(parents=True)
    state.mkdir()
    assert states(list(workspace(root, "openat2", state))) == ["ok", "ok"]
    assert [path.name for path in root.iterdir()] == [".git"]


@pytest.mark.parametrize(
    ("kind", "state"),
    [("ext4", "ok"), ("nfs4", "warn"), ("fuse.sshfs", "warn"), ("strange", "ok"), ("", "ok")],
)
def test_a_workspace_on_another_file_system_is_judged_by_its_kind(
    kind: str, state: str, tmp_path: Path
) -> None:
    root = tmp_path / "repo"
    (root / ".git").mkdir(parents=True)
    mounts = f"22 1 8:1 / / rw - {kind} x rw\n" if kind else ""
    found = list(workspace(root, "walk", Path("/proc"), mounts))
    assert found[-1].state == state


def test_a_workspace_that_is_no_repository_is_said(tmp_path: Path) -> None:
    found = list(workspace(tmp_path, "openat2", tmp_path))
    assert "warn" in states(found) and "no git repository" in found[1].sentence


@pytest.mark.parametrize(
    ("watches", "instances", "state"),
    [("65536", "128", "ok"), ("100", "128", "warn"), ("65536", "1", "warn")],
)
def test_the_limits_of_watching(watches: str, instances: str, state: str, tmp_path: Path) -> None:
    (tmp_path / "max_user_watches").write_text(watches)
    (tmp_path / "max_user_instances").write_text(instances)
    assert watching(tmp_path).state == state


def test_a_system_without_such_limits_is_fine(tmp_path: Path) -> None:
    assert watching(tmp_path / "none").state == "ok"


def test_searching_without_ripgrep_is_a_warning(tmp_path: Path) -> None:
    assert search(tmp_path, path=str(tmp_path)).state == "warn"
    (tmp_path / "rg").touch()
    assert search(tmp_path, path="").state == "ok"


def test_journals_that_were_left_are_counted_and_not_touched(tmp_path: Path) -> None:
    assert journals(tmp_path).state == "ok"
    (tmp_path / "journal").mkdir()
    assert journals(tmp_path).state == "ok"
    (tmp_path / "journal" / "0001.json").write_text("not even json")
    found = journals(tmp_path)
    assert found.state == "warn" and found.remedy and "1 " in found.sentence
    assert (tmp_path / "journal" / "0001.json").read_text() == "not even json"


def test_a_journal_that_holds_only_the_file_for_the_next_change_is_well(tmp_path: Path) -> None:
    (tmp_path / "journal").mkdir()
    spare = tmp_path / "journal" / "aa.spare"
    for nonce, state in (("aa", "ok"), ("bb", "warn")):
        spare.write_bytes(encode(Record("change-001", "apply", "stamp", "workspace", nonce, ())))
        assert journals(tmp_path).state == state


def test_what_would_be_loaded_is_named_with_what_would_not(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("rules\n")
    assert "AGENTS.md (6 bytes)" in next(iter(instructions(Resolver(tmp_path).resolve(".")))).sentence
    (tmp_path / "AGENTS.md").write_bytes(b"\xff\xfe")
    found = list(instructions(Resolver(tmp_path).resolve(".")))
    assert states(found) == ["ok", "warn"] and "AGENTS.md" in found[1].sentence
    off = list(instructions(Resolver(tmp_path).resolve("."), enabled=False))
    assert states(off) == ["warn"]


def test_skills_are_counted_by_where_they_come_from(tmp_path: Path) -> None:
    folder = tmp_path / ".agents" / "skills" / "broken"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("nothing")
    found = list(skills(discover(Places(tmp_path))))
    assert found[0].sentence == "Would be offered: 3 shipped."
    assert found[1].state == "warn" and ".agents/skills/broken/SKILL.md" in found[1].sentence


def test_all_checks_of_a_workspace_in_one_go(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    (root / ".git").mkdir(parents=True)
    (root / "AGENTS.md").write_text("rules\n")
    house = House(root, Settings(), state=tmp_path / "state")
    try:
        found = list(examine(house, {"TERM": "xterm", "OPENAI_API_KEY": KEY}, chosen="gpt-5"))
    finally:
        house.close()
    assert worst(found) != "bad"
    names = [finding.name for finding in found]
    for name in (
        "versions",
        "packages",
        "state",
        "journals",
        "bounds",
        "instructions",
        "skills",
        "watching",
        "model",
    ):
        assert name in names
    text = json.dumps([finding.to_json() for finding in found])
    assert KEY not in text and str(tmp_path) not in text
    assert all(finding.remedy for finding in found if finding.state != "ok")


def test_the_model_that_was_remembered_and_what_its_exam_said_are_told(tmp_path: Path) -> None:
    plant(tmp_path / "repository")
    house = House(tmp_path / "repository", Settings(), state=tmp_path / "state")
    try:
        remember(tmp_path / "state", "openai/chosen")
        by_name = {f.name: f for f in examine(house, {"OPENAI_API_KEY": KEY})}
        assert "openai/chosen is chosen" in by_name["model"].sentence
        assert by_name["exam"].sentence == "openai/chosen was not examined yet."
        for verdict, state in (("fit for questions", "ok"), ("unfit: never calls a tool", "warn")):
            write_private(
                tmp_path / "state" / CARDS,
                {"openai/chosen": {"verdict": verdict, "held": "2026-01-02T03:04:05+00:00"}},
            )
            exam = {f.name: f for f in examine(house, {})}["exam"]
            assert exam.state == state and bool(exam.remedy) == (state == "warn")
            assert exam.sentence == f"The exam of 2026-01-02 found openai/chosen {verdict}."
        assert "exam" not in {f.name for f in examine(house, {}, chosen="offline/guide")}
    finally:
        house.close()


def test_what_waits_to_be_accepted_is_told_from_what_steers_the_model() -> None:
    def item(path: str, state: Any) -> TrustItem:
        return TrustItem("instructions", path, b"x", state)

    items = (
        item("AGENTS.md", "accepted"),
        item("web/AGENTS.md", "changed"),
        item("https://x.example", "yours"),
    )
    used, waiting = doctor.repository(TrustView("/r", True, items))
    assert (used.state, used.sentence) == ("ok", "Steers the model: AGENTS.md.")
    assert (waiting.state, waiting.sentence) == ("warn", "Waits until you accept it: web/AGENTS.md.")
    assert "steward trust" in waiting.remedy
    (used, waiting) = doctor.repository(TrustView("/r", False, items[:2]))
    assert "Nothing" in used.sentence and "AGENTS.md, web/AGENTS.md" in waiting.sentence
    (used,) = doctor.repository(TrustView("/r", True, items), forced=True)
    assert used.sentence == "Steers the model: AGENTS.md, web/AGENTS.md."


def test_whatever_is_not_well_comes_with_a_remedy() -> None:
    """In every module that makes findings, a state that is said outright is followed by a sentence and a remedy."""
    found = 0
    for path in (PROJECT / "steward").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Finding":
                state = node.args[1] if len(node.args) > 1 else None
                if isinstance(state, ast.Constant) and state.value != "ok":
                    found += 1
                    assert len(node.args) == 4, f"{path.name}:{node.lineno}"
    assert found > 20
