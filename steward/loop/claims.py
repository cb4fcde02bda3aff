"""What an answer claims to have been done, held against what can have been: a model writes nothing and runs nothing.

The patterns are English and modest: a claim in unusual words is missed rather than an honest sentence flagged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from steward.loop.prose import ids, sentences

QUOTED = 80
"""Characters of a claim that are given back to the person."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a claim is held against."""

    ids: Mapping[str, str]
    """The status of every change there is."""
    proposed: bool = False
    """Whether a patch was accepted in this turn."""
    spoken_of: frozenset[str] = frozenset()
    """Changes that were named in this conversation before."""


def claims(answer: str, facts: Facts) -> tuple[str, ...]:
    """One sentence for the person for each kind of false claim in an answer; none for an honest one."""
    found: dict[str, str] = {}
    prose = sentences(answer)
    only_proposed = facts.proposed and any(map(_PROPOSED.search, prose))
    for sentence in prose:
        for kind, text in _judge(sentence, facts, only_proposed):
            found.setdefault(kind, text)
    return tuple(found.values())


def _judge(sentence: str, facts: Facts, only_proposed: bool) -> Iterator[tuple[str, str]]:
    named = ids(sentence)
    unknown = sorted(named - facts.ids.keys())
    if unknown and not _ABSENT.search(sentence):
        do = "does" if len(unknown) == 1 else "do"
        yield "id", f"The answer names {', '.join(unknown)}, which {do} not exist."
    if sentence.endswith("?"):
        return
    if _any(sentence, _RAN) or _any(sentence, _PASSED, state=True):
        yield (
            "run",
            f"The answer says that something was run ({_quote(sentence)}); nothing was, nor can it be.",
        )
    known = {change: facts.ids[change] for change in sorted(named & facts.ids.keys())}
    if known:
        status = _wrong_status(sentence, known)
        if status:
            yield "status", status
    elif _applied(sentence, facts) or (not only_proposed and _changed(sentence)):
        said = f"The answer says that something was written ({_quote(sentence)})"
        yield "written", f"{said}; only you can apply a change."


def _applied(sentence: str, facts: Facts) -> bool:
    """A claim that something was applied, committed or saved."""
    if _any(sentence, _DID_APPLY):
        return True
    # The model may well repeat what it was told: that the person applied a change.
    told = any(facts.ids.get(change) == "applied" for change in facts.spoken_of)
    return (facts.proposed or not told) and _any(sentence, _WAS_APPLIED, state=True)


def _changed(sentence: str) -> bool:
    """A claim that files were changed, by a sentence that does not say that this is only proposed."""
    return not _PROPOSED.search(sentence) and (
        _any(sentence, _DID_CHANGE) or _any(sentence, _WAS_CHANGED, state=True)
    )


def _wrong_status(sentence: str, known: Mapping[str, str]) -> str:
    """What is wrong with the status that a sentence gives the changes it names; empty when it fits one of them."""
    match = _STATUS_IS.search(sentence) or _STATUS_DONE.search(sentence)
    if match is None or not _meant(sentence, match, state=False):
        return ""
    said = {"applied": "applied", "discarded": "discarded"}.get(match[1].lower(), "undone")
    if said in known.values():
        return ""
    change, status = next(iter(known.items()))
    return f"The answer says that {change} was {said}; it is {status}."


def _any(sentence: str, pattern: re.Pattern[str], *, state: bool = False) -> bool:
    match = pattern.search(sentence)
    return match is not None and _meant(sentence, match, state=state)


def _meant(sentence: str, match: re.Match[str], *, state: bool) -> bool:
    """Whether a match is a plain statement of what has just happened: not denied, supposed, wished for or history.

    A ``state`` (the tests pass, the fix has been applied) may also be a condition, an act of the model's may not.
    """
    before = sentence[: match.start()]
    clause = _CLAUSE.split(before)[-1] + match[0]
    if _NEGATED.search(clause) or _SUPPOSED.search(before) or _ORDERED.search(sentence):
        return False
    if _ELSEWHERE.search(sentence):
        return False
    return not (state and _CONDITION.search(_VERIFIED.sub("", before)))


def _quote(sentence: str) -> str:
    text = " ".join(sentence.replace("·", "…").split())
    return f"“{text if len(text) <= QUOTED else text[: QUOTED - 1] + '…'}”"


# The patterns. ``·`` stands for code in a sentence; see ``prose``.


def _words(text: str) -> str:
    """Alternatives, written with spaces between; ``_`` stands for a space within one of them."""
    return "(?:" + "|".join(word.replace("_", r"\s+") for word in text.split()) + ")"


def _pattern(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives), re.IGNORECASE)


_SOON = rf"(?:{_words('now also already just then successfully finally therefore since both all again directly')}\s+)*"
_ME = rf"\b(?:I|we)(?:\s+have|'ve)?\s+{_SOON}(?:(?:gone|went)\s+ahead\s+and\s+)?"
_BEEN = rf"(?:\s+(?:has|have)|'s|'ve)\s+{_SOON}been\s+{_SOON}"
_IS_NOW = rf"\s+(?:is|are)\s+{_words('now already successfully')}\s+{_SOON}"
_WAS = rf"\s+(?:was|were)\s+{_SOON}"
_THE = rf"(?:{_words('the all all_the both your these those this that my a an any each')}\s+)"
_STOP = r"(?=\s*(?:[.,;:!)]|[–—]|$|and\b|for\s+you\b))"
_IT = rf"{_words('it this that them everything')}\b{_STOP}"

