"""The tool as a model calls it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from steward.proposals import Draft, FileChange
from steward.tools.base import ToolBox, ToolResult
from steward.tools.propose_patch import ProposePatchTool, snippet
from steward.tools.read_file import ReadFileTool, ReadLimits
from steward.visible import hidden
from steward.workspace import RepoPath, Workspace
from tests.proposals.memory_shelf import MemoryShelf


class Model:
    """Calls proposePatch with JSON, as a model does."""

    def __init__(self, workspace: Workspace) -> None:
        self.root = workspace.root
        self.shelf = MemoryShelf()
        draft = Draft(workspace, self.shelf, lambda path: ())
        self.reader = ToolBox([ReadFileTool(workspace, draft.views, limits=ReadLimits(line_characters=20))])
        self.box = ToolBox([ProposePatchTool(lambda: draft)])

    async def call(self, **arguments: object) -> ToolResult:
        return await self.box.run("proposePatch", json.dumps(arguments))


@pytest.fixture
def model(tmp_path: Path) -> Iterator[Model]:
    (tmp_path / "a.py").write_bytes(b"x = 1\ny = 2\n")
    with Workspace.open(tmp_path) as workspace:
        yield Model(workspace)


async def test_the_answer_says_pending_by_whom_and_shows_the_lines(model: Model) -> None:
    result = await model.call(path="a.py", oldText="x = 1", newText="x = 3")
    assert result.ok and result.touched == (RepoPath.parse("a.py"),)
    for piece in (
        "change-001",
        "modify a.py (+1 -1)",
        "PENDING",
        "NOT applied",
        "only the person",
        "-x = 1\n+x = 3",
    ):
        assert piece in result.text
    assert model.shelf.get("change-001").short_stamp in result.text
    assert result.summary == "change-001 pending: modify a.py (+1 -1)"
    assert (model.root / "a.py").read_bytes() == b"x = 1\ny = 2\n"
    assert [proposal.id for proposal in model.shelf.pending()] == ["change-001"]


async def test_an_amended_change_lists_its_other_files(model: Model) -> None:
    await model.call(path="a.py", oldText="x = 1", newText="x = 3")
    result = await model.call(path="b.py", oldText="", newText="new\n")
    assert result.text.startswith(
        "Amended change-001: create b.py (+1 -0).\nAlso in change-001: modify a.py (+1 -1)."
    )


async def test_a_file_is_deleted_with_no_texts_at_all_or_with_empty_ones(model: Model) -> None:
    result = await model.call(path="a.py", deleteFile=True)
    assert result.ok and "delete a.py (+0 -2)" in result.text
    result = await model.call(path="a.py", oldText="", newText="", deleteFile=True)
    assert not result.ok and "already deleted" in result.text


async def test_a_rename_touches_both_paths(model: Model) -> None:
    result = await model.call(path="a.py", renameTo="lib/b.py")
    assert result.ok and "rename a.py to lib/b.py (+0 -0)" in result.text
    assert result.touched == (RepoPath.parse("a.py"), RepoPath.parse("lib/b.py"))


async def test_empty_optional_arguments_mean_nothing(model: Model) -> None:
    result = await model.call(
        path="a.py", oldText="x = 1", newText="x = 3", change="", renameTo="", deleteFile=False
    )
    assert result.ok and "modify a.py" in result.text


async def test_a_restored_file_leaves_and_an_emptied_change_is_withdrawn(model: Model) -> None:
    await model.call(path="a.py", oldText="x = 1", newText="x = 3")
    await model.call(path="b.py", oldText="", newText="new\n")
    left = await model.call(path="b.py", deleteFile=True)
    assert "b.py is as it is on disk again and has left change-001" in left.text
    gone = await model.call(path="a.py", oldText="x = 3", newText="x = 1")
    assert gone.ok and "withdrawn" in gone.text and gone.summary == "change-001 withdrawn"


@pytest.mark.parametrize("missing", ["oldText", "newText"])
async def test_a_missing_text_is_not_taken_for_an_empty_one(model: Model, missing: str) -> None:
    arguments = {"path": "a.py", "oldText": "x = 1", "newText": ""}
    del arguments[missing]
    result = await model.call(**arguments)
    assert not result.ok and missing in result.text and not model.shelf.kept


async def test_refusals_are_answers_that_help(model: Model) -> None:
    result = await model.call(path="a.py", oldText="X = 1", newText="X = 2")
    assert not result.ok and "upper and lower case" in result.text and result.summary == "refused: not-found"
    result = await model.call(path="../a.py", oldText="a", newText="b")
    assert not result.ok and result.summary == "refused: escapes"
    result = await model.call(path="a.py", oldText="x = 1", newText="x = 2", change="change-404")
    assert not result.ok and "change-404" in result.text
    result = await model.call(path="a.py", oldText="x = 1", newText="x = 2", force=True)
    assert not result.ok and "force is not a parameter" in result.text


async def test_hidden_characters_are_shown_as_marks(model: Model) -> None:
    result = await model.call(path="e\x1b[2J.py", oldText="", newText="a\x1b]52;c;x\x07\u202e\r\n")
    assert result.ok and not hidden(result.text) and not hidden(result.summary)
    assert "CRLF" in result.text


async def test_a_line_that_read_file_cut_cannot_be_copied_into_a_patch(model: Model) -> None:
    (model.root / "long.txt").write_text("short\n" + "x" * 50 + "\n")
    read = await model.reader.run("readFile", json.dumps({"path": "long.txt"}))
    copied = read.text.splitlines()[-1].split("\t", 1)[1]
    for old, new in ((copied, "y"), ("short", f"short\n{copied}")):
        result = await model.call(path="long.txt", oldText=old, newText=new)
        assert not result.ok and result.summary == "refused: cut-line"


def test_the_schema_names_what_is_needed_and_no_apply(model: Model) -> None:
    (spec,) = model.box.specs
    parameters = spec["function"]["parameters"]
    assert parameters["required"] == ["path", "oldText", "newText"]
    assert list(parameters["properties"]) == [
        "path",
        "oldText",
        "newText",
        "change",
        "deleteFile",
        "renameTo",
    ]
    assert "cannot apply" in spec["function"]["description"]


def test_a_long_diff_is_cut_and_says_so() -> None:
    text = snippet(FileChange("x", "create", None, b"".join(b"%d\n" % n for n in range(500)), None, 0o644))
    assert len(text.splitlines()) == 41 and "461 more lines of this diff are not shown" in text
    assert len(snippet(FileChange("x", "create", None, b"a" * 100_000, None, 0o644))) < 500
