import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ApiClient,
  type Frame,
  type ModelController,
  parseFrames,
  type StreamReader,
  withoutComments,
} from '@runwire/test-kit';
import { type Outcome, PATH, REQUEST } from './kill-scripts.ts';
import { expectEqual, expectNumber, Shortfall, within } from './proof.ts';

const WAIT_MS = 60_000;
/** What the model says to every call after the kill. */
export const ANSWER = 'Again.';
const FREE_ENDS = ['internal_error', 'run_interrupted', 'attachment_unavailable'];

/** A server that was started after a kill, and what the client held in its hands when it came. */
export interface Questioning {
  readonly api: ApiClient;
  readonly model: ModelController;
  /** Null: not even a head. */
  readonly seen: StreamReader | null;
  readonly outcome: Outcome;
  /** Whether the events of the run were compacted before the kill. */
  readonly compacted: boolean;
  readonly endedWithinMs: number;
  /** What the doomed server was asked, where it is not the plain request. */
  readonly request?: Readonly<Record<string, unknown>>;
}

/** Asks everything that a caller may ask; what the answers say may never contradict each other. */
export async function askFromOutside(questioning: Questioning): Promise<void> {
  const { api, model, seen, outcome } = questioning;
  const admitted = seen?.headers['x-agent-run-admitted'] ?? null;
  if (seen !== null) expectEqual('X-Agent-Run-Admitted of the head that was seen', admitted, 'true');

  const status = await api.get(`${PATH}/chat_status?usageRequestId=${REQUEST.usageRequestId}`);
  if (status.status === 404) {
    expectEqual('code of the status', status.body.code, 'run_not_found');
    expectEqual('outcome', 'none', outcome);
    expectEqual('X-Agent-Run-Admitted where nothing is reserved', admitted, null);
    await expectNothing(api);
    const first = await send(api, REQUEST);
    expectEqual('X-Run-Replayed where nothing was reserved', first.headers['x-run-replayed'] ?? null, null);
    await checkRun({ ...questioning, seen: first, outcome: 'completed' });
  } else {
    await checkRun(questioning);
  }
  await checkNextTurn(api, model);
}

async function expectNothing(api: ApiClient): Promise<void> {
  const { body: usage } = await api.get(`${PATH}/usage`);
  expectNumber('usage records where nothing is reserved', usage.items.length, 0);
  const { body: runs } = await api.get(`${PATH}/runs`);
  expectNumber('runs where nothing is reserved', runs.items.length, 0);
  const messages = await api.get(`${PATH}/chats/${REQUEST.chatId}/messages`);
  expectNumber('status of the history where nothing is reserved', messages.status, 404);
  await expectAllowance(api, 0);
}

async function expectAllowance(api: ApiClient, used: number): Promise<void> {
  const { allowance } = (await api.get(`${PATH}/members/${REQUEST.consumerId}`)).body;
  expectEqual('allowance of the member', { used: allowance.used, reserved: allowance.reserved }, { used, reserved: 0 });
}

/** A post that is answered with a whole stream. */
async function send(api: ApiClient, request: Readonly<Record<string, unknown>>): Promise<StreamReader> {
  const reader = await within('head of a post', WAIT_MS, api.complete(request));
  expectNumber('status of a post', reader.status, 200);
  expectEqual('X-Agent-Run-Admitted of a post', reader.headers['x-agent-run-admitted'], 'true');
  if (!(await within('end of a stream', WAIT_MS, reader.over)))
    throw new Shortfall('whole streams: expected 1, found 0.');
  return reader;
}

// biome-ignore lint/suspicious/noExplicitAny: an answer's body, which was checked against its schema.
type Body = any;

async function ended(api: ApiClient, limitMs: number): Promise<Body> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const { body } = await api.get(`${PATH}/chat_status?usageRequestId=${REQUEST.usageRequestId}`);
    if (['completed', 'failed', 'cancelled'].includes(body.run.status)) return body;
    if (performance.now() > deadline) {
      throw new Shortfall(`ended runs within ${limitMs} ms of readiness: expected 1, found 0 (${body.run.status}).`);
    }
    await sleep(100);
  }
}

