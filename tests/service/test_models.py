"""Choosing a model: what wins, what is remembered, what is said of it."""

from __future__ import annotations

import asyncio
import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from steward.config import Settings, load
from steward.errors import ConfigError, Conflict, ModelError
from steward.events import Event, Notice
from steward.loop.budget import Budget
from steward.model.choices import ModelChoice, ModelFacts
from steward.service import House, Steward
from steward.service.exam_card import CARDS
from steward.service.model_settings import bounds_of, clocks_of, model_of, remember, remembered
from steward.service.private_file import write_private
from tests.support import ScriptedGateway, asked, plant


class Listed(ScriptedGateway):
    """A gateway that knows what it is told to know."""

    def __init__(self) -> None:
        super().__init__([])
        self.facts = ModelFacts("api.example")
        self.asked_about: list[tuple[str, dict[str, Any]]] = []
        self.options: dict[str, Any] | None = None

    async def about(self, model: str, options: dict[str, Any] | None = None) -> ModelFacts:
        self.asked_about.append((model, options or {}))
        return self.facts

    async def models(self, options: dict[str, Any] | None = None) -> tuple[ModelChoice, ...]:
        self.options = options
        return (
            ModelChoice("ollama/qwen3", "127.0.0.1:11434", found="Ollama"),
            ModelChoice("openai/gpt-x", "api"),
        )


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    plant(tmp_path / "repository")
    yield tmp_path


def steward_at(place: Path, *, model: str | None = None, **settings: Any) -> tuple[Steward, Listed]:
    gateway = Listed()
    house = House(place / "repository", Settings.model_validate(settings), state=place / "state")
    return Steward(house, model=model, watch=False, gateway=gateway), gateway


async def said(steward: Steward) -> list[str]:
    """Notices that nobody had heard so far."""
    found: list[Event] = []

    async def listen() -> None:
        async for event in steward.listen():
            found.append(event)

    task = asyncio.create_task(listen())
    for _ in range(20):
        await asyncio.sleep(0)
    task.cancel()
    return [event.text for event in found if isinstance(event, Notice)]


def test_what_is_given_wins_over_the_settings_over_what_was_remembered_over_the_guide(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    state = tmp_path / "state"
    assert model_of(None, Settings(), state) == "offline/guide"
    remember(state, "openai/remembered")
    assert model_of(None, Settings(), state) == "openai/remembered"
    config.write_text('model = "openai/config"\n')
    assert model_of(None, load(config, {}), state) == "openai/config"
    settings = load(config, {"STEWARD_MODEL": "openai/environment"})
    assert model_of(None, settings, state) == "openai/environment"
    assert model_of("openai/given", settings, state) == "openai/given"


async def test_only_a_choice_is_remembered_and_then_for_every_workspace(place: Path) -> None:
    steward, _ = steward_at(place, model="openai/given")
    await steward.start()
    assert not (place / "state/model.json").exists()
    await steward.choose_model(" openai/chosen ")
    await steward.close()
    file = place / "state/model.json"
    assert json.loads(file.read_text()) == {"model": "openai/chosen"}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert not list((place / "state").glob(".model*"))
    plant(place / "another/repository")
    house = House(place / "another/repository", Settings(), state=place / "state")
    other = Steward(house, watch=False, gateway=Listed())
    assert other.model == "openai/chosen"
    await other.close()


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"model": 3}', b'{"model": "a b"}', b"\xff", b"[" * 100_000]
)
def test_a_memory_that_is_damaged_is_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "model.json").write_bytes(content)
    assert remembered(tmp_path) == ""


async def test_a_choice_that_cannot_be_kept_is_made_all_the_same_and_said(place: Path) -> None:
    steward, _ = steward_at(place)
    (place / "state/model.json").mkdir(parents=True)
    await steward.choose_model("openai/chosen")
    assert steward.model == "openai/chosen"
    assert any("could not be kept" in text for text in await said(steward))
    assert [path.name for path in (place / "state").glob("*model*")] == ["model.json"]
    await steward.close()


async def test_a_configuration_that_wins_at_the_next_start_is_named(place: Path) -> None:
    house = House(place / "repository", Settings(model="openai/configured"), state=place / "state")
    steward = Steward(house, watch=False, gateway=Listed())
    await steward.choose_model("openai/chosen")
    assert any("names openai/configured" in text for text in await said(steward))
    await steward.choose_model("openai/configured")
    assert not any("names openai/configured" in text for text in await said(steward))
    await steward.close()


async def test_nonsense_and_a_choice_during_a_turn_are_refused(place: Path) -> None:
    steward, gateway = steward_at(place)
    for name in ("", " ", "two words", "a\nb"):
        with pytest.raises(ConfigError):
            await steward.choose_model(name)
    gateway.replies = [{"text": "Long", "hang": True}]
    turn = steward.ask("Hello")
    await anext(turn)
    with pytest.raises(Conflict):
        await steward.choose_model("openai/x")
    await turn.aclose()
    assert remembered(place / "state") == ""
    await steward.close()


