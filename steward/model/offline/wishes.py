"""What a person wants of the guide, read from the words of the question alone."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_QUOTES = (("```", "```"), ("`", "`"), ('"', '"'), ("“", "”"), ("„", "“"), ("«", "»"), ("'", "'"), ("‘", "’"))


def _quoted(name: str) -> str:
    """A pattern for text in any kind of quotes; the text is in one of the groups ``name0``, ``name1``, …"""
    forms = (
        f"{re.escape(left)}(?P<{name}{number}>.*?){re.escape(right)}"
        for number, (left, right) in enumerate(_QUOTES)
    )
    return f"(?:{'|'.join(forms)})"


_PATH = rf"(?:(?:the\s+)?(?:new\s+)?file\s+)?(?:{_quoted('path')}|(?P<path>[^\s\"'`“”‘’]+))"
_TEXT = r"(?:the\s+)?(?:text|word|words|line|lines|string)?\s*"
_REPLACE = re.compile(
    rf"\b(?:replace|change|substitute)\s+{_TEXT}{_quoted('old')}\s+(?:with|by|to|into)\s+{_TEXT}{_quoted('new')}"
    rf"\s+(?:in|inside|within)\s+{_PATH}",
    re.IGNORECASE | re.DOTALL,
)
_REPLACE_IN = re.compile(
    rf"\bin\s+{_PATH}\s*,?\s+(?:please\s+)?(?:replace|change|substitute)\s+{_TEXT}{_quoted('old')}"
    rf"\s+(?:with|by|to|into)\s+{_TEXT}{_quoted('new')}",
    re.IGNORECASE | re.DOTALL,
)
_CREATE = re.compile(
    rf"\b(?:create|add|write)\s+(?:a\s+|the\s+)?{_PATH}\s+(?:with|containing|that\s+(?:says|contains))\s+"
    rf"(?:the\s+)?(?:content|contents|text)?\s*{_quoted('new')}",
    re.IGNORECASE | re.DOTALL,
)
_DELETE = re.compile(rf"^\s*(?:please\s+)?(?:delete|remove)\s+{_PATH}\s*[.!]?\s*$", re.IGNORECASE)
_RENAME = re.compile(
    rf"^\s*(?:please\s+)?(?:rename|move)\s+{_PATH}\s+to\s+(?:{_quoted('target')}|(?P<target>[^\s\"'`“”‘’]+))\s*$",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"^\W*(?:hi|hello|hey|help|good (?:morning|day|evening)|thanks?|thank you|what can you do|wh(?:o|at) are you)\b"
    r".{0,24}$",
    re.IGNORECASE | re.DOTALL,
)
_APPLY = re.compile(r"^\W*(?:please\s+)?(?:apply|accept|approve|undo|discard|rebase)\b", re.IGNORECASE)
_OVERVIEW = re.compile(
    r"\b(?:what (?:is|does|are) (?:this|the) (?:repo\w*|project|code ?base|code|program|tool|package|app\w*|folder)"
    r"|overview|structure of|how is (?:this|the) (?:repo\w*|project|code\w*) (?:organi[sz]ed|structured|laid out)"
    r"|(?:list|show)(?: me)?(?: all)?(?: the)? files|explain (?:this|the) (?:repo\w*|project|code ?base)|layout)\b",
    re.IGNORECASE,
)
_MENTIONS = re.compile(
    r"\b(?:which|what|all|list|find|show)\b.*\b(?:files?|places?|lines?|modules?|occurrences|mentions?|uses?|usages?|references?|callers?|calls?)\b"
    r"|\b(?:mentions?|occurrences|usages?|who calls|grep|search for|find all)\b",
    re.IGNORECASE | re.DOTALL,
)
_PATHLIKE = re.compile(
    r"(?<![\w/.@-])(?:\./)?(?:[\w.@+-]+/)*[\w.@+-]*\w\.[A-Za-z][A-Za-z0-9]{0,7}\b|(?<![\w/.@:-])(?:[\w.@+-]+/)+[\w.@+-]*"
)
_IDENTIFIER = re.compile(
    r"\b(?:[A-Za-z]+_\w+|_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|[A-Z]{2,}[A-Z0-9_]*)\b(?:\(\))?"
)
_WORD = re.compile(r"[^\W\d_][\w-]*")
_ANY_QUOTED = re.compile(_quoted("text"), re.DOTALL)

# Words that say nothing about what is looked for.
_STOP = frozenset(
    """
    a about above actually add after again all along also always am an and any anyone anything are around
    as ask at away back be because been before begin being below between both bug but by call called caller
    callers calls came can cannot change class code codebase come comes contain contains could data define
    defined defines definition describe did different do does doing done each either else end every everything
    exactly example explain file files find finds folder following for found from function functions general get
    gets give given go goes good had handle handled handles happen happens has have having he hello help her
    here him how i if implement implementation implemented implements in inside instead into is it its itself
    just keep kind know let like line lines list located location logic look looking made main make makes many
    may me mean means mention mentioned mentions method methods might mine module modules more most much must my
    name named need needs no not nothing now of off on one only or other our out over own part parts piece place
    places please program project purpose question really refer reference referenced references repo repository
    right run running said same say says search see set shall she should show shown since so some somebody
    something somewhere source specific still stuff such take tell than that the their them then there these
    they thing things this those through thus to together told too trying turn two under until up us use used
    user uses using variable very via want wants was way we well were what whats when where wheres whether which
    while who whole whom why will with within without work worked working works would write written yes you your
    """.split()  # noqa: SIM905 -- a list of words reads better as words
)


@dataclass(frozen=True, slots=True)
class Greeting:
    """A word of welcome, or the question what the guide is."""


@dataclass(frozen=True, slots=True)
class Decide:
    """A wish that only the person can fulfil: apply, undo, discard."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One patch, in the words of proposePatch's parameters."""

    path: str
    old: str = ""
    new: str = ""
    delete: bool = False
    rename_to: str = ""

    @property
    def creates(self) -> bool:
        """Whether the file is to be made."""
        return not self.old and not self.delete and not self.rename_to


