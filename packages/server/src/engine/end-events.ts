import type { RunEventBody, RunItem } from '../domain/events.ts';
import type { RunEndStatus, RunError } from '../domain/run-state.ts';
import type { Usage } from '../domain/usage.ts';

export interface EndOfRun {
  readonly runId: string;
  readonly chatId: string;
  readonly status: RunEndStatus;
  readonly error: RunError | null;
  readonly items: readonly RunItem[];
  readonly usage: Usage;
}

/** "one `messages` and one `end` (last), whatever happened"; a failure says so first, in a frame of its own. */
export function endEvents(end: EndOfRun): RunEventBody[] {
  const { error, ...rest } = end;
  const events: RunEventBody[] = [];
  if (error !== null) events.push({ type: 'error', runId: end.runId, error });
  events.push({ type: 'messages', ...rest, error });
  events.push({ type: 'end' });
  return events;
}
