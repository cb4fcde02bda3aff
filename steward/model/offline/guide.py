"""The guide's next step, from the conversation so far: look, look closer, answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from steward.conversation import JsonObject
from steward.model.offline import answer
from steward.model.offline.findings import (
    Hit,
    Read,
    Step,
    Turn,
    entries,
    hits,
    proposed,
    read,
    searched,
    turn,
)
from steward.model.offline.rank import KEYWORDS, Place, rank
from steward.model.offline.wishes import Decide, Edit, Edits, Greeting, Overview, Question, stem, understand

_READMES = (
    "README.md",
    "README.rst",
    "README",
    "README.txt",
    "readme.md",
    "pyproject.toml",
    "package.json",
    "Cargo.toml",
)
_ENTRANCES = (
    "__init__.py",
    "mod.rs",
    "lib.rs",
    "main.rs",
    "index.ts",
    "index.js",
    "main.go",
    "doc.go",
    "AGENTS.md",
)
_LINES = 40
_READINGS = 3
_NO_TEXT = re.compile(
    r"\.(?:pyc|so|o|a|png|jpe?g|gif|ico|webp|pdf|zip|gz|whl|woff2?|ttf|wasm|class|jar|db|sqlite3?)$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Guidance:
    """The next reply: text, and calls with ``name`` and ``arguments``."""

    text: str
    calls: tuple[JsonObject, ...] = ()


def guide(messages: list[JsonObject], tools: list[JsonObject]) -> Guidance:
    """The reply that follows ``messages``, both in OpenAI's shape. The same input gives the same reply."""
    now = turn(messages)
    names = {str(tool["function"]["name"]) for tool in tools}
    wish = understand(now.question)
    match wish:
        case Greeting():
            return Guidance(answer.GREETING)
        case Decide():
            return Guidance(answer.DECIDE)
        case _ if not {"listFiles", "searchFiles", "readFile"} <= names:
            return Guidance("I am the offline guide, and I was given no tools to look with.")
        case Edits(edits):
            return (
                _edit(now, edits)
                if "proposePatch" in names
                else Guidance("I was given no tool to propose with.")
            )
        case Overview():
            return _overview(now)
        case Question():
            return _look(now, wish)
        case _:
            assert_never(wish)


def _call(name: str, **arguments: object) -> JsonObject:
    return {"name": name, "arguments": arguments}


def _of(now: Turn, name: str) -> list[Step]:
    return [step for step in now.steps if step.name == name]


# Changes that the person spelt out


def _edit(now: Turn, edits: tuple[Edit, ...]) -> Guidance:
    patches = _of(now, "proposePatch")
    if not patches:
        unread = [edit.path for edit in edits if not edit.creates]
        if now.rounds == 0 and unread:
            calls = tuple(_call("readFile", path=path) for path in dict.fromkeys(unread))
            return Guidance("I read the file first.", calls)
        refusals = [
            step.text for step in _of(now, "readFile") if not step.ok and " is empty" not in step.text
        ]
        if refusals:
            return Guidance(answer.refused(now, refusals))
        return Guidance("", tuple(map(_patch, edits)))
    latest = patches[-len(edits) :]
    if len(patches) == len(edits) and any(step.briefed and not step.ok for step in latest):
        # Instructions had to be read first; they have been now.
        again = tuple(_patch(edit) for edit, step in zip(edits, latest, strict=True) if not step.ok)
        return Guidance("The instructions for this path came first; I propose it again.", again)
    change = proposed(patches)
    done = [_described(now, edit, step) for edit, step in _paired(edits, patches) if step.ok]
    refusals = [step.text for _, step in _paired(edits, patches) if not step.ok]
    if not change:
        return Guidance(answer.refused(now, refusals))
    text = answer.pending(now, change, done)
    if refusals:
        text += "\n\nNot proposed: " + " ".join(refusal.strip().split("\n")[0] for refusal in refusals)
    return Guidance(answer.opening(now) + text)


