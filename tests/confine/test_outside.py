"""What is started outside, directly and through the helper: the same for the caller, and nothing that was not meant."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.monorepo import PROJECT

DRIVER = """
import asyncio, json, os, signal, sys, time
from pathlib import Path
from steward.confine.helper import Worker
from steward.confine.outside import Outside
kind, place = sys.argv[1], Path(sys.argv[2])
SAY = "import json, os, sys; json.dump([dict(os.environ), os.getcwd(), sys.stdin.read()], sys.stdout)"
ECHO = [sys.executable, "-I", "-c", SAY]
def worker():
    return Worker(ECHO, {"A": "1"}, "CONFINE", "MODELS")
outside = Outside() if kind == "direct" else Outside.behind_helper(worker, programs=kind == "helped")
found = {}
def attempt(name, work):
    try:
        found[name] = work()
    except OSError as error:
        found[name] = error.errno
async def output(program):
    data = await program.stdout.read()
    return [data.decode(), await program.wait(), program.returncode]
async def shell(*argv):
    return await output(await outside.program(argv, place))
async def stopped():
    program = await outside.program(["sh", "-c", "sleep 100 & echo up; wait"], place)
    await program.stdout.readline()
    outside.end(program, signal.SIGTERM)
    code = await program.wait()
    rest = await program.stdout.read()  # ends when nobody holds the pipe any more
    outside.end(program, signal.SIGKILL)
    return [code, rest.decode()]
async def worked(more):
    program = await outside.worker(ECHO, {"A": "1"}, more)
    program.stdin.write(b"said")
    program.stdin.close()
    environment, folder, said = json.loads(await program.stdout.read())
    return [{k: v for k, v in environment.items() if k not in ("LC_CTYPE", "PWD")}, folder, said, await program.wait()]
async def killed():
    program = await outside.program(["sleep", "100"], place)
    program.kill()
    code = await program.wait()
    try:
        program.send_signal(15)
    except ProcessLookupError:
        return [code, "gone"]
def made():
    with open(outside.new_file(place / "new.md"), "w") as file:
        file.write("text")
    return (place / "new.md").read_text()
attempt("output", lambda: asyncio.run(shell("sh", "-c", "echo one; echo two >&2; pwd; exit 7")))
attempt("much", lambda: len(asyncio.run(shell("head", "-c", "3000000", "/dev/zero"))[0]))
attempt("missing", lambda: asyncio.run(shell("/nonexistent/program")))
attempt("stopped", lambda: asyncio.run(stopped()))
attempt("killed", lambda: asyncio.run(killed()))
attempt("worker", lambda: asyncio.run(worked({"CONFINE": "443", "MODELS": "a,b"})))
attempt("worker with another library", lambda: asyncio.run(worked({"CONFINE": "443", "MODELS": "", "LD_PRELOAD": "x"})))
attempt("worker without confinement", lambda: asyncio.run(worked({"CONFINE": "off", "MODELS": ""})))
attempt("made", made)
attempt("made again", lambda: outside.new_file(place / "new.md"))
attempt("run", lambda: outside.on_terminal(["sh", "-c", "exit 3"]))
attempt("run missing", lambda: outside.on_terminal(["/nonexistent/program"]))
attempt("too long", lambda: asyncio.run(shell("echo", "x" * 300_000)))
print(json.dumps(found))
"""
LATE = """
import asyncio, sys, time
from pathlib import Path
from steward.confine.outside import Outside
outside = Outside.behind_helper(lambda: None, programs=True)
async def main():
    program = await outside.program(["sh", "-c", "echo $$; exec sleep 100"], Path("/"))
    print((await program.stdout.readline()).decode().strip(), flush=True)
    await asyncio.sleep(100)
asyncio.run(main())
"""


def environment() -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "PYTHONPATH": str(PROJECT), "HOME": "/nonexistent"}


def attempts(kind: str, place: Path) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, kind, str(place)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("kind", ["direct", "helped"])
def test_programs_are_started_and_ended_alike_with_a_helper_and_without(kind: str, tmp_path: Path) -> None:
    found = attempts(kind, tmp_path)
    assert found["output"] == [f"one\ntwo\n{tmp_path}\n", 7, 7]
    assert found["much"] == 3_000_000
    assert found["missing"] == 2
    assert found["stopped"] == [-signal.SIGTERM, ""]
    assert found["killed"] == [-signal.SIGKILL, "gone"]
    assert found["worker"] == [
        {"A": "1", "CONFINE": "443", "MODELS": "a,b"}, "/", "said", 0
    ]  # fmt: skip
    assert found["made"] == "text" and found["made again"] == 17
    assert found["run"] == 3 and found["run missing"] == 2


@pytest.mark.parametrize("kind", ["helped", "worker alone"])
def test_a_helper_starts_the_worker_in_no_other_way_than_was_said_before(kind: str, tmp_path: Path) -> None:
    found = attempts(kind, tmp_path)
    assert found["worker"][3] == 0
    assert found["worker with another library"] == found["worker without confinement"] == 13
    assert found["too long"] == 7
    direct = attempts("direct", tmp_path / "none")
    assert direct["worker with another library"][0]["LD_PRELOAD"] == "x"


def test_a_helper_for_the_worker_alone_starts_and_makes_nothing_else(tmp_path: Path) -> None:
    found = attempts("worker alone", tmp_path)
    refused = ("output", "missing", "stopped", "killed", "made", "made again", "run", "run missing")
    assert {name: found[name] for name in refused} == dict.fromkeys(refused, 13)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_helper_ends_with_the_steward_and_ends_what_it_has_started(number: int) -> None:
    with subprocess.Popen([sys.executable, "-c", LATE], env=environment(), stdout=subprocess.PIPE) as steward:
        assert steward.stdout is not None
        pid = int(steward.stdout.readline())
        (helper,) = Path(f"/proc/{steward.pid}/task/{steward.pid}/children").read_text().split()
        end, gone = os.pidfd_open(pid), os.pidfd_open(int(helper))
        steward.send_signal(number)
        steward.wait()
        import select

        waiting = select.poll()
        for descriptor in (end, gone):
            waiting.register(descriptor, select.POLLIN)
            assert waiting.poll(10_000)
            waiting.unregister(descriptor)
            os.close(descriptor)
