"""How long the client waits."""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Timing:
    """How long the client waits, in seconds."""

    silence_seconds: float = 30
    """A connection that sends nothing for this long counts as cut. The server sends a comment every 10 s."""
    give_up_seconds: float = 120
    """After this long without contact a run fails with `ConnectionLostError`; for this long a refusal is retried."""
    min_pause_seconds: float = 0.25
    """The first pause before a retry. Each further pause is twice as long."""
    max_pause_seconds: float = 5
    connect_seconds: float = 10
    """A connection may take this long. It is also the limit without contact as long as no server ever answered: then
    the address is wrong, or no server runs there."""


class Backoff:
    """Pauses that grow from the minimum to the maximum. Jitter keeps clients that were cut together apart."""

    def __init__(self, timing: Timing) -> None:
        self._timing = timing
        self._next = timing.min_pause_seconds

    def reset(self) -> None:
        self._next = self._timing.min_pause_seconds

    def next(self) -> float:
        pause = self._next * random.uniform(0.5, 1)
        self._next = min(2 * self._next, self._timing.max_pause_seconds)
        return pause
