"""What the commands do that are about skills and trust: list, load by hand, read, decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steward.tui import sentences
from steward.tui.lines import plain
from steward.tui.prompt.completion import Choice

if TYPE_CHECKING:
    from steward.service.steering import SkillsView
    from steward.service.trust import TrustView
    from steward.tui.app import StewardApp


class SteeringDeeds:
    """Carries out the commands about what steers the model. Errors are the caller's to show."""

    def __init__(self, app: StewardApp) -> None:
        self._app = app

    async def do(self, name: str, argument: str) -> None:
        """Carry out one of these commands."""
        match name:
            case "skills":
                from steward.tui.screens.pages import skills_page

                if (view := await self._seen()) is not None:
                    self._app.deeds.read("Skills", skills_page(view))
            case "skill":
                chosen = argument or await self._chosen()
                if chosen:
                    await self._load(chosen)
            case "init":
                sentence, question = await self._app.steward.begin_init(argument)
                self._app.feed.say(plain(sentence), "info")
                self._app.turns.ask(question)
            case _:
                await self._trust()

    async def complete(self, typed: str) -> list[Choice]:
        """Skills whose name begins with what was typed, then those that hold it."""
        skills = (await self._app.steward.skills()).skills
        found = sorted((s for s in skills if typed in s.name), key=lambda s: not s.name.startswith(typed))
        return [Choice(skill.name, skill.description, runs=True) for skill in found]

    async def _seen(self) -> SkillsView | None:
        """The skills as they are on the disk now; ``None`` when the person does not wait for that."""
        return await self._app.deeds.waits.wait(
            "looking for skills",
            self._app.steward.skills_view(),
            "Skills are no longer looked for; those that were known stay.",
        )

    async def _load(self, name: str) -> None:
        app = self._app
        app.feed.say(plain(await app.steward.load_skill(name)), "info")
        await app.deeds.look()

    async def _chosen(self) -> str | None:
        from steward.tui.screens.picker import Item, Picker

        if (view := await self._seen()) is None:
            return None
        items = [
            Item(s.name, s.name, s.source, "loaded" if s.name in view.loaded else "", s.description)
            for s in view.catalog.skills
        ]
        return await self._app.deeds.pick(Picker("Load a skill", items, empty="There are no skills."))

    async def _trust(self) -> None:
        from steward.tui.screens.trust import TrustScreen

        app = self._app
        view = await app.steward.trust_view()
        decided = await app.deeds.pick(TrustScreen(view, app.keyboard))
        match decided:
            case None:
                return
            case "nothing":
                await app.steward.forget_trust()
                app.feed.say("Nothing of this repository is used from here on; /trust asks again.", "done")
            case "decline":
                await app.steward.decline_trust(view.digests)
                app.feed.say("You go on without these texts; /trust asks again.", "done")
            case "all":
                await self._accept(view, dict(view.digests))
            case one:
                await self._accept(view, {one: view.digests[one]})
        await app.deeds.look()

    async def _accept(self, view: TrustView, digests: dict[str, str]) -> None:
        app = self._app
        begun = bool(app.steward.transcript())
        await app.steward.accept_trust(digests)
        fresh = [item for item in view.pending if f"{item.kind}:{item.path}" in digests]
        later = begun and any(item.kind == "configuration" for item in fresh)
        count = "It counts" if len(fresh) == 1 else "They count"
        when = f"{count} from the next path on." if begun else f"{count} from now on."
        more = " The repository's configuration counts at the next start." if later else ""
        app.feed.say(f"{sentences.count(len(fresh), 'text')} trusted. {when}{more}", "done")
