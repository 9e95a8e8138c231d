/*
 * A run's states, and the transactions that move it (docs/transactions.md):
 *
 *   T1 ──▶ admitted ──T2, T3──▶ running ──T4──▶ completed
 *              │                   ├────T4────▶ failed
 *              └────────T4─────────┴────T4────▶ cancelled
 *
 * T1 admits the run. The first of T2 (flush of events), T3 (step) and T4 (end) that commits makes it `running`; T4 then
 * ends it in the same transaction. T5 records that a caller wants to cancel, and does not change the state. T6 takes an
 * unfinished run over from a dead node: its attempt grows by 1 and its state stays, or T4 ends it in the same transaction.
 *
 * A run ends exactly once: `endRun` (runs/end-run.ts) is the only function that writes an end, and its statement requires
 * an unfinished row of the caller's attempt.
 */
export type RunStatus = 'admitted' | 'running' | 'completed' | 'failed' | 'cancelled';
export type RunEndStatus = 'completed' | 'failed' | 'cancelled';

export const UNFINISHED: readonly RunStatus[] = ['admitted', 'running'];

export function isFinished(status: RunStatus): status is RunEndStatus {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

export type CancelMode = 'immediate' | 'after_step';

/** `immediate` replaces a pending `after_step`, never the reverse. */
export function strongerCancel(pending: CancelMode | null, asked: CancelMode): CancelMode {
  return pending === 'immediate' ? 'immediate' : asked;
}

export type RunErrorCode =
  | 'model_error'
  | 'model_timeout'
  | 'run_timeout'
  | 'attachment_unavailable'
  | 'step_limit'
  | 'output_invalid'
  | 'agency_error'
  | 'guardrail_blocked'
  | 'run_interrupted'
  | 'internal_error';

export interface RunError {
  readonly code: RunErrorCode;
  readonly message: string;
}
