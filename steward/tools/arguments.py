"""The arguments of a tool as plain values: one declaration, which calls are checked against and a model is told of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cache
from types import NoneType
from typing import Any, ClassVar, Self, get_args, get_type_hints

from steward.conversation import JsonObject

_NAMES: dict[type, tuple[str, str]] = {
    str: ("string", "text"),
    bool: ("boolean", "true or false"),
    int: ("integer", "a whole number"),
}
"""What a type is called in a schema, and in a sentence."""

_ELSEWHERE: dict[str, tuple[str, ...]] = {
    "path": ("file", "filename", "filepath", "targetfile", "relativepath", "directory", "dir"),
    "oldText": ("oldstring", "oldstr", "old", "search", "searchtext", "find", "original"),
    "newText": (
        "newstring",
        "newstr",
        "new",
        "replace",
        "replacement",
        "replacewith",
        "content",
        "contents",
        "text",
    ),
    "query": ("pattern", "search", "searchterm", "regexp", "text", "q"),
    "startLine": ("offset", "start", "line", "from", "linestart"),
    "lineCount": ("limit", "count", "lines", "maxlines", "numlines"),
    "renameTo": ("newpath", "moveto", "destination", "to"),
    "deleteFile": ("delete", "remove"),
    "ignoreCase": ("caseinsensitive", "i"),
    "command": ("skill", "name", "skillname"),
}
"""What other programs call the parameters of their tools, without case and signs: models mix them up."""


@dataclass(frozen=True, slots=True)
class About:
    """What a model is told of a parameter; ``least`` and ``most`` are bounds of a number."""

    text: str
    least: int | None = None
    most: int | None = None

    def allows(self, number: int) -> bool:
        """Whether a number is within the bounds."""
        return (self.least is None or self.least <= number) and (self.most is None or number <= self.most)


class WrongArguments(ValueError):
    """Arguments that do not fit; ``faults`` are the ends of sentences, one for each."""

    def __init__(self, faults: tuple[str, ...]) -> None:
        super().__init__("; ".join(faults))
        self.faults = faults


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter, as it was declared."""

    name: str
    kind: type
    """``str``, ``bool`` or ``int``: the exact type, so that neither ``true`` nor ``1.0`` is a number."""
    optional: bool
    """Whether null means that it was left out."""
    about: About
    default: Any = MISSING

    def fault(self, value: object) -> str:
        """What is wrong with a value, empty when nothing is."""
        if value is None and self.optional:
            return ""
        if type(value) is not self.kind:
            return f"{self.name} must be {self._wanted()}"
        if isinstance(value, int) and not self.about.allows(value):
            return f"{self.name} must be {self._wanted()}"
        return ""

    def schema(self) -> JsonObject:
        """The parameter in JSON Schema."""
        bounds = (("maximum", self.about.most), ("minimum", self.about.least))
        told = {} if self.default is MISSING or self.default is None else {"default": self.default}
        told["description"] = self.about.text
        told |= {key: bound for key, bound in bounds if bound is not None}
        return {**told, "type": _NAMES[self.kind][0]}

    def _wanted(self) -> str:
        least, most = self.about.least, self.about.most
        bounds = [f"at least {least}"] * (least is not None) + [f"at most {most}"] * (most is not None)
        return _NAMES[self.kind][1] + (f" of {' and '.join(bounds)}" if bounds else "")


@dataclass(frozen=True, slots=True)
class Arguments:
    """Arguments of a tool: exact names, exact types, nothing beyond.

    A field is an ``Annotated[…, About(…)]`` of ``str``, ``bool``, ``int``, or one of them ``| None``.
    """

    told_required: ClassVar[tuple[str, ...]] = ()
    """Parameters that a model is told to give always, although a call without them is understood."""

    @classmethod
    def parse(cls, shape: Mapping[str, object]) -> Self:
        """The arguments that a parsed call holds. Raises ``WrongArguments``."""
        known = parameters(cls)
        faults = [
            parameter.fault(shape[name]) if name in shape else f"{name} is missing"
            for name, parameter in known.items()
            if name in shape or parameter.default is MISSING
        ]
        faults += [_unknown(name, known) for name in shape if name not in known]
        if found := tuple(filter(None, faults)):
            raise WrongArguments(found)
        return cls(**shape)

    @classmethod
    def schema(cls) -> JsonObject:
        """Their JSON Schema."""
        known = parameters(cls)
        required = cls.told_required or tuple(n for n, p in known.items() if p.default is MISSING)
        return {
            "additionalProperties": False,
            "description": cls.__doc__ or "",
            "properties": {name: parameter.schema() for name, parameter in known.items()},
            **({"required": list(required)} if required else {}),
            "type": "object",
        }


@cache
def parameters(arguments: type[Arguments]) -> dict[str, Parameter]:
    """The parameters that a class of arguments declares, by name."""
    hints = get_type_hints(arguments, include_extras=True)
    found: dict[str, Parameter] = {}
    for field in fields(arguments):
        plain, about = get_args(hints[field.name])
        kinds = get_args(plain) or (plain,)
        (kind,) = (one for one in kinds if one is not NoneType)
        found[field.name] = Parameter(field.name, kind, NoneType in kinds, about, field.default)
    return found


def _unknown(name: str, known: Mapping[str, Parameter]) -> str:
    """What is wrong with a name, and which parameter goes by it elsewhere."""
    plain = "".join(filter(str.isalnum, name)).lower()
    meant = [one for one in known if plain == one.lower() or plain in _ELSEWHERE.get(one, ())]
    return f"{name} is not a parameter{f', {meant[0]} is' if meant else ''}"
