import type { RunId } from '../../domain/ids.ts';
import { lastFrameId, type RunEvent } from '../../domain/run/events.ts';
import type { EventLog } from '../../eventlog/event-log.ts';

/** Reads the events that a run has now. Those of the last moments are missing if another node executes the run. */
export async function readEvents(eventLog: EventLog, runId: RunId): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for (let cursor = 0; ; ) {
    const held = eventLog.hot(runId)?.heldAfter(cursor) ?? null;
    if (held !== null) return [...events, ...held.events.slice(held.from)];
    const page = await eventLog.storedAfter(runId, cursor);
    const last = page?.events.at(-1);
    if (page === null || last === undefined) return events;
    events.push(...page.events);
    cursor = lastFrameId(last);
  }
}
