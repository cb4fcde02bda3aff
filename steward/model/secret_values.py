"""Which values are secret, by the names under which variables and options hold them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import cast

_NAMES = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS|AUTHORIZATION)$", re.IGNORECASE)


def secrets_in(value: object, name: str = "") -> Iterator[str]:
    """Texts in an environment, or in options, whose names say that they are secret; of extra headers all."""
    if isinstance(value, Mapping):
        for key, inner in cast(Mapping[object, object], value).items():
            yield from secrets_in(inner, "authorization" if name == "extra_headers" else str(key))
    elif isinstance(value, str) and _NAMES.search(name):
        yield value
