"""Reads server-sent events."""

from __future__ import annotations

from collections import deque

from ._types import Frame


class FrameDecoder:
    """Makes events of the pieces of a stream. An event that was cut off is left out."""

    def __init__(self) -> None:
        self._rest = b""
        self._fields: dict[str, str] = {}
        self._frames: deque[Frame] = deque()

    def next(self) -> Frame | None:
        return self._frames.popleft() if self._frames else None

    def feed(self, piece: bytes) -> None:
        # Bytes are split before they are decoded, so a character that arrives in two pieces is whole.
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            self._take_line(line.removesuffix(b"\r").decode("utf-8", "replace"))

    def _take_line(self, text: str) -> None:
        fields = self._fields
        if text:
            name, _, value = text.partition(":")
            value = value.removeprefix(" ")
            fields[name] = f"{fields['data']}\n{value}" if name == "data" and "data" in fields else value
            return
        if "id" in fields and "data" in fields:
            self._frames.append(Frame(int(fields["id"]), fields.get("event"), fields["data"]))
        self._fields = {}
