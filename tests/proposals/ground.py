"""A real workspace with a scene in it, and its state directory."""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from steward.proposals.proposal import Proposal
from steward.proposals.record import DRAFT, SPARE, begun
from steward.workspace import Workspace
from tests.proposals.model_disk import Snapshot
from tests.proposals.scenes import Scene, snapshot


@dataclass(frozen=True)
class Plot:
    """Where a scene is played."""

    scene: Scene
    root: Path
    state: Path
    workspace: Workspace

    @property
    def proposal(self) -> Proposal:
        """The scene's change, pending."""
        return self.scene.proposal(self.workspace.identity)

    @property
    def tree(self) -> Snapshot:
        """What is in the workspace now."""
        return snapshot(self.root)

    @property
    def journal(self) -> list[str]:
        """The names of the records in the journal."""
        found = sorted(os.listdir(self.state / "journal")) if (self.state / "journal").exists() else []
        return [
            name
            for name in found
            if not name.endswith((DRAFT, SPARE)) or begun(name, (self.state / "journal" / name).read_bytes())
        ]

    def again(self) -> None:
        """Write the scene's files once more; the state directory stays."""
        self.scene.in_directory(self.root)

    def reset(self) -> None:
        """Begin again: the scene's files, an empty state directory."""
        for name in os.listdir(self.root):
            path = self.root / name
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        shutil.rmtree(self.state, ignore_errors=True)
        self.scene.in_directory(self.root)


@contextmanager
def plot(scene: Scene, directory: Path) -> Generator[Plot]:
    """A plot in an empty directory."""
    root = directory / "ws"
    scene.in_directory(root)
    with Workspace.open(root) as workspace:
        yield Plot(scene, root, directory / "state", workspace)
