"""A conversation is written for the worker once: of each request only what is new costs anything."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.conversation import Assistant, Conversation, Message, System, ToolAnswer, User, to_openai
from steward.model import protocol
from steward.model.protocol import Growing, decode, encode

texts = st.text(st.characters(codec=None) | st.sampled_from('"\\]{}\n\u2028é漢😀'), max_size=12)


@given(first=texts, more=st.lists(st.tuples(texts, st.booleans()), max_size=8))
def test_whatever_comes_next_is_written_as_it_is(first: str, more: list[tuple[str, bool]]) -> None:
    growing = Growing()
    text = first
    for new, grows in more:
        text = text[:-1] + new + text[-1:] if grows else new
        written = growing.written(text)
        assert json.loads(written) == text
        assert written.isascii()
        line = encode({"op": "call", "id": "1"}, {"messages": written, "more": b"[1]"})
        assert line.endswith(b"}\n") and line.count(b"\n") == 1
        assert decode(line) == {"op": "call", "id": "1", "messages": text, "more": [1]}


def test_a_message_of_nothing_but_what_is_written_is_whole() -> None:
    assert decode(encode({}, {"a": b"1", "b": b'"x"'})) == {"a": 1, "b": "x"}
    assert decode(encode({}, {})) == {}


def test_a_round_writes_what_it_adds_and_not_what_was_said_before(monkeypatch: pytest.MonkeyPatch) -> None:
    count = 0
    real = protocol._dumps  # pyright: ignore[reportPrivateUsage]

    def counted(value: object) -> bytes:
        nonlocal count
        count += len(value) if isinstance(value, str) else 0
        return real(value)

    monkeypatch.setattr(protocol, "_dumps", counted)
    growing, conversation = Growing(), Conversation()
    for number in range(200):
        conversation.append(User("x" * 100) if number % 2 else Assistant("y" * 100))
        growing.written(conversation.wire())
    assert count < conversation.characters() + 2000


messages = st.one_of(
    st.builds(User, texts),
    st.builds(Assistant, texts),
    st.builds(ToolAnswer, st.just("1"), st.just("readFile"), texts),
)


@given(rounds=st.lists(st.lists(messages, max_size=4), max_size=6), system=texts)
def test_each_request_begins_with_the_one_before_and_says_every_message(
    rounds: list[list[Message]], system: str
) -> None:
    conversation = Conversation()
    before = "["
    for new in [[System(system)], *rounds]:
        for message in new:
            conversation.append(message)
        wire = conversation.wire()
        assert wire.startswith(before)
        shapes = [to_openai(message) for message in conversation.messages]
        assert json.loads(wire) == [json.loads(json.dumps(shape)) for shape in shapes]
        lines = [json.dumps(shape, ensure_ascii=False, separators=(",", ":")) for shape in shapes]
        assert conversation.characters() == sum(map(len, lines))
        for kind in (System, User, Assistant, ToolAnswer):
            size = sum(len(message.text) for message in conversation.messages if type(message) is kind)
            assert conversation.characters_of(kind) == size
        replaced = json.loads(conversation.wire("another"))
        assert replaced[0]["content"] == "another"
        assert replaced[1:] == json.loads(wire)[1:]
        before = wire[:-1]
