import { Shortfall } from '@runwire/test-kit/shortfall.ts';

/**
 * Does the work for every item, `lanes` at a time. After a failure no further item starts, and the others end before it is
 * thrown, so that no process is left. A `Shortfall` names its item.
 */
export async function inLanes<T>(
  lanes: number,
  items: readonly (readonly [label: string, item: T])[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  let hasFailed = false;
  const lane = async () => {
    for (const [label, item] of queue) {
      if (hasFailed) return;
      await work(item).catch((error) => {
        hasFailed = true;
        throw error instanceof Shortfall ? new Shortfall(`${label}: ${error.message}`) : error;
      });
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: lanes }, lane));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}
