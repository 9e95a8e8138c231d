import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { type ApiClient, imageAttachment, makePng, withoutComments } from '@runwire/test-kit';
import { makeOnePixelPng } from '@runwire/test-kit/sample-images.ts';
import { askStore } from './ask-store.ts';
import { CliServer, keysIn } from './cli-process.ts';
import { ConsolePage } from './console-page.ts';
import { at, download, listAll, upload } from './uploads.ts';

/** An installation with data of every kind, and the answers that a caller gets from it. */
export interface FurnishedHouse {
  readonly apiKey: string;
  /** The run that SIGKILL interrupted. */
  readonly unfinished: string;
  readonly seen: AnswersByPath;
}

/** The bodies of answers by path, the run streams, and the files. */
export type AnswersByPath = ReadonlyMap<string, string>;

const PATH = '/v2/integrations/house';
const EMAIL = 'ann@house.example';
/** Contains a character that PostgreSQL's text refuses, a line end for some programs, and a character of four bytes. */
const ODD = 'Zero \u0000, separator \u2028, clef 𝄞';

/** Rows that sweeps write between two of their transactions. */
const LEFT_BY_SWEEPS = [
  `insert into skipped_runs select run_id from runs where status = 'failed'`,
  `insert into uncounted_runs select run_id, integration_id from runs where status = 'failed'`,
  `insert into usage_walk select 1, max(run_id), max(run_id) from runs`,
  `insert into sweep_positions values ('events', 'run_0') on conflict do nothing`,
  `insert into compacted_chunks values ('run_0', 1, 1, 'compacted')`,
];

/** The summary of a chat. It takes a long chat to make one. */
const SUMMARY = [
  `update chats set summary_run_id = (select min(run_id) from messages where messages.chat_key = chats.chat_key)
    where chat_id = 'talk'`,
  `insert into steps (run_id, step, attempt, kind, loop, index_in_loop, agent, model, status, first_event_id, last_event_id,
      record_json, started_at, completed_at)
    select summary_run_id, 9, 1, 'summary', '', 0, 'Concierge', 'offline/demo', 'completed', 1, 1,
      '{"usage":null,"output":[],"summary":{"text":"Odd","turns":1,"end":2,"madeAt":3,"before":null}}', 0, 0
    from chats where summary_run_id is not null`,
];

/** The demo agency has no lasting hand-off. */
const LASTING_AGENT = `update chat_states set agent = 'Guide'`;

/** Starts a server on an empty folder, uses it, and kills it in the middle of a run. */
export async function furnish(env: Readonly<Record<string, string>>): Promise<FurnishedHouse> {
  await using server = await CliServer.start({ env });
  const apiKey = keysIn(server.stdout)[0] ?? '';
  const api = server.api(apiKey);
  const allowances = { unit: 'runs', limit: 50, period: 'month' };
  const made = await api.post('/v2/integrations', {
    ...{ apiIntegrationId: 'house', name: ODD, allowances, clientTools: true },
  });
  assert.equal(made.status, 201);
  const endpoint = { url: null, events: ['run.failed', 'upload.completed'], description: ODD };
  assert.equal((await api.post(`${PATH}/webhooks`, endpoint)).status, 201);
  assert.equal((await api.put(`${PATH}/members/ann`, { metadata: { odd: ODD } })).status, 201);
  const owner = (await api.post('/v2/owners', { email: EMAIL })).body;
  assert.deepEqual(await new ConsolePage(api.url).setUp(owner.setupLink, EMAIL), [204]);
  const say = async (chatId: string, message: string, more = {}) => {
    const fields = {
      apiIntegrationId: 'house',
      consumerId: 'ann',
      chatId,
      message,
      usageRequestId: `in ${chatId}: ${message}`.slice(0, 20),
      ...more,
    };
    const reader = await api.complete(fields);
    assert.equal(reader.status, 200, reader.text);
    await reader.whole();
  };
  await say('talk', ODD, { usageRequestId: 'once' });
  await say('talk', '/tool calculate {"operation":"add","a":1,"b":2}');
  await say('talk', 'Look', { attachments: [imageAttachment(makePng(3000, 1)), imageAttachment(makePng(2000, 2))] });
  const shown = { name: 'shown.png', path: '/app/mnt/u/shown.png' };
  await upload(api, makeOnePixelPng(4000, 3), {
    apiIntegrationId: 'house',
    ...at(shown.path),
    contentType: 'image/png',
  });
  await say('talk', `/tool show_file ${JSON.stringify({ path: shown.path })}`, { sandboxFiles: [shown] });
  await say('fails', '/fail');
  const place = { name: 'place', description: 'Where the user is.', inputSchema: { type: 'object' } };
  await say('asks', '/tool place {}', { clientTools: [place] });
  for (const chatId of ['talk', 'asks']) {
    assert.equal((await api.post(`${PATH}/chats/${chatId}/fork`, { chatId: `${chatId} 2` })).status, 201);
  }
  const brought = {
    input: 'Hi',
    metadata: { odd: 'clef 𝄞' },
    text: { format: { type: 'json_schema', name: 'odd', schema: { type: 'object', title: 'Line \u2028' } } },
  };
  const ofAnn = { 'X-Runwire-Consumer-Id': 'ann' };
  assert.equal((await api.call('POST', `${PATH}/openai/v1/responses`, brought, ofAnn)).status, 200);
  const hidden = { messages: [{ role: 'user', content: 'Hi' }] };
  assert.equal((await api.call('POST', `${PATH}/openai/v1/chat/completions`, hidden, ofAnn)).status, 200);
  assert.equal((await api.patch(`${PATH}/chats/talk`, { title: ODD, metadata: { odd: ODD } })).status, 200);
  assert.equal((await api.patch(`${PATH}/chats/talk/state`, { odd: ODD })).status, 200);
  await askStore(env.RUNWIRE_DATA_DIR ?? '', LASTING_AGENT);
  const adjustment = { amount: 1, unit: 'runs', reason: ODD, idempotencyKey: ODD };
  assert.equal((await api.post(`${PATH}/members/ann/adjustments`, adjustment)).status, 201);
  const put = (apiIntegrationId: string, path: string, bytes: string | Uint8Array, contentType: string) =>
    upload(api, bytes, { apiIntegrationId, ...at(`/app/mnt/${path}`), contentType });
  await put('house', 'reports/𝄞 für alle.csv', 'a,b\n', 'text/csv');
  await put('house', 'u/large', Buffer.alloc(2_000_000, 'large'), 'application/octet-stream');
  await put('demo', 'reports/same.csv', 'a,b\n', 'text/csv');
  const seen = await look(api);
  const slow = await api.complete({
    apiIntegrationId: 'house',
    consumerId: 'ann',
    chatId: 'slow',
    message: '/slow 600',
    usageRequestId: 'slow',
  });
  await slow.untilText('event: meta');
  await server.stop('SIGKILL');
  for (const statement of [...LEFT_BY_SWEEPS, ...SUMMARY]) await askStore(env.RUNWIRE_DATA_DIR ?? '', statement);
  return { apiKey, unfinished: String(slow.headers['x-run-id']), seen };
}

