"""Operations of the API for asyncio. Made from the schemas by `npm run contract-types`; do not edit."""

from __future__ import annotations

from typing import Any, Literal, Mapping, Sequence

from . import models
from ._resource import AsyncContent, AsyncItemList, AsyncResource, Caller
from ._transport import OMITTED, Omitted, Transport


class AsyncRunsApi(AsyncResource):
    """Operations of `client.runs`."""

    def list(
        self,
        *,
        chat_id: str | None = None,
        consumer_id: str | None = None,
        status: Literal["admitted", "running", "completed", "failed", "cancelled"] | None = None,
        agent: str | None = None,
        rerun_of: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        q: str | None = None,
        texts: bool | None = None,
        limit: int | None = None,
        integration: str | None = None,
    ) -> AsyncItemList[models.RunListItem, models.RunList]:
        """List runs, newest first."""
        return self._list(
            "GET /v2/integrations/:apiIntegrationId/runs",
            {
                "chatId": chat_id,
                "consumerId": consumer_id,
                "status": status,
                "agent": agent,
                "rerunOf": rerun_of,
                "from": from_,
                "to": to,
                "q": q,
                "texts": texts,
                "limit": limit,
                "apiIntegrationId": integration,
            },
        )

    async def get(self, run_id: str, *, integration: str | None = None) -> models.Run:
        """Read a run."""
        answer: models.Run = await self._json(
            "GET /v2/integrations/:apiIntegrationId/runs/:runId",
            {"runId": run_id, "apiIntegrationId": integration},
        )
        return answer

    def steps(
        self,
        run_id: str,
        *,
        limit: int | None = None,
        integration: str | None = None,
    ) -> AsyncItemList[models.Step, models.StepList]:
        """List the steps of a run, newest first."""
        return self._list(
            "GET /v2/integrations/:apiIntegrationId/runs/:runId/steps",
            {"runId": run_id, "limit": limit, "apiIntegrationId": integration},
        )

    async def prompt(self, run_id: str, step: int, *, integration: str | None = None) -> models.StepPrompt:
        """Read what a model was sent in a step."""
        answer: models.StepPrompt = await self._json(
            "GET /v2/integrations/:apiIntegrationId/runs/:runId/steps/:step/prompt",
            {"runId": run_id, "step": step, "apiIntegrationId": integration},
        )
        return answer

    async def attachment(self, run_id: str, attachment_id: str, *, integration: str | None = None) -> AsyncContent:
        """Read an image that a tool of a run returned."""
        return await self._content(
            "GET /v2/integrations/:apiIntegrationId/runs/:runId/attachments/:attachmentId",
            {"runId": run_id, "attachmentId": attachment_id, "apiIntegrationId": integration},
        )

    async def cancel(
        self,
        run_id: str,
        *,
        mode: Literal["immediate", "after_step"] | Omitted = OMITTED,
        integration: str | None = None,
    ) -> models.CancelResult:
        """Cancel exactly this run."""
        answer: models.CancelResult = await self._json(
            "POST /v2/integrations/:apiIntegrationId/runs/:runId/cancel",
            {"runId": run_id, "mode": mode, "apiIntegrationId": integration},
        )
        return answer

    async def compare(self, run_id: str, *, with_: str, integration: str | None = None) -> models.RunComparison:
        """Compare two runs, step by step."""
        answer: models.RunComparison = await self._json(
            "GET /v2/integrations/:apiIntegrationId/runs/:runId/compare",
            {"runId": run_id, "with": with_, "apiIntegrationId": integration},
        )
        return answer


