"""Operations of the API. Made from the schemas by `npm run contract-types`; do not edit."""

from __future__ import annotations

from typing import Any, Literal, Mapping, Sequence

from . import models
from ._resource import Caller, Content, ItemList, Resource
from ._transport import OMITTED, Omitted, Transport


class RunsApi(Resource):
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
    ) -> ItemList[models.RunListItem, models.RunList]:
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

    def get(self, run_id: str, *, integration: str | None = None) -> models.Run:
        """Read a run."""
        answer: models.Run = self._json(
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
    ) -> ItemList[models.Step, models.StepList]:
        """List the steps of a run, newest first."""
        return self._list(
            "GET /v2/integrations/:apiIntegrationId/runs/:runId/steps",
            {"runId": run_id, "limit": limit, "apiIntegrationId": integration},
        )

    def prompt(self, run_id: str, step: int, *, integration: str | None = None) -> models.StepPrompt:
        """Read what a model was sent in a step."""
        answer: models.StepPrompt = self._json(
            "GET /v2/integrations/:apiIntegrationId/runs/:runId/steps/:step/prompt",
            {"runId": run_id, "step": step, "apiIntegrationId": integration},
        )
        return answer

    def attachment(self, run_id: str, attachment_id: str, *, integration: str | None = None) -> Content:
        """Read an image that a tool of a run returned."""
        return self._content(
            "GET /v2/integrations/:apiIntegrationId/runs/:runId/attachments/:attachmentId",
            {"runId": run_id, "attachmentId": attachment_id, "apiIntegrationId": integration},
        )

    def cancel(
        self,
        run_id: str,
        *,
        mode: Literal["immediate", "after_step"] | Omitted = OMITTED,
        integration: str | None = None,
    ) -> models.CancelResult:
        """Cancel exactly this run."""
        answer: models.CancelResult = self._json(
            "POST /v2/integrations/:apiIntegrationId/runs/:runId/cancel",
            {"runId": run_id, "mode": mode, "apiIntegrationId": integration},
        )
        return answer

    def compare(self, run_id: str, *, with_: str, integration: str | None = None) -> models.RunComparison:
        """Compare two runs, step by step."""
        answer: models.RunComparison = self._json(
            "GET /v2/integrations/:apiIntegrationId/runs/:runId/compare",
            {"runId": run_id, "with": with_, "apiIntegrationId": integration},
        )
        return answer


