"""The key of a client, or a function that returns a token."""

from __future__ import annotations

import base64
import json
import time
from typing import Any, Awaitable, Callable

from ._errors import AuthenticationError
from ._io import Io

ApiKey = str | Callable[[], str]
"""A key or a client token, or a function that returns a fresh one."""
AsyncApiKey = str | Callable[[], "str | Awaitable[str]"]
"""A key or a client token, or a function that returns a fresh one. It may be an `async` function."""

_RENEW_SECONDS = 30
"""A token is renewed this long before it ends, or after three quarters of its time if that is later."""


def claims_in(token: str) -> dict[str, Any]:
    """Reads the payload of a JWT, without checking it. Returns an empty object for a key that is no JWT."""
    try:
        payload = token.split(".")[1]
        value = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    except (IndexError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _is_sendable(token: object) -> bool:
    return isinstance(token, str) and token != "" and token.isascii() and token.isprintable() and " " not in token


class Credentials:
    """The key of a client. A function is asked again shortly before its token ends."""

    def __init__(self, io: Io, api_key: AsyncApiKey) -> None:
        if not callable(api_key) and not _is_sendable(api_key):
            raise ValueError("`api_key` is empty or has characters that no key has, for example a line break.")
        self._io = io
        self._api_key = api_key
        self._lock = io.lock()
        self._token: str | None = None
        self._renew_at = 0.0

    async def token(self) -> str:
        if not callable(self._api_key):
            return self._api_key
        async with self._lock:
            if self._token is None or time.time() >= self._renew_at:
                self._token = await self._ask(self._api_key)
            return self._token

    def forget(self, token: str) -> bool:
        """Forgets a refused token. Returns False if there can be no other."""
        if token == self._token:
            self._token = None
        return callable(self._api_key)

    async def _ask(self, function: Callable[[], str | Awaitable[str]]) -> str:
        token = await self._io.settle(function())
        if not _is_sendable(token):
            kind = "an empty text" if token == "" else type(token).__name__
            found = "text with characters that no token has" if isinstance(token, str) and token else kind
            message = f"The function `api_key` returned no token, but {found}; return the token as text."
            raise AuthenticationError("invalid_api_key", message, admitted=False)
        ends_at = claims_in(token).get("exp")
        now = time.time()
        # A token without an end is kept until it is refused.
        self._renew_at = float("inf")
        if isinstance(ends_at, (int, float)):
            self._renew_at = ends_at - min(_RENEW_SECONDS, (ends_at - now) / 4)
        return str(token)
