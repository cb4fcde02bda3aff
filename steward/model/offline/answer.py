"""The guide's answers: short Markdown in which every statement is a place in the repository."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from steward.model.offline.findings import Hit, Read, Turn
from steward.model.offline.rank import Place, defined, is_prose

_COMMENT = re.compile(r"^\s*(?:#|//|--|;|\*|/\*|<!--)[!/*#\s]*(.*?)(?:\*/|-->)?\s*$")
_DOCSTRING = re.compile(r'^\s*[rRbBuU]*("""|\'\'\')(.*?)(?:\1.*)?$')
_LANGUAGES = {
    "py": "python", "rs": "rust", "ts": "typescript", "tsx": "tsx", "js": "javascript", "jsx": "jsx", "go": "go",
    "rb": "ruby", "java": "java", "c": "c", "h": "c", "cpp": "cpp", "sh": "bash", "toml": "toml", "yaml": "yaml",
    "yml": "yaml", "json": "json", "html": "html", "css": "css", "sql": "sql",
}  # fmt: skip
_SHOWN = 10
_WIDTH = 120

GREETING = """I am the **offline guide**, not a language model: I answer by searching and reading this repository, and I
propose exactly the changes that you spell out. Nothing leaves this machine.

- Ask where something is: *where is the retry logic?*, *which files mention `AGENTS.md`?*
- Ask about a file: *what does `src/app.py` do?*
- Have a change proposed: `replace "A" with "B" in FILE`, `create FILE with "text"`, `rename A to B`, `delete FILE`.
  It stays pending until you have read its diff and applied it.

For answers that think, choose a model with `/model`."""

DECIDE = """Only you can do that: no model and no tool can apply, undo or discard a change. List the changes with
`/changes`, read one with `/show-change`, then use `/apply-change`, `/discard-change` or `/undo-change`."""