class AsyncChatsApi(AsyncResource):
    """Operations of `client.chats`."""

    async def create(
        self,
        *,
        chat_id: str | None | Omitted = OMITTED,
        alias_chat_id: str | None | Omitted = OMITTED,
        consumer_id: str | None | Omitted = OMITTED,
        history: Sequence[models.HistoryItem] | Omitted = OMITTED,
        integration: str | None = None,
    ) -> models.Chat:
        """Create a chat."""
        answer: models.Chat = await self._json(
            "POST /v2/integrations/:apiIntegrationId/chats",
            {
                "chatId": chat_id,
                "aliasChatId": alias_chat_id,
                "consumerId": consumer_id,
                "history": history,
                "apiIntegrationId": integration,
            },
        )
        return answer

    def list(
        self,
        *,
        consumer_id: str | None = None,
        status: Literal["idle", "running"] | None = None,
        updated_after: str | None = None,
        waiting: bool | None = None,
        sort: Literal["created", "updated"] | None = None,
        q: str | None = None,
        limit: int | None = None,
        integration: str | None = None,
    ) -> AsyncItemList[models.Chat, models.ChatList]:
        """List chats, newest first."""
        return self._list(
            "GET /v2/integrations/:apiIntegrationId/chats",
            {
                "consumerId": consumer_id,
                "status": status,
                "updatedAfter": updated_after,
                "waiting": waiting,
                "sort": sort,
                "q": q,
                "limit": limit,
                "apiIntegrationId": integration,
            },
        )

    async def get(self, chat_id: str, *, integration: str | None = None) -> models.Chat:
        """Read a chat."""
        answer: models.Chat = await self._json(
            "GET /v2/integrations/:apiIntegrationId/chats/:chatId",
            {"chatId": chat_id, "apiIntegrationId": integration},
        )
        return answer

    async def update(
        self,
        chat_id: str,
        *,
        title: str | None | Omitted = OMITTED,
        metadata: Mapping[str, Any] | None | Omitted = OMITTED,
        approvals: Sequence[models.UpdateChatApprovalsItem] | Omitted = OMITTED,
        integration: str | None = None,
    ) -> models.Chat:
        """Set the title and the metadata of a chat."""
        answer: models.Chat = await self._json(
            "PATCH /v2/integrations/:apiIntegrationId/chats/:chatId",
            {
                "chatId": chat_id,
                "title": title,
                "metadata": metadata,
                "approvals": approvals,
                "apiIntegrationId": integration,
            },
        )
        return answer

    async def fork(
        self,
        from_chat_id: str,
        *,
        run_id: str | None | Omitted = OMITTED,
        before: bool | Omitted = OMITTED,
        chat_id: str | None | Omitted = OMITTED,
        alias_chat_id: str | None | Omitted = OMITTED,
        integration: str | None = None,
    ) -> models.Chat:
        """Fork a chat: make a new one from its beginning."""
        answer: models.Chat = await self._json(
            "POST /v2/integrations/:apiIntegrationId/chats/:fromChatId/fork",
            {
                "fromChatId": from_chat_id,
                "runId": run_id,
                "before": before,
                "chatId": chat_id,
                "aliasChatId": alias_chat_id,
                "apiIntegrationId": integration,
            },
        )
        return answer

    async def delete(self, chat_id: str, *, integration: str | None = None) -> None:
        """Delete a chat; its runs and usage records are kept."""
        await self._json(
            "DELETE /v2/integrations/:apiIntegrationId/chats/:chatId",
            {"chatId": chat_id, "apiIntegrationId": integration},
        )

    def messages(
        self,
        chat_id: str,
        *,
        limit: int | None = None,
        integration: str | None = None,
    ) -> AsyncItemList[models.Message, models.MessageList]:
        """List the messages of a chat, newest first."""
        return self._list(
            "GET /v2/integrations/:apiIntegrationId/chats/:chatId/messages",
            {"chatId": chat_id, "limit": limit, "apiIntegrationId": integration},
        )

    async def status(
        self,
        *,
        usage_request_id: str | None = None,
        chat_id: str | None = None,
        alias_chat_id: str | None = None,
        integration: str | None = None,
    ) -> models.ChatStatus:
        """Read a chat's status."""
        answer: models.ChatStatus = await self._json(
            "GET /v2/integrations/:apiIntegrationId/chat_status",
            {
                "usageRequestId": usage_request_id,
                "chatId": chat_id,
                "aliasChatId": alias_chat_id,
                "apiIntegrationId": integration,
            },
        )
        return answer


class AsyncQuestionsApi(AsyncResource):
    """Operations of `client.questions`."""

    def list(
        self,
        *,
        state: Literal["open", "answered", "all"] | None = None,
        limit: int | None = None,
    ) -> AsyncItemList[models.AskedQuestion, models.AskedQuestionList]:
        """List the questions of all chats, newest first."""
        return self._list("GET /v2/questions", {"state": state, "limit": limit})

    async def answer(
        self,
        chat_id: str,
        *,
        answers: Sequence[models.Answer],
        message: str | Omitted = OMITTED,
        user_context: Mapping[str, Any] | str | None | Omitted = OMITTED,
        usage_request_id: str | Omitted = OMITTED,
        integration: str | None = None,
    ) -> models.AnsweringRun:
        """Send answers to the open questions of a chat."""
        answer: models.AnsweringRun = await self._json(
            "POST /v2/integrations/:apiIntegrationId/chats/:chatId/answers",
            {
                "chatId": chat_id,
                "answers": answers,
                "message": message,
                "user_context": user_context,
                "usageRequestId": usage_request_id,
                "apiIntegrationId": integration,
            },
        )
        return answer


