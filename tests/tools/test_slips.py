"""What small models write instead of a patch, and what they are told to write."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from steward.proposals import Draft
from steward.tools.base import ToolBox, ToolResult
from steward.tools.list_files import ListFilesTool
from steward.tools.meant import meant
from steward.tools.propose_patch import ProposePatchTool
from steward.tools.read_file import ReadFileTool
from steward.tools.search_files import SearchFilesTool
from steward.workspace import Workspace
from tests.proposals.memory_shelf import MemoryShelf
from tests.support import plant

CODE = 'import os\n\n\ndef add(a, b):\n    total = a + b\n    print("sum\\n", total)\n    return total\n'
TREE = {
    "src/m.py": CODE,
    "src/deep/only.py": "x = 1\n",
    "README.md": "# Shop\n",
    "one/same.py": "1\n",
    "two/same.py": "2\n",
    "three/same.py": "3\n",
    "a/kept.py": "y = 1\n",
    "rows.tsv": "1\tone\n2\ttwo\n",
    ".env": "KEY=1\n",
}


class Model:
    """Calls the tools with JSON, as a model does."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.shelf = MemoryShelf()
        draft = Draft(workspace, self.shelf, lambda path: ())
        tools = (
            ProposePatchTool(lambda: draft),
            ReadFileTool(workspace, draft.views),
            ListFilesTool(workspace, draft.views),
            SearchFilesTool(workspace, draft.views),
        )
        self.box = ToolBox(tools, None, lambda path: meant(workspace, path))

    async def patch(self, old: str, new: str, path: str = "src/m.py") -> ToolResult:
        return await self.box.run("proposePatch", json.dumps({"path": path, "oldText": old, "newText": new}))

    async def call(self, name: str, **arguments: object) -> ToolResult:
        return await self.box.run(name, json.dumps(arguments))


@pytest.fixture
def model(tmp_path: Path) -> Iterator[Model]:
    with Workspace.open(plant(tmp_path / "shop", TREE)) as workspace:
        yield Model(workspace)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("    total = a + b", "5\t    total = b + a", "Leave each number and the tab after it out"),
        ("    total = a + b\n", "9\t    total = a\n10\t    total += b\n", "(from 9)"),
        ("    return total\n", "    total += 1\\n    return total\\n", "with one backslash, not two"),
        (CODE, "import os\\n\\nprint(1)\\n", "written out as \\n"),
        ("    return total", "    # ... existing code ...\n    return 1", "Line 1 of newText, # ... existing code ..."),
        (CODE, "import os\n\n# rest of the file remains unchanged\n", "Line 3 of newText"),
        (CODE, "import os\n\n# existing code here\n", "Line 3 of newText"),
        (CODE, "import os\n\n// remaining methods unchanged...\n", "Line 3 of newText"),
        ("import os", "```python\nimport sys\n```", "leave its two lines out"),
        ("import os", "+import sys\n", "newText is a diff"),
        ("import os", "@@ -1,2 +1,2 @@\n-import os\n+import sys\n", "newText is a diff"),
        ("import os", "*** Begin Patch\n*** Update File: src/m.py\n", "newText is a diff"),
        ("import os", "<<<<<<< SEARCH\nimport os\n=======\nimport sys\n>>>>>>> REPLACE\n", "SEARCH/REPLACE"),
    ],
)  # fmt: skip
async def test_a_new_text_that_cannot_be_meant_is_not_proposed(
    model: Model, old: str, new: str, said: str
) -> None:
    result = await model.patch(old, new)
    assert not result.ok and said in result.text and result.text.endswith("Nothing was proposed.")
    assert model.shelf.pending() == ()


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("src/m.py", "import os", 'print("a\\n")'),
        ("src/m.py", "import os\n", "print('a\\n b')"),
        ("src/m.py", "sum", "sum\\n"),
        ("new.tex", "", "\\newcommand{\\x}{1}"),
        ("src/m.py", "    total = a + b", "    ...  # the rest is yours"),
        ("src/m.py", "    total = a + b", "    # Remaining files"),
        ("src/m.py", "    total = a + b", "    # existing code"),
        ("phones.csv", "", "+49 30 1\n+49 30 2\n"),
        ("src/m.py", "    total = a + b", "    # Existing totals remain unchanged on purpose."),
        ("rows.tsv", "2\ttwo\n", "2\ttwo\n3\tthree\n"),
        ("new.tsv", "", "1\tone\n2\ttwo\n"),
        ("README.md", "# Shop", "```python\nx = 1\n```"),
        ("README.md", "# Shop", "+ one\n+ two\n"),
        ("fix.patch", "", "@@ -1 +1 @@\n-a\n+b\n"),
    ],
)  # fmt: skip
async def test_what_may_be_meant_is_proposed(model: Model, path: str, old: str, new: str) -> None:
    result = await model.patch(old, new, path)
    assert result.ok, result.text


