/** The process that reads documents did not start, or ended for a cause that is not the file's: another may do. */
export class ProcessFailed extends Error {
  override readonly name = 'ProcessFailed';
  /** How it ended while it read, such as `SIGKILL`; null where it never came to read. */
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