class AsyncMembersApi(AsyncResource):
    """Operations of `client.members`."""

    async def put(
        self,
        consumer_id: str,
        *,
        name: str | None | Omitted = OMITTED,
        active: bool | Omitted = OMITTED,
        allowance: models.PutMemberAllowance | None | Omitted = OMITTED,
        metadata: Mapping[str, Any] | Omitted = OMITTED,
        integration: str | None = None,
    ) -> models.Member:
        """Register or update a member."""
        answer: models.Member = await self._json(
            "PUT /v2/integrations/:apiIntegrationId/members/:consumerId",
            {
                "consumerId": consumer_id,
                "name": name,
                "active": active,
                "allowance": allowance,
                "metadata": metadata,
                "apiIntegrationId": integration,
            },
        )
        return answer

    def list(
        self,
        *,
        q: str | None = None,
        limit: int | None = None,
        integration: str | None = None,
    ) -> AsyncItemList[models.Member, models.MemberList]:
        """List members, newest first."""
        return self._list(
            "GET /v2/integrations/:apiIntegrationId/members",
            {"q": q, "limit": limit, "apiIntegrationId": integration},
        )

    async def get(self, consumer_id: str, *, integration: str | None = None) -> models.Member:
        """Read a member."""
        answer: models.Member = await self._json(
            "GET /v2/integrations/:apiIntegrationId/members/:consumerId",
            {"consumerId": consumer_id, "apiIntegrationId": integration},
        )
        return answer

    async def delete(
        self,
        consumer_id: str,
        *,
        erase: bool | None = None,
        integration: str | None = None,
    ) -> models.Erasure | None:
        """Delete a member, or erase everything that is stored of it."""
        answer: models.Erasure | None = await self._json(
            "DELETE /v2/integrations/:apiIntegrationId/members/:consumerId",
            {"consumerId": consumer_id, "erase": erase, "apiIntegrationId": integration},
        )
        return answer

    async def erasure(self, consumer_id: str, *, integration: str | None = None) -> models.Erasure:
        """Read the status of a member's erasure."""
        answer: models.Erasure = await self._json(
            "GET /v2/integrations/:apiIntegrationId/members/:consumerId/erasure",
            {"consumerId": consumer_id, "apiIntegrationId": integration},
        )
        return answer

    async def adjust(
        self,
        consumer_id: str,
        *,
        unit: Literal["runs", "tokens", "credits"],
        amount: float,
        reason: str,
        idempotency_key: str,
        integration: str | None = None,
    ) -> models.Adjustment:
        """Correct the usage of a member."""
        answer: models.Adjustment = await self._json(
            "POST /v2/integrations/:apiIntegrationId/members/:consumerId/adjustments",
            {
                "consumerId": consumer_id,
                "unit": unit,
                "amount": amount,
                "reason": reason,
                "idempotencyKey": idempotency_key,
                "apiIntegrationId": integration,
            },
        )
        return answer

    def adjustments(
        self,
        consumer_id: str,
        *,
        limit: int | None = None,
        integration: str | None = None,
    ) -> AsyncItemList[models.Adjustment, models.AdjustmentList]:
        """List the adjustments of a member, newest first."""
        return self._list(
            "GET /v2/integrations/:apiIntegrationId/members/:consumerId/adjustments",
            {"consumerId": consumer_id, "limit": limit, "apiIntegrationId": integration},
        )


class AsyncSchedulesApi(AsyncResource):
    """Operations of `client.schedules`."""

    async def create(
        self,
        *,
        name: str,
        request: models.ScheduleRequest,
        cron: str | None | Omitted = OMITTED,
        every_seconds: int | None | Omitted = OMITTED,
        at: str | None | Omitted = OMITTED,
        timezone: str | Omitted = OMITTED,
        catch_up: Literal["latest", "none", "all"] | Omitted = OMITTED,
        active: bool | Omitted = OMITTED,
        integration: str | None = None,
    ) -> models.Schedule:
        """Create a schedule: runs that start by themselves."""
        answer: models.Schedule = await self._json(
            "POST /v2/integrations/:apiIntegrationId/schedules",
            {
                "name": name,
                "cron": cron,
                "everySeconds": every_seconds,
                "at": at,
                "timezone": timezone,
                "request": request,
                "catchUp": catch_up,
                "active": active,
                "apiIntegrationId": integration,
            },
        )
        return answer

    def list(
        self,
        *,
        limit: int | None = None,
        integration: str | None = None,
    ) -> AsyncItemList[models.Schedule, models.ScheduleList]:
        """List schedules, newest first."""
        return self._list(
            "GET /v2/integrations/:apiIntegrationId/schedules",
            {"limit": limit, "apiIntegrationId": integration},
        )

    async def get(self, schedule_id: str, *, integration: str | None = None) -> models.Schedule:
        """Read a schedule."""
        answer: models.Schedule = await self._json(
            "GET /v2/integrations/:apiIntegrationId/schedules/:scheduleId",
            {"scheduleId": schedule_id, "apiIntegrationId": integration},
        )
        return answer

    async def update(
        self,
        schedule_id: str,
        *,
        name: str | Omitted = OMITTED,
        cron: str | None | Omitted = OMITTED,
        every_seconds: int | None | Omitted = OMITTED,
        at: str | None | Omitted = OMITTED,
        timezone: str | Omitted = OMITTED,
        request: models.ScheduleRequest | Omitted = OMITTED,
        catch_up: Literal["latest", "none", "all"] | Omitted = OMITTED,
        active: bool | Omitted = OMITTED,
        integration: str | None = None,
    ) -> models.Schedule:
        """Change, pause or resume a schedule."""
        answer: models.Schedule = await self._json(
            "PATCH /v2/integrations/:apiIntegrationId/schedules/:scheduleId",
            {
                "scheduleId": schedule_id,
                "name": name,
                "cron": cron,
                "everySeconds": every_seconds,
                "at": at,
                "timezone": timezone,
                "request": request,
                "catchUp": catch_up,
                "active": active,
                "apiIntegrationId": integration,
            },
        )
        return answer

    async def delete(self, schedule_id: str, *, integration: str | None = None) -> None:
        """Delete a schedule; its runs are kept."""
        await self._json(
            "DELETE /v2/integrations/:apiIntegrationId/schedules/:scheduleId",
            {"scheduleId": schedule_id, "apiIntegrationId": integration},
        )

    async def run(self, schedule_id: str, *, integration: str | None = None) -> models.ScheduledRun:
        """Start one run now."""
        answer: models.ScheduledRun = await self._json(
            "POST /v2/integrations/:apiIntegrationId/schedules/:scheduleId/run",
            {"scheduleId": schedule_id, "apiIntegrationId": integration},
        )
        return answer

    def ticks(
        self,
        schedule_id: str,
        *,
        limit: int | None = None,
        integration: str | None = None,
    ) -> AsyncItemList[models.ScheduleTick, models.ScheduleTickList]:
        """List a schedule's ticks, newest first."""
        return self._list(
            "GET /v2/integrations/:apiIntegrationId/schedules/:scheduleId/ticks",
            {"scheduleId": schedule_id, "limit": limit, "apiIntegrationId": integration},
        )


