import {
  type ApiClient,
  type Frame,
  type ModelController,
  type StreamReader,
  withoutComments,
} from '@runwire/test-kit';
import { expectEqual, expectNumber, Shortfall, WAIT_MS, within } from './proof.ts';

/* Everything that a caller can ask about a run that has ended. No two answers may contradict each other. */

// biome-ignore lint/suspicious/noExplicitAny: an answer's body, which was checked against its schema.
export type Body = any;

/** All items of a list, page by page. */
export async function listAll(api: ApiClient, path: string): Promise<Body[]> {
  const items: Body[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const more: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { status, body } = await api.get(`${path}?limit=100${more}`);
    expectNumber(`status of ${path}`, status, 200);
    items.push(...body.items);
    cursor = body.nextCursor ?? null;
  }
  return items;
}

/** Reads a stream that must arrive whole. */
export async function whole(stream: Promise<StreamReader>): Promise<StreamReader> {
  const reader = await within('head of a stream', WAIT_MS, stream);
  expectNumber('status of a stream', reader.status, 200);
  if (!(await within('end of a stream', WAIT_MS, reader.over)))
    throw new Shortfall('whole streams: expected 1, found 0.');
  return reader;
}

/** The frames that a reader keeps: a `resumed` makes void the frames after the event that it names. */
export function validFrames(all: readonly Frame[], resumedIn = all): readonly Frame[] {
  let frames = all;
  for (const { event, data, id } of resumedIn) {
    if (event !== 'resumed') continue;
    const { discard_after: last } = JSON.parse(data) as { discard_after: number };
    frames = frames.filter((frame) => frame.id <= last || frame.id >= id);
  }
  return frames;
}

const isDelta = ({ data }: Frame) => data.includes('.delta"');

function textOf(messages: Body): string {
  const said = messages.new_messages.filter((item: Body) => item.type === 'message' && item.role === 'assistant');
  return said.map((item: Body) => item.content.map((part: Body) => part.text).join('')).join('');
}

function checkStream({ frames, answer }: StreamReader, run: Body): void {
  const named = (name: string) => frames.filter(({ event }) => event === name);
  for (const name of ['meta', 'messages', 'end']) expectNumber(`\`${name}\` in a stream`, named(name).length, 1);
  expectEqual('first and last frame', [frames[0]?.event, frames.at(-1)?.event], ['meta', 'end']);
  expectNumber('`resumed` in a stream', named('resumed').length, run.attempt - 1);
  expectNumber('id of the last frame', frames.at(-1)?.id ?? 0, run.lastEventId);
  const isGrowing = frames.every(({ id }, i) => i === 0 || id > (frames[i - 1]?.id ?? 0));
  expectNumber('streams with growing ids', Number(isGrowing), 1);
  expectEqual('run of `meta`', JSON.parse(named('meta')[0]?.data ?? '{}').run_id, run.runId);
  const messages = JSON.parse(named('messages')[0]?.data ?? '{}');
  expectEqual(
    '`messages`',
    [messages.run_id, messages.status, messages.usage, messages.error, textOf(messages)],
    [run.runId, run.status, run.usage, run.error, run.message],
  );
  expectEqual('text of the deltas', answer, run.message);
}

/** What a client saw and what a compacted run keeps agree, and a cursor inside the run is refused. */
async function checkCompacted(
  api: ApiClient,
  integration: string,
  seen: readonly Frame[],
  stream: StreamReader,
  run: Body,
) {
  const raw = stream.frames.filter((frame) => frame.data.includes('"raw_response_event"') && !isDelta(frame));
  expectNumber('frames that a compacted run does not keep', raw.length, 0);
  const before = new Map(seen.map((frame) => [frame.id, frame]));
  for (const frame of stream.frames) {
    const same = before.get(frame.id);
    if (same !== undefined && !isDelta(frame)) expectEqual('frame of a compacted run', frame, same);
  }
  const inside = await within('answer to a cursor', WAIT_MS, api.events(run.runId, 1, integration));
  expectNumber('status of a cursor inside a compacted run', inside.status, 410);
}

/** No attempt asks the model twice for one step, and none asks again for a step that an earlier one finished. */
async function checkCalls(api: ApiClient, path: string, runId: string, model: ModelController): Promise<void> {
  const calls = model.calls.flatMap(({ request }) => (request.runId === runId ? [request] : []));
  const twice = calls.length - new Set(calls.map(({ attempt, step }) => `${attempt}/${step}`)).size;
  expectNumber('model calls made twice in one attempt', twice, 0);
  const { body: steps } = await api.get(`${path}/runs/${runId}/steps`);
  const repeated = steps.items.filter((done: Body) =>
    calls.some(({ attempt, step }) => step === done.step && attempt > done.attempt),
  );
  expectNumber('finished steps that were repeated', repeated.length, 0);
}

export interface Story {
  readonly integration: string;
  readonly runId: string;
  readonly model: ModelController;
  /** What a reader has of the run, void frames included. */
  readonly seen?: readonly Frame[];
  /** True if the events of the run were compacted. */
  readonly isCompacted?: boolean;
}

/** Run, usage record, messages, stream and what the reader saw agree. */
export async function checkStory(api: ApiClient, { integration, runId, model, seen = [], isCompacted = false }: Story) {
  const path = `/v2/integrations/${integration}`;
  const { status, body: run } = await api.get(`${path}/runs/${runId}`);
  expectNumber('lost: status of a run that a caller knows', status, 200);
  const { body: usage } = await api.get(`${path}/usage?usageRequestId=${encodeURIComponent(run.usageRequestId)}`);
  expectEqual(
    'usage records of a run',
    usage.items.map((record: Body) => [record.runId, record.status, record.usage]),
    [[runId, run.status, run.usage]],
  );
  const messages = (await listAll(api, `${path}/chats/${run.chatId}/messages`)).filter((one) => one.runId === runId);
  expectEqual(
    'messages of a run',
    messages.map((one) => [one.role, one.status, one.role === 'user' ? null : one.content, one.error]),
    [
      ['assistant', run.status, run.message, run.error],
      ['user', 'completed', null, null],
    ],
  );
  const stream = await whole(api.events(runId, null, integration));
  checkStream(stream, run);
  if (isCompacted) await checkCompacted(api, integration, seen, stream, run);
  else {
    const kept = validFrames(seen, stream.frames);
    expectEqual('frames that a reader saw', kept, stream.frames.slice(0, kept.length));
  }
  await checkCalls(api, path, runId, model);
  return { run, charged: usage.items[0].charged as Body, stream };
}

/** The same request again is answered with the same run, byte for byte, and asks no model. */
export async function checkReplay(
  api: ApiClient,
  model: ModelController,
  request: Body,
  stream: StreamReader,
): Promise<void> {
  const calls = model.calls.length;
  const again = await whole(api.complete(request));
  const runId = JSON.parse(stream.frames[0]?.data ?? '{}').run_id;
  const { 'x-run-id': id, 'x-run-replayed': isReplayed, 'x-agent-run-admitted': admitted } = again.headers;
  expectEqual('headers of a replay', [id, isReplayed, admitted], [runId, 'true', 'true']);
  expectEqual('replay', withoutComments(again.text), withoutComments(stream.text));
  expectNumber('model calls by a replay', model.calls.length - calls, 0);
}

export async function expectAllowance(api: ApiClient, path: string, used: number): Promise<void> {
  const { allowance } = (await api.get(path)).body;
  expectEqual('allowance of the member', [allowance.used, allowance.reserved], [used, 0]);
}
