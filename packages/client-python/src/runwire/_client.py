"""The clients of one Runwire server, for threads and for asyncio."""

from __future__ import annotations

import os
import ssl
import uuid
from typing import Any, BinaryIO, ClassVar, Generic, Literal, Mapping, Sequence, TypeVar

from ._answers import Answering, AsyncOnApproval, OnApproval, Tools
from ._api import Api
from ._async_api import AsyncApi
from ._async_io import AsyncioIo
from ._credentials import ApiKey, AsyncApiKey
from ._io import finish
from ._resource import Caller
from ._run import RunReader
from ._sync_io import SocketIo
from ._timing import Timing
from ._transport import Transport, fill
from ._types import RunHandle, SandboxFile
from ._upload import OnProgress, UploadRequest, upload
from ._views import AsyncRun, Run


Key = TypeVar("Key", bound=AsyncApiKey)


class _Client(Caller, Generic[Key]):
    """The constructor of both clients. The class that follows it in a client adds the operations."""

    _make_io: ClassVar[type[SocketIo] | type[AsyncioIo]]

    def __init__(
        self,
        base_url: str,
        api_key: Key,
        integration: str | None = None,
        *,
        timing: Timing = Timing(),
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        """`integration` is that of every call that names no other.

        `api_key` may be a function that returns a client token; it is asked again shortly before the token ends.
        `ssl_context` replaces the certificates of the machine.
        """
        super().__init__(Transport(self._make_io(ssl_context), base_url, api_key, integration, timing))


class Runwire(_Client[ApiKey], Api):
    """A client of one Runwire server. Threads may share it."""

    _make_io = SocketIo

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
        history: Sequence[Mapping[str, Any]] | None = None,
        instructions: str | None = None,
        integration: str | None = None,
        tools: Tools | None = None,
        on_approval: OnApproval | None = None,
    ) -> Run:
        """Starts a run, and returns when the server has admitted it. It runs once, however often connections break.

        With `tools` and `on_approval` the questions of the run are answered while it is read.
        """
        fields = {
            "message": message,
            "agent": agent,
            "chatId": chat_id,
            "aliasChatId": alias_chat_id,
            "consumerId": consumer_id,
            "usageRequestId": usage_request_id,
            "user_context": user_context,
            "attachments": attachments,
            "attachmentUrlRefreshes": attachment_url_refreshes,
            "sandboxFiles": sandbox_files,
            "answers": answers,
            "clientTools": client_tools,
            "history": history,
            "instructions": instructions,
        }
        answering = Answering(tools or {}, on_approval, self._transport.io)
        reader = finish(_start(self._transport, fields, integration, answering))
        return Run(reader, finish(reader.admit()))

    def rerun(
        self,
        run_id: str,
        *,
        after_step: int | None = None,
        message: str | None = None,
        agent: str | None = None,
        agency: str | None = None,
        model: str | None = None,
        instructions: str | None = None,
        user_context: Mapping[str, Any] | str | None = None,
        tools: Literal["recorded", "live"] | None = None,
        keep: bool | None = None,
        usage_request_id: str | None = None,
        integration: str | None = None,
    ) -> Run:
        """Runs a run again, also from one of its steps on. The rerun is read like any run."""
        fields = {
            "afterStep": after_step,
            "message": message,
            "agent": agent,
            "agency": agency,
            "model": model,
            "instructions": instructions,
            "user_context": user_context,
            "tools": tools,
            "keep": keep,
            "usageRequestId": usage_request_id,
        }
        reader = finish(_rerun(self._transport, run_id, fields, integration))
        return Run(reader, finish(reader.admit()))

    def evaluate(
        self,
        request: Mapping[str, Any],
        *,
        tools: Mapping[str, Any] | None = None,
        recorded: Sequence[Mapping[str, Any]] | None = None,
        usage_request_id: str | None = None,
        integration: str | None = None,
    ) -> Run:
        """Starts a run for an eval: its calls get given outcomes. It is read like any run."""
        fields = {"request": request, "tools": tools, "recorded": recorded, "usageRequestId": usage_request_id}
        reader = finish(_evaluate(self._transport, fields, integration))
        return Run(reader, finish(reader.admit()))

    def attach(self, handle: RunHandle, *, after: int = 0) -> Run:
        """Reads a run that was started before, from its start or after an event, during the run or after it."""
        reader = finish(_attach(self._transport, handle, after))
        return Run(reader, finish(reader.admit()))

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
        request = UploadRequest(file, folder, name, content_type, integration, on_progress)
        return finish(upload(self._transport, request))


