"""The error tree: each error names a fact, carries its data, and words itself in one sentence.

    StewardError                    exit 1
    ├─ UsageError                   exit 2   a wrong argument or option
    │  └─ ConfigError               exit 2   a wrong setting, with where it stands
    ├─ Conflict                     exit 3   refused because stale or conflicting
    │  ├─ StaleProposal             exit 3   some base no longer matches the disk
    │  ├─ StampMismatch             exit 3   the stamp given is not the stamp of what is stored
    │  ├─ WrongStatus               exit 3   the change is already applied, discarded, …
    │  └─ Busy                      exit 3   another steward holds the workspace's lock
    ├─ NoSuchThing                  exit 4   a change, session, topic, skill, path that is not there
    │  ├─ NothingYet                exit 4   there is nothing of the kind that was asked for so far
    │  └─ NoLongerKept              exit 4   the bytes of a finished change, after the time the settings name
    ├─ NeedsPerson                  exit 5   only a person at a terminal (or a stamp) may say this
    ├─ PathRefused                  exit 1   a path the tools may not touch, with the kind of refusal
    ├─ EditRefused                  exit 1   a proposePatch that was not stored, with the kind of refusal
    ├─ ModelError                   exit 1   the model or its server failed, by kind
    ├─ StorageError                 exit 1   the steward's own database or journal cannot be used
    └─ ApplyFailed                  exit 1   a disk operation failed; nothing was changed

An error's sentence holds no absolute path and no file contents; it is passed through ``visible`` by whoever
shows it.
"""

from __future__ import annotations

from typing import ClassVar


class StewardError(Exception):
    """Something the steward can say in one sentence. ``str(error)`` is that sentence."""

    exit_code: ClassVar[int] = 1


class UsageError(StewardError):
    """An argument or option that makes no sense."""

    exit_code = 2


class ConfigError(UsageError):
    """A setting that makes no sense; the sentence names the file, the key and, when known, the line."""


class Conflict(StewardError):
    """Refused because the world is not as the caller believed."""

    exit_code = 3


class StaleProposal(Conflict):
    """Some base of the change no longer matches the disk; nothing was touched."""

    def __init__(self, change: str, paths: tuple[str, ...], reason: str = "") -> None:
        self.change = change
        self.paths = paths
        self.reason = reason
        named = ", ".join(paths)
        super().__init__(
            f"{change} is stale: {named} changed since it was proposed; nothing was written."
            + (f" ({reason})" if reason else "")
        )


class StampMismatch(Conflict):
    """The stamp that was read is not the stamp of what is stored."""

    def __init__(self, change: str, given: str, stored: str) -> None:
        self.change = change
        self.given = given
        self.stored = stored
        super().__init__(
            f"{change} no longer has the stamp {given}; it is now {stored}. Read it again before applying it."
        )


class WrongStatus(Conflict):
    """The change is not in a state that allows what was asked."""

    def __init__(self, change: str, status: str, wanted: str) -> None:
        self.change = change
        self.status = status
        super().__init__(f"{change} is {status}; it cannot be {wanted}.")


class Busy(Conflict):
    """Another process holds the lock of this workspace's state."""

    def __init__(self, holder: int | None = None) -> None:
        self.holder = holder
        who = f" (process {holder})" if holder else ""
        super().__init__(
            f"Another steward{who} is busy with a change in this workspace; nothing was written."
        )


class NoSuchThing(StewardError):
    """What was named is not there."""

    exit_code = 4

    def __init__(self, kind: str, name: str, near: tuple[str, ...] = ()) -> None:
        self.kind = kind
        self.name = name
        self.near = near
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        super().__init__(f"There is no {kind} {name!r}.{hint}")


class NothingYet(NoSuchThing):
    """Nothing of the kind is there so far; ``sentence`` says so."""

    def __init__(self, kind: str, sentence: str) -> None:
        super().__init__(kind, "")
        self.args = (sentence,)


class NoLongerKept(NoSuchThing):
    """The bytes of a finished change were let go after the days, or above the size, that the settings name."""

    def __init__(self, change: str, wanted: str) -> None:
        super().__init__("contents of", change)
        self.args = (f"The contents of {change} are no longer kept; it cannot be {wanted}.",)


class NeedsPerson(StewardError):
    """Only a person may do this: at a terminal, or with the stamp of what they read."""

    exit_code = 5


class PathRefused(StewardError):
    """A path that the tools may not touch.

    ``kind`` is one of: ``empty``, ``absolute``, ``escapes``, ``nul``, ``too-long``, ``not-text`` (a name that
    is not UTF-8), ``link``, ``protected``, ``secret``, ``missing``, ``not-a-directory``, ``not-a-file``,
    ``special`` (pipe, socket, device), ``other-mount``, ``unreadable``, ``too-large``, ``binary``,
    ``not-utf8``. ``near`` are paths that may have been meant, which the sentence then ends with.
    """

    def __init__(self, kind: str, path: str, sentence: str, near: tuple[str, ...] = ()) -> None:
        self.kind = kind
        self.path = path
        self.near = near
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        super().__init__(sentence + hint)


class EditRefused(StewardError):
    """A ``proposePatch`` that was not stored.

    ``kind`` is one of: ``not-unique``, ``exists``, ``missing``, ``unchanged``, ``not-found``, ``not-utf8``,
    ``binary``, ``too-large``, ``hard-link``, ``read-only``, ``cut-line``, ``conflict`` (with
    another patch of the same change), ``instructions`` (documents must be read first), ``redacted`` (a key that the
    model is not shown), ``slip`` (a text that cannot be meant for the file), ``arguments``.
    """

    def __init__(self, kind: str, sentence: str) -> None:
        self.kind = kind
        super().__init__(sentence)


class ModelError(StewardError):
    """The model, its server or the worker process failed.

    ``kind`` is one of: ``authentication``, ``not-found``, ``bad-request``, ``context-overflow``,
    ``rate-limit``, ``server``, ``connection``, ``timeout``, ``interrupted-stream``, ``refused``,
    ``worker-died``, ``unknown-model``, ``protocol``.
    """

    def __init__(
        self,
        kind: str,
        sentence: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        retryable: bool = False,
    ) -> None:
        self.kind = kind
        self.status = status
        self.retry_after = retry_after
        self.retryable = retryable
        super().__init__(sentence)


class StorageError(StewardError):
    """The steward's own database, journal or state directory cannot be used; the sentence says the way out."""


class ApplyFailed(StewardError):
    """A disk operation failed while applying; everything is as it was before."""
