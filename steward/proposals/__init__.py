"""Pending change sets: patch, diff, stamp, apply, recover."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from steward.proposals.proposal import (
    Action,
    Edit,
    FileChange,
    Governing,
    Proposal,
    Remains,
    Status,
    short,
    stamp_of,
)

if TYPE_CHECKING:
    from steward.proposals.diff import FileDiff, Hunk, Line, between, counts, file_diff
    from steward.proposals.draft import Accepted, Draft, Pending, Shelf
    from steward.proposals.edit import replace
    from steward.proposals.hunks import Choice, choose, choose_files, with_result
    from steward.proposals.patch_format import patch_text
    from steward.proposals.rebase import overlaps
    from steward.proposals.stale import StaleFile, stale_files

__all__ = [
    "Accepted",
    "Action",
    "Choice",
    "Draft",
    "Edit",
    "FileChange",
    "FileDiff",
    "Governing",
    "Hunk",
    "Line",
    "Pending",
    "Proposal",
    "Remains",
    "Shelf",
    "StaleFile",
    "Status",
    "between",
    "choose",
    "choose_files",
    "counts",
    "file_diff",
    "overlaps",
    "patch_text",
    "replace",
    "short",
    "stale_files",
    "stamp_of",
    "with_result",
]

_PLACES = {
    "diff": (
        "FileDiff",
        "Hunk",
        "Line",
        "between",
        "counts",
        "file_diff",
    ),
    "draft": (
        "Accepted",
        "Draft",
        "Pending",
        "Shelf",
    ),
    "edit": ("replace",),
    "hunks": (
        "Choice",
        "choose",
        "choose_files",
        "with_result",
    ),
    "patch_format": ("patch_text",),
    "rebase": ("overlaps",),
    "stale": (
        "StaleFile",
        "stale_files",
    ),
}
"""Where each name is defined; a module is imported when one of its names is asked for."""


def __getattr__(name: str) -> object:
    for module, names in _PLACES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
