import { setTimeout as sleep } from 'node:timers/promises';
import { pauseMsAfter, WAIT_MS } from '@runwire/test-kit/shortfall.ts';

const LEAST_PAUSE_MS = 25;

/** Resolves to the first result that is neither false nor null; rejects after a minute without one. */
export async function eventually<T>(claim: string, look: () => Promise<T | false | null>): Promise<T> {
  const since = performance.now();
  for (; ; await sleep(pauseMsAfter(performance.now() - since, LEAST_PAUSE_MS))) {
    const found = await look();
    if (found !== false && found !== null) return found;
    if (performance.now() > since + WAIT_MS) throw new Error(`Not within ${WAIT_MS} ms: ${claim}`);
  }
}

/** Resolves when the condition is true; rejects with its text after a minute. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  await eventually(`${isSo}`, async () => isSo());
}
