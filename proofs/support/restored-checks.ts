import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiClient, type ModelController, type ShownImage, withoutComments } from '@runwire/test-kit';
import { INTEGRATION, type Load, MEMBERS, PATH } from './backup-load.ts';
import { expectEqual, expectNumber, Shortfall, within } from './proof.ts';

const WAIT_MS = 60_000;

// biome-ignore lint/suspicious/noExplicitAny: an answer's body, which was checked against its schema.
type Body = any;

async function all(api: ApiClient, path: string): Promise<Body[]> {
  const items: Body[] = [];
  let cursor: string | null = null;
  do {
    const more: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { status, body } = await api.get(`${path}?limit=100${more}`);
    expectNumber(`status of ${path}`, status, 200);
    items.push(...body.items);
    cursor = body.nextCursor;
  } while (cursor !== null);
  return items;
}

export const runsOf = (api: ApiClient): Promise<Body[]> => all(api, `${PATH}/runs`);

/** Waits until every run has ended. */
export async function ended(api: ApiClient): Promise<Body[]> {
  for (const until = performance.now() + WAIT_MS; ; await sleep(100)) {
    const runs = await runsOf(api);
    const unfinished = runs.filter(({ status }) => status === 'admitted' || status === 'running');
    if (unfinished.length === 0) return runs;
    if (performance.now() > until) throw new Shortfall(`unfinished runs: expected 0, found ${unfinished.length}.`);
  }
}

/** Run, message, usage record and stream tell the same story. */
export async function checkRuns(api: ApiClient, runs: readonly Body[]): Promise<{ events: number }> {
  const usage = new Map((await all(api, `${PATH}/usage`)).map((record) => [record.runId, record]));
  const messages = new Map<string, Body[]>();
  let events = 0;
  for (const run of runs) {
    const { runId, chatId } = run;
    expectEqual('end of a run', [run.status, run.error], ['completed', null]);
    if (!messages.has(chatId)) messages.set(chatId, await all(api, `${PATH}/chats/${chatId}/messages`));
    const said = messages.get(chatId)?.filter((message) => message.runId === runId);
    expectEqual('messages of a run', said?.map(({ role }) => role).toSorted(), ['assistant', 'user']);
    const answer = said?.find(({ role }) => role === 'assistant');
    expectEqual('answer of a run', [answer?.content, answer?.status], [run.message, 'completed']);
    const record = usage.get(runId);
    expectEqual('usage of a run', [record?.status, record?.usage], [run.status, run.usage]);
    expectEqual('charge of a run', record?.charged, { unit: 'runs', amount: 1 });
    const stream = await api.events(runId, null, INTEGRATION);
    if (!(await within('end of a stream', WAIT_MS, stream.over)))
      throw new Shortfall('whole streams: expected 1, found 0.');
    expectEqual(
      'last event of a stream',
      [stream.frames.at(-1)?.event, stream.frames.at(-1)?.id],
      ['end', run.lastEventId],
    );
    expectEqual('text of a stream', stream.answer, run.message);
    events += stream.frames.length;
  }
  return { events };
}

/** What members have used is what their runs were charged, and nothing stays reserved. */
export async function checkDays(api: ApiClient, runs: readonly Body[]): Promise<void> {
  expectNumber('usage records', (await all(api, `${PATH}/usage`)).length, runs.length);
  for (const member of MEMBERS) {
    const { allowance } = (await api.get(`${PATH}/members/${member}`)).body;
    const charged = runs.filter(({ consumerId }) => consumerId === member).length;
    expectEqual(`allowance of ${member}`, [allowance.used, allowance.reserved], [charged, 0]);
  }
}

/** "The same request is one run": also where a back-up stands between. */
export async function checkReplays(api: ApiClient, model: ModelController, runs: readonly Body[], load: Load) {
  const calls = model.calls.length;
  for (const { runId, usageRequestId } of runs) {
    const body = load.sent.get(usageRequestId);
    if (body === undefined) throw new Shortfall(`request of run ${runId}: expected 1, found 0.`);
    const reader = await within('head of a replay', WAIT_MS, api.complete(body));
    expectEqual('replay', [reader.headers['x-run-id'], reader.headers['x-run-replayed']], [runId, 'true']);
    await within('end of a replay', WAIT_MS, reader.over);
    expectEqual('end of a replay', withoutComments(reader.text).endsWith('data: [DONE]\n\n'), true);
  }
  expectNumber('model calls by replays', model.calls.length - calls, 0);
}

/** Each chat goes on: its images are shown to the model again, and ids go on where they were. */
export async function checkNextTurns(api: ApiClient, model: ModelController, runs: readonly Body[]): Promise<number> {
  let images = 0;
  const newest =
    runs
      .map(({ runId }) => String(runId))
      .toSorted()
      .at(-1) ?? '';
  for (const [chatId, before] of Map.groupBy(runs, (run) => String(run.chatId))) {
    const messages = await all(api, `${PATH}/chats/${chatId}/messages`);
    const kept = messages.flatMap(({ attachments }) =>
      attachments.map(({ image_url: url }: { image_url: string }) => /sha256=([0-9a-f]{64})/.exec(url)?.[1]),
    );
    const { consumerId } = before[0];
    const fields = { apiIntegrationId: INTEGRATION, consumerId, chatId, usageRequestId: `next in ${chatId}` };
    const reader = await within('head of the next turn', WAIT_MS, api.complete({ ...fields, message: 'And now?' }));
    await within('end of the next turn', WAIT_MS, reader.over);
    const runId = String(reader.headers['x-run-id']);
    expectEqual('status of the next turn', (await api.get(`${PATH}/runs/${runId}`)).body.status, 'completed');
    const prompt = model.calls.findLast(({ request }) => request.runId === runId)?.request.prompt ?? [];
    const shown = prompt.flatMap((item) =>
      item.kind === 'user' ? ((item.attachments ?? []) as unknown as ShownImage[]) : [],
    );
    const hashes = shown.map(({ base64 }) => hash('sha256', Buffer.from(base64, 'base64')));
    expectEqual(`images of ${chatId}`, hashes.toSorted(), kept.toSorted());
    expectEqual('ids that go on', runId > newest, true);
    const { body: status } = await api.get(
      `${PATH}/chat_status?usageRequestId=${encodeURIComponent(fields.usageRequestId)}`,
    );
    expectNumber('messages with the next turn', status.numMessages, messages.length + 2);
    images += hashes.length;
  }
  return images;
}
