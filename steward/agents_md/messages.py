"""Adds the documents that govern a path to any list of messages in the shape of OpenAI's chat completions."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from steward.agents_md.document import Document
from steward.agents_md.envelope import RULE, envelope
from steward.agents_md.resolver import Resolver

_PATH_KEYS = ("path", "file_path", "filePath", "filepath", "file", "filename", "target_file")
_BLOCK = re.compile(r"<(agents-md-([0-9a-f]{16}))>\n(.*?)</\1>\n?", re.DOTALL)


def augment(
    messages: Sequence[Mapping[str, Any]],
    target: str | os.PathLike[str] | None = None,
    *,
    resolver: Resolver,
    touched: Iterable[str] | None = None,
    place: str = "system",
) -> list[dict[str, Any]]:
    """A new list of messages that carries the documents which govern the path at hand.

    That path is ``target``; without it the last of ``touched`` (left out: the last path in the arguments of the
    messages' own tool calls) that lies in the workspace; without that the working directory, when it lies in the
    workspace, else the workspace.

    ``place="system"`` puts them at the end of the first system message (one is made when there is none) and
    replaces what an earlier call put there. ``place="append"`` leaves every message as it is, so that prompt caches
    keep working, and adds a message at the end when the same documents are not in the list already.
    ``messages`` itself is never changed.
    """
    if place not in ("system", "append"):
        raise ValueError('place must be "system" or "append".')
    copied = [dict(message) for message in messages]
    resolution = resolver.resolve(_target(copied, target, resolver, touched))
    added = block(resolution.documents)
    if place == "append":
        if added and not any(added in text for message in copied for text in _texts(message)):
            copied.append({"role": "system", "content": added})
        return copied
    first = next(
        (n for n, message in enumerate(copied) if message.get("role") in ("system", "developer")), None
    )
    if first is not None:
        content = _replaced(copied[first].get("content"), added)
        if content:
            copied[first]["content"] = content
        else:
            del copied[first]  # it held nothing but what an earlier call had put there
    elif added:
        copied.insert(0, {"role": "system", "content": added})
    return copied


def block(documents: Sequence[Document]) -> str:
    """The documents as one block whose tag is the digest of what it holds; "" for none."""
    if not documents:
        return ""
    seed = "".join(document.path + document.sha256 for document in documents)
    inner = "instructions-" + hashlib.sha256(seed.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    body = f"These documents hold instructions for the files beneath their scope. {RULE}\n" + "".join(
        envelope(document, inner) for document in documents
    )
    tag = f"agents-md-{_seal(body)}"
    return f"<{tag}>\n{body}</{tag}>\n"


def touched_paths(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Paths in the arguments of the messages' tool calls, the last one first."""
    for message in reversed(messages):
        calls = message.get("tool_calls")
        if not isinstance(calls, list):
            continue
        for call in reversed(cast("list[Any]", calls)):
            try:
                arguments: Any = json.loads(call["function"]["arguments"])
            except (KeyError, TypeError, ValueError):
                continue
            if isinstance(arguments, dict):
                given = cast("dict[str, Any]", arguments)
                yield from (
                    given[key] for key in _PATH_KEYS if isinstance(given.get(key), str) and given[key]
                )


def _target(
    messages: Sequence[Mapping[str, Any]],
    target: str | os.PathLike[str] | None,
    resolver: Resolver,
    touched: Iterable[str] | None,
) -> str | os.PathLike[str]:
    if target is not None:
        return target
    candidates = touched_paths(messages) if touched is None else reversed(list(touched))
    for path in candidates:
        if "\0" not in path and _within(resolver, path):
            return path
    try:
        here = str(Path.cwd().resolve())
    except OSError:
        return "."
    return here if _within(resolver, here) else "."


def _within(resolver: Resolver, path: str) -> bool:
    relative = resolver.relative(path)
    return relative != ".." and not relative.startswith("../")


def _replaced(content: Any, added: str) -> Any:
    """The content of a message with an earlier block taken out and ``added`` at its end."""
    if isinstance(content, list):
        parts = [part for part in cast("list[Any]", content) if not _is_block(part)]
        return [*parts, {"type": "text", "text": added}] if added else parts
    text = content if isinstance(content, str) else ""
    text = _BLOCK.sub(lambda match: "" if _genuine(match) else match[0], text)
    if not added:
        return text.rstrip("\n") if text != content else text
    return f"{text.rstrip()}\n\n{added}" if text.strip() else added


def _is_block(part: Any) -> bool:
    if not isinstance(part, Mapping):
        return False
    text = cast("Mapping[str, Any]", part).get("text")
    match = _BLOCK.fullmatch(text) if isinstance(text, str) else None
    return match is not None and _genuine(match)


def _genuine(match: re.Match[str]) -> bool:
    return _seal(match[3]) == match[2]


def _seal(body: str) -> str:
    return hashlib.sha256(body.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _texts(message: Mapping[str, Any]) -> Iterator[str]:
    content = message.get("content")
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in cast("list[Any]", content):
            if isinstance(part, Mapping):
                text = cast("Mapping[str, Any]", part).get("text")
                if isinstance(text, str):
                    yield text
