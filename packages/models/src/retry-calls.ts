import { setTimeout as sleep } from 'node:timers/promises';
import type { Tries } from './model.ts';
import { ProviderFailure } from './provider-failure.ts';

const MAX_ATTEMPTS = 3;
const MAX_RETRY_AFTER_MS = 30_000;
const RETRY_MS = 500;

/** No request was sent: the call was not allowed any more when the connection was open. */
export class NotNow extends Error {
  override readonly name = 'NotNow';
  readonly until: Promise<void>;

  constructor(until: Promise<void>) {
    super('The run has stopped, so the model is not called.');
    this.until = until;
    // If the call is aborted, no caller waits for this promise.
    until.catch(() => {});
  }
}

interface RetriedCall {
  readonly signal: AbortSignal;
  /** Called before each attempt except the first. */
  readonly mayCall?: (() => Promise<void> | null) | undefined;
  /** Counts the attempts after the first. */
  readonly tries?: Tries | undefined;
}

export interface Attempt<T> {
  readonly done: Promise<T>;
  /** True if output was passed on that a second attempt would repeat. */
  hasOutput(): boolean;
}

/** Repeats a call that failed before any output. Rejects with a `ModelFailure`, or with the signal's reason. */
export async function retryCalls<T>(call: RetriedCall, begin: () => Attempt<T>): Promise<T> {
  for (let count = 1; ; count += 1) {
    call.signal.throwIfAborted();
    const attempt = begin();
    try {
      return await attempt.done;
    } catch (error) {
      if (error instanceof NotNow) {
        await error.until;
        count -= 1;
        continue;
      }
      if (!(error instanceof ProviderFailure)) throw error;
      const waitMs = error.retryAfterMs ?? RETRY_MS * 2 ** (count - 1) * (0.75 + Math.random() / 2);
      const again = error.retryable && !attempt.hasOutput() && count < MAX_ATTEMPTS && waitMs <= MAX_RETRY_AFTER_MS;
      if (!again) throw error.failure;
      await sleep(waitMs, undefined, { signal: call.signal });
      await call.mayCall?.();
      if (call.tries !== undefined) call.tries.count += 1;
    }
  }
}
