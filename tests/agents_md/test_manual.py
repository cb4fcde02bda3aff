"""The example of the manual runs, and says what the manual says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "steward" / "manual" / "agents-md.md"


def test_the_example_program_runs_as_it_stands() -> None:
    (program,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT / "fixtures" / "monorepo",
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    lines = done.stdout.splitlines()
    assert any(line.startswith("services/billing/AGENTS.md services/billing ") for line in lines)
    assert "You review changes." in lines
    assert any("Tax is rounded half up" in line for line in lines)
    assert done.stdout.index("Money is an integer") < done.stdout.index("Tax is rounded")