class AsyncUsageApi(AsyncResource):
    """Operations of `client.usage`."""

    def list(
        self,
        *,
        usage_request_id: str | None = None,
        consumer_id: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        rerun: bool | None = None,
        limit: int | None = None,
        integration: str | None = None,
    ) -> AsyncItemList[models.UsageRecord, models.UsageRecordList]:
        """List usage records, newest first."""
        return self._list(
            "GET /v2/integrations/:apiIntegrationId/usage",
            {
                "usageRequestId": usage_request_id,
                "consumerId": consumer_id,
                "from": from_,
                "to": to,
                "rerun": rerun,
                "limit": limit,
                "apiIntegrationId": integration,
            },
        )

    def summary(
        self,
        *,
        group_by: Literal["hour", "day", "consumer", "agent", "model"],
        split_by: Literal["consumer", "agent", "model", "error", "agencyVersion"] | None = None,
        consumer_id: str | None = None,
        agent: str | None = None,
        model: str | None = None,
        rerun: bool | None = None,
        from_: str | None = None,
        to: str | None = None,
        limit: int | None = None,
        integration: str | None = None,
    ) -> AsyncItemList[models.UsageSummaryItemsItem, models.UsageSummary]:
        """Add up usage by hour, day, member, agent or model."""
        return self._list(
            "GET /v2/integrations/:apiIntegrationId/usage/summary",
            {
                "groupBy": group_by,
                "splitBy": split_by,
                "consumerId": consumer_id,
                "agent": agent,
                "model": model,
                "rerun": rerun,
                "from": from_,
                "to": to,
                "limit": limit,
                "apiIntegrationId": integration,
            },
        )

    async def csv(
        self,
        *,
        usage_request_id: str | None = None,
        consumer_id: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        rerun: bool | None = None,
        integration: str | None = None,
    ) -> AsyncContent:
        """List usage records, newest first."""
        return await self._content(
            "GET /v2/integrations/:apiIntegrationId/usage",
            {
                "usageRequestId": usage_request_id,
                "consumerId": consumer_id,
                "from": from_,
                "to": to,
                "rerun": rerun,
                "apiIntegrationId": integration,
                "format": "csv",
            },
        )

    async def latency(
        self,
        *,
        agent: str | None = None,
        model: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        integration: str | None = None,
    ) -> models.LatencySummary:
        """Show how long runs took, by day."""
        answer: models.LatencySummary = await self._json(
            "GET /v2/integrations/:apiIntegrationId/latency",
            {"agent": agent, "model": model, "from": from_, "to": to, "apiIntegrationId": integration},
        )
        return answer


class AsyncOverviewApi(AsyncResource):
    """Operations of `client.overview`."""

    async def get(self, *, integration: str | None = None, hours: int | None = None) -> models.Overview:
        """Show what happened in the last hours, and what needs a person."""
        answer: models.Overview = await self._json("GET /v2/overview", {"integration": integration, "hours": hours})
        return answer


