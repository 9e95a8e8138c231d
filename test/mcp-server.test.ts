import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { defineAgency, defineAgent, defineTool } from '@runwire/agency';
import { STORES, TEST_API_KEY } from '@runwire/test-kit';
import { count, scale } from '@runwire/test-kit/scale.ts';
import { cites } from '../requirements/cite.ts';
import { Cluster } from './support/cluster.ts';
import { run } from './support/doc-samples.ts';
import { until } from './support/eventually.ts';
import { calls, play, say } from './support/play.ts';
import { ScriptedServer } from './support/scripted-server.ts';
import { missingService } from './support/services.ts';

const refund = defineTool({
  name: 'refund',
  description: 'Pays money back.',
  inputSchema: { type: 'object' },
  needsApproval: true,
  execute: () => 'refunded',
});
const agent = (name: string, description: string) =>
  defineAgent({ name, description, instructions: `You are ${name.split(' ')[0]}.`, files: false, tools: [refund] });
const shop = defineAgency({
  name: 'Shop',
  agents: [agent('Lead', 'Helps with orders.'), agent('Night shift', '')],
  entryPoints: ['Lead', 'Night shift'],
});

/** The revision of 2025, which begins with a handshake, and the one of 2026. */
const REVISIONS = ['legacy', 'auto'] as const;
type Revision = (typeof REVISIONS)[number];

interface Connecting {
  readonly integration: string;
  readonly revision?: Revision;
  readonly headers?: Readonly<Record<string, string>>;
  /** What each request is answered with. */
  readonly seen?: Response[];
}

/** The official client. Each of its requests is sent to the next server. */
async function connect(
  urls: readonly string[],
  { integration, revision = 'auto', headers = {}, seen = [] }: Connecting,
): Promise<Client> {
  let next = 0;
  const spread = async (input: string | URL, init?: RequestInit) => {
    const { pathname } = new URL(input);
    next += 1;
    const response = await fetch(`${urls[next % urls.length]}${pathname}`, init);
    seen.push(response);
    return response;
  };
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: revision } });
  const url = new URL(`${urls[0]}/v2/integrations/${integration}/mcp`);
  const requestInit = { headers: { authorization: `Bearer ${TEST_API_KEY}`, ...headers } };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit, fetch: spread }));
  return client;
}

