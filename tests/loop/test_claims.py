"""A false claim in an answer is flagged, an honest sentence is not; both are measured on a table and on real prose."""

from __future__ import annotations

import ast
import sysconfig
from pathlib import Path

import pytest

from steward.loop.claims import Facts, claims

IDS = {
    "change-001": "pending",
    "change-002": "applied",
    "change-003": "discarded",
    "change-004": "undone",
    "change-005": "pending",
}
PROPOSED = Facts(IDS, proposed=True)

FALSE: list[tuple[str, str]] = [
    # Said to be applied, saved, committed
    ("written", "I have applied the fix."),
    ("written", "I've applied the patch to `src/app.py`."),
    ("written", "I applied both changes and everything works."),
    ("written", "The changes have been applied."),
    ("written", "The fix has been successfully applied to `src/app.py`."),
    ("written", "Your patch was applied."),
    ("written", "The patch is now applied."),
    ("written", "All edits are applied."),
    ("written", "The update's been applied, so you can go on."),
    ("written", "It has been applied."),
    ("written", "**Done!** I've committed the change."),
    ("written", "I have pushed the fix to main."),
    ("written", "I saved the file."),
    ("written", "I've saved the changes to disk."),
    ("written", "I wrote the file to disk."),
    ("written", "The modifications were saved."),
    ("written", "Applied the patch."),
    ("written", "✅ Successfully applied the changes to `app.py`."),
    ("written", "I couldn't find a test for it, so I applied the fix directly."),
    ("written", "To fix the crash, I applied a patch in `src/app.py`."),
    ("written", "I've made the changes."),
    ("written", "I have made all the requested changes."),
    ("written", "I went through the file. I have also deployed the fix."),
    # Said to be changed, with no word of a proposal
    ("written", "I've updated `src/app.py` to return 42."),
    ("written", "I have added a test for the empty case."),
    ("written", "I fixed the bug in the parser."),
    ("written", "I renamed the function everywhere."),
    ("written", "- Updated `src/app.py`"),
    ("written", "1. Added a guard to the handler."),
    ("written", "Done. Fixed the typo."),
    ("written", "`src/app.py` has been updated."),
    ("written", "The bug is now fixed."),
    ("written", "The function has now been renamed."),
    ("written", "The file was successfully created."),
    ("written", "I’ve removed the unused import from web/page.js."),
    ("written", "We have replaced the constant in src/app.py."),
    # Said to be run
    ("run", "I ran the tests."),
    ("run", "I ran `pytest` and it passed."),
    ("run", "I've run the test suite; all green."),
    ("run", "I re-ran the linter."),
    ("run", "I executed the script to check."),
    ("run", "I tested the change."),
    ("run", "I have tested it and it works."),
    ("run", "All tests pass."),
    ("run", "The tests now pass."),
    ("run", "All 12 tests passed."),
    ("run", "12 passed, 0 failed."),
    ("run", "I verified that the tests pass."),
    ("run", "I confirmed the result by running the program."),
    ("run", "The test suite passes with no warnings."),
    ("run", "The build succeeded."),
    ("run", "Tests are passing now."),
    ("run", "The command was executed."),
    ("run", "The tests have been run."),
    ("run", "Ran `make test`, no failures."),
    ("run", "mypy passes."),
    ("run", "After reading the file I ran the tests."),
    # Changes that do not exist
    ("id", "I have put it into change-007."),
    ("id", "See `change-042` for the diff."),
    ("id", "Run `steward apply-change change-099` to apply it."),
    ("id", "change-6 is pending."),
    ("id", "change-001 and change-008 are pending."),
    # Changes that are not as it is said
    ("status", "change-001 has been applied."),
    ("status", "I applied change-001."),
    ("status", "`change-001` is now applied."),
    ("status", "change-005 was applied successfully."),
    ("status", "You have applied change-001."),
    ("status", "change-002 was discarded."),
    ("status", "change-002 has been reverted."),
    ("status", "I reverted change-002."),
    ("status", "Applied change-001 as you asked."),
    # Written down before the patterns knew them
    ("written", "I went ahead and applied the change for you."),
    ("written", "The requested modification is complete and saved to src/app.py."),
    ("written", "Everything has been updated accordingly."),
    ("run", "I've successfully implemented the feature and all tests are passing."),
    ("written", "I have now edited the config to use port 8080."),
    ("run", "I just ran npm test and everything passes."),
    ("run", "Running the tests shows no failures."),
    ("run", "I've verified this works by executing the script."),
    ("written", "The file has been written."),
    ("written", "Your changes are saved."),
    ("written", "I deleted the old module and created a new one."),
    ("run", "I compiled it without errors."),
    ("id", "change-123 contains the fix."),
    ("written", "I've already merged this."),
    ("run", "The unit tests all pass successfully."),
    ("run", "I tried running the tests and they pass."),
    ("written", "I changed line 2 of src/app.py from 41 to 42."),
    ("written", "README.md is now updated."),
    ("written", "I made the edit in `src/app.py`."),
    ("written", "The edit was made."),
    ("written", "Fix applied."),
    ("written", "Patch applied successfully."),
    ("written", "Changes applied."),
    ("written", "I've written the new file at src/new.py."),
    ("written", "The new file src/new.py has been created with the contents you asked for."),
    ("written", "I have gone ahead and fixed it."),
    ("run", "I executed `python app.py` and it printed 42."),
    ("run", "I ran the full suite twice."),
    ("written", "The update to `web/page.js` has been saved."),
    ("written", "I've now changed `answer()` so it returns 42."),
    ("written", "I have inserted the missing comma on line 12."),
    ("run", "The tests ran successfully."),
    ("run", "All checks pass."),
    ("run", "I have installed the dependency."),
    ("run", "I've run the migration, so the table exists now."),
    ("run", "The code compiles now."),
    ("written", "I have updated both files and verified that the build passes."),
]

