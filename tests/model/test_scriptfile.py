"""Scripts are checked when they are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from steward.errors import ConfigError, NoSuchThing
from steward.model.scriptfile import parse_script, read_script

WRONG = {
    "{": "not JSON",
    "[]": "not a JSON object",
    '{"txet": "a"}': "unknown key 'txet'",
    '{"text": 1}': "text must be a string",
    '{"chunk": 0}': "chunk must be at least 1",
    '{"chunk": true}': "chunk must be a whole number",
    '{"delay": -1}': "delay must lie",
    '{"calls": {}}': "calls must be an array",
    '{"calls": [1]}': "a call must be an object",
    '{"calls": [{"arguments": {}}]}': "a call needs a name",
    '{"calls": [{"name": "a", "args": {}}]}': "unknown key 'args'",
    '{"calls": [{"name": "a", "arguments": []}]}': "must be an object or a string",
    '{"deltas": ["x"]}': "each of the deltas",
    '{"error": {"code": 1}}': "unknown key 'code'",
    '{"usage": {"tokens": 1}}': "unknown key 'tokens'",
    '{"finish": 1}': "finish must be a string or null",
}


@pytest.mark.parametrize(("line", "says"), WRONG.items())
def test_a_wrong_line_is_named_by_its_number(line: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says) as error:
        parse_script("s.jsonl", f'{{"text": "fine"}}\n\n{line}\n')
    assert "Line 3 of the script s.jsonl" in str(error.value)


def test_all_keys_together_are_right() -> None:
    line = (
        '{"text": "a", "reasoning": "b", "calls": [{"name": "x", "arguments": "{raw", "id": "1"}], "finish": null,'
        ' "error": {"kind": "server", "status": 500, "message": "m", "retry_after": 1, "after": true}, "chunk": 3,'
        ' "delay": 0.5, "usage": {"prompt": 1, "completion": 2, "cached": 0, "cost": 0.1}, "deltas": [{}], "note": "n"}'
    )
    assert len(parse_script("s", line)) == 1


def test_line_separators_inside_strings_do_not_end_a_line() -> None:
    assert parse_script("s", '{"text": "a\u2028b\x85c"}')[0]["text"] == "a\u2028b\x85c"


def test_files_that_cannot_be_read_are_told_without_their_folders(tmp_path: Path) -> None:
    with pytest.raises(NoSuchThing) as missing:
        read_script(tmp_path / "none.jsonl")
    with pytest.raises(ConfigError) as folder:
        read_script(tmp_path)
    (tmp_path / "latin").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError) as latin:
        read_script(tmp_path / "latin")
    for error in (missing, folder, latin):
        assert str(tmp_path.parent) not in str(error.value)


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parents[2] / "fixtures" / "scripts").glob("*.jsonl")), ids=lambda p: p.name
)
def test_the_scripts_that_ship_are_right(path: Path) -> None:
    assert read_script(path).entries


def test_a_script_without_an_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steward.model.scriptfile.MAX_BYTES", 1_000)
    with pytest.raises(ConfigError, match="zero is larger than 1000 bytes"):
        read_script(Path("/dev/zero"))
