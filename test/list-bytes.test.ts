import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hookStore, STORES, type StoreName } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { askStore } from './support/ask-store.ts';
import { ScriptedServer } from './support/scripted-server.ts';

const PAGE_BYTES = 4 * 1024 * 1024;
const toBytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

/** Counts the bytes of all texts that the server reads. */
function counted() {
  const read = { bytes: 0 };
  const wrapStore = hookStore({
    read: async (_, readRows) => {
      const rows = await readRows();
      for (const row of rows) {
        for (const value of Object.values(row as object)) if (typeof value === 'string') read.bytes += value.length;
      }
      return rows;
    },
  });
  return { read, wrapStore };
}

/** Reads a list page by page; each page holds as many items as fit. Resolves to the items and how many each page had. */
async function walk(server: ScriptedServer, path: string, limit: number) {
  const pages: unknown[][] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const more: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const { status, body } = await server.api.get(`${path}?limit=${limit}${more}`);
    assert.equal(status, 200);
    const [first] = body.items;
    const before = pages.at(-1);
    if (before !== undefined && before.length < limit) {
      assert.ok(
        toBytes(before) + toBytes(first) > PAGE_BYTES,
        'the first item of a page did not fit on the one before',
      );
    }
    assert.ok(body.items.length === 1 || toBytes(body.items) <= PAGE_BYTES + 2);
    pages.push(body.items);
    cursor = body.nextCursor;
  }
  return { items: pages.flat(), counts: pages.map(({ length }) => length) };
}

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  test('a list ends its page at 4 MiB of JSON and reads no row beyond it', async (t) => {
    cites(t, 'contract-3-page-bytes');
    const { read, wrapStore } = counted();
    // The budget has room for two pages, so each page must be released after it is sent.
    await using server = await ScriptedServer.start({ store, wrapStore, limits: { pagesBytes: 2 * PAGE_BYTES } });
    const { dataDir } = server.server;
    const members = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const consumerId of members) await server.member('demo', consumerId);
    const metadata = JSON.stringify({ note: 'ü'.repeat(750_000) });
    await askStore(dataDir, `update members set metadata_json = '${metadata}' where consumer_id <> 'c'`);
    const larger = JSON.stringify({ note: 'x'.repeat(6_000_000) });
    await askStore(dataDir, `update members set metadata_json = '${larger}' where consumer_id = 'c'`);
    const listed = await walk(server, '/v2/integrations/demo/members', 200);
    assert.deepEqual(listed.counts, [2, 1, 1, 2], 'f and e, d, c alone, b and a');
    assert.deepEqual(
      listed.items.map((item) => (item as { consumerId: string }).consumerId),
      members.toReversed(),
    );
    read.bytes = 0;
    await server.api.get('/v2/integrations/demo/members?limit=200');
    assert.ok(read.bytes < PAGE_BYTES, `${read.bytes} characters were read for two members`);

    server.controller.answerAll('Hi');
    for (let turn = 0; turn < 5; turn += 1) await (await server.api.complete({ chatId: 'c' })).whole();
    const text = JSON.stringify('x'.repeat(1_800_000));
    await askStore(dataDir, `update messages set content_json = '${text}' where role = 'assistant'`);
    const messages = await walk(server, '/v2/integrations/demo/chats/c/messages', 200);
    assert.deepEqual([messages.items.length, messages.counts.length], [10, 3]);
    const runs = await walk(server, '/v2/integrations/demo/runs', 200);
    assert.deepEqual([runs.items.length, runs.counts], [5, [2, 2, 1]]);
    const byTwo = await walk(server, '/v2/integrations/demo/runs', 1);
    assert.deepEqual(byTwo.items, runs.items);
    read.bytes = 0;
    await server.api.get('/v2/integrations/demo/runs?limit=200');
    assert.ok(read.bytes < PAGE_BYTES, `${read.bytes} characters were read for two runs`);
  });

  test('steps with large outputs fit on one page without the outputs', async (t) => {
    cites(t, 'contract-3-page-bytes');
    await using server = await ScriptedServer.start({ store });
    const apiIntegrationId = await server.integration({ agency: 'test' });
    const { reader, call, runId } = await server.hold({ apiIntegrationId });
    await call.toolCall('call_1', 'echo', '{}');
    await call.end();
    await (await server.controller.nextCall()).end();
    await reader.whole();
    const [row] = await askStore(server.server.dataDir, `select record_json from steps where kind = 'tool'`);
    const record = JSON.parse(String(row?.record_json));
    record.output[0].text = 'x'.repeat(5_000_000);
    await askStore(
      server.server.dataDir,
      `update steps set record_json = '${JSON.stringify(record)}' where kind = 'tool'`,
    );
    const steps = await walk(server, `/v2/integrations/${apiIntegrationId}/runs/${runId}/steps`, 200);
    assert.deepEqual(steps.counts, [3]);
  });

  test('metadata of a member has at most 16 KiB as JSON', async (t) => {
    cites(t, 'contract-3-member-metadata');
    await using server = await ScriptedServer.start({ store });
    const put = (bytes: number) =>
      server.api.put('/v2/integrations/demo/members/ann', { metadata: { a: 'x'.repeat(bytes - '{"a":""}'.length) } });
    assert.equal((await put(16_384)).status, 201);
    const { status, body } = await put(16_385);
    assert.deepEqual([status, body.code], [400, 'invalid_request']);
    assert.match(body.error, /`metadata` has 16385 bytes as JSON; send at most 16384\./);
    assert.equal((await server.api.get('/v2/integrations/demo/members/ann')).body.metadata.a.length, 16_376);
  });
}
