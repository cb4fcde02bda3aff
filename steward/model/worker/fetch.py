"""Fetches one document over http(s) for the steward, from addresses that the person may mean."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Callable
from urllib.parse import urljoin, urlsplit

import httpx

from steward.conversation import JsonObject
from steward.model.worker.faults import Fault
from steward.model.worker.hosts import host_of
from steward.model.worker.masking import one_line

Say = Callable[[JsonObject], None]
_REDIRECTS = 5


async def run(operation: JsonObject, say: Say) -> None:
    """Answer ``fetch`` with the body, one character for each byte."""
    url, limit, seconds = str(operation["url"]), int(operation["limit"]), float(operation["seconds"])
    try:
        async with asyncio.timeout(seconds):
            body = await _fetch(url, limit, bool(operation.get("allow_local")))
    except TimeoutError:
        raise Fault("timeout", f"{host_of(url)} did not send the document within {seconds:g} s") from None
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        said = one_line(str(error) or type(error).__name__, 160)
        raise Fault("connection", f"The document could not be fetched from {host_of(url)}: {said}") from None
    say({"type": "answer", "value": body.decode("latin-1")})


async def _fetch(url: str, limit: int, allow_local: bool) -> bytes:
    async with httpx.AsyncClient(follow_redirects=False, timeout=None) as client:
        for _ in range(_REDIRECTS + 1):
            await _check(url, allow_local)
            async with client.stream("GET", url, headers={"accept": "text/*, */*;q=0.5"}) as response:
                if not response.is_redirect:
                    return await _body(response, host_of(url), limit)
                url = urljoin(url, response.headers.get("location", ""))
    raise Fault("refused", f"{host_of(url)} redirects too often")


async def _body(response: httpx.Response, host: str, limit: int) -> bytes:
    if response.status_code != 200:
        raise Fault(
            "not-found" if response.status_code in {404, 410} else "refused",
            f"{host} did not give the document ({response.status_code})",
            response.status_code,
        )
    body = bytearray()
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > limit:
            raise Fault("refused", f"The document at {host} is larger than {limit:,} bytes")
    return bytes(body)


async def _check(url: str, allow_local: bool) -> None:
    """Refuse what is no web address, and addresses of this machine or a private network unless they are allowed.

    The name is looked up here; a name that answers otherwise a moment later is not caught.
    """
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise Fault("refused", "Only http and https addresses can be fetched")
    if parts.username or parts.password:
        raise Fault("refused", "An address with a user name or password in it is not fetched")
    if allow_local:
        return
    port = parts.port or (443 if parts.scheme == "https" else 80)
    found = await asyncio.get_running_loop().getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    for *_, address in found:
        if not ipaddress.ip_address(str(address[0]).partition("%")[0]).is_global:
            raise Fault("refused", f"{host_of(url)} is an address of this machine or of a private network")
