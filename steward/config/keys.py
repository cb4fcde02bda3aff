"""The names of all settings, in dotted form, as the schema has them."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from steward.config.settings import Settings


def fields(model: type[BaseModel] = Settings, prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """Every setting with its field."""
    for key, field in model.model_fields.items():
        inner: object = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from fields(inner, f"{prefix}{key}.")
        else:
            yield prefix + key, field


def known_keys(model: type[BaseModel] = Settings, prefix: str = "") -> Iterator[str]:
    """Every setting in dotted form."""
    for key, _ in fields(model, prefix):
        yield key


def kind_of(field: FieldInfo) -> Literal["text", "list", "table", "value"]:
    """How a setting is written."""
    annotation: Any = field.annotation
    origin = get_origin(annotation) or annotation
    if origin is str or (origin is Literal and all(isinstance(c, str) for c in get_args(annotation))):
        return "text"
    if origin in (types.UnionType,):
        return "value"
    return "list" if origin in (tuple, list) else "table" if origin is dict else "value"


SCALARS = {key: kind for key, field in fields() if (kind := kind_of(field)) != "table"}
"""Settings that a variable can hold, and how they are written."""
