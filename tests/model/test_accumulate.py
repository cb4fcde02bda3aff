"""Deltas in every shape that servers send them, and what becomes of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steward.conversation import Assistant, to_openai
from steward.errors import ModelError
from steward.model.accumulate import MOST_CALLS, Accumulator
from steward.model.request import CallPart, ReasoningPart, Reply, TextPart

NAMES = ("listFiles", "searchFiles", "readFile", "proposePatch", "Skill")
STREAMS = Path(__file__).parents[2] / "fixtures" / "streams"
CASES = [
    json.loads(line)
    for name in ("given.jsonl", "further.jsonl")
    for line in (STREAMS / name).read_text("utf-8").splitlines()
]


def replied(deltas: list[dict[str, Any]], finish: str | None, taken: tuple[str, ...] = ()) -> Reply:
    accumulator = Accumulator(NAMES, taken)
    for delta in deltas:
        accumulator.feed(delta)
    return accumulator.finish(finish)


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_recorded_stream_becomes_the_calls_it_means(case: dict[str, Any]) -> None:
    reply = replied(case["deltas"], case["finish"])
    assert [[call.name, json.loads(call.arguments)] for call in reply.calls] == case["calls"]
    assert case.get("told", "") in reply.told
    assert bool(reply.told) == ("told" in case)
    if "text" in case:
        assert reply.text == case["text"]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_whatever_came_enters_the_history_in_a_shape_that_servers_take_back(case: dict[str, Any]) -> None:
    reply = replied(case["deltas"], case["finish"])
    calls = [*reply.calls, *(call for call, _ in reply.rejected)]
    assert len({call.id for call in calls}) == len(calls)
    for call in to_openai(Assistant(reply.text, tuple(calls))).get("tool_calls", []):
        assert call["id"]
        assert isinstance(json.loads(call["function"]["arguments"]), dict)
        assert call["function"]["name"].replace("_", "").replace("-", "").isalnum()
    assert all(sentence and "\n" not in sentence for _, sentence in reply.rejected)


def test_a_stream_without_a_finish_reason_is_an_error_and_runs_nothing() -> None:
    call = {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "listFiles", "arguments": "{}"}}]}
    for finish in (None, ""):
        with pytest.raises(ModelError) as error:
            replied([call], finish)
        assert error.value.kind == "interrupted-stream"


def test_ids_that_the_conversation_has_used_are_replaced_by_fresh_ones() -> None:
    def call(index: int, id: str | None) -> dict[str, Any]:
        return {
            "tool_calls": [{"index": index, "id": id, "function": {"name": "listFiles", "arguments": "{}"}}]
        }

    first = replied([call(0, "call_0"), call(1, None)], "tool_calls")
    taken = tuple(c.id for c in first.calls)
    second = replied([call(0, "call_0"), call(1, None)], "tool_calls", taken)
    ids = [c.id for c in (*first.calls, *second.calls)]
    assert len(set(ids)) == 4
    assert ids[0] == "call_0"
    assert all(len(id) == 9 and id.isalnum() for id in ids[1:])


def test_the_same_stream_gets_the_same_ids_so_that_a_replay_is_the_same_request() -> None:
    deltas = [{"tool_calls": [{"index": 0, "function": {"name": "listFiles", "arguments": "{}"}}]}]
    assert replied(deltas, "tool_calls", ("call00001",)) == replied(deltas, "tool_calls", ("call00001",))


def test_parts_tell_what_forms_while_it_forms() -> None:
    accumulator = Accumulator(NAMES)
    assert accumulator.feed({"reasoning_content": "hm"}) == [ReasoningPart("hm")]
    assert accumulator.feed({"content": "a"}) == [TextPart("a")]
    call = {"index": 3, "id": "a", "function": {"name": "readFile", "arguments": '{"pa'}}
    assert accumulator.feed({"tool_calls": [call]}) == [CallPart(0, "readFile", 4)]
    more = {"index": 3, "function": {"arguments": 'th":"x"}'}}
    assert accumulator.feed({"tool_calls": [more]}) == [CallPart(0, "readFile", 12)]
    reply = accumulator.finish("tool_calls")
    assert (reply.text, reply.reasoning) == ("a", "hm")


def test_strict_arguments_stay_byte_for_byte_and_raw_controls_become_escapes() -> None:
    spaced = '{ "path" : "\\u00fc",  "n": 1.0e3 }'
    call = {"index": 0, "id": "a", "function": {"name": "readFile", "arguments": spaced}}
    assert replied([{"tool_calls": [call]}], "tool_calls").calls[0].arguments == spaced
    raw = '{"path": "a\nb"}'
    call = {"index": 0, "id": "a", "function": {"name": "readFile", "arguments": raw}}
    assert replied([{"tool_calls": [call]}], "tool_calls").calls[0].arguments == '{"path": "a\\nb"}'


def test_a_reply_beyond_all_reason_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steward.model.accumulate.MOST_CHARACTERS", 100)
    with pytest.raises(ModelError):
        replied([{"content": "x" * 101}], "stop")
    calls = [
        {"index": n, "id": str(n), "function": {"name": "a", "arguments": ""}} for n in range(MOST_CALLS + 1)
    ]
    with pytest.raises(ModelError):
        replied([{"tool_calls": calls}], "tool_calls")


def test_json_nested_without_end_is_only_not_valid() -> None:
    call = {"index": 0, "id": "a", "function": {"name": "readFile", "arguments": '{"a":' * 100_000}}
    assert replied([{"tool_calls": [call]}], "tool_calls").calls == ()
    assert replied([{"content": "[" * 100_000}], "stop").told == ""


TEXTS = st.text(max_size=20)
CALLS = st.lists(
    st.tuples(
        st.sampled_from(NAMES), st.dictionaries(TEXTS, TEXTS | st.integers() | st.booleans(), max_size=3)
    ),
    min_size=1,
    max_size=4,
)


@settings(max_examples=150, deadline=None)
@given(calls=CALLS, data=st.data(), ids=st.booleans(), repeat=st.booleans(), interleaved=st.booleans())
def test_calls_survive_any_way_of_cutting_them(
    calls: list[tuple[str, dict[str, Any]]], data: st.DataObject, ids: bool, repeat: bool, interleaved: bool
) -> None:
    fragments: list[list[dict[str, Any]]] = []
    for index, (name, arguments) in enumerate(calls):
        text = json.dumps(arguments)
        cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=4)))
        pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        id = f"id{index}" if ids else None
        rows: list[dict[str, Any]] = []
        for number, piece in enumerate(pieces):
            first = number == 0 or (repeat and ids)
            function = {"name": name, "arguments": piece} if first else {"arguments": piece}
            rows.append({"index": index, "id": id if first else None, "function": function})
        fragments.append(rows)
    deltas: list[dict[str, Any]] = []
    while any(fragments):
        open_calls = [rows for rows in fragments if rows]
        rows = data.draw(st.sampled_from(open_calls)) if interleaved else open_calls[0]
        deltas.append({"tool_calls": [rows.pop(0)]})
    reply = replied(deltas, "tool_calls")
    # Interleaved calls may begin in another order.
    got = sorted((call.name, json.dumps(json.loads(call.arguments), sort_keys=True)) for call in reply.calls)
    assert got == sorted((name, json.dumps(arguments, sort_keys=True)) for name, arguments in calls)
    assert reply.rejected == ()


SHAPES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(0, 3)
    | st.sampled_from(["", "readFile", "{", "{}", '{"a":1}', "x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "content",
                    "tool_calls",
                    "function",
                    "function_call",
                    "name",
                    "arguments",
                    "index",
                    "id",
                    "text",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.dictionaries(st.sampled_from(["content", "tool_calls", "function_call", "reasoning"]), SHAPES),
        max_size=5,
    )
)
def test_no_shape_of_delta_breaks_it(deltas: list[dict[str, Any]]) -> None:
    reply = replied(deltas, "tool_calls")
    calls = [*reply.calls, *(call for call, _ in reply.rejected)]
    assert len({call.id for call in calls}) == len(calls)
    assert all(isinstance(json.loads(call.arguments), dict) for call in calls)
    assert all(call.name in NAMES for call in reply.calls)
