"""``ask --schema``: a JSON answer that fits a JSON Schema."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path
from typing import Any

from steward.errors import StewardError, UsageError

MAX_BYTES = 1_048_576


class SchemaMismatch(StewardError):
    """The answer is no JSON value that fits."""


class AnswerSchema:
    """A schema from a file. References lead inside it only; nothing is fetched. ``UsageError`` when it is wrong."""

    def __init__(self, file: Path) -> None:
        try:
            with file.open("rb") as stream:
                data = stream.read(MAX_BYTES + 1)
            self.shape: Any = json.loads(data)
        except OSError as error:
            raise UsageError(f"{file} cannot be read: {(error.strerror or 'error').lower()}.") from None
        except ValueError:
            raise UsageError(f"{file} is not a JSON Schema: it is not JSON.") from None
        if len(data) > MAX_BYTES:
            raise UsageError(f"{file} is larger than {MAX_BYTES} bytes.")
        library: Any = importlib.import_module("jsonschema")
        registry: Any = importlib.import_module("referencing").Registry()
        kind = library.validators.validator_for(self.shape, default=library.Draft202012Validator)
        try:
            kind.check_schema(self.shape)
        except library.SchemaError as error:
            raise UsageError(f"{file} is not a JSON Schema: {_first_line(error.message)}.") from None
        self._validator: Any = kind(self.shape, registry=registry)

    @property
    def request(self) -> str:
        """What the model is told after the question."""
        text = json.dumps(self.shape, ensure_ascii=False)
        return (
            f"Answer with one JSON value alone, without any other word, that fits this JSON Schema:\n{text}"
        )

    def read(self, answer: str) -> Any:
        """The value in ``answer``, with or without a code fence around it. Raises ``SchemaMismatch``."""
        fenced = re.fullmatch(r"\s*```[a-zA-Z]*\n(.*)\n```\s*", answer, re.DOTALL)
        try:
            value: Any = json.loads(fenced[1] if fenced else answer)
        except ValueError:
            raise SchemaMismatch("The answer is not one JSON value.") from None
        try:
            error = next(iter(self._validator.iter_errors(value)), None)
        except Exception as failure:
            raise UsageError(f"The schema cannot be followed: {_first_line(str(failure))}.") from None
        if error is not None:
            where = "".join(f"[{part!r}]" for part in error.absolute_path)
            at = f" at {where}" if where else ""
            raise SchemaMismatch(f"The answer does not fit the schema{at}: {_first_line(error.message)}.")
        return value


def _first_line(text: str) -> str:
    first = text.strip().split("\n", 1)[0].rstrip(".")
    return first if len(first) <= 200 else first[:199] + "…"
