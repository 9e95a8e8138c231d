"""Makes typed events and results of the frames of a stream."""

from __future__ import annotations

import json
from typing import Any, Mapping, Sequence

from ._types import (
    Agent,
    Asked,
    ChangedFile,
    Failure,
    File,
    Frame,
    Question,
    Reasoning,
    Resumed,
    RunEvent,
    RunResult,
    Started,
    Text,
    ToolCall,
    ToolOutput,
    ToolProgress,
)


def event_in(frame: Frame) -> RunEvent | None:
    """Returns the typed event of a frame. None if it is none: such frames are in `frames()` only."""
    if frame.event not in ("meta", "resumed", None):
        return None
    data: Mapping[str, Any] = json.loads(frame.data)
    if frame.event == "meta":
        return Started(
            id=frame.id,
            run_id=data["run_id"],
            chat_id=data["chatId"],
            alias_chat_id=data["aliasChatId"],
            usage_request_id=data["usageRequestId"],
            consumer_id=data["consumerId"],
            agent=data["agent"],
            created_at=data["createdAt"],
            ignored_fields=data.get("ignored_fields", []),
        )
    if frame.event == "resumed":
        return Resumed(frame.id, data["attempt"], data["discard_after"], data.get("void_items", []))
    if "error" in data:
        return Failure(frame.id, data["code"], data["error"])
    return _model_event(frame.id, data["data"])


def _model_event(event_id: int, data: Mapping[str, Any]) -> RunEvent | None:
    agent, caller = data["agent"], data["callerAgent"]
    if data["type"] == "agent_updated_stream_event":
        return Agent(event_id, data["new_agent"]["name"], caller)
    if data["type"] == "run_item_stream_event":
        return _item_event(event_id, agent, caller, data)
    if data["type"] != "raw_response_event":
        return None
    raw = data["data"]
    if raw["type"] == "response.output_text.delta" and caller is None:
        return Text(event_id, agent, caller, raw["delta"], raw["item_id"])
    if raw["type"] == "response.reasoning_summary_text.delta":
        return Reasoning(event_id, agent, caller, raw["delta"], raw["item_id"])
    return None


def _item_event(event_id: int, agent: str, caller: str | None, data: Mapping[str, Any]) -> RunEvent | None:
    name, item = data["name"], data["item"]
    raw = item["raw_item"]
    call_id = raw.get("call_id", "")
    if name == "tool_called":
        arguments = _arguments_in(raw.get("arguments", "{}"))
        return ToolCall(event_id, agent, caller, call_id, raw.get("name", ""), arguments)
    if name == "tool_progress":
        return ToolProgress(event_id, agent, caller, call_id, raw.get("text", ""))
    if name == "tool_output":
        output, failed = item.get("output", ""), item.get("failed", False)
        return ToolOutput(event_id, agent, caller, call_id, output, failed, item.get("attachments", ()))
    if name == "file_changed":
        return File(event_id, agent, caller, call_id, _file_from(raw))
    if name in ("tool_approval_requested", "client_tool_requested"):
        question = Question(
            question_id=item.get("question_id", ""),
            kind="tool" if name == "client_tool_requested" else "approval",
            call_id=call_id,
            agent=agent,
            caller_agent=caller,
            tool=raw.get("name", ""),
            arguments=_arguments_in(raw.get("arguments", "{}")),
        )
        return Asked(event_id, agent, caller, question)
    return None


def _arguments_in(text: str) -> dict[str, Any]:
    """A model can send arguments that are no JSON; the call then fails on the server."""
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _file_from(raw: Mapping[str, Any]) -> ChangedFile:
    return ChangedFile(raw["name"], raw["path"], raw["mime_type"], raw["size_bytes"], raw["change"])


def _question_from(raw: Mapping[str, Any]) -> Question:
    return Question(
        question_id=raw["question_id"],
        kind=raw["kind"],
        call_id=raw["call_id"],
        agent=raw["agent"],
        caller_agent=raw["callerAgent"],
        tool=raw["tool"],
        arguments=raw["arguments"],
        editable=raw.get("editable", False),
        rememberable=raw.get("rememberable", False),
    )


def result_in(data: str, text_before: str) -> RunResult:
    """Reads the frame `messages`. `text_before` is the text of the runs before, if questions were answered."""
    messages: Mapping[str, Any] = json.loads(data)
    return RunResult(
        run_id=messages["run_id"],
        chat_id=messages["chatId"],
        status=messages["status"],
        text=text_before + _answer_in(messages["new_messages"]),
        output=messages.get("output"),
        pending=[_question_from(question) for question in messages["pending"]],
        files=[_file_from(file) for file in messages["files"]],
        usage=messages["usage"],
        error=messages["error"],
        new_messages=messages["new_messages"],
    )


def _answer_in(messages: Sequence[Mapping[str, Any]]) -> str:
    return "".join(
        part["text"]
        for item in messages
        if item["type"] == "message" and item["role"] == "assistant" and item["callerAgent"] is None
        for part in item["content"]
    )
