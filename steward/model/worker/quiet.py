"""Imports litellm so that it prints nothing, fetches nothing, loads no ``.env`` file and repeats nothing by itself."""

from __future__ import annotations

import gc
import logging
import os
import warnings
from typing import Any

from steward.model.process import QUIET


def load() -> Any:
    """The litellm module, quiet. Takes seconds; the garbage collector rests meanwhile, which saves a third."""
    os.environ.update(QUIET)
    warnings.simplefilter("ignore")
    gc.disable()
    try:
        import litellm
    finally:
        gc.freeze()
        gc.enable()
    module: Any = litellm
    module.suppress_debug_info = True
    module.set_verbose = False
    module.telemetry = False
    # A parameter that a provider lacks (tools above all) is an error to be seen, not dropped in silence.
    module.drop_params = False
    module.modify_params = True
    module.num_retries = 0
    # Else a reply without reported usage loads a tokenizer (0.4 s, 108 MB) to invent one.
    module.disable_token_counter = True
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "httpx", "openai", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.addHandler(logging.NullHandler())
        logger.propagate = False
        logger.setLevel(logging.CRITICAL)
    return module
