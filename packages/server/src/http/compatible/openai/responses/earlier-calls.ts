import { wholeIntegration } from '../../../../domain/account/scope.ts';
import type { CompatibleDeps } from '../../compatible-deps.ts';
import type { CompatibleCall } from '../../compatible-route.ts';
import { readEndOfRun } from '../../end-of-run.ts';
import { isShown, type KnownCall, type KnownCalls, NO_CALLS, toCall } from './response-output.ts';

export type RunRow = Awaited<ReturnType<CompatibleDeps['runReads']['row']>>;

/**
 * The calls of the runs that this one continues. They were made there, and their outcomes are here: the model saw them when
 * the caller had answered.
 */
export async function readEarlierCalls(
  deps: Pick<CompatibleDeps, 'runReads' | 'eventLog' | 'streams'>,
  { scope, request }: Pick<CompatibleCall, 'scope' | 'request'>,
  { continues }: Pick<RunRow, 'continues'>,
): Promise<KnownCalls> {
  if (continues === null) return NO_CALLS;
  // The caller may read the run, so also what it continues: in a fork that is a run of another chat.
  const whole = wholeIntegration(scope.integrationId);
  const calls = new Map<string, KnownCall>();
  for (let runId: string | null = continues; runId !== null; ) {
    const run: RunRow = await deps.runReads.row(whole, runId);
    const { items, pending = [] } = await readEndOfRun(deps, run, request.principal.ownerId);
    for (const item of items) {
      if (item.kind === 'tool_call' && isShown(item)) calls.set(item.callId, toCall(item));
    }
    for (const { callId, kind, questionId } of pending) {
      const call = calls.get(callId);
      if (call !== undefined && kind === 'tool') calls.set(callId, { ...call, askedBy: questionId });
    }
    runId = run.continues;
  }
  return calls;
}
