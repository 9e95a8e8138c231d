/** As TanStack Query has it. */
type QueryKey = readonly unknown[];

/** How fast a query may be read again by itself. The heads of the answers take the rest of 5 kB/s. */
const MAX_BYTES_PER_SECOND = 4500;

/** Counts for an answer whose length a proxy has removed. */
const UNKNOWN_BYTES = 20_000;

let received = 0;
const sizes = new Map<string, number>();

/** Counts the bytes of JSON answers as they were sent. Streams and files are not read again by themselves. */
export const meteredFetch: typeof fetch = async (...request) => {
  const answer = await fetch(...request);
  const { headers } = answer;
  if (headers.get('content-type')?.startsWith('application/json')) {
    received += Number(headers.get('content-length') ?? UNKNOWN_BYTES);
  }
  return answer;
};

/** Reads what belongs to the key, and notes its bytes. Answers that arrive concurrently count too. */
export async function measured<Result>(queryKey: QueryKey, read: () => Promise<Result>): Promise<Result> {
  const before = received;
  const result = await read();
  sizes.set(JSON.stringify(queryKey), received - before);
  return result;
}

/** How long to wait before what belongs to the keys is read again: `ms`, or longer if it has many bytes. */
export function pollMs(queryKeys: readonly QueryKey[], ms: number): number {
  const bytes = queryKeys.reduce((sum, queryKey) => sum + (sizes.get(JSON.stringify(queryKey)) ?? 0), 0);
  return Math.max(ms, Math.ceil((1000 * bytes) / MAX_BYTES_PER_SECOND));
}
