"""Finds tool calls that a model wrote out as text, in the forms of the templates that models are trained on.

Only calls that end the reply count, and only those of registered names: what is quoted in an explanation is
followed by prose, or at least by a backtick. Nothing here runs anything; ``quoted`` tells a call of the model's
own from one that it repeats out of what it was given.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from steward.conversation import JsonObject
from steward.model.mend import BrokenArguments, decode_at, parse_object

_NAME_KEYS = ("name", "tool", "tool_name", "function", "action", "recipient_name")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "action_input", "tool_input")
_LIST_KEYS = ("tool_calls", "calls", "tool_uses")
# What may open, part or close calls, and is no part of them.
_BETWEEN = re.compile(
    r"(?:[\s;,]|```\w*|</?(?:｜DSML｜|\w{1,20}:)?(?:tool_calls?|tool_use|function_calls?|tools?|functions?|TOOLCALL)>"
    r"|\[/?TOOL_CALLS\]|functools(?=\[)"
    r"|<\|[\w/]{1,40}\|>|<\|tool_call>|<｜[^｜>\n]{1,40}｜>"
    r"|function(?=<｜)|(?<=<\|channel\|>)(?:commentary|analysis)|(?<=<\|start\|>)assistant)+"
)
# Where calls may begin in a reply that has said something before.
_OPENERS = re.compile(
    r"<(?:｜DSML｜|\w{1,20}:)?(?:tool_call|function_call|tool|function|tool_use|TOOLCALL)s?>|<function[=/]"
    r"|<(?:｜DSML｜)?invoke\s|^<[a-z]+[A-Z]\w*>[ \t]*$|<\|(?:tool|python_tag|channel|start|action)"
    r"|<｜tool|\[TOOL_CALLS\]|^functools\[|^Action:|^```(?:json|tool\w*|function\w*|python|xml)?[ \t]*$",
    re.MULTILINE,
)
# What a model invents after a call of its own: the rest of the reply is no answer.
_INVENTED = re.compile(
    r"\s*(?:</tool_call>\s*)?(?:<\|im_end\|>\s*)?<(?:tool_response|tool_result|function_results?)>"
)
_NAMED = re.compile(
    r"(?:to=)?(?:functions?\.)?(\w+)(?::\d+)?\s*(?:<\|constrain\|>\s*json\s*)?"
    r"(?:\[CALL_ID\]\w+)?(?:\[ARGS\]|<\|message\|>|<\|tool_call_argument_begin\|>|<｜tool▁sep｜>|\s*```json)?\s*(?=\{)"
)
_ACTION = re.compile(r"Action:[ \t]*(\w+)[ \t]*\n+[ \t]*Action Input:\s*(?=\{)")
_ELEMENT = re.compile(r"<function=([\w.-]+)>\s*|<(?:｜DSML｜)?invoke\s+name=[\"']([\w.-]+)[\"']\s*>\s*")
_ELEMENT_END = re.compile(r"\s*</(?:｜DSML｜)?(?:function|invoke)>")
_PARAMETER = re.compile(
    r"\s*<(?:｜DSML｜)?parameter(?:=([\w.-]+)|\s+name=[\"']([\w.-]+)[\"'][^>]*)>(.*?)</(?:｜DSML｜)?parameter>",
    re.DOTALL,
)
# What Llama makes of its own form: a sign too many between the name and the object, or one too few.
_LOOSE = re.compile(r"<function[=/]?([\w.-]+)[>=(\s]*(?=\{)")
_LOOSE_END = re.compile(r"[)>\s]*</function>")
_KEYED = re.compile(r"(\w+)(?=\s*(?:<arg_key>|</tool_call>))")
_PAIR = re.compile(r"\s*<arg_key>\s*([\w.-]+)\s*</arg_key>\s*<arg_value>(.*?)</arg_value>", re.DOTALL)
_OWN = re.compile(r"<(\w+)>(?=\s*<)")
_CHILD = re.compile(r"\s*<(\w+)>(.*?)</\1>", re.DOTALL)
_PYTHONIC = re.compile(r"[\[\s]*(?:print\(\s*)?(?:functions?\.|default_api\.)?(\w+)\(")
_MENTION = r"[\"'=.</]{0}[\"'>]|\b{0}\s*(?:\(|\{{|\[ARGS\]|<arg_key>)|Action:\s*{0}\b"


@dataclass(frozen=True, slots=True)
class Printed:
    """One call written out as text."""

    name: str
    arguments: str | None
    """Strict JSON text of one object; ``None`` when what stands there is none."""
    text: str
    """The call as it was written."""


@dataclass(frozen=True, slots=True)
class PrintedReply:
    """A reply that ends in calls written as text."""

    before: str
    """What it says before them."""
    calls: tuple[Printed, ...]


def printed_reply(text: str, names: Sequence[str]) -> PrintedReply | None:
    """The calls that ``text`` ends in; ``None`` when it is an answer."""
    tried = 0
    for start in _starts(text):
        if start < tried:
            continue
        calls, tried = _sequence(text, start, frozenset(names))
        if calls:
            return PrintedReply(text[:start].rstrip(), calls)
    return None


def typed(arguments: str, schema: JsonObject) -> str:
    """Arguments with numbers and truth values that came as text in the type that the tool's schema asks for."""
    shape = cast(JsonObject, json.loads(arguments))
    fields = cast(JsonObject, schema.get("properties") or {})
    changed = False
    for key, value in shape.items():
        kind = cast(JsonObject, fields.get(key) or {}).get("type")
        if isinstance(value, str) and kind in {"integer", "number", "boolean"}:
            try:
                shape[key] = json.loads(value.strip().lower())
            except (ValueError, RecursionError):
                continue
            changed = True
    return json.dumps(shape, ensure_ascii=False) if changed else arguments