@dataclass(frozen=True, slots=True)
class Edits:
    """Patches that the person spelt out."""

    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """What this repository is."""


@dataclass(frozen=True, slots=True)
class Term:
    """Something to search: ``weight`` tells how much it says."""

    text: str
    weight: float


@dataclass(frozen=True, slots=True)
class Question:
    """Something to be found. ``mentions``: the places themselves are the answer."""

    terms: tuple[Term, ...] = ()
    paths: tuple[str, ...] = ()
    mentions: bool = False
    tests: bool = field(default=False)
    """Whether the question is about tests, which otherwise rank lower."""


Wish = Greeting | Decide | Edits | Overview | Question


def understand(text: str) -> Wish:
    """What ``text`` asks for."""
    edits = _edits(text)
    if edits:
        return Edits(edits)
    if _APPLY.search(text):
        return Decide()
    if _GREETING.search(text) or not text.strip():
        return Greeting()
    question = _question(text)
    if _OVERVIEW.search(text) and not question.paths:
        return Overview()
    if not question.terms and not question.paths:
        return Overview()
    return question


def _edits(text: str) -> tuple[Edit, ...]:
    edits: list[tuple[int, Edit]] = []
    taken: set[int] = set()
    for pattern in (_REPLACE, _REPLACE_IN):
        for match in pattern.finditer(text):
            where = match.start("old0") if match.group("old0") is not None else match.end()
            if where not in taken:
                taken.add(where)
                edits.append((match.start(), Edit(_path(match), _group(match, "old"), _group(match, "new"))))
    if not edits:
        for match in _CREATE.finditer(text):
            new = _group(match, "new")
            edits.append((match.start(), Edit(_path(match), "", new if new.endswith("\n") else f"{new}\n")))
        if (match := _DELETE.search(text)) and _looks_like_path(_path(match)):
            edits.append((0, Edit(_path(match), delete=True)))
        if (match := _RENAME.search(text)) and _looks_like_path(_path(match)):
            edits.append((0, Edit(_path(match), rename_to=_clean(_group(match, "target")))))
    return tuple(edit for _, edit in sorted(edits, key=lambda pair: pair[0]) if edit.path)


def _group(match: re.Match[str], name: str) -> str:
    """The text of whichever form of quotes was used, or of the bare form."""
    groups = match.groupdict()
    for key in (*(f"{name}{number}" for number in range(len(_QUOTES))), name):
        value = groups.get(key)
        if value is not None:
            return value
    return ""


def _path(match: re.Match[str]) -> str:
    return _clean(_group(match, "path"))


def _clean(path: str) -> str:
    path = path.strip().rstrip(",;:!?")
    if path.endswith(".") and not path.endswith(".."):
        path = path[:-1]
    return path.removeprefix("./") or path


def _looks_like_path(text: str) -> bool:
    return "/" in text or "." in text


def _question(text: str) -> Question:
    mentions = bool(_MENTIONS.search(text))
    terms: dict[str, Term] = {}

    def add(word: str, weight: float) -> None:
        key = word.lower()
        if key and (key not in terms or terms[key].weight < weight):
            terms[key] = Term(word, weight)

    rest = text
    paths: list[str] = []
    for match in _ANY_QUOTED.finditer(text):
        quoted = _group(match, "text").strip()
        # An apostrophe is no quote: what lies between two of them has no letter outside.
        before, after = text[: match.start()][-1:], text[match.end() :][:1]
        if not quoted or len(quoted) > 200 or before.isalnum() or after.isalnum():
            continue
        rest = rest.replace(match.group(), " ")
        if not mentions and _PATHLIKE.fullmatch(quoted):
            paths.append(_clean(quoted))
        else:
            add(quoted, 5.0)
    for match in _PATHLIKE.finditer(rest):
        if match.group().lower() in {"e.g", "i.e", "etc."}:
            continue
        if mentions:
            add(_clean(match.group()), 5.0)
        else:
            paths.append(_clean(match.group()))
    rest = _PATHLIKE.sub(" ", rest)
    for match in _IDENTIFIER.finditer(rest):
        add(match.group().removesuffix("()"), 4.0)
    rest = _IDENTIFIER.sub(" ", rest)
    for match in _WORD.finditer(rest.replace("'s", " ").replace("’s", " ")):
        word = match.group().strip("-")
        if len(word) > 2 and word.lower() not in _STOP:
            add(word, 1.0 + min(len(word), 12) / 12)
    ranked = sorted(terms.values(), key=lambda term: -term.weight)[:4]
    return Question(
        tuple(ranked), tuple(dict.fromkeys(paths)), mentions, bool(re.search(r"\btest", text, re.IGNORECASE))
    )


def stem(word: str) -> str:
    """The part of a plain word that its other forms share."""
    low = word.lower()
    if not word.isalpha() or low != word:
        return word
    for ending, least in (("ies", 4), ("ing", 4), ("ied", 4), ("ed", 4), ("es", 4), ("s", 3), ("y", 4)):
        if low.endswith(ending) and not low.endswith("ss") and len(low) - len(ending) >= least:
            return low[: -len(ending)]
    return low
