import type { Audit } from '../audit/audit.ts';
import { type IntegrationId, newScheduleId } from '../domain/ids.ts';
import { Refusal } from '../domain/refusal.ts';
import type { NewSchedule } from '../domain/schedule/schedule-inputs.ts';
import type { EarlierNodes } from '../store/earlier-nodes.ts';
import { integrationById } from '../store/queries/accounts.ts';
import { refusedPerson } from '../store/queries/erasures.ts';
import { keepIntegration } from '../store/queries/locks.ts';
import { countSchedules, insertSchedule, type ScheduleRow } from '../store/queries/schedules.ts';
import { first, type Tx } from '../store/store.ts';
import type { ReadRequest } from './ports.ts';
import { readTiming, scheduleChange, scheduleJson } from './schedule-row.ts';
import { requestColumns, type ScheduleOwner, timeColumns } from './schedule-values.ts';
import { nextTick } from './tick-times.ts';

const MAX_SCHEDULES = 1000;

export interface CreateDeps {
  /** Runs a transaction after which all nodes look whether there are schedules. */
  readonly change: <T>(job: (tx: Tx) => Promise<T>) => Promise<T>;
  readonly earlierNodes: EarlierNodes;
  readonly readRequest: ReadRequest;
  readonly now: () => number;
  /** Called when the schedule is stored. */
  readonly wake: () => void;
}

/** Resolves to the schedule as JSON text. */
export async function createSchedule(
  deps: CreateDeps,
  owner: ScheduleOwner,
  input: NewSchedule,
  audit: Audit,
): Promise<string> {
  if (deps.earlierNodes.areAlive()) {
    const sentence =
      'Schedules can be created when no node of the version before runs any more: such a node would not erase them.';
    throw new Refusal('unavailable', sentence, {}, 60);
  }
  const row = newRow(deps, owner, input);
  await deps.change(async (tx) => {
    const { integration_id: integrationId, consumer_id: consumerId } = row;
    await tx.all(keepIntegration, { integrationId });
    if ((await first(tx.all(integrationById, { integrationId }))) === undefined) {
      throw new Refusal('integration_not_found');
    }
    await refuseErased(tx, integrationId, consumerId);
    const counted = await first(tx.all(countSchedules, { integrationId }));
    if (Number(counted?.count) >= MAX_SCHEDULES) throw new Refusal('too_many_schedules');
    await tx.run(insertSchedule, row);
    await audit(tx, scheduleChange(null, row));
  });
  deps.wake();
  return scheduleJson(row);
}

/** Only in the transaction that writes the schedule: before that, an erasure may begin. */
export async function refuseErased(tx: Tx, integrationId: IntegrationId, consumerId: string | null): Promise<void> {
  if (consumerId === null) return;
  const refused = await first(tx.all(refusedPerson, { integrationId, consumerId }));
  if (refused !== undefined) throw new Refusal('erasure_running');
}

function newRow({ readRequest, now }: CreateDeps, owner: ScheduleOwner, input: NewSchedule): ScheduleRow {
  const createdAt = now();
  const times = timeColumns(input, null, createdAt);
  if (times === null) throw new Error('A new schedule has no times.');
  const active = input.active ?? true;
  const next = active ? nextTick(readTiming({ ...times, created_at: createdAt }), createdAt) : null;
  return {
    schedule_id: newScheduleId(),
    integration_id: owner.integrationId,
    name_json: JSON.stringify(input.name),
    ...times,
    ...requestColumns(readRequest, owner, input.request, createdAt),
    catch_up: input.catchUp ?? 'latest',
    active: Number(active),
    paused_reason: null,
    last_tick_at: createdAt,
    next_tick_at: next,
    due_at: next,
    tries: 0,
    retry_code: null,
    failures: 0,
    uncounted_runs_json: '[]',
    claimed_by: null,
    created_at: createdAt,
    updated_at: createdAt,
  };
}
