import type { Cost } from '../model/cost.ts';
import type { Usage } from '../model/usage.ts';
import type { GuardrailRecord } from './guardrail-record.ts';
import type { HiddenPart } from './hidden-part.ts';

/** A call of a model, a tool or a guardrail on the user's message that gave no result. */
export interface UnfinishedCall {
  /** No other step in the run has this number. */
  readonly step: number;
  readonly kind: 'model' | 'tool' | 'guardrail' | 'summary';
  /** The call id of the `send_message` that began the loop; empty for the root loop. */
  readonly loop: string;
  readonly indexInLoop: number;
  readonly agent: string;
  readonly callerAgent: string | null;
  readonly model: string | null;
  readonly tool: string | null;
  readonly callId: string | null;
  /** What the model calls used together. Null for a tool. */
  readonly usage: Usage | null;
  /** How often the step's models were asked. Absent if once. */
  readonly tries?: number;
  /** See `StepOutcome.promptBytes`. */
  readonly promptBytes?: number;
  /** See `StepOutcome.firstTokenMs`. */
  readonly firstTokenMs?: number;
  /** See `StepOutcome.cost`. */
  readonly cost?: Cost;
  /** See `StepOutcome.guardrails`. */
  readonly guardrails?: GuardrailRecord;
  /** See `StepOutcome.hidden`. */
  readonly hidden?: readonly HiddenPart[];
  readonly startedAt: number;
}

export interface UnfinishedStepRecord {
  /** Null if the call waits for an answer. */
  readonly error: { readonly code: string; readonly message: string } | null;
  /** The question with which the call waits. */
  readonly questionId?: string;
}

/**
 * A call that failed, was cut off, or waits for an answer when its run ends. It is only shown: it has its own table, so
 * that no takeover, prompt, fork or continuing run reads it.
 */
export interface UnfinishedStep extends UnfinishedCall, UnfinishedStepRecord {
  readonly status: 'failed' | 'cancelled' | 'waiting';
  readonly completedAt: number;
  readonly attempt: number;
  readonly firstEventId: number;
  readonly lastEventId: number;
}