def _paired(edits: tuple[Edit, ...], patches: list[Step]) -> list[tuple[Edit, Step]]:
    """Each edit with the last result that it had."""
    wanted = {_key(_patch(edit)["arguments"]): edit for edit in edits}
    last: dict[str, Step] = {_key(step.arguments): step for step in patches}
    return [(wanted[key], step) for key, step in last.items() if key in wanted]


def _key(arguments: JsonObject) -> str:
    return repr(sorted(arguments.items()))


def _patch(edit: Edit) -> JsonObject:
    if edit.delete:
        return _call("proposePatch", path=edit.path, oldText="", newText="", deleteFile=True)
    if edit.rename_to:
        return _call("proposePatch", path=edit.path, oldText="", newText="", renameTo=edit.rename_to)
    return _call("proposePatch", path=edit.path, oldText=edit.old, newText=edit.new)


def _described(now: Turn, edit: Edit, step: Step) -> str:
    if edit.delete:
        return f"delete {answer.code(edit.path)}"
    if edit.rename_to:
        return f"rename {answer.code(edit.path)} to {answer.code(edit.rename_to)}"
    if edit.creates:
        return f"create {answer.code(edit.path)}"
    line = next((line for line in (_line_of(edit, step) for step in _of(now, "readFile")) if line), 0)
    where = answer.cite(edit.path, line) if line else answer.code(edit.path)
    return f"{where}: {answer.code(edit.old)} becomes {answer.code(edit.new) if edit.new else 'nothing'}"


def _line_of(edit: Edit, step: Step) -> int:
    """The line on which the old text begins, as far as the file was read; 0 when it is not seen."""
    seen = read(step)
    if seen is None or seen.path != edit.path:
        return 0
    first = edit.old.split("\n")[0]
    return next((number for number, text in sorted(seen.rows.items()) if first in text), 0)


# Questions


def _overview(now: Turn) -> Guidance:
    listings = _of(now, "listFiles")
    if not listings:
        return Guidance("I look at the top of the repository.", (_call("listFiles", path="."),))
    listed = entries(listings[-1])
    files = {path for path, folder in listed if not folder}
    readme = next((name for name in _READMES if name in files), None)
    if now.rounds == 1 and readme is not None:
        return Guidance("", (_call("readFile", path=readme, lineCount=_LINES),))
    reads = [seen for step in _of(now, "readFile") if (seen := read(step)) is not None]
    return Guidance(answer.overview(now, listed, reads))


def _look(now: Turn, question: Question) -> Guidance:
    asked = ", ".join(answer.code(term) for term in (*question.paths, *(t.text for t in question.terms)))
    if now.rounds == 0:
        return Guidance(f"I look for {asked}.", _first_look(question))
    reads = [seen for step in _of(now, "readFile") if (seen := read(step)) is not None]
    by_path = [seen for seen in reads if seen.path in question.paths]
    if by_path and now.rounds == 1 and not question.terms:
        return Guidance("\n\n".join(answer.about_file(now, seen) for seen in by_path[:2]))
    folder = next(
        (step for step in _of(now, "listFiles") if step.ok and step.arguments.get("path") != "."), None
    )
    if folder is not None and not question.terms:
        return _folder(now, folder, reads)
    searches = [step for step in _of(now, "searchFiles") if step.ok]
    found = [hit for step in searches for hit in hits(step)]
    looked = next((text for text in map(searched, searches) if text), "")
    if question.mentions and found and now.rounds == 1:
        literal = _mentioned(question, searches)
        if literal:
            cut = any("Stopped" in step.text.split("\n")[0] for step in searches)
            return Guidance(answer.mentions(now, asked, literal, looked, cut))
    best = rank(question, found, _names(now, question))
    if now.rounds == 1 or (now.rounds == 2 and not reads and best):
        calls = _closer(best, by_path)
        if calls:
            return Guidance(_reading(calls), calls)
        if now.rounds == 1 and question.terms:
            return Guidance("Nothing yet; I search more widely.", _wider(question))
    if best and reads:
        return Guidance(answer.places_found(now, asked, best[:8], reads, looked))
    if by_path:
        return Guidance("\n\n".join(answer.about_file(now, seen) for seen in by_path[:2]))
    refusals = [step.text.split("\n")[0] for step in _of(now, "readFile") if not step.ok]
    return Guidance(answer.nothing(now, asked, looked) + "".join(f"\n\n> {refusal}" for refusal in refusals))


