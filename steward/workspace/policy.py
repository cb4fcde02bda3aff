"""Which names inside the workspace are out of bounds: git's own directory, secrets, the steward's state."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Literal

Area = Literal["protected", "secret"]

MAX_FILE_BYTES = 8 * 1024 * 1024

_HFS_IGNORABLE = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
"""Code points that HFS+ leaves out when it compares names (git's ``next_hfs_char``)."""

_GIT = re.compile(r"\.git|git~[0-9]+")
_SECRET = re.compile(
    r"\.env.*|\.netrc|_netrc|\.npmrc|\.pypirc|\.git-credentials|\.pgpass|\.htpasswd"
    r"|.*\.tfstate(\.backup|\.[0-9]+\.backup)?"
    r"|.*\.(key|pem|p8|p12|pfx|ppk|jks|keystore)"
    r"|id_(rsa|dsa|ecdsa|ed25519|xmss)(_sk)?([._-]?(bak|backup|old|orig|[0-9]+)|~)?",
    re.DOTALL,
)
SECRET_GLOBS = (
    *(".env*", ".netrc", "_netrc", ".npmrc", ".pypirc", ".git-credentials", ".pgpass", ".htpasswd"),
    *(
        "*.tfstate",
        "*.tfstate.backup",
        "*.key",
        "*.pem",
        "*.p8",
        "*.p12",
        "*.pfx",
        "*.ppk",
        "*.jks",
        "*.keystore",
    ),
    *("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"),
)
"""Globs, for either case, of most names that usually hold secrets; each such name is one that ``looks_secret``."""

_SUSPECT_ENDING = re.compile(r"\.(?:tfstate|key|jks|p(?:em|8|12|fx|pk))")
_SUSPECT_NAME = re.compile(r"/(?:\.(?:git[/. :~-]|env|netrc|npmrc|pypirc|pgpass|htpasswd)|_netrc|git~|id_)")
"""One of these, or a backslash, is in every name of ASCII that is out of bounds, between slashes and in lower case.

Both begin with a plain character, for which the search is much faster than for a choice of two.
"""
_EXAMPLE = re.compile(r"\.env([._-].+)?[._-](example|sample|template|dist)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Policy:
    """What the tools may touch in a workspace. Nothing in a repository sets any of it."""

    secrets_allowed: bool = False
    """Whether files that usually hold secrets may be read and changed."""
    denied: tuple[str, ...] = ()
    """Further patterns that are out of bounds, in gitignore syntax."""
    redact: bool = True
    """Whether what looks like a key is taken out of the files that the model is told of."""
    unredacted: tuple[str, ...] = ()
    """Patterns of files in which nothing is redacted, in gitignore syntax."""
    git_environment: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)
    """``HOME``, ``XDG_CONFIG_HOME`` and ``GIT_CONFIG_*`` for finding the user's own ignore file; empty: none."""
    state_dir: Path | None = None
    """The steward's own state directory; protected when it lies in the workspace."""
    max_file_bytes: int = MAX_FILE_BYTES
    """The largest file that is read."""


@lru_cache(maxsize=16384)
def area_of(name: str) -> Area | None:
    """Whether one name is out of bounds wherever it stands, under any alias a file system may honour.

    Names are compared as case-insensitive file systems do, without the code points that HFS+ ignores and without
    the stream, the trailing dots and the trailing spaces that NTFS ignores.
    """
    for piece in folded(name):
        if _GIT.fullmatch(piece):
            return "protected"
        if _SECRET.fullmatch(piece) and not _EXAMPLE.fullmatch(piece):
            return "secret"
    return None


def looks_secret(name: str) -> bool:
    """Whether a name is like that of a secret; one that is out of bounds, or an example of it."""
    return any(_SECRET.fullmatch(piece) for piece in folded(name))


def all_plain(names: str) -> bool:
    """Whether no name in a text of ASCII, with slashes before and after each, can be out of bounds; quick."""
    lowered = names.lower()
    return not ("\\" in lowered or _SUSPECT_ENDING.search(lowered) or _SUSPECT_NAME.search(lowered))


def folded(name: str) -> list[str]:
    """The names that a file system could take ``name`` for, folded for comparison.

    More than one when it holds a backslash, which some file systems read as a separator.
    """
    plain = _HFS_IGNORABLE.sub("", name).casefold()
    return [piece.split(":", 1)[0].rstrip(". ") for piece in plain.split("\\")]
