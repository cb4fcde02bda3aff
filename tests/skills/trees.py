"""Builds the trees of declarative cases."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any


def build(root: Path, tree: dict[str, Any]) -> None:
    """Make every object of ``tree`` below ``root``; the case file says what the values mean."""
    for name, value in tree.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        match value:
            case str():
                path.write_bytes(value.encode())
            case {"hex": str(digits)}:
                path.write_bytes(bytes.fromhex(digits))
            case {"link": str(target)}:
                path.symlink_to(target)
            case {"dir": True}:
                path.mkdir()
            case {"fifo": True}:
                os.mkfifo(path)
            case {"repeat": str(piece), "times": int(times)}:
                path.write_text(
                    f"{value.get('head', '')}{piece * times}{value.get('tail', '')}", "utf-8", newline=""
                )
            case _:
                raise AssertionError(f"what is {value!r}?")