/** Reads everything that a caller can read of the runs that have ended. */
export async function look(api: ApiClient): Promise<AnswersByPath> {
  const seen = new Map<string, string>();
  const keep = async (path: string) => {
    const { status, body } = await api.get(path);
    assert.equal(status, 200, path);
    seen.set(path, JSON.stringify(body));
    return body;
  };
  assert.deepEqual(await new ConsolePage(api.url).signIn(EMAIL), [204]);
  await keep(`${PATH}`);
  await keep(`${PATH}/chats/talk`);
  await keep(`${PATH}/chats/talk/state`);
  const fork = await keep(`${PATH}/chats/talk%202`);
  assert.equal(fork.forkedFrom.chatId, 'talk');
  const asking = [await keep(`${PATH}/chats/asks`), await keep(`${PATH}/chats/asks%202`)];
  assert.deepEqual(
    asking.map(({ pending }) => pending.length),
    [1, 1],
  );
  await keep(`${PATH}/members/ann/adjustments`);
  const [{ endpointId }] = (await keep(`${PATH}/webhooks`)).items;
  const { items: deliveries } = await keep(`${PATH}/webhooks/${endpointId}/deliveries`);
  assert.equal(deliveries.length, 4);
  for (const { deliveryId } of deliveries) await keep(`${PATH}/webhooks/${endpointId}/deliveries/${deliveryId}`);
  for (const chat of ['talk', 'fails', 'talk%202', 'asks%202']) await keep(`${PATH}/chats/${chat}/messages`);
  for (const list of ['runs', 'usage']) {
    const { body } = await api.get(`${PATH}/${list}?limit=100`);
    const ended = body.items.filter(({ status }: { status: string }) => ['completed', 'failed'].includes(status));
    seen.set(list, JSON.stringify(ended));
    if (list !== 'runs') continue;
    for (const { runId, chatId } of ended) {
      await keep(`${PATH}/chats/${encodeURIComponent(chatId)}`);
      // The metadata and the schema that a request brought.
      await keep(`${PATH}/openai/v1/responses/${runId.replace('run_', 'resp_')}`);
      const steps = await keep(`${PATH}/runs/${runId}/steps`);
      for (const { attachments } of steps.items) {
        for (const { attachmentId } of attachments) {
          const path = `${PATH}/runs/${runId}/attachments/${attachmentId}`;
          const answer = await fetch(`${api.url}${path}`, { headers: api.authorization });
          assert.equal(answer.status, 200, path);
          seen.set(path, hash('sha256', Buffer.from(await answer.arrayBuffer())));
        }
      }
      const stream = await api.events(runId, null, 'house');
      await stream.whole();
      seen.set(`events of ${runId}`, withoutComments(stream.text));
    }
  }
  assert.equal([...seen.keys()].filter((key) => key.startsWith('events of')).length, 8);
  const answers = [...seen.values()].join('\n');
  for (const part of ['"lastingAgent":"Guide"', '"transient":true', '"odd":"clef 𝄞"', '"title":"Line '])
    assert.ok(answers.includes(part), part);
  for (const integration of ['house', 'demo']) {
    for (const file of await listAll(api, integration)) {
      const bytes = await (await download(api, file.path, integration)).bytes();
      seen.set(`${integration}: ${file.path}`, `${JSON.stringify(file)} ${hash('sha256', bytes)}`);
    }
  }
  assert.equal([...seen.keys()].filter((key) => key.includes(': /app/mnt/')).length, 4);
  return seen;
}
