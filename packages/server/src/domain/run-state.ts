/*
 *   admitted ──▶ running ──▶ completed
 *       │           ├──────▶ failed
 *       └───────────┴──────▶ cancelled
 *
 * `running` is written by the first of T2, T3, T4. An end is written once: every statement that ends a run
 * carries `attempt` and asks for an unfinished row.
 */
export type RunStatus = 'admitted' | 'running' | 'completed' | 'failed' | 'cancelled';
export type RunEndStatus = 'completed' | 'failed' | 'cancelled';

export const UNFINISHED: readonly RunStatus[] = ['admitted', 'running'];

export function isFinished(status: RunStatus): status is RunEndStatus {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

export type CancelMode = 'immediate' | 'after_step';

/** "`immediate` overrides a pending `after_step`, never the reverse." */
export function strongerCancel(pending: CancelMode | null, asked: CancelMode): CancelMode {
  return pending === 'immediate' ? 'immediate' : asked;
}

export type RunErrorCode =
  | 'model_error'
  | 'model_timeout'
  | 'run_timeout'
  | 'attachment_unavailable'
  | 'step_limit'
  | 'run_interrupted'
  | 'internal_error';

export interface RunError {
  readonly code: RunErrorCode;
  readonly message: string;
}
