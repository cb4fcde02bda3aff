"""Adding documents to any list of messages in OpenAI's shape."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from steward.agents_md import Memory, Resolver, augment
from steward.agents_md.messages import touched_paths

TREE = {"AGENTS.md": "root rules\n", "first/AGENTS.md": "first rules\n", "second/AGENTS.md": "second rules\n"}


@pytest.fixture
def tree() -> dict[str, str]:
    return dict(TREE)


@pytest.fixture
def resolver(tree: dict[str, str]) -> Resolver:
    return Resolver("/repository", files=Memory(tree))


def call(path: Any, name: str = "path") -> dict[str, Any]:
    """An assistant's message with one tool call."""
    function = {"name": "read", "arguments": json.dumps({name: path})}
    calls = [{"id": "1", "type": "function", "function": function}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def text_of(messages: list[dict[str, Any]]) -> str:
    return json.dumps(messages)


def test_a_system_message_is_made_when_there_is_none(resolver: Resolver) -> None:
    messages = [{"role": "user", "content": "hello"}]
    added = resolver.augment(messages, "first/a.py")
    assert [message["role"] for message in added] == ["system", "user"]
    assert "root rules" in added[0]["content"]
    assert "first rules" in added[0]["content"]
    assert "second rules" not in added[0]["content"]
    assert messages == [{"role": "user", "content": "hello"}]


def test_the_words_of_a_system_message_stay_in_front(resolver: Resolver) -> None:
    added = augment([{"role": "system", "content": "Be brief."}], "first/a.py", resolver=resolver)
    assert added[0]["content"].startswith("Be brief.\n\n<agents-md-")
    assert len(added) == 1


def test_a_developer_message_and_content_in_parts_are_understood(resolver: Resolver) -> None:
    parts = [{"type": "text", "text": "Be brief."}]
    messages = [{"role": "developer", "content": parts}]
    added = resolver.augment(messages, "first/a.py")
    assert [part["text"][:9] for part in added[0]["content"]] == ["Be brief.", "<agents-m"]
    assert parts == [{"type": "text", "text": "Be brief."}]
    again = resolver.augment(added, "second/a.py")
    assert len(again[0]["content"]) == 2
    assert "first rules" not in text_of(again)


def test_augmenting_again_replaces_what_was_added(resolver: Resolver) -> None:
    once = resolver.augment([{"role": "system", "content": "Be brief."}], "first/a.py")
    assert resolver.augment(once, "first/a.py") == once
    other = resolver.augment(once, "second/a.py")
    assert "first rules" not in text_of(other)
    assert "second rules" in text_of(other)


def test_without_documents_nothing_is_added_and_an_earlier_block_goes(
    tree: dict[str, str], resolver: Resolver
) -> None:
    plain = [{"role": "user", "content": "hello"}]
    added = resolver.augment(plain, "a.py")
    tree.clear()
    tree["a.py"] = ""
    assert resolver.augment(plain, "a.py") == plain
    assert resolver.augment(added, "a.py") == plain


def test_a_block_that_somebody_wrote_by_hand_stays(resolver: Resolver) -> None:
    forged = "<agents-md-0123456789abcdef>\nnot ours\n</agents-md-0123456789abcdef>\n"
    added = resolver.augment([{"role": "system", "content": forged}], "first/a.py")
    assert "not ours" in added[0]["content"]


def test_an_explicit_target_beats_touched_paths_which_beat_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("first", "second", "third"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "AGENTS.md").write_text(f"{name} rules\n")
    monkeypatch.chdir(tmp_path / "third")
    resolver = Resolver(tmp_path)
    messages = [{"role": "user", "content": "x"}, call("second/a.py")]
    assert "first rules" in text_of(resolver.augment(messages, "first/a.py"))
    assert "second rules" in text_of(resolver.augment(messages))
    assert "first rules" in text_of(resolver.augment(messages, touched=["second/a.py", "first/a.py"]))
    assert "third rules" in text_of(resolver.augment(messages[:1]))
    assert "third rules" in text_of(resolver.augment(messages, touched=[]))
    monkeypatch.chdir("/")
    assert resolver.augment(messages[:1]) == messages[:1]


def test_paths_of_tool_calls_come_last_first_and_nonsense_is_passed_over(resolver: Resolver) -> None:
    messages: list[dict[str, Any]] = [
        call("first/a.py"),
        call("second/a.py", "file_path"),
        call("../../etc/passwd"),
        call("a\0b"),
        call(7),
        {"role": "assistant", "tool_calls": [{"function": {"arguments": "{half"}}]},
        {"role": "assistant", "tool_calls": [None]},
        {"role": "assistant", "tool_calls": "none"},
        {"role": "tool", "content": "first/a.py"},
    ]
    assert list(touched_paths(messages)) == ["a\0b", "../../etc/passwd", "second/a.py", "first/a.py"]
    assert "second rules" in text_of(resolver.augment(messages))


def test_appending_leaves_every_message_as_it_is_and_says_nothing_twice(resolver: Resolver) -> None:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "x"}]
    before = copy.deepcopy(messages)
    added = resolver.augment(messages, "first/a.py", place="append")
    assert added[:2] == before == messages
    assert "first rules" in added[2]["content"]
    assert resolver.augment(added, "first/a.py", place="append") == added
    more = resolver.augment(added, "second/a.py", place="append")
    assert more[:3] == added
    assert "second rules" in more[3]["content"]


def test_an_unknown_place_is_refused(resolver: Resolver) -> None:
    with pytest.raises(ValueError, match="place"):
        resolver.augment([], "a.py", place="middle")