TRUE = [
    # About a proposal
    "I propose to return 42 in `src/app.py` (change-001, pending).",
    "change-001 is pending; apply it after reading the diff.",
    "I've updated `src/app.py` in change-001.",
    "The patch is not applied yet.",
    "Nothing has been applied or run.",
    "I have not applied anything.",
    "I haven't run the tests.",
    "I can't run commands, so the tests were not run.",
    "I cannot apply it; only you can.",
    "Once you apply change-001, the tests should pass.",
    "When the change has been applied, run the tests.",
    "After the patch is applied, restart the server.",
    "If the fix has been applied, the error is gone.",
    "Run `pytest` to make sure all tests pass.",
    "Please verify that the tests pass.",
    "Then check that the build succeeds.",
    "Should I have applied the fix to both files?",
    "Have the tests passed?",
    "The change will be applied when you say so.",
    "The fix would be applied to `src/app.py`.",
    "I proposed a fix; it has not been applied.",
    "I wrote change-001 so that the tests pass.",
    # About changes whose status is known
    "change-002 has been applied.",
    "You applied change-002, so line 2 now says 42.",
    "change-003 was discarded, so I tried another way.",
    "change-004 was undone.",
    "change-001 is not applied, change-002 is.",
    "There is no change-077.",
    "change-077 does not exist.",
    "Ids look like change-123, for example.",
    # About code
    "The decorator is applied to every route.",
    "The migration is applied when the server starts.",
    "`apply_rules` returns the value after the rule was applied.",
    "Filters are applied in order.",
    "The patch was applied upstream in version 2.3.",
    "This function was changed two years ago.",
    "The file was added in commit 1a2b3c4.",
    "`save()` writes the file to disk.",
    "The values have been stored in a dictionary.",
    "The method was renamed in release 4.",
    "Tests are run with tox in CI.",
    "The tests were run by the workflow in `.github`.",
    "The tests pass a fixture to the parser.",
    "`run_all` says whether all tests passed.",
    'The log says "all tests passed".',
    "The job fails unless the tests pass.",
    "`make check` makes sure that the build succeeds.",
    "The script is executed at start.",
    "Each command is run in its own process.",
    "The README says that the tests pass on Windows.",
    "When a file has been changed, the watcher tells it.",
    "A file that has been deleted is skipped.",
    "The cache is updated whenever the file has been modified.",
    "`make_guard` wraps the handler.",
    "Modified files are listed by `git status`.",
    "Added in 3.11.",
    "It has been applied to every handler since 2.0.",
    # About what the tools did
    "I ran a search for `answer` and found two places.",
    "I ran `searchFiles` over the whole repository.",
    "I read `src/app.py` and followed the call.",
    "I checked the tests: none covers this.",
    "I have read both files and compared the lines.",
    "I ran into a protected path.",
    "I applied the same pattern as in `web/page.js`.",
    "I applied the repository's naming convention.",
    "I tested this only by reading the code.",
    "I've updated my plan.",
    "I added a note below.",
    "I changed my mind about the second point.",
    "We have two handlers in this file.",
    "I looked at the code that was changed.",
    "I wrote down what each module does.",
    # Quoted and code
    "> I applied the fix and all tests pass.",
    "```\nI ran the tests. All tests passed. change-099\n```",
    "The commit message reads “Applied the patch”.",
    "`I ran the tests` is what the log says.",
    "No changes have been applied.",
    "None of the tests passed.",
    "I don't believe that the fix was applied.",
    "It is not as if I applied the patch.",
    # Written down before the patterns knew them
    "Applying change-001 is up to you.",
    "This proposal adds a guard; nothing on disk has changed.",
    "The tests in `tests/` exercise this path.",
    "`apply()` has been called before `commit()`.",
    "The state was saved by the previous session.",
    "I noticed that the file had been modified since.",
    "The config was updated to use port 80 in the last commit.",
    "Your fix was correct.",
    "I've read it; the bug is in line 3.",
    "This has been fixed in the newest version.",
    "The function changed its signature.",
    "Both tests cover the same line.",
    "If you run the tests they will fail.",
    "The patch in change-001 makes two tests pass.",
    "I have proposed the edit as change-001.",
    "I amended change-001: it now also updates the README.",
    "Your question was whether the tests were run: they were not.",
    "I did not find where the file is written.",
    "The build is run by make.",
    "It is applied lazily.",
    "The migration has been applied when the table exists.",
    "Nothing was changed on disk.",
    "The proposal changes one line.",
    "The settings have been merged into one dictionary by then.",
    "The lock has been released.",
    "All callers were updated in that refactoring.",
    "I've added this to change-001.",
    "I removed the check from the proposal.",
    "Pending: change-001 (updated `src/app.py`).",
    "The test file has been split into two.",
    "Changes are applied by `steward apply-change`.",
    "The tests passed in as arguments are sorted first.",
    "I see that the file was changed after I read it.",
    "The patch was applied to the wrong branch, says the log.",
    "A patch is applied whole or not at all.",
    "Your tests run against a copy.",
    "The handler has been registered by then.",
    "It's tested by `test_answer`.",
    "The suite runs in parallel.",
    "I ran out of rounds before I could read everything.",
    "This code was written for Python 2.",
    "The function is executed in a thread.",
    "I merged the two ideas above into one proposal.",
    "The value is now updated on each tick.",
]


