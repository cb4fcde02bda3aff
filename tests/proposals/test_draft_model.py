"""Any sequence of patches: what a change would leave on disk is what the model was shown on the way."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steward.errors import EditRefused, PathRefused
from steward.proposals import Draft, Proposal, stale_files
from steward.workspace import RepoPath, Workspace
from tests.proposals.memory_shelf import MemoryShelf

_NAMES = ("a", "b", "c", "d/e", "d")


@dataclass(frozen=True)
class Step:
    kind: str
    path: str
    other: str
    text: str


steps = st.lists(
    st.builds(
        Step,
        st.sampled_from(["edit", "edit", "create", "delete", "rename", "rename-edit", "new"]),
        st.sampled_from(_NAMES),
        st.sampled_from(_NAMES),
        st.sampled_from(["1", "2", "3"]),
    ),
    max_size=12,
)


def _left(disk: dict[str, bytes], proposal: Proposal) -> dict[str, bytes]:
    """The disk after the change, by its definition alone."""
    after = dict(disk)
    for file in proposal.files:
        if file.base is None:
            assert file.path not in disk and file.action == "create"
        else:
            assert disk[file.source] == file.base
            del after[file.source]
    for file in proposal.files:
        if file.result is not None:
            assert file.path not in after
            after[file.path] = file.result
    return after


@settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps)
def test_the_change_leaves_what_was_shown(
    tmp_path_factory: pytest.TempPathFactory, taken: list[Step]
) -> None:
    root: Path = tmp_path_factory.mktemp("w")
    disk = {"a": b"a 1\n", "b": b"b 1\r\n"}
    for name, data in disk.items():
        (root / name).write_bytes(data)
    shelf = MemoryShelf()
    with Workspace.open(root) as workspace:
        draft = Draft(workspace, shelf, lambda path: ())
        shown = dict(disk)
        for step in taken:
            path, other = RepoPath.parse(step.path), RepoPath.parse(step.other)
            old = shown.get(step.path, b"?").decode().strip() if step.kind in ("edit", "rename-edit") else ""
            new = step.text if step.kind in ("edit", "rename-edit", "create", "new") else ""
            rename = other if step.kind.startswith("rename") else None
            change = "new" if step.kind == "new" else None
            before = dict(shelf.kept)
            try:
                accepted = draft.propose(path, old, new, change, step.kind == "delete", rename)
            except (EditRefused, PathRefused):
                assert shelf.kept == before
                continue
            if step.kind == "new":
                shown = dict(disk)
            if step.kind == "delete":
                del shown[step.path]
            else:
                data = shown.pop(step.path, b"").decode()
                at = step.path if rename is None else other.text
                shown[at] = (data.replace(old, new) if old else data + new).encode()
            proposal = accepted.proposal
            paths = [p for f in proposal.files for p in {f.path, f.source}]
            assert len(paths) == len(set(paths))
            if accepted.withdrawn:
                assert shown == disk and proposal.status == "discarded"
                continue
            assert _left(disk, proposal) == shown
            assert not stale_files(proposal, workspace)
            seen = draft.views()
            assert {p: v.result for p, v in seen.items() if v.result is not None} == {
                p: d for p, d in shown.items() if p in seen
            }
            assert all(p in seen or shown.get(p) == disk.get(p) for p in {*shown, *disk})
        assert {p.name: p.read_bytes() for p in root.iterdir()} == disk
