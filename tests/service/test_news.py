"""What a person did to changes reaches the model with the next question, wherever they did it, and once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from steward.errors import StaleProposal
from steward.service import Steward
from tests.service.rooms import Rooms
from tests.support import ScriptedGateway, asked, call, patch, plant, steward_in

READ = {"calls": [call("readFile", path="src/app.py")]}
PROPOSED = {"calls": [patch("src/app.py", "41", "42")]}
SAID = {"text": "So it is."}
APPLIED = "The person applied change-001."


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[tuple[Steward, ScriptedGateway]]:
    """A conversation that has just proposed change-001, with more answers to come."""
    steward, gateway = steward_in(plant(tmp_path / "repository"), [READ, PROPOSED, *[SAID] * 9])
    await steward.start()
    await asked(steward, "Change it")
    yield steward, gateway
    await steward.close()


def times(gateway: ScriptedGateway, sentence: str) -> int:
    """How often the model has been told it."""
    return sum(str(message["content"]).count(sentence) for message in gateway.sent())


async def test_what_was_done_here_is_told_once(opened: tuple[Steward, ScriptedGateway]) -> None:
    steward, gateway = opened
    review = await steward.review()
    await steward.apply_change(review.proposal.id, review.proposal.stamp)
    await asked(steward, "And now?")
    assert times(gateway, APPLIED) == 1
    await steward.undo_change()
    await asked(steward, "And now?")
    assert (times(gateway, APPLIED), times(gateway, "The person undid change-001")) == (1, 1)
    await asked(steward, "And now?")
    assert (times(gateway, APPLIED), times(gateway, "The person undid change-001")) == (1, 1)


async def test_what_was_done_in_a_shell_is_told_too(opened: tuple[Steward, ScriptedGateway]) -> None:
    steward, gateway = opened
    shell = Rooms(steward.root)
    shell.desk.apply_stamped("1", shell.store.get("change-001").stamp[:12])
    await asked(steward, "And now?")
    await asked(steward, "And now?")
    assert times(gateway, APPLIED) == 1
    shell.desk.undo("1")
    shell.close()
    await asked(steward, "And now?")
    assert times(gateway, "The person undid change-001") == 1


async def test_the_reason_typed_in_a_shell_is_told(opened: tuple[Steward, ScriptedGateway]) -> None:
    steward, gateway = opened
    shell = Rooms(steward.root)
    shell.desk.discard("1", "wrong\n file")
    shell.close()
    await asked(steward, "And now?")
    assert times(gateway, "The person discarded change-001, saying: wrong file.") == 1


async def test_what_happened_between_two_sessions_is_told_when_one_goes_on(
    opened: tuple[Steward, ScriptedGateway],
) -> None:
    steward, _ = opened
    shell = Rooms(steward.root)
    shell.desk.discard("1", "wrong file")
    shell.close()
    other, gateway = steward_in(steward.root, [SAID, SAID])
    await other.start()
    await other.resume(steward.session_id)
    await asked(other, "And now?")
    await asked(other, "And now?")
    assert times(gateway, "The person discarded change-001, saying: wrong file.") == 1
    await other.close()


async def test_a_new_conversation_is_not_told_what_was_before_it(
    opened: tuple[Steward, ScriptedGateway],
) -> None:
    steward, _ = opened
    shell = Rooms(steward.root)
    shell.desk.discard("1")
    shell.close()
    other, gateway = steward_in(steward.root, [SAID])
    await other.start()
    await asked(other, "Hello")
    assert times(gateway, "The person") == 0
    await other.close()


async def test_what_the_model_itself_withdrew_is_not_laid_to_the_person(tmp_path: Path) -> None:
    back = {"calls": [patch("src/app.py", "42", "41")]}
    steward, gateway = steward_in(plant(tmp_path / "repository"), [READ, PROPOSED, back, SAID, SAID])
    await steward.start()
    await asked(steward, "Change it")
    other, told = steward_in(steward.root, [SAID])
    await other.start()
    await other.resume(steward.session_id)
    await asked(other, "And now?")
    await asked(steward, "And now?")
    assert times(told, "The person discarded") == times(gateway, "The person discarded") == 0
    await other.close()
    await steward.close()


async def test_that_it_was_stale_is_told(opened: tuple[Steward, ScriptedGateway]) -> None:
    steward, gateway = opened
    review = await steward.review()
    (steward.root / "src/app.py").write_bytes(b"theirs\n")
    with pytest.raises(StaleProposal):
        await steward.apply_change(review.proposal.id, review.proposal.stamp)
    await asked(steward, "And now?")
    sentence = "The person tried to apply change-001; it was refused. change-001 is stale: src/app.py changed"
    assert times(gateway, sentence) == 1


async def test_a_change_that_became_stale_by_itself_is_told_once(
    opened: tuple[Steward, ScriptedGateway],
) -> None:
    steward, gateway = opened
    (steward.root / "src/app.py").write_bytes(b"theirs\n")
    await asked(steward, "And now?")
    await asked(steward, "And now?")
    assert times(gateway, "change-001 is stale: src/app.py (changed)") == 1
    other, told = steward_in(steward.root, [SAID])
    await other.start()
    await asked(other, "Hello")
    assert times(told, "is stale") == 0, "it is not of that conversation"
    await other.close()


async def test_what_is_done_while_a_turn_runs_is_told_in_its_next_round(tmp_path: Path) -> None:
    steward: Steward

    async def apply() -> Any:
        review = await steward.review()
        await steward.apply_change(review.proposal.id, review.proposal.stamp)

    steward, gateway = steward_in(plant(tmp_path / "repository"), [READ, PROPOSED, apply, READ, SAID])
    await steward.start()
    await asked(steward, "Change it")
    assert times(gateway, APPLIED) == 1
    await steward.close()
