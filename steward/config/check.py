"""The schema at work: what a file or a variable says is checked by pydantic, which is imported no earlier."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass as schema
from pydantic.fields import FieldInfo

from steward.config.settings import Section

S = TypeVar("S", bound=Section)


def checked(kind: type[S], shape: Mapping[str, Any]) -> S:
    """The section that ``shape`` describes. Raises ``ValidationError``."""
    found = _adapter(kind).validate_python(shape)
    _note(found, shape)
    return cast(S, found)


@lru_cache(maxsize=64)
def field_infos(kind: type[Section]) -> Mapping[str, FieldInfo]:
    """What pydantic knows of the fields of a section: type, bounds, default, and the words below each."""
    found: Any = schema(kind, frozen=True)
    infos = cast(Mapping[str, FieldInfo], found.__pydantic_fields__)
    for name, words in _words(kind):
        infos[name].description = words
    return infos


def _words(kind: type[Section]) -> Iterator[tuple[str, str]]:
    """The text below each field in the source of a section."""
    body = cast(ast.ClassDef, ast.parse(inspect.getsource(kind)).body[0]).body
    for field, below in pairwise(body):
        match field, below:
            case ast.AnnAssign(target=ast.Name(name)), ast.Expr(ast.Constant(str(words))):
                yield name, words
            case _:
                pass


@lru_cache(maxsize=64)
def _adapter(kind: type[Section]) -> TypeAdapter[Section]:
    return TypeAdapter(kind)


def _note(section: Section, shape: Mapping[str, Any]) -> None:
    """Let every section know which of its keys were said."""
    object.__setattr__(section, "said", frozenset(shape))
    for field in fields(section):
        inner = getattr(section, field.name)
        if isinstance(inner, Section) and isinstance(shape.get(field.name), Mapping):
            _note(inner, cast(Mapping[str, Any], shape[field.name]))
