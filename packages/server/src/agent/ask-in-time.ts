import type { RunMember } from '@runwire/agency';
import { unlessAborted } from '@runwire/lib/unless-aborted.ts';

/** How long a function of an agency may take that decides something about a step. */
export const CHECK_MS = 30_000;

/** The agent whose functions are asked. */
export interface AskedAgent {
  readonly agency: string;
  readonly agent: string;
  readonly userContext: unknown;
  readonly member: () => Promise<RunMember | null>;
  readonly signal: AbortSignal;
}

export class TookTooLong extends Error {
  override readonly name = 'TookTooLong';
}

/** Rejects with `TookTooLong` after the time, and with the signal's reason if the run ends first. Then it aborts what it asked. */
export async function askInTime<Answer>(
  ask: (signal: AbortSignal) => Promise<Answer>,
  signal: AbortSignal,
  limitMs: number,
): Promise<Answer> {
  const controller = new AbortController();
  const expired = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    expired.reject(new TookTooLong(`The function took longer than ${limitMs / 1000} seconds.`));
    controller.abort();
  }, limitMs);
  try {
    const both = AbortSignal.any([signal, controller.signal]);
    return await unlessAborted(signal, Promise.race([ask(both), expired.promise]));
  } finally {
    clearTimeout(timer);
  }
}
