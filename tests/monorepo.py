"""The small monorepo of ``fixtures/``, copied to where a test may change it."""

from __future__ import annotations

import shutil
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
FIXTURES = PROJECT / "fixtures"
SCRIPTS = FIXTURES / "scripts"


def copy_monorepo(target: Path) -> Path:
    """Copy it to ``target`` and add what cannot be committed: ``.git``, a secret and ignored files.

    ``.git`` is an empty repository that git accepts, written without git.
    """
    shutil.copytree(FIXTURES / "monorepo", target)
    make_repository(target)
    (target / ".env").write_text("PAYMENT_KEY=not-a-real-key\n")
    (target / "debug.log").write_text("ignored\n")
    return target


def make_repository(root: Path) -> Path:
    """Make ``root`` an empty git repository, without running git."""
    git = root / ".git"
    for folder in ("objects", "refs/heads"):
        (git / folder).mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = false\n")
    return root


def script(name: str) -> str:
    """The ``--model`` argument that replays a script of ``fixtures/scripts``."""
    return f"script/{SCRIPTS / name}"
