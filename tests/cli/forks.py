"""Many commands in little time: a process that has loaded the program forks once for each of them."""

from __future__ import annotations

import json
import subprocess
import sys
from types import TracebackType

from tests.cli.program import Program, Ran

SERVER = """
import json, os, sys, tempfile
import steward.cli.app, steward.cli.tool, steward.config, steward.proposals, steward.service.house, steward.storage
import steward.service.changes, steward.service.importing, steward.tools, steward.workspace
from steward.cli.commands import ENTRIES
for entry in ENTRIES:
    __import__(entry.where)
from steward.cli.house import settings_of
from steward.cli.options import Options
settings_of(Options())
for row in sys.stdin:
    out, err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        arguments = [os.fsdecode(word.encode("utf-8", "surrogateescape")) for word in json.loads(row)]
        code = 99
        try:
            code = steward.cli.app.run(arguments)
        finally:
            sys.stdout.flush()
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    said = []
    for file in (out, err):
        file.seek(0)
        said.append(file.read().decode())
        file.close()
    print(json.dumps([code, *said]), flush=True)
"""


class Forks:
    """The program as ``Program`` has it, each command a process of its own that is forked and not started."""

    def __init__(self, program: Program) -> None:
        self._server = subprocess.Popen(
            [sys.executable, "-c", SERVER],
            cwd=program.directory,
            env=program.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Forks:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.communicate(timeout=60)

    def __call__(self, *arguments: str) -> Ran:
        """Run one command to its end."""
        assert self._server.stdin is not None and self._server.stdout is not None
        self._server.stdin.write(json.dumps(arguments) + "\n")
        self._server.stdin.flush()
        code, out, err = json.loads(self._server.stdout.readline())
        return Ran(code, out, err)
