"""The names of all settings, in dotted form, as the schema has them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields as fields_of
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from steward.config.settings import Section, Settings

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo


def fields(section: type[Section] = Settings, prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """Every setting with its field."""
    from steward.config.check import field_infos

    infos = field_infos(section)
    for field in fields_of(section):
        if isinstance(field.default, Section):
            yield from fields(type(field.default), f"{prefix}{field.name}.")
        else:
            yield prefix + field.name, infos[field.name]


def known_keys(section: type[Section] = Settings, prefix: str = "") -> Iterator[str]:
    """Every setting in dotted form."""
    for field in fields_of(section):
        if isinstance(field.default, Section):
            yield from known_keys(type(field.default), f"{prefix}{field.name}.")
        else:
            yield prefix + field.name


def kind_of(field: FieldInfo) -> Literal["text", "list", "table", "value"]:
    """How a setting is written."""
    annotation: Any = field.annotation
    origin = get_origin(annotation) or annotation
    if origin is str or (origin is Literal and all(isinstance(c, str) for c in get_args(annotation))):
        return "text"
    return "list" if origin in (tuple, list) else "table" if origin is dict else "value"


@cache
def scalars() -> dict[str, str]:
    """Settings that a variable can hold, and how they are written."""
    return {key: kind for key, field in fields() if (kind := kind_of(field)) != "table"}
