import { type ApiClient, type Frame, type ModelCall, type StreamReader, withoutComments } from '@runwire/test-kit';
import { expectEqual, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';

/* Everything that a caller can ask about a run that has ended. No two answers may contradict each other. */

// biome-ignore lint/suspicious/noExplicitAny: an answer's body, which was checked against its schema.
export type Body = any;

/** The servers, the model and the tools whose answers are compared. */
interface Stage {
  api(): ApiClient;
  readonly integration: string;
  readonly model: { readonly calls: readonly ModelCall[] };
  readonly gate?: { readonly calls: readonly { readonly callId: string }[] };
}

/** All items of a list, page by page. */
export async function listAll(api: ApiClient, path: string): Promise<Body[]> {
  const items: Body[] = [];
  const first = `${path}${path.includes('?') ? '&' : '?'}limit=100`;
  for (let more = ''; ; ) {
    const { status, body } = await api.get(`${first}${more}`);
    expectEqual(`status of ${path}`, status, 200);
    items.push(...body.items);
    if (body.nextCursor === null) return items;
    more = `&cursor=${encodeURIComponent(body.nextCursor)}`;
  }
}

/** Reads a stream that must arrive whole. */
export async function whole(stream: Promise<StreamReader>): Promise<StreamReader> {
  const reader = await within('head of a stream', WAIT_MS, stream);
  const isWhole = await within('end of a stream', WAIT_MS, reader.over);
  expectEqual('whole streams', [reader.status, isWhole], [200, true]);
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

function checkStream({ frames, answer }: StreamReader, run: Body): void {
  const getData = (name: string) => frames.flatMap(({ event, data }) => (event === name ? [data] : []));
  const counts = ['meta', 'resumed', 'messages', 'end'].map((name) => getData(name).length);
  expectEqual('`meta`, `resumed`, `messages` and `end` in a stream', counts, [1, run.attempt - 1, 1, 1]);
  const ends = [frames[0]?.event, frames.at(-1)?.event, frames.at(-1)?.id];
  expectEqual('first and last frame', ends, ['meta', 'end', run.lastEventId]);
  const isGrowing = frames.every(({ id }, i) => i === 0 || id > (frames[i - 1]?.id ?? 0));
  expectEqual('ids of a stream that grow', isGrowing, true);
  const [meta, messages] = ['meta', 'messages'].map((name): Body => JSON.parse(getData(name)[0] ?? '{}'));
  const said = messages.new_messages.filter(
    (item: Body) => item.type === 'message' && item.role === 'assistant' && item.callerAgent === null,
  );
  const text = said.flatMap((item: Body) => item.content.map((part: Body) => part.text)).join('');
  expectEqual(
    'run, status, usage, error and text in a stream',
    [meta.run_id, messages.run_id, messages.status, messages.usage, messages.error, text, answer],
    [run.runId, run.runId, run.status, run.usage, run.error, run.message, run.message],
  );
}

/** What a client saw and what a compacted run keeps agree, and a cursor inside the run is refused. */
function checkCompacted(seen: readonly Frame[], kept: readonly Frame[], inside: StreamReader): void {
  const isDelta = ({ data }: Frame) => data.includes('.delta"');
  const raw = kept.filter((frame) => frame.data.includes('"raw_response_event"') && !isDelta(frame));
  expectEqual('frames that a compacted run does not keep', raw.length, 0);
  const before = new Map(seen.map((frame) => [frame.id, frame]));
  const same = kept.filter((frame) => before.has(frame.id) && !isDelta(frame));
  const expected = same.map(({ id }) => before.get(id));
  expectEqual('frames of a compacted run', same, expected);
  expectEqual('status of a cursor inside a compacted run', inside.status, 410);
}

/** A repeated step has another number, but the model is sent the same. */
const sentTo = ({ instructions, prompt }: ModelCall['request']) => JSON.stringify([instructions, prompt]);

/** No attempt asks the model twice for one step, and no step that an attempt finished is asked for or called again. */
function checkCalls({ model, gate }: Stage, { runId, callsOfTool = 1 }: Story, steps: readonly Body[]): void {
  const calls = model.calls.flatMap(({ request }) => (request.runId === runId ? [request] : []));
  const twice = calls.length - new Set(calls.map(({ attempt, step }) => `${attempt}/${step}`)).size;
  expectEqual('model calls made twice in one attempt', twice, 0);
  const sentIn = new Map(calls.map((call) => [`${call.attempt}/${call.step}`, sentTo(call)]));
  const repeated = steps.filter((done) =>
    done.kind === 'model'
      ? calls.some((call) => call.attempt > done.attempt && sentTo(call) === sentIn.get(`${done.attempt}/${done.step}`))
      : done.attempt === 1 && (gate?.calls ?? []).filter(({ callId }) => callId === done.callId).length > callsOfTool,
  );
  expectEqual('calls of finished steps repeated', repeated.length, 0);
}

export interface Story {
  readonly runId: string;
  /** The server that is asked. */
  readonly api?: ApiClient;
  readonly integration?: string;
  /** What a reader has of the run, void frames included. */
  readonly seen?: readonly Frame[];
  /** How often one attempt may make a call of a tool: twice if its agency's process was killed. */
  readonly callsOfTool?: 1 | 2;
  /** True if the run's events were compacted. */
  readonly isCompacted?: boolean;
}

/** Calls without a result are steps too, and a later attempt makes them again. */
export const isFinished = ({ kind, status, error }: Body) =>
  status === 'completed' || (status === 'failed' && (kind === 'tool' || error?.code === 'output_invalid'));

/** Run, usage record, messages, steps, stream and what the reader saw agree. */
export async function checkStory(rig: Stage, story: Story) {
  const { runId, seen = [], isCompacted = false, api = rig.api(), integration = rig.integration } = story;
  const path = `/v2/integrations/${integration}`;
  const { status, body: run } = await api.get(`${path}/runs/${runId}`);
  expectEqual('lost: status of a run that a caller knows', status, 200);
  const steps: Body[] = (await api.get(`${path}/runs/${runId}/steps`)).body.items.filter(isFinished);
  checkCalls(rig, story, steps);
  const { body: usage } = await api.get(`${path}/usage?usageRequestId=${encodeURIComponent(run.usageRequestId)}`);
  const records = usage.items.map((record: Body) => [record.runId, record.status, record.usage]);
  expectEqual('usage records of a run', records, [[runId, run.status, run.usage]]);
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
  const kept = validFrames(seen, stream.frames);
  if (isCompacted) checkCompacted(seen, stream.frames, await api.events(runId, 1, integration));
  else expectEqual('frames that a reader saw', kept, stream.frames.slice(0, kept.length));
  return { run, steps, charged: usage.items[0].charged as Body, stream };
}

/** The same request again is answered with the same run, byte for byte, and asks no model. */
export async function checkReplay(
  { model }: Pick<Stage, 'model'>,
  api: ApiClient,
  request: Body,
  stream: StreamReader,
): Promise<void> {
  const calls = model.calls.length;
  const again = await whole(api.complete(request));
  const runId = JSON.parse(stream.frames[0]?.data ?? '{}').run_id;
  const { 'x-run-id': id, 'x-run-replayed': isReplayed, 'x-agent-run-admitted': admitted } = again.headers;
  expectEqual('headers of a replay', [id, isReplayed, admitted], [runId, 'true', 'true']);
  expectEqual('replay', withoutComments(again.text), withoutComments(stream.text));
  expectEqual('model calls by a replay', model.calls.length - calls, 0);
}

export async function expectAllowance(api: ApiClient, path: string, used: number): Promise<void> {
  const { allowance } = (await api.get(path)).body;
  expectEqual('allowance of the member', [allowance.used, allowance.reserved], [used, 0]);
}
