"""A client process of the proof `sdk`, in Python: `Runwire` with threads, or with the argument `asyncio` `AsyncRunwire`.

`sdk-client.ts` explains the job and the reports.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable

import runwire
from runwire import _errors, _events, _http, _recovery, _run, _transport

writing = threading.Lock()
COMPLETION = "/get_completion_v2"
HUGE_ID = 999_999_999_999
NO_MESSAGES: dict[str, Any] = {
    **{"run_id": "", "chatId": "", "status": "completed", "new_messages": [], "output": None},
    **{"pending": [], "usage": {}, "files": [], "error": None},
}
END = (
    f"id: {HUGE_ID}\nevent: messages\ndata: {json.dumps(NO_MESSAGES)}\n\n"
    f"id: {HUGE_ID + 1}\nevent: end\ndata: [DONE]\n\n"
)


def count_requests(transport: _transport.Transport) -> list[int]:
    """Counts the requests of one client. Both clients share the transport."""
    counts = [0]
    send = transport.send

    async def counting(*request: Any, **more: Any) -> _http.Answer:
        counts[0] += 1
        return await send(*request, **more)

    setattr(transport, "send", counting)
    return counts


def settings(job: dict[str, Any]) -> dict[str, Any]:
    # Every run has a client of its own, and the server may start for longer than 10 s on a busy machine.
    timing = runwire.Timing(
        silence_seconds=job["silenceMs"] / 1000, min_pause_seconds=0.05, max_pause_seconds=1, connect_seconds=120
    )
    return {"base_url": job["baseUrl"], "api_key": job["apiKey"], "integration": job["integration"], "timing": timing}


def write(run_id: str, requests: list[int], run: runwire.Run | runwire.AsyncRun | Exception) -> None:
    report: dict[str, Any] = {"id": run_id, "runId": None, "text": "", "error": None, "requests": requests[0]}
    if isinstance(run, Exception):
        report["error"] = f"{getattr(run, 'code', type(run).__name__)}: {run}"
    else:
        report.update(runId=run.handle["runId"], text=run.current_text)
    with writing:
        print(json.dumps(report), flush=True)


def run_in_thread(job: dict[str, Any], run_id: str) -> None:
    client = runwire.Runwire(**settings(job))
    requests = count_requests(client._transport)
    try:
        run = client.run(run_id, usage_request_id=run_id, consumer_id=job["consumerId"])
        run.text()
    except Exception as error:
        write(run_id, requests, error)
    else:
        write(run_id, requests, run)


async def run_in_task(job: dict[str, Any], run_id: str) -> None:
    client = runwire.AsyncRunwire(**settings(job))
    requests = count_requests(client._transport)
    try:
        run = await client.run(run_id, usage_request_id=run_id, consumer_id=job["consumerId"])
        await run.text()
    except Exception as error:
        write(run_id, requests, error)
    else:
        write(run_id, requests, run)


def new_id_on_retry() -> None:
    """Sends a request again under another id."""
    sends: dict[str, int] = {}
    send = _transport.Transport.send

    async def with_new_id(self: Any, method: str, path: str, body: bytes | None = None, *more: Any) -> Any:
        if path == COMPLETION and body is not None:
            request = json.loads(body)
            run_id = request["usageRequestId"]
            sends[run_id] = sends.get(run_id, 0) + 1
            if sends[run_id] > 1:
                body = json.dumps({**request, "usageRequestId": f"{run_id}-{sends[run_id]}"}).encode()
        return await send(self, method, path, body, *more)

    setattr(_transport.Transport, "send", with_new_id)


def trust_end_of_stream() -> None:
    """Takes the end of a connection for the end of the run."""
    piece = _http.Answer.piece

    async def with_end(self: Any) -> bytes:
        if not self.headers.get("content-type", "").startswith("text/event-stream"):
            return await piece(self)
        rest: bytes = getattr(self, "rest", b"")
        while True:
            try:
                data = await piece(self)
            except OSError:
                data = b""
            # An event that was cut off is left out.
            frames, separator, self.rest = (rest + data).rpartition(b"\n\n")
            if not data or separator:
                return frames + separator + (b"" if data else END.encode())
            rest = self.rest

    setattr(_http.Answer, "piece", with_end)


def keep_void_text() -> None:
    """Keeps the text of an attempt that died."""
    event_in = _events.event_in

    def without_resumed(frame: runwire.Frame) -> runwire.RunEvent | None:
        return None if frame.event == "resumed" else event_in(frame)

    setattr(_run, "event_in", without_resumed)


def skip_status() -> None:
    """Takes a request without an answer of the server for refused, and does not ask the chat status."""
    send = _recovery.Contact.send

    async def refused_if_unanswered(self: Any, method: str, path: str, *more: Any) -> Any:
        answer = await send(self, method, path, *more)
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


async def run_tasks(job: dict[str, Any]) -> None:
    ids = iter(job["ids"])

    async def lane() -> None:
        for run_id in ids:
            await run_in_task(job, run_id)

    await asyncio.gather(*(lane() for _ in range(job["concurrency"])))


def main() -> None:
    job = json.load(sys.stdin)
    if job["fault"] is not None:
        FAULTS[job["fault"]]()
    if sys.argv[1:] == ["asyncio"]:
        asyncio.run(run_tasks(job))
        return
    with ThreadPoolExecutor(job["concurrency"]) as pool:
        for run_id in job["ids"]:
            pool.submit(run_in_thread, job, run_id)


main()
