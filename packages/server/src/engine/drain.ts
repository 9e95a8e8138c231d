import { setTimeout as sleep } from 'node:timers/promises';
import type { Engine } from './engine.ts';

const POLL_MS = 25;

export interface Draining {
  readonly engine: Engine;
  /** Requests of which it is not known yet whether they become runs. */
  readonly admitting: () => number;
  readonly openRequests: { readonly count: number; closeIdleConnections(): void };
  readonly limits: { readonly drainMs: number; readonly handOverMs: number };
  /** Nobody else can go on with the runs: they are left where they are, to the next start. */
  readonly isAlone: boolean;
}

/** Resolves when all that runs or is read has ended or was handed over, or when the time for that is over. */
export async function drain({ engine, admitting, openRequests, limits, isAlone }: Draining): Promise<void> {
  const none = async (limitMs: number, left: () => number): Promise<void> => {
    for (const until = performance.now() + limitMs; ; await sleep(POLL_MS)) {
      openRequests.closeIdleConnections();
      if (left() === 0 || performance.now() >= until) return;
    }
  };
  await none(limits.drainMs, () => engine.activeRuns + openRequests.count);
  if (isAlone) return;
  engine.handOverAll();
  await none(limits.handOverMs, () => engine.activeRuns + admitting());
}
