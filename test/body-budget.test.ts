import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { imageAttachment, makePng, startTestServer, type TestServer } from '@runwire/test-kit';
import { until } from './support/eventually.ts';
import { jsonHead, RawConnection } from './support/raw-http.ts';
import { refusal } from './support/scripted-server.ts';

const MEBIBYTE = 1024 * 1024;

/** Sends a whole completion. Resolves when the server has read it, and does not wait for the answer. */
async function sendWhole(server: TestServer, fields: object, isFree: () => boolean = () => false): Promise<Socket> {
  const body = Buffer.from(JSON.stringify({ apiIntegrationId: 'demo', message: 'Look', ...fields }));
  const { heldBodyBytes } = server.server.probes;
  const before = heldBodyBytes();
  const { socket } = new RawConnection(server.url);
  socket.write(jsonHead('POST /get_completion_v2', body.length));
  socket.write(body);
  await until(() => heldBodyBytes() >= before + body.length || isFree());
  return socket;
}

test('images of callers that leave during parsing are released', async () => {
  const limits = { bodiesBytes: 40 * MEBIBYTE, bodyThreadBytes: 64 * 1024, bodyValues: 10_000_000 };
  await using server = await startTestServer({ limits });
  const { heldBodyBytes } = server.server.probes;
  const attachments = [imageAttachment(makePng(100_000, 5))];
  const ends: readonly object[] = [
    { apiIntegrationId: 'unknown' },
    { message: 5 },
    { attachments: [...attachments, { type: 'input_image', image_url: 'data:,' }] },
    {},
  ];
  // Bodies are parsed one after the other: while this one is parsed, the others wait.
  const slow = await sendWhole(server, { more: Array(8_000_000).fill(0), message: 1 });
  let isFree = false;
  slow.once('data', () => {
    isFree = true;
  });
  for (const fields of ends) {
    const socket = await sendWhole(server, { attachments, ...fields }, () => isFree);
    socket.resetAndDestroy();
  }
  await until(() => isFree && heldBodyBytes() === 0);
  slow.destroy();
  for (const apiIntegrationId of ['unknown', 'unknown', 'unknown', 'demo']) {
    const large = { apiIntegrationId, attachments: [imageAttachment(makePng(12 * MEBIBYTE, 6))] };
    const reader = await server.api.complete(large);
    if (apiIntegrationId === 'demo') await reader.whole();
    else assert.equal((await refusal(reader)).status, 404);
  }
  assert.equal(heldBodyBytes(), 0);
});
