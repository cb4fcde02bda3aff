"""What of a tree is taken for a key is shown line by line and counted."""

from __future__ import annotations

from pathlib import Path

from tests.bench.redaction import Marked, Measured, measure
from tests.support import plant


def test_what_is_marked_of_a_tree_is_shown_and_counted(tmp_path: Path) -> None:
    key = "gh" + "p_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    texts = {"a.py": f"x = 1\nKEY = '{key}'\n", "c.py": "token = request.token\n"}
    plant(tmp_path, {**texts, "b.bin": b"\0", "site-packages/d.py": f"KEY = '{key}'\n"})
    marked, total = measure(tmp_path)
    assert marked == Marked(Path("a.py"), 2, "KEY = '[redacted GitHub token]'")
    size = sum(map(len, texts.values()))
    assert total == Measured(files=2, lines=3, bytes=size, marked=1, files_marked=1)