class AsyncFilesApi(AsyncResource):
    """Operations of `client.files`."""

    def list(
        self,
        *,
        folder: str | None = None,
        limit: int | None = None,
        integration: str | None = None,
    ) -> AsyncItemList[models.File, models.FileList]:
        """List the files and folders of a folder, by name."""
        return self._list(
            "GET /v2/integrations/:apiIntegrationId/files",
            {"folder": folder, "limit": limit, "apiIntegrationId": integration},
        )

    async def delete(self, *, path: str, recursive: bool | None = None, integration: str | None = None) -> None:
        """Delete a file, or a folder with its content."""
        await self._json(
            "DELETE /v2/integrations/:apiIntegrationId/files",
            {"path": path, "recursive": recursive, "apiIntegrationId": integration},
        )

    async def content(self, *, path: str, integration: str | None = None) -> AsyncContent:
        """Read a file."""
        return await self._content(
            "GET /v2/integrations/:apiIntegrationId/files/content",
            {"path": path, "apiIntegrationId": integration},
        )

    async def head(self, *, path: str, integration: str | None = None) -> AsyncContent:
        """Read the headers of a file."""
        return await self._content(
            "HEAD /v2/integrations/:apiIntegrationId/files/content",
            {"path": path, "apiIntegrationId": integration},
        )


class AsyncIntegrationsApi(AsyncResource):
    """Operations of `client.integrations`."""

    async def create(
        self,
        *,
        api_integration_id: str | Omitted = OMITTED,
        name: str | Omitted = OMITTED,
        agency: str | Omitted = OMITTED,
        default_agent: str | Omitted = OMITTED,
        text_only: bool | Omitted = OMITTED,
        allowances: models.AllowanceSetting | None | Omitted = OMITTED,
        on_disconnect: Literal["continue", "cancel"] | Omitted = OMITTED,
        max_run_seconds: int | None | Omitted = OMITTED,
        max_runs_per_member: int | None | Omitted = OMITTED,
        keep_attachments: bool | Omitted = OMITTED,
        model: str | None | Omitted = OMITTED,
        file_access: Literal["chat", "member", "all"] | Omitted = OMITTED,
        member_folder: str | Omitted = OMITTED,
        quota_bytes: int | None | Omitted = OMITTED,
        member_quota_bytes: int | None | Omitted = OMITTED,
        client_tools: bool | Omitted = OMITTED,
        caller_instructions: bool | Omitted = OMITTED,
        auto_register: bool | Omitted = OMITTED,
        compatible_apis: Sequence[Literal["openai", "ai-sdk", "ag-ui", "mcp", "agency-swarm"]] | Omitted = OMITTED,
    ) -> models.Integration:
        """Create an integration."""
        answer: models.Integration = await self._json(
            "POST /v2/integrations",
            {
                "apiIntegrationId": api_integration_id,
                "name": name,
                "agency": agency,
                "defaultAgent": default_agent,
                "textOnly": text_only,
                "allowances": allowances,
                "onDisconnect": on_disconnect,
                "maxRunSeconds": max_run_seconds,
                "maxRunsPerMember": max_runs_per_member,
                "keepAttachments": keep_attachments,
                "model": model,
                "fileAccess": file_access,
                "memberFolder": member_folder,
                "quotaBytes": quota_bytes,
                "memberQuotaBytes": member_quota_bytes,
                "clientTools": client_tools,
                "callerInstructions": caller_instructions,
                "autoRegister": auto_register,
                "compatibleApis": compatible_apis,
            },
        )
        return answer

    def list(self, *, limit: int | None = None) -> AsyncItemList[models.Integration, models.IntegrationList]:
        """List your integrations, newest first."""
        return self._list("GET /v2/integrations", {"limit": limit})

    async def get(self, integration: str | None = None) -> models.Integration:
        """Read an integration."""
        answer: models.Integration = await self._json(
            "GET /v2/integrations/:apiIntegrationId",
            {"apiIntegrationId": integration},
        )
        return answer

    async def update(
        self,
        integration: str | None = None,
        *,
        name: str | Omitted = OMITTED,
        agency: str | Omitted = OMITTED,
        default_agent: str | Omitted = OMITTED,
        text_only: bool | Omitted = OMITTED,
        allowances: models.AllowanceSetting | None | Omitted = OMITTED,
        on_disconnect: Literal["continue", "cancel"] | Omitted = OMITTED,
        max_run_seconds: int | None | Omitted = OMITTED,
        max_runs_per_member: int | None | Omitted = OMITTED,
        keep_attachments: bool | Omitted = OMITTED,
        model: str | None | Omitted = OMITTED,
        file_access: Literal["chat", "member", "all"] | Omitted = OMITTED,
        member_folder: str | Omitted = OMITTED,
        quota_bytes: int | None | Omitted = OMITTED,
        member_quota_bytes: int | None | Omitted = OMITTED,
        client_tools: bool | Omitted = OMITTED,
        caller_instructions: bool | Omitted = OMITTED,
        auto_register: bool | Omitted = OMITTED,
        compatible_apis: Sequence[Literal["openai", "ai-sdk", "ag-ui", "mcp", "agency-swarm"]] | Omitted = OMITTED,
    ) -> models.Integration:
        """Change an integration."""
        answer: models.Integration = await self._json(
            "PATCH /v2/integrations/:apiIntegrationId",
            {
                "apiIntegrationId": integration,
                "name": name,
                "agency": agency,
                "defaultAgent": default_agent,
                "textOnly": text_only,
                "allowances": allowances,
                "onDisconnect": on_disconnect,
                "maxRunSeconds": max_run_seconds,
                "maxRunsPerMember": max_runs_per_member,
                "keepAttachments": keep_attachments,
                "model": model,
                "fileAccess": file_access,
                "memberFolder": member_folder,
                "quotaBytes": quota_bytes,
                "memberQuotaBytes": member_quota_bytes,
                "clientTools": client_tools,
                "callerInstructions": caller_instructions,
                "autoRegister": auto_register,
                "compatibleApis": compatible_apis,
            },
        )
        return answer

    async def delete(self, integration: str | None = None) -> None:
        """Delete an integration; its id can never be used again."""
        await self._json("DELETE /v2/integrations/:apiIntegrationId", {"apiIntegrationId": integration})


