import { setTimeout as sleep } from 'node:timers/promises';
import { RunLost } from '../domain/run/run-lost.ts';
import { StoreUnavailable } from '../domain/unavailable.ts';
import type { StopHandle } from './stop-handle.ts';

/**
 * Repeats the job while the store is unavailable: the run waits in its place. Rejects with `RunLost` if another node owns
 * the run, and with `StoreUnavailable` if this process ends now.
 */
export async function retryWhileUnavailable<T>(
  { retryMs }: { readonly retryMs: number },
  stop: Pick<StopHandle, 'reason'>,
  job: () => Promise<T>,
): Promise<T> {
  for (;;) {
    if (stop.reason?.kind === 'lost') throw RunLost.ofFencedNode();
    try {
      return await job();
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || stop.reason?.kind === 'shut_down') throw error;
      await sleep(retryMs);
    }
  }
}
