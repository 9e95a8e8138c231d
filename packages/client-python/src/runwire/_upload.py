"""Uploads: signs a form for a file, and posts it to the storage."""

from __future__ import annotations

import itertools
import mimetypes
import os
import re
import secrets
import time
from typing import Any, BinaryIO, Callable, Iterator, Mapping

from ._errors import InvalidRequestError, UploadError
from ._http import NETWORK_ERRORS
from ._transport import Transport
from ._types import SandboxFile

OnProgress = Callable[[int, int], None]
"""Gets the sent bytes and all bytes, while bytes are sent."""

_PIECE_BYTES = 65_536


def upload(
    transport: Transport,
    file: str | os.PathLike[str] | BinaryIO,
    *,
    folder: str,
    name: str | None,
    content_type: str | None,
    integration: str,
    on_progress: OnProgress | None,
) -> SandboxFile:
    """Signs a form for the file, and posts it.

    The same upload twice leaves the same file: if the form has expired, the connection breaks or the storage fails,
    another form is signed, once.
    """
    if isinstance(file, (str, os.PathLike)):
        with open(file, "rb") as opened:
            return upload(
                transport,
                opened,
                folder=folder,
                name=name or os.path.basename(file),
                content_type=content_type,
                integration=integration,
                on_progress=on_progress,
            )
    source = _Source(file, on_progress)
    file_name = name or os.path.basename(str(getattr(file, "name", "")))
    if not file_name:
        raise InvalidRequestError("invalid_request", "The file has no name; set `name`.")
    kind = content_type or _guess_type(file_name)
    request = {
        "apiIntegrationId": integration,
        "folder": folder,
        "filename": file_name,
        "contentType": kind,
        "sizeBytes": source.size,
    }
    for is_last in (False, True):
        form = transport.call("POST", "/create_agency_upload", request)
        try:
            status, text = _post_form(transport, form, source, file_name, kind)
        except NETWORK_ERRORS as cause:
            if is_last:
                message = f"The storage could not be reached: {cause}; check the address {form['uploadUrl']}."
                raise UploadError("upload_failed", message) from cause
        else:
            if status < 300:
                return {"name": file_name, "path": form["resource"]}
            if is_last or not (status >= 500 or (status == 403 and re.search("expired", text, re.IGNORECASE))):
                raise _refusal(status, text)
        time.sleep(transport.timing.min_pause_seconds)
    raise AssertionError("The last attempt returns or raises.")


class _Source:
    """A file from its current position to its end, which can be read again for another attempt."""

    def __init__(self, file: BinaryIO, on_progress: OnProgress | None) -> None:
        if not file.seekable():
            message = "The file cannot be read twice; pass a path, or `io.BytesIO` with its bytes."
            raise InvalidRequestError("invalid_request", message)
        self._file = file
        self._on_progress = on_progress
        self._start = file.tell()
        self.size = file.seek(0, os.SEEK_END) - self._start

    def pieces(self) -> Iterator[bytes]:
        self._file.seek(self._start)
        sent = 0
        while sent < self.size:
            piece = self._file.read(min(_PIECE_BYTES, self.size - sent))
            if not isinstance(piece, bytes):
                raise InvalidRequestError("invalid_request", "The file is open as text; open it with mode `rb`.")
            if not piece:
                raise InvalidRequestError("invalid_request", "The file became shorter while it was sent.")
            yield piece
            sent += len(piece)
            if self._on_progress is not None:
                self._on_progress(sent, self.size)


def _guess_type(name: str) -> str:
    kind, encoding = mimetypes.guess_type(name)
    return "application/octet-stream" if kind is None or encoding is not None else kind


def _post_form(
    transport: Transport, form: Mapping[str, Any], source: _Source, name: str, kind: str
) -> tuple[int, str]:
    boundary = f"runwire-{secrets.token_hex(16)}"
    head, tail = _around_file(form["uploadFields"], name, kind, boundary)
    headers = {
        "Content-Type": f"multipart/form-data; boundary={boundary}",
        "Content-Length": str(len(head) + source.size + len(tail)),
    }
    pieces = itertools.chain([head], source.pieces(), [tail])
    answer = transport.dialer.send("POST", form["uploadUrl"], headers, pieces)
    return answer.status, answer.read().decode("utf-8", "replace")


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