class ChatsApi(Resource):
    """Operations of `client.chats`."""

    def create(
        self,
        *,
        chat_id: str | None | Omitted = OMITTED,
        alias_chat_id: str | None | Omitted = OMITTED,
        consumer_id: str | None | Omitted = OMITTED,
        history: Sequence[models.HistoryItem] | Omitted = OMITTED,
        integration: str | None = None,
    ) -> models.Chat:
        """Create a chat."""
        answer: models.Chat = self._json(
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
    ) -> ItemList[models.Chat, models.ChatList]:
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

    def get(self, chat_id: str, *, integration: str | None = None) -> models.Chat:
        """Read a chat."""
        answer: models.Chat = self._json(
            "GET /v2/integrations/:apiIntegrationId/chats/:chatId",
            {"chatId": chat_id, "apiIntegrationId": integration},
        )
        return answer

    def update(
        self,
        chat_id: str,
        *,
        title: str | None | Omitted = OMITTED,
        metadata: Mapping[str, Any] | None | Omitted = OMITTED,
        approvals: Sequence[models.UpdateChatApprovalsItem] | Omitted = OMITTED,
        integration: str | None = None,
    ) -> models.Chat:
        """Set the title and the metadata of a chat."""
        answer: models.Chat = self._json(
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

    def fork(
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
        answer: models.Chat = self._json(
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

    def delete(self, chat_id: str, *, integration: str | None = None) -> None:
        """Delete a chat; its runs and usage records are kept."""
        self._json(
            "DELETE /v2/integrations/:apiIntegrationId/chats/:chatId",
            {"chatId": chat_id, "apiIntegrationId": integration},
        )

    def messages(
        self,
        chat_id: str,
        *,
        limit: int | None = None,
        integration: str | None = None,
    ) -> ItemList[models.Message, models.MessageList]:
        """List the messages of a chat, newest first."""
        return self._list(
            "GET /v2/integrations/:apiIntegrationId/chats/:chatId/messages",
            {"chatId": chat_id, "limit": limit, "apiIntegrationId": integration},
        )

    def status(
        self,
        *,
        usage_request_id: str | None = None,
        chat_id: str | None = None,
        alias_chat_id: str | None = None,
        integration: str | None = None,
    ) -> models.ChatStatus:
        """Read a chat's status."""
        answer: models.ChatStatus = self._json(
            "GET /v2/integrations/:apiIntegrationId/chat_status",
            {
                "usageRequestId": usage_request_id,
                "chatId": chat_id,
                "aliasChatId": alias_chat_id,
                "apiIntegrationId": integration,
            },
        )
        return answer


class QuestionsApi(Resource):
    """Operations of `client.questions`."""

    def list(
        self,
        *,
        state: Literal["open", "answered", "all"] | None = None,
        limit: int | None = None,
    ) -> ItemList[models.AskedQuestion, models.AskedQuestionList]:
        """List the questions of all chats, newest first."""
        return self._list("GET /v2/questions", {"state": state, "limit": limit})

    def answer(
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
        answer: models.AnsweringRun = self._json(
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


class MembersApi(Resource):
    """Operations of `client.members`."""

    def put(
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
        answer: models.Member = self._json(
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
    ) -> ItemList[models.Member, models.MemberList]:
        """List members, newest first."""
        return self._list(
            "GET /v2/integrations/:apiIntegrationId/members",
            {"q": q, "limit": limit, "apiIntegrationId": integration},
        )

    def get(self, consumer_id: str, *, integration: str | None = None) -> models.Member:
        """Read a member."""
        answer: models.Member = self._json(
            "GET /v2/integrations/:apiIntegrationId/members/:consumerId",
            {"consumerId": consumer_id, "apiIntegrationId": integration},
        )
        return answer

    def delete(
        self,
        consumer_id: str,
        *,
        erase: bool | None = None,
        integration: str | None = None,
    ) -> models.Erasure | None:
        """Delete a member, or erase everything that is stored of it."""
        answer: models.Erasure | None = self._json(
            "DELETE /v2/integrations/:apiIntegrationId/members/:consumerId",
            {"consumerId": consumer_id, "erase": erase, "apiIntegrationId": integration},
        )
        return answer

    def erasure(self, consumer_id: str, *, integration: str | None = None) -> models.Erasure:
        """Read the status of a member's erasure."""
        answer: models.Erasure = self._json(
            "GET /v2/integrations/:apiIntegrationId/members/:consumerId/erasure",
            {"consumerId": consumer_id, "apiIntegrationId": integration},
        )
        return answer

    def adjust(
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
        answer: models.Adjustment = self._json(
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
    ) -> ItemList[models.Adjustment, models.AdjustmentList]:
        """List the adjustments of a member, newest first."""
        return self._list(
            "GET /v2/integrations/:apiIntegrationId/members/:consumerId/adjustments",
            {"consumerId": consumer_id, "limit": limit, "apiIntegrationId": integration},
        )


class SchedulesApi(Resource):
    """Operations of `client.schedules`."""

    def create(
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
        answer: models.Schedule = self._json(
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
    ) -> ItemList[models.Schedule, models.ScheduleList]:
        """List schedules, newest first."""
        return self._list(
            "GET /v2/integrations/:apiIntegrationId/schedules",
            {"limit": limit, "apiIntegrationId": integration},
        )

    def get(self, schedule_id: str, *, integration: str | None = None) -> models.Schedule:
        """Read a schedule."""
        answer: models.Schedule = self._json(
            "GET /v2/integrations/:apiIntegrationId/schedules/:scheduleId",
            {"scheduleId": schedule_id, "apiIntegrationId": integration},
        )
        return answer

    def update(
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
        answer: models.Schedule = self._json(
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

    def delete(self, schedule_id: str, *, integration: str | None = None) -> None:
        """Delete a schedule; its runs are kept."""
        self._json(
            "DELETE /v2/integrations/:apiIntegrationId/schedules/:scheduleId",
            {"scheduleId": schedule_id, "apiIntegrationId": integration},
        )

    def run(self, schedule_id: str, *, integration: str | None = None) -> models.ScheduledRun:
        """Start one run now."""
        answer: models.ScheduledRun = self._json(
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
    ) -> ItemList[models.ScheduleTick, models.ScheduleTickList]:
        """List a schedule's ticks, newest first."""
        return self._list(
            "GET /v2/integrations/:apiIntegrationId/schedules/:scheduleId/ticks",
            {"scheduleId": schedule_id, "limit": limit, "apiIntegrationId": integration},
        )


class UsageApi(Resource):
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
    ) -> ItemList[models.UsageRecord, models.UsageRecordList]:
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
    ) -> ItemList[models.UsageSummaryItemsItem, models.UsageSummary]:
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

    def csv(
        self,
        *,
        usage_request_id: str | None = None,
        consumer_id: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        rerun: bool | None = None,
        integration: str | None = None,
    ) -> Content:
        """List usage records, newest first."""
        return self._content(
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

    def latency(
        self,
        *,
        agent: str | None = None,
        model: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        integration: str | None = None,
    ) -> models.LatencySummary:
        """Show how long runs took, by day."""
        answer: models.LatencySummary = self._json(
            "GET /v2/integrations/:apiIntegrationId/latency",
            {"agent": agent, "model": model, "from": from_, "to": to, "apiIntegrationId": integration},
        )
        return answer


class OverviewApi(Resource):
    """Operations of `client.overview`."""

    def get(self, *, integration: str | None = None, hours: int | None = None) -> models.Overview:
        """Show what happened in the last hours, and what needs a person."""
        answer: models.Overview = self._json("GET /v2/overview", {"integration": integration, "hours": hours})
        return answer


class FilesApi(Resource):
    """Operations of `client.files`."""

    def list(
        self,
        *,
        folder: str | None = None,
        limit: int | None = None,
        integration: str | None = None,
    ) -> ItemList[models.File, models.FileList]:
        """List the files and folders of a folder, by name."""
        return self._list(
            "GET /v2/integrations/:apiIntegrationId/files",
            {"folder": folder, "limit": limit, "apiIntegrationId": integration},
        )

    def delete(self, *, path: str, recursive: bool | None = None, integration: str | None = None) -> None:
        """Delete a file, or a folder with its content."""
        self._json(
            "DELETE /v2/integrations/:apiIntegrationId/files",
            {"path": path, "recursive": recursive, "apiIntegrationId": integration},
        )

    def content(self, *, path: str, integration: str | None = None) -> Content:
        """Read a file."""
        return self._content(
            "GET /v2/integrations/:apiIntegrationId/files/content",
            {"path": path, "apiIntegrationId": integration},
        )

    def head(self, *, path: str, integration: str | None = None) -> Content:
        """Read the headers of a file."""
        return self._content(
            "HEAD /v2/integrations/:apiIntegrationId/files/content",
            {"path": path, "apiIntegrationId": integration},
        )


class IntegrationsApi(Resource):
    """Operations of `client.integrations`."""

    def create(
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
        answer: models.Integration = self._json(
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

    def list(self, *, limit: int | None = None) -> ItemList[models.Integration, models.IntegrationList]:
        """List your integrations, newest first."""
        return self._list("GET /v2/integrations", {"limit": limit})

    def get(self, integration: str | None = None) -> models.Integration:
        """Read an integration."""
        answer: models.Integration = self._json(
            "GET /v2/integrations/:apiIntegrationId",
            {"apiIntegrationId": integration},
        )
        return answer

    def update(
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
        answer: models.Integration = self._json(
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

    def delete(self, integration: str | None = None) -> None:
        """Delete an integration; its id can never be used again."""
        self._json("DELETE /v2/integrations/:apiIntegrationId", {"apiIntegrationId": integration})


class WebhooksApi(Resource):
    """Operations of `client.webhooks`."""

    def create(
        self,
        *,
        url: str | None,
        events: Sequence[Literal["*", "run.completed", "run.failed", "run.cancelled", "run.asked", "member.allowance_exhausted", "upload.completed", "agency.broken", "schedule.paused", "webhook.test"]] | Omitted = OMITTED,
        description: str | None | Omitted = OMITTED,
        integration: str | None = None,
    ) -> models.WebhookEndpointWithSecret:
        """Add a webhook endpoint."""
        answer: models.WebhookEndpointWithSecret = self._json(
            "POST /v2/integrations/:apiIntegrationId/webhooks",
            {"url": url, "events": events, "description": description, "apiIntegrationId": integration},
        )
        return answer

    def list(
        self,
        *,
        limit: int | None = None,
        integration: str | None = None,
    ) -> ItemList[models.WebhookEndpoint, models.WebhookEndpointList]:
        """List an integration's webhook endpoints, newest first."""
        return self._list(
            "GET /v2/integrations/:apiIntegrationId/webhooks",
            {"limit": limit, "apiIntegrationId": integration},
        )

    def get(self, endpoint_id: str, *, integration: str | None = None) -> models.WebhookEndpoint:
        """Read a webhook endpoint."""
        answer: models.WebhookEndpoint = self._json(
            "GET /v2/integrations/:apiIntegrationId/webhooks/:endpointId",
            {"endpointId": endpoint_id, "apiIntegrationId": integration},
        )
        return answer

    def update(
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
        answer: models.WebhookEndpoint = self._json(
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

    def delete(self, endpoint_id: str, *, integration: str | None = None) -> None:
        """Delete a webhook endpoint with its deliveries."""
        self._json(
            "DELETE /v2/integrations/:apiIntegrationId/webhooks/:endpointId",
            {"endpointId": endpoint_id, "apiIntegrationId": integration},
        )

    def rotate(self, endpoint_id: str, *, integration: str | None = None) -> models.WebhookEndpointWithSecret:
        """Make a new secret for a webhook endpoint."""
        answer: models.WebhookEndpointWithSecret = self._json(
            "POST /v2/integrations/:apiIntegrationId/webhooks/:endpointId/rotate",
            {"endpointId": endpoint_id, "apiIntegrationId": integration},
        )
        return answer

    def test(self, endpoint_id: str, *, integration: str | None = None) -> models.WebhookDelivery:
        """Send a `webhook.test` to an endpoint."""
        answer: models.WebhookDelivery = self._json(
            "POST /v2/integrations/:apiIntegrationId/webhooks/:endpointId/test",
            {"endpointId": endpoint_id, "apiIntegrationId": integration},
        )
        return answer

    def replay(
        self,
        endpoint_id: str,
        *,
        from_: str,
        to: str,
        types: Sequence[Literal["run.completed", "run.failed", "run.cancelled", "run.asked", "member.allowance_exhausted", "upload.completed", "agency.broken", "schedule.paused", "webhook.test"]] | Omitted = OMITTED,
        integration: str | None = None,
    ) -> models.WebhookReplay:
        """Send stored events once more."""
        answer: models.WebhookReplay = self._json(
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
    ) -> ItemList[models.WebhookDelivery, models.WebhookDeliveryList]:
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

    def delivery(
        self,
        endpoint_id: str,
        delivery_id: str,
        *,
        integration: str | None = None,
    ) -> models.WebhookDeliveryWithBody:
        """Read a delivery with its body and the last answer."""
        answer: models.WebhookDeliveryWithBody = self._json(
            "GET /v2/integrations/:apiIntegrationId/webhooks/:endpointId/deliveries/:deliveryId",
            {"endpointId": endpoint_id, "deliveryId": delivery_id, "apiIntegrationId": integration},
        )
        return answer

    def redeliver(
        self,
        endpoint_id: str,
        delivery_id: str,
        *,
        integration: str | None = None,
    ) -> models.WebhookDelivery:
        """Send a delivery's event once more."""
        answer: models.WebhookDelivery = self._json(
            "POST /v2/integrations/:apiIntegrationId/webhooks/:endpointId/deliveries/:deliveryId/redeliver",
            {"endpointId": endpoint_id, "deliveryId": delivery_id, "apiIntegrationId": integration},
        )
        return answer


class TokensApi(Resource):
    """Operations of `client.tokens`."""

    def create(
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
        answer: models.ClientToken = self._json(
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


class KeysApi(Resource):
    """Operations of `client.keys`."""

    def create(
        self,
        *,
        name: str | Omitted = OMITTED,
        expires_at: str | Omitted = OMITTED,
        role: Literal["viewer", "operator", "developer", "manager"] | Omitted = OMITTED,
        integrations: Sequence[str] | None | Omitted = OMITTED,
    ) -> models.CreatedApiKey:
        """Create an API key."""
        answer: models.CreatedApiKey = self._json(
            "POST /v2/api_keys",
            {"name": name, "expiresAt": expires_at, "role": role, "integrations": integrations},
        )
        return answer

    def list(self, *, limit: int | None = None) -> ItemList[models.ApiKey, models.ApiKeyList]:
        """List your API keys, newest first."""
        return self._list("GET /v2/api_keys", {"limit": limit})

    def revoke(self, key_id: str) -> None:
        """Revoke an API key; the list still shows it."""
        self._json("DELETE /v2/api_keys/:keyId", {"keyId": key_id})


class OwnersApi(Resource):
    """Operations of `client.owners`."""

    def create(self, *, email: str, name: str | Omitted = OMITTED) -> models.CreatedOwner:
        """Create an owner (administrator)."""
        answer: models.CreatedOwner = self._json("POST /v2/owners", {"email": email, "name": name})
        return answer

    def list(self, *, limit: int | None = None) -> ItemList[models.Owner, models.OwnerList]:
        """List owners, newest first (administrator)."""
        return self._list("GET /v2/owners", {"limit": limit})

    def delete(self, owner_id: str) -> None:
        """Delete an owner without integrations (administrator)."""
        self._json("DELETE /v2/owners/:ownerId", {"ownerId": owner_id})


class PeopleApi(Resource):
    """Operations of `client.people`."""

    def create(
        self,
        *,
        email: str,
        role: Literal["viewer", "operator", "developer", "manager"],
        name: str | None | Omitted = OMITTED,
    ) -> models.CreatedPerson:
        """Invite a person."""
        answer: models.CreatedPerson = self._json("POST /v2/people", {"email": email, "name": name, "role": role})
        return answer

    def list(self, *, limit: int | None = None) -> ItemList[models.Person, models.PersonList]:
        """List the people of your owner, newest first."""
        return self._list("GET /v2/people", {"limit": limit})

    def get(self, person_id: str) -> models.Person:
        """Read a person."""
        answer: models.Person = self._json("GET /v2/people/:personId", {"personId": person_id})
        return answer

    def update(
        self,
        person_id: str,
        *,
        email: str | Omitted = OMITTED,
        name: str | None | Omitted = OMITTED,
        role: Literal["viewer", "operator", "developer", "manager"] | Omitted = OMITTED,
    ) -> models.Person:
        """Change a person."""
        answer: models.Person = self._json(
            "PATCH /v2/people/:personId",
            {"personId": person_id, "email": email, "name": name, "role": role},
        )
        return answer

    def delete(self, person_id: str) -> None:
        """Remove a person."""
        self._json("DELETE /v2/people/:personId", {"personId": person_id})


class AuditApi(Resource):
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
    ) -> ItemList[models.AuditEvent, models.AuditEventList]:
        """List who changed what, newest first."""
        return self._list(
            "GET /v2/audit",
            {"actor": actor, "operation": operation, "target": target, "from": from_, "to": to, "limit": limit},
        )

    def csv(
        self,
        *,
        actor: str | None = None,
        operation: str | None = None,
        target: str | None = None,
        from_: str | None = None,
        to: str | None = None,
    ) -> Content:
        """List who changed what, newest first."""
        return self._content(
            "GET /v2/audit",
            {"actor": actor, "operation": operation, "target": target, "from": from_, "to": to, "format": "csv"},
        )


class AgenciesApi(Resource):
    """Operations of `client.agencies`."""

    def list(self, *, limit: int | None = None) -> ItemList[models.Agency, models.AgencyList]:
        """List agencies with their entry points and flows."""
        return self._list("GET /v2/agencies", {"limit": limit})

    def definition(self, agency: str) -> models.AgencyDefinition:
        """Read the instructions and tools of the agents of an agency."""
        answer: models.AgencyDefinition = self._json("GET /v2/agencies/:agency/definition", {"agency": agency})
        return answer


class NodesApi(Resource):
    """Operations of `client.nodes`."""

    def list(self, *, limit: int | None = None) -> ItemList[models.ServiceNode, models.ServiceNodeList]:
        """List the nodes of this installation, newest first (administrator)."""
        return self._list("GET /v2/nodes", {"limit": limit})

    def metrics(self) -> Content:
        """Read the metrics of this node."""
        return self._content("GET /metrics", {})


class MeApi(Resource):
    """Operations of `client.me`."""

    def get(self) -> models.Me:
        """Read your API key's owner, and who you are."""
        answer: models.Me = self._json("GET /v2/me", {})
        return answer

    def update(self, *, email: str | Omitted = OMITTED, name: str | None | Omitted = OMITTED) -> models.Me:
        """Change your name or your e-mail address."""
        answer: models.Me = self._json("PATCH /v2/me", {"email": email, "name": name})
        return answer


class Api(Caller):
    """Every operation of the API that needs a key."""

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        self.runs = RunsApi(transport)
        self.chats = ChatsApi(transport)
        self.questions = QuestionsApi(transport)
        self.members = MembersApi(transport)
        self.schedules = SchedulesApi(transport)
        self.usage = UsageApi(transport)
        self.overview = OverviewApi(transport)
        self.files = FilesApi(transport)
        self.integrations = IntegrationsApi(transport)
        self.webhooks = WebhooksApi(transport)
        self.tokens = TokensApi(transport)
        self.keys = KeysApi(transport)
        self.owners = OwnersApi(transport)
        self.people = PeopleApi(transport)
        self.audit = AuditApi(transport)
        self.agencies = AgenciesApi(transport)
        self.nodes = NodesApi(transport)
        self.me = MeApi(transport)
