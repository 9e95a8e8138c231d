"""What the client needs of the machine.

Everything that knows the protocol is written once, as coroutines that wait only for the methods of an `Io`. `SocketIo`
blocks the thread and never suspends, so `finish` runs such a coroutine to its end without an event loop. `AsyncioIo`
suspends the task.
"""

from __future__ import annotations

from typing import Any, AsyncContextManager, Callable, Coroutine, Protocol, TypeVar

T = TypeVar("T")


class Connection(Protocol):
    """Bytes to and from a server. Methods raise an `OSError` if the connection breaks, or after `seconds`."""

    async def send(self, data: bytes, seconds: float) -> None: ...

    async def receive(self, seconds: float) -> bytes:
        """Returns what has arrived. Empty if the server ended the connection."""
        ...

    def abort(self) -> None:
        """Ends a `receive` that waits. Any thread may call it."""
        ...

    def close(self) -> None: ...


class Event(Protocol):
    """A flag that others wait for."""

    def is_set(self) -> bool: ...

    def set(self) -> None: ...

    def clear(self) -> None: ...

    async def wait(self, seconds: float | None = None) -> None:
        """Returns when the flag is set, or after `seconds`."""
        ...


class Io(Protocol):
    """Threads and sockets, or tasks and asyncio."""

    async def connect(self, host: str, port: int, is_tls: bool, seconds: float) -> Connection:
        """Raises an `OSError` if there is no connection after `seconds`."""
        ...

    def event(self) -> Event: ...

    def lock(self) -> AsyncContextManager[Any]: ...

    async def call(self, function: Callable[[], T]) -> T:
        """Calls a function that reads from the disk."""
        ...

    async def settle(self, value: Any) -> Any:
        """Returns the result of a function of the caller, which may be a coroutine with asyncio."""
        ...


class Stop:
    """Ends the waiting of one reader, from another thread or task."""

    def __init__(self, io: Io) -> None:
        self._event = io.event()
        self._connection: Connection | None = None

    def set(self) -> None:
        self._event.set()
        if self._connection is not None:
            self._connection.abort()

    @property
    def is_set(self) -> bool:
        return self._event.is_set()

    def watch(self, connection: Connection) -> None:
        # `set` reads the connection after it has set the flag, so one of both aborts the connection.
        self._connection = connection
        if self._event.is_set():
            connection.abort()

    async def wait(self, seconds: float) -> None:
        await self._event.wait(seconds)


class MustAwaitError(TypeError):
    """A function of the caller is a coroutine, but the client blocks."""

    def __init__(self) -> None:
        super().__init__("A function that was passed to `Runwire` must be awaited; use `AsyncRunwire`.")


def finish(coroutine: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine that never suspends."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        value: T = end.value
        return value
    coroutine.close()
    raise MustAwaitError
