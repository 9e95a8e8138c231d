/** The server may close a kept connection while a request is sent on it. This cannot happen on a new connection. */
export async function onOpenConnection<T>(ask: () => Promise<T>): Promise<T> {
  for (let kept = 3; ; kept -= 1) {
    try {
      return await ask();
    } catch (error) {
      if (kept === 0) throw error;
    }
  }
}
