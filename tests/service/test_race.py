"""Six people in six shells apply one change at the same moment: one of them does, and each other learns why not."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from steward.proposals.record import standing
from tests.monorepo import PROJECT
from tests.service.rooms import Patch, Rooms
from tests.support import plant

RACERS = 6
FILES = 12

GATED = """
import sys, time
from pathlib import Path
import steward.cli.app, steward.cli.decide, steward.service.house, steward.service.changes
from steward.__main__ import main
gate, ready = Path(sys.argv.pop(1)), Path(sys.argv.pop(1))
ready.touch()
while not gate.exists():
    time.sleep(0.0005)
sys.exit(main())
"""
"""The program itself, held back until all six have been loaded."""

LOST = re.compile(
    r"(?:Another steward(?: \(process \d+\))? is busy with a change in this workspace; nothing was written\."
    r"|change-001 is applied(?:, which is not recorded yet)?; it cannot be applied\."
    r"|change-001 is stale: .*; nothing was written\.)"
)


class Race:
    """One workspace with a pending change, and processes that all want to decide on it."""

    def __init__(self, place: Path) -> None:
        self.root = plant(place / "repository", {f"src/{n}.txt": f"old {n}\n" for n in range(FILES)})
        self.place = place
        rooms = Rooms(self.root)
        self.stamp = rooms.propose(*(Patch(f"src/{n}.txt", "old", "new") for n in range(FILES))).short_stamp
        rooms.close()

    def run(self, *commands: list[str]) -> list[tuple[int, str, str]]:
        """Exit code and output of each command, all begun at the same moment."""
        home = self.place / "home"
        home.mkdir(exist_ok=True)
        environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(home),
            "PYTHONPATH": str(PROJECT),
            "STEWARD_STATE_DIR": str(self.place / "state"),
            "STEWARD_TRUST": "always",
            "LANG": "C.UTF-8",
        }
        gate = self.place / "gate"
        running: list[subprocess.Popen[str]] = []
        for number, command in enumerate(commands):
            ready = self.place / f"ready{number}"
            arguments = [str(gate), str(ready), *command, "--workspace", str(self.root)]
            running.append(
                subprocess.Popen(
                    [sys.executable, "-c", GATED, *arguments],
                    cwd=self.root,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
        while not all(
            (self.place / f"ready{n}").exists() or p.poll() is not None for n, p in enumerate(running)
        ):
            time.sleep(0.01)
        gate.touch()
        done: list[tuple[int, str, str]] = []
        for process in running:
            out, err = process.communicate(timeout=120)
            done.append((process.returncode, out, err))
        return done

    def contents(self) -> set[str]:
        """The first word of each file."""
        return {path.read_text().split()[0] for path in (self.root / "src").iterdir()}


@pytest.fixture
def race(tmp_path: Path) -> Race:
    return Race(tmp_path)


def test_one_of_six_applies_and_the_others_are_told_in_one_sentence(race: Race) -> None:
    done = race.run(*[["apply-change", "change-001", "--stamp", race.stamp]] * RACERS)
    assert sorted(code for code, _, _ in done) == [0, *[3] * (RACERS - 1)], done
    for code, out, err in done:
        if code == 0:
            assert out.startswith("change-001 applied: ") and err == ""
        else:
            assert out == ""
            assert err.count("\n") == 1 and LOST.search(err), err
    assert race.contents() == {"new"}
    assert not list(race.root.rglob(".steward-*"))
    rooms = Rooms(race.root)
    assert rooms.desk.recover() == ()
    assert rooms.store.statuses() == {"change-001": "applied"}
    history = rooms.desk.history()
    assert [line.kind for line in history.lines].count("applied") == 1 and history.warnings == ()
    assert not any(standing(rooms.state / "journal"))
    rooms.close()


def test_applying_and_discarding_at_once_has_one_winner(race: Race) -> None:
    apply = ["apply-change", "change-001", "--stamp", race.stamp]
    done = race.run(*[apply, ["discard-change", "change-001"]] * (RACERS // 2))
    codes = [code for code, _, _ in done]
    assert codes.count(0) == 1 and set(codes) == {0, 3}, done
    winner = ("applied", "discarded")[codes.index(0) % 2]
    assert race.contents() == {"new" if winner == "applied" else "old"}
    rooms = Rooms(race.root)
    rooms.desk.recover()
    assert rooms.store.statuses() == {"change-001": winner}
    assert rooms.desk.history().warnings == ()
    rooms.close()
