import type { RunId } from '../../../domain/ids.ts';
import type { CompatibleDeps } from '../compatible-deps.ts';
import { type CompatibleCall, compatibleRoute } from '../compatible-route.ts';
import { readEndOfRun } from '../end-of-run.ts';
import { findChat } from '../find-chat.ts';
import { toCallId } from '../question-calls.ts';
import { readWhenBusy, WhenBusyQuery } from '../when-busy.ts';
import { AG_UI } from './ag-ui-api.ts';
import { AgUiEncoder } from './ag-ui-encoder.ts';
import { readRunInput } from './read-run-input.ts';

const NOTHING_SETTLED: ReadonlyMap<string, string> = new Map();

/** AG-UI 1.0: one operation, with the agent in its path or without. */
export function agUi(deps: CompatibleDeps): void {
  const operation = { method: 'POST', clientToken: 'run', startsRuns: true, query: WhenBusyQuery } as const;
  const run = (call: CompatibleCall) => runAgent(deps, call);
  compatibleRoute(deps, AG_UI, { ...operation, operationId: 'agUi', path: '' }, run);
  compatibleRoute(deps, AG_UI, { ...operation, operationId: 'agUiAgent', path: '/:agent' }, run);
}

async function runAgent(deps: CompatibleDeps, call: CompatibleCall): Promise<unknown> {
  const input = readRunInput(call);
  const chat = await findChat(deps, call, input.threadId);
  const given = input.toRequest(chat);
  const started = await deps.starts.admit(AG_UI, call, given, readWhenBusy(call));
  const { runId, replayed } = started.admission;
  const isSettling = replayed || (chat?.pending.length ?? 0) > 0;
  const settled = isSettling ? await settledCalls(deps, call, runId) : NOTHING_SETTLED;
  const { threadId, sentOutputs } = input;
  const encoder = new AgUiEncoder({ threadId, runId: input.runId, isReplay: replayed, settled, sentOutputs });
  deps.starts.follow(call, started, encoder);
  return call.reply;
}

/**
 * The ids under which the client knows the calls whose questions the run settles, by the ids of the journal. Empty if the
 * events of the run that asked are not stored any more.
 */
async function settledCalls(
  deps: CompatibleDeps,
  { scope, request }: CompatibleCall,
  runId: RunId,
): Promise<ReadonlyMap<string, string>> {
  try {
    const { continues } = await deps.runReads.row(scope, runId);
    if (continues === null) return NOTHING_SETTLED;
    const asking = await deps.runReads.row(scope, continues);
    const { pending = [] } = await readEndOfRun(deps, asking, request.principal.ownerId);
    return new Map(pending.map(({ callId, questionId }) => [callId, toCallId(questionId)]));
  } catch {
    // The run is admitted: its stream must begin whatever the log has.
    return NOTHING_SETTLED;
  }
}
