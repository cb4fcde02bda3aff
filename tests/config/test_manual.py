"""The manual's pages on configuration and security say what the code does."""

from __future__ import annotations

import re

from steward.config.environment import OTHERS, variable
from steward.config.keys import scalars
from steward.config.repository import ALLOWED
from tests.monorepo import PROJECT

MANUAL = PROJECT / "steward" / "manual"


def test_what_a_repository_may_set_is_listed_and_nothing_else() -> None:
    page = (MANUAL / "configuration.md").read_text("utf-8")
    listed = re.findall(r"^\| `([a-z._]+)` \| .*$", page.partition("## In the repository")[2], re.MULTILINE)
    assert tuple(listed) == ALLOWED


def test_every_variable_that_is_named_is_one() -> None:
    known = {*map(variable, scalars()), *OTHERS}
    for page in MANUAL.glob("*.md"):
        named = set(re.findall(r"STEWARD_[A-Z][A-Z_]+[A-Z]", page.read_text("utf-8")))
        assert named <= known, page.name


def test_the_tests_that_the_security_page_names_are_there() -> None:
    page = (MANUAL / "security.md").read_text("utf-8")
    named = re.findall(r"`(tests/[a-z_/]+\.py)`", page)
    assert len(named) > 10 and all((PROJECT / name).is_file() for name in named)
