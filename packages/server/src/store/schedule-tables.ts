import type { IntegrationId, RunId, ScheduleId } from '../domain/ids.ts';
import type { CatchUp } from '../domain/schedule/catch-up.ts';
import type { ErrorCode } from '../domain/schedule/schedule-inputs.ts';

/** Exactly one of `cron`, `every_seconds` and `at` is not null. */
export interface SchedulesTable {
  schedule_id: ScheduleId;
  integration_id: IntegrationId;
  name_json: string;
  cron: string | null;
  every_seconds: number | null;
  at: number | null;
  timezone: string;
  /** The body of the requests of the ticks. */
  request_json: string;
  /** The member that the request names: an erasure finds the schedule by it. */
  consumer_id: string | null;
  catch_up: CatchUp;
  active: number;
  /** Why the server paused the schedule. Null if it did not. */
  paused_reason: string | null;
  /** Ticks at this time or before are never looked at again. */
  last_tick_at: number;
  /** Null if no tick is due any more, or if a restore left it to the next look: then `due_at` is set. */
  next_tick_at: number | null;
  /** When a node has to look at the schedule: at its next tick, at the next try, or to count its runs. */
  due_at: number | null;
  /** How often the tick at `next_tick_at` was answered with 503, and the code of the last answer. */
  tries: number;
  retry_code: ErrorCode | null;
  /** Refusals and failed runs in a row, as far as they are counted. */
  failures: number;
  /** The runs of earlier ticks whose ends are not counted yet, oldest first. */
  uncounted_runs_json: string;
  /** The node that works on the schedule. It counts only while that node is alive. */
  claimed_by: string | null;
  created_at: number;
  updated_at: number;
}

/** What happened at a tick. The row outlives its schedule until it is swept. */
export interface ScheduleTicksTable {
  schedule_id: ScheduleId;
  tick_at: number;
  run_id: RunId | null;
  /** The code of the refusal. Null if there is a run. */
  code: string | null;
  error_json: string | null;
  recorded_at: number;
}
