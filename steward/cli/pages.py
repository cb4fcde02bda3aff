"""What ``--help`` says of a command below its options: how it ends, and what it is used like."""

from __future__ import annotations

from dataclasses import dataclass

EXIT_CODES: dict[int, str] = {
    0: "done",
    1: "failed",
    2: "wrong usage or configuration",
    3: "refused because stale or conflicting",
    4: "no such thing",
    5: "needs a person",
    130: "interrupted",
}


@dataclass(frozen=True, slots=True)
class Page:
    """Ends and uses of one command."""

    ends: dict[int, str]
    """Exit codes that say more for this command than in general; 0, 2 and 130 go with all."""
    examples: tuple[str, ...] = ()


_CHANGE = {4: "there is no such change", 3: "its state does not allow it"}

PAGES: dict[str, Page] = {
    "open": Page(
        {4: "there is no such session", 5: "there is no terminal"}, ("steward", "steward services/billing")
    ),
    "ask": Page(
        {
            1: "no answer, or none that fits the schema, or a bound was met",
            4: "there is no such file, session or profile",
            130: "interrupted by ctrl+c or a signal; what was done is stored",
        },
        (
            'steward ask "Where is tax worked out?"',
            'git diff | steward ask --no-proposals "What could go wrong here?"',
            'steward ask --json --max-cost 0.50 --max-rounds 20 "Mend the rounding." | jq -r ".changes[]"',
            'steward ask --schema answer.json --quiet "How many services are there?"',
            "steward ask --continue --file question.md",
        ),
    ),
    "changes": Page({}, ("steward changes", "steward changes --all --json")),
    "show-change": Page(
        _CHANGE, ("steward show-change", "steward show-change 3 --format patch | git apply --check")
    ),
    "apply-change": Page(
        {
            1: "a person said no, or the disk failed; nothing was changed",
            3: "a file changed meanwhile, the stamp is another one, or it is no longer pending; nothing was written",
            4: "there is no such change",
            5: "neither a terminal nor --stamp",
        },
        ("steward apply-change", "steward apply-change change-003 --stamp 3f9a-1c2d-77b0"),
    ),
    "discard-change": Page(_CHANGE, ('steward discard-change 3 --reason "The test belongs elsewhere."',)),
    "undo-change": Page(
        {
            3: "a file no longer holds what the change wrote; nothing was written",
            4: "there is no such change",
        },
        ("steward undo-change", "steward undo-change 3"),
    ),
    "rebase-change": Page(
        {3: "its old text is no longer at one place alone", 4: "there is no such change"},
        ("steward rebase-change 3 && steward show-change 3",),
    ),
    "propose": Page(
        {
            1: "a path is refused, or a file is there already or missing",
            3: "a hunk does not fit the files as they are",
            4: "there is no such patch file",
        },
        (
            'git diff main | steward propose --patch - --title "Mend the rounding"',
            "git format-patch --stdout main.. | steward propose --patch -",
            "steward propose --patch fix.patch --json",
        ),
    ),
    "instructions": Page(
        {4: "there is no such workspace"},
        (
            "steward instructions services/billing/tax.py",
            "steward instructions --json | jq -r '.documents[].path'",
        ),
    ),
    "tool": Page(
        {1: "the call was refused"},
        (
            """steward tool readFile '{"path": "README.md"}'""",
            """echo '{"query": "tax_cents"}' | steward tool searchFiles -""",
        ),
    ),
    "skills": Page({1: "a skill that was checked is wrong"}, ("steward skills", "steward skills --json")),
    "trust": Page(
        {1: "a person said no", 5: "neither a terminal nor --yes"},
        ("steward trust", "steward trust --read", "steward trust --yes"),
    ),
    "config": Page({}, ("steward config", "steward config edit", "steward config template")),
    "sessions": Page(
        {4: "there is no such session"},
        ("steward sessions", 'steward sessions --search "tax rounding" --json'),
    ),
    "replay": Page(
        {1: "a request is not as recorded", 4: "there is no such file"}, ("steward replay session.jsonl",)
    ),
    "rename-session": Page(
        {4: "there is no such session"}, ("steward rename-session 4b5a Mend the rounding",)
    ),
    "delete-session": Page({4: "there is no such session"}, ("steward delete-session 20261130-4b5a31d8",)),
    "doctor": Page({1: "a check failed"}, ("steward doctor", "steward doctor --model-too --json")),
    "check-model": Page(
        {1: "the model is unfit, or could not be asked"},
        ("steward check-model ollama/qwen3", "steward check-model --tries 1"),
    ),
    "help": Page({4: "there is no such topic"}, ("steward help", "steward help review", "steward help ask")),
    "completion": Page({}, ('eval "$(steward completion bash)"', 'eval "$(steward completion zsh)"')),
    "acp": Page({}, ("steward acp", "steward acp --model ollama/qwen3")),
}


def below(name: str) -> str:
    """The text below the options of that command, in click's own form."""
    page = PAGES[name]
    ends = {code: words for code, words in EXIT_CODES.items() if code in (0, 2, 130)} | page.ends
    rows = [f"  {code:<4} {ends[code]}" for code in sorted(ends)]
    parts = ["\n".join(["\b", "Exit codes:", *rows])]
    if page.examples:
        parts.insert(0, "\n".join(["\b", "Examples:", *(f"  {example}" for example in page.examples)]))
    return "\n\n".join(parts)
