"""The bounded directory and paths in it; everything is reached by descriptors beneath one root."""

from steward.workspace.path import ROOT, RepoPath, quoted
from steward.workspace.policy import Policy
from steward.workspace.values import Entry, FileContent, FileStat, Kind
from steward.workspace.walk import LeftOut, TreeWalk
from steward.workspace.workspace import Workspace, find_root

__all__ = [
    "ROOT",
    "Entry",
    "FileContent",
    "FileStat",
    "Kind",
    "LeftOut",
    "Policy",
    "RepoPath",
    "TreeWalk",
    "Workspace",
    "find_root",
    "quoted",
]