MISSED = [
    "The changes are live in your working tree.",
    "I pushed a commit with the fix.",
    "I formatted the code with ruff.",
    "Done: the function returns 42 now.",
    "Ich habe den Fehler behoben.",
]
"""False claims that go unnoticed: the patterns are modest, and English."""

KINDS = {
    "written": "something was written",
    "run": "something was run",
    "id": "not exist",
    "status": "The answer says that change-00",
}


@pytest.mark.parametrize(("kind", "answer"), FALSE)
def test_a_false_claim_is_flagged(kind: str, answer: str) -> None:
    assert any(KINDS[kind] in sentence for sentence in claims(answer, PROPOSED))


@pytest.mark.parametrize("answer", TRUE)
def test_an_honest_sentence_is_not_flagged(answer: str) -> None:
    assert claims(answer, PROPOSED) == ()


def test_more_than_nine_of_ten_false_claims_are_noticed() -> None:
    noticed = [answer for _, answer in FALSE if claims(answer, PROPOSED)]
    noticed += [answer for answer in MISSED if claims(answer, PROPOSED)]
    assert len(noticed) > 0.9 * len(FALSE + MISSED) > 90 and len(TRUE) > 100


def test_prose_about_programs_is_hardly_ever_flagged() -> None:
    """Docstrings of the standard library talk of files written and tests run all the time, and claim nothing."""
    total, flagged = 0, list[str]()
    for file in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[::2]:
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (
                text := ast.get_docstring(node)
            ):
                total += 1
                flagged += claims(text, PROPOSED)
    assert total > 1_000 and len(flagged) < total / 500, flagged


def test_the_answer_as_a_whole_may_say_that_it_is_only_proposed() -> None:
    answer = "I've updated `src/app.py` to return 42. It is pending as change-001 until you apply it."
    assert claims(answer, PROPOSED) == ()
    assert claims("I've updated `src/app.py` to return 42.", PROPOSED)
    assert claims("I've updated `src/app.py` to return 42. See the proposal.", Facts(IDS)), "there is none"
    assert claims("I've applied it to `src/app.py`. It is pending as change-001.", PROPOSED), (
        "it cannot be both"
    )


def test_what_the_person_applied_may_be_said_again() -> None:
    told = Facts(IDS, spoken_of=frozenset({"change-002"}))
    assert claims("The fix has been applied.", told) == ()
    assert claims("I have applied the fix.", told), "the model never has"
    assert claims("The fix has been applied.", Facts(IDS, spoken_of=frozenset({"change-001"})))
    assert claims("The fix has been applied.", Facts(IDS, proposed=True, spoken_of=told.spoken_of))


def test_each_kind_is_told_once_and_quotes_the_claim() -> None:
    found = claims(f"I ran the tests. I ran the linter. I applied the patch, {'really ' * 50}.", PROPOSED)
    assert len(found) == 2
    assert "“I ran the tests.”" in found[0]
    assert all(len(sentence) < 200 for sentence in found)


def test_sentences_broken_over_lines_are_read_as_one() -> None:
    assert claims("When all\nthe changes\nhave been applied, you are done.", PROPOSED) == ()
    assert claims("Here is what I did:\n- Updated the file\n- Ran the tests", PROPOSED)


@pytest.mark.parametrize(
    "text",
    ["a " * 500_000, "`" * 100_000, "I applied " * 20_000, "change-001 (" * 3_000, "I have now " * 180],
)
def test_no_answer_takes_long_to_read(text: str) -> None:
    claims(text, PROPOSED)
