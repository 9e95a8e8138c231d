"""A run that the server has admitted, and that is read in the thread of the caller."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Any, Iterator, Literal, Mapping

from ._answers import Answering, next_request
from ._errors import DetachedError, RunCancelledError, RunFailedError
from ._events import event_of, result_of
from ._http import Stop
from ._recovery import Reading
from ._transport import Transport, path_of, to_json
from ._types import Admission, CancelResult, Ended, Frame, Resumed, RunEvent, RunHandle, RunResult, Text


class Run:
    """An iterator of events that can be read from its start as often as needed, by several threads too."""

    def __init__(
        self, transport: Transport, place: RunHandle, request: Mapping[str, Any] | None, answering: Answering
    ) -> None:
        self._transport = transport
        self._place = place
        self._request = request
        self._answering = answering
        self._stop = Stop()
        self._lock = threading.Lock()
        self._entries: list[tuple[Frame, RunEvent | None]] = []
        self._pieces: list[Text] = []
        """The pieces of the answer that are not void, of the current run."""
        self._text_before = ""
        """The answers of the runs before, if questions were answered."""
        self._messages: str | None = None
        self._result: RunResult | None = None
        self._error: BaseException | None = None
        self._is_over = False
        self._is_cancelled = False
        self._is_admitted = threading.Event()
        reading = self._reading_of(None if request is None else answering.with_tools(request))
        self.admission: Admission = reading.admit()
        """The run on the server. With answered questions: the first one."""
        self._is_admitted.set()
        self._steps = self._read(reading)

    @property
    def handle(self) -> RunHandle:
        """Names the run. With answered questions: the run that is being read."""
        return self._place.copy()

    @property
    def current_text(self) -> str:
        """The answer so far, without void text."""
        return self._text_before + "".join(piece.delta for piece in self._pieces)

    def __iter__(self) -> Iterator[RunEvent]:
        for _, event in self._entries_from_start():
            if event is not None:
                yield event

    def frames(self) -> Iterator[Frame]:
        """The events as sent."""
        for frame, _ in self._entries_from_start():
            yield frame

    def text(self) -> str:
        """The whole answer. Raises unless the run completed."""
        result = self.result()
        if result.status == "failed":
            raise RunFailedError(result)
        if result.status == "cancelled":
            raise RunCancelledError(result)
        return result.text

    def result(self) -> RunResult:
        """How the run ended, whatever its end."""
        for _ in self._entries_from_start():
            pass
        if self._result is None:
            # A reader that attached after the last events has no result: another one reads the whole run.
            place: RunHandle = self.handle
            place["lastEventId"] = 0
            self._result = Run(self._transport, place, None, self._answering).result()
        return self._result

    def cancel(self, *, mode: Literal["immediate", "after_step"] | None = None) -> CancelResult:
        """Cancels the run on the server. Returns when it has stopped, or after 10 s with the status `cancelling`."""
        self._is_cancelled = True
        self._is_admitted.wait()
        if self._place["runId"] is None and self._error is not None:
            raise self._error
        path = path_of(self._place["apiIntegrationId"], "runs", self._place["runId"], "cancel")
        answer = self._transport.call("POST", path, {} if mode is None else {"mode": mode}, self.handle)
        return CancelResult(
            answer["runId"], answer["chatId"], answer["status"], answer["cancelled"], answer["usage"]
        )

    def detach(self) -> None:
        """Stops reading. The run continues on the server. Readers that wait get a `DetachedError`."""
        self._stop.set()

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.detach()

    def _reading_of(self, request: Mapping[str, Any] | None) -> Reading:
        body = None if request is None else to_json(request)
        return Reading(self._transport, self._place, body, self._stop)

    def _read(self, reading: Reading) -> Iterator[None]:
        """Reads the run, and the runs that continue it with answers. Each step adds an entry."""
        turn = 1
        while True:
            for frame in reading.frames():
                self._take(frame)
                yield
            if self._request is None or self._result is None or self._is_cancelled:
                return
            answers = self._answering.answers_to(self._result)
            if answers is None or self._is_cancelled:
                return
            turn += 1
            request = next_request(self._request, self._result.chat_id, answers, turn)
            self._text_before = self._result.text
            self._pieces = []
            self._is_admitted.clear()
            self._place["usageRequestId"] = request["usageRequestId"]
            self._place["runId"] = None
            self._place["lastEventId"] = 0
            reading = self._reading_of(self._answering.with_tools(request))
            reading.admit()
            self._is_admitted.set()

    def _take(self, frame: Frame) -> None:
        event = event_of(frame)
        if isinstance(event, Text):
            self._pieces.append(event)
        elif isinstance(event, Resumed):
            discard_after = event.discard_after
            self._pieces = [piece for piece in self._pieces if piece.id <= discard_after]
        elif frame.event == "messages":
            self._messages = frame.data
        elif frame.event == "end" and self._messages is not None:
            self._result = result_of(self._messages, self._text_before)
            event = Ended(frame.id, self._result)
        self._entries.append((frame, event))

    def _entries_from_start(self) -> Iterator[tuple[Frame, RunEvent | None]]:
        index = 0
        while self._has(index):
            yield self._entries[index]
            index += 1

    def _has(self, index: int) -> bool:
        """Reads until there is this entry. Returns False if the run has ended before."""
        with self._lock:
            while index >= len(self._entries):
                if self._error is not None:
                    raise self._error
                if self._is_over:
                    return False
                self._step()
            return True

    def _step(self) -> None:
        try:
            next(self._steps)
        except StopIteration:
            self._is_over = True
        except BaseException as error:
            # An interrupt ends the reading of this object, but not the run.
            self._error = error if isinstance(error, Exception) else DetachedError(self.handle)
            self._is_admitted.set()
            raise
