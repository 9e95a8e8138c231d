import type { questionJson } from '../domain/question/question-json.ts';
import type { RunIdentity } from '../domain/run/admitted-run.ts';
import type { RunEndStatus } from '../domain/run/run-state.ts';
import type { WebhookEventType } from '../domain/webhook.ts';
import { type EndedRunRow, endedRun } from '../store/queries/ended-run.ts';
import { first, type Tx } from '../store/store.ts';
import type { EventOutbox } from '../webhooks/event-outbox.ts';
import { shortRunJson, usageRecordJson } from './run-json.ts';

/** What a body has besides the data is small. A body has less than 20 kB. */
const MAX_DATA_BYTES = 19_000;

interface RunEnd {
  readonly run: RunIdentity;
  readonly status: RunEndStatus;
  readonly questions: readonly unknown[];
}

/** Records the events of a run's end in its transaction, after everything else is written. */
export async function recordRunEvents(
  tx: Tx,
  outbox: Pick<EventOutbox, 'record'>,
  { run, status, questions }: RunEnd,
): Promise<void> {
  const { runId, integrationId } = run;
  const types: WebhookEventType[] = [`run.${status}`];
  if (questions.length > 0) types.push('run.asked');
  await outbox.record(tx, integrationId, types, async () => {
    const row = await first(tx.all(endedRun, { integrationId, runId }));
    if (row === undefined) return [];
    const data = fitData(runEventData(row));
    return types.map((type) => ({ type, data, runId, consumerId: row.consumer_id }));
  });
}

/** The run as it is at its end, without texts. */
function runEventData(row: EndedRunRow) {
  const run = shortRunJson({ ...row, answer_json: null }, row.last_event_id ?? 0);
  const { byModel, charged } = usageRecordJson({ ...row, answer_json: null });
  const pending = run.pending.map(withoutArguments);
  return { ...run, pending, charged, byModel };
}

function withoutArguments({ questionId, kind, callId, agent, callerAgent, tool }: ReturnType<typeof questionJson>) {
  return { questionId, kind, callId, agent, callerAgent, tool };
}

/** Shortens what can be long, until the data fits. */
function fitData(data: ReturnType<typeof runEventData>): ReturnType<typeof runEventData> {
  let fitting = data;
  while (Buffer.byteLength(JSON.stringify(fitting)) > MAX_DATA_BYTES) {
    const { pending, byModel, error } = fitting;
    if (pending.length + byModel.length === 0 && error === null) return fitting;
    fitting = {
      ...fitting,
      pending: pending.slice(0, Math.floor(pending.length / 2)),
      byModel: byModel.slice(0, Math.floor(byModel.length / 2)),
      error:
        error === null ? null : { ...error, message: error.message.slice(0, Math.floor(error.message.length / 2)) },
    };
    if (error?.message === '' && pending.length + byModel.length === 0) return fitting;
  }
  return fitting;
}
