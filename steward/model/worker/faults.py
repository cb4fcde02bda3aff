"""Whatever litellm raises, by kind, in one sentence that says what to do next and holds no secret."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import litellm

from steward.conversation import JsonObject
from steward.model.secret_values import secrets_in
from steward.model.worker.hosts import Target
from steward.model.worker.masking import one_line
from steward.model.worker.providers import ScriptFault
from steward.model.worker.words import chain, retry_after, stated, words

_OVERFLOW = re.compile(
    r"context.{0,3}(?:length|window|size|limit)|maximum (?:context|prompt length)|too many (?:input )?tokens"
    r"|(?:prompt|input) is too long|exceed(?:s|ed)? (?:the )?(?:model'?s? )?(?:max|limit|token limit)"
    r"|range of input length|reduce the length",
    re.IGNORECASE,
)
_NO_KEY = re.compile(
    r"[Mm]issing (?:credentials|.{0,40}API.?[Kk]ey)|api_key client option must be set|[Uu]nable to locate credentials"
    r"|default credentials were not found|[Nn]o API key|API key is required",
)
_NO_PROVIDER = re.compile(r"LLM Provider NOT provided|Unmapped LLM provider|LiteLLMUnknownProvider")
_CERTIFICATE = re.compile(r"CERTIFICATE_VERIFY|certificate verify|SSLError|SSLCertVerificationError")
_NO_NAME = re.compile(
    r"gaierror|DNSError|Name or service not known|nodename nor servname|name resolution|NameResolution"
)
_REFUSED = re.compile(r"ConnectionRefusedError|Connection refused|Connect call failed|actively refused")
_SLOW = {
    "Timeout",
    "APITimeoutError",
    "ReadTimeout",
    "TimeoutError",
    "SocketTimeoutError",
    "ServerTimeoutError",
}
_UNREADABLE = {
    "JSONDecodeError",
    "UnicodeDecodeError",
    "ValidationError",
    "APIResponseValidationError",
    "AttributeError",
    "RecursionError",
}
_NO_HTTP = {
    "HttpProcessingError",
    "BadHttpMessage",
    "RemoteProtocolError",
    "DecodingError",
    "ContentDecodingError",
}
_USED_UP = re.compile(
    r"insufficient_quota|exceeded your (?:current )?quota|billing|credit balance", re.IGNORECASE
)
_CUT_OFF = {
    "APIConnectionError",
    "RemoteProtocolError",
    "ReadError",
    "WriteError",
    "ServerDisconnectedError",
    "ConnectionResetError",
    "ClientPayloadError",
    "ClientOSError",
    "BrokenPipeError",
    "EndpointConnectionError",
    "ConnectError",
    "TransportError",
    "ProxyError",
}  # fmt: skip


_TOO_LARGE = re.compile(r"request too large for", re.IGNORECASE)
"""What OpenAI and Groq say of a request that no waiting makes small enough, with the status of too many requests."""
_MAY_BE_OVERFLOW = {400, 422, 500, None}
"""LM Studio says it in the stream, without a status."""


class Fault(Exception):
    """An error described: what the steward is told."""

    def __init__(
        self, kind: str, sentence: str, status: int | None = None, *, retryable: bool = False
    ) -> None:
        self.kind = kind
        self.sentence = sentence if sentence.endswith((".", "!", "?", "…")) else f"{sentence}."
        self.status = status
        self.retryable = retryable
        self.retry_after: float | None = None
        super().__init__(self.sentence)

    def shape(self, secrets: frozenset[str] = frozenset()) -> JsonObject:
        """The error as it travels: ``kind``, ``sentence``, ``status``, ``retry_after``, ``retryable``."""
        return {
            "kind": self.kind,
            "sentence": one_line(self.sentence, 600, secrets),
            "status": self.status,
            "retry_after": self.retry_after,
            "retryable": self.retryable,
        }


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What is known of an error."""

    where: Target
    status: int | None
    names: frozenset[str]
    """Names of the exception types, from litellm's down to the socket's."""
    said: str
    """All their texts."""
    words: str
    """What the server said, ready to follow a sentence; may be empty."""
    started: bool
    wait: float | None = None
    """Seconds that the server asks to wait."""

    @property
    def host(self) -> str:
        return self.where.host

    @property
    def model(self) -> str:
        return self.where.model


_NOWHERE = Target("the model", "", None, "The server", False)