def _folder(now: Turn, listing: Step, reads: list[Read]) -> Guidance:
    """What a directory holds, with what the file says that speaks for it."""
    path = str(listing.arguments["path"])
    listed = entries(listing)
    names = {name.rpartition("/")[2] for name, is_folder in listed if not is_folder}
    speaks = next((name for name in (*_READMES, *_ENTRANCES) if name in names), None)
    if now.rounds == 1 and speaks is not None:
        return Guidance("", (_call("readFile", path=f"{path}/{speaks}", lineCount=_LINES),))
    return Guidance(answer.about_folder(now, path, listed, reads))


def _first_look(question: Question) -> tuple[JsonObject, ...]:
    calls: list[JsonObject] = []
    for path in question.paths[:2]:
        name = path.rstrip("/").rpartition("/")[2]
        if "." in name:
            calls.append(_call("readFile", path=path))
        else:
            calls.append(_call("listFiles", path=path.rstrip("/")))
    terms = [stem(term.text) for term in question.terms]
    if not terms and question.paths:
        # The path may be wrong or only the end of one: look for its name too.
        name = question.paths[0].rstrip("/").rpartition("/")[2]
        calls.append(_call("listFiles", path=".", depth=12, glob=f"*{_globbed(name)}*"))
        return tuple(calls)
    words = [term for term in terms if re.fullmatch(r"[\w-]+", term)]
    calls += [_call("searchFiles", query=term, ignoreCase=True) for term in terms[:3]]
    if words and not question.mentions:
        choice = "|".join(re.escape(word) for word in words)
        pattern = rf"\b({KEYWORDS})\s+[\w$]*({choice})"
        calls.append(_call("searchFiles", query=pattern, regex=True, ignoreCase=True))
        globs = ",".join(f"*{_globbed(word)}*" for word in words)
        calls.append(_call("listFiles", path=".", depth=12, glob=f"{{{globs}}}" if len(words) > 1 else globs))
    return tuple(calls)


def _globbed(word: str) -> str:
    """A word in which no character means more than itself in a pattern."""
    return re.sub(r"[^\w.-]", "?", word)


def _wider(question: Question) -> tuple[JsonObject, ...]:
    """Shorter beginnings of the words, and the top of the repository."""
    shorter = [
        word[: max(4, len(word) * 2 // 3)]
        for word in (stem(term.text) for term in question.terms)
        if len(word) > 5
    ]
    calls = [_call("searchFiles", query=word, ignoreCase=True) for word in dict.fromkeys(shorter)]
    return (*calls[:3], _call("listFiles", path="."))


def _mentioned(question: Question, searches: list[Step]) -> list[Hit]:
    """Lines that hold every quoted or named term, or else the first that was found at all."""
    strong = [term.text.lower() for term in question.terms if term.weight >= 4]
    keys = strong or [stem(term.text).lower() for term in question.terms[:1]]
    unique = {(hit.path, hit.line): hit for step in searches for hit in hits(step)}
    return [hit for hit in unique.values() if any(key in hit.text.lower() for key in keys)]


def _names(now: Turn, question: Question) -> list[str]:
    """Files that a listing found by name."""
    found = [
        path
        for step in _of(now, "listFiles")
        if step.arguments.get("glob")
        for path, folder in entries(step)
        if not folder and not _NO_TEXT.search(path)
    ]
    return found[:400]


def _closer(best: list[Place], by_path: Sequence[object]) -> tuple[JsonObject, ...]:
    readings = _READINGS - (1 if by_path else 0)
    return tuple(
        _call("readFile", path=place.path, startLine=max(1, place.line - 6), lineCount=_LINES)
        for place in best[:readings]
    )


def _reading(calls: tuple[JsonObject, ...]) -> str:
    paths = list(dict.fromkeys(answer.code(str(call["arguments"]["path"])) for call in calls))
    return f"I read {', '.join(paths)}."
