"""Calls of the API with the key of the client."""

from __future__ import annotations

import json
import ssl
import time
from typing import Any, Mapping
from urllib.parse import quote, urlsplit

from ._errors import ConnectionLostError, InvalidRequestError, error_of
from ._http import NETWORK_ERRORS, Answer, Backoff, Dialer, Stop, Timing
from ._types import RunHandle

_MAX_ATTEMPTS = 4
_BYTES_PER_SECOND = 65_536
"""Slow links may take one second per this many bytes of a request."""


def to_json(value: object) -> bytes:
    # The server refuses lone surrogates with a sentence that names them.
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8", "surrogatepass")


def path_of(integration: str, *segments: str | None) -> str:
    return "/".join(["/v2/integrations", *(quote(str(part), safe="") for part in (integration, *segments))])


class Transport:
    """Sends requests to one server."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        integration: str | None,
        timing: Timing,
        ssl_context: ssl.SSLContext | None,
    ) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.username is not None:
            raise ValueError(f"`base_url` must be like `https://runwire.example.com`, not {base_url!r}.")
        if not api_key or not api_key.isascii() or not api_key.isprintable() or " " in api_key:
            raise ValueError("`api_key` is empty or has characters that no key has, for example a line break.")
        self._base_url = base_url.rstrip("/")
        self._authorization = f"Bearer {api_key}"
        self._integration = integration
        self.timing = timing
        self.dialer = Dialer(timing.silence_seconds, ssl_context)

    def integration(self, given: str | None) -> str:
        """The integration of a request: its own, or that of the client."""
        found = given or self._integration
        if found is None:
            message = "No integration is named; set `integration` of the client or of this call."
            raise InvalidRequestError("invalid_request", message, admitted=False)
        return found

    def send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        stop: Stop | None = None,
    ) -> Answer:
        """Returns any answer, also a refusal. Raises one of `NETWORK_ERRORS` if none arrives."""
        sent = {"Authorization": self._authorization, **(headers or {})}
        if body is not None:
            sent["Content-Type"] = "application/json"
            sent["Content-Length"] = str(len(body))
        seconds = len(body or b"") / _BYTES_PER_SECOND
        pieces = () if body is None else (body,)
        return self.dialer.send(method, self._base_url + path, sent, pieces, sending_seconds=seconds, stop=stop)

    def call(self, method: str, path: str, body: object | None = None, handle: RunHandle | None = None) -> Any:
        """Returns the JSON of the answer. Only for calls that have the same effect if they are sent twice."""
        backoff = Backoff(self.timing)
        data = None if body is None else to_json(body)
        for attempt in range(1, _MAX_ATTEMPTS + 1):
            is_last = attempt == _MAX_ATTEMPTS
            pause = backoff.next()
            try:
                answer = self.send(method, path, data)
                text = answer.read()
                if answer.ok and answer.headers.get("content-type", "").startswith("application/json"):
                    return json.loads(text)
                error = error_of(answer.status, answer.headers, text)
                pause = max(pause, error.retry_after_seconds or 0)
                if is_last or answer.status < 500 or (error.retry_after_seconds or 0) > self.timing.max_pause_seconds:
                    raise error
            except (*NETWORK_ERRORS, ValueError) as cause:
                # JSON that was cut is a `ValueError`.
                if is_last:
                    message = f"The server could not be reached in {_MAX_ATTEMPTS} attempts: {cause}."
                    raise ConnectionLostError(message, handle) from cause
            time.sleep(pause)
        raise AssertionError("The last attempt returns or raises.")
