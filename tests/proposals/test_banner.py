"""Files that can execute or steer agents are called out, and others are not."""

from __future__ import annotations

import pytest

from steward.proposals.banner import banner


@pytest.mark.parametrize(
    ("path", "word"),
    [
        ("AGENTS.md", "agents"),
        ("a/b/AGENTS.override.md", "agents"),
        ("CLAUDE.md", "agents"),
        ("agents.MD", "agents"),
        (".claude/skills/x/SKILL.md", "agents"),
        (".agents/skills/x/run.py", "agents"),
        (".mcp.json", "agents"),
        (".cursor/rules/x.mdc", "agents"),
        (".github/copilot-instructions.md", "agents"),
        (".github/workflows/ci.yml", "integration"),
        ("sub/.github/actions/x/action.yml", "integration"),
        (".gitlab-ci.yml", "integration"),
        (".ci/run", "integration"),
        (".husky/pre-commit", "hook"),
        (".pre-commit-config.yaml", "hook"),
        (".gitattributes", "hook"),
        ("scripts/hooks/post-merge", "hook"),
        (".vscode/tasks.json", "editors"),
        (".idea/runConfigurations/x.xml", "editors"),
        (".devcontainer/devcontainer.json", "editors"),
        (".envrc", "editors"),
        ("Makefile", "built"),
        ("src/GNUmakefile", "built"),
        ("rules.mk", "built"),
        ("package.json", "built"),
        ("web/package.json", "built"),
        ("pyproject.toml", "built"),
        ("setup.py", "built"),
        ("tests/conftest.py", "built"),
        ("x/site.pth", "built"),
        ("sitecustomize.py", "built"),
        ("Dockerfile", "built"),
        ("deploy/Dockerfile.prod", "built"),
        ("docker-compose.override.yml", "built"),
        ("build.rs", "built"),
        ("Cargo.toml", "built"),
        ("requirements-dev.txt", "built"),
        ("vite.config.ts", "built"),
        (".cargo/config.toml", "built"),
        ("tools/run.sh", "script"),
        ("install.ps1", "script"),
    ],
)
def test_a_file_that_runs_or_steers_carries_a_banner(path: str, word: str) -> None:
    said = banner(path)
    assert said is not None and said.startswith("This file ") and said.endswith(".")
    assert word in said


@pytest.mark.parametrize(
    "path",
    [
        "src/app.py",
        "README.md",
        "docs/agents.txt",
        "makefiles/notes.md",
        "src/workflows/x.yml",
        "a/vscode/x.json",
        "lib/package.json.md",
        "my.github/workflows.md",
        "test_conftest.py",
        "hooks.py",
        "src/hooks/usePost.ts",
    ],
)
def test_other_files_carry_none(path: str) -> None:
    assert banner(path) is None
