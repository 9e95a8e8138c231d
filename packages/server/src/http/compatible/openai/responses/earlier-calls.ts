import type { Scope } from '../../../../domain/account/scope.ts';
import type { CompatibleDeps } from '../../compatible-deps.ts';
import { readEvents } from '../../read-events.ts';
import { isShown, type KnownCall, type KnownCalls, NO_CALLS, toCall } from './response-output.ts';

export type RunRow = Awaited<ReturnType<CompatibleDeps['runReads']['row']>>;

/**
 * The calls of the runs that this one continues. They were made there, and their outcomes are here: the model saw them when
 * the caller had answered.
 */
export async function readEarlierCalls(
  { runReads, eventLog }: Pick<CompatibleDeps, 'runReads' | 'eventLog'>,
  scope: Scope,
  { continues }: Pick<RunRow, 'continues'>,
): Promise<KnownCalls> {
  if (continues === null) return NO_CALLS;
  const calls = new Map<string, KnownCall>();
  for (let runId: string | null = continues; runId !== null; ) {
    const run: RunRow = await runReads.row(scope, runId);
    for (const event of await readEvents(eventLog, run.run_id)) {
      if (event.type !== 'messages') continue;
      for (const item of event.items) {
        if (item.kind === 'tool_call' && isShown(item)) calls.set(item.callId, toCall(item));
      }
      for (const { callId, kind, questionId } of event.pending ?? []) {
        const call = calls.get(callId);
        if (call !== undefined && kind === 'tool') calls.set(callId, { ...call, askedBy: questionId });
      }
    }
    runId = run.continues;
  }
  return calls;
}