async def test_the_list_carries_what_exams_said_and_the_model_in_use(place: Path) -> None:
    cards = {
        "ollama_chat/qwen3": {"verdict": "fit for questions"},
        "openai/elsewhere": {"verdict": "fit for changes"},
        "broken": "no card",
    }
    write_private(place / "state" / CARDS, cards)
    steward, gateway = steward_at(place, model="openai/in-use", options={"api_base": "http://127.0.0.1:1/v1"})
    rows = {row.name: row for row in await steward.models()}
    assert rows["ollama/qwen3"].verdict == "fit for questions"
    assert rows["openai/gpt-x"].verdict == ""
    assert (rows["openai/in-use"].found, rows["openai/in-use"].where) == ("in use", "unknown host")
    assert (rows["openai/elsewhere"].found, rows["openai/elsewhere"].verdict) == (
        "examined",
        "fit for changes",
    )
    assert rows["openai/elsewhere"].where == "unknown host"
    await steward.choose_model("openai/in-use")
    again = {row.name: row.where for row in await steward.models()}
    assert (again["openai/in-use"], again["openai/elsewhere"]) == ("api.example", "unknown host")
    assert "broken" not in rows and "ollama_chat/qwen3" not in rows
    assert gateway.options == {"api_base": "http://127.0.0.1:1/v1"}
    await steward.close()


async def test_what_is_known_of_a_model_is_shown_and_what_it_lacks_is_said(place: Path) -> None:
    steward, gateway = steward_at(place, model="openai/local", options={"reasoning_effort": "low"})
    gateway.facts = ModelFacts("127.0.0.1:8080 (this machine)", True, 4096, False, ("reasoning_effort",))
    await steward.start()
    for _ in range(200):
        if steward.model_host:
            break
        await asyncio.sleep(0.01)
    assert (steward.model_host, steward.window) == ("127.0.0.1:8080 (this machine)", 4096)
    assert gateway.asked_about == [("openai/local", {"reasoning_effort": "low"})]
    notices = await said(steward)
    assert any("takes no tools" in text for text in notices)
    assert any("has no reasoning_effort" in text for text in notices)
    await steward.close()


async def test_what_was_learned_of_the_model_before_is_not_kept_for_the_next(place: Path) -> None:
    steward, gateway = steward_at(place, model="openai/a")
    gateway.facts = ModelFacts("127.0.0.1 (this machine)", True, 4096, False)
    await steward.choose_model("openai/a")
    await said(steward)

    async def nothing(model: str, options: Any = None) -> ModelFacts:
        raise ModelError("worker-died", "It is gone.")

    gateway.about = nothing
    await steward.choose_model("openai/b")
    assert steward.model_host == ""
    assert not any("takes no tools" in text for text in await said(steward))
    await steward.close()


async def test_the_last_exam_of_a_model_is_told_when_it_is_chosen(place: Path) -> None:
    write_private(place / "state" / CARDS, {"openai/x": {"verdict": "unfit: prints calls as text"}})
    steward, _ = steward_at(place)
    await steward.choose_model("openai/x")
    assert await said(steward) == ["The last exam of openai/x said: unfit: prints calls as text."]
    await steward.close()


def test_clocks_and_bounds_are_the_settings_own() -> None:
    settings = Settings.model_validate(
        {
            "clocks": {"connect": 1, "first_token": 2, "gap": 3, "local_factor": 5, "retries": 0},
            "limits": {
                "rounds": 6,
                "turn_seconds": 7,
                "turn_tokens": 8,
                "turn_cost": 9.5,
                "session_tokens": 10,
                "session_cost": 11.5,
            },
        }
    )
    clocks = clocks_of(settings)
    assert (clocks.connect, clocks.first_token, clocks.gap, clocks.local_factor, clocks.retries) == (
        1,
        2,
        3,
        5,
        0,
    )
    bounds = bounds_of(settings)
    assert (bounds.rounds, bounds.seconds, bounds.budget) == (6, 7, Budget(8, 9.5, 10, 11.5))
    assert bounds.local_factor == 5
    assert bounds_of(settings, 3).rounds == 3


async def test_a_server_on_this_machine_is_given_four_times_the_turn(place: Path) -> None:
    steward, gateway = steward_at(place, limits={"turn_seconds": 0.1})
    gateway.facts = ModelFacts("127.0.0.1 (this machine)", True)
    await steward.choose_model("openai/local")
    gateway.replies = [{"text": "Half", "hang": True}]
    events = await asked(steward, "Hello")
    assert "0.4 seconds" in events[-1].error
    await steward.close()


async def test_the_window_of_another_model_is_forgotten_with_it(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steward, gateway = steward_at(place)
    gateway.facts = ModelFacts("api.example", window=1000)
    await steward.choose_model("openai/known")
    assert steward.window == 1000

    async def gone(model: str, options: dict[str, Any] | None = None) -> ModelFacts:
        raise ModelError("worker-died", "The worker is gone.")

    monkeypatch.setattr(gateway, "about", gone)
    await steward.choose_model("openai/other")
    assert steward.window is None
    await steward.close()


async def test_what_a_session_has_used_counts_in_its_next_turn(place: Path) -> None:
    steward, gateway = steward_at(place, limits={"session_tokens": 100})
    gateway.replies = [{"text": "One.", "usage": {"prompt": 90, "completion": 20}}]
    first = await asked(steward, "One")
    assert first[-1].reason == "answered"
    second = await asked(steward, "Two")
    assert "this session has used 110 tokens" in second[-1].error
    assert len(gateway.requests) == 1
    await steward.close()
