"""The resolver against a naive model of the rules, over generated trees."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from steward.agents_md import Resolver, Settings

NAMES = ("AGENTS.override.md", "AGENTS.md", "CLAUDE.md")


@st.composite
def trees(draw: st.DrawFn) -> tuple[tuple[str, ...], dict[tuple[tuple[str, ...], str], int]]:
    """A way down, and files on it and beside it with their sizes."""
    way = tuple(draw(st.lists(st.sampled_from("ab"), max_size=5)))
    tree: dict[tuple[tuple[str, ...], str], int] = {}
    for depth in range(len(way) + 1):
        for name in draw(st.sets(st.sampled_from((*NAMES, "AGENTS.md", "x.py")), max_size=3)):
            tree[way[:depth], name] = draw(st.integers(0, 12))
        if draw(st.integers(0, 5)) == 0:
            tree[way[:depth], ".git"] = 0
        if draw(st.booleans()):
            tree[(*way[:depth], "beside"), "AGENTS.md"] = 5
    deepest = draw(st.integers(0, len(way)))  # below it nothing exists yet
    return way, {key: size for key, size in tree.items() if len(key[0]) <= deepest}


def naive(files: dict[Path, int], root: Path, target: Path, rules: Settings) -> tuple[list[Path], str]:
    """The rules of resolution, as plainly as they can be said."""
    way = [target.parent, *target.parent.parents]
    way = way[: way.index(root) + 1]
    boundary = next((d for d in way if d / ".git" in files), root)
    way = way[: way.index(boundary) + 1]
    chosen = [next((d / name for name in NAMES if d / name in files), None) for d in way[: rules.max_depth]]
    found = [path for path in chosen if path and files[path]]
    small = [path for path in found if files[path] <= rules.max_document_bytes]
    kept: list[Path] = []
    met = {"depth-limit": len(way) > rules.max_depth, "document-limit": False, "size-limit": small != found}
    for path in small if rules.keep == "closest" else small[::-1]:
        if len(kept) == rules.max_documents:
            met["document-limit"] = True
        elif sum(files[p] for p in kept) + files[path] > rules.max_total_bytes:
            met["size-limit"] = True
        else:
            kept.append(path)
    return sorted(kept), next((name for name, hit in met.items() if hit), "complete")


@settings(max_examples=250, deadline=None)
@given(
    drawn=trees(),
    rules=st.builds(
        Settings,
        keep=st.sampled_from(("closest", "broadest")),
        max_depth=st.integers(1, 5),
        max_documents=st.integers(1, 4),
        max_document_bytes=st.integers(4, 12),
        max_total_bytes=st.integers(4, 40),
    ),
)
def test_the_resolver_agrees_with_a_naive_model(
    drawn: tuple[tuple[str, ...], dict[tuple[tuple[str, ...], str], int]], rules: Settings
) -> None:
    way, tree = drawn
    with tempfile.TemporaryDirectory() as place:
        root = Path(place).resolve() / "workspace"
        root.mkdir()
        files: dict[Path, int] = {}
        for (directories, name), size in tree.items():
            path = root.joinpath(*directories, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            if name == ".git":
                path.mkdir()
                (path / "HEAD").write_text("ref: refs/heads/main\n")
            else:
                path.write_text("x" * size)
            files[path] = size
        target = root.joinpath(*way, "target.py")
        documents, outcome = naive(files, root, target, rules)
        resolution = Resolver(root, rules).resolve("/".join((*way, "target.py")))
        assert sorted(root / path for path in resolution.paths) == documents
        assert [len(path.split("/")) for path in resolution.paths] == sorted(
            len(path.split("/")) for path in resolution.paths
        )
        assert resolution.outcome == outcome
