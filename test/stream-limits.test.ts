import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamReader } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { eventually } from './support/eventually.ts';
import { jsonHead, RawConnection } from './support/raw-http.ts';
import { HeldRun, refusal, ScriptedServer } from './support/scripted-server.ts';

const PER = { MEMBER: 3, KEY: 4, OWNER: 6 };

test('limits the open streams of members, keys and owners, and counts each until it closes', async (t) => {
  cites(t, 'contract-4-limit-streams', 'contract-8-429-too-many-streams');
  const env = Object.fromEntries(
    Object.entries(PER).map(([who, limit]) => [`RUNWIRE_MAX_STREAMS_PER_${who}`, `${limit}`]),
  );
  await using server = await ScriptedServer.start({ env });
  const { api } = server;
  const apiIntegrationId = await server.integration({ textOnly: false });
  const textOnly = await server.integration({ textOnly: true });
  await server.member(apiIntegrationId, 'ann');
  const path = `/v2/integrations/${apiIntegrationId}`;
  const { body: minted } = await api.post(`${path}/client_tokens`, { consumerId: 'ann', can: ['run', 'read'] });
  const page = api.as(minted.clientToken);
  const runs = async () => (await api.get(`${path}/runs`)).body.items.length;
  const refused = async (reader: StreamReader, about: RegExp) => {
    const { status, retryAfter, body } = await refusal(reader);
    assert.deepEqual([status, retryAfter, body.code], [429, '1', 'too_many_streams']);
    assert.match(body.error, about);
    return reader.headers['x-agent-run-admitted'];
  };

  const request = { apiIntegrationId, consumerId: 'ann', usageRequestId: 'u1' };
  const started = await page.complete(request);
  const held = new HeldRun(started, await server.controller.nextCall());
  const events = (by = api) => by.events(held.runId, 0, apiIntegrationId);
  const [second, third] = [await events(page), await page.complete(request)];
  assert.deepEqual([second.status, third.headers['x-run-replayed']], [200, 'true'], 'a replay is a stream too');
  await refused(await events(page), /^The member of this client token has 3 open streams on this server/);
  assert.equal(await refused(await page.complete({ ...request, usageRequestId: 'u2' }), /^The member/), 'false');
  assert.equal(await runs(), 1, 'a refused request reserves nothing');

  const byKey = [await events(), await events(), await events()];
  await refused(await events(), /^The owner of this API key has 6 open streams/);
  for (const reader of [second, third]) reader.cut();
  const plain = await eventually('a cut stream counts no more', async () => {
    const reader = await api.complete({ apiIntegrationId: textOnly });
    return reader.status === 200 ? reader : null;
  });
  const text = new HeldRun(plain, await server.controller.nextCall());
  await refused(await events(), /^This API key has 4 open streams/);
  const other = await server.owner('second@example.com');
  const foreign = await other.api.complete({ apiIntegrationId: other.apiIntegrationId });
  await new HeldRun(foreign, await server.controller.nextCall()).finish();

  for (const run of [text, held]) await run.finish();
  for (const reader of byKey) await reader.whole();
  // Answers that become no stream end their count too, as does an answer that waits for another on its connection.
  for (let turn = 0; turn <= PER.KEY; turn += 1) {
    assert.equal((await api.complete({ apiIntegrationId, consumerId: 'nobody' })).status, 404);
    assert.equal((await api.events(held.runId, 1_000_000, apiIntegrationId)).status, 204);
    const piped = new RawConnection(server.server.url);
    const body = JSON.stringify({ ...request, message: 'Hello' });
    piped.send(`${jsonHead('POST /get_completion_v2', body.length)}${body}`.repeat(2));
    await eventually('the first of two answers', async () => piped.text.includes('event: end'));
    piped.socket.destroy();
    await piped.closed;
  }
  await eventually('all streams can be open again', async () => {
    const readers = await Promise.all(Array.from({ length: PER.KEY }, () => events()));
    for (const reader of readers) reader.cut();
    return readers.every(({ status }) => status === 200);
  });
});