@pytest.mark.parametrize(
    ("old", "said"),
    [
        ("```python\nimport os\n```", "wrapped in a Markdown fence"),
        ("<<<<<<< SEARCH\nimport os\n=======\nimport sys\n>>>>>>> REPLACE", "give the lines below <<<<<<< SEARCH as"),
        ("@@ -1,1 +1,1 @@\n-import sys", "oldText is a diff"),
        ('5\t    total = a + b\n6\t    print("sum\\n", total)', "a copied line number prefix in oldText"),
    ],
)  # fmt: skip
async def test_an_old_text_that_was_not_copied_is_named_as_what_it_is(
    model: Model, old: str, said: str
) -> None:
    result = await model.patch(old, "x")
    assert not result.ok and said in result.text and "oldText was not found" in result.text


@pytest.mark.parametrize(
    ("path", "suggested"),
    [
        ("/src/m.py", "src/m.py"),
        ("{root}/src/m.py", "src/m.py"),
        ("file://{root}/src/m.py", "src/m.py"),
        ("b/src/m.py", "src/m.py"),
        ("a/src/m.py", "src/m.py"),
        ("shop/src/m.py", "src/m.py"),
        ("src\\m.py", "src/m.py"),
        ("`src/m.py`", "src/m.py"),
        (" src/m.py\n", "src/m.py"),
        ("src/m.py:12", "src/m.py"),
        ("src/m.py#L3-L9", "src/m.py"),
        ("src/n.py", "src/m.py"),
        ("only.py", "src/deep/only.py"),
        ("/etc/passwd", None),
        ("same.py", None),
        ("/.env", None),
        ("zzz", None),
        ("/", None),
    ],
)
async def test_a_path_written_in_another_way_is_answered_with_the_one_that_is_meant(
    model: Model, path: str, suggested: str | None
) -> None:
    path = path.format(root=model.workspace.root)
    for name, more in (("proposePatch", {"oldText": "q", "newText": "r"}), ("readFile", {})):
        result = await model.call(name, path=path, **more)
        assert not result.ok
        if suggested is None:
            assert "Did you mean" not in result.text
        else:
            assert (
                result.text.endswith(f"Did you mean {suggested}?") and result.text.count("Did you mean") == 1
            )


async def test_a_new_file_with_an_absolute_path_is_told_its_path_here(model: Model) -> None:
    result = await model.patch("", "x = 1\n", f"{model.workspace.root}/src/new.py")
    assert not result.ok and result.text.endswith("Did you mean src/new.py?")
    assert (await model.call("listFiles", path="/src")).text.endswith("Did you mean src?")
    assert (await model.call("searchFiles", query="x", path="/src")).text.endswith("Did you mean src?")


async def test_parameters_of_other_programs_are_answered_with_the_names_here(model: Model) -> None:
    result = await model.call("proposePatch", file_path="src/m.py", old_string="a", new_str="b", x=1)
    assert "file_path is not a parameter, path is; old_string is not a parameter, oldText is;" in result.text
    assert "new_str is not a parameter, newText is; x is not a parameter." in result.text
    assert "Its parameters are: path, oldText, newText, change (optional)" in result.text
    assert "limit is not a parameter, lineCount is" in (await model.call("readFile", path="x", limit=3)).text
    assert "pattern is not a parameter, query is" in (await model.call("searchFiles", pattern="x")).text


async def test_json_that_breaks_off_is_answered_with_the_place(model: Model) -> None:
    broken = await model.box.run("readFile", '{"path": "say "hi""}')
    assert 'expecting \',\' delimiter at character 16, after {"path": "say ")' in broken.text
    text = await model.box.run("readFile", json.dumps('{"path": "x"}'))
    assert "must be one JSON object, not a text that holds one" in text.text
