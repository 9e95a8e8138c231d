/**
 * The process that reads documents did not start, or ended for another reason than the file. A new process may succeed.
 */
export class ProcessFailed extends Error {
  override readonly name = 'ProcessFailed';
  /** How it ended while it read, such as `SIGKILL`. Null if it did not begin to read. */
  readonly endedBy: string | null;

  constructor(endedBy: string | null, message: string, options?: ErrorOptions) {
    super(message, options);
    this.endedBy = endedBy;
  }
}

export const didNotStart = (cause: unknown): ProcessFailed =>
  new ProcessFailed(
    null,
    `The process that reads documents could not be started: ${cause instanceof Error ? cause.message : cause}.`,
    { cause },
  );
