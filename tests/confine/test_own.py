"""What a steward that is held says of a failure that this may be the reason of."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.monorepo import PROJECT

PROGRAM = """
import sys
from pathlib import Path
from steward.cli.crash import report
from steward.confine.own import hold, own_grants
state = Path(sys.argv[1])
if sys.argv[2] == "held":
    hold(own_grants(state, state, None))
try:
    Path(sys.argv[3]).read_text()
except OSError as error:
    print(report(error))
"""


@pytest.mark.parametrize(
    ("how", "file", "said"),
    [("held", "/etc/passwd", True), ("held", "missing", False), ("free", "/proc/self", False)],
)
def test_a_failure_that_confinement_may_be_the_reason_of_says_how_to_go_without(
    tmp_path: Path, how: str, file: str, said: bool
) -> None:
    environment = {"PYTHONPATH": str(PROJECT), "STEWARD_STATE_DIR": str(tmp_path), "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path), how, file],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.startswith("Something inside the steward went wrong"), done.stderr
    assert ("STEWARD_CONFINE=false starts it without" in done.stdout) is said