class AsyncWebhooksApi(AsyncResource):
    """Operations of `client.webhooks`."""

    async def create(
        self,
        *,
        url: str | None,
        events: Sequence[Literal["*", "run.completed", "run.failed", "run.cancelled", "run.asked", "member.allowance_exhausted", "upload.completed", "agency.broken", "schedule.paused", "webhook.test"]] | Omitted = OMITTED,
        description: str | None | Omitted = OMITTED,
        integration: str | None = None,
    ) -> models.WebhookEndpointWithSecret:
        """Add a webhook endpoint."""
        answer: models.WebhookEndpointWithSecret = await self._json(
            "POST /v2/integrations/:apiIntegrationId/webhooks",
            {"url": url, "events": events, "description": description, "apiIntegrationId": integration},
        )
        return answer

    def list(
        self,
        *,
        limit: int | None = None,
        integration: str | None = None,
    ) -> AsyncItemList[models.WebhookEndpoint, models.WebhookEndpointList]:
        """List an integration's webhook endpoints, newest first."""
        return self._list(
            "GET /v2/integrations/:apiIntegrationId/webhooks",
            {"limit": limit, "apiIntegrationId": integration},
        )

    async def get(self, endpoint_id: str, *, integration: str | None = None) -> models.WebhookEndpoint:
        """Read a webhook endpoint."""
        answer: models.WebhookEndpoint = await self._json(
            "GET /v2/integrations/:apiIntegrationId/webhooks/:endpointId",
            {"endpointId": endpoint_id, "apiIntegrationId": integration},
        )
        return answer

    async def update(
        self,
        endpoint_id: str,
        *,
        url: str | None | Omitted = OMITTED,
        events: Sequence[Literal["*", "run.completed", "run.failed", "run.cancelled", "run.asked", "member.allowance_exhausted", "upload.completed", "agency.broken", "schedule.paused", "webhook.test"]] | Omitted = OMITTED,
        description: str | None | Omitted = OMITTED,
        active: bool | Omitted = OMITTED,
        integration: str | None = None,
    ) -> models.WebhookEndpoint:
        """Change, pause or resume a webhook endpoint."""
        answer: models.WebhookEndpoint = await self._json(
            "PATCH /v2/integrations/:apiIntegrationId/webhooks/:endpointId",
            {
                "endpointId": endpoint_id,
                "url": url,
                "events": events,
                "description": description,
                "active": active,
                "apiIntegrationId": integration,
            },
        )
        return answer

    async def delete(self, endpoint_id: str, *, integration: str | None = None) -> None:
        """Delete a webhook endpoint with its deliveries."""
        await self._json(
            "DELETE /v2/integrations/:apiIntegrationId/webhooks/:endpointId",
            {"endpointId": endpoint_id, "apiIntegrationId": integration},
        )

    async def rotate(self, endpoint_id: str, *, integration: str | None = None) -> models.WebhookEndpointWithSecret:
        """Make a new secret for a webhook endpoint."""
        answer: models.WebhookEndpointWithSecret = await self._json(
            "POST /v2/integrations/:apiIntegrationId/webhooks/:endpointId/rotate",
            {"endpointId": endpoint_id, "apiIntegrationId": integration},
        )
        return answer

    async def test(self, endpoint_id: str, *, integration: str | None = None) -> models.WebhookDelivery:
        """Send a `webhook.test` to an endpoint."""
        answer: models.WebhookDelivery = await self._json(
            "POST /v2/integrations/:apiIntegrationId/webhooks/:endpointId/test",
            {"endpointId": endpoint_id, "apiIntegrationId": integration},
        )
        return answer

    async def replay(
        self,
        endpoint_id: str,
        *,
        from_: str,
        to: str,
        types: Sequence[Literal["run.completed", "run.failed", "run.cancelled", "run.asked", "member.allowance_exhausted", "upload.completed", "agency.broken", "schedule.paused", "webhook.test"]] | Omitted = OMITTED,
        integration: str | None = None,
    ) -> models.WebhookReplay:
        """Send stored events once more."""
        answer: models.WebhookReplay = await self._json(
            "POST /v2/integrations/:apiIntegrationId/webhooks/:endpointId/replay",
            {"endpointId": endpoint_id, "from": from_, "to": to, "types": types, "apiIntegrationId": integration},
        )
        return answer

    def deliveries(
        self,
        endpoint_id: str,
        *,
        status: Literal["pending", "delivered", "failed", "skipped"] | None = None,
        type: Literal["run.completed", "run.failed", "run.cancelled", "run.asked", "member.allowance_exhausted", "upload.completed", "agency.broken", "schedule.paused", "webhook.test"] | None = None,
        from_: str | None = None,
        to: str | None = None,
        limit: int | None = None,
        integration: str | None = None,
    ) -> AsyncItemList[models.WebhookDelivery, models.WebhookDeliveryList]:
        """List a webhook endpoint's deliveries, newest first."""
        return self._list(
            "GET /v2/integrations/:apiIntegrationId/webhooks/:endpointId/deliveries",
            {
                "endpointId": endpoint_id,
                "status": status,
                "type": type,
                "from": from_,
                "to": to,
                "limit": limit,
                "apiIntegrationId": integration,
            },
        )

    async def delivery(
        self,
        endpoint_id: str,
        delivery_id: str,
        *,
        integration: str | None = None,
    ) -> models.WebhookDeliveryWithBody:
        """Read a delivery with its body and the last answer."""
        answer: models.WebhookDeliveryWithBody = await self._json(
            "GET /v2/integrations/:apiIntegrationId/webhooks/:endpointId/deliveries/:deliveryId",
            {"endpointId": endpoint_id, "deliveryId": delivery_id, "apiIntegrationId": integration},
        )
        return answer

    async def redeliver(
        self,
        endpoint_id: str,
        delivery_id: str,
        *,
        integration: str | None = None,
    ) -> models.WebhookDelivery:
        """Send a delivery's event once more."""
        answer: models.WebhookDelivery = await self._json(
            "POST /v2/integrations/:apiIntegrationId/webhooks/:endpointId/deliveries/:deliveryId/redeliver",
            {"endpointId": endpoint_id, "deliveryId": delivery_id, "apiIntegrationId": integration},
        )
        return answer


