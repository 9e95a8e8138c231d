import { setTimeout as sleep } from 'node:timers/promises';
import type { Engine } from './engine.ts';

const POLL_MS = 25;

export interface Draining {
  readonly engine: Engine;
  /** The number of requests that may still become runs. */
  readonly admitting: () => number;
  readonly openRequests: { readonly count: number; closeIdleConnections(): void };
  readonly limits: { readonly drainMs: number; readonly handOverMs: number };
  /** True if no other node can resume the runs: they stay unfinished until the next start. */
  readonly isAlone: boolean;
}

/** Resolves when all runs and requests have ended or were handed over, or when their time is up. */
export async function drain({ engine, admitting, openRequests, limits, isAlone }: Draining): Promise<void> {
  const waitForNone = async (limitMs: number, left: () => number): Promise<void> => {
    for (const until = performance.now() + limitMs; ; await sleep(POLL_MS)) {
      openRequests.closeIdleConnections();
      if (left() === 0 || performance.now() >= until) return;
    }
  };
  await waitForNone(limits.drainMs, () => engine.activeRuns + openRequests.count);
  if (isAlone) return;
  engine.handOverAll();
  await waitForNone(limits.handOverMs, () => engine.activeRuns + admitting());
}
