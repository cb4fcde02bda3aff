"""What of this installation and this workspace works, each with what to do about it when it does not."""

from __future__ import annotations

import asyncio
import platform
import re
import shutil
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from importlib import metadata
from importlib.util import find_spec

from steward import __version__
from steward.agents_md import Resolution
from steward.conversation import JsonObject
from steward.errors import StewardError
from steward.model.choices import GUIDE
from steward.model.gateway import Gateway
from steward.model.request import ModelRequest, Reply
from steward.service.doctor_disk import database, journals, search, state_directory, watching, workspace
from steward.service.exam_card import kept
from steward.service.finding import Finding, State
from steward.service.house import House
from steward.service.model_settings import model_of
from steward.service.trust import TrustView
from steward.skills import Catalog

STOLE = frozenset({"1.82.7", "1.82.8"})
"""Versions of litellm that stole credentials."""
NEEDED = (
    "textual",
    "litellm",
    "click",
    "pydantic",
    "PyYAML",
    "rapidfuzz",
    "watchdog",
    "platformdirs",
    "unidiff",
)
_KEY = re.compile(r"[A-Z0-9_]*(?:API_KEY|_API_TOKEN|AWS_ACCESS_KEY_ID|GOOGLE_APPLICATION_CREDENTIALS)")
_PROVIDERS = {
    "anthropic": "ANTHROPIC_API_KEY",
    "claude": "ANTHROPIC_API_KEY",
    "openai": "OPENAI_API_KEY",
    "gpt": "OPENAI_API_KEY",
    "gemini": "GEMINI_API_KEY",
    "mistral": "MISTRAL_API_KEY",
    "groq": "GROQ_API_KEY",
    "deepseek": "DEEPSEEK_API_KEY",
    "openrouter": "OPENROUTER_API_KEY",
    "xai": "XAI_API_KEY",
    "cohere": "COHERE_API_KEY",
    "azure": "AZURE_API_KEY",
    "together_ai": "TOGETHERAI_API_KEY",
    "fireworks_ai": "FIREWORKS_AI_API_KEY",
}


def versions(python: tuple[int, int] = sys.version_info[:2]) -> Iterator[Finding]:
    """The steward, Python, the system, and the packages it stands on."""
    system = f"{platform.system()} {platform.release()}".strip()
    named = f"steward {__version__}, Python {platform.python_version()}, {system}"
    if python < (3, 11):
        yield Finding("versions", "bad", f"{named}: Python is too old.", "Install Python 3.11 or newer.")
    else:
        yield Finding("versions", "ok", named)
    for package in NEEDED:
        try:
            version = metadata.version(package)
        except metadata.PackageNotFoundError:
            yield Finding(
                "packages", "bad", f"{package} is not installed.", "Install the steward again with pip."
            )
            continue
        if package == "litellm":
            yield litellm_version(version)


def litellm_version(version: str) -> Finding:
    """Whether this version of litellm may be used."""
    if version in STOLE:
        return Finding(
            "packages",
            "bad",
            f"litellm {version} stole credentials.",
            "Install another version at once and replace every key that this machine held.",
        )
    return Finding("packages", "ok", f"litellm {version}")


def terminal(
    environment: Mapping[str, str],
    *,
    is_terminal: bool,
    size: tuple[int, int] | None = None,
    encoding: str = "utf-8",
) -> Iterator[Finding]:
    """What the terminal says of itself; ``size`` is columns and lines."""
    term = environment.get("TERM", "")
    if not is_terminal:
        yield Finding(
            "terminal", "ok", "Standard output is no terminal; the commands without a screen work here."
        )
    elif term in ("", "dumb"):
        yield Finding(
            "terminal",
            "warn",
            "The terminal says that it cannot draw a screen.",
            "Set TERM, as in TERM=xterm-256color.",
        )
    else:
        colours = (
            "all colours" if environment.get("COLORTERM") in ("truecolor", "24bit") else "256 colours at most"
        )
        columns, lines = size or shutil.get_terminal_size()
        inside = next((name for name in ("TMUX", "STY", "SSH_TTY") if environment.get(name)), "")
        where = {"TMUX": ", in tmux", "STY": ", in screen", "SSH_TTY": ", over SSH"}.get(inside, "")
        yield Finding("terminal", "ok", f"{term}, {columns} by {lines}, {colours}{where}")
        if columns < 60 or lines < 15:
            yield Finding(
                "terminal", "warn", "The terminal is small.", "Give it 80 columns and 24 lines or more."
            )
        if "NO_COLOR" in environment:
            yield Finding("terminal", "ok", "NO_COLOR is set; the screen is drawn without colours.")
    if encoding.lower().replace("-", "").replace("_", "") != "utf8":
        yield Finding(
            "terminal",
            "warn",
            f"The encoding is {encoding or 'unknown'}.",
            "Set LC_ALL to a UTF-8 locale, or PYTHONUTF8=1.",
        )


