"""``--help`` of each command: what it is used like, and how it ends, true for the command as it is."""

from __future__ import annotations

import shlex

import click
import pytest

from steward.cli.commands import ENTRIES, command
from steward.cli.pages import EXIT_CODES, PAGES
from tests.cli.program import Program

NAMES = [entry.name for entry in ENTRIES]


def test_every_command_has_a_page_and_no_page_is_of_something_else():
    assert set(PAGES) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_names_documented_codes_and_examples_that_the_command_takes(name: str):
    made = command(name)
    page = PAGES[name]
    assert made is not None and set(page.ends) <= set(EXIT_CODES)
    assert name == "open" or page.examples
    for example in page.examples:
        words = shlex.split(example.replace('"$(', "").replace(')"', ""), comments=False)
        begin = words.index("steward") + 1
        end = next((at for at, word in enumerate(words) if at >= begin and word in ("|", "&&")), len(words))
        given = words[begin:end]
        if name == "open":
            assert len(given) < 2
            continue
        assert given[0] == name, example
        made.make_context(name, given[1:])
    shown = made.get_help(click.Context(made, info_name=name))
    for code in (0, 2, 130, *page.ends):
        assert f"\n    {code:<4} " in shown
    assert all(f"    {example}\n" in shown for example in page.examples)


@pytest.mark.parametrize("name", NAMES)
def test_every_option_says_what_it_does_in_one_sentence(name: str):
    made = command(name)
    assert made is not None and made.help and made.help.split("\n")[0].rstrip().endswith((".", ";", ","))
    for option in made.params:
        if isinstance(option, click.Option):
            assert option.help and option.help.endswith("."), option.name


def test_the_name_of_a_command_is_a_topic_of_the_help_as_well(steward: Program):
    ran = steward("help", "propose")
    assert (
        ran.code == 0
        and ran.out.startswith("Usage: steward propose [OPTIONS]")
        and "git format-patch" in ran.out
    )
    assert steward("help", "sessions").out.startswith("# ")
    assert "There is no manual page" in steward("help", "open-change").err
