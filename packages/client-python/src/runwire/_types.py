"""What callers read: events, results, questions and handles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Mapping, Sequence, TypedDict

from . import models


class RunHandle(TypedDict):
    """Names a run, as plain JSON, equal in every client: store it, and attach to the run with it later."""

    apiIntegrationId: str
    usageRequestId: str | None
    runId: str | None
    """None until the server has admitted the run."""
    chatId: str | None
    lastEventId: int
    """The last event that was read. `attach(handle, after=handle["lastEventId"])` continues after it."""


class SandboxFile(TypedDict):
    """An uploaded file, for `sandbox_files` of a run."""

    name: str
    path: str


@dataclass(frozen=True)
class Admission:
    """What is known after the admission."""

    run_id: str
    chat_id: str
    replayed: bool
    """True if the run existed already: nothing was started or charged again."""


@dataclass(frozen=True)
class Frame:
    """An event as sent."""

    id: int
    event: str | None
    """None for events of the model and errors."""
    data: str


@dataclass(frozen=True)
class Question:
    """A call that waits for an answer of the caller."""

    question_id: str
    kind: Literal["approval", "tool"]
    """`approval`: a person must decide about the call. `tool`: only the caller can make the call."""
    call_id: str
    agent: str
    caller_agent: str | None
    tool: str
    arguments: dict[str, Any]
    editable: bool = False
    """True if an approval may have other `arguments`."""
    rememberable: bool = False
    """True if an approval may have `remember`."""


@dataclass(frozen=True)
class ChangedFile:
    """A file that a run created, changed or deleted."""

    name: str
    path: str
    content_type: str
    size: int
    change: Literal["created", "changed", "deleted"]


RunStatus = Literal["completed", "failed", "cancelled"]


@dataclass(frozen=True)
class RunResult:
    """How a run ended."""

    run_id: str
    chat_id: str
    status: RunStatus
    text: str
    """The answer, without void text."""
    output: Any
    """The structured output. None if the agent has none."""
    pending: Sequence[Question]
    """The questions with which the run ended."""
    files: Sequence[ChangedFile]
    usage: Mapping[str, int]
    error: Mapping[str, str] | None
    """`code` and `message`. None unless the run failed."""
    new_messages: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class CancelResult:
    """What became of a cancelled run."""

    run_id: str
    chat_id: str
    status: Literal["cancelling", "completed", "failed", "cancelled"]
    cancelled: bool
    """True exactly if `status` is `cancelled`."""
    usage: Mapping[str, int] | None


@dataclass(frozen=True)
class Started:
    """The first event of a run."""

    id: int
    run_id: str
    chat_id: str
    alias_chat_id: str | None
    usage_request_id: str | None
    consumer_id: str | None
    agent: str
    created_at: str
    ignored_fields: Sequence[str]
    type: Literal["started"] = "started"


@dataclass(frozen=True)
class Text:
    """A piece of the answer. The text of agents that were asked by other agents is in `frames()` only."""

    id: int
    agent: str
    caller_agent: str | None
    delta: str
    item_id: str
    type: Literal["text"] = "text"


@dataclass(frozen=True)
class Reasoning:
    """A piece of the reasoning of a model."""

    id: int
    agent: str
    caller_agent: str | None
    delta: str
    item_id: str
    type: Literal["reasoning"] = "reasoning"


@dataclass(frozen=True)
class ToolCall:
    """An agent calls a tool."""

    id: int
    agent: str
    caller_agent: str | None
    call_id: str
    tool: str
    arguments: dict[str, Any]
    type: Literal["tool_call"] = "tool_call"


@dataclass(frozen=True)
class ToolOutput:
    """A call of a tool ended."""

    id: int
    agent: str
    caller_agent: str | None
    call_id: str
    output: str
    failed: bool
    attachments: Sequence[models.ToolAttachment] = ()
    """The images that the call returned, for `runs.attachment`."""
    type: Literal["tool_output"] = "tool_output"


@dataclass(frozen=True)
class ToolProgress:
    """A tool reports how far a call is. The newest report of a call replaces earlier ones."""

    id: int
    agent: str
    caller_agent: str | None
    call_id: str
    text: str
    type: Literal["tool_progress"] = "tool_progress"


@dataclass(frozen=True)
class Agent:
    """A hand-off: from here on `agent` answers."""

    id: int
    agent: str
    caller_agent: str | None
    type: Literal["agent"] = "agent"


@dataclass(frozen=True)
class Asked:
    """An agent asks a question. The run ends with its open questions."""

    id: int
    agent: str
    caller_agent: str | None
    question: Question
    type: Literal["question"] = "question"


@dataclass(frozen=True)
class File:
    """A tool created, changed or deleted a file."""

    id: int
    agent: str
    caller_agent: str | None
    call_id: str
    file: ChangedFile
    type: Literal["file"] = "file"


@dataclass(frozen=True)
class Resumed:
    """The server crashed and continues the run: earlier events with an id above `discard_after` are void."""

    id: int
    attempt: int
    discard_after: int
    void_items: Sequence[str]
    type: Literal["resumed"] = "resumed"


@dataclass(frozen=True)
class Failure:
    """The run failed. `Ended` follows."""

    id: int
    code: str
    message: str
    type: Literal["error"] = "error"


@dataclass(frozen=True)
class Ended:
    """The last event of a run."""

    id: int
    result: RunResult
    type: Literal["ended"] = "ended"


RunEvent = (
    Started
    | Text
    | Reasoning
    | ToolCall
    | ToolProgress
    | ToolOutput
    | Agent
    | Asked
    | File
    | Resumed
    | Failure
    | Ended
)
"""Tell events apart by `isinstance` or by `type`."""
