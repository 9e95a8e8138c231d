import { mapAtMost } from './map-at-most.ts';

/** As `mapAtMost`; the first that fails stops the others, and all have come to rest before it is told. */
export async function together<A, B>(
  limit: number,
  items: readonly A[],
  signal: AbortSignal,
  job: (item: A, signal: AbortSignal) => Promise<B>,
): Promise<B[]> {
  const stop = new AbortController();
  const abort = () => stop.abort(signal.reason);
  signal.addEventListener('abort', abort);
  if (signal.aborted) abort();
  const begun: Promise<B>[] = [];
  try {
    return await mapAtMost(limit, items, (item) => {
      const one = job(item, stop.signal);
      begun.push(one);
      return one;
    });
  } catch (error) {
    stop.abort(error);
    await Promise.allSettled(begun);
    throw error;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
