import type { OwnerId, RunId } from '../../domain/ids.ts';
import { lastFrameId, type RunEvent } from '../../domain/run/events.ts';
import type { CompatibleDeps } from './compatible-deps.ts';

/** Reads the events that a run has now. Those of the last moments are missing if another node executes the run. */
export async function readEvents(
  { eventLog, streams }: Pick<CompatibleDeps, 'eventLog' | 'streams'>,
  runId: RunId,
  ownerId: OwnerId,
): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for (let cursor = 0; ; ) {
    const held = eventLog.hot(runId)?.heldAfter(cursor) ?? null;
    if (held !== null) return [...events, ...held.events.slice(held.from)];
    // On the embedded store a page is read without a pause: other requests run between two turns.
    using _turn = await streams.turns.take(ownerId);
    const page = await eventLog.storedAfter(runId, cursor);
    const last = page?.events.at(-1);
    if (page === null || last === undefined) return events;
    events.push(...page.events);
    cursor = lastFrameId(last);
  }
}
