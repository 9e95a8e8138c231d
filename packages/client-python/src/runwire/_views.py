"""Runs as callers hold them, for threads and for asyncio."""

from __future__ import annotations

from types import TracebackType
from typing import AsyncIterator, Iterator

from ._io import finish
from ._run import CancelMode, RunView
from ._types import CancelResult, Frame, RunEvent, RunResult


class Run(RunView):
    """An iterator of events that can be read from its start as often as needed, by several threads too."""

    def __iter__(self) -> Iterator[RunEvent]:
        index = 0
        while (entry := finish(self._reader.entry(index))) is not None:
            index += 1
            if entry[1] is not None:
                yield entry[1]

    def frames(self) -> Iterator[Frame]:
        """The events as sent."""
        index = 0
        while (entry := finish(self._reader.entry(index))) is not None:
            index += 1
            yield entry[0]

    def text(self) -> str:
        """The whole answer. Raises unless the run completed without open questions."""
        return finish(self._reader.text())

    def result(self) -> RunResult:
        """How the run ended, whatever its end."""
        return finish(self._reader.result())

    def cancel(self, *, mode: CancelMode | None = None) -> CancelResult:
        """Cancels the run on the server. Returns when it has stopped, or after 10 s with the status `cancelling`."""
        return finish(self._reader.cancel(mode))

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.detach()


class AsyncRun(RunView):
    """An asynchronous iterator of events that can be read from its start as often as needed, by several tasks too."""

    async def __aiter__(self) -> AsyncIterator[RunEvent]:
        index = 0
        while (entry := await self._reader.entry(index)) is not None:
            index += 1
            if entry[1] is not None:
                yield entry[1]

    async def frames(self) -> AsyncIterator[Frame]:
        """The events as sent."""
        index = 0
        while (entry := await self._reader.entry(index)) is not None:
            index += 1
            yield entry[0]

    async def text(self) -> str:
        """The whole answer. Raises unless the run completed without open questions."""
        return await self._reader.text()

    async def result(self) -> RunResult:
        """How the run ended, whatever its end."""
        return await self._reader.result()

    async def cancel(self, *, mode: CancelMode | None = None) -> CancelResult:
        """Cancels the run on the server. Returns when it has stopped, or after 10 s with the status `cancelling`."""
        return await self._reader.cancel(mode)

    async def __aenter__(self) -> AsyncRun:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.detach()
