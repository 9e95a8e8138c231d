"""Answers the questions of a run with the tools and the decisions of the caller."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Awaitable, Callable, Literal, Mapping

from ._io import Io, MustAwaitError
from ._types import Question, RunResult

ToolFunction = Callable[[dict[str, Any], Question], Any]
"""Makes a call of a tool. Returns text or any JSON value. If it raises, the model reads the message of the error.

With `AsyncRunwire` it may be an `async` function.
"""


@dataclass(frozen=True)
class RequestTool:
    """A tool that the run gets by its request: the integration must allow `clientTools`."""

    description: str
    input_schema: Mapping[str, Any]
    execute: ToolFunction


@dataclass(frozen=True)
class Decision:
    """Approves or declines a call. The tool or the model reads the reason."""

    approve: bool
    reason: str | None = None
    arguments: Mapping[str, Any] | None = None
    """If the question is `editable`: the call is made with these."""
    remember: Literal["chat"] | None = None
    """If the question is `rememberable`: further calls of the tool in the chat do not ask."""


Tools = Mapping[str, "ToolFunction | RequestTool"]
"""By name: a function for a tool that the agency defines without `execute`, or a whole tool."""
OnApproval = Callable[[Question], "bool | Decision"]
"""Decides about a call."""
AsyncOnApproval = Callable[[Question], "bool | Decision | Awaitable[bool | Decision]"]
"""Decides about a call. It may be an `async` function."""

_MAX_ID_CHARACTERS = 256
_NOT_REPEATED = ("agent", "aliasChatId", "attachments", "sandboxFiles")


@dataclass(frozen=True)
class Answering:
    """How the caller answers questions."""

    tools: Tools
    on_approval: AsyncOnApproval | None
    io: Io

    def with_tools(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Adds the whole tools to the request."""
        added = [
            {"name": name, "description": tool.description, "inputSchema": tool.input_schema}
            for name, tool in self.tools.items()
            if isinstance(tool, RequestTool)
        ]
        return {**request, "clientTools": [*request.get("clientTools", []), *added]} if added else request

    async def answers_to(self, result: RunResult) -> list[dict[str, Any]] | None:
        """Returns None if there are no questions, or if one has no answer here: the server would decline it."""
        if result.status != "completed" or not result.pending or not all(map(self._can_answer, result.pending)):
            return None
        return [{"questionId": question.question_id, **await self._answer(question)} for question in result.pending]

    def _can_answer(self, question: Question) -> bool:
        return question.tool in self.tools if question.kind == "tool" else self.on_approval is not None

    async def _answer(self, question: Question) -> dict[str, Any]:
        if question.kind == "tool":
            return await self._call(question)
        decision = False if self.on_approval is None else await self.io.settle(self.on_approval(question))
        if not isinstance(decision, Decision):
            return {"approve": decision is True}
        given = {"reason": decision.reason, "arguments": decision.arguments, "remember": decision.remember}
        return {"approve": decision.approve, **{name: value for name, value in given.items() if value is not None}}

    async def _call(self, question: Question) -> dict[str, Any]:
        tool = self.tools[question.tool]
        execute = tool.execute if isinstance(tool, RequestTool) else tool
        try:
            return {"output": await self.io.settle(execute(question.arguments, question))}
        except MustAwaitError:
            raise
        except Exception as error:
            return {"output": str(error) or type(error).__name__, "failed": True}


def next_request(
    first: Mapping[str, Any], chat_id: str, answers: list[dict[str, Any]], turn: int
) -> dict[str, Any]:
    """The request that continues a run with answers.

    Its id is made from the first one, so that a program that repeats the first request after a crash also repeats the
    answers.
    """
    kept = {name: value for name, value in first.items() if name not in _NOT_REPEATED}
    usage_request_id = f"{first['usageRequestId']}~{turn}"[-_MAX_ID_CHARACTERS:]
    return {**kept, "chatId": chat_id, "message": "", "answers": answers, "usageRequestId": usage_request_id}
