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

import json
import time
from typing import Any, Iterable, Iterator, Mapping
from urllib.parse import quote, unquote

from ._errors import Admitted, ConnectionLostError, DetachedError, RunwireError, error_of
from ._http import NETWORK_ERRORS, Answer, Backoff, Stop
from ._transport import Transport, path_of
from ._types import Admission, Frame, RunHandle


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

    def sleep(self, seconds: float) -> None:
        self._stop.wait(seconds)
        self._raise_if_stopped()

    def pause(self) -> None:
        give_up = self._transport.timing.give_up_seconds
        left = self._last_at + give_up - time.monotonic()
        if left <= 0:
            message = f"The server could not be reached for {give_up:g} s; attach to the run by its handle later."
            raise ConnectionLostError(message, self._place.copy()) from self._cause
        self.sleep(min(self.next_pause(), left))

    def send(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer | None:
        """Returns None if no answer arrived."""
        self._raise_if_stopped()
        try:
            return self._transport.send(method, path, body, headers, self._stop)
        except NETWORK_ERRORS as cause:
            self.failed(cause)
            return None

    def body_of(self, answer: Answer) -> bytes | None:
        """Returns None if the answer was cut."""
        try:
            return answer.read()
        except NETWORK_ERRORS as cause:
            self.failed(cause)
            return None

    def error_of(self, answer: Answer) -> RunwireError | None:
        """Returns None if the answer was cut."""
        data = self.body_of(answer)
        if data is None:
            return None
        error = error_of(answer.status, answer.headers, data)
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
    """A run that is being read. `place` changes while it is read."""

    def __init__(self, transport: Transport, place: RunHandle, body: bytes | None, stop: Stop) -> None:
        self._give_up_seconds = transport.timing.give_up_seconds
        self._place = place
        self._body = body
        """The request, the same bytes for every send. None if the run is only attached to."""
        self._contact = Contact(transport, place, stop)
        self._stream: Answer | None = None
        self._is_replayed = body is None

    def admit(self) -> Admission:
        """Returns when the run is known to exist. Raises if the request was refused, or if no run has the id."""
        if self._body is not None:
            self._start(self._body)
        if self._place["runId"] is None:
            self._find_run()
        return Admission(str(self._place["runId"]), self._place["chatId"] or "", self._is_replayed)

    def frames(self) -> Iterator[Frame]:
        contact = self._contact
        # The caller may have taken its time since the admission.
        contact.bytes_arrived()
        while True:
            stream = self._stream or self._open_events()
            self._stream = None
            if stream is None:
                return
            contact.bytes_arrived()
            try:
                for frame in frames_in(self._heard(stream)):
                    # A repeated request is answered from the start of the run.
                    if frame.id <= self._place["lastEventId"]:
                        continue
                    self._place["lastEventId"] = frame.id
                    contact.event_arrived()
                    yield frame
                    if frame.event == "end":
                        return
                    # The caller may have taken its time with the event.
                    contact.bytes_arrived()
            except NETWORK_ERRORS as cause:
                contact.failed(cause)
            finally:
                stream.close()
            contact.pause()

    def _heard(self, stream: Answer) -> Iterator[bytes]:
        for piece in stream.pieces():
            self._contact.bytes_arrived()
            yield piece

    def _start(self, body: bytes) -> None:
        """Sends the request until a run exists. Keeps its stream, unless the events must be opened."""
        contact = self._contact
        give_up_at = time.monotonic() + self._give_up_seconds
        sends = 0
        while True:
            sends += 1
            answer = contact.send("POST", "/get_completion_v2", body)
            header = None if answer is None else answer.headers.get("x-agent-run-admitted")
            if answer is not None and header == "true":
                self._admitted(answer)
                return
            error = None if answer is None else contact.error_of(answer)
            # A refusal that was cut counts as no answer.
            is_refused = header == "false" and sends == 1 and error is not None
            if not is_refused and self._find_run():
                return
            # Here nothing is reserved. The same 4xx of a proxy would follow every send.
            if error is None or (header != "false" and (error.status or 0) >= 500):
                contact.pause()
                continue
            pause = contact.next_pause() if error.retry_after_seconds is None else error.retry_after_seconds
            if not error.retryable or time.monotonic() + pause > give_up_at:
                error.admitted = False
                raise error
            contact.sleep(pause)
            contact.bytes_arrived()

    def _admitted(self, answer: Answer) -> None:
        self._place["runId"] = answer.headers.get("x-run-id")
        self._place["chatId"] = unquote(answer.headers.get("x-chat-id", ""))
        self._is_replayed = answer.headers.get("x-run-replayed") == "true"
        if answer.headers.get("content-type", "").startswith("text/event-stream"):
            self._stream = answer
        else:
            # In Text Only Mode the events are at their own address.
            answer.close()

    def _find_run(self) -> bool:
        """Asks the chat status until it answers. Returns False if no run has the id and the request can be resent."""
        contact = self._contact
        path = path_of(self._place["apiIntegrationId"], "chat_status")
        query = f"?usageRequestId={quote(str(self._place['usageRequestId']), safe='')}"
        while True:
            answer = contact.send("GET", path + query)
            if answer is not None and answer.ok:
                status = _json_in(contact.body_of(answer))
                run = status.get("run")
                if isinstance(run, dict):
                    self._place["runId"] = run["runId"]
                    self._place["chatId"] = status["chatId"]
                    return True
            elif answer is not None:
                error = contact.error_of(answer)
                if self._body is not None and error is not None and error.code == "run_not_found":
                    return False
                contact.raise_if_final(error, "unknown")
            contact.pause()

    def _open_events(self) -> Answer | None:
        """Opens the events after the last id. Returns None if the run has ended and there are no more."""
        contact = self._contact
        path = path_of(self._place["apiIntegrationId"], "runs", self._place["runId"], "events")
        while True:
            last = self._place["lastEventId"]
            answer = contact.send("GET", path, None, {} if last == 0 else {"Last-Event-ID": str(last)})
            if answer is not None and answer.ok:
                if answer.status == 200:
                    return answer
                answer.close()
                return None
            if answer is not None:
                contact.raise_if_final(contact.error_of(answer), True)
            contact.pause()


def _json_in(data: bytes | None) -> dict[str, Any]:
    try:
        value = json.loads(data or b"")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def frames_in(pieces: Iterable[bytes]) -> Iterator[Frame]:
    """Reads the events of a stream. An event that was cut off is left out."""
    rest = b""
    fields: dict[str, str] = {}
    for piece in pieces:
        # Bytes are split before they are decoded, so a character that arrives in two pieces is whole.
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            text = line.removesuffix(b"\r").decode("utf-8", "replace")
            if text:
                name, _, value = text.partition(":")
                value = value.removeprefix(" ")
                fields[name] = f"{fields['data']}\n{value}" if name == "data" and "data" in fields else value
                continue
            if "id" in fields and "data" in fields:
                yield Frame(int(fields["id"]), fields.get("event"), fields["data"])
            fields = {}
