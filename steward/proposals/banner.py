"""Which files can execute code or steer an agent once they are written, and what a reviewer is told of them."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True, slots=True)
class _Kind:
    says: str
    names: tuple[str, ...] = ()
    """Globs for the last name of the path."""
    within: tuple[str, ...] = ()
    """Globs for the whole path; ``*`` crosses ``/``."""


_KINDS: tuple[_Kind, ...] = (
    _Kind(
        "steers coding agents: it becomes part of what they are told",
        (
            "agents.md",
            "agents.override.md",
            "agent.md",
            "claude.md",
            "claude.local.md",
            "gemini.md",
            "copilot-instructions.md",
            "skill.md",
            ".cursorrules",
            ".windsurfrules",
            ".clinerules",
            ".aider.conf.yml",
            ".mcp.json",
            "mcp.json",
            ".stewardignore",
        ),
        (
            "*.cursor/*",
            "*.claude/*",
            "*.agents/*",
            "*.codex/*",
            "*.gemini/*",
            "*.steward/*",
            "*.github/instructions/*",
        ),
    ),
    _Kind(
        "runs in continuous integration, with its secrets",
        (
            ".gitlab-ci.yml",
            ".travis.yml",
            "jenkinsfile",
            "azure-pipelines.yml",
            "bitbucket-pipelines.yml",
            "appveyor.yml",
            ".drone.yml",
            "cloudbuild.yaml",
            "action.yml",
            "action.yaml",
        ),
        (
            "*.github/workflows/*",
            "*.github/actions/*",
            "*.gitea/workflows/*",
            "*.forgejo/workflows/*",
            "*.circleci/*",
            "*.buildkite/*",
            "*.ci/*",
            "*.gitlab/*",
        ),
    ),
    _Kind(
        "runs as a hook of git",
        (
            ".pre-commit-config.yaml",
            "pre-commit",
            "pre-push",
            "commit-msg",
            "prepare-commit-msg",
            "post-checkout",
            "post-merge",
            "post-commit",
            "lefthook.yml",
            ".gitattributes",
            ".gitmodules",
            ".lfsconfig",
        ),
        ("*.husky/*", "*.githooks/*", "*hooks/pre-*", "*hooks/post-*"),
    ),
    _Kind(
        "is read by editors and shells, and can run commands when the folder is opened",
        (
            ".envrc",
            ".editorconfig",
            ".exrc",
            ".nvimrc",
            ".vimrc",
            ".lvimrc",
            ".dir-locals.el",
            "*.code-workspace",
            "devcontainer.json",
            ".bashrc",
            ".zshrc",
            ".profile",
            ".tool-versions",
            "mise.toml",
            ".mise.toml",
            ".autoenv.zsh",
        ),
        ("*.vscode/*", "*.idea/*", "*.devcontainer/*", "*.fleet/*", "*.zed/*", "*.nova/*"),
    ),
    _Kind(
        "runs when the project is built, installed or tested",
        (
            "makefile",
            "gnumakefile",
            "*.mk",
            "cmakelists.txt",
            "meson.build",
            "justfile",
            ".justfile",
            "taskfile.yml",
            "taskfile.yaml",
            "rakefile",
            "gemfile",
            "*.gemspec",
            "vagrantfile",
            "procfile",
            "dockerfile",
            "dockerfile.*",
            "*.dockerfile",
            "containerfile",
            "docker-compose*.yml",
            "docker-compose*.yaml",
            "compose.yml",
            "compose.yaml",
            "package.json",
            ".npmrc",
            ".yarnrc",
            ".yarnrc.yml",
            ".pnpmfile.cjs",
            "pyproject.toml",
            "setup.py",
            "setup.cfg",
            "conftest.py",
            "pytest.ini",
            "tox.ini",
            "noxfile.py",
            "sitecustomize.py",
            "usercustomize.py",
            "*.pth",
            "tasks.py",
            "fabfile.py",
            "manage.py",
            "requirements*.txt",
            "build.rs",
            "cargo.toml",
            "build.gradle",
            "build.gradle.kts",
            "settings.gradle",
            "settings.gradle.kts",
            "gradlew",
            "mvnw",
            "pom.xml",
            "build.sbt",
            "build.zig",
            "mix.exs",
            "composer.json",
            "binding.gyp",
            "flake.nix",
            "shell.nix",
            "default.nix",
            "build.bazel",
            "workspace.bazel",
            "module.bazel",
            "*.bzl",
            "directory.build.props",
            "directory.build.targets",
            "webpack.config.*",
            "vite.config.*",
            "vitest.config.*",
            "rollup.config.*",
            "jest.config.*",
            "babel.config.*",
            "eslint.config.*",
            ".eslintrc*",
            "prettier.config.*",
            "next.config.*",
            "postcss.config.*",
            "tailwind.config.*",
            "gulpfile.*",
            "gruntfile.*",
            "go.mod",
        ),
        ("*.cargo/config*", "*.mvn/*"),
    ),
    _Kind(
        "is a script",
        ("*.sh", "*.bash", "*.zsh", "*.fish", "*.ps1", "*.bat", "*.cmd", "configure", "bootstrap"),
    ),
)


def banner(path: str) -> str | None:
    """What to say about a file that can execute or steer agents, ``None`` for any other.

    Letter case does not count, as it does not on some file systems.
    """
    folded = path.casefold()
    name = folded.rsplit("/", 1)[-1]
    for kind in _KINDS:
        if any(fnmatchcase(name, glob) for glob in kind.names) or any(
            fnmatchcase("/" + folded, _rooted(glob)) for glob in kind.within
        ):
            return f"This file {kind.says}."
    return None


def _rooted(glob: str) -> str:
    return "*/" + glob.removeprefix("*")