def quoted(call: Printed, given: Iterable[str]) -> bool:
    """Whether the call may have been taken from texts that the model was given: files, results, the person's words.

    It counts as taken when its text stands in one of them, spaces aside, or when one of them writes a call of the
    same name and holds every text among the arguments.
    """
    bare = _squeezed(call.text)
    mention = re.compile(_MENTION.format(re.escape(call.name)))
    values = [_squeezed(value) for value in _texts(json.loads(call.arguments or "{}"))]
    for text in given:
        if call.name not in text:
            continue
        squeezed = _squeezed(text)
        if bare in squeezed:
            return True
        if mention.search(text) and all(
            value in squeezed or json.dumps(value)[1:-1] in squeezed for value in values
        ):
            return True
    return False


def _starts(text: str) -> Iterator[int]:
    """Where calls may begin, the beginning of the text first."""
    yield 0
    for match in _OPENERS.finditer(text):
        yield match.start()


def _sequence(text: str, start: int, names: frozenset[str]) -> tuple[tuple[Printed, ...], int]:
    """The calls of which the rest of ``text`` consists, and how far it was understood."""
    calls: list[Printed] = []
    position = start
    while True:
        between = _BETWEEN.match(text, position)
        position = between.end() if between else position
        if position == len(text) or (calls and _INVENTED.match(text, position)):
            return tuple(calls), len(text)
        found = _one(text, position, names)
        if found is None:
            return (), position
        more, end = found
        calls += [Printed(name, arguments, text[position:end]) for name, arguments in more]
        position = end


Found = tuple[list[tuple[str, str | None]], int]


def _one(text: str, position: int, names: frozenset[str]) -> Found | None:
    """The call, or list of calls, at ``position`` and where it ends."""
    if text[position] in "{[":
        found = _json(text, position, names)
        if found is not None:
            return found
    for form in (_element, _loose, _keyed, _own, _named, _pythonic):
        found = form(text, position, names)
        if found is not None:
            return found
    return None


def _json(text: str, position: int, names: frozenset[str]) -> Found | None:
    """Calls as JSON, as most templates write them."""
    try:
        value, end = decode_at(text, position)
    except BrokenArguments:
        # It has a call's beginning and breaks off or is broken: known as one, with no arguments to go by.
        head = re.match(
            r"[\[\s]*\{\s*[\"'](?:name|tool|function)[\"']\s*:\s*[\"'](\w+)[\"']", text[position:]
        )
        return ([(head[1], None)], len(text)) if head is not None and head[1] in names else None
    calls = list(_calls(value, names))
    return (calls, end) if calls else None


def _calls(value: object, names: frozenset[str]) -> Iterator[tuple[str, str | None]]:
    if isinstance(value, list):
        for item in cast(list[object], value):
            yield from _calls(item, names)
        return
    if not isinstance(value, dict):
        return
    shape = cast(JsonObject, value)
    for key in _LIST_KEYS:
        if isinstance(shape.get(key), list):
            yield from _calls(shape[key], names)
            return
    for key in _NAME_KEYS:
        inner: object = shape.get(key)
        if isinstance(inner, dict):
            yield from _calls(cast(JsonObject, inner), names)
            return
        name = inner.rpartition(".")[2] if isinstance(inner, str) else ""
        if name in names and (len(shape) == 1 or any(k in shape for k in _ARGUMENT_KEYS)):
            yield name, _arguments(next((cast(object, shape[k]) for k in _ARGUMENT_KEYS if k in shape), None))
            return
    if len(shape) == 1:
        ((name, inner),) = shape.items()
        if name in names and isinstance(inner, dict):
            yield name, json.dumps(inner, ensure_ascii=False)


def _arguments(given: object) -> str | None:
    if isinstance(given, str) and given.strip():
        try:
            given = parse_object(given)
        except BrokenArguments:
            return None
    if not given:
        return "{}"
    return json.dumps(cast(object, given), ensure_ascii=False) if isinstance(given, dict) else None