class AsyncTokensApi(AsyncResource):
    """Operations of `client.tokens`."""

    async def create(
        self,
        *,
        consumer_id: str,
        chat_id: str | None | Omitted = OMITTED,
        agent: str | None | Omitted = OMITTED,
        can: Sequence[Literal["run", "read", "upload", "files", "answer"]] | Omitted = OMITTED,
        folder: str | None | Omitted = OMITTED,
        user_context: Mapping[str, Any] | str | None | Omitted = OMITTED,
        origins: Sequence[str] | None | Omitted = OMITTED,
        expires_in_seconds: int | Omitted = OMITTED,
        integration: str | None = None,
    ) -> models.ClientToken:
        """Mint a client token for one member."""
        answer: models.ClientToken = await self._json(
            "POST /v2/integrations/:apiIntegrationId/client_tokens",
            {
                "consumerId": consumer_id,
                "chatId": chat_id,
                "agent": agent,
                "can": can,
                "folder": folder,
                "userContext": user_context,
                "origins": origins,
                "expiresInSeconds": expires_in_seconds,
                "apiIntegrationId": integration,
            },
        )
        return answer


class AsyncKeysApi(AsyncResource):
    """Operations of `client.keys`."""

    async def create(
        self,
        *,
        name: str | Omitted = OMITTED,
        expires_at: str | Omitted = OMITTED,
        role: Literal["viewer", "operator", "developer", "manager"] | Omitted = OMITTED,
        integrations: Sequence[str] | None | Omitted = OMITTED,
    ) -> models.CreatedApiKey:
        """Create an API key."""
        answer: models.CreatedApiKey = await self._json(
            "POST /v2/api_keys",
            {"name": name, "expiresAt": expires_at, "role": role, "integrations": integrations},
        )
        return answer

    def list(self, *, limit: int | None = None) -> AsyncItemList[models.ApiKey, models.ApiKeyList]:
        """List your API keys, newest first."""
        return self._list("GET /v2/api_keys", {"limit": limit})

    async def revoke(self, key_id: str) -> None:
        """Revoke an API key; the list still shows it."""
        await self._json("DELETE /v2/api_keys/:keyId", {"keyId": key_id})


class AsyncOwnersApi(AsyncResource):
    """Operations of `client.owners`."""

    async def create(self, *, email: str, name: str | Omitted = OMITTED) -> models.CreatedOwner:
        """Create an owner (administrator)."""
        answer: models.CreatedOwner = await self._json("POST /v2/owners", {"email": email, "name": name})
        return answer

    def list(self, *, limit: int | None = None) -> AsyncItemList[models.Owner, models.OwnerList]:
        """List owners, newest first (administrator)."""
        return self._list("GET /v2/owners", {"limit": limit})

    async def delete(self, owner_id: str) -> None:
        """Delete an owner without integrations (administrator)."""
        await self._json("DELETE /v2/owners/:ownerId", {"ownerId": owner_id})


