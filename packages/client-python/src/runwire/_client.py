"""The client of one Runwire server."""

from __future__ import annotations

import os
import ssl
import uuid
from typing import Any, BinaryIO, Mapping, Sequence

from ._answers import Answering, OnApproval, Tools
from ._http import Timing
from ._run import Run
from ._transport import Transport
from ._types import RunHandle, SandboxFile
from ._upload import OnProgress, upload


class Runwire:
    """A client of one Runwire server. Threads may share it."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        integration: str | None = None,
        *,
        timing: Timing = Timing(),
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        """`integration` is that of every call that names no other.

        `ssl_context` replaces the certificates of the machine.
        """
        self._transport = Transport(base_url, api_key, integration, timing, ssl_context)

    def run(
        self,
        message: str,
        *,
        agent: str | None = None,
        chat_id: str | None = None,
        alias_chat_id: str | None = None,
        consumer_id: str | None = None,
        usage_request_id: str | None = None,
        user_context: Mapping[str, Any] | str | None = None,
        attachments: Sequence[Mapping[str, Any]] | None = None,
        attachment_url_refreshes: Mapping[str, str] | None = None,
        sandbox_files: Sequence[SandboxFile] | None = None,
        answers: Sequence[Mapping[str, Any]] | None = None,
        client_tools: Sequence[Mapping[str, Any]] | None = None,
        integration: str | None = None,
        tools: Tools | None = None,
        on_approval: OnApproval | None = None,
    ) -> Run:
        """Starts a run, and returns when the server has admitted it. It runs once, however often connections break.

        With `tools` and `on_approval` the questions of the run are answered while it is read.
        """
        # The server ignores a blank id, so a run with it could not be found again.
        is_named = usage_request_id is not None and usage_request_id.replace("\ufeff", "").strip() != ""
        fields = {
            "apiIntegrationId": self._transport.integration(integration),
            "message": message,
            "agent": agent,
            "chatId": chat_id,
            "aliasChatId": alias_chat_id,
            "consumerId": consumer_id,
            "usageRequestId": usage_request_id if is_named else str(uuid.uuid4()),
            "user_context": user_context,
            "attachments": attachments,
            "attachmentUrlRefreshes": attachment_url_refreshes,
            "sandboxFiles": sandbox_files,
            "answers": answers,
            "clientTools": client_tools,
        }
        request = {name: value for name, value in fields.items() if value is not None}
        place: RunHandle = {
            "apiIntegrationId": str(request["apiIntegrationId"]),
            "usageRequestId": str(request["usageRequestId"]),
            "runId": None,
            "chatId": chat_id,
            "lastEventId": 0,
        }
        return Run(self._transport, place, request, Answering(tools or {}, on_approval))

    def attach(self, handle: RunHandle, *, after: int = 0) -> Run:
        """Reads a run that was started before, from its start or after an event, during the run or after it."""
        place: RunHandle = {**handle, "lastEventId": after}  # type: ignore[misc]
        place["apiIntegrationId"] = self._transport.integration(handle["apiIntegrationId"])
        return Run(self._transport, place, None, Answering({}, None))

    def upload(
        self,
        file: str | os.PathLike[str] | BinaryIO,
        *,
        folder: str,
        name: str | None = None,
        content_type: str | None = None,
        integration: str | None = None,
        on_progress: OnProgress | None = None,
    ) -> SandboxFile:
        """Uploads a file by its path, or an open file. Pass the result in `sandbox_files` of a run."""
        return upload(
            self._transport,
            file,
            folder=folder,
            name=name,
            content_type=content_type,
            integration=self._transport.integration(integration),
            on_progress=on_progress,
        )
