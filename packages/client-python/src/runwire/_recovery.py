"""Starts or attaches to a run, and reads each of its events once, in order, whatever happens to connections.

           ┌────────── status: run_not_found ──────────┐
           ▼                                           │
  ──▶ send the request ── no header, or a later false ─┴▶ ask the chat status ── 200 ──┐
           │   │                                                                       │
           │   └─ first `false`: refused; send again if it is retryable                ▼
           └── `true` ──▶ read ── cut, silence, end without `end` ──▶ open the events after the last id
                           ▲ │                                                   │   │
                           │ └──▶ `end`: done                            204 ◀───┘   │
                           └─────────────────────────────────────────────────────────┘
"""

from __future__ import annotations

import time
from typing import Any, Mapping
from urllib.parse import quote, unquote

from ._errors import Admitted, ConnectionLostError, DetachedError, RunwireError, error_in, object_in
from ._http import Answer, describe
from ._io import Stop
from ._sse import FrameDecoder
from ._timing import Backoff
from ._transport import Transport, fill
from ._types import Admission, Frame, RunHandle

_BELOW_RUN = "/v2/integrations/:apiIntegrationId/runs/:runId"


class Contact:
    """The contact with the server: it pauses between attempts, and gives up if there was no contact for too long."""

    def __init__(self, transport: Transport, place: RunHandle, stop: Stop) -> None:
        self._transport = transport
        self._place = place
        self._stop = stop
        self._backoff = Backoff(transport.timing)
        self._last_at = time.monotonic()
        self._cause: Exception | None = None

    def event_arrived(self) -> None:
        self.bytes_arrived()
        self._backoff.reset()

    def bytes_arrived(self) -> None:
        """Also for bytes that are no event, for example a comment."""
        self._last_at = time.monotonic()

    def next_pause(self) -> float:
        return self._backoff.next()

    def failed(self, cause: Exception) -> None:
        """Notes why an attempt failed. Raises if the reader was detached."""
        self._raise_if_stopped()
        self._cause = cause

    async def sleep(self, seconds: float) -> None:
        await self._stop.wait(seconds)
        self._raise_if_stopped()

    async def pause(self) -> None:
        self._raise_if_stopped()
        transport = self._transport
        limit = transport.timing.give_up_seconds
        if not transport.dialer.has_answered:
            limit = min(limit, transport.timing.connect_seconds)
        left = self._last_at + limit - time.monotonic()
        if left <= 0:
            raise ConnectionLostError(self._loss(limit), self._place.copy()) from self._cause
        await self.sleep(min(self.next_pause(), left))

    def _loss(self, seconds: float) -> str:
        transport = self._transport
        what = "contact with" if transport.dialer.has_answered else "answer of"
        reason = "" if self._cause is None else f": {describe(self._cause)}"
        return f"No {what} {transport.base_url} for {seconds:g} s{reason}; attach to the run by its handle later."

    async def send(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer | None:
        """Returns None if no answer arrived."""
        self._raise_if_stopped()
        try:
            return await self._transport.send(method, path, body, headers, self._stop)
        except OSError as cause:
            self.failed(cause)
            return None

    async def read_body(self, answer: Answer) -> bytes | None:
        """Returns None if the answer was cut."""
        try:
            return await answer.read()
        except OSError as cause:
            self.failed(cause)
            return None

    async def read_error(self, answer: Answer) -> RunwireError | None:
        """Returns None if the answer was cut."""
        data = await self.read_body(answer)
        if data is None:
            return None
        error = error_in(answer.status, answer.headers, data)
        self._cause = error
        return error

    def raise_if_final(self, error: RunwireError | None, admitted: Admitted) -> None:
        """Raises a refusal that would be the same again."""
        if error is None or error.status is None or error.status >= 500 or error.status in (408, 429):
            return
        error.admitted = admitted
        raise error

    def _raise_if_stopped(self) -> None:
        if self._stop.is_set:
            raise DetachedError(self._place.copy())


class Reading:
    """A run that is being read. `place` changes while it is read.

    If a task or a thread is interrupted while it reads, the next one continues: it opens the events after the last id.
    """

    def __init__(
        self, transport: Transport, place: RunHandle, body: bytes | None, stop: Stop, path: str
    ) -> None:
        self._start_path = path
        self._give_up_seconds = transport.timing.give_up_seconds
        self._place = place
        self._body = body
        """The request, the same bytes for every send. None if the run is only attached to."""
        self._contact = Contact(transport, place, stop)
        self._stream: Answer | None = None
        self._decoder = FrameDecoder()
        self._is_replayed = body is None
        self._sends = 0
        self._is_over = False

    async def admit(self) -> Admission:
        """Returns when the run is known to exist. Raises if the request was refused, or if no run has the id."""
        if self._body is not None and self._place["runId"] is None:
            await self._start(self._body)
        if self._place["runId"] is None:
            await self._find_run()
        return Admission(str(self._place["runId"]), self._place["chatId"] or "", self._is_replayed)

    async def next_frame(self) -> Frame | None:
        """Returns None after the end of the run."""
        contact = self._contact
        # The caller may have taken its time since the frame before.
        contact.bytes_arrived()
        try:
            while not self._is_over:
                frame = self._decoder.next()
                if frame is None:
                    await self._read_piece()
                # A repeated request is answered from the start of the run.
                elif frame.id > self._place["lastEventId"]:
                    self._place["lastEventId"] = frame.id
                    contact.event_arrived()
                    if frame.event == "end":
                        self._end()
                    return frame
        except BaseException:
            self._drop_stream()
            raise
        return None

    async def _read_piece(self) -> None:
        if self._stream is None:
            self._stream = await self._open_events()
            self._contact.bytes_arrived()
        if self._stream is None:
            self._end()
            return
        try:
            piece = await self._stream.piece()
        except OSError as cause:
            self._contact.failed(cause)
            piece = b""
        if piece:
            self._contact.bytes_arrived()
            self._decoder.feed(piece)
        else:
            self._drop_stream()
            await self._contact.pause()

    def _end(self) -> None:
        self._drop_stream()
        self._is_over = True

    def _drop_stream(self) -> None:
        if self._stream is not None:
            self._stream.close()
        self._stream = None
        self._decoder = FrameDecoder()

    async def _start(self, body: bytes) -> None:
        """Sends the request until a run exists. Keeps its stream, unless the events must be opened."""
        contact = self._contact
        give_up_at = time.monotonic() + self._give_up_seconds
        while True:
            self._sends += 1
            answer = await contact.send("POST", self._start_path, body)
            header = None if answer is None else answer.headers.get("x-agent-run-admitted")
            if answer is not None and header == "true":
                self._take_admission(answer)
                return
            error = None if answer is None else await contact.read_error(answer)
            # A refusal that was cut counts as no answer.
            is_refused = header == "false" and self._sends == 1 and error is not None
            if not is_refused and await self._find_run():
                return
            # Here nothing is reserved. The same 4xx of a proxy would follow every send.
            if error is None or (header != "false" and (error.status or 0) >= 500):
                await contact.pause()
                continue
            pause = contact.next_pause() if error.retry_after_seconds is None else error.retry_after_seconds
            if not error.retryable or time.monotonic() + pause > give_up_at:
                error.admitted = False
                raise error
            await contact.sleep(pause)
            contact.bytes_arrived()

    def _take_admission(self, answer: Answer) -> None:
        # If a proxy removed the id of the run, the chat status has it.
        self._place["runId"] = answer.headers.get("x-run-id") or None
        self._place["chatId"] = unquote(answer.headers.get("x-chat-id", ""))
        self._is_replayed = answer.headers.get("x-run-replayed") == "true"
        if answer.headers.get("content-type", "").startswith("text/event-stream"):
            self._stream = answer
        else:
            # In Text Only Mode the events are at their own address.
            answer.close()

    def _path(self, template: str) -> str:
        fields: dict[str, Any] = {**self._place}
        return fill(template, fields)

    async def _find_run(self) -> bool:
        """Asks the chat status until it answers. Returns False if no run has the id and the request can be resent."""
        contact = self._contact
        query = f"?usageRequestId={quote(str(self._place['usageRequestId']), safe='')}"
        while True:
            answer = await contact.send("GET", self._path("/v2/integrations/:apiIntegrationId/chat_status") + query)
            if answer is not None and answer.ok:
                status = object_in((await contact.read_body(answer) or b"").decode("utf-8", "replace"))
                run = status.get("run")
                if isinstance(run, dict):
                    self._place["runId"] = run["runId"]
                    self._place["chatId"] = status["chatId"]
                    return True
            elif answer is not None:
                error = await contact.read_error(answer)
                if self._body is not None and error is not None and error.code == "run_not_found":
                    return False
                contact.raise_if_final(error, "unknown")
            await contact.pause()

    async def _open_events(self) -> Answer | None:
        """Opens the events after the last id. Returns None if the run has ended and there are no more."""
        contact = self._contact
        while True:
            last = self._place["lastEventId"]
            headers = {} if last == 0 else {"Last-Event-ID": str(last)}
            answer = await contact.send("GET", self._path(f"{_BELOW_RUN}/events"), None, headers)
            if answer is not None and answer.ok:
                if answer.status == 200:
                    return answer
                answer.close()
                return None
            if answer is not None:
                contact.raise_if_final(await contact.read_error(answer), True)
            await contact.pause()
