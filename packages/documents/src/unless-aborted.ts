/** Resolves as `work` does. Rejects with the signal's reason if the signal aborts first; `work` then continues unobserved. */
export async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort);
  if (signal.aborted) abort();
  try {
    return await Promise.race([aborted, work]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
