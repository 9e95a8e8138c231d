import { fingerprint } from '../admission/fingerprint.ts';
import type { ScheduleId } from '../ids.ts';

/** `usageRequestId`s with this beginning belong to schedules. Callers cannot use them. */
const PREFIX = 'schedule:';

export const isScheduleRequestId = (usageRequestId: string | null): boolean =>
  usageRequestId?.startsWith(PREFIX) === true;

/** The names of a tick's request. The same tick has the same names on every node, so it gets one run. */
export function tickRequest(scheduleId: ScheduleId, tickMs: number) {
  const tick = new Date(tickMs).toISOString();
  const usageRequestId = `${PREFIX}${scheduleId}:${tick}`;
  // Without the body: after a PATCH a tick that was admitted before still finds its run.
  return { usageRequestId, fingerprint: fingerprint({ scheduleId, tick }) };
}

/** The names of a run that a caller starts besides the ticks. `runKey` is new for each. */
export function extraRequest(scheduleId: ScheduleId, runKey: string) {
  const usageRequestId = `${PREFIX}${scheduleId}:run:${runKey}`;
  return { usageRequestId, fingerprint: fingerprint({ scheduleId, runKey }) };
}

/** Replaces `{{tick}}` by the tick's time. */
export const messageAt = (message: string, tickMs: number): string =>
  message.replaceAll('{{tick}}', () => new Date(tickMs).toISOString());
