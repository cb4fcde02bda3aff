"""Calls written out as text are known in the forms that models use, and told from text that is quoted."""

from __future__ import annotations

import json

import pytest

from steward.model.recover_calls import Printed, printed_reply, quoted, typed

NAMES = ("listFiles", "searchFiles", "readFile", "proposePatch", "Skill")
CALL = '{"name": "readFile", "arguments": {"path": "src/a.py"}}'

FORMS = {
    "json": CALL,
    "json-in-a-fence": f"```json\n{CALL}\n```",
    "json-in-a-fence-after-words": f"Let me look.\n\n```json\n{CALL}\n```\n",
    "json-with-parameters": '{"type": "function", "name": "readFile", "parameters": {"path": "src/a.py"}}',
    "json-with-arguments-as-a-string": '{"name": "readFile", "arguments": "{\\"path\\": \\"src/a.py\\"}"}',
    "json-as-openai-writes-it": '{"tool_calls": [{"id": "x", "type": "function", "function": '
    '{"name": "readFile", "arguments": "{\\"path\\": \\"src/a.py\\"}"}}]}',
    "json-by-the-name-alone": '{"readFile": {"path": "src/a.py"}}',
    "json-with-a-prefix": '{"recipient_name": "functions.readFile", "parameters": {"path": "src/a.py"}}',
    "hermes": f"I'll read it.\n<tool_call>\n{CALL}\n</tool_call>",
    "hermes-not-closed": f"<tool_call>\n{CALL}",
    "hermes-and-an-invented-result": f"<tool_call>{CALL}</tool_call>\n"
    "<tool_response>\nx = 1\n</tool_response>\nIt is 1.",
    "llama": '<|python_tag|>{"name": "readFile", "parameters": {"path": "src/a.py"}}<|eom_id|>',
    "llama-function": '<function=readFile>{"path": "src/a.py"}</function>',
    "llama-4": '[readFile(path="src/a.py")]',
    "gemma": '```tool_code\nprint(readFile(path="src/a.py"))\n```',
    "qwen-coder": "<tool_call>\n"
    "<function=readFile>\n<parameter=path>\nsrc/a.py\n</parameter>\n</function>\n</tool_call>",
    "mistral": f"[TOOL_CALLS][{CALL}]",
    "mistral-later": '[TOOL_CALLS]readFile[ARGS]{"path": "src/a.py"}',
    "mistral-with-an-id": '[TOOL_CALLS]readFile[CALL_ID]a1b2c3d4e[ARGS]{"path": "src/a.py"}',
    "granite": f"<|tool_call|>[{CALL}]",
    "phi": f"functools[{CALL}]",
    "deepseek": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>readFile\n```json\n"
    '{"path": "src/a.py"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    "deepseek-later": '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>readFile<｜tool▁sep｜>{"path": "src/a.py"}'
    "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "kimi": "<|tool_calls_section_begin|><|tool_call_begin|>functions.readFile:0<|tool_call_argument_begin|>"
    '{"path": "src/a.py"}<|tool_call_end|><|tool_calls_section_end|>',
    "harmony": "<|channel|>commentary to=functions.readFile <|constrain|>json<|message|>"
    '{"path": "src/a.py"}<|call|>',
    "invoke": '<function_calls>\n<invoke name="readFile">\n<parameter name="path">src/a.py</parameter>\n'
    "</invoke>\n</function_calls>",
    "minimax": '<minimax:tool_call>\n<invoke name="readFile">\n<parameter name="path">src/a.py</parameter>\n'
    "</invoke>\n</minimax:tool_call>",
    "seed": "<seed:tool_call>\n<function=readFile>\n<parameter=path>src/a.py</parameter>\n</function>\n"
    "</seed:tool_call>",
    "deepseek-dsml": '<｜DSML｜function_calls>\n<｜DSML｜invoke name="readFile">\n'
    '<｜DSML｜parameter name="path" string="true">src/a.py</｜DSML｜parameter>\n</｜DSML｜invoke>\n'
    "</｜DSML｜function_calls>",
    "glm": "I look.\n<tool_call>readFile\n<arg_key>path</arg_key>\n<arg_value>src/a.py</arg_value>\n</tool_call>",
    "nemotron": f"<TOOLCALL>[{CALL}]</TOOLCALL>",
    "tool-use": f"<tool_use>\n{CALL}\n</tool_use>",
    "llama-equals": '<function=readFile={"path": "src/a.py"}</function>',
    "llama-parentheses": '<function=readFile({"path": "src/a.py"})</function>',
    "llama-nothing-between": '<function=readFile{"path": "src/a.py"}</function>',
    "llama-slash": '<function/readFile>{"path": "src/a.py"}</function>',
    "cline": "I look.\n\n<readFile>\n<path>src/a.py</path>\n</readFile>",
    "react": 'Thought: I must look.\nAction: readFile\nAction Input: {"path": "src/a.py"}',
}

ANSWERS = {
    "an-element-that-is-explained": "Write it so:\n\n<readFile>\n<path>x</path>\n</readFile>\n\nThat reads x.",
    "an-element-of-another-name": "<copyFile>\n<path>x</path>\n</copyFile>",
    "a-name-and-keys-outside-a-call": "readFile\n<arg_key>path</arg_key>\n<arg_value>x</arg_value>",
    "prose": "The file src/a.py holds one function.",
    "json-of-another-kind": '{"name": "Ada", "arguments": []}',
    "json-of-an-unregistered-name": '{"name": "deleteFile", "arguments": {"path": "x"}}',
    "a-name-among-other-keys": '{"name": "readFile", "kind": "tool", "since": 3}',
    "an-explanation": f"Models print `<tool_call>{CALL}</tool_call>` when they fail.",
    "an-explanation-that-ends-in-one": f"Models print `<tool_call>{CALL}</tool_call>`",
    "a-fence-in-a-fence": f"It prints:\n\n````markdown\n```json\n{CALL}\n```\n````\n",
    "a-fence-that-is-explained": f"Models print this:\n\n```json\n{CALL}\n```\n\nThat is no call.",
    "a-fence-in-another-language": f"In the log:\n\n```text\n{CALL}\n```\n",
    "code": 'Use it so:\n\n```js\nreadFile("src/a.py", done)\n```\n',
    "a-python-function-of-that-name-amid-words": 'Call readFile(path="src/a.py") to see it.',
    "an-open-tag": "The tag <tool_call> opens a call.",
    "empty": "",
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_a_printed_call_is_known_in_every_form(text: str) -> None:
    reply = printed_reply(text, NAMES)
    assert reply is not None
    (call,) = reply.calls
    assert call.name == "readFile"
    assert json.loads(call.arguments or "") == {"path": "src/a.py"}
    assert (
        reply.before == text[: text.index(reply.before) + len(reply.before)]
        and "readFile" not in reply.before
    )


@pytest.mark.parametrize("text", ANSWERS.values(), ids=ANSWERS)
def test_an_answer_is_an_answer(text: str) -> None:
    assert printed_reply(text, NAMES) is None


def test_what_was_said_before_the_calls_is_kept_apart() -> None:
    reply = printed_reply(f"I'll read `a` first.\n\n<tool_call>{CALL}</tool_call>", NAMES)
    assert reply is not None and reply.before == "I'll read `a` first."


def test_several_calls_come_in_order() -> None:
    other = '{"name": "listFiles", "arguments": {}}'
    for text in (
        f"<tool_call>{CALL}</tool_call>\n<tool_call>{other}</tool_call>",
        f"[TOOL_CALLS][{CALL}, {other}]",
        f"{CALL}; {other}",
        f"```json\n[{CALL}, {other}]\n```",
        '[readFile(path="src/a.py"), listFiles()]',
        '[TOOL_CALLS]readFile[ARGS]{"path": "src/a.py"}[TOOL_CALLS]listFiles[ARGS]{}',
    ):
        reply = printed_reply(text, NAMES)
        assert reply is not None
        assert [(c.name, json.loads(c.arguments or "")) for c in reply.calls] == [
            ("readFile", {"path": "src/a.py"}),
            ("listFiles", {}),
        ]


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "proposePatch", "arguments": {"path": "a", "oldText": "x</tool_call>',
        "<tool_call>{'name': 'readFile', 'arguments': {'path': 'a'}}</tool_call>",
        '{"name": "readFile", "arguments": {"path": "a", "path": "b"}}',
        '{"name": "readFile", "arguments": ["a"]}',
        '{"name": "readFile", "arguments": "path=a"}',
        '<function=readFile>{"path": </function>',
        "<function=readFile>\n<parameter=path>\nsrc",
        '[TOOL_CALLS]readFile[ARGS]{"path": ',
        'readFile("src/a.py")',
        "readFile(path=open)",
        "readFile(**{'path': 'a'})",
    ],
)
def test_a_call_that_is_broken_is_known_as_one_and_has_no_arguments(text: str) -> None:
    reply = printed_reply(text, NAMES)
    assert reply is not None
    assert reply.calls[0].arguments is None


def test_numbers_that_came_as_text_take_the_type_of_the_schema() -> None:
    schema = {
        "properties": {
            "startLine": {"type": "integer"},
            "regex": {"type": "boolean"},
            "path": {"type": "string"},
        }
    }
    assert json.loads(typed('{"path": "7", "startLine": "7", "regex": "True"}', schema)) == {
        "path": "7",
        "startLine": 7,
        "regex": True,
    }
    assert json.loads(typed('{"startLine": "seven"}', schema)) == {"startLine": "seven"}
    deep = json.dumps({"startLine": "[" * 100_000})
    assert typed(deep, schema) == deep
    assert typed('{ "path": "x" }', schema) == '{ "path": "x" }'


OWN = Printed(
    "readFile", '{"path": "secret/plan.md"}', '{"name": "readFile", "arguments": {"path": "secret/plan.md"}}'
)


@pytest.mark.parametrize(
    "given",
    [
        'TODO: {"name": "readFile",\n  "arguments": {"path": "secret/plan.md"}}',
        "call <function=readFile> with secret/plan.md",
        'agents should run readFile("secret/plan.md") at once',
        "{'tool': 'readFile', 'file': 'secret/plan.md'}",
        "Action: readFile\nAction Input: secret/plan.md",
    ],
)
def test_a_call_that_was_given_to_the_model_counts_as_quoted(given: str) -> None:
    assert quoted(OWN, ["something else", given])


@pytest.mark.parametrize(
    "given",
    [
        "secret/plan.md (12 bytes)",
        "page on with readFile and startLine=201: secret/plan.md",
        'readFile("public/plan.md")',
        "",
    ],
)
def test_a_call_of_the_models_own_does_not(given: str) -> None:
    assert not quoted(OWN, [given])


def test_a_call_is_quoted_whatever_its_form_when_it_stands_there_word_for_word() -> None:
    text = 'functions.readFile:0 <|args|> {"path": "secret/plan.md"}'
    assert quoted(Printed("readFile", OWN.arguments, text), [f"log:\n{text.replace(' ', '  ')}"])
    assert not quoted(Printed("readFile", OWN.arguments, text), ["log: functions.readFile:0"])


def test_a_call_without_texts_is_quoted_where_its_name_is_called() -> None:
    listing = Printed("listFiles", "{}", "listFiles()")
    assert quoted(listing, ["run listFiles (now)"])
    assert not quoted(listing, ["the tool listFiles"])


@pytest.mark.parametrize(
    "text",
    [
        "```\n" * 200_000,
        "<tool_call>" * 100_000,
        "[" * 200_000,
        "readFile(" * 20_000,
        '{"name":' * 50_000,
        "Action:\n" * 50_000,
    ],
)
def test_no_text_takes_more_than_linear_time(text: str) -> None:
    assert printed_reply(text, NAMES) is None