def keys(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Names of variables that hold a key; never their values."""
    return tuple(
        sorted(name for name, value in environment.items() if value.strip() and _KEY.fullmatch(name))
    )


def model(
    chosen: str,
    environment: Mapping[str, str],
    options: Mapping[str, object] | None = None,
    *,
    keyring: bool = False,
) -> Iterator[Finding]:
    """Whether a model is chosen and whether the key that it is likely to need is there, or may be in the keyring."""
    present = keys(environment)
    named = (
        f"Keys in the environment (not shown): {', '.join(present)}."
        if present
        else "No keys in the environment."
    )
    yield Finding("keys", "ok", named)
    if not chosen or chosen == GUIDE:
        yield Finding(
            "model",
            "warn",
            "No model is chosen, so the offline guide answers.",
            "Choose one with /model, --model or STEWARD_MODEL; `steward help models` tells how.",
        )
        return
    elsewhere = keyring or any(key in (options or {}) for key in ("api_key", "api_base", "base_url"))
    provider = re.split(r"[/\-]", chosen, maxsplit=1)[0].lower()
    wanted = _PROVIDERS.get(provider)
    if wanted is not None and wanted not in present and not elsewhere:
        yield Finding(
            "model",
            "warn",
            f"{chosen} is chosen, but {wanted} is not set.",
            f"Set {wanted}, or choose another model.",
        )
    else:
        yield Finding("model", "ok", f"{chosen} is chosen; `steward check-model` examines it.")


def keyring_package() -> Finding:
    """Whether the system's keyring can be asked at all; which keys it holds is the worker's to see."""
    if find_spec("keyring") is None:
        return Finding(
            "keyring",
            "bad",
            "keyring is on in your settings, but its package is not installed.",
            "pip install 'repository-steward[keyring]'",
        )
    return Finding("keyring", "ok", "Keys that the environment lacks are taken from the system's keyring.")


def from_keyring(gateway: Gateway) -> Iterator[Finding]:
    """Which keys the worker has from the keyring, by name; ask when it is ready."""
    if gateway.keyring_trouble:
        remedy = "Put the key into the environment, or unlock the keyring."
        yield Finding("keyring", "warn", gateway.keyring_trouble, remedy)
    if gateway.keyring:
        named = ", ".join(gateway.keyring)
        yield Finding("keyring", "ok", f"Keys from the keyring (not shown): {named}.")


def examined(chosen: str, cards: Mapping[str, JsonObject]) -> Iterator[Finding]:
    """What the last exam of the model said; nothing for the guide, which takes none."""
    if chosen == GUIDE:
        return
    card = cards.get(chosen)
    if card is None:
        yield Finding("exam", "ok", f"{chosen} was not examined yet.")
        return
    said = (
        f"The exam of {str(card.get('held', ''))[:10] or 'an unknown day'} found {chosen} {card['verdict']}."
    )
    fit = str(card["verdict"]).startswith("fit")
    yield Finding("exam", "ok" if fit else "warn", said, "" if fit else "Choose another model with /model.")


async def worker(gateway: Gateway) -> Finding:
    """Whether the worker process starts and litellm keeps quiet in it. Leaves the gateway running."""
    try:
        await gateway.start()
        version = await gateway.ready()
    except StewardError as error:
        return Finding(
            "worker", "bad", str(error), "Install the steward again; litellm cannot be imported as it is."
        )
    noise = gateway.diagnostics().strip()
    if noise:
        return Finding(
            "worker",
            "warn",
            f"The worker is ready (litellm {version}), but wrote {len(noise)} characters that nobody reads.",
            "Look for plug-ins or settings that make litellm print.",
        )
    return Finding("worker", "ok", f"The worker is ready, and litellm {version} is quiet.")


async def reached(
    gateway: Gateway, chosen: str, options: JsonObject | None = None, seconds: float = 30.0
) -> Finding:
    """Whether the model answers one word; this costs a few tokens."""
    messages = '[{"role":"user","content":"Answer with the word yes."}]'
    try:
        async with asyncio.timeout(seconds):
            async for part in gateway.stream(ModelRequest(chosen, messages, (), dict(options or {}))):
                if isinstance(part, Reply):
                    break
    except TimeoutError:
        return Finding(
            "reach",
            "bad",
            f"{chosen} gave no answer within {seconds:g} s.",
            "Check the network or the server.",
        )
    except StewardError as error:
        return Finding("reach", "bad", str(error), "Check the model's name, its key and the network.")
    return Finding("reach", "ok", f"{chosen} answers.")


def instructions(resolution: Resolution, *, enabled: bool = True) -> Iterator[Finding]:
    """Which documents would be loaded for the whole workspace, and which not."""
    if not enabled:
        yield Finding(
            "instructions",
            "warn",
            "Instructions are switched off.",
            "Set instructions.enabled in your configuration.",
        )
        return
    named = ", ".join(f"{document.path} ({document.bytes} bytes)" for document in resolution.documents)
    yield Finding(
        "instructions",
        "ok",
        f"Would be loaded: {named}." if named else "There is no AGENTS.md for the whole workspace.",
    )
    for skipped in resolution.skipped:
        yield Finding(
            "instructions",
            "warn",
            f"{skipped.path} would be left out: {skipped.reason}",
            "See `steward instructions`.",
        )
    if resolution.outcome != "complete":
        yield Finding(
            "instructions",
            "warn",
            f"A limit was met ({resolution.outcome}).",
            "Raise it in your configuration.",
        )


def repository(view: TrustView, *, forced: bool = False) -> Iterator[Finding]:
    """What of the repository would steer the model, and what of it waits for the person to accept it.

    ``forced``: the person's settings, or this run, let all of it through.
    """
    theirs = [item for item in view.items if item.state != "yours"]
    waiting = [] if forced else [item for item in theirs if not view.trusted or item in view.pending]
    used = [item for item in theirs if item not in waiting]
    named = ", ".join(item.path for item in used)
    yield Finding(
        "repository",
        "ok",
        f"Steers the model: {named}." if used else "Nothing of the repository steers the model.",
    )
    if waiting:
        named = ", ".join(item.path for item in waiting)
        yield Finding(
            "repository",
            "warn",
            f"Waits until you accept it: {named}.",
            "Read it with `steward trust`, and accept it there.",
        )


def skills(catalog: Catalog) -> Iterator[Finding]:
    """Which skills would be offered, by where they come from, and what is wrong with any."""
    counts = {
        source: sum(skill.source == source for skill in catalog.skills)
        for source in ("project", "user", "shipped")
    }
    words = {"project": "of the repository", "user": "of yours", "shipped": "shipped"}
    named = ", ".join(f"{number} {words[source]}" for source, number in counts.items() if number)
    yield Finding("skills", "ok", f"Would be offered: {named}." if named else "There are no skills.")
    for warning in catalog.warnings:
        yield Finding("skills", "warn", warning, "See `steward skills`.")


def examine(house: House, environment: Mapping[str, str], *, chosen: str = "") -> Iterator[Finding]:
    """Every check that needs neither a model nor a network, in the order in which one rests on the other."""
    from steward.skills import discover

    yield from versions()
    encoding = getattr(sys.stdout, "encoding", None) or ""
    yield from terminal(environment, is_terminal=sys.stdout.isatty(), encoding=encoding)
    with suppress(OSError):  # What is wrong with it is said by the check.
        house.state.mkdir(mode=0o700, parents=True, exist_ok=True)
    yield from state_directory(house.state)
    yield database(lambda: house.database.check())
    yield journals(house.state)
    yield from workspace(house.workspace.root, house.workspace.engine, house.state)
    yield from _guarded("instructions", lambda: list(_loaded(house)))
    catalog = discover(house.skill_places())
    yield from skills(catalog)
    yield search()
    yield watching()
    state = house.state.parent
    named = model_of(chosen, house.settings, state)
    yield from model(named, environment, house.settings.options, keyring=house.settings.keyring)
    if house.settings.keyring:
        yield keyring_package()
    yield from examined(named, kept(state))


def worst(findings: Collection[Finding]) -> State:
    """The worst state among findings; ``ok`` for none."""
    states = {finding.state for finding in findings}
    return "bad" if "bad" in states else "warn" if "warn" in states else "ok"


def _loaded(house: House) -> Iterator[Finding]:
    enabled = house.settings.instructions.enabled
    yield from instructions(house.resolver.resolve("."), enabled=enabled)


def _guarded(name: str, check: Callable[[], list[Finding]]) -> list[Finding]:
    """A check that cannot be made is a finding too."""
    try:
        return check()
    except StewardError as error:
        return [Finding(name, "bad", str(error), "Mend your configuration.")]
