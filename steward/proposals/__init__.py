"""Pending change sets: patch, diff, stamp, apply, recover."""

from steward.proposals.diff import FileDiff, Hunk, Line, apply_diff, between, counts, file_diff
from steward.proposals.draft import Accepted, Draft, Pending, Shelf
from steward.proposals.edit import replace
from steward.proposals.hunks import Choice, choose, choose_files, with_result
from steward.proposals.patch_format import patch_text
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
    "apply_diff",
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
