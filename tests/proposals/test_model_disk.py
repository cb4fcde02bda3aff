"""Power cuts and kills everywhere on the model disk; and that broken protocols do not get through."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from steward.proposals.disk import Disk
from tests.proposals import mutants
from tests.proposals.campaign import Campaign, Violation
from tests.proposals.scenes import CASE_ONLY, EVERYTHING, PAIR, SMALL, SWAPPED, Scene

SCENES = {"pair": PAIR, "small": SMALL, "swapped": SWAPPED, "everything": EVERYTHING}


@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES)
def test_a_cut_anywhere_in_apply_and_in_its_recovery_leaves_all_or_nothing(scene: Scene) -> None:
    campaign = Campaign(scene, seed=1, samples=9, depth=3, again=0.06)
    campaign.run_apply()
    assert campaign.recoveries > 1_000


@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES)
def test_a_cut_anywhere_in_undo_and_in_its_recovery_leaves_all_or_nothing(scene: Scene) -> None:
    campaign = Campaign(scene, seed=2, samples=8, depth=3, again=0.06)
    campaign.run_undo()
    assert campaign.recoveries > 350


@pytest.mark.parametrize("scene", [PAIR, SMALL, SWAPPED], ids=["pair", "small", "swapped"])
def test_a_cut_anywhere_in_an_apply_that_fails_at_any_operation_leaves_all_or_nothing(scene: Scene) -> None:
    campaign = Campaign(scene, seed=3, samples=1, depth=1, again=0.02)
    number = 0
    while campaign.run_failing(number):
        number += 1
    assert number > 100
    assert campaign.recoveries > 4_000


@pytest.mark.parametrize("scene", [PAIR, SMALL], ids=["pair", "small"])
def test_a_cut_anywhere_leaves_all_or_nothing_where_the_record_is_written_over_an_earlier_one(
    scene: Scene,
) -> None:
    campaign = Campaign(scene, seed=7, samples=4, depth=2, again=0.05, used=True)
    campaign.run_apply()
    number = 0
    while campaign.run_failing(number):
        number += 9
    assert campaign.recoveries > 1_000


def test_a_cut_anywhere_leaves_all_or_nothing_after_an_acknowledgement_that_died_anywhere() -> None:
    campaign = Campaign(PAIR, seed=10)
    number = 0
    while campaign.run_after_forgetting(number):
        number += 1
    assert number > 10


@pytest.mark.parametrize("used", [False, True], ids=["new", "used"])
def test_a_cut_anywhere_leaves_all_or_nothing_where_somebody_else_makes_a_directory(used: bool) -> None:
    campaign = Campaign(EVERYTHING, seed=8, used=used)
    campaign.run_meeting()
    assert campaign.recoveries > 700


@pytest.mark.parametrize("scene", [PAIR, SWAPPED], ids=["pair", "swapped"])
def test_a_machine_that_dies_again_and_again_is_never_found_with_half_a_change_or_told_wrongly(
    scene: Scene,
) -> None:
    campaign = Campaign(scene, seed=9)
    campaign.live(1_500)
    assert campaign.recoveries > 1_700


@pytest.mark.parametrize(
    "missing", [("exchange",), ("exchange", "rename_new"), ("exchange", "rename_new", "link")]
)
@pytest.mark.parametrize("scene", [PAIR, SMALL, SWAPPED], ids=["pair", "small", "swapped"])
def test_a_cut_anywhere_leaves_all_or_nothing_where_files_cannot_be_exchanged(
    scene: Scene, missing: tuple[str, ...]
) -> None:
    campaign = Campaign(scene, seed=5, model=partial(Scene.in_model, missing=missing))
    campaign.run_apply()
    campaign.run_undo()
    assert campaign.recoveries > 1_000


@pytest.mark.parametrize("scene", [CASE_ONLY, PAIR, SMALL], ids=["case-only", "pair", "small"])
def test_a_cut_anywhere_leaves_all_or_nothing_where_names_ignore_case(scene: Scene) -> None:
    campaign = Campaign(scene, seed=6, again=0.1, model=partial(Scene.in_model, ignore_case=True))
    campaign.run_apply()
    campaign.run_undo()
    assert campaign.recoveries > 700


def _hunt(mutate: Callable[[Disk], Disk] = lambda disk: disk) -> None:
    """The campaign in short; raises ``Violation`` when it notices something."""
    Campaign(PAIR, seed=4, mutate=mutate).live(300)
    Campaign(EVERYTHING, seed=4, used=True, mutate=mutate).run_meeting()
    campaign, number = Campaign(PAIR, seed=4, mutate=mutate), 0
    while campaign.run_after_forgetting(number):
        number += 1
    for scene in (PAIR, SMALL):
        campaign = Campaign(scene, seed=4, samples=4, again=0.05, mutate=mutate)
        campaign.run_apply()
        campaign.run_undo()
        number = 0
        while campaign.run_failing(number):
            number += 1


@pytest.mark.parametrize("name", mutants.DISKS)
def test_the_campaign_notices_a_missing_sync(name: str) -> None:
    with pytest.raises(Violation):
        _hunt(mutants.DISKS[name])


@pytest.mark.parametrize("name", mutants.PROTOCOLS)
def test_the_campaign_notices_every_broken_protocol(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutants.PROTOCOLS[name](monkeypatch.setattr)
    with pytest.raises(Violation):
        _hunt()
