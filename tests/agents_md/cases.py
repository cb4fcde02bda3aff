"""Reads the language-neutral cases and builds their trees on a disk."""

from __future__ import annotations

import os
import socket
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "instructions"

Case = dict[str, Any]


def all_cases() -> list[Case]:
    """Every case of every file, in order."""
    found: list[Case] = []
    for path in sorted(FIXTURES.glob("*.toml")):
        found += tomllib.loads(path.read_text(encoding="utf-8"))["case"]
    return found


def build(tree: Mapping[str, Any], root: Path) -> None:
    """Make the tree beneath ``root``."""
    for name, value in tree.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        match value:
            case str():
                path.write_bytes(value.encode())
            case {"hex": data}:
                path.write_bytes(bytes.fromhex(data))
            case {"link": target}:
                path.symlink_to(target)
            case {"same": other}:
                path.hardlink_to(root / other)
            case {"text": text, "mode": mode}:
                path.write_text(text, encoding="utf-8")
                path.chmod(int(mode, 8))
            case {"dir": True}:
                path.mkdir(exist_ok=True)
                if "mode" in value:
                    path.chmod(int(value["mode"], 8))
            case {"socket": True}:
                with socket.socket(socket.AF_UNIX) as bound:
                    here = Path.cwd()
                    os.chdir(path.parent)  # the address of a socket is short
                    bound.bind(path.name)
                    os.chdir(here)
            case {"fifo": True}:
                os.mkfifo(path)
            case {"repeat": text, "times": times}:
                path.write_bytes(text.encode() * times)
            case _:
                raise AssertionError(f"{name}: unknown kind of entry {value!r}")


def needs_a_common_user(case: Case) -> bool:
    """Whether permissions matter in the case, so that root would see another result."""
    return any(isinstance(value, dict) and "mode" in value for value in case["tree"].values())
