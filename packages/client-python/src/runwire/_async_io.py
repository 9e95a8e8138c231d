"""Tasks that wait, and transports of asyncio."""

from __future__ import annotations

import asyncio
import inspect
import ssl
from typing import Any, Awaitable, Callable, TypeVar, cast

from ._io import Connection

T = TypeVar("T")
_MAX_RECEIVED_BYTES = 262_144


class TransportConnection(asyncio.Protocol):
    """A connection with a time limit for each call.

    Streams of asyncio forget what has arrived if sending fails, and so the reason of a server that refuses a request
    before its end.
    """

    def __init__(self) -> None:
        self._transport = cast(asyncio.Transport, None)
        self._received = bytearray()
        self._is_paused = False
        self._may_send = True
        self._is_over = False
        self._error: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None

    async def send(self, data: bytes, seconds: float) -> None:
        if not self._is_over:
            self._transport.write(data)
            await self._until(lambda: self._may_send or self._is_over, seconds)
        if self._is_over:
            raise self._error or ConnectionResetError("The server ended the connection.")

    async def receive(self, seconds: float) -> bytes:
        await self._until(lambda: bool(self._received) or self._is_over, seconds)
        if not self._received:
            if self._error is not None:
                raise self._error
            return b""
        data = bytes(self._received)
        self._received.clear()
        if self._is_paused and not self._is_over:
            self._is_paused = False
            self._transport.resume_reading()
        return data

    def abort(self) -> None:
        self._transport.abort()

    def close(self) -> None:
        # Nothing is left to be sent, and an orderly end of TLS would wait for the server.
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._received += data
        if len(self._received) > _MAX_RECEIVED_BYTES and not self._is_paused:
            self._is_paused = True
            self._transport.pause_reading()
        self._wake()

    def pause_writing(self) -> None:
        self._may_send = False

    def resume_writing(self) -> None:
        self._may_send = True
        self._wake()

    def eof_received(self) -> None:
        self._is_over = True
        self._wake()

    def connection_lost(self, error: Exception | None) -> None:
        self._is_over = True
        self._error = error
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def _until(self, is_ready: Callable[[], bool], seconds: float) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        while not is_ready():
            if loop.time() >= deadline:
                raise TimeoutError(f"timed out after {seconds:g} s")
            self._waiter = loop.create_future()
            timer = loop.call_at(deadline, self._wake)
            try:
                await self._waiter
            finally:
                timer.cancel()


class TaskEvent(asyncio.Event):
    """A flag that other tasks wait for."""

    async def wait(self, seconds: float | None = None) -> None:  # type: ignore[override]
        if not self.is_set():
            await _wait_for(super().wait(), seconds)


class AsyncioIo:
    """Suspends the task of the caller."""

    def __init__(self, context: ssl.SSLContext | None) -> None:
        self._context = context

    async def connect(self, host: str, port: int, is_tls: bool, seconds: float) -> Connection:
        if is_tls and self._context is None:
            # Reading the certificates of the machine takes long, so it is done once, in a thread.
            self._context = await asyncio.to_thread(ssl.create_default_context)
        options: dict[str, Any] = {"ssl": self._context} if is_tls else {}
        loop = asyncio.get_running_loop()
        dial = loop.create_connection(TransportConnection, host, port, happy_eyeballs_delay=0.25, **options)
        found = await _wait_for(dial, seconds, lambda late: late[0].abort())
        if found is None:
            raise TimeoutError(f"no connection after {seconds:g} s")
        return found[1]

    def event(self) -> TaskEvent:
        return TaskEvent()

    def lock(self) -> asyncio.Lock:
        return asyncio.Lock()

    async def call(self, function: Callable[[], T]) -> T:
        return await asyncio.to_thread(function)

    async def settle(self, value: Any) -> Any:
        return await value if inspect.isawaitable(value) else value


async def _wait_for(
    awaitable: Awaitable[T], seconds: float | None, discard: Callable[[T], None] | None = None
) -> T | None:
    """Returns None after `seconds`. A value that arrives too late is discarded.

    Unlike `asyncio.wait_for` of Python 3.11 it never hides that this task was cancelled.
    """
    task = asyncio.ensure_future(awaitable)

    def clean_up(ended: asyncio.Future[T]) -> None:
        if not ended.cancelled() and ended.exception() is None and discard is not None:
            discard(ended.result())

    try:
        done, _ = await asyncio.wait([task], timeout=seconds)
    except BaseException:
        task.cancel()
        task.add_done_callback(clean_up)
        raise
    if done:
        return task.result()
    task.cancel()
    task.add_done_callback(clean_up)
    return None