def _element(text: str, position: int, names: frozenset[str]) -> Found | None:
    """``<function=NAME>`` and ``<invoke name="NAME">``, with parameters as elements or one JSON object inside."""
    match = _ELEMENT.match(text, position)
    if match is None or (match[1] or match[2]) not in names:
        return None
    name = cast(str, match[1] or match[2])
    position = match.end()
    shape: JsonObject = {}
    if text.startswith("{", position):
        found = _object(text, position)
        if found is None:
            return [(name, None)], len(text)
        shape, position = found
    while (parameter := _PARAMETER.match(text, position)) is not None:
        shape[parameter[1] or parameter[2]] = parameter[3].strip("\n")
        position = parameter.end()
    end = _ELEMENT_END.match(text, position)
    if end is None:
        return [(name, None)], len(text)
    return [(name, json.dumps(shape, ensure_ascii=False))], end.end()


def _loose(text: str, position: int, names: frozenset[str]) -> Found | None:
    """``<function=NAME{…}</function>`` and its like."""
    match = _LOOSE.match(text, position)
    if match is None or match[1] not in names:
        return None
    found = _object(text, match.end())
    end = _LOOSE_END.match(text, found[1]) if found is not None else None
    if found is None or end is None:
        return [(match[1], None)], len(text)
    return [(match[1], json.dumps(found[0], ensure_ascii=False))], end.end()


def _keyed(text: str, position: int, names: frozenset[str]) -> Found | None:
    """GLM's form: a name, then keys and values in turn as elements."""
    match = _KEYED.match(text, position)
    if match is None or match[1] not in names or not text[:position].rstrip().endswith("<tool_call>"):
        return None
    shape, end = _fields(_PAIR, text, match.end())
    return [(match[1], json.dumps(shape, ensure_ascii=False))], end


def _own(text: str, position: int, names: frozenset[str]) -> Found | None:
    """``<NAME>`` with an element for each argument."""
    match = _OWN.match(text, position)
    if match is None or match[1] not in names:
        return None
    shape, position = _fields(_CHILD, text, match.end())
    end = re.compile(rf"\s*</{match[1]}>").match(text, position)
    if end is None:
        return [(match[1], None)], len(text)
    return [(match[1], json.dumps(shape, ensure_ascii=False))], end.end()


def _fields(form: re.Pattern[str], text: str, position: int) -> tuple[JsonObject, int]:
    """Arguments of which each is a name and a text, and where they end."""
    shape: JsonObject = {}
    while (field := form.match(text, position)) is not None:
        shape[field[1]] = field[2].strip("\n")
        position = field.end()
    return shape, position


def _named(text: str, position: int, names: frozenset[str]) -> Found | None:
    """A name, and its arguments as JSON after it: Mistral, Kimi, DeepSeek, harmony, ReAct."""
    match = _NAMED.match(text, position) or _ACTION.match(text, position)
    if match is None or match[1] not in names:
        return None
    found = _object(text, match.end())
    if found is None:
        return [(match[1], None)], len(text)
    return [(match[1], json.dumps(found[0], ensure_ascii=False))], found[1]


def _pythonic(text: str, position: int, names: frozenset[str]) -> Found | None:
    """``readFile(path="x")``, alone or in a list, with keywords and literals alone."""
    match = _PYTHONIC.match(text, position)
    if match is None or match[1] not in names:
        return None
    begin = position
    closing = position
    for _ in range(64):
        closing = text.find(")", closing) + 1
        if not closing:
            return None
        source = text[begin:closing].strip()
        listed = source.startswith("[")
        bracket = re.compile(r"\s*\]").match(text, closing) if listed else None
        if listed and bracket is None:
            continue
        end = bracket.end() if bracket is not None else closing
        try:
            tree = ast.parse(text[begin:end].strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        nodes = tree.elts if isinstance(tree, ast.List) else [tree]
        calls = [_python_call(node, names) for node in nodes]
        return ([call for call in calls if call is not None], end) if all(calls) else None
    return None


def _python_call(node: ast.expr, names: frozenset[str]) -> tuple[str, str | None] | None:
    if not isinstance(node, ast.Call):
        return None
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    if name == "print" and len(node.args) == 1:
        return _python_call(node.args[0], names)
    if name not in names:
        return None
    shape: JsonObject = {}
    for keyword in node.keywords:
        try:
            shape[keyword.arg or "**"] = ast.literal_eval(keyword.value)
            text = json.dumps(shape, ensure_ascii=False)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            return name, None
        if keyword.arg is None:
            return name, None
    else:
        text = json.dumps(shape, ensure_ascii=False)
    return name, None if node.args else text


def _object(text: str, position: int) -> tuple[JsonObject, int] | None:
    try:
        value, end = decode_at(text, position)
    except BrokenArguments:
        return None
    return (cast(JsonObject, value), end) if isinstance(value, dict) else None


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str) and value.strip():
        yield value
    elif isinstance(value, dict):
        for inner in cast(JsonObject, value).values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in cast(list[object], value):
            yield from _texts(inner)


def _squeezed(text: str) -> str:
    return "".join(text.split())
