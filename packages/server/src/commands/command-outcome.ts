export interface CommandOutcome {
  /** The text for the operator. */
  readonly text: string;
  /** False if attachments or files are missing from the copy; the text names them. */
  readonly isWhole: boolean;
}
