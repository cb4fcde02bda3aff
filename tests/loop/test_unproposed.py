"""A turn that ends as if there were a change, and made none, says so from what happened in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from steward.config import Settings
from steward.events import Notice
from steward.loop.unproposed import unproposed
from tests.support import asked, call, only, patch, plant, steward_in

DIFF = "Change it so:\n\n```diff\n--- a/app.py\n+++ b/app.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n```\n"
CODE = "Here it is:\n\n```python\ndef one():\n    return 1\n\ndef two():\n    return 2\n```\n"


def test_patches_that_were_all_refused_are_counted() -> None:
    assert unproposed("Done.", 1, ()) == Notice(
        "Nothing was proposed: the one patch of this turn was refused.", "warning"
    )
    assert "all 3 patches" in str(unproposed("Done.", 3, ()))


@pytest.mark.parametrize(
    "answer",
    [
        DIFF,
        DIFF.replace("```diff", "```"),
        DIFF.replace("```", "~~~"),
        "```patch\n+added\n```",
        "```\n@@ -1,2 +1,2 @@ def f\n-a\n+b\n```",
        "```diff\n+never closed\n",
    ],
)
def test_a_diff_that_nobody_can_apply_is_pointed_out(answer: str) -> None:
    notice = unproposed(answer, 0, ("x = 1\n",))
    assert notice is not None and notice.level == "warning" and "holds a diff" in notice.text


def test_new_code_is_pointed_out_quietly() -> None:
    notice = unproposed(CODE, 0, ("something else",))
    assert notice is not None and notice.level == "info" and "new code" in notice.text


@pytest.mark.parametrize(
    ("answer", "given"),
    [
        ("It is one.", ""),
        (CODE, "1\tdef one():\n2\t    return 1\n3\t\n4\tdef two():\n5\t    return 2\n"),
        (CODE, "def one():\n\treturn 1\ndef two():\n\treturn 2\n"),
        (DIFF, "fix.patch, lines 1-5 of 5\n4\t-x = 1\n5\t+x = 2\n"),
        ("```sh\npip install steward\nsteward doctor\nsteward\n```", ""),
        ("```\na\nb\nc\nd\n```", ""),
        ("```python\nprint(one())\n```", ""),
        ("The line `x = 1` is in `app.py`.", ""),
        ("", ""),
    ],
    ids=[
        "prose", "code-of-a-file", "code-without-numbers", "diff-of-a-file", "shell", "no-language", "one-line",
        "inline", "nothing",
    ],
)  # fmt: skip
def test_an_answer_that_only_shows_what_there_is_says_nothing(answer: str, given: str) -> None:
    assert unproposed(answer, 0, (given,)) is None


async def notices(root: Path, replies: list[Any], **more: Any) -> list[str]:
    steward, _ = steward_in(plant(root / "repository"), replies, **more)
    events = await asked(steward, "Change the answer to 42")
    await steward.close()
    return [n.text for n in only(events, Notice) if "proposed" in n.text]


READ = {"calls": [call("readFile", path="src/app.py")]}


async def test_a_turn_whose_patches_were_refused_says_so(tmp_path: Path) -> None:
    refused = {"calls": [patch("src/app.py", "nowhere", "42")]}
    assert await notices(tmp_path, [READ, refused, {"text": "I could not."}]) == [
        "Nothing was proposed: the one patch of this turn was refused."
    ]


async def test_a_turn_that_proposed_in_the_end_says_nothing(tmp_path: Path) -> None:
    refused = {"calls": [patch("src/app.py", "nowhere", "42")]}
    made = {"calls": [patch("src/app.py", "41", "42")]}
    answer = {"text": "Proposed as change-001:\n\n" + DIFF}
    assert await notices(tmp_path, [READ, refused, made, answer]) == []


async def test_a_patch_that_only_waited_for_its_instructions_is_not_refused(tmp_path: Path) -> None:
    waiting = {"calls": [patch("src/app.py", "41", "42")]}
    assert await notices(tmp_path, [waiting, {"text": "I see the rules now."}]) == []


async def test_an_answer_with_a_diff_and_no_proposal_says_so(tmp_path: Path) -> None:
    assert len(await notices(tmp_path, [READ, {"text": DIFF}])) == 1


async def test_where_nothing_can_be_proposed_nothing_is_said(tmp_path: Path) -> None:
    settings = Settings.model_validate({"tools": {"proposals": False}})
    assert await notices(tmp_path, [READ, {"text": DIFF}], settings=settings) == []
