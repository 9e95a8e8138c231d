"""Threads that block, and sockets."""

from __future__ import annotations

import inspect
import socket
import ssl
import threading
from types import TracebackType
from typing import Any, Callable, TypeVar

from ._io import Connection, MustAwaitError

T = TypeVar("T")
_PIECE_BYTES = 65_536


class SocketConnection:
    """A socket with a time limit for each call."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected

    async def send(self, data: bytes, seconds: float) -> None:
        self._socket.settimeout(seconds)
        self._socket.sendall(data)

    async def receive(self, seconds: float) -> bytes:
        self._socket.settimeout(seconds)
        return self._socket.recv(_PIECE_BYTES)

    def abort(self) -> None:
        try:
            # Not the method of an SSL socket: it would read on without TLS.
            socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
        except OSError:
            pass  # It is closed already.

    def close(self) -> None:
        self._socket.close()


class ThreadEvent(threading.Event):
    """A flag that other threads wait for."""

    async def wait(self, seconds: float | None = None) -> None:  # type: ignore[override]
        super().wait(seconds)


class ThreadLock:
    """One thread at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    async def __aenter__(self) -> None:
        self._lock.acquire()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()


class SocketIo:
    """Blocks the thread of the caller."""

    def __init__(self, context: ssl.SSLContext | None) -> None:
        self._context = context

    async def connect(self, host: str, port: int, is_tls: bool, seconds: float) -> Connection:
        connected = socket.create_connection((host, port), seconds)
        try:
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if not is_tls:
                return SocketConnection(connected)
            # Reading the certificates of the machine takes long, so it is done once.
            self._context = self._context or ssl.create_default_context()
            return SocketConnection(self._context.wrap_socket(connected, server_hostname=host))
        except BaseException:
            connected.close()
            raise

    def event(self) -> ThreadEvent:
        return ThreadEvent()

    def lock(self) -> ThreadLock:
        return ThreadLock()

    async def call(self, function: Callable[[], T]) -> T:
        return function()

    async def settle(self, value: Any) -> Any:
        if not inspect.isawaitable(value):
            return value
        if inspect.iscoroutine(value):
            value.close()
        raise MustAwaitError
