import type { OwnerId } from '../../domain/ids.ts';
import type { RunEvent } from '../../domain/run/events.ts';
import { type FollowedEvents, Follower, type Sink } from '../../eventlog/follow.ts';
import type { RunReads } from '../../runs/read-runs.ts';
import type { CompatibleDeps } from './compatible-deps.ts';

export type EndOfRun = Extract<RunEvent, { readonly type: 'messages' }>;

/** Reads the event `messages` of a run that has ended. Throws if its events are not stored any more. */
export function readEndOfRun(
  { eventLog, streams }: Pick<CompatibleDeps, 'eventLog' | 'streams'>,
  row: Awaited<ReturnType<RunReads['row']>>,
  ownerId: OwnerId,
): Promise<EndOfRun> {
  // `messages` and `end` are the last two events. Compacted events are read from the start.
  const after = row.compacted_at === null ? Math.max(0, (row.last_event_id ?? 0) - 2) : 0;
  const { promise, resolve, reject } = Promise.withResolvers<EndOfRun>();
  const failed = () => reject(new Error(`The end of the run ${row.run_id} could not be read.`));
  const sink: Sink = {
    full: false,
    take(events: readonly RunEvent[], from: number): number {
      for (const event of events.slice(from)) if (event.type === 'messages') resolve(event);
      return events.at(-1)?.id ?? 0;
    },
    finish: failed,
    cut: failed,
  };
  const source: FollowedEvents = { runId: row.run_id, after, ownerId };
  new Follower(eventLog, streams.turns, source, sink).start();
  return promise;
}
