"""``ask --schema``: a JSON answer that fits a JSON Schema."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path
from typing import Any, cast

from steward.cli.named_file import read_named
from steward.conversation import JsonObject
from steward.errors import StewardError, UsageError

MAX_BYTES = 1_048_576

_PROBES: tuple[Any, ...] = (None, True, 0, "", [], {})
"""A value of each type: following the schema for them shows references that lead round in a circle."""


_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


class SchemaMismatch(StewardError):
    """The answer is no JSON value that fits."""


class AnswerSchema:
    """A schema from a file. References lead inside it only; nothing is fetched.

    Whatever is wrong with it is found before a model is asked: ``UsageError``, or ``NoSuchThing`` for the file.
    """

    def __init__(self, file: Path) -> None:
        self.shape = _read(file)
        library: Any = importlib.import_module("jsonschema")
        referencing: Any = importlib.import_module("referencing")
        try:
            kind = library.validators.validator_for(self.shape, default=library.Draft202012Validator)
            kind.check_schema(self.shape)
            resource = importlib.import_module("referencing.jsonschema").specification_with(
                kind.META_SCHEMA["$schema"]
            )
            _resolve_all(referencing.Registry(), resource.create_resource(self.shape))
            self._validator: Any = kind(self.shape, registry=referencing.Registry())
            for probe in _PROBES:
                self._validator.is_valid(probe)
        except library.SchemaError as error:
            raise UsageError(f"{file.name} is not a JSON Schema: {_first_line(error.message)}.") from None
        except RecursionError:
            raise UsageError(
                f"{file.name} cannot be followed: it is too deep, or leads round in a circle."
            ) from None
        except referencing.exceptions.Unresolvable as error:
            raise UsageError(
                f"{file.name} cannot be followed: {error.ref} is not in it, and nothing is fetched."
            ) from None
        except Exception as error:
            raise UsageError(f"{file.name} is not a JSON Schema: {_first_line(str(error))}.") from None

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
            value: Any = json.loads(fenced[1] if fenced else answer, parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            raise SchemaMismatch("The answer is not one JSON value.") from None
        try:
            error = next(iter(self._validator.iter_errors(value)), None)
        except RecursionError:
            raise SchemaMismatch("The answer is too deep to be held against the schema.") from None
        except Exception as failure:
            raise UsageError(f"The schema cannot be followed: {_first_line(str(failure))}.") from None
        if error is not None:
            where = "".join(f"[{part!r}]" for part in error.absolute_path)
            at = f" at {where}" if where else ""
            raise SchemaMismatch(f"The answer does not fit the schema{at}: {_first_line(error.message)}.")
        return value


def _read(file: Path) -> Any:
    """The value in the file that a schema may be: an object, true or false."""
    data = read_named(file, MAX_BYTES)
    try:
        shape: Any = json.loads(data, parse_constant=_refuse_constant)
    except ValueError:
        raise UsageError(f"{file.name} is not a JSON Schema: it is not JSON.") from None
    except RecursionError:
        raise UsageError(f"{file.name} cannot be followed: it is too deep.") from None
    if type(shape) not in (dict, bool):
        raise UsageError(f"{file.name} is not a JSON Schema: it is neither an object nor true or false.")
    return shape


def _resolve_all(registry: Any, resource: Any) -> None:
    """Look up every reference of the schema. Raises ``Unresolvable`` for the first that leads out of it."""
    waiting = [(registry.resolver_with_root(resource), resource)]
    while waiting:
        resolver, here = waiting.pop()
        for reference in _references(here.contents):
            resolver.lookup(reference)
        waiting += [(resolver.in_subresource(inner), inner) for inner in here.subresources()]


def _references(contents: object) -> list[str]:
    shape = cast(JsonObject, contents) if isinstance(contents, dict) else {}
    return [shape[key] for key in _REFERENCES if isinstance(shape.get(key), str)]


def _refuse_constant(name: str) -> Any:
    """NaN and Infinity are Python's, not JSON's."""
    raise ValueError(name)


def _first_line(text: str) -> str:
    first = text.strip().split("\n", 1)[0].rstrip(".")
    return first if len(first) <= 200 else first[:199] + "…"
