"""The whole path with the real worker process: litellm in the child, the loop, proposals, restart, kill -9."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.support import call, patch, plant

PROGRAM = """
import asyncio, json, socket, sys
from pathlib import Path
opened = []
class Watched(socket.socket):
    def connect(self, *a):
        opened.append(a); return super().connect(*a)
    def bind(self, *a):
        opened.append(a); return super().bind(*a)
socket.socket = Watched
from steward.config import Settings
from steward.service import open_steward
async def main():
    steward = open_steward(Path(sys.argv[1]), Settings(), state=Path(sys.argv[2]), model=sys.argv[3], watch=False)
    await steward.start()
    kinds = []
    async for event in steward.ask("Change it"):
        kinds.append(type(event).__name__)
        if type(event).__name__ == "TurnEnded":
            kinds += [event.error, event.reason]
    modules = sorted(m for m in sys.modules if m.split(".")[0] in ("litellm", "openai", "httpx", "textual", "aiohttp"))
    print(json.dumps([kinds, modules, opened]), flush=True)
    if len(sys.argv) > 4:
        await asyncio.sleep(600)
    await steward.close()
asyncio.run(main())
"""

SCRIPT = [
    {"text": "Looking.", "calls": [call("readFile", path="src/app.py")]},
    {"calls": [patch("src/app.py", "41", "42")]},
    {"text": "It is pending."},
]


def run(folder: Path, *more: str) -> subprocess.Popen[str]:
    script = folder / "script.jsonl"
    script.write_text("".join(json.dumps(entry) + "\n" for entry in SCRIPT))
    arguments = [str(folder / "repository"), str(folder / "state"), f"script/{script}", *more]
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_the_parent_never_imports_litellm_never_opens_a_socket_and_stays_silent(tmp_path: Path) -> None:
    plant(tmp_path / "repository")
    out, err = run(tmp_path).communicate(timeout=120)
    kinds, modules, opened = json.loads(out)
    assert kinds[-1] == "answered" and "ProposalMade" in kinds
    assert modules == [] and opened == [] and err == ""
    assert (tmp_path / "repository/src/app.py").read_bytes() == b"def answer():\n    return 41\n"


def test_a_pending_proposal_and_the_conversation_survive_kill_9_and_the_worker_goes_too(
    tmp_path: Path,
) -> None:
    from steward.config import Settings
    from steward.service import House

    plant(tmp_path / "repository")
    process = run(tmp_path, "stay")
    assert process.stdout is not None
    said = process.stdout.readline()
    group = os.getpgid(process.pid)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=30)
    assert "ProposalMade" in said
    house = House(tmp_path / "repository", Settings(), state=tmp_path / "state")
    assert house.changes.recover() == ()
    assert [view.proposal.id for view in house.changes.listed()] == ["change-001"]
    (session,) = house.sessions.all()
    assert len(house.sessions.messages(session.id)) == 7
    house.close()
    for _ in range(200):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            break
        time.sleep(0.05)
    else:
        raise AssertionError("the worker outlived its parent")
