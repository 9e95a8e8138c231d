/**
 * Like `Promise.all` over a map, with at most `limit` concurrent jobs. If a job fails, it rejects and starts no more
 * jobs.
 */
export async function mapAtMost<A, B>(
  limit: number,
  items: readonly A[],
  job: (item: A, place: number) => Promise<B>,
): Promise<B[]> {
  const results: B[] = [];
  const rest = items.entries();
  let hasFailed = false;
  const worker = async () => {
    for (const [place, item] of rest) {
      if (hasFailed) return;
      try {
        results[place] = await job(item, place);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  return results;
}
