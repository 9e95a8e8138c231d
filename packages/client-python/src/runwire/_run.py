"""A run that the server has admitted, and that is read when the caller asks for its events."""

from __future__ import annotations

from typing import Any, Literal, Mapping

from ._answers import Answering, next_request
from ._errors import QuestionsPendingError, RunCancelledError, RunFailedError
from ._events import event_in, result_in
from ._io import Stop
from ._recovery import Reading
from ._transport import Transport, to_json
from ._types import Admission, CancelResult, Ended, Frame, Resumed, RunEvent, RunHandle, RunResult, Text

CancelMode = Literal["immediate", "after_step"]
Entry = tuple[Frame, "RunEvent | None"]


class RunReader:
    """Keeps the events that were read, so that several readers can read the run from its start."""

    def __init__(
        self,
        transport: Transport,
        place: RunHandle,
        request: Mapping[str, Any] | None,
        answering: Answering,
        path: str = "/get_completion_v2",
    ) -> None:
        self._path = path
        self._transport = transport
        self._place = place
        self._request = request
        self._answering = answering
        self._stop = Stop(transport.io)
        self._lock = transport.io.lock()
        self._entries: list[Entry] = []
        self._pieces: list[Text] = []
        """The pieces of the answer that are not void, of the current run."""
        self._text_before = ""
        """The answers of the runs before, if questions were answered."""
        self._turn = 1
        self._messages: str | None = None
        self._result: RunResult | None = None
        self._error: Exception | None = None
        self._is_over = False
        self._is_cancelled = False
        self._is_admitted = transport.io.event()
        self._reading = self._reading_from(request)

    @property
    def handle(self) -> RunHandle:
        return self._place.copy()

    @property
    def current_text(self) -> str:
        return self._text_before + "".join(piece.delta for piece in self._pieces)

    def detach(self) -> None:
        self._stop.set()

    async def admit(self) -> Admission:
        """Returns when the server has admitted the current run."""
        admission = await self._reading.admit()
        self._is_admitted.set()
        return admission

    async def entry(self, index: int) -> Entry | None:
        """Reads until there is this entry. Returns None if the run has ended before."""
        if index < len(self._entries):
            return self._entries[index]
        async with self._lock:
            while index >= len(self._entries):
                if self._error is not None:
                    raise self._error
                if self._is_over:
                    return None
                await self._step()
        return self._entries[index]

    async def text(self) -> str:
        result = await self.result()
        if result.status == "failed":
            raise RunFailedError(result)
        if result.status == "cancelled":
            raise RunCancelledError(result)
        if result.pending:
            raise QuestionsPendingError(result)
        return result.text

    async def result(self) -> RunResult:
        index = len(self._entries)
        while await self.entry(index) is not None:
            index += 1
        if self._result is None:
            # A reader that attached after the last events has no result: another one reads the whole run.
            place = self.handle
            place["lastEventId"] = 0
            self._result = await RunReader(self._transport, place, None, self._answering).result()
        return self._result

    async def cancel(self, mode: CancelMode | None) -> CancelResult:
        self._is_cancelled = True
        await self._is_admitted.wait()
        if self._place["runId"] is None and self._error is not None:
            raise self._error
        fields: dict[str, Any] = {"apiIntegrationId": self._place["apiIntegrationId"], "runId": self._place["runId"]}
        if mode is not None:
            fields["mode"] = mode
        route = "POST /v2/integrations/:apiIntegrationId/runs/:runId/cancel"
        answer = await self._transport.json(route, fields, self.handle)
        return CancelResult(
            answer["runId"], answer["chatId"], answer["status"], answer["cancelled"], answer["usage"]
        )

    def _reading_from(self, request: Mapping[str, Any] | None) -> Reading:
        body = None if request is None else to_json(self._answering.with_tools(request))
        return Reading(self._transport, self._place, body, self._stop, self._path)

    async def _step(self) -> None:
        """Reads an event, or continues with the next run."""
        try:
            if not self._is_admitted.is_set():
                await self.admit()
            frame = await self._reading.next_frame()
            if frame is not None:
                self._take(frame)
            else:
                await self._answer()
        except Exception as error:
            self._error = error
            self._is_admitted.set()
            raise

    async def _answer(self) -> None:
        """Starts the run that continues this one with answers. Without answers the reading is over."""
        # If a function of the caller is interrupted, it is not called again.
        self._is_over = True
        if self._request is None or self._result is None or self._is_cancelled:
            return
        answers = await self._answering.answers_to(self._result)
        if answers is None or self._is_cancelled:
            return
        self._turn += 1
        request = next_request(self._request, self._result.chat_id, answers, self._turn)
        self._text_before = self._result.text
        self._pieces = []
        self._is_admitted.clear()
        self._place["usageRequestId"] = request["usageRequestId"]
        self._place["runId"] = None
        self._place["lastEventId"] = 0
        self._reading = self._reading_from(request)
        self._is_over = False

    def _take(self, frame: Frame) -> None:
        event = event_in(frame)
        if isinstance(event, Text):
            self._pieces.append(event)
        elif isinstance(event, Resumed):
            discard_after = event.discard_after
            self._pieces = [piece for piece in self._pieces if piece.id <= discard_after]
        elif frame.event == "messages":
            self._messages = frame.data
        elif frame.event == "end" and self._messages is not None:
            self._result = result_in(self._messages, self._text_before)
            event = Ended(frame.id, self._result)
        self._entries.append((frame, event))


class RunView:
    """What both kinds of runs have."""

    def __init__(self, reader: RunReader, admission: Admission) -> None:
        self._reader = reader
        self.admission = admission
        """The run on the server. With answered questions: the first one."""

    @property
    def handle(self) -> RunHandle:
        """Names the run. With answered questions: the run that is being read."""
        return self._reader.handle

    @property
    def current_text(self) -> str:
        """The answer so far, without void text."""
        return self._reader.current_text

    def detach(self) -> None:
        """Stops reading. The run continues on the server. Readers that wait get a `DetachedError`."""
        self._reader.detach()
