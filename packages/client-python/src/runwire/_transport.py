"""Calls of the API with the key of the client."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import Any, Callable, Final, Mapping
from urllib.parse import quote, urlencode

from ._credentials import AsyncApiKey, Credentials, claims_in
from ._errors import ConnectionLostError, RunwireError, error_in
from ._http import Address, Answer, BrokenAnswerError, Dialer, describe
from ._io import Io, Stop
from ._timing import Backoff, Timing
from ._types import RunHandle

_MAX_ATTEMPTS = 4
_REPEATABLE_METHODS = ("GET", "HEAD", "PUT")
_REPEATABLE_PATHS = ("/cancel", "/create_agency_upload")
_BODY_FIELDS = {"PATCH /v2/integrations/:apiIntegrationId/chats/:chatId/state": "patch"}
"""Operations whose body may have any members: the caller gives it in this field."""


class Omitted:
    """The type of `OMITTED`."""

    def __repr__(self) -> str:
        return "OMITTED"


OMITTED: Final = Omitted()
"""The default of fields that are not sent. None is sent as null."""


def to_json(value: object) -> bytes:
    # The server refuses lone surrogates with a sentence that names them.
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8", "surrogatepass")


def fill(path: str, fields: dict[str, Any]) -> str:
    """Puts fields into the path, and removes them from `fields`."""

    def segment(part: str) -> str:
        if not part.startswith(":"):
            return part
        name, value = part[1:], fields.pop(part[1:])
        if type(value) is int:
            return str(value)
        # A URL with such a part means another resource: deleting the chat `..` would delete its integration.
        if not isinstance(value, str) or value in ("", ".", ".."):
            raise ValueError(f"`{name}` cannot be {value!r}.")
        return quote(value.encode("utf-8", "surrogatepass"), safe="")

    return "/".join(map(segment, path.split("/")))


class Transport:
    """Sends requests to one server."""

    def __init__(
        self, io: Io, base_url: str, api_key: AsyncApiKey, integration: str | None, timing: Timing
    ) -> None:
        self._address = _parse_base(base_url)
        self.base_url = base_url.rstrip("/")
        self._credentials = Credentials(io, api_key)
        self._integration = _checked(integration)
        self.io = io
        self.timing = timing
        self.dialer = Dialer(io, timing)

    async def integration(self, given: str | None) -> str:
        """The integration of a request: its own, that of the client, or that of the client token."""
        found = _checked(given) or self._integration
        if found is None:
            found = claims_in(await self._credentials.token()).get("apiIntegrationId")
        if not isinstance(found, str):
            raise ValueError("No integration is named; set `integration` of the client or of this call.")
        return found

    async def send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        stop: Stop | None = None,
    ) -> Answer:
        """Returns any answer, also a refusal. Raises an `OSError` if none arrives.

        If a token is refused, a function as `api_key` is asked for another, once.
        """
        address = replace(self._address, target=self._address.target + path)
        is_again = False
        while True:
            token = await self._credentials.token()
            sent = {"Authorization": f"Bearer {token}", **(headers or {})}
            if body is not None:
                sent["Content-Type"] = "application/json"
                sent["Content-Length"] = str(len(body))
            answer = await self.dialer.send(method, address, sent, body or b"", stop=stop)
            if answer.status != 401 or is_again or not self._credentials.forget(token):
                return answer
            answer.close()
            is_again = True

    async def json(self, route: str, fields: Mapping[str, Any], handle: RunHandle | None = None) -> Any:
        """Calls an operation, and returns the JSON of its answer. None if the answer has no body."""
        return await self._call(route, fields, _read_json, handle)

    async def raw(self, route: str, fields: Mapping[str, Any]) -> Answer:
        """Calls an operation, and returns its answer before its body is read."""
        answer: Answer = await self._call(route, fields, None, None)
        return answer

    async def _call(
        self,
        route: str,
        fields: Mapping[str, Any],
        parse: Callable[[Answer, bytes], Any] | None,
        handle: RunHandle | None,
    ) -> Any:
        method, template = route.split(" ")
        given = {name: value for name, value in fields.items() if value is not OMITTED}
        if ":apiIntegrationId" in template:
            given["apiIntegrationId"] = await self.integration(given.get("apiIntegrationId"))
        path = fill(template, given)
        sent = given[_BODY_FIELDS[route]] if route in _BODY_FIELDS else given
        body = to_json(sent) if method in ("POST", "PUT", "PATCH") else None
        if body is None:
            path += _query_from(given)
        is_repeatable = method in _REPEATABLE_METHODS or path.endswith(_REPEATABLE_PATHS)
        backoff = Backoff(self.timing)
        started_at = time.monotonic()
        for attempt in range(1, _MAX_ATTEMPTS + 1):
            failure: RunwireError
            cause: Exception | None = None
            try:
                answer = await self.send(method, path, body)
                if answer.ok and parse is None:
                    return answer
                data = await answer.read()
                if answer.ok and parse is not None:
                    return parse(answer, data)
                failure = error_in(answer.status, answer.headers, data)
            except OSError as error:
                cause = error
                failure = ConnectionLostError(f"No whole answer of {self.base_url}: {describe(error)}.", handle)
            except RunwireError as error:
                failure = error
            pause = max(backoff.next(), failure.retry_after_seconds or 0)
            is_final = (cause is None and (failure.status or 0) < 500) or pause > self.timing.max_pause_seconds
            if attempt == _MAX_ATTEMPTS or is_final or not is_repeatable or self.is_unreachable(started_at):
                raise failure from cause
            await self.io.event().wait(pause)
        raise AssertionError("The last attempt returns or raises.")

    def is_unreachable(self, since: float) -> bool:
        """True if no server ever answered this client, and it has tried for long enough."""
        return not self.dialer.has_answered and time.monotonic() - since >= self.timing.connect_seconds


def _parse_base(base_url: object) -> Address:
    if not isinstance(base_url, str) or base_url.strip() == "":
        raise ValueError("`base_url` is empty; pass the address of the server, such as `os.environ['RUNWIRE_URL']`.")
    try:
        address = Address.parse(base_url)
        if "?" in base_url or "#" in base_url:
            raise ValueError("it has a query or a fragment")
    except ValueError as cause:
        raise ValueError(f"`base_url` must be like `https://runwire.example.com`, not {base_url!r}: {cause}.") from None
    return replace(address, target=address.target.rstrip("/"))


def _checked(integration: str | None) -> str | None:
    if integration is not None and (not isinstance(integration, str) or integration in ("", ".", "..")):
        raise ValueError(f"`integration` cannot be {integration!r}.")
    return integration


def _query_from(fields: Mapping[str, Any]) -> str:
    given = {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in fields.items()
        if value is not None
    }
    return f"?{urlencode(given, quote_via=quote, errors='surrogatepass')}" if given else ""


def _read_json(answer: Answer, data: bytes) -> Any:
    if answer.status == 204:
        return None
    if not answer.headers.get("content-type", "").startswith("application/json"):
        raise error_in(answer.status, answer.headers, data)
    try:
        return json.loads(data)
    except ValueError:
        raise BrokenAnswerError("The answer is not whole JSON.") from None
