"""What steers the model beside the person's words: skills that are loaded, and texts of the repository that count."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steward.errors import Conflict
from steward.model.choices import GUIDE
from steward.service.trust import Standing, TrustView

if TYPE_CHECKING:
    from steward.events import Event, InstructionsChanged
    from steward.service.house import House
    from steward.service.talk import Talk
    from steward.skills import Catalog


INIT_SKILL = "write-agents-md"
"""The skill behind ``/init``."""
INIT = "Study this repository and propose an AGENTS.md, or mend the one it has."
"""The question that ``/init`` asks."""


@dataclass(frozen=True, slots=True)
class SkillsView:
    """The skills of a conversation, for a person."""

    catalog: Catalog
    loaded: tuple[str, ...]
    """Names of the skills whose instructions the conversation holds."""
    waiting: tuple[str, ...] = ()
    """Those of them that go along with the next question."""


class Steering:
    """The part of ``Steward`` by which a person says what steers the model."""

    _house: House

    @property
    def _talk(self) -> Talk:
        raise NotImplementedError

    # Skills

    async def skills(self) -> Catalog:
        """The skills of this conversation, with what has changed on disk by now."""
        await self._talk.skill.refresh()
        return self._talk.skill.catalog

    async def skills_view(self) -> SkillsView:
        """The same, with what is loaded of them."""
        catalog, skill = await self.skills(), self._talk.skill
        return SkillsView(catalog, skill.loaded, skill.waiting_names)

    async def load_skill(self, name: str) -> str:
        """Load a skill by hand: it goes along with the next question, and its lock holds in that turn.

        Gives a sentence for the person. ``NoSuchThing`` names the nearest skills; ``Conflict`` while a turn runs, and
        for a skill that cannot be read.
        """
        self._idle("load a skill")
        return await self._talk.load_skill(name)

    async def begin_init(self, more: str = "") -> tuple[str, str]:
        """Load the skill that writes an AGENTS.md; gives a sentence for the person, and the question to ask then.

        ``Conflict`` when nobody is there who could: the offline guide is no language model.
        """
        if self._talk.model == GUIDE:
            raise Conflict("The offline guide cannot study a repository; /model chooses a language model.")
        return await self.load_skill(INIT_SKILL), f"{INIT}\n{more}".strip()

    # Trust

    async def trust_view(self) -> TrustView:
        """What of this repository would steer the model, and what the person accepted of it."""
        return await asyncio.to_thread(self._house.trust.view)

    async def trust_standing(self) -> Standing:
        """Whether texts of the repository are withheld from the model because the person did not accept them."""
        return await asyncio.to_thread(self._house.trust.standing)

    async def accept_trust(self, digests: Mapping[str, str]) -> TrustView:
        """Use the texts that were shown: the view's ``digests``, or a part of them; see ``Trust.accept``.

        An empty conversation begins anew with them and the repository's configuration. Another one goes on: documents
        and skills count in it from the next path on, the configuration from the next start on.
        """
        self._idle("trust the repository")
        await asyncio.to_thread(self._house.trust.accept, digests)
        await self._decided()
        return await self.trust_view()

    async def decline_trust(self, digests: Mapping[str, str]) -> None:
        """Go on without the texts that were shown; nobody is asked about them again by itself."""
        await asyncio.to_thread(self._house.trust.decline, digests)

    async def forget_trust(self) -> None:
        """Trust nothing of this repository any more, from the next path on."""
        self._idle("change what it trusts")
        await asyncio.to_thread(self._house.trust.forget)
        await self._decided()

    async def _decided(self) -> None:
        talk = self._talk
        if not talk.messages:
            await self._anew()
            return
        places = await asyncio.to_thread(self._house.skill_places)
        talk.skill.move(places)
        self._tell(await self._instructions_event())

    def _idle(self, wanted: str) -> None:
        raise NotImplementedError

    def _tell(self, event: Event) -> None:
        raise NotImplementedError

    async def _instructions_event(self) -> InstructionsChanged:
        raise NotImplementedError

    async def _anew(self) -> None:
        """Begin an empty conversation in a house that goes by what the person has decided."""
        raise NotImplementedError