/** Status, run, usage record, history, stream and replay tell the same story. */
async function checkRun({
  api,
  model,
  seen,
  outcome,
  compacted,
  endedWithinMs,
  request = REQUEST,
}: Questioning): Promise<void> {
  const status = await ended(api, endedWithinMs);
  const { run } = status;
  expectEqual('outcome', run.error?.code ?? run.status, outcome);
  expectEqual('status of a run', run.status, run.error === null ? outcome : 'failed');
  if (seen !== null) expectEqual('X-Run-Id against the status', seen.headers['x-run-id'], run.runId);
  expectEqual('chat', [status.status, status.activeRunId, status.numMessages], ['idle', null, 2]);

  const { body: listed } = await api.get(`${PATH}/runs`);
  expectEqual(
    'runs',
    listed.items.map((item: Body) => item.runId),
    [run.runId],
  );
  const { body: alone } = await api.get(`${PATH}/runs/${run.runId}`);
  expectEqual('run against the list', alone, listed.items[0]);
  for (const [field, value] of Object.entries(run)) expectEqual(`\`${field}\` of run and status`, alone[field], value);

  const { body: usage } = await api.get(`${PATH}/usage`);
  expectNumber('usage records', usage.items.length, 1);
  const [record] = usage.items;
  expectEqual(
    'usage record',
    [record.runId, record.usageRequestId, record.status, record.usage],
    [run.runId, REQUEST.usageRequestId, run.status, run.usage],
  );
  // The server that took it over cancelled it without calling a model, and no step was stored before.
  const isCancelledLater = run.status === 'cancelled' && run.attempt > 1;
  const charged = FREE_ENDS.includes(run.error?.code) || isCancelledLater ? 0 : 1;
  expectEqual('charged', record.charged, { unit: 'runs', amount: charged });
  await expectAllowance(api, charged);

  const { body: history } = await api.get(`${PATH}/chats/${REQUEST.chatId}/messages`);
  expectEqual(
    'history',
    history.items.map((item: Body) => [item.role, item.runId, item.status, item.content, item.error]),
    [
      ['assistant', run.runId, run.status, run.message, run.error],
      ['user', run.runId, 'completed', REQUEST.message, null],
    ],
  );

  const calls = model.calls.length;
  const stream = await within('head of the stream', WAIT_MS, api.events(run.runId, null, REQUEST.apiIntegrationId));
  if (!(await within('end of the stream', WAIT_MS, stream.over)))
    throw new Shortfall('whole streams: expected 1, found 0.');
  checkStream(stream, run);
  if (compacted) await checkCompacted(api, seen, stream, run);
  else if (seen !== null) checkSeen(seen.frames, stream.frames, run);
  const again = await send(api, request);
  expectEqual('X-Run-Id of the replay', again.headers['x-run-id'], run.runId);
  expectEqual('X-Run-Replayed of the replay', again.headers['x-run-replayed'], 'true');
  expectEqual('replay', withoutComments(again.text), withoutComments(stream.text));
  expectNumber('model calls by a replay', model.calls.length - calls, 0);
  await checkCalls(api, model, run.runId);
}

/** No attempt asks the model twice for one step, and none asks again for a step that an earlier one had finished. */
async function checkCalls(api: ApiClient, model: ModelController, runId: string): Promise<void> {
  const calls = model.calls.flatMap(({ request }) => (request.runId === runId ? [request] : []));
  const twice = calls.length - new Set(calls.map(({ attempt, step }) => `${attempt}/${step}`)).size;
  expectNumber('model calls made twice in one attempt', twice, 0);
  const { body: steps } = await api.get(`${PATH}/runs/${runId}/steps`);
  const repeated = steps.items.filter((done: Body) =>
    calls.some(({ attempt, step }) => step === done.step && attempt > done.attempt),
  );
  expectNumber('finished steps that were repeated', repeated.length, 0);
}

function answerOf(messages: Body): string {
  const said = messages.new_messages.filter((item: Body) => item.type === 'message' && item.role === 'assistant');
  return said.map((item: Body) => item.content.map((part: Body) => part.text).join('')).join('');
}

