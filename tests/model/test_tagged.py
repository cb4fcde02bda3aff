"""Thoughts that a server leaves in the text, between tags, are parted from the answer however they are cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from steward.model.accumulate import Accumulator
from steward.model.request import ReasoningPart, TextPart
from steward.model.tagged import Tagged, answer_in

PIECES = st.lists(
    st.sampled_from(["<", "/", "think", "ing", "thought", ">", "a", " ", "\n", "<think>", "</think>"])
)


def parted(pieces: list[str]) -> tuple[str, str]:
    tagged = Tagged()
    found = [*map(tagged.feed, pieces), tagged.rest()]
    return "".join(thought for thought, _ in found), "".join(answer for _, answer in found)


@given(PIECES)
def test_however_a_text_is_cut_it_is_parted_as_when_it_comes_at_once(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert parted(pieces) == parted([text]) == parted(list(text))
    assert parted([text])[1] == answer_in(text)


@given(PIECES)
def test_a_text_that_does_not_begin_with_a_tag_stays_whole(pieces: list[str]) -> None:
    text = "".join(pieces)
    if not text.lstrip().startswith(("<think>", "<thinking>", "<thought>")):
        assert parted(pieces) == ("", text)


@given(thought=st.text(), answer=st.text(min_size=1))
def test_what_stands_between_tags_is_the_thought_and_what_follows_is_the_answer(
    thought: str, answer: str
) -> None:
    if "</think>" not in thought:
        assert parted([f"\n<think>{thought}</think>\n\n{answer}"]) == (thought, answer.lstrip())


def test_text_that_waited_for_the_rest_of_a_tag_is_said_at_the_end() -> None:
    accumulator = Accumulator(())
    assert accumulator.feed({"content": "<thi"}) == []
    assert accumulator.rest() == [TextPart("<thi")]
    assert accumulator.finish("stop").text == "<thi"


def test_thoughts_are_told_as_thoughts_while_they_stream() -> None:
    accumulator = Accumulator(())
    assert accumulator.feed({"content": "<think>h"}) == [ReasoningPart("h")]
    assert accumulator.feed({"content": "m</think>\n\nYes"}) == [ReasoningPart("m"), TextPart("Yes")]
    reply = accumulator.finish("stop")
    assert (reply.reasoning, reply.text) == ("hm", "Yes")
