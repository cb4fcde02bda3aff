"""Changes that were pending when a session began: without them a replay would not go as the session went."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from steward.conversation import JsonObject
from steward.errors import ConfigError, EditRefused, PathRefused
from steward.proposals import FileChange, Governing, Proposal
from steward.proposals import edit as editing
from steward.workspace import RepoPath

if TYPE_CHECKING:
    from steward.service.house import House
    from steward.storage import SessionRow

_ID = re.compile(r"change-([0-9]{3,9})")
_ACTIONS = ("create", "modify", "delete", "rename")


@dataclass(frozen=True, slots=True)
class Earlier:
    """What was pending when a session began, as it was then."""

    changes: tuple[Proposal, ...] = ()
    lost: tuple[str, ...] = ()
    """Ids of those whose text of then is no longer known: it was let go, or replaced as a whole."""


def earlier(house: House, session: SessionRow) -> Earlier:
    """What was pending when the session began. Reads the audit log."""
    store = house.changes.store
    then: dict[str, tuple[str, str, str]] = {}
    for entry in store.audit.entries():
        if entry.kind != "shown" and entry.at <= session.created:
            then[entry.change] = (entry.kind, entry.stamp, entry.detail)
    found: list[Proposal] = []
    lost: list[str] = []
    for change, (kind, stamp, detail) in then.items():
        proposal = store.get(change)
        if kind != "proposed" or proposal.session == session.id:
            continue
        as_then = _as_it_was(proposal, stamp, json.loads(detail))
        if as_then is None:
            lost.append(change)
        else:
            found.append(as_then)
    return Earlier(tuple(found), tuple(lost))


def _as_it_was(proposal: Proposal, stamp: str, files: list[list[str | None]]) -> Proposal | None:
    """The change under the stamp that it had; ``None`` when it cannot be made of what is kept."""
    made = [_file_as_it_was(proposal, str(path), result) for _, path, _, result in files]
    if not proposal.kept or None in made:
        return None
    then = replace(proposal, files=tuple(file for file in made if file), status="pending", reason="")
    return then if then.stamp == stamp else None


def _file_as_it_was(proposal: Proposal, path: str, digest: str | None) -> FileChange | None:
    """The file with the result of that digest: what was accepted of its edits since is left out."""
    file = next((one for one in proposal.files if one.path == path), None)
    if file is None or file.result_sha256 == digest or file.base is None:
        return file
    result = file.base
    for one in file.edits:
        try:
            result = editing.replace(result, one.old, one.new)
        except EditRefused:
            return None
        if hashlib.sha256(result).hexdigest() == digest:
            return replace(file, result=result)
    return None


def written(prefix: str, changes: Iterable[Proposal], clean: Callable[[str], str]) -> Iterator[str]:
    """A line for each change, its texts passed through ``clean``."""
    for proposal in changes:
        shape: JsonObject = {
            "id": proposal.id,
            "title": clean(proposal.title),
            "created": proposal.created,
            "files": [
                {
                    "path": file.path,
                    "action": file.action,
                    "base": _text(file.base, clean),
                    "result": _text(file.result, clean),
                    "base_mode": file.base_mode,
                    "result_mode": file.result_mode,
                    "old_path": file.old_path,
                }
                for file in proposal.files
            ],
            "instructions": [asdict(one) for one in proposal.instructions],
        }
        yield prefix + json.dumps(shape, ensure_ascii=True)


def changes_in(prefix: str, text: str, workspace: str) -> tuple[Proposal, ...]:
    """The changes of a text's lines that begin with ``prefix``. ``ConfigError`` for one that is wrong."""
    lines = (line[len(prefix) :] for line in text.split("\n") if line.startswith(prefix))
    try:
        return tuple(_parsed(json.loads(line), workspace) for line in lines)
    except (
        ValueError,
        TypeError,
        KeyError,
        AttributeError,
        RecursionError,
        binascii.Error,
        PathRefused,
    ):
        raise ConfigError("A change of this recording is not written as changes are.") from None


def _parsed(shape: Any, workspace: str) -> Proposal:
    if not _ID.fullmatch(shape["id"]):
        raise ValueError(shape["id"])
    return Proposal(
        id=shape["id"],
        title=str(shape["title"]),
        created=str(shape["created"]),
        files=tuple(_file(one) for one in shape["files"]),
        workspace=workspace,
        instructions=tuple(
            Governing(str(one["file"]), str(one["path"]), str(one["sha256"])) for one in shape["instructions"]
        ),
    )


def _file(shape: Any) -> FileChange:
    if shape["action"] not in _ACTIONS:
        raise ValueError(shape["action"])
    return FileChange(
        path=_path(shape["path"]),
        action=shape["action"],
        base=_data(shape["base"]),
        result=_data(shape["result"]),
        base_mode=_mode(shape["base_mode"]),
        result_mode=_mode(shape["result_mode"]),
        old_path=None if shape["old_path"] is None else _path(shape["old_path"]),
    )


def _path(text: object) -> str:
    path = str(text)
    if RepoPath.parse(path).text != path:
        raise ValueError(path)
    return path


def _mode(mode: object) -> int | None:
    return None if mode is None else int(cast(int, mode)) & 0o777


def _text(data: bytes | None, clean: Callable[[str], str]) -> JsonObject | None:
    if data is None:
        return None
    try:
        return {"text": clean(data.decode())}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode("ascii")}


def _data(shape: Any) -> bytes | None:
    if shape is None:
        return None
    if "base64" in shape:
        return base64.b64decode(shape["base64"], validate=True)
    return str(shape["text"]).encode()