def code(text: str) -> str:
    """Text as inline code, whatever it holds; long text is cut."""
    text = " ".join(text.split())
    if len(text) > _WIDTH:
        text = f"{text[: _WIDTH - 1]}…"
    ticks = "`" * (max((len(run) for run in re.findall(r"`+", text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def counted(number: int, what: str) -> str:
    """A number with its noun."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def cite(path: str, line: int, last: int | None = None) -> str:
    """A place, as ``path:line`` in code."""
    return code(f"{path}:{line}" + (f"-{last}" if last is not None and last != line else ""))


def block(path: str, rows: Sequence[str]) -> str:
    """Lines of a file as a fenced block."""
    ticks = "`" * max(3, max((len(run) for row in rows for run in re.findall(r"`+", row)), default=0) + 1)
    language = _LANGUAGES.get(path.rpartition(".")[2].lower(), "")
    return "\n".join((f"{ticks}{language}", *(row[: 2 * _WIDTH] for row in rows), ticks))


def opening(turn: Turn) -> str:
    """Says once in a conversation what is speaking."""
    return (
        ""
        if turn.earlier
        else "*Offline guide, no language model: this is what searching and reading gave.*\n\n"
    )


def places_found(turn: Turn, asked: str, best: Sequence[Place], reads: Sequence[Read], searched: str) -> str:
    """The answer to a question: the best places, what stands there, and where else to look."""
    parts: list[str] = []
    shown: set[str] = set()
    for place in best:
        seen = next((read for read in reads if read.path == place.path and place.line in read.rows), None)
        if seen is None:
            continue
        shown.add(place.path)
        parts.append(_place(place, seen, full=len(shown) == 1))
    others = [place for place in best if place.path not in shown][:5]
    if others:
        parts.append("Also: " + "; ".join(_short(place) for place in others) + ".")
    head = f"{opening(turn)}{asked}: the best of what I found" + (f" in {searched}" if searched else "") + "."
    return "\n\n".join((head, *parts, *governed(turn, shown)))


def _place(place: Place, seen: Read, *, full: bool) -> str:
    line = _definition(place.line, seen)
    said = _doc(line, seen)
    text = f"- {cite(place.path, line)}: {code(seen.rows.get(line, '').strip() or '(blank line)')}"
    if said:
        text += f"\n  {said}"
    if not full:
        return text
    rows = _excerpt(line, seen)
    return f"{text}\n\n{cite(place.path, line, line + len(rows) - 1)}\n\n{block(place.path, rows)}"


def _definition(line: int, seen: Read) -> int:
    """The nearest line at or above that defines what the hit stands in, within the lines read; prose has none."""
    if is_prose(seen.path) or defined(seen.path, seen.rows.get(line, "")):
        return line
    own = _indent(seen.rows.get(line, ""))
    for number in range(line - 1, max(line - 12, 0), -1):
        text = seen.rows.get(number)
        if text is None:
            break
        if defined(seen.path, text) and _indent(text) < max(own, 1):
            return number
    return line


def _excerpt(line: int, seen: Read) -> list[str]:
    rows = [seen.rows[number] for number in range(line, line + _SHOWN) if number in seen.rows]
    while rows and not rows[-1].strip():
        rows.pop()
    return rows or [""]


def _doc(line: int, seen: Read) -> str:
    """The first sentence of the docstring below or the comment above a definition."""
    for number in range(line + 1, line + 4):
        match = _DOCSTRING.match(seen.rows.get(number, ""))
        if match is not None:
            text = match[2] or seen.rows.get(number + 1, "")
            return _sentence(text)
    above: list[str] = []
    number = line - 1
    while (match := _COMMENT.match(seen.rows.get(number, ""))) is not None and len(above) < 6:
        above.insert(0, match[1])
        number -= 1
    return _sentence(" ".join(above))


def _sentence(text: str) -> str:
    """The first sentence, with nothing in it that Markdown would act on."""
    text = " ".join(text.split()).strip("*# ")
    end = re.search(r"(?<=[.!?])\s", text)
    text = text[: end.start()] if end else text
    return f"says: {code(text)}" if text else ""


def _short(place: Place) -> str:
    return cite(place.path, place.line) if place.hits else code(place.path)


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def mentions(turn: Turn, asked: str, found: Sequence[Hit], searched: str, cut: bool) -> str:
    """The answer to "which files mention": every file with its count and first line."""
    counts = Counter(hit.path for hit in found)
    first: dict[str, Hit] = {}
    for hit in found:
        first.setdefault(hit.path, hit)
    rows = [
        f"- {cite(path, first[path].line)} ({counted(number, 'line')}): {code(first[path].text.strip())}"
        for path, number in sorted(counts.items())
    ]
    more = f"\n- … and {len(rows) - 20} more files" if len(rows) > 20 else ""
    where = f" of {searched} searched" if searched else ""
    total = f"{asked} stands on {counted(len(found), 'line')} in {counted(len(counts), 'file')}{where}"
    limit = " The search stopped at its limit, so there may be more." if cut else ""
    return f"{opening(turn)}{total}.{limit}\n\n" + "\n".join(rows[:20]) + more


def about_file(turn: Turn, read: Read) -> str:
    """The answer to "what does FILE do": what it says of itself and what it defines."""
    definitions = [(n, t) for n, t in sorted(read.rows.items()) if defined(read.path, t) and _indent(t) <= 4]
    rows = [
        f"- {cite(read.path, number)}: {code(text.strip().rstrip(':{'))}" for number, text in definitions[:25]
    ]
    last = max(read.rows, default=0)
    size = f"{code(read.path)} has {counted(read.total, 'line')}"
    seen = f"; I read the first {last}" if last < read.total else ""
    parts = [f"{opening(turn)}{size}{seen}.{_begins(read)}"]
    if rows:
        more = f"\n- … and {len(definitions) - 25} more" if len(definitions) > 25 else ""
        parts.append("It defines:\n\n" + "\n".join(rows) + more)
    else:
        shown = [read.rows[number] for number in sorted(read.rows)[:_SHOWN]]
        parts.append(block(read.path, shown))
    return "\n\n".join((*parts, *governed(turn, {read.path})))


def about_folder(turn: Turn, path: str, listed: Sequence[tuple[str, bool]], reads: Sequence[Read]) -> str:
    """The answer to "what is in FOLDER": what speaks for it, and its entries."""
    said = "".join(f" {code(read.path.rpartition('/')[2])}:{_begins(read)}" for read in reads)
    rows = [f"- {code(name + ('/' if folder else ''))}" for name, folder in listed[:40]]
    more = f"\n- … and {len(listed) - 40} more" if len(listed) > 40 else ""
    head = f"{opening(turn)}{code(f'{path}/')} holds {counted(len(listed), 'thing')}.{said}"
    return "\n\n".join((head, "\n".join(rows) + more, *governed(turn, {path})))


def _begins(read: Read) -> str:
    """The first words of a file: its docstring, its comment or its first line."""
    for number in sorted(read.rows)[:12]:
        text = read.rows[number]
        doc = _DOCSTRING.match(text)
        comment = _COMMENT.match(text)
        if text.startswith("#!"):
            continue
        words = doc[2] or read.rows.get(number + 1, "") if doc else comment[1] if comment else text
        if words.strip():
            return f" It begins ({cite(read.path, number)}): {code(words.strip())}"
    return ""


def overview(turn: Turn, listed: Sequence[tuple[str, bool]], reads: Sequence[Read]) -> str:
    """What the repository says of itself and what stands at its top."""
    top = [(path, folder) for path, folder in listed if "/" not in path]
    folders = [code(f"{path}/") for path, folder in top if folder]
    files = [code(path) for path, folder in top if not folder]
    parts: list[str] = []
    for read in reads:
        paragraph = [
            (n, t)
            for n, t in sorted(read.rows.items())
            if t.strip() and not t.startswith(("#", "!", "[", "<", "=", "---"))
        ]
        title = next(((n, t) for n, t in sorted(read.rows.items()) if t.startswith("# ")), None)
        if title is not None:
            parts.append(f"{cite(read.path, title[0])}: **{code(title[1].lstrip('# '))}**")
        if paragraph:
            number = paragraph[0][0]
            text: list[str] = []
            while read.rows.get(number, "").strip() and len(text) < 6:
                text.append(read.rows[number])
                number += 1
            parts.append(
                f"{cite(read.path, paragraph[0][0], number - 1)} says:\n\n"
                + "\n".join(f"> {line}" for line in text)
            )
    if folders:
        parts.append("Directories: " + ", ".join(folders[:24]) + (", …" if len(folders) > 24 else "") + ".")
    if files:
        parts.append("Files at the top: " + ", ".join(files[:24]) + (", …" if len(files) > 24 else "") + ".")
    parts.append("Ask where something is, or what a file does, and I will look.")
    return opening(turn) + "\n\n".join(parts)


def nothing(turn: Turn, asked: str, searched: str) -> str:
    """Nothing was found, and what to try."""
    where = f" in {searched}" if searched else ""
    return (
        f"{opening(turn)}I found nothing for {asked}{where}. Try a word that stands in the code, quoted exactly, "
        "or the path of a file. A language model (`/model`) can search more cleverly than I do."
    )


def pending(turn: Turn, change: str, lines: Sequence[str]) -> str:
    """What was proposed and how to go on."""
    listed = "\n".join(f"- {line}" for line in lines)
    return "\n\n".join(
        (
            f"I proposed **{change}**. It is pending; nothing has been written.",
            listed,
            f"Read its diff with `/show-change {change}`, then apply it with `/apply-change {change}` or drop it with "
            f"`/discard-change {change}`.",
            *governed(
                turn,
                {str(step.arguments.get("path", "")) for step in turn.steps if step.name == "proposePatch"},
            ),
        )
    )


def refused(turn: Turn, sentences: Sequence[str]) -> str:
    """Why nothing was proposed."""
    told = "\n".join(f"> {line}" for sentence in sentences for line in sentence.strip().split("\n")[:12])
    return (
        f"{opening(turn)}Nothing was proposed. The tool said:\n\n{told}\n\n"
        "Quote the text exactly as it stands in the file, with enough around it that it occurs once."
    )


def governed(turn: Turn, paths: set[str]) -> list[str]:
    """One line that names the instruction documents in whose scope the paths lie."""
    names = [
        document
        for document, scope in turn.documents
        if any(
            scope in {"", ".", "/"}
            or scope.startswith("..")
            or f"{path}/".startswith(f"{scope.rstrip('/')}/")
            for path in paths
        )
    ]
    return [f"Instructions that govern this: {', '.join(map(code, names))}."] if names else []