class AsyncPeopleApi(AsyncResource):
    """Operations of `client.people`."""

    async def create(
        self,
        *,
        email: str,
        role: Literal["viewer", "operator", "developer", "manager"],
        name: str | None | Omitted = OMITTED,
    ) -> models.CreatedPerson:
        """Invite a person."""
        answer: models.CreatedPerson = await self._json("POST /v2/people", {"email": email, "name": name, "role": role})
        return answer

    def list(self, *, limit: int | None = None) -> AsyncItemList[models.Person, models.PersonList]:
        """List the people of your owner, newest first."""
        return self._list("GET /v2/people", {"limit": limit})

    async def get(self, person_id: str) -> models.Person:
        """Read a person."""
        answer: models.Person = await self._json("GET /v2/people/:personId", {"personId": person_id})
        return answer

    async def update(
        self,
        person_id: str,
        *,
        email: str | Omitted = OMITTED,
        name: str | None | Omitted = OMITTED,
        role: Literal["viewer", "operator", "developer", "manager"] | Omitted = OMITTED,
    ) -> models.Person:
        """Change a person."""
        answer: models.Person = await self._json(
            "PATCH /v2/people/:personId",
            {"personId": person_id, "email": email, "name": name, "role": role},
        )
        return answer

    async def delete(self, person_id: str) -> None:
        """Remove a person."""
        await self._json("DELETE /v2/people/:personId", {"personId": person_id})


class AsyncAuditApi(AsyncResource):
    """Operations of `client.audit`."""

    def list(
        self,
        *,
        actor: str | None = None,
        operation: str | None = None,
        target: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        limit: int | None = None,
    ) -> AsyncItemList[models.AuditEvent, models.AuditEventList]:
        """List who changed what, newest first."""
        return self._list(
            "GET /v2/audit",
            {"actor": actor, "operation": operation, "target": target, "from": from_, "to": to, "limit": limit},
        )

    async def csv(
        self,
        *,
        actor: str | None = None,
        operation: str | None = None,
        target: str | None = None,
        from_: str | None = None,
        to: str | None = None,
    ) -> AsyncContent:
        """List who changed what, newest first."""
        return await self._content(
            "GET /v2/audit",
            {"actor": actor, "operation": operation, "target": target, "from": from_, "to": to, "format": "csv"},
        )


class AsyncAgenciesApi(AsyncResource):
    """Operations of `client.agencies`."""

    def list(self, *, limit: int | None = None) -> AsyncItemList[models.Agency, models.AgencyList]:
        """List agencies with their entry points and flows."""
        return self._list("GET /v2/agencies", {"limit": limit})

    async def definition(self, agency: str) -> models.AgencyDefinition:
        """Read the instructions and tools of the agents of an agency."""
        answer: models.AgencyDefinition = await self._json("GET /v2/agencies/:agency/definition", {"agency": agency})
        return answer


class AsyncNodesApi(AsyncResource):
    """Operations of `client.nodes`."""

    def list(self, *, limit: int | None = None) -> AsyncItemList[models.ServiceNode, models.ServiceNodeList]:
        """List the nodes of this installation, newest first (administrator)."""
        return self._list("GET /v2/nodes", {"limit": limit})

    async def metrics(self) -> AsyncContent:
        """Read the metrics of this node."""
        return await self._content("GET /metrics", {})


class AsyncMeApi(AsyncResource):
    """Operations of `client.me`."""

    async def get(self) -> models.Me:
        """Read your API key's owner, and who you are."""
        answer: models.Me = await self._json("GET /v2/me", {})
        return answer

    async def update(self, *, email: str | Omitted = OMITTED, name: str | None | Omitted = OMITTED) -> models.Me:
        """Change your name or your e-mail address."""
        answer: models.Me = await self._json("PATCH /v2/me", {"email": email, "name": name})
        return answer


class AsyncApi(Caller):
    """Every operation of the API that needs a key."""

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        self.runs = AsyncRunsApi(transport)
        self.chats = AsyncChatsApi(transport)
        self.questions = AsyncQuestionsApi(transport)
        self.members = AsyncMembersApi(transport)
        self.schedules = AsyncSchedulesApi(transport)
        self.usage = AsyncUsageApi(transport)
        self.overview = AsyncOverviewApi(transport)
        self.files = AsyncFilesApi(transport)
        self.integrations = AsyncIntegrationsApi(transport)
        self.webhooks = AsyncWebhooksApi(transport)
        self.tokens = AsyncTokensApi(transport)
        self.keys = AsyncKeysApi(transport)
        self.owners = AsyncOwnersApi(transport)
        self.people = AsyncPeopleApi(transport)
        self.audit = AsyncAuditApi(transport)
        self.agencies = AsyncAgenciesApi(transport)
        self.nodes = AsyncNodesApi(transport)
        self.me = AsyncMeApi(transport)