function checkStream(stream: StreamReader, run: Body): void {
  const { frames } = stream;
  const named = (name: string) => frames.filter(({ event }) => event === name);
  for (const name of ['meta', 'messages', 'end']) expectNumber(`\`${name}\` in a stream`, named(name).length, 1);
  expectEqual('first and last frame', [frames[0]?.event, frames.at(-1)?.event], ['meta', 'end']);
  expectNumber('`resumed` in a stream', named('resumed').length, run.attempt - 1);
  expectNumber('id of the last frame', frames.at(-1)?.id ?? 0, run.lastEventId);
  const growing = frames.every(({ id }, i) => i === 0 || id > (frames[i - 1]?.id ?? 0));
  expectNumber('streams with growing ids', Number(growing), 1);
  expectEqual('run of `meta`', JSON.parse(named('meta')[0]?.data ?? '{}').run_id, run.runId);
  const messages = JSON.parse(named('messages')[0]?.data ?? '{}');
  expectEqual(
    '`messages`',
    [messages.run_id, messages.status, messages.usage, messages.error, answerOf(messages)],
    [run.runId, run.status, run.usage, run.error, run.message],
  );
  expectEqual('text of the deltas', stream.answer, run.message);
}

/** "whatever the client saw and is not void stands at the beginning of every replay" */
function checkSeen(seen: readonly Frame[], replay: readonly Frame[], run: Body): void {
  let kept = seen;
  for (const frame of replay) {
    if (frame.event !== 'resumed') continue;
    const { discard_after: last } = JSON.parse(frame.data) as { discard_after: number };
    kept = kept.filter(({ id }) => id <= last || id >= frame.id);
  }
  expectEqual('frames seen before the kill', kept, replay.slice(0, kept.length));
  for (const frame of seen) {
    if (frame.event !== 'messages') continue;
    const messages = JSON.parse(frame.data);
    expectEqual('`messages` seen before', [messages.status, answerOf(messages)], [run.status, run.message]);
  }
}

/** What a client saw of the whole run and what stays of it tell the same; what was left out cannot be asked for. */
async function checkCompacted(
  api: ApiClient,
  seen: StreamReader | null,
  replay: StreamReader,
  run: Body,
): Promise<void> {
  const isDelta = ({ data }: Frame) => data.includes('.delta"');
  const raw = replay.frames.filter((frame) => frame.data.includes('"raw_response_event"') && !isDelta(frame));
  expectNumber('frames that a compacted run does not keep', raw.length, 0);
  const before = new Map(seen?.frames.map((frame) => [frame.id, frame]));
  for (const frame of replay.frames) {
    const same = before.get(frame.id);
    if (same !== undefined && !isDelta(frame)) expectEqual('frame of a compacted run', frame, same);
  }
  expectEqual('text seen before', run.message.startsWith(seen?.answer ?? ''), true);
  const inside = await within('answer to a cursor', WAIT_MS, api.events(run.runId, 1, REQUEST.apiIntegrationId));
  expectNumber('status of a cursor inside a compacted run', inside.status, 410);
}

/** "the next turn always works", and is shown what was said before. */
async function checkNextTurn(api: ApiClient, model: ModelController): Promise<void> {
  const before = (await api.get(`${PATH}/members/${REQUEST.consumerId}`)).body.allowance.used;
  const reader = await send(api, { ...REQUEST, usageRequestId: 'request-2', message: 'And now?' });
  expectEqual('X-Run-Replayed of the next turn', reader.headers['x-run-replayed'] ?? null, null);
  expectEqual('answer of the next turn', reader.answer, ANSWER);
  const prompt = model.calls.at(-1)?.request.prompt ?? [];
  const said = prompt.flatMap((item) => (item.kind === 'user' ? [item.text] : []));
  expectEqual('user messages in the next prompt', said, [REQUEST.message, 'And now?']);
  const { body } = await api.get(`${PATH}/chat_status?usageRequestId=request-2`);
  expectEqual('next turn', [body.run.status, body.status, body.numMessages], ['completed', 'idle', 4]);
  await expectAllowance(api, before + 1);
}

/** The level of `Levels` at which the client stood. */
export function levelSeen(seen: StreamReader | null): number {
  if (seen === null) return 0;
  const names = parseFrames(seen.text.slice(0, seen.text.lastIndexOf('\n\n') + 2)).map(({ event }) => event);
  return names.includes('end') ? 3 : names.includes('messages') ? 2 : 1;
}
