"""Uploads: signs a form for a file, and posts it to the storage."""

from __future__ import annotations

import mimetypes
import os
import re
import secrets
from dataclasses import dataclass
from typing import Any, AsyncIterator, BinaryIO, Callable, Mapping

from ._errors import UploadError
from ._http import Address, describe
from ._transport import Transport
from ._types import SandboxFile

OnProgress = Callable[[int, int], None]
"""Gets the sent bytes and all bytes, while bytes are sent."""

_PIECE_BYTES = 65_536


@dataclass(frozen=True)
class UploadRequest:
    """A file to upload."""

    file: str | os.PathLike[str] | BinaryIO
    folder: str
    name: str | None
    content_type: str | None
    integration: str | None
    on_progress: OnProgress | None


async def upload(transport: Transport, request: UploadRequest) -> SandboxFile:
    """Signs a form for the file, and posts it.

    The same upload twice leaves the same file: if the form has expired, the connection breaks or the storage fails,
    another form is signed, once.
    """
    integration = await transport.integration(request.integration)
    file = request.file
    if not isinstance(file, (str, os.PathLike)):
        return await _upload_open(transport, request, file, integration)
    path = file
    opened: BinaryIO = await transport.io.call(lambda: open(path, "rb"))
    with opened:
        return await _upload_open(transport, request, opened, integration)


async def _upload_open(
    transport: Transport, request: UploadRequest, file: BinaryIO, integration: str
) -> SandboxFile:
    name = request.name or os.path.basename(str(getattr(file, "name", "")))
    if not name:
        raise ValueError("The file has no name; set `name`.")
    source = _Source(transport, file, request.on_progress)
    await source.measure()
    kind = request.content_type or _guess_type(name)
    terms = {
        "apiIntegrationId": integration,
        "folder": request.folder,
        "filename": name,
        "contentType": kind,
        "sizeBytes": source.size,
    }
    for is_last in (False, True):
        form = await transport.json("POST /create_agency_upload", terms)
        try:
            status, text = await _post_form(transport, form, source, name, kind)
        except OSError as cause:
            if is_last:
                message = f"The storage could not be reached: {describe(cause)}; check the address {form['uploadUrl']}."
                raise UploadError("upload_failed", message) from cause
        else:
            if status < 300:
                return {"name": name, "path": form["resource"]}
            if is_last or not (status >= 500 or (status == 403 and re.search("expired", text, re.IGNORECASE))):
                raise _refusal(status, text)
        await transport.io.event().wait(transport.timing.min_pause_seconds)
    raise AssertionError("The last attempt returns or raises.")


class _Source:
    """A file from its current position to its end, which can be read again for another attempt."""

    def __init__(self, transport: Transport, file: BinaryIO, on_progress: OnProgress | None) -> None:
        if not file.seekable():
            raise ValueError("The file cannot be read twice; pass a path, or `io.BytesIO` with its bytes.")
        self._io = transport.io
        self._file = file
        self._on_progress = on_progress
        self._start = 0
        self.size = 0

    async def measure(self) -> None:
        self._start = self._file.tell()
        self.size = await self._io.call(lambda: self._file.seek(0, os.SEEK_END)) - self._start

    async def pieces(self) -> AsyncIterator[bytes]:
        await self._io.call(lambda: self._file.seek(self._start))
        sent = 0
        while sent < self.size:
            size = min(_PIECE_BYTES, self.size - sent)
            piece = await self._io.call(lambda: self._file.read(size))
            if not isinstance(piece, bytes):
                raise ValueError("The file is open as text; open it with mode `rb`.")
            if not piece:
                raise UploadError("upload_failed", "The file became shorter while it was sent.")
            yield piece
            sent += len(piece)
            if self._on_progress is not None:
                self._on_progress(sent, self.size)


def _guess_type(name: str) -> str:
    kind, encoding = mimetypes.guess_type(name)
    return "application/octet-stream" if kind is None or encoding is not None else kind


async def _post_form(
    transport: Transport, form: Mapping[str, Any], source: _Source, name: str, kind: str
) -> tuple[int, str]:
    boundary = f"runwire-{secrets.token_hex(16)}"
    head, tail = _around_file(form["uploadFields"], name, kind, boundary)
    headers = {
        "Content-Type": f"multipart/form-data; boundary={boundary}",
        "Content-Length": str(len(head) + source.size + len(tail)),
    }

    async def pieces() -> AsyncIterator[bytes]:
        yield head
        async for piece in source.pieces():
            yield piece
        yield tail

    answer = await transport.dialer.send("POST", Address.parse(form["uploadUrl"]), headers, pieces())
    return answer.status, (await answer.read()).decode("utf-8", "replace")


def _around_file(fields: Mapping[str, str], name: str, kind: str, boundary: str) -> tuple[bytes, bytes]:
    """The signed fields in their order, then the file: the storage ignores what follows the file."""
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'
        for field, value in fields.items()
    ]
    escaped = name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
    parts.append(
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{escaped}"\r\n'
        f"Content-Type: {kind}\r\n\r\n"
    )
    return "".join(parts).encode(), f"\r\n--{boundary}--\r\n".encode()


def _refusal(status: int, text: str) -> UploadError:
    found = {tag: value for tag, value in re.findall(r"<(Code|Message|RequestId)>([^<]*)", text)}
    reason = ": ".join(found[tag] for tag in ("Code", "Message") if tag in found)
    message = f"The storage refused the file with status {status}. {reason or text[:200]}"
    return UploadError("upload_failed", message, status=status, request_id=found.get("RequestId"))
