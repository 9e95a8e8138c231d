import { sortableId } from '@runwire/lib/sortable-id.ts';
import type { ScheduleRequest } from '../domain/schedule/schedule-inputs.ts';
import { extraRequest } from '../domain/schedule/tick-request.ts';
import type { ScheduleRow } from '../store/queries/schedules.ts';
import type { AdmitRun, ReadRequest } from './ports.ts';
import type { ScheduleOwner } from './schedule-values.ts';

export interface RunDeps {
  readonly admit: AdmitRun;
  readonly readRequest: ReadRequest;
  readonly now: () => number;
}

/** Starts one run besides the ticks. Throws the refusal. */
export async function runSchedule({ admit, readRequest, now }: RunDeps, owner: ScheduleOwner, row: ScheduleRow) {
  const names = extraRequest(row.schedule_id, sortableId());
  const request = JSON.parse(row.request_json) as ScheduleRequest;
  const { runId, chatId } = await admit(readRequest(request, { ...owner, ...names, tickMs: now() }));
  return { runId, chatId };
}
