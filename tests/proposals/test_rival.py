"""Another program writes to the files of a change while it is applied, taken back or recovered: no byte is lost."""

from __future__ import annotations

from functools import partial

import pytest

from tests.proposals import mutants
from tests.proposals.campaign import Rivalry, Violation
from tests.proposals.scenes import EVERYTHING, PAIR, SMALL, SWAPPED, Scene


@pytest.mark.parametrize(
    ("scene", "step"), [(PAIR, 1), (SMALL, 1), (EVERYTHING, 7)], ids=["pair", "small", "all"]
)
def test_what_a_rival_does_to_any_path_before_any_operation_is_not_lost(scene: Scene, step: int) -> None:
    rivalry = Rivalry(scene, seed=1)
    rivalry.run(step=step)
    assert rivalry.runs > 1_000


@pytest.mark.parametrize("scene", [PAIR, SMALL, SWAPPED, EVERYTHING], ids=["pair", "small", "swapped", "all"])
def test_several_rivals_at_once_lose_nothing_even_when_apply_is_killed(scene: Scene) -> None:
    rivalry = Rivalry(scene, seed=2)
    rivalry.fuzz(1_500)
    assert rivalry.runs == 1_500


@pytest.mark.parametrize("name", mutants.RIVALS)
def test_the_rivals_notice_every_broken_protocol(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutants.RIVALS[name](monkeypatch.setattr)
    with pytest.raises(Violation):
        _hunt(Rivalry(PAIR, seed=3), Rivalry(SMALL, seed=3))


def test_the_rivals_notice_a_rename_that_replaces() -> None:
    with pytest.raises(Violation):
        _hunt(Rivalry(SMALL, seed=3, mutate=mutants.Replacing))


@pytest.mark.parametrize(
    "missing", [("exchange",), ("exchange", "rename_new")], ids=["no-exchange", "links-only"]
)
def test_nothing_is_lost_where_files_cannot_be_exchanged(missing: tuple[str, ...]) -> None:
    rivalry = Rivalry(SMALL, seed=4, model=partial(Scene.in_model, missing=missing))
    rivalry.run(step=4)
    rivalry.fuzz(1_000)
    assert rivalry.runs > 1_500


def _hunt(*rivalries: Rivalry) -> None:
    for rivalry in rivalries:
        rivalry.run()
        rivalry.fuzz(2_000)
