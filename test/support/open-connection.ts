/** A request on a kept connection can meet its close; one on a new connection cannot. */
export async function onOpenConnection<T>(ask: () => Promise<T>): Promise<T> {
  for (let kept = 3; ; kept -= 1) {
    try {
      return await ask();
    } catch (error) {
      if (kept === 0) throw error;
    }
  }
}
