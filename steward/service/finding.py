"""One line of the doctor's report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from steward.conversation import JsonObject

State = Literal["ok", "warn", "bad"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report; sentences hold neither keys nor contents."""

    name: str
    state: State
    sentence: str
    remedy: str = ""
    """What to do; empty when nothing has to be done."""

    def to_json(self) -> JsonObject:
        """One entry of ``doctor --json``."""
        return {"check": self.name, "state": self.state, "sentence": self.sentence, "remedy": self.remedy}
