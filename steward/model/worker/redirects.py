"""Keeps requests at the host they were made for: a redirect to another origin is never followed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import httpx

_MOST = 3
Send = Callable[..., Any]


def stay() -> None:
    """From now on no httpx client of this process carries a request, its key or its body to another origin.

    Redirects within the origin are followed as before. What leads elsewhere is given back as the answer it is.
    """
    httpx.Client.send = _blocking(httpx.Client.send)
    httpx.AsyncClient.send = _awaiting(httpx.AsyncClient.send)


def _blocking(original: Send) -> Send:
    def send(client: Any, request: Any, *, follow_redirects: Any = None, **more: Any) -> Any:
        follow = _follows(client, follow_redirects)
        for _ in range(_MOST):
            response = original(client, request, follow_redirects=False, **more)
            following = _next(request, response) if follow else None
            if following is None:
                return response
            response.close()
            request = following
        return original(client, request, follow_redirects=False, **more)

    return send


def _awaiting(original: Callable[..., Awaitable[Any]]) -> Send:
    async def send(client: Any, request: Any, *, follow_redirects: Any = None, **more: Any) -> Any:
        follow = _follows(client, follow_redirects)
        for _ in range(_MOST):
            response = await original(client, request, follow_redirects=False, **more)
            following = _next(request, response) if follow else None
            if following is None:
                return response
            await response.aclose()
            request = following
        return await original(client, request, follow_redirects=False, **more)

    return send


def _follows(client: Any, given: object) -> bool:
    return given if isinstance(given, bool) else bool(client.follow_redirects)


def _next(request: httpx.Request, response: httpx.Response) -> httpx.Request | None:
    following = response.next_request
    return following if following is not None and _origin(following.url) == _origin(request.url) else None


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    port = url.port or {"http": 80, "https": 443}.get(url.scheme)
    return url.scheme, url.host, port
