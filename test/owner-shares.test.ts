import assert from 'node:assert/strict';
import { type ClientRequest, request } from 'node:http';
import { test } from 'node:test';
import type { ApiClient } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { AttachmentRig, fileAt } from './support/attachment-rig.ts';
import { eventually } from './support/eventually.ts';
import { HeldRun, refusal, ScriptedServer } from './support/scripted-server.ts';

const MEBIBYTE = 1024 * 1024;

/** Sends all of a completion but its last byte; resolves to the status if the server answers nevertheless. */
function stall({ url, authorization }: ApiClient, bytes: number): { sent: ClientRequest; status: Promise<number> } {
  const headers = { ...authorization, 'content-type': 'application/json', 'content-length': String(bytes) };
  const sent = request(`${url}/get_completion_v2`, { method: 'POST', agent: false, headers });
  const status = new Promise<number>((resolve) => {
    sent.on('response', (answer) => resolve(answer.statusCode ?? 0)).on('error', () => resolve(0));
  });
  sent.write(Buffer.alloc(bytes - 1, ' '));
  return { sent, status };
}

test('with a second owner the first may use half of the active runs', async (t) => {
  cites(t, 'contract-4-owner-half', 'contract-4-owner-queue', 'contract-4-single-owner');
  await using server = await ScriptedServer.start({ env: { RUNWIRE_MAX_ACTIVE_RUNS: '4' } });
  const held = [await server.hold({}), await server.hold({}), await server.hold({}), await server.hold({})];
  assert.equal((await server.api.complete({})).status, 503, 'the node is full');
  const { api, apiIntegrationId } = await server.owner('second@example.com');
  const other = [];
  for (let i = 0; i < 2; i += 1) {
    const reader = await api.complete({ apiIntegrationId });
    assert.equal(reader.status, 200, 'what the first owner holds above its half is not in the way');
    other.push(new HeldRun(reader, await server.controller.nextCall()));
  }
  const refused = await refusal(await api.complete({ apiIntegrationId }));
  assert.deepEqual([refused.status, refused.admitted, refused.retryAfter], [503, 'false', '1']);
  const [first, second, ...rest] = held;
  for (const run of [first, second]) await run?.finish();
  const integration = await server.integration();
  assert.equal((await refusal(await server.api.complete({ apiIntegrationId: integration }))).status, 503);
  for (const run of [...rest, ...other]) await run.finish();
  const again = [await server.hold({}), await server.hold({ apiIntegrationId: integration })];
  assert.equal((await server.api.complete({})).status, 503, 'two integrations of one owner share its half');
  for (const run of again) await run.finish();
});

test('stalled bodies of one owner leave the other half to others', async (t) => {
  cites(t, 'contract-4-owner-half', 'contract-4-owner-queue');
  await using server = await ScriptedServer.start({ limits: { bodiesBytes: 8 * MEBIBYTE } });
  const { api, apiIntegrationId } = await server.owner('second@example.com');
  const { heldBodyBytes } = server.server.server.probes;
  const stalled = Array.from({ length: 3 }, () => stall(server.api, 2 * MEBIBYTE));
  const refused = await Promise.race(stalled.map(({ status }) => status));
  assert.ok(refused === 503 || refused === 0, 'an answer can be lost with the connection');
  await eventually('the other two are held', async () => heldBodyBytes() === 2 * (2 * MEBIBYTE - 1));
  const message = 'x'.repeat(900_000);
  const reader = await api.complete({ apiIntegrationId, message, extra: 'x'.repeat(2 * MEBIBYTE) });
  assert.equal(reader.status, 200);
  await new HeldRun(reader, await server.controller.nextCall()).finish();
  for (const { sent } of stalled) sent.destroy();
  await eventually('all is given back', async () => heldBodyBytes() === 0);
});

test('hanging attachments of one owner leave the other half to others', async (t) => {
  cites(t, 'contract-4-owner-half', 'contract-4-owner-queue');
  const limits = { attachmentBytes: 1000, attachmentsBytes: 2000, attachmentMs: 60_000 };
  await using rig = await AttachmentRig.start({ limits });
  const { probes } = rig.rig.server.server;
  const other = await rig.rig.owner('second@example.com');
  const [mine, alsoMine] = [await rig.rig.integration(), await rig.rig.integration()];
  const post = async (api: ApiClient, apiIntegrationId: string, path: string) => {
    const held = rig.files.hold(path);
    const attachments = [fileAt(rig.files.url(path))];
    return { held, reader: await api.complete({ apiIntegrationId, message: 'Read', attachments }) };
  };
  const first = await post(rig.api, mine, '/1.txt');
  const firstCall = await first.held.nextCall();
  const second = await post(rig.api, alsoMine, '/2.txt');
  const third = await post(other.api, other.apiIntegrationId, '/3.txt');
  const thirdCall = await third.held.nextCall();
  assert.deepEqual([rig.files.asked('/2.txt').length, probes.attachmentsBytes()], [0, 2000]);
  // After the file server announced the size, the rest of the reservation is free again.
  firstCall.head(200, { 'content-length': '4', 'content-type': 'text/plain' });
  await eventually('the first takes what it needs', async () => probes.attachmentsBytes() === 1004);
  assert.equal(rig.files.asked('/2.txt').length, 0, 'four bytes and a thousand are more than half');
  await firstCall.bytes('Milk');
  firstCall.end();
  const secondCall = await second.held.nextCall();
  secondCall.answer(200, 'Bread', { 'content-type': 'text/plain' });
  thirdCall.answer(200, 'Salt', { 'content-type': 'text/plain' });
  rig.rig.controller.answerAll('Read.');
  for (const { reader } of [first, second, third]) assert.equal((await reader.whole()).at(-1)?.event, 'end');
  assert.equal(probes.attachmentsBytes(), 0);
});
