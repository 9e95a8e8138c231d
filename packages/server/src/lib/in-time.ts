/** What `work` comes to, or where that takes longer than `limitMs`, what `late` says. */
export async function inTime<T>(work: Promise<T>, limitMs: number, late: () => T): Promise<T> {
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