interface Result {
  readonly content: readonly { readonly text: string }[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: boolean;
  readonly _meta?: { readonly 'runwire/error'?: Readonly<Record<string, unknown>> };
}

type CallOptions = NonNullable<Parameters<Client['callTool']>[1]>;

async function askLead(client: Client, given: object, more: { key?: string; options?: CallOptions } = {}) {
  const { key, options } = more;
  const meta = key === undefined ? {} : { _meta: { 'runwire/idempotencyKey': key } };
  const params = { name: 'ask_Lead', arguments: { ...given }, ...meta };
  return (await client.callTool(params, options)) as Result;
}

const texts = ({ content }: Result) => content.map(({ text }) => text);
const skip = (await missingService('postgres')) ?? false;

describe('one server', () => {
  for (const store of STORES) describe(store, () => oneServer(store));
});

function oneServer(store: (typeof STORES)[number]): void {
  const rig = ScriptedServer.shared({ store, agencies: { shop } });
  const make = (fields = {}) => rig.integration({ agency: 'shop', ...fields });
  const open = (integration: string, more: Partial<Connecting> = {}) =>
    connect([rig.server.url], { integration, ...more });

  for (const revision of REVISIONS) {
    test(`${revision}: a tool per entry point, whose result is the answer`, async (t) => {
      cites(t, 'compatible-20-mcp-tools', 'compatible-20-mcp-result', 'compatible-20-mcp-chat');
      const integration = await make();
      const made = play(rig, {
        Lead: [
          say('Hello.'),
          calls(['r1', 'refund', { cents: 5 }]),
          say('Yes.'),
          (call) => call.fail('x', 'No power.'),
        ],
      });
      const seen: Response[] = [];
      const client = await open(integration, { revision, seen });
      const { tools } = await client.listTools();
      assert.deepEqual(
        tools.map(({ name, title }) => [name, title]),
        [
          ['ask_Lead', 'Lead'],
          ['ask_Night_shift', 'Night shift'],
        ],
      );
      assert.equal(tools[0]?.description, 'Asks the agent Lead of Shop. Helps with orders.');
      const first = await askLead(client, { message: 'Hi' });
      assert.deepEqual(texts(first), ['Hello.']);
      const { run_id, chat_id, usage, ...rest } = first.structuredContent ?? {};
      assert.match(String(run_id), /^run_/);
      assert.deepEqual(rest, { status: 'completed', pending: [], error: null });
      assert.equal((usage as { total_tokens: number }).total_tokens, 15);
      const answered = seen.at(-1)?.headers;
      assert.deepEqual(
        [answered?.get('x-agent-run-admitted'), answered?.get('x-run-id'), answered?.get('x-chat-id')],
        ['true', run_id, chat_id],
      );

      const asking = await askLead(client, { message: 'Pay.', chat_id });
      assert.match(texts(asking).join(), /^Lead waits for the approval of a call of `refund`/);
      const pending = asking.structuredContent?.pending as { tool: string }[] | undefined;
      assert.equal(pending?.[0]?.tool, 'refund');
      const next = await askLead(client, { message: 'Sure?', chat_id });
      assert.deepEqual(texts(next), ['Yes.']);
      const declined = made.at(-1)?.request.prompt.find((item) => item.kind === 'tool_output');
      assert.equal(declined?.output, 'Not answered: the user sent a new message');

      const failed = await askLead(client, { message: 'Fail.' });
      assert.equal(failed.isError, true);
      assert.equal(failed.structuredContent?.status, 'failed');
      await client.close();
    });
  }

  test('a refusal is an error that the model reads; what is wrong before it is an HTTP error', async (t) => {
    cites(
      t,
      'compatible-20-mcp-refused',
      'compatible-20-mcp-chat',
      'compatible-20-mcp-http-errors',
      'compatible-20-mcp-member',
    );
    const integration = await make({ allowances: { unit: 'runs', limit: 1, period: 'lifetime' } });
    await rig.member(integration, 'ann');
    play(rig, { Lead: [say('Hello.')] });
    const client = await open(integration);
    const unnamed = await askLead(client, { message: 'Hi' });
    assert.equal(unnamed.isError, true);
    assert.match(texts(unnamed).join(), /^The header `X-Runwire-Consumer-Id` is missing: .*\(missing_allowance/);
    assert.deepEqual(
      [unnamed._meta?.['runwire/error']?.code, unnamed._meta?.['runwire/error']?.status],
      ['missing_allowance_attribution', 400],
    );
    const seen: Response[] = [];
    const ann = await open(integration, { headers: { 'X-Runwire-Consumer-Id': 'ann' }, seen });
    assert.deepEqual(texts(await askLead(ann, { message: 'Hi' })), ['Hello.']);
    const exhausted = await askLead(ann, { message: 'Hi' });
    assert.equal(exhausted._meta?.['runwire/error']?.code, 'consumer_allowance_exhausted');
    assert.equal(seen.at(-1)?.headers.get('x-agent-run-admitted'), 'false');
    const noChat = await askLead(ann, { message: 'Hi', chat_id: 'none' });
    assert.equal(noChat._meta?.['runwire/error']?.code, 'chat_not_found');
    for (const given of [{}, { message: ' ' }, { message: 'Hi', files: ['/etc/passwd'] }, { message: 'Hi', more: 1 }]) {
      assert.equal((await askLead(ann, given))._meta?.['runwire/error']?.code, 'invalid_request');
    }
    const badKey = await askLead(ann, { message: 'Hi' }, { key: '' });
    assert.match(texts(badKey).join(), /idempotencyKey/);
    await assert.rejects(ann.callTool({ name: 'ask_Nobody', arguments: {} }), /There is no tool `ask_Nobody`/);

    const path = `/v2/integrations/${integration}/mcp`;
    const post = async (body: unknown, api = rig.api, at = path) => {
      const { status, body: answer } = await api.post(at, body as object);
      return [status, answer.code];
    };
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    assert.deepEqual(await post(list, rig.api.as('wrong')), [401, 'invalid_api_key']);
    assert.deepEqual(await post(list, rig.api, path.replace(integration, 'none')), [404, 'integration_not_found']);
    assert.deepEqual(await post([list]), [400, 'invalid_request']);
    await rig.api.patch(`/v2/integrations/${integration}`, { compatibleApis: ['openai'] });
    assert.deepEqual(await post(list), [404, 'not_found']);
    await Promise.all([client.close(), ann.close()]);
  });

  test('progress is reported at most once a second', async (t) => {
    cites(t, 'compatible-20-mcp-progress');
    const client = await open(await make());
    let isDone = false;
    rig.controller.onCall = async (call) => {
      for (; !isDone; await sleep(50)) await call.text('word ');
      await call.end();
    };
    const news: { readonly at: number; readonly progress: number; readonly message: string }[] = [];
    const onprogress: CallOptions['onprogress'] = ({ progress, message = '' }) => {
      news.push({ at: performance.now(), progress, message });
      isDone = news.length === 3;
    };
    await askLead(client, { message: 'Count.' }, { options: { onprogress } });
    assert.ok(news.length >= 3 && news.length <= 4, `${news.length}`);
    for (const [index, { at, progress }] of news.entries()) {
      const before = news[index - 1];
      if (before === undefined) continue;
      assert.ok(progress > before.progress);
      assert.ok(at - before.at > 500, 'more than one in a second');
    }
    assert.equal(news.at(-1)?.message, 'Lead is answering.');
    await client.close();
  });
}

describe('three nodes without sticky sessions', { skip }, () => {
  for (const revision of REVISIONS) {
    test(`${revision}: any node answers, a key makes a call idempotent, a cancel reaches the provider`, async (t) => {
      cites(t, 'compatible-20-mcp-stateless', 'compatible-20-mcp-idempotent', 'compatible-20-mcp-cancel');
      await using cluster = await Cluster.start(3, { agencies: { shop } });
      const [first] = cluster.nodes as [ScriptedServer];
      const integration = await first.integration({ agency: 'shop' });
      const urls = cluster.nodes.map(({ server }) => server.url);
      const client = await connect(urls, { integration, revision });
      for (const { controller } of cluster.nodes) controller.onCall = (call) => void say('Hello.')(call);
      const chats: string[] = [];
      for (let round = 0; round < scale(4, 60); round += 1) {
        await client.listTools();
        const key = `key-${round}`;
        const both = [1, 2].map(() => askLead(client, { message: `Hi ${round}` }, { key }));
        const [one, two] = (await Promise.all(both)).map((result) => result.structuredContent?.run_id);
        assert.equal(one, two);
        const again = await askLead(client, { message: `Hi ${round}` }, { key });
        assert.equal(again.structuredContent?.run_id, one);
        const other = await askLead(client, { message: 'Another' }, { key });
        assert.equal(other._meta?.['runwire/error']?.code, 'usage_request_id_reused');
        const chat_id = chats.at(-1);
        const next = await askLead(client, { message: 'More.', ...(chat_id === undefined ? {} : { chat_id }) });
        chats.push(String(next.structuredContent?.chat_id));
        count({ calls: 5, runs: 2 });
      }
      assert.equal(new Set(chats).size, 1);

      for (let round = 0; round < scale(3, 30); round += 1) {
        const held = Promise.withResolvers<Awaited<ReturnType<typeof first.controller.nextCall>>>();
        for (const { controller } of cluster.nodes) {
          controller.onCall = (call) => {
            void call.text('Long ').then(() => held.resolve(call));
          };
        }
        const stop = new AbortController();
        const key = `cancelled-${round}`;
        const more = { options: { signal: stop.signal }, ...(round % 2 === 0 ? {} : { key }) };
        const asking = askLead(client, { message: 'Talk.' }, more);
        const call = await held.promise;
        stop.abort();
        await assert.rejects(asking);
        const isClosed = await Promise.race([call.closed.then(() => true), sleep(10_000, false, { ref: false })]);
        assert.ok(isClosed, `round ${round}: the provider's connection is open 10 s after the cancel`);
        count({ cancels: 1 });
      }
      await until(async () => {
        const { body } = await first.api.get(`/v2/integrations/${integration}/runs?status=cancelled&limit=100`);
        return body.items.length === scale(3, 30);
      });
      await client.close();
    });
  }
});

const COUNT_LOADS = `
import { registerHooks } from 'node:module';
let loads = 0;
registerHooks({
  resolve: (name, context, next) => {
    if (name === '@modelcontextprotocol/server') loads += 1;
    return next(name, context);
  },
});
const { startTestServer, TEST_API_KEY } = await import('@runwire/test-kit');
await using server = await startTestServer();
const before = loads;
const headers = { authorization: 'Bearer ' + TEST_API_KEY, 'content-type': 'application/json' };
headers.accept = 'application/json, text/event-stream';
const url = server.url + '/v2/integrations/demo/mcp';
const statuses = [];
for (const method of ['GET', 'DELETE']) statuses.push((await fetch(url, { method, headers })).status);
const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
statuses.push((await fetch(url, { method: 'POST', headers, body })).status);
console.log(JSON.stringify({ before, statuses, after: loads }));
`;

test('other methods get 405, and the package is loaded by the first request', async (t) => {
  cites(t, 'compatible-20-mcp-stateless', 'compatible-20-mcp-lazy');
  const { stdout } = await run(process.execPath, ['-C', 'runwire', '--input-type=module', '-e', COUNT_LOADS]);
  assert.deepEqual(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''), {
    before: 0,
    statuses: [405, 405, 200],
    after: 1,
  });
});
