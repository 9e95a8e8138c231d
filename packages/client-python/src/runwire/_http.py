"""HTTP/1.1 on connections of their own: no redirects, no proxies of the environment, a limit for silence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import AsyncIterable, Mapping
from urllib.parse import quote, urlsplit

from ._io import Connection, Io, Stop
from ._timing import Timing

_MAX_HEAD_BYTES = 65_536
_BYTES_PER_SECOND = 65_536
"""Slow links may take one second per this many bytes of a request."""
_UNQUOTED = "%/:=&?~+!$,;'@()*[]-._"


class BrokenAnswerError(ConnectionError):
    """The connection ended before the answer did, or the answer is not HTTP."""


def describe(error: Exception) -> str:
    """The reason in a sentence of ours."""
    return str(error).rstrip(".") or type(error).__name__


@dataclass(frozen=True)
class Address:
    """The address of a server."""

    is_tls: bool
    host: str
    port: int
    host_header: str
    target: str
    """Path and query."""

    @staticmethod
    def parse(url: str) -> Address:
        """Raises a `ValueError` if the text is not the address of a server."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
            raise ValueError("it must begin with http:// or https:// and a host")
        is_tls = parts.scheme == "https"
        host = parts.hostname
        if ":" not in host:
            host = host.encode("idna").decode("ascii")
        shown = f"[{host}]" if ":" in host else host
        target = quote(parts.path + (f"?{parts.query}" if parts.query else ""), safe=_UNQUOTED)
        port = parts.port
        host_header = shown if port is None else f"{shown}:{port}"
        return Address(is_tls, host, port or (443 if is_tls else 80), host_header, target)


class Answer:
    """The status and the headers of an answer, and its body while it arrives."""

    def __init__(self, connection: Connection, silence_seconds: float) -> None:
        self._connection = connection
        self._silence_seconds = silence_seconds
        self._received = bytearray()
        self._is_chunked = False
        self._has_begun = False
        self._left: int | None = None
        """Bytes of the body, or of the chunk, that have not been returned. None: until the connection ends."""
        self._is_over = False
        self.status = 0
        self.headers: Mapping[str, str] = {}

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    async def read_head(self, method: str) -> None:
        while self.status < 200:
            # Answers with a status below 200 precede the answer itself.
            first = (await self._line()).decode("latin-1")
            found = re.match(r"HTTP/1\.\d (\d{3})(?: |$)", first)
            if found is None:
                raise BrokenAnswerError(f"The answer is not HTTP; it begins: {first[:100]!r}")
            self.status = int(found[1])
            self.headers = await self._fields()
        length = self.headers.get("content-length", "")
        self._is_chunked = "chunked" in self.headers.get("transfer-encoding", "").lower()
        self._is_over = method == "HEAD" or self.status in (204, 304)
        if self._is_chunked:
            self._left = 0
        elif length:
            if not re.fullmatch(r"\d+", length):
                raise BrokenAnswerError(f"The answer has the length {length[:100]!r}.")
            self._left = int(length)
        if self._is_over or (self._left == 0 and not self._is_chunked):
            self.close()

    async def piece(self) -> bytes:
        """The body as it arrives. Empty at its end. Raises an `OSError` if the connection breaks or falls silent."""
        if self._is_chunked and self._left == 0 and not self._is_over:
            await self._next_chunk()
        if self._is_over or self._left == 0:
            self.close()
            return b""
        if not self._received and not await self._receive():
            if self._left is not None:
                raise BrokenAnswerError("The connection ended before the answer did.")
            self._is_over = True
            return b""
        size = len(self._received) if self._left is None else min(self._left, len(self._received))
        data = bytes(self._received[:size])
        del self._received[:size]
        if self._left is not None:
            self._left -= size
        return data

    async def read(self) -> bytes:
        """The whole body. Raises an `OSError` if it was cut."""
        try:
            pieces = []
            while piece := await self.piece():
                pieces.append(piece)
            return b"".join(pieces)
        finally:
            self.close()

    def close(self) -> None:
        self._connection.close()

    async def _next_chunk(self) -> None:
        if self._has_begun:
            await self._line()
        self._has_begun = True
        size = (await self._line()).split(b";")[0].strip()
        if not re.fullmatch(rb"[0-9a-fA-F]{1,15}", size):
            raise BrokenAnswerError(f"A chunk of the answer has the size {size[:100]!r}.")
        self._left = int(size, 16)
        if self._left == 0:
            await self._fields()
            self._is_over = True

    async def _fields(self) -> dict[str, str]:
        fields: dict[str, str] = {}
        size = 0
        while line := await self._line():
            size += len(line)
            if size > _MAX_HEAD_BYTES:
                raise BrokenAnswerError("The head of the answer is too long.")
            name, _, value = line.decode("latin-1").partition(":")
            fields[name.strip().lower()] = value.strip()
        return fields

    async def _line(self) -> bytes:
        while (end := self._received.find(b"\n")) < 0:
            if len(self._received) > _MAX_HEAD_BYTES:
                raise BrokenAnswerError("The head of the answer is too long.")
            if not await self._receive():
                raise BrokenAnswerError("The connection ended in the head of the answer.")
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        return line.removesuffix(b"\r")

    async def _receive(self) -> bool:
        """Returns False if the connection has ended."""
        data = await self._connection.receive(self._silence_seconds)
        self._received += data
        return bool(data)


class Dialer:
    """Opens a connection for each request."""

    def __init__(self, io: Io, timing: Timing) -> None:
        self._io = io
        self._timing = timing
        self.has_answered = False
        """True if a server ever answered."""

    async def send(
        self,
        method: str,
        address: Address,
        headers: Mapping[str, str],
        body: bytes | AsyncIterable[bytes] = b"",
        *,
        stop: Stop | None = None,
    ) -> Answer:
        """Returns any answer, also a refusal. Raises an `OSError` if none arrives."""
        timing = self._timing
        connection = await self._io.connect(address.host, address.port, address.is_tls, timing.connect_seconds)
        try:
            if stop is not None:
                stop.watch(connection)
            lines = [f"{method} {address.target or '/'} HTTP/1.1", f"Host: {address.host_header}", "Connection: close"]
            lines += [f"{name}: {value}" for name, value in headers.items()]
            head = "\r\n".join([*lines, "", ""]).encode("latin-1")
            try:
                if isinstance(body, bytes):
                    await self._write(connection, head + body)
                else:
                    await self._write(connection, head)
                    async for piece in body:
                        await self._write(connection, piece)
            except (BrokenPipeError, ConnectionResetError):
                pass  # The server may have refused the request before its end. Then its answer can be read.
            answer = Answer(connection, timing.silence_seconds)
            await answer.read_head(method)
            self.has_answered = True
            return answer
        except BaseException:
            connection.close()
            raise

    async def _write(self, connection: Connection, data: bytes) -> None:
        await connection.send(data, self._timing.silence_seconds + len(data) / _BYTES_PER_SECOND)