def describe(
    error: BaseException,
    where: Target = _NOWHERE,
    options: JsonObject | None = None,
    *,
    started: bool = False,
) -> JsonObject:
    """The error by kind. ``started``: deltas had arrived. Values of secret ``options`` are masked."""
    secrets = frozenset(secrets_in(options or {}))
    links = list(chain(error))
    own = next((link for link in links if isinstance(link, Fault | ScriptFault)), None)
    if isinstance(own, Fault):
        return own.shape(secrets)
    if isinstance(own, ScriptFault):
        return _scripted(own.shape, started).shape(secrets)
    names = frozenset(name for link in links for name in _names(link))
    status = next((code for code in map(_status, links) if code is not None), None)
    if status in {500, None}:
        # An error inside the stream states its own; litellm calls all of these 500.
        status = next((code for code in map(stated, links) if code is not None), status)
    wait = next((after for after in map(retry_after, links) if after is not None), None)
    fault = _judge(
        _Evidence(
            where,
            status,
            names,
            " ".join([*names, *(str(link) for link in links)]),
            words(links, secrets),
            started,
            wait,
        )
    )
    fault.retry_after = wait
    if fault.retry_after is not None and fault.retry_after > 60 and fault.retryable:
        fault.sentence += f" It asks to wait {fault.retry_after:.0f} s."
    return fault.shape(secrets)


def _judge(seen: _Evidence) -> Fault:
    if seen.names & _UNREADABLE and not (seen.status and seen.status < 500):
        return Fault(
            "protocol",
            f"The reply from {seen.host} could not be understood; nothing of it was run. Check the base URL",
        )
    if seen.started:
        return _in_the_middle(seen)
    if _NO_PROVIDER.search(seen.said):
        return Fault(
            "unknown-model",
            f"{seen.model} names no provider that is known; write provider/model, as in openai/gpt-5 or ollama/qwen3",
        )
    if seen.status in {401, 500, None} and _NO_KEY.search(seen.said):
        return Fault(
            "authentication", f"There is no key for {seen.where.provider}; {_set_key(seen)}", seen.status
        )
    return _unreached(seen) or _by_status(seen)


def _in_the_middle(seen: _Evidence) -> Fault:
    if seen.names & _SLOW:
        return Fault("timeout", f"{seen.host} stopped sending in the middle of its reply; ask again")
    return Fault(
        "interrupted-stream",
        f"The reply from {seen.host} broke off before its end; nothing of it was run. Ask again",
        seen.status,
    )


def _unreached(seen: _Evidence) -> Fault | None:
    """The error when no server answered, else ``None``; litellm calls all of these 500."""
    if seen.status not in {500, 408, None}:
        return None
    if "WRONG_VERSION_NUMBER" in seen.said or "record layer failure" in seen.said:
        return Fault(
            "connection",
            f"{seen.host} does not speak TLS there; write http:// in the base URL or mend the port",
        )
    if _CERTIFICATE.search(seen.said):
        todo = "if a proxy stands between, set SSL_CERT_FILE to its certificates"
        return Fault("connection", f"The certificate of {seen.host} could not be verified; {todo}")
    if _NO_NAME.search(seen.said):
        todo = "check the network and the base URL"
        return Fault("connection", f"The name {seen.host} was not found; {todo}", retryable=True)
    if _REFUSED.search(seen.said):
        if seen.where.local:
            return Fault(
                "connection", f"Nothing answers at {seen.host}; start the server or choose another model"
            )
        todo = "check the network and the base URL"
        return Fault("connection", f"{seen.host} refused the connection; {todo}", retryable=True)
    if seen.names & {"ConnectTimeout", "ConnectionTimeoutError", "ConnectTimeoutError"}:
        return Fault("connection", f"No connection to {seen.host} in time; check the network", retryable=True)
    if seen.names & _SLOW:
        return Fault("timeout", f"{seen.host} sent no answer in time", seen.status, retryable=True)
    if seen.names & _NO_HTTP and "Server disconnected" not in seen.said:
        todo = "check the base URL"
        return Fault("connection", f"{seen.host} sent what is no answer in HTTP; {todo}", retryable=True)
    if seen.names & _CUT_OFF and (
        "Connection error" in seen.said or seen.names & (_CUT_OFF - {"APIConnectionError"})
    ):
        return Fault("connection", f"{seen.host} closed the connection without an answer", retryable=True)
    return None


