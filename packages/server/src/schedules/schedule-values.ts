import type { IntegrationId, OwnerId } from '../domain/ids.ts';
import { Refusal } from '../domain/refusal.ts';
import type { NewSchedule, ScheduleChange, ScheduleRequest } from '../domain/schedule/schedule-inputs.ts';
import type { ScheduleRow } from '../store/queries/schedules.ts';
import type { ReadRequest } from './ports.ts';
import { cronProblem, isTimezone } from './tick-times.ts';

const MAX_REQUEST_BYTES = 256 * 1024;

type Times = Pick<NewSchedule, 'cron' | 'everySeconds' | 'at' | 'timezone'>;

/** Whose request a schedule holds. */
export interface ScheduleOwner {
  readonly ownerId: OwnerId;
  readonly integrationId: IntegrationId;
}

export type TimeColumns = Pick<ScheduleRow, 'cron' | 'every_seconds' | 'at' | 'timezone'>;

const refused = (sentence: string) => new Refusal('invalid_request', sentence);

/** The times of a new schedule, or null if a change names none of them. Throws a `Refusal`. */
export function timeColumns(input: Times | ScheduleChange, before: TimeColumns | null, now: number) {
  const { cron = null, everySeconds = null, at = null, timezone } = input;
  if (timezone !== undefined && !isTimezone(timezone)) {
    throw refused('`timezone` must be an IANA name, such as `Europe/Berlin`.');
  }
  const named = [cron, everySeconds, at].filter((value) => value !== null).length;
  const isNamed = input.cron !== undefined || input.everySeconds !== undefined || input.at !== undefined;
  if (named === 0 && before !== null && !isNamed) return timezone === undefined ? null : { ...before, timezone };
  if (named !== 1) throw refused('Exactly one of `cron`, `everySeconds` and `at` must be set.');
  const problem = cron === null ? null : cronProblem(cron);
  if (problem !== null) throw refused(`\`cron\` ${problem}.`);
  const atMs = at === null ? null : Date.parse(at);
  if (atMs !== null && atMs <= now) throw refused('`at` must be in the future.');
  return { cron, every_seconds: everySeconds, at: atMs, timezone: timezone ?? before?.timezone ?? 'UTC' };
}

/** The columns of a request that could be sent now. Throws the refusal that it would get for its form. */
export function requestColumns(
  readRequest: ReadRequest,
  { ownerId, integrationId }: ScheduleOwner,
  request: ScheduleRequest,
  now: number,
): Pick<ScheduleRow, 'request_json' | 'consumer_id'> {
  const { apiIntegrationId = integrationId, ...body } = request;
  if (apiIntegrationId !== integrationId) {
    throw refused('`request.apiIntegrationId` must be the integration of the schedule, or absent.');
  }
  const request_json = JSON.stringify(body);
  if (Buffer.byteLength(request_json) > MAX_REQUEST_BYTES) {
    throw refused(
      `\`request\` must be at most ${MAX_REQUEST_BYTES} bytes of JSON; name files by URL or in \`sandboxFiles\`.`,
    );
  }
  // Reading takes images out of the body, so it gets a copy. The names are not used.
  const names = { usageRequestId: '', fingerprint: '', tickMs: now };
  const read = readRequest(JSON.parse(request_json) as ScheduleRequest, { ownerId, integrationId, ...names });
  return { request_json, consumer_id: read.consumerId };
}
