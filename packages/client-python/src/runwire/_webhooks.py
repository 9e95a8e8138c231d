"""The receiving side of webhooks: checks that a request is from the server, by the rules of Standard Webhooks."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from typing import Any, Iterable, Protocol, Sequence

from . import models
from ._errors import WebhookVerificationError


class VerifiedRunEvent(models.WebhookRunEvent):
    """A `WebhookRunEvent` with its id."""

    eventId: str
    """The header `webhook-id`: the same for every attempt, endpoint, redelivery and replay."""


class VerifiedAllowanceEvent(models.WebhookAllowanceEvent):
    """A `WebhookAllowanceEvent` with its id."""

    eventId: str
    """The header `webhook-id`: the same for every attempt, endpoint, redelivery and replay."""


class VerifiedUploadEvent(models.WebhookUploadEvent):
    """A `WebhookUploadEvent` with its id."""

    eventId: str
    """The header `webhook-id`: the same for every attempt, endpoint, redelivery and replay."""


class VerifiedAgencyEvent(models.WebhookAgencyEvent):
    """A `WebhookAgencyEvent` with its id."""

    eventId: str
    """The header `webhook-id`: the same for every attempt, endpoint, redelivery and replay."""


class VerifiedScheduleEvent(models.WebhookScheduleEvent):
    """A `WebhookScheduleEvent` with its id."""

    eventId: str
    """The header `webhook-id`: the same for every attempt, endpoint, redelivery and replay."""


class VerifiedTestEvent(models.WebhookTestEvent):
    """A `WebhookTestEvent` with its id."""

    eventId: str
    """The header `webhook-id`: the same for every attempt, endpoint, redelivery and replay."""


VerifiedWebhook = (
    VerifiedRunEvent
    | VerifiedAllowanceEvent
    | VerifiedUploadEvent
    | VerifiedAgencyEvent
    | VerifiedScheduleEvent
    | VerifiedTestEvent
)
"""An event with the id by which a receiver recognises an event that it has already handled. `type` tells which."""


class WebhookHeaders(Protocol):
    """Headers as web frameworks pass them: a mapping, with names in any case."""

    def items(self) -> Iterable[tuple[str, str]]:
        """Names with their values."""


def verify_webhook(
    body: bytes | str,
    headers: WebhookHeaders,
    secret: str | Sequence[str],
    *,
    tolerance_seconds: float = 300,
) -> VerifiedWebhook:
    """Checks that a webhook is from the server and returns its event. Raises a `WebhookVerificationError` if not.

    `body` is the request's body as it arrived, before any parser: other bytes have another signature. During a rotation
    pass the old and the new secret. `tolerance_seconds` is how far the sender's clock and ours may differ.
    """
    if not isinstance(body, (bytes, bytearray, memoryview, str)):
        raise ValueError("`body` must be bytes or a string: the body as it arrived, not the parsed JSON.")
    content = _encoded(body) if isinstance(body, str) else bytes(body)
    keys = [_key(each) for each in ([secret] if isinstance(secret, str) else secret)]
    if not keys:
        raise ValueError("No secret; pass the secret of the endpoint.")
    given = {name.lower(): value for name, value in headers.items()}
    event_id, timestamp, signatures = (
        _header(given, name) for name in ("webhook-id", "webhook-timestamp", "webhook-signature")
    )
    _check_time(timestamp, tolerance_seconds)
    signed = _encoded(f"{event_id}.{timestamp}.") + content
    found = [_encoded(text[3:]) for text in signatures.split(" ") if text.startswith("v1,")]
    matches = False
    for key in keys:
        expected = base64.b64encode(hmac.digest(key, signed, hashlib.sha256))
        for signature in found:
            matches = hmac.compare_digest(expected, signature) or matches
    if not matches:
        causes = "the secret is another one, or the body was changed (pass it as it arrived, before any parser)"
        raise WebhookVerificationError(f"No signature in `webhook-signature` matches: {causes}.")
    try:
        event = json.loads(content)
    except ValueError:
        event = None
    if not isinstance(event, dict) or not isinstance(event.get("type"), str):
        raise WebhookVerificationError("The signed body is not an event.")
    verified: Any = {**event, "eventId": event_id}
    answer: VerifiedWebhook = verified
    return answer


def _encoded(text: str) -> bytes:
    """Half a surrogate pair is refused with the signature, not as an error of the encoder."""
    return text.encode("utf-8", "surrogatepass")


def _key(secret: str) -> bytes:
    try:
        if not secret.startswith("whsec_"):
            raise ValueError
        encoded = secret[6:].replace("-", "+").replace("_", "/")
        key = base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
        if not key:
            raise ValueError
        return key
    except (ValueError, binascii.Error, AttributeError):
        message = "The secret must be `whsec_` and base64, as it was shown when the endpoint was created."
        raise ValueError(message) from None


def _header(headers: dict[str, str], name: str) -> str:
    found = headers.get(name)
    if not found:
        raise WebhookVerificationError(f"The header `{name}` is missing: the request is not a webhook.")
    return found


def _check_time(timestamp: str, tolerance_seconds: float) -> None:
    """A signature is valid for some minutes only. So a recorded request cannot be sent again later."""
    if not re.fullmatch("[0-9]{1,15}", timestamp):
        raise WebhookVerificationError("The header `webhook-timestamp` is not a time in seconds.")
    ahead = int(timestamp) - time.time()
    if abs(ahead) > tolerance_seconds:
        problem = f"{abs(ahead):.0f} s {'ahead of' if ahead > 0 else 'older than'} this machine's clock"
        raise WebhookVerificationError(f"The header `webhook-timestamp` is {problem}.")
