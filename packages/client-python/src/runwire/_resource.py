"""Calls operations of the API, for threads and for asyncio."""

from __future__ import annotations

from types import TracebackType
from typing import Any, AsyncIterator, Generic, Iterator, Mapping, TypeVar, cast

from ._errors import ConnectionLostError
from ._http import Answer, describe
from ._io import finish
from ._transport import Transport

Item = TypeVar("Item")
Page = TypeVar("Page")


class Caller:
    """Calls the API through one transport."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport


class Resource(Caller):
    """Operations that block the thread."""

    def _json(self, route: str, fields: Mapping[str, Any]) -> Any:
        return finish(self._transport.json(route, fields))

    def _list(self, route: str, fields: Mapping[str, Any]) -> ItemList[Any, Any]:
        return ItemList(_ListRequest(self._transport, route, fields))

    def _content(self, route: str, fields: Mapping[str, Any]) -> Content:
        return Content(finish(self._transport.raw(route, fields)), route)


class AsyncResource(Caller):
    """Operations that suspend the task."""

    async def _json(self, route: str, fields: Mapping[str, Any]) -> Any:
        return await self._transport.json(route, fields)

    def _list(self, route: str, fields: Mapping[str, Any]) -> AsyncItemList[Any, Any]:
        return AsyncItemList(_ListRequest(self._transport, route, fields))

    async def _content(self, route: str, fields: Mapping[str, Any]) -> AsyncContent:
        return AsyncContent(await self._transport.raw(route, fields), route)


class ContentView:
    """The headers of an answer, and its body while it arrives."""

    def __init__(self, answer: Answer, route: str) -> None:
        self._answer = answer
        self._route = route
        self.status = answer.status
        self.headers: Mapping[str, str] = answer.headers
        """Their names are in lower case."""

    def close(self) -> None:
        """Ends the connection. Needed only if the body is not read to its end."""
        self._answer.close()

    async def _piece(self) -> bytes:
        try:
            return await self._answer.piece()
        except OSError as cause:
            self.close()
            raise ConnectionLostError(f"The answer to {self._route} was cut: {describe(cause)}.") from cause

    async def _read(self) -> bytes:
        pieces = []
        while piece := await self._piece():
            pieces.append(piece)
        return b"".join(pieces)


class Content(ContentView):
    """An answer of bytes: iterate over its pieces, or read all of it, once."""

    def __iter__(self) -> Iterator[bytes]:
        while piece := finish(self._piece()):
            yield piece

    def read(self) -> bytes:
        """The whole body."""
        return finish(self._read())

    def __enter__(self) -> Content:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncContent(ContentView):
    """An answer of bytes: iterate over its pieces, or read all of it, once."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while piece := await self._piece():
            yield piece

    async def read(self) -> bytes:
        """The whole body."""
        return await self._read()

    async def __aenter__(self) -> AsyncContent:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _ListRequest:
    """Reads the pages of a list."""

    def __init__(self, transport: Transport, route: str, fields: Mapping[str, Any]) -> None:
        self._transport = transport
        self._route = route
        self._fields = fields

    async def page(self, cursor: str | None) -> dict[str, Any]:
        page = await self._transport.json(self._route, {**self._fields, "cursor": cursor})
        return cast("dict[str, Any]", page)


class ItemList(Generic[Item, Page]):
    """An iterator over all items of a list, which reads page after page."""

    def __init__(self, request: _ListRequest) -> None:
        self._request = request

    def page(self, cursor: str | None = None) -> Page:
        """Reads one page, the first by default."""
        return cast(Page, finish(self._request.page(cursor)))

    def __iter__(self) -> Iterator[Item]:
        cursor: str | None = None
        while True:
            page = finish(self._request.page(cursor))
            yield from page["items"]
            cursor = page["nextCursor"]
            if cursor is None:
                return


class AsyncItemList(Generic[Item, Page]):
    """An asynchronous iterator over all items of a list, which reads page after page."""

    def __init__(self, request: _ListRequest) -> None:
        self._request = request

    async def page(self, cursor: str | None = None) -> Page:
        """Reads one page, the first by default."""
        return cast(Page, await self._request.page(cursor))

    async def __aiter__(self) -> AsyncIterator[Item]:
        cursor: str | None = None
        while True:
            page = await self._request.page(cursor)
            for item in page["items"]:
                yield item
            cursor = page["nextCursor"]
            if cursor is None:
                return
