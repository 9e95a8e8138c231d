"""Requests on connections of their own: no redirects, no proxies of the environment, a limit for silence."""

from __future__ import annotations

import http.client
import random
import socket
import ssl
import threading
from dataclasses import dataclass
from io import BufferedReader
from typing import Iterable, Iterator, Mapping, cast
from urllib.parse import SplitResult, urlsplit

NETWORK_ERRORS = (OSError, http.client.HTTPException)
"""The connection broke, was refused or fell silent."""

_PIECE_BYTES = 65_536


@dataclass(frozen=True)
class Timing:
    """How long the client waits, in seconds."""

    silence_seconds: float = 30
    """A connection that sends nothing for this long counts as cut. The server sends a comment every 10 s."""
    give_up_seconds: float = 120
    """After this long without contact a run fails with `ConnectionLostError`; for this long a refusal is retried."""
    min_pause_seconds: float = 0.25
    """The first pause before a retry. Each further pause is twice as long."""
    max_pause_seconds: float = 5


class Backoff:
    """Pauses that grow from the minimum to the maximum. Jitter keeps clients that were cut together apart."""

    def __init__(self, timing: Timing) -> None:
        self._timing = timing
        self._next = timing.min_pause_seconds

    def reset(self) -> None:
        self._next = self._timing.min_pause_seconds

    def next(self) -> float:
        pause = self._next * random.uniform(0.5, 1)
        self._next = min(2 * self._next, self._timing.max_pause_seconds)
        return pause


class Stop:
    """Ends the waiting of one reader from another thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._event = threading.Event()
        self._socket: socket.socket | None = None

    def set(self) -> None:
        with self._lock:
            self._event.set()
            self._shut()

    @property
    def is_set(self) -> bool:
        return self._event.is_set()

    def watch(self, connected: socket.socket) -> None:
        with self._lock:
            self._socket = connected
            if self._event.is_set():
                self._shut()

    def wait(self, seconds: float) -> None:
        self._event.wait(seconds)

    def _shut(self) -> None:
        if self._socket is None:
            return
        try:
            # Not the method of an SSL socket: it would read on without TLS.
            socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
        except OSError:
            pass  # It is closed already.


class _WholeLines:
    """Reads the head of an answer. `http.client` would take a connection that ends in the head for its end."""

    def __init__(self, file: BufferedReader) -> None:
        self._file = file

    def readline(self, limit: int = -1) -> bytes:
        line = self._file.readline(limit)
        if not line.endswith(b"\n") and len(line) != limit:
            raise http.client.RemoteDisconnected("The connection ended in the head of the answer.")
        return line


class _Response(http.client.HTTPResponse):
    def begin(self) -> None:
        file = self.fp
        self.fp = cast(BufferedReader, _WholeLines(file))
        try:
            super().begin()
        finally:
            self.fp = file


class Answer:
    """The status and the headers of an answer, and its body while it arrives."""

    def __init__(self, connection: http.client.HTTPConnection, response: http.client.HTTPResponse) -> None:
        self._connection = connection
        self._response = response
        self.status = response.status
        self.headers: Mapping[str, str] = {name.lower(): value for name, value in response.getheaders()}

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    def pieces(self) -> Iterator[bytes]:
        """The body as it arrives. Raises one of `NETWORK_ERRORS` if the connection breaks or falls silent."""
        try:
            while piece := self._response.read1(_PIECE_BYTES):
                yield piece
        finally:
            self.close()

    def read(self) -> bytes:
        """The whole body. Raises one of `NETWORK_ERRORS` if it was cut."""
        try:
            return self._response.read()
        finally:
            self.close()

    def close(self) -> None:
        self._response.close()
        self._connection.close()


class Dialer:
    """Opens a connection for each request."""

    def __init__(self, silence_seconds: float, context: ssl.SSLContext | None) -> None:
        self._silence_seconds = silence_seconds
        self._context = context
        self._lock = threading.Lock()

    def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: Iterable[bytes] = (),
        *,
        sending_seconds: float = 0,
        stop: Stop | None = None,
    ) -> Answer:
        """Returns any answer, also a refusal. Raises one of `NETWORK_ERRORS` if none arrives."""
        parts = urlsplit(url)
        connection = self._connection_to(parts)
        connection.response_class = _Response
        try:
            connection.connect()
            connected: socket.socket = connection.sock
            if stop is not None:
                stop.watch(connected)
            # The timeout of a socket is that of sending a whole piece.
            connected.settimeout(self._silence_seconds + sending_seconds)
            connection.putrequest(method, parts.path + (f"?{parts.query}" if parts.query else ""))
            for name, value in headers.items():
                connection.putheader(name, value)
            connection.putheader("Connection", "close")
            try:
                connection.endheaders()
                for piece in body:
                    connection.send(piece)
            except (BrokenPipeError, ConnectionResetError):
                pass  # The server may have refused the request before its end. Then its answer can be read.
            connected.settimeout(self._silence_seconds)
            return Answer(connection, connection.getresponse())
        except BaseException:
            connection.close()
            raise

    def _connection_to(self, parts: SplitResult) -> http.client.HTTPConnection:
        host = parts.hostname or ""
        if parts.scheme == "http":
            return http.client.HTTPConnection(host, parts.port, timeout=self._silence_seconds)
        with self._lock:
            # Reading the certificates of the machine takes long, so it is done once.
            if self._context is None:
                self._context = ssl.create_default_context()
        return http.client.HTTPSConnection(host, parts.port, timeout=self._silence_seconds, context=self._context)
