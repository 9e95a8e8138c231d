/** A call of an imported turn, with its outcome. */
export interface ImportedCall {
  readonly callId: string;
  readonly tool: string;
  /** The arguments: a JSON object as text. */
  readonly argumentsText: string;
  /** Null if the caller brought no output of this call. */
  readonly output: string | null;
  readonly failed: boolean;
}

/** The part of an imported turn that follows the user's text, in its order. */
export type ImportedAnswer =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'calls'; readonly calls: readonly ImportedCall[] };

/** An earlier turn that a caller brings into a new chat. Like every turn it is stored as two messages. */
export interface ImportedTurn {
  /** Empty if there were items before the first user's item. */
  readonly message: string;
  /** The agent that answered; null for the run's agent. */
  readonly agent: string | null;
  readonly answers: readonly ImportedAnswer[];
}