_CHANGE = _words(
    "changes? patch(?:es)? fix(?:es)? edits? updates? modifications? proposals? corrections? refactoring"
)
_FILE = (
    r"(?:·|[\w./-]*\w\.[a-z]{1,5}\b|"
    + _words(
        "files? functions? methods? class(?:es)? modules? tests? code config(?:uration)? imports? docstrings? readme "
        "bugs? typos? lines? variables? constants? fix(?:es)? endpoints? scripts? workflows? handlers? components? "
        "dependenc(?:y|ies) implementation validation checks? guards? commas? feature"
    )
    + r"\b)"
)
_UP_TO_FOUR = r"(?:[\w'·./-]+\s+){0,4}?"

_RULE = _words(
    "patterns? approach(?:es)? logic rules? styles? principles? conventions? reasoning instructions? guidelines? "
    "filters? search technique idea heuristics? criteri\\w+ guidance constraints? definition method"
)
_APPLIED = (
    rf"(?:applied(?!\s+{_UP_TO_FOUR}{_RULE}\b)"
    rf"|committed(?!\s+to\b)"
    rf"|(?:pushed|deployed|merged)\s+(?:{_IT}|{_THE}+(?:\w+\s+)?(?:{_CHANGE}|commit|branch)\b))"
)
_DID_APPLY = _pattern(
    rf"{_ME}{_APPLIED}",
    rf"^(?:successfully\s+)?(?:applied|committed)\s+(?:{_THE}|·)(?!{_UP_TO_FOUR}{_RULE}\b)",
    rf"{_ME}(?:saved|wrote|written)\s+{_THE}*(?:{_CHANGE}|files?|it|them|·)"
    rf"(?:\s+to\s+(?:the\s+)?(?:disk|file|repository|workspace|·))?{_STOP}",
    rf"{_ME}(?:made|finished|completed)\s+{_THE}+(?:\w+\s+)?(?:changes?|edits?|modifications?)\b",
    rf"^(?:(?:the|all|both)\s+)?{_CHANGE}\s+(?:successfully\s+)?(?:applied|saved|committed)(?:\s+successfully)?\s*[.!]*$",
)
_IN_PLACE = _words("applied saved committed merged pushed deployed written_to_disk live in_place")
_WAS_APPLIED = _pattern(
    rf"\b{_CHANGE}(?:\s+(?:in|to|for|of)\s+[\w·./-]+)?"
    rf"(?:{_BEEN}|{_IS_NOW}|{_WAS}|\s+(?:is|are)\s+(?=\w+\s*(?:[.!]|$)|live\b))"
    rf"(?:{_IN_PLACE}|made)\b(?!\s+{_words('by when if only once in to_(?:all|every|each|any)')}\b)",
    rf"\b{_CHANGE}\s+(?:is|are)\s+(?:now\s+)?(?:complete|done|finished)\s+and\s+{_IN_PLACE}\b",
    rf"\b(?:it|they|everything|all\s+of\s+(?:it|them)){_BEEN}{_IN_PLACE}\b(?!\s+to\b)",
)

_MADE = _words(
    "updated modified changed edited added created removed deleted renamed fixed replaced implemented refactored "
    "rewrote rewritten wrote(?!_down) written(?!_down) moved patched corrected inserted overwrote overwritten adjusted"
)
_DID_CHANGE = _pattern(
    rf"{_ME}{_MADE}\s+(?:{_UP_TO_FOUR}{_FILE}|{_IT})",
    rf"^(?:done[.,!:]*\s+)?(?:successfully\s+)?{_MADE}\s+(?:{_THE}(?:[\w'·./-]+\s+){{0,3}}?{_FILE}|·)",
)
_WAS_CHANGED = _pattern(
    rf"{_FILE}(?:\s+(?:in|of)\s+[\w·./-]+|\s+[\w/-]+\.\w+)?(?:{_BEEN}|{_IS_NOW}|\s+(?:was|were)\s+successfully\s+){_MADE}\b",
    rf"^everything{_BEEN}{_MADE}\b",
)
_PROPOSED = _pattern(
    r"\bpropos",
    r"\b"
    + _words(
        r"pending not_(?:yet_)?(?:been_)?applied apply-change for_(?:your_)?review once_you_apply suggest\w*"
    ),
)

_STATUS_IS = _pattern(
    rf"\bchange-\d+(?:\s*\([^)]{{0,80}}\))?(?:,?{_BEEN}|\s+(?:is|was|are|were)\s+{_SOON})"
    rf"(applied|discarded|undone|reverted)\b(?!\s+{_words('by when if only once')}\b)"
)
_STATUS_DONE = _pattern(
    rf"(?:{_ME}|\byou\s+(?:have\s+)?{_SOON}|^(?:successfully\s+)?)"
    r"(applied|discarded|undid|undone|reverted)\b[^.]{0,80}?\bchange-\d+"
)

