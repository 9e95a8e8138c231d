/** The CPU time that the current thread has used so far, in milliseconds. Time in which it waited for a core is not in it. */
function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/**
 * Finds the turn of the event loop that used the most CPU time of this thread. An immediate without a reference runs once
 * in every turn and keeps no loop awake.
 */
export class LoopWatch {
  #longestMs = 0;
  #last = threadCpuMs();

  constructor() {
    this.#turn();
  }

  #turn = (): void => {
    const now = threadCpuMs();
    this.#longestMs = Math.max(this.#longestMs, now - this.#last);
    this.#last = now;
    setImmediate(this.#turn).unref();
  };

  /** Returns the longest turn since the last call. */
  takeLongestMs(): number {
    const longest = this.#longestMs;
    this.#longestMs = 0;
    return longest;
  }
}
