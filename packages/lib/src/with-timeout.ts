/** Resolves like `work`. If it takes longer than `limitMs`, resolves to what `late` returns, or rejects if `late` throws. */
export async function withTimeout<T>(work: Promise<T>, limitMs: number, late: () => T): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const timer = setTimeout(() => {
    try {
      resolve(late());
    } catch (error) {
      reject(error);
    }
  }, limitMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
