"""Runs something as a user for whom permissions count, whoever runs the tests."""

from __future__ import annotations

import os
import pickle
import traceback
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

NOBODY = 65534


def as_common_user(work: Callable[[], T]) -> T:
    """What ``work`` returns (it must be picklable) when nobody runs it, in a child process."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        answer: tuple[bool, Any]
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            answer = (True, work())
        except BaseException:
            answer = (False, traceback.format_exc())
        with open(writing, "wb") as pipe:
            pickle.dump(answer, pipe)
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        done, value = pickle.load(pipe)
    os.waitpid(child, 0)
    assert done, value
    return value
