"""The offline guide, with the real tools on a real repository."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from steward.conversation import JsonObject
from steward.model.offline import guide
from steward.model.offline.wishes import (
    Decide,
    Edit,
    Edits,
    Greeting,
    Overview,
    Question,
    understand,
)
from steward.tools.base import ToolBox
from steward.tools.list_files import ListFilesTool
from steward.tools.read_file import ReadFileTool
from steward.tools.search_files import SearchFilesTool
from steward.workspace import Workspace

PROPOSE: JsonObject = {"type": "function", "function": {"name": "proposePatch", "parameters": {}}}
DOCUMENT = (
    '<instructions-0a1b2c path="src/AGENTS.md" scope="src" sha256="00">\n# Rules\nsrc/fake.py:1:retry here\n'
    "</instructions-0a1b2c>\n"
)
TREE = {
    ".git/HEAD": "ref: refs/heads/main\n",
    "README.md": "# Parcel\n\nParcel sends letters\nand parcels.\n\n## Use\n",
    "CHANGELOG.md": "# Changes\n\n- retry: better\n- retry: even better\n",
    "src/net/client.py": (
        '"""Speaks to the post office."""\n\n\nclass Client:\n    """One connection."""\n\n    def send(self):\n'
        "        return retry_later(self)\n"
    ),
    "src/net/backoff.py": (
        '"""When to try again."""\n\n\ndef retry_later(client, pause=1):\n'
        '    """Send again after a pause. Gives up in the end."""\n'
        "    while pause < 60:\n        pause *= 2\n    return None\n"
    ),
    "tests/test_backoff.py": "def test_retry_later_gives_up():\n    assert retry_later(None) is None\n",
    "src/Ticks.md": "A `tick` and ``two`` here.\n",
}


@dataclass
class Told:
    """A whole turn: what was called, and the answer."""

    answer: str
    rounds: int
    calls: list[tuple[str, dict[str, Any]]]
    messages: list[JsonObject]


Ask = Callable[..., Told]


@pytest.fixture
def ask(tmp_path: Path) -> Iterator[Ask]:
    for name, content in TREE.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())
    with Workspace.open(tmp_path) as workspace:
        box = ToolBox([ListFilesTool(workspace), SearchFilesTool(workspace), ReadFileTool(workspace)])

        def turn(
            question: str,
            propose: Callable[[dict[str, Any], int], str] = lambda arguments, number: "",
            head: str = "",
            before: list[JsonObject] | None = None,
        ) -> Told:
            messages = [
                *(before or [{"role": "system", "content": "s"}]),
                {"role": "user", "content": question},
            ]
            calls: list[tuple[str, dict[str, Any]]] = []
            for number in range(8):
                reply = guide(messages, [*box.specs, PROPOSE])
                assert guide(messages, [*box.specs, PROPOSE]) == reply
                shapes = [
                    {
                        "id": f"{number}-{i}",
                        "function": {"name": c["name"], "arguments": json.dumps(c["arguments"])},
                    }
                    for i, c in enumerate(reply.calls)
                ]
                messages.append({"role": "assistant", "content": reply.text, "tool_calls": shapes})
                if not reply.calls:
                    return Told(reply.text, number + 1, calls, messages)
                for shape, call in zip(shapes, reply.calls, strict=True):
                    name, arguments = str(call["name"]), dict(call["arguments"])
                    calls.append((name, arguments))
                    if name == "proposePatch":
                        text = propose(arguments, sum(n == name for n, _ in calls))
                    else:
                        text = asyncio.run(box.run(name, json.dumps(arguments))).text
                    messages.append({"role": "tool", "tool_call_id": shape["id"], "content": head + text})
            raise AssertionError("the guide never came to an end")

        yield turn


def made(arguments: dict[str, Any], number: int) -> str:
    return f"Proposed change-001: modify {arguments['path']} (+1 -1).\nchange-001 is PENDING under the stamp 3f9a."


def always(text: str) -> Callable[[dict[str, Any], int], str]:
    def answer(arguments: dict[str, Any], number: int) -> str:
        return text

    return answer


# What is understood


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ('replace "A" with "B" in src/x.py', Edits((Edit("src/x.py", "A", "B"),))),
        ("Please replace 'a b' by 'c' in the file src/x.py.", Edits((Edit("src/x.py", "a b", "c"),))),
        ("replace `x = 1` with `x = 2` in `my file.txt`", Edits((Edit("my file.txt", "x = 1", "x = 2"),))),
        ("replace “old” with “new” in ./README.md, please", Edits((Edit("README.md", "old", "new"),))),
        ('replace "line one\nline two" with "" in a.txt', Edits((Edit("a.txt", "line one\nline two", ""),))),
        ('replace "say "hi"" with "bye" in a.txt', Edits((Edit("a.txt", 'say "hi"', "bye"),))),
        ('in a.txt replace "A" with "B"', Edits((Edit("a.txt", "A", "B"),))),
        ('change the word "A" to "B" in a.txt', Edits((Edit("a.txt", "A", "B"),))),
        (
            'replace "A" with "B" in a.txt and replace "C" with "D" in b.txt',
            Edits((Edit("a.txt", "A", "B"), Edit("b.txt", "C", "D"))),
        ),
        ('create notes.md with "hello"', Edits((Edit("notes.md", "", "hello\n"),))),
        ("create the file docs/new.md containing 'x'", Edits((Edit("docs/new.md", "", "x\n"),))),
        ("delete src/old.py", Edits((Edit("src/old.py", delete=True),))),
        ("rename src/a.py to src/b.py", Edits((Edit("src/a.py", rename_to="src/b.py"),))),
        ("hello", Greeting()),
        ("What can you do?", Greeting()),
        ("apply change-001", Decide()),
        ("what is this repository?", Overview()),
        ("give me an overview", Overview()),
    ],
)
def test_plain_words_are_understood(text: str, wish: object) -> None:
    assert understand(text) == wish


@pytest.mark.parametrize(
    ("text", "terms", "paths", "mentions"),
    [
        ("Where is tax worked out?", ["tax"], (), False),
        ("where is the retry logic?", ["retry"], (), False),
        ("what does workspace do", ["workspace"], (), False),
        ("which files mention AGENTS.md", ["AGENTS.md"], (), True),
        ("what does src/net/client.py do?", [], ("src/net/client.py",), False),
        ("How does `retry_later` work?", ["retry_later"], (), False),
        ("where's the person's password checked", ["password", "checked", "person"], (), False),
        ("who calls retryLater()", ["retryLater"], (), True),
    ],
)
def test_questions_are_reduced_to_what_distinguishes_them(
    text: str, terms: list[str], paths: tuple[str, ...], mentions: bool
) -> None:
    wish = understand(text)
    assert isinstance(wish, Question)
    assert [term.text for term in wish.terms] == terms
    assert (wish.paths, wish.mentions) == (paths, mentions)


# Questions, answered from the repository


def test_where_something_is_is_answered_with_the_line_that_defines_it(ask: Ask) -> None:
    told = ask("Where is the retry logic?")
    assert 2 <= told.rounds <= 4
    assert "no language model" in told.answer
    first = told.answer.index("`src/net/backoff.py:4`")
    assert "`def retry_later(client, pause=1):`" in told.answer
    assert "Send again after a pause." in told.answer
    assert first < told.answer.index("src/net/client.py")
    assert (
        told.answer.find("CHANGELOG.md") in range(-1, len(told.answer))
        and "`CHANGELOG.md:3`: " not in told.answer
    )


def test_what_mentions_something_is_a_list_of_every_file(ask: Ask) -> None:
    told = ask("which files mention retry_later?")
    assert told.rounds == 2
    for place in ("src/net/backoff.py:4", "src/net/client.py:8", "tests/test_backoff.py:1"):
        assert place in told.answer
    assert "in 3 files" in told.answer


def test_a_file_is_described_by_what_it_says_and_defines(ask: Ask) -> None:
    told = ask("what does src/net/client.py do?")
    assert "Speaks to the post office." in told.answer
    assert "`src/net/client.py:4`: `class Client`" in told.answer


def test_a_folder_is_described_by_its_entries(ask: Ask) -> None:
    told = ask("what is in src/net/?")
    assert told.calls[0] == ("listFiles", {"path": "src/net"})
    assert "- `src/net/backoff.py`" in told.answer


def test_a_file_named_by_its_last_part_is_found(ask: Ask) -> None:
    told = ask("explain client.py")
    assert "src/net/client.py" in told.answer
    assert any(
        name == "readFile" and arguments["path"] == "src/net/client.py" for name, arguments in told.calls
    )


def test_the_repository_is_described_by_its_readme(ask: Ask) -> None:
    told = ask("what is this repository?")
    assert "`README.md:1`" in told.answer
    assert "> Parcel sends letters" in told.answer
    assert "`src/`" in told.answer


def test_nothing_found_is_said_and_something_else_is_tried_first(ask: Ask) -> None:
    told = ask("where is the zymurgical quibble?")
    assert told.rounds >= 3
    assert "found nothing" in told.answer


def test_backticks_in_files_stay_code(ask: Ask) -> None:
    told = ask("where is `tick`?")
    assert (
        "``` A `tick` and ``two`` here. ```" in told.answer
        or "```A `tick` and ``two`` here.```" in told.answer
    )


def test_instructions_at_the_head_of_results_are_no_findings_but_are_named(ask: Ask) -> None:
    told = ask("Where is the retry logic?", head=DOCUMENT)
    assert "src/fake.py" not in told.answer
    assert "`src/net/backoff.py:4`" in told.answer
    assert "`src/AGENTS.md`" in told.answer


def test_what_speaks_is_said_once_in_a_conversation(ask: Ask) -> None:
    first = ask("which files mention retry_later?")
    second = ask("which files mention pause?", before=first.messages)
    assert "no language model" in first.answer
    assert "no language model" not in second.answer
    assert "src/net/backoff.py" in second.answer


def test_notes_before_a_question_are_no_part_of_it(ask: Ask) -> None:
    told = ask("<steward-note-0a1b>\nchange-001 was applied.\n</steward-note-0a1b>\n\nhello")
    assert told.rounds == 1
    assert "offline guide" in told.answer


# Changes that the person spelt out


def test_a_replacement_is_read_proposed_and_explained(ask: Ask) -> None:
    told = ask('replace "pause *= 2" with "pause *= 3" in src/net/backoff.py', propose=made)
    assert [name for name, _ in told.calls] == ["readFile", "proposePatch"]
    assert told.calls[1][1] == {
        "path": "src/net/backoff.py",
        "oldText": "pause *= 2",
        "newText": "pause *= 3",
    }
    assert "**change-001**" in told.answer
    assert "`src/net/backoff.py:7`" in told.answer
    assert "nothing has been written" in told.answer
    assert "/show-change change-001" in told.answer


def test_a_proposal_that_had_to_wait_for_instructions_is_made_again_once(ask: Ask) -> None:
    def wait(arguments: dict[str, Any], number: int) -> str:
        return (
            made(arguments, number)
            if number == 2
            else f"{DOCUMENT}Nothing was proposed yet: read these first."
        )

    told = ask('replace "pause *= 2" with "pause *= 3" in src/net/backoff.py', propose=wait)
    assert [name for name, _ in told.calls] == ["readFile", "proposePatch", "proposePatch"]
    assert "**change-001**" in told.answer
    told = ask(
        'replace "pause *= 2" with "pause *= 3" in src/net/backoff.py',
        propose=always(f"{DOCUMENT}Nothing was proposed yet: read these first."),
    )
    assert [name for name, _ in told.calls].count("proposePatch") == 2
    assert "Nothing was proposed" in told.answer


def test_a_refusal_is_explained_and_not_repeated(ask: Ask) -> None:
    told = ask(
        'replace "return" with "yield" in src/net/backoff.py',
        propose=always("oldText occurs 2 times; it must occur once."),
    )
    assert [name for name, _ in told.calls].count("proposePatch") == 1
    assert "> oldText occurs 2 times" in told.answer
    assert "change-0" not in told.answer


def test_a_file_that_is_not_there_is_refused_before_anything_is_proposed(ask: Ask) -> None:
    told = ask('replace "a" with "b" in src/missing.py')
    assert [name for name, _ in told.calls] == ["readFile"]
    assert "Nothing was proposed" in told.answer


def test_several_changes_are_proposed_together(ask: Ask) -> None:
    told = ask(
        'replace "One" with "A" in src/net/client.py and replace "pause *= 2" with "p" in src/net/backoff.py',
        propose=made,
    )
    assert [name for name, _ in told.calls] == ["readFile", "readFile", "proposePatch", "proposePatch"]
    assert "src/net/client.py:5" in told.answer
    assert "src/net/backoff.py:7" in told.answer


def test_creating_deleting_and_renaming_go_through_the_same_tool(ask: Ask) -> None:
    told = ask('create docs/new.md with "Hello"', propose=made)
    assert told.calls == [("proposePatch", {"path": "docs/new.md", "oldText": "", "newText": "Hello\n"})]
    told = ask("delete src/net/client.py", propose=made)
    assert told.calls[-1][1]["deleteFile"] is True
    told = ask("rename src/net/client.py to src/net/post.py", propose=made)
    assert told.calls[-1][1]["renameTo"] == "src/net/post.py"


def test_the_guide_never_says_that_it_applied_anything(ask: Ask) -> None:
    told = ask("apply change-001")
    assert told.calls == []
    assert "Only you" in told.answer


def test_without_tools_it_says_so() -> None:
    assert "no tools" in guide([{"role": "user", "content": "where is x1?"}], []).text
    assert guide([], []).text
