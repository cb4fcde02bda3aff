"""What a server says of its error: its words, the status it states, how long to wait, the call it could not read."""

from __future__ import annotations

import ast
import json
import math
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any, cast

from steward.conversation import JsonObject
from steward.model.worker.masking import masked, one_line

# Where a server's own words begin, after the names that litellm and the SDKs put before them.
_NOISE = re.compile(
    r"^(?:litellm\.)?(?:[\w.]+(?:Error|Exception|Timeout)\s*[:-]\s*)+|^Error code: \d+ - ", re.IGNORECASE
)
_NO_WORDS = re.compile(
    r"<\s*[!/a-zA-Z]|Traceback|object at 0x|^Error code: \d+$|^(?:Server|Client) error '\d"
    r"|^Redirect response|^Invalid status code|object has no attribute|recursion depth"
)
_BYTES = re.compile(r"\bb(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")", re.DOTALL)
_WAIT = re.compile(
    r"(?:retry|again) in (?:(?P<h>\d+)h)?(?:(?P<m>\d+)m(?!s))?(?:(?P<s>\d+(?:\.\d+)?)s)?"
    r"|retryDelay\W{1,5}(?P<d>\d+(?:\.\d+)?)s"
)
_UNREAD = re.compile(r"tool_use_failed|Failed to call a function")
_MOST = 64 * 1024
"""Characters of an error that are looked at for what was sent in it."""


def chain(error: BaseException) -> Iterator[BaseException]:
    """The error and all that stands behind it, nearest first."""
    seen: set[int] = set()
    waiting: list[BaseException] = [error]
    while waiting and len(seen) < 24:
        link = waiting.pop(0)
        if id(link) in seen:
            continue
        seen.add(id(link))
        yield link
        for behind in (getattr(link, "original_exception", None), link.__cause__, link.__context__):
            if isinstance(behind, BaseException):
                waiting.append(behind)


def words(links: list[BaseException], secrets: frozenset[str]) -> str:
    """The server's own words in quotes, when they are words: one line, short, no HTML, no traceback, no secret."""
    texts = [_message(getattr(link, "body", None)) for link in reversed(links)]
    for link in links:
        text = _text(link)
        texts += [_message(_sent(text)), text]
    for text in texts:
        if re.search(r"\w\w", text) and not _NO_WORDS.search(text):
            return f': "{one_line(masked(text, secrets), 200)}"'
    return ""


def stated(error: BaseException) -> int | None:
    """The status that a server's own words give, when they came as an object."""
    for body in (getattr(error, "body", None), _sent(_text(error))):
        shape = cast(JsonObject, body) if isinstance(body, dict) else {}
        inner: object = shape.get("error")
        for given in (shape, cast(JsonObject, inner) if isinstance(inner, dict) else {}):
            for code in (given.get("code"), given.get("status")):
                if isinstance(code, int | str) and str(code).isdecimal() and 400 <= int(code) <= 599:
                    return int(code)
    return None


def retry_after(error: BaseException) -> float | None:
    """Seconds that the server asks to wait, in a header or in its words."""
    response: Any = getattr(error, "response", None)
    headers: Any = getattr(error, "litellm_response_headers", None) or getattr(response, "headers", None)
    given: object = headers.get("retry-after") if headers is not None else None
    try:
        seconds = float(cast(str, given))
    except (TypeError, ValueError):
        pass
    else:
        return max(0.0, seconds) if math.isfinite(seconds) else None
    with suppress(TypeError, ValueError):
        return max(0.0, parsedate_to_datetime(cast(str, given)).timestamp() - time.time())
    match = _WAIT.search(str(error)[:_MOST])
    if match is None or not any(match.groups()):
        return None
    hours, minutes, seconds = (float(match[part] or 0) for part in "hms")
    return float(match["d"]) if match["d"] else hours * 3600 + minutes * 60 + seconds


def unread_call(error: BaseException) -> str | None:
    """What a model wrote that its server could not read as a call, maybe nothing; ``None`` for any other error."""
    links = list(chain(error))
    if not any(_UNREAD.search(str(link)) for link in links):
        return None
    for link in links:
        for body in (getattr(link, "body", None), _sent(_text(link))):
            shape = cast(JsonObject, body) if isinstance(body, dict) else {}
            inner: object = shape.get("error", shape)
            text: object = (
                cast(JsonObject, inner).get("failed_generation") if isinstance(inner, dict) else None
            )
            if isinstance(text, str):
                return text
    return ""


def _text(error: BaseException) -> str:
    return _NOISE.sub("", str(getattr(error, "message", None) or error)).strip()


def _sent(text: str) -> object:
    """The object that was quoted in a library's sentence, as JSON or as Python writes it; ``None`` for none."""
    text = text[:_MOST]
    quoted = _BYTES.search(text)
    with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
        if quoted is not None:
            text = cast(bytes, ast.literal_eval(quoted[0])).decode("utf-8", "replace")
    start, end = text.find("{"), text.rfind("}")
    if start < 0:
        return None
    with suppress(ValueError, RecursionError):
        return json.JSONDecoder(strict=False).raw_decode(text, start)[0]
    with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
        return ast.literal_eval(text[start : end + 1])
    return None


def _message(body: object) -> str:
    """The words in an error's body; behind a relay's those of the server that it asked."""
    if not isinstance(body, dict):
        return body if isinstance(body, str) else ""
    shape = cast(JsonObject, body)
    relayed: object = shape if "raw" in shape else shape.get("metadata")
    if isinstance(relayed, dict) and cast(JsonObject, relayed).get("raw"):
        metadata = cast(JsonObject, relayed)
        raw: object = metadata["raw"]
        said = _message(_sent(raw) or raw) if isinstance(raw, str) else _message(raw)
        if said:
            return f"{metadata['provider_name']}: {said}" if metadata.get("provider_name") else said
    for key in ("error", "message", "detail"):
        text = _message(shape.get(key))
        if text:
            return text
    return ""