def _by_status(seen: _Evidence) -> Fault:
    host, model, status, words = seen.host, seen.model, seen.status, seen.words
    full = "ContextWindowExceededError" in seen.names or _OVERFLOW.search(seen.said)
    if (full and status in _MAY_BE_OVERFLOW) or (status == 429 and _TOO_LARGE.search(seen.said)):
        return Fault(
            "context-overflow",
            f"The conversation no longer fits into the context of {model}; start a new one or ask for less at once",
            status,
        )
    match status:
        case None:
            return Fault("protocol", f"The reply from {host} could not be understood{words}")
        case 401:
            return Fault("authentication", f"{host} refused the key (401); {_set_key(seen)}", status)
        case 402:
            todo = "look at the account's balance"
            return Fault("refused", f"{host} wants payment first (402); {todo}{words}", status)
        case 403:
            todo = "choose another model or key"
            return Fault("refused", f"{host} does not let this key use {model} (403); {todo}{words}", status)
        case 404 if "support tool use" in seen.said:
            return Fault(
                "refused", f"{host} offers {model} without tools (404); choose another model", status
            )
        case 404:
            todo = "check the model's name and the base URL"
            return Fault("not-found", f"{host} does not know {model} (404); {todo}{words}", status)
        case 408 | 504:
            return Fault("timeout", f"{host} ran out of time ({status})", status, retryable=True)
        case 407:
            todo = "put name and password into HTTPS_PROXY"
            return Fault("refused", f"The proxy before {host} wants a password (407); {todo}", status)
        case 413:
            todo = "start a new conversation or ask for less at once"
            return Fault("context-overflow", f"The request is too large for {host} (413); {todo}", status)
        case 429 if _USED_UP.search(seen.said) and (seen.wait is None or "PerDay" in seen.said):
            todo = "look at the account, or choose another model"
            return Fault("rate-limit", f"{host} says that the quota is used up (429); {todo}{words}", status)
        case 429:
            todo = "wait, or choose another model"
            return Fault(
                "rate-limit", f"{host} says too many requests (429); {todo}{words}", status, retryable=True
            )
        case 503 | 529:
            return Fault(
                "server", f"{host} is overloaded or down ({status}); try later{words}", status, retryable=True
            )
        case _ if status >= 500:
            return Fault("server", f"{host} failed ({status}); try later{words}", status, retryable=True)
        case _:
            return Fault("bad-request", f"{host} did not accept the request ({status}){words}", status)


_SCRIPTED = {
    "authentication": 401, "not-found": 404, "bad-request": 400, "rate-limit": 429, "server": 500, "refused": 403,
}  # fmt: skip


def _scripted(shape: JsonObject, started: bool) -> Fault:
    """The error that a script asks for, judged and worded as if a server had sent it."""
    kind, status = cast(str | None, shape.get("kind")), cast(int | None, shape.get("status"))
    message = str(shape.get("message") or "")
    if "sentence" in shape:
        return Fault(str(kind), str(shape["sentence"]))
    if status is None:
        status = _SCRIPTED.get(kind or "server")
    if status is None:
        fault = Fault(
            str(kind), message or f"The script says {kind}", retryable=kind in {"connection", "timeout"}
        )
    else:
        where = Target("the script's model", "script", None, "The script", False)
        words = f': "{message}"' if message else ""
        fault = _judge(_Evidence(where, status, frozenset(), message, words, started))
    if kind is not None:
        fault.kind = kind
    fault.retry_after = shape.get("retry_after")
    return fault


def _set_key(seen: _Evidence) -> str:
    """What to do about a key: names the variables that the provider reads."""
    if seen.where.provider in {"script", "offline", ""}:
        return "check the key"
    try:
        facts = cast(JsonObject, cast(Any, litellm).validate_environment(model=seen.model))
        missing = [str(name) for name in facts.get("missing_keys") or ()]
    except Exception:
        missing = []
    verb = "set" if missing else "check"
    names = " and ".join(missing) or f"{seen.where.provider.upper()}_API_KEY"
    return f"{verb} {names} in the environment, or choose another model"


def _status(error: BaseException) -> int | None:
    code: object = getattr(error, "status_code", None)
    return code if isinstance(code, int) and 300 <= code <= 599 else None


def _names(error: BaseException) -> Iterator[str]:
    """The error's type and those it is a kind of, as far as libraries made them."""
    yield type(error).__name__
    yield from (kind.__name__ for kind in type(error).__mro__[1:] if kind.__name__ in _NO_HTTP)