class AsyncRunwire(_Client[AsyncApiKey], AsyncApi):
    """A client of one Runwire server, for asyncio. Tasks of one event loop may share it."""

    _make_io = AsyncioIo

    async def run(
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
        history: Sequence[Mapping[str, Any]] | None = None,
        instructions: str | None = None,
        integration: str | None = None,
        tools: Tools | None = None,
        on_approval: AsyncOnApproval | None = None,
    ) -> AsyncRun:
        """Starts a run, and returns when the server has admitted it. It runs once, however often connections break.

        With `tools` and `on_approval` the questions of the run are answered while it is read.
        """
        fields = {
            "message": message,
            "agent": agent,
            "chatId": chat_id,
            "aliasChatId": alias_chat_id,
            "consumerId": consumer_id,
            "usageRequestId": usage_request_id,
            "user_context": user_context,
            "attachments": attachments,
            "attachmentUrlRefreshes": attachment_url_refreshes,
            "sandboxFiles": sandbox_files,
            "answers": answers,
            "clientTools": client_tools,
            "history": history,
            "instructions": instructions,
        }
        answering = Answering(tools or {}, on_approval, self._transport.io)
        reader = await _start(self._transport, fields, integration, answering)
        return AsyncRun(reader, await reader.admit())

    async def rerun(
        self,
        run_id: str,
        *,
        after_step: int | None = None,
        message: str | None = None,
        agent: str | None = None,
        agency: str | None = None,
        model: str | None = None,
        instructions: str | None = None,
        user_context: Mapping[str, Any] | str | None = None,
        tools: Literal["recorded", "live"] | None = None,
        keep: bool | None = None,
        usage_request_id: str | None = None,
        integration: str | None = None,
    ) -> AsyncRun:
        """Runs a run again, also from one of its steps on. The rerun is read like any run."""
        fields = {
            "afterStep": after_step,
            "message": message,
            "agent": agent,
            "agency": agency,
            "model": model,
            "instructions": instructions,
            "user_context": user_context,
            "tools": tools,
            "keep": keep,
            "usageRequestId": usage_request_id,
        }
        reader = await _rerun(self._transport, run_id, fields, integration)
        return AsyncRun(reader, await reader.admit())

    async def evaluate(
        self,
        request: Mapping[str, Any],
        *,
        tools: Mapping[str, Any] | None = None,
        recorded: Sequence[Mapping[str, Any]] | None = None,
        usage_request_id: str | None = None,
        integration: str | None = None,
    ) -> AsyncRun:
        """Starts a run for an eval: its calls get given outcomes. It is read like any run."""
        fields = {"request": request, "tools": tools, "recorded": recorded, "usageRequestId": usage_request_id}
        reader = await _evaluate(self._transport, fields, integration)
        return AsyncRun(reader, await reader.admit())

    async def attach(self, handle: RunHandle, *, after: int = 0) -> AsyncRun:
        """Reads a run that was started before, from its start or after an event, during the run or after it."""
        reader = await _attach(self._transport, handle, after)
        return AsyncRun(reader, await reader.admit())

    async def upload(
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
        request = UploadRequest(file, folder, name, content_type, integration, on_progress)
        return await upload(self._transport, request)


async def _start(
    transport: Transport, fields: Mapping[str, Any], integration: str | None, answering: Answering
) -> RunReader:
    place, request = await _new_run(transport, fields, integration)
    return RunReader(transport, place, {"apiIntegrationId": place["apiIntegrationId"], **request}, answering)


async def _rerun(
    transport: Transport, run_id: str, fields: Mapping[str, Any], integration: str | None
) -> RunReader:
    place, request = await _new_run(transport, fields, integration)
    names = {"apiIntegrationId": place["apiIntegrationId"], "runId": run_id}
    path = fill("/v2/integrations/:apiIntegrationId/runs/:runId/rerun", names)
    # Its questions are answered in its chat.
    return RunReader(transport, place, request, Answering({}, None, transport.io), path)


async def _evaluate(transport: Transport, fields: Mapping[str, Any], integration: str | None) -> RunReader:
    place, request = await _new_run(transport, fields, integration)
    path = fill("/v2/integrations/:apiIntegrationId/evals/run", {"apiIntegrationId": place["apiIntegrationId"]})
    return RunReader(transport, place, request, Answering({}, None, transport.io), path)


async def _new_run(
    transport: Transport, fields: Mapping[str, Any], integration: str | None
) -> tuple[RunHandle, dict[str, Any]]:
    given = {name: value for name, value in fields.items() if value is not None}
    usage_request_id = str(given.get("usageRequestId", ""))
    # The server ignores a blank id, so a run with it could not be found again.
    if usage_request_id.replace("\ufeff", "").strip() == "":
        usage_request_id = str(uuid.uuid4())
    place: RunHandle = {
        "apiIntegrationId": await transport.integration(integration),
        "usageRequestId": usage_request_id,
        "runId": None,
        "chatId": fields.get("chatId"),
        "lastEventId": 0,
    }
    return place, {**given, "usageRequestId": usage_request_id}


async def _attach(transport: Transport, handle: RunHandle, after: int) -> RunReader:
    if not handle["runId"] and not handle["usageRequestId"]:
        raise ValueError("The handle names no run: `runId` and `usageRequestId` are empty.")
    place: RunHandle = {
        "apiIntegrationId": await transport.integration(handle["apiIntegrationId"]),
        "usageRequestId": handle["usageRequestId"],
        "runId": handle["runId"] or None,
        "chatId": handle["chatId"],
        "lastEventId": after,
    }
    return RunReader(transport, place, None, Answering({}, None, transport.io))
