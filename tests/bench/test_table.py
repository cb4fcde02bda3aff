"""Every row of the table of figures can be measured; what a row says on a busy machine is no test."""

from __future__ import annotations

import pytest

from tests.bench.__main__ import SECTIONS, line, machine
from tests.bench.measure import SMALL


@pytest.mark.parametrize("section", list(SECTIONS))
def test_each_section_gives_rows_of_the_table(section: str) -> None:
    rows = list(SECTIONS[section](SMALL))
    assert rows
    for row in rows:
        assert line(row).count(" | ") == 5, row
        assert row.what and row.figure and row.met is not None


def test_the_machine_is_named_with_the_versions_that_matter() -> None:
    assert "cores" in machine() and "textual 8" in machine()