_RUNNABLE = _words(
    "tests? suites? pytest commands? scripts? builds? linters? mypy ruff npm cargo make benchmarks? migrations? "
    "program code checks type-?checker it this"
)
_CHECKER = _words(
    "tests? test_suites? suites? checks builds? linters? pytest mypy ruff type[-_]?check(?:er|s)?"
)
_NO_SEARCH = r"(?!\s+(?:into|through|across|out|over|(?:\w+\s+)?searchtool|\w+\s+search(?:es)?)\b)"
_PLAINLY = (
    rf"(?=\s*(?:{_words('now again successfully locally too as_expected cleanly with without after and for_you')}\b"
    r"|[.,;:!)]|[–—]|$))"
)
_RAN = _pattern(
    rf"(?:{_ME}|^(?:successfully\s+)?)(?:ran|run|re-?ran|executed|tested|compiled|benchmarked|tried\s+running)"
    rf"{_NO_SEARCH}\s+(?:·|{_UP_TO_FOUR}{_RUNNABLE}\b)",
    rf"{_ME}tested\s+{_THE}",
    rf"\b(?:I|we)\b.{{0,200}}?\band\s+(?:then\s+)?(?:ran|executed|re-?ran){_NO_SEARCH}\s+(?:·|{_UP_TO_FOUR}{_RUNNABLE}\b)",
    rf"{_ME}installed\s+(?:·|{_THE}|[\w-]+{_STOP})",
    rf"{_ME}(?:verified|confirmed|checked|validated)\b[^.;]{{0,80}}\bby\s+(?:running|executing)\b",
    rf"^(?:running|executing)\s+{_THE}?{_RUNNABLE}\s+(?:shows|showed|gives|gave|printed|confirms|confirmed)\b",
)
_PASSED = _pattern(
    rf"\b{_CHECKER}\s+(?:{_words('now all still have has')}\s+)*"
    rf"(?:pass|passes|passed|passing|succeed|succeeds|succeeded|(?:is|are)\s+(?:now\s+|all\s+)*(?:passing|green))\b{_PLAINLY}",
    rf"\b(?:I|we)\b.*\b(?:and|that)\s+(?:they|it)\s+(?:all\s+)?(?:pass|passed)\b{_PLAINLY}",
    rf"\b{_CHECKER}\s+ran\s+(?:successfully|without|cleanly|fine)\b",
    r"\b\d+\s+(?:tests\s+)?passed\b(?!\s+(?:in|on|by|as|to)\b)",
    r"\b(?:it|code|project)\s+(?:now\s+)?compiles\s+(?:now|cleanly|without\s+errors)\b",
    rf"\b{_words('tests? test_suite suite command scripts? build linter migrations?')}(?:{_WAS}|{_BEEN})"
    rf"(?:run|executed|re-?run)\b(?!\s+{_words('by in on from with at as')}\b)",
)

_ABSENT = _pattern(
    r"\b"
    + _words("no not never cannot unknown non-?existent missing example like such_as e\\.g instance")
    + r"\b",
    r"n't\b",
)
_CLAUSE = _pattern(r"[,;:(–—]", r"\b(?:but|and|so)\b")
_NEGATED = _pattern(
    r"\b"
    + _words("not never cannot no nothing none neither nor without unable yet_to hardly nobody")
    + r"\b",
    r"n't\b",
)
_SUPPOSED = _pattern(
    r"\b"
    + _words(
        "if unless would could should might must may will shall whether suppose imagine as_though wish wants? wanted "
        "needs? needed claims? claimed claiming says? said pretend\\w* expect\\w* hop(?:e|ing) assum\\w+ example e\\.g "
        "you_asked asking to_have rather_than instead_of"
    )
    + r"\b",
    r"'(?:ll|d)\b",
)
_CONDITION = _pattern(
    r"\b"
    + _words(
        "once when(?:ever)? after until before while as_soon_as so_that to_make makes? making keeps? lets? gets? "
        "ensur\\w+ make_sure requires? for_the how that because where can to_see to_be"
    )
    + r"\b"
)
_ORDERED = _pattern(
    rf"^(?:{_words('then and please next')},?\s+)*"
    rf"{_words('verify check confirm ensure make_sure see run let assert')}\b"
)
_VERIFIED = _pattern(rf"{_ME}(?:verified|confirmed|checked|validated|see|saw)\s+that\b")
_ELSEWHERE = _pattern(
    r"\b"
    + _words(
        "upstream versions? released? releases v\\d+ since_\\d in_\\d commit pull_request pr changelog ago earlier "
        "previous(?:ly)? history originally years? (?:19|20)\\d\\d ci workflow pipeline badge according mentally "
        "tracing by_(?:you|the_person|the_user|git|hand|reading) only_by "
        "you_(?:ran|applied|said|reported|mentioned|told) "
        "your_(?:run|output|log|machine|message) on_(?:main|master)_branch"
    )
    + r"\b",
    r"#\d+",
    r",\s*(?:says?|said)\b",
)
