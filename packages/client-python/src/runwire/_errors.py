"""Every error of this package, and how answers of the server become errors."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Literal, Mapping, Sequence

if TYPE_CHECKING:
    from ._types import Question, RunHandle, RunResult

Admitted = bool | Literal["unknown"] | None
"""True if the request reserved a run. `unknown`: no answer tells. None if the request does not start a run."""

_RETRYABLE = frozenset(
    "run_active mount_quota_exceeded erasure_running internal_error model_error model_timeout answer_restarted "
    "run_interrupted connection_lost".split()
)
"""Codes that are retryable whatever their status, in the order of the error table."""


class RunwireError(Exception):
    """Every error of this package."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int | None = None,
        request_id: str | None = None,
        admitted: Admitted = None,
        retry_after_seconds: float | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        """Decide by it: sentences may change."""
        self.message = message
        self.status = status
        """The status of the answer. None if there was no answer, or if the error was in the stream."""
        self.request_id = request_id
        """Names the request in the log of the server."""
        self.admitted: Admitted = admitted
        self.retry_after_seconds = retry_after_seconds
        """After how many seconds the same request may succeed."""
        self.body: Mapping[str, Any] = body or {}
        """The whole JSON of the answer."""
        self.retryable = (
            code in _RETRYABLE
            or status == 408
            # An allowance without a `resetAt` is never reset.
            or (status == 429 and code != "consumer_inactive" and self.body.get("resetAt", "") is not None)
            or (status or 0) >= 500
        )
        """True if the same request may succeed later. For a code in the stream: with a new `usage_request_id`."""


class InvalidRequestError(RunwireError):
    """The request is wrong: correct it."""


class AuthenticationError(RunwireError):
    """The key or the token is missing, expired, revoked or not valid."""


class ForbiddenError(RunwireError):
    """The key or the token does not permit this."""


class NotFoundError(RunwireError):
    """What the request names does not exist."""


class ConflictError(RunwireError):
    """The request conflicts with what is stored."""


class RunActiveError(RunwireError):
    """The chat has an active run: wait for it, or cancel exactly that run."""

    @property
    def run_id(self) -> str:
        """The active run."""
        return str(self.body.get("runId"))


class MemberInactiveError(RunwireError):
    """The member is not active."""


class AllowanceExhaustedError(RunwireError):
    """The member has used up its allowance."""

    @property
    def reset_at(self) -> str | None:
        """When the allowance is reset. None if it is never reset."""
        found = self.body.get("resetAt")
        return found if isinstance(found, str) else None


class RateLimitError(RunwireError):
    """Too many runs or requests: send less concurrently."""


class ServerError(RunwireError):
    """The server failed or cannot take the request now."""


class CursorTooOldError(RunwireError):
    """The events after the cursor were compacted: attach without a cursor."""


class UploadError(RunwireError):
    """The storage refused the file, or could not be reached."""


class WebhookVerificationError(RunwireError):
    """The request is not a webhook that was signed with one of the secrets in the last minutes: answer 400."""

    def __init__(self, message: str) -> None:
        super().__init__("webhook_not_verified", message)


class RunFailedError(RunwireError):
    """The run ended as failed. `result` has the text so far."""

    def __init__(self, result: RunResult) -> None:
        error = result.error or {"code": "internal_error", "message": "The run failed."}
        super().__init__(error["code"], error["message"], admitted=True)
        self.result = result


class RunCancelledError(RunwireError):
    """The run ended as cancelled. `result` has the text so far."""

    def __init__(self, result: RunResult) -> None:
        super().__init__("run_cancelled", "The run was cancelled.", admitted=True)
        self.result = result


class QuestionsPendingError(RunwireError):
    """The run waits for answers to `pending`. `result` has the text so far."""

    def __init__(self, result: RunResult) -> None:
        asked = ", ".join(f"{question.tool} ({question.kind})" for question in result.pending)
        message = f"The run waits for answers: {asked}; pass `tools` and `on_approval`, or send `answers` in its chat."
        super().__init__("questions_pending", message, admitted=True)
        self.result = result

    @property
    def pending(self) -> Sequence[Question]:
        """The open questions of the chat."""
        return self.result.pending


class ConnectionLostError(RunwireError):
    """No contact for too long. The run may continue: `client.attach(error.handle)` reads it later."""

    def __init__(self, message: str, handle: RunHandle | None = None) -> None:
        super().__init__("connection_lost", message, admitted=None if handle is None else _admitted_by(handle))
        self.handle = handle
        """None if the call was not about a run."""


class DetachedError(RunwireError):
    """`detach()` or an interrupt ended the reading. The run continues: `client.attach(error.handle)` reads it later."""

    def __init__(self, handle: RunHandle) -> None:
        message = "This reader was detached; the run continues on the server."
        super().__init__("detached", message, admitted=_admitted_by(handle))
        self.handle = handle


def _admitted_by(handle: RunHandle) -> Admitted:
    return "unknown" if handle["runId"] is None else True


_BY_CODE: Mapping[str, type[RunwireError]] = {
    "run_active": RunActiveError,
    "consumer_inactive": MemberInactiveError,
    "consumer_allowance_exhausted": AllowanceExhaustedError,
    "cursor_too_old": CursorTooOldError,
    "request_timeout": ServerError,
}
"""Codes whose class does not follow from the status."""

_BY_STATUS: Mapping[int, type[RunwireError]] = {
    401: AuthenticationError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    429: RateLimitError,
}


def class_for(code: str, status: int) -> type[RunwireError]:
    """Returns the class that fits the code and the status."""
    by_status = _BY_STATUS.get(status, ServerError if status >= 500 else InvalidRequestError)
    return _BY_CODE.get(code, by_status)


def error_in(status: int, headers: Mapping[str, str], data: bytes) -> RunwireError:
    """Makes the error of an answer that is no success. That of another program has the code `unexpected_answer`."""
    text = data.decode("utf-8", "replace")
    body = object_in(text)
    code = body.get("code")
    message = body.get("error")
    if not isinstance(code, str) or not isinstance(message, str):
        code = "unexpected_answer"
        location = headers.get("location")
        redirect = "" if location is None else f" It redirects to {location}; redirects are not followed."
        message = (
            f"The answer with status {status} is not from a Runwire server; check `base_url` and proxies.{redirect} "
            f"{_foreign_text(message, text)}"
        )
    retry_after = headers.get("retry-after", "")
    return class_for(code, status)(
        code,
        message,
        status=status,
        request_id=headers.get("x-request-id"),
        admitted={"true": True, "false": False}.get(headers.get("x-agent-run-admitted", "")),
        retry_after_seconds=float(retry_after) if re.fullmatch(r"\d+(\.\d+)?", retry_after) else None,
        body=body,
    )


def _foreign_text(error: object, text: str) -> str:
    """What another server reports: many send an `error` object with a `message`."""
    if not text:
        return "It has no body."
    reported = error.get("message") if isinstance(error, dict) else error
    if isinstance(reported, str) and reported:
        return f"Its error: {reported[:200]}"
    return f"It begins: {text[:200]}"


def object_in(text: str) -> dict[str, Any]:
    """Returns the JSON object. Empty if the text is none."""
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
