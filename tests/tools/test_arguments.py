"""A tool's arguments are declared once: calls are checked against that, and the model is told of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Any

import pytest

from steward.tools.arguments import About, Arguments, WrongArguments
from steward.tools.list_files import ListFilesArguments
from steward.tools.propose_patch import ProposePatchArguments
from steward.tools.read_file import ReadFileArguments
from steward.tools.search_files import SearchFilesArguments
from steward.tools.skill import SkillArguments


@dataclass(frozen=True, slots=True)
class Some(Arguments):
    """What a test takes."""

    text: Annotated[str, About("A text.")]
    number: Annotated[int, About("A number.", least=0, most=20)] = 3
    flag: Annotated[bool, About("A flag.")] = False
    maybe: Annotated[int | None, About("Perhaps a number.", least=1)] = None


def test_what_is_left_out_has_its_default() -> None:
    assert Some.parse({"text": ""}) == Some("", 3, False, None)
    assert Some.parse({"text": "a", "maybe": None, "number": 0, "flag": True}) == Some("a", 0, True, None)


@pytest.mark.parametrize(
    ("shape", "fault"),
    [
        ({}, "text is missing"),
        ({"text": None}, "text must be text"),
        ({"text": 1}, "text must be text"),
        ({"text": "", "number": True}, "number must be a whole number of at least 0 and at most 20"),
        ({"text": "", "number": 1.0}, "number must be a whole number of at least 0 and at most 20"),
        ({"text": "", "number": "1"}, "number must be a whole number of at least 0 and at most 20"),
        ({"text": "", "number": None}, "number must be a whole number of at least 0 and at most 20"),
        ({"text": "", "number": -1}, "number must be a whole number of at least 0 and at most 20"),
        ({"text": "", "number": 21}, "number must be a whole number of at least 0 and at most 20"),
        ({"text": "", "flag": 1}, "flag must be true or false"),
        ({"text": "", "maybe": 0}, "maybe must be a whole number of at least 1"),
        ({"text": "", "more": 0}, "more is not a parameter"),
        ({"text": "", "told_required": ()}, "told_required is not a parameter"),
    ],
)
def test_exact_names_and_exact_types_are_taken_and_nothing_else(shape: dict[str, Any], fault: str) -> None:
    with pytest.raises(WrongArguments) as raised:
        Some.parse(shape)
    assert raised.value.faults == (fault,)


def test_every_fault_is_named_at_once() -> None:
    with pytest.raises(WrongArguments) as raised:
        Some.parse({"number": 99, "x": 1})
    assert len(raised.value.faults) == 3


def test_the_schema_says_what_is_checked() -> None:
    assert Some.schema() == {
        "additionalProperties": False,
        "description": "What a test takes.",
        "properties": {
            "text": {"description": "A text.", "type": "string"},
            "number": {
                "default": 3,
                "description": "A number.",
                "maximum": 20,
                "minimum": 0,
                "type": "integer",
            },
            "flag": {"default": False, "description": "A flag.", "type": "boolean"},
            "maybe": {"description": "Perhaps a number.", "minimum": 1, "type": "integer"},
        },
        "required": ["text"],
        "type": "object",
    }


@pytest.mark.parametrize(
    "arguments",
    [ListFilesArguments, ReadFileArguments, SearchFilesArguments, ProposePatchArguments, SkillArguments],
)
def test_the_schema_of_every_tool_is_plain_json_that_describes_each_parameter(
    arguments: type[Arguments],
) -> None:
    schema = json.loads(json.dumps(arguments.schema()))
    assert schema["properties"] and set(schema.get("required", ())) <= set(schema["properties"])
    assert all(shape["description"] and shape["type"] for shape in schema["properties"].values())
