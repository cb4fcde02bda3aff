"""The part of the steward that deals with models: find them, choose one, remember it, learn about it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from steward.errors import ConfigError, Conflict, StewardError
from steward.events import ChangesMoved, Event, Notice
from steward.model.choices import ModelChoice, ModelFacts

if TYPE_CHECKING:
    from steward.model.gateway import Gateway
    from steward.service.examining import Examined, Tried
    from steward.service.house import House
    from steward.service.talk import Talk


class Models:
    """Which model answers, and what is known of it. ``Steward`` is made of it."""

    _house: House
    _turn: asyncio.Task[Any] | None
    _facts = ModelFacts("")

    @property
    def model(self) -> str:
        """The model's name."""
        raise NotImplementedError

    @property
    def _talk(self) -> Talk:
        raise NotImplementedError

    @property
    def _gateway(self) -> Gateway:
        raise NotImplementedError

    @property
    def model_host(self) -> str:
        """The host that what the model is told goes to; empty until it is known."""
        return self._facts.host

    async def models(self) -> tuple[ModelChoice, ...]:
        """What can be chosen here, each with what its last exam said; the one in use is always among them."""
        found = await self._gateway.models(dict(self._house.settings.options))
        verdicts = await asyncio.to_thread(self._verdicts)
        rows = {choice.name: choice for choice in found}
        for name in (self.model, *verdicts):
            if _plain(name) not in {_plain(known) for known in rows}:
                host = (self._facts.host if name == self.model else "") or "unknown host"
                rows[name] = ModelChoice(name, host, found="in use" if name == self.model else "examined")
        return tuple(replace(row, verdict=verdicts.get(_plain(row.name), "")) for row in rows.values())

    async def choose_model(self, name: str) -> None:
        """Use another model from the next round on, and at the next start; the conversation goes on."""
        name = _name(name)
        if self._turn is not None:
            raise Conflict("A turn is running; choose the model when it has ended.")
        self._talk.model = name
        self._know(ModelFacts(""))
        from steward.service.confine import models_of, worker_ports

        settings = self._house.settings
        self._gateway.hold_to(worker_ports(settings, name, os.environ), models_of(settings, name))
        try:
            from steward.service.model_settings import remember

            await asyncio.to_thread(remember, self._house.state.parent, name)
        except OSError as error:
            reason = (error.strerror or "error").lower()
            self._tell(Notice(f"The choice could not be kept for the next start ({reason}).", "warning"))
        configured = self._house.settings.model
        if configured and configured != name:
            self._tell(Notice(f"Your configuration names {configured}; the next start uses that again."))
        verdict = (await asyncio.to_thread(self._verdicts)).get(_plain(name), "")
        if verdict:
            self._tell(Notice(f"The last exam of {name} said: {verdict}."))
        await self._learn_model()

    def examine(self, name: str = "") -> AsyncGenerator[Tried | Examined]:
        """Hold the exam with a model (the one in use), beside the conversation; see ``examining.examined``.

        A hosted model is paid for some thirty short conversations, so that it belongs to the person to ask for it.
        """
        from steward.confine.outside import Outside
        from steward.service.examining import examined  # here, since it is rarely asked for

        house = self._house
        return examined(house.outside or Outside(), _name(name or self.model), house.configuration)

    async def _learn_model(self) -> None:
        name = self.model
        with suppress(StewardError):
            facts = await self._gateway.about(name, dict(self._house.settings.options))
            if name == self.model:
                self._know(facts)
                for sentence in _warnings(name, facts):
                    self._tell(Notice(sentence, "warning"))
        self._tell(ChangesMoved())

    def _know(self, facts: ModelFacts) -> None:
        self._facts = facts
        self._talk.window = self._talk.briefing.window = facts.window

    def _verdicts(self) -> dict[str, str]:
        from steward.service.exam_card import kept  # here, since it is rarely asked for

        return {_plain(name): str(card["verdict"]) for name, card in kept(self._house.state.parent).items()}

    def _tell(self, event: Event) -> None:
        raise NotImplementedError


def _warnings(name: str, facts: ModelFacts) -> Iterator[str]:
    if facts.tools is False:
        yield (
            f"{name} takes no tools as it is served by {facts.host}: it can talk, but neither look into the "
            "repository nor propose anything."
        )
    for option in facts.ignored:
        yield f"{name} has no {option}, so that option is left out."


def _name(typed: str) -> str:
    """The name of a model as the person typed it; raises ``ConfigError``."""
    name = typed.strip()
    if not name or any(c.isspace() for c in name):
        raise ConfigError("A model's name has no spaces; `/model` lists what was found.")
    return name


def _plain(name: str) -> str:
    """The name under which a model is known, however it is reached."""
    return name.replace("ollama_chat/", "ollama/", 1) if name.startswith("ollama_chat/") else name
