import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { TEST_API_KEY } from '@runwire/test-kit';
import { KillableServer } from './support/killable-server.ts';

const MEBIBYTE = 1024 * 1024;

/** Sends a part of a body. */
function upload(url: string) {
  const sent = request(`${url}/get_completion_v2`, {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${TEST_API_KEY}`, 'content-type': 'application/json' },
  });
  sent.on('error', () => {});
  const status = new Promise<number>((resolve) => {
    // An answer that arrives while the body is still being sent can be lost with the connection.
    sent.on('close', () => resolve(0));
    sent.on('response', (message) => resolve(message.resume().statusCode ?? 0));
  });
  return { sent, status };
}

test('a body over 1 MiB is parsed as strictly and does not delay a stream', async () => {
  const env = { RUNWIRE_MAX_BODY_BYTES: String(200 * MEBIBYTE) };
  await using server = await KillableServer.start({ env });
  const { reader, call } = await server.hold({});
  const head = '{"apiIntegrationId":"demo","message":"Hi","__proto__":{"message":5},';
  const filler = `"extra":"${'x'.repeat(2 * MEBIBYTE)}"`;
  const traps: readonly (readonly [string, RegExp])[] = [
    [`${head}${filler},"a":1,"a":2}`, /"a" twice/],
    [`${head}${filler},"a":"\\ud800"}`, /lone surrogate/],
    [`${head}${filler},"a":${'['.repeat(65)}${']'.repeat(65)}}`, /nested deeper/],
    [`${head}${filler},"a":[${'0,'.repeat(10_000)}0]}`, /more than 10000 values/],
    [`${head}${filler},}`, /not valid JSON/],
  ];
  for (const [body, sentence] of traps) {
    const { status, body: answer } = await server.api.post('/get_completion_v2', body);
    assert.deepEqual([status, answer.code], [400, 'invalid_request']);
    assert.match(answer.error, sentence);
  }
  const large = upload(server.process.url);
  const body = Buffer.from(`${head}"extra":"${'x'.repeat(150 * MEBIBYTE)}"}`);
  await new Promise<void>((resolve) => large.sent.write(body, () => resolve()));
  let answered = false;
  let tokens = 0;
  large.status.then(() => {
    answered = true;
  });
  large.sent.end();
  while (!answered) {
    await call.text(`<${tokens}>`);
    await reader.untilText(`<${tokens}>`);
    tokens += 1;
  }
  assert.equal(await large.status, 200);
  assert.ok(tokens >= 10, `${tokens} tokens came while the body was parsed`);
  large.sent.destroy();
});
