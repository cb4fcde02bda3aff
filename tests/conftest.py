"""What the shell around the tests has set cannot reach them: settings, keys, proxies, colours, ignored signals."""

from __future__ import annotations

import os
import re
import signal

_SET_FOR_TESTS = "STEWARD_PICTURES"
_OTHERS = re.compile(
    r"STEWARD_.*|TEXTUAL.*|.*_API_KEY|.*_API_BASE|.*_BASE_URL|NO_COLOR|FORCE_COLOR|COLORTERM|COLORFGBG"
    r"|PYTHONWARNINGS|PYTHONOPTIMIZE|GIT_.*|(?:HTTP|HTTPS|ALL|NO)_PROXY",
    re.IGNORECASE,
)

for _name in [name for name in os.environ if name != _SET_FOR_TESTS and _OTHERS.fullmatch(name)]:
    del os.environ[_name]

# What runs in the background of a script or under nohup ignores these, and hands that down to every program it starts.
for _number, _usual in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGQUIT, signal.SIG_DFL),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _usual)
