import { setTimeout as sleep } from 'node:timers/promises';
import { RunLost } from '../domain/run-lost.ts';
import { StoreUnavailable } from '../domain/unavailable.ts';
import type { EngineDeps } from './deps.ts';
import type { StopHandle } from './stop-handle.ts';

/** While the store cannot be written to, a run waits where it is. */
export async function retryWhileUnavailable<T>(
  deps: Pick<EngineDeps, 'retryMs'>,
  stop: StopHandle,
  transact: () => Promise<T>,
): Promise<T> {
  for (;;) {
    if (stop.isLost) throw RunLost.ofFencedNode();
    try {
      return await transact();
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || stop.isShutDown) throw error;
      await sleep(deps.retryMs);
    }
  }
}
