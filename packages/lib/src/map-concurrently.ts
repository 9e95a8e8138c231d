/**
 * Like `Promise.all` over a map, with at most `limit` concurrent jobs. If a job fails, it rejects and starts no more
 * jobs.
 */
export async function mapAtMost<A, B>(
  limit: number,
  items: readonly A[],
  job: (item: A, index: number) => Promise<B>,
): Promise<B[]> {
  const results: B[] = [];
  const rest = items.entries();
  let hasFailed = false;
  const worker = async () => {
    for (const [index, item] of rest) {
      if (hasFailed) return;
      try {
        results[index] = await job(item, index);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  return results;
}

/** Like `mapAtMost`. If a job fails, the others are aborted, and it rejects after all of them have settled. */
export async function mapConcurrently<A, B>(
  limit: number,
  items: readonly A[],
  signal: AbortSignal,
  job: (item: A, signal: AbortSignal) => Promise<B>,
): Promise<B[]> {
  const stop = new AbortController();
  const abort = () => stop.abort(signal.reason);
  signal.addEventListener('abort', abort);
  if (signal.aborted) abort();
  const started: Promise<B>[] = [];
  try {
    return await mapAtMost(limit, items, (item) => {
      const one = job(item, stop.signal);
      started.push(one);
      return one;
    });
  } catch (error) {
    stop.abort(error);
    await Promise.allSettled(started);
    throw error;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
