/** What a guardrail checks. */
export const GUARDRAIL_POSITIONS = ['input', 'output', 'toolCall', 'toolResult'] as const;
export type GuardrailPosition = (typeof GUARDRAIL_POSITIONS)[number];

/** What one guardrail decided. What it replaced or blocked is not stored. */
export interface GuardrailDecision {
  readonly guardrail: string;
  readonly on: GuardrailPosition;
  readonly verdict: 'pass' | 'block' | 'replace' | 'ask';
  /** Only of `block`. */
  readonly reason?: string;
  /** The call that was checked. Absent if it was no call. */
  readonly callId?: string;
}

/** What happens to a call that a guardrail does not let pass as it is. */
export type CallChange = { readonly blocked: string } | { readonly argumentsText: string };

/** What the guardrails decided about a step. */
export interface GuardrailRecord {
  /** In the order in which they were asked. */
  readonly decisions: readonly GuardrailDecision[];
  /** What prompts show in place of the user's message. Absent if they show the message. */
  readonly shown?: ShownMessage;
  /** By the calls' ids. Absent if all calls are made as the model wrote them. */
  readonly calls?: Readonly<Record<string, CallChange>>;
}

export interface ShownMessage {
  readonly text: string;
  /** True if a guardrail blocked the message: then its files are not shown either. */
  readonly isBlocked: boolean;
}

/** Returns the reason with which the decisions block, or null. */
export const getBlockReason = (decisions: readonly GuardrailDecision[]): string | null =>
  decisions.find(({ verdict }) => verdict === 'block')?.reason ?? null;
