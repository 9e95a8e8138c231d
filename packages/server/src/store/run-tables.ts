import type { AllowanceUnit } from '../domain/allowance.ts';
import type { ChatKey, IntegrationId, RunId } from '../domain/ids.ts';
import type { RunStatus } from '../domain/run-state.ts';

/** One row for each unfinished run: T1 writes it, and the end of the run deletes it. */
export interface ActiveRunsTable {
  integration_id: IntegrationId;
  /** Empty if the run has no member. */
  consumer_id: string;
  chat_key: ChatKey;
  run_id: RunId;
  /** As in `runs`. */
  node_id: string;
  held: number;
  unit: AllowanceUnit | null;
  day: number;
}

/** The runs that failed or were cancelled, for their lists. */
export interface UnsuccessfulRunsTable {
  integration_id: IntegrationId;
  status: RunStatus;
  created_at: number;
  run_id: RunId;
}
