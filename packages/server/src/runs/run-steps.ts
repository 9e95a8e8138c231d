import type { RunItem } from '../domain/events.ts';
import { decodeCursor, page } from '../domain/list-cursor.ts';
import { Refusal } from '../domain/refusal.ts';
import { iso } from '../domain/time.ts';
import { type Usage, usageJson } from '../domain/usage.ts';
import { type StepRow, stepsBefore } from '../store/queries/runs.ts';
import type { Reads } from '../store/store.ts';
import type { RunReads } from './read-runs.ts';

export interface StepQuery {
  readonly limit?: number;
  readonly cursor?: string;
}

/** What the journal holds of a run: its finished steps, newest first. */
export async function runSteps(
  reads: Reads,
  runReads: RunReads,
  integrationId: string,
  runId: string,
  query: StepQuery,
) {
  const run = await runReads.row(integrationId, runId);
  if (run.chat_deleted_at !== null) throw new Refusal('chat_not_found', 'The chat of this run was deleted.');
  const limit = query.limit ?? 50;
  const before = decodeCursor(query.cursor)?.createdAt ?? Number.MAX_SAFE_INTEGER;
  const rows = await reads.all(stepsBefore, { runId, before, limit: limit + 1 });
  return page(rows, limit, (row) => ({ createdAt: row.step, id: '' }), stepJson);
}

function stepJson(row: StepRow) {
  const { usage, output } = JSON.parse(row.record_json) as { usage: Usage | null; output: readonly RunItem[] };
  return {
    step: row.step,
    attempt: row.attempt,
    kind: row.kind,
    agent: row.agent,
    callerAgent: row.caller_agent,
    model: row.model,
    tool: row.tool,
    callId: row.call_id,
    status: row.status,
    firstEventId: row.first_event_id,
    lastEventId: row.last_event_id,
    usage: usage === null ? null : usageJson(usage),
    // A call that failed says so in its output: that is what the model was told.
    error: row.status === 'failed' ? { code: 'tool_failed', message: output[0]?.text ?? '' } : null,
    startedAt: iso(row.started_at),
    completedAt: iso(row.completed_at),
  };
}
