"""A client process of the proof `sdk`, in Python. `sdk-client.ts` explains the job and the reports."""

from __future__ import annotations

import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Iterator

import runwire
from runwire import _errors, _http, _recovery, _run, _transport

writing = threading.Lock()
COMPLETION = "/get_completion_v2"
HUGE_ID = 999_999_999_999
NO_MESSAGES: dict[str, Any] = {
    **{"run_id": "", "chatId": "", "status": "completed", "new_messages": [], "output": None},
    **{"pending": [], "usage": {}, "files": [], "error": None},
}


class CountingTransport(_transport.Transport):
    """Counts the requests of one run."""

    requests = 0

    def send(self, *request: Any, **more: Any) -> _http.Answer:
        self.requests += 1
        return super().send(*request, **more)


def run_one(job: dict[str, Any], run_id: str) -> None:
    timing = runwire.Timing(
        silence_seconds=job["silenceMs"] / 1000, min_pause_seconds=0.05, max_pause_seconds=1
    )
    client = runwire.Runwire(job["baseUrl"], job["apiKey"], job["integration"], timing=timing)
    transport = CountingTransport(job["baseUrl"], job["apiKey"], job["integration"], timing, None)
    client._transport = transport
    report: dict[str, Any] = {"id": run_id, "runId": None, "text": "", "error": None}
    try:
        run = client.run(run_id, usage_request_id=run_id, consumer_id=job["consumerId"])
        run.text()
        report.update(runId=run.handle["runId"], text=run.current_text)
    except Exception as error:
        report["error"] = f"{getattr(error, 'code', type(error).__name__)}: {error}"
    with writing:
        print(json.dumps({**report, "requests": transport.requests}), flush=True)


def new_id_on_retry() -> None:
    """Sends a request again under another id."""
    sends: dict[str, int] = {}
    send = _transport.Transport.send

    def with_new_id(self: Any, method: str, path: str, body: bytes | None = None, *more: Any) -> Any:
        if path == COMPLETION and body is not None:
            request = json.loads(body)
            run_id = request["usageRequestId"]
            sends[run_id] = sends.get(run_id, 0) + 1
            if sends[run_id] > 1:
                body = json.dumps({**request, "usageRequestId": f"{run_id}-{sends[run_id]}"}).encode()
        return send(self, method, path, body, *more)

    setattr(_transport.Transport, "send", with_new_id)


def trust_end_of_stream() -> None:
    """Takes the end of a connection for the end of the run."""
    frames_in = _recovery.frames_in

    def with_end(pieces: Iterator[bytes]) -> Iterator[runwire.Frame]:
        try:
            yield from frames_in(pieces)
        except _http.NETWORK_ERRORS:
            pass
        yield runwire.Frame(HUGE_ID, "messages", json.dumps(NO_MESSAGES))
        yield runwire.Frame(HUGE_ID + 1, "end", "[DONE]")

    setattr(_recovery, "frames_in", with_end)


def keep_void_text() -> None:
    """Keeps the text of an attempt that died."""
    event_of = _run.event_of

    def without_resumed(frame: runwire.Frame) -> runwire.RunEvent | None:
        return None if frame.event == "resumed" else event_of(frame)

    setattr(_run, "event_of", without_resumed)


def skip_status() -> None:
    """Takes a request without an answer of the server for refused, and does not ask the chat status."""
    send = _recovery.Contact.send

    def refused_if_unanswered(self: Any, method: str, path: str, *more: Any) -> Any:
        answer = send(self, method, path, *more)
        if path == COMPLETION and (answer is None or "x-agent-run-admitted" not in answer.headers):
            raise _errors.InvalidRequestError("invalid_request", "It was surely refused.", admitted=False)
        return answer

    setattr(_recovery.Contact, "send", refused_if_unanswered)


FAULTS: dict[str, Callable[[], None]] = {
    "new-id-on-retry": new_id_on_retry,
    "trust-end-of-stream": trust_end_of_stream,
    "keep-void-text": keep_void_text,
    "skip-status": skip_status,
}


def main() -> None:
    job = json.load(sys.stdin)
    if job["fault"] is not None:
        FAULTS[job["fault"]]()
    with ThreadPoolExecutor(job["concurrency"]) as pool:
        for run_id in job["ids"]:
            pool.submit(run_one, job, run_id)


main()
