import assert from 'node:assert/strict';
import { test } from 'node:test';
import { httpAnswer } from '@runwire/guarded-fetch/src/testing/watched-network.ts';
import { guarded } from '@runwire/test-kit/guarded-rig.ts';
import { oauthFetch } from './oauth-fetch.ts';

const TOKEN = new URL('https://a.test/token');

/** Asks an authorization server that gives this answer. */
function asking(answer: string, init: RequestInit = {}, url = TOKEN) {
  const { network, ask } = guarded((_, connection) => void connection.write(answer));
  return { network, response: oauthFetch(ask)(url, init) };
}

test('a token request is sent whole, and its answer is the JSON', async () => {
  const body = new URLSearchParams({ grant_type: 'client_credentials' });
  const headers = { authorization: 'Basic x', 'content-type': 'application/x-www-form-urlencoded' };
  const { network, response } = asking(httpAnswer(200, {}, '{"access_token":"t"}'), { method: 'POST', headers, body });
  assert.deepEqual(await (await response).json(), { access_token: 't' });
  const [request = ''] = network.requests;
  assert.match(
    request,
    /^POST \/token HTTP\/1\.1\r\n.*authorization: Basic x\r\n.*\r\n\r\ngrant_type=client_credentials$/s,
  );
});

test('of a refusal only the code is passed on', async () => {
  for (const [status, body, code] of [
    [400, '{"error":"invalid_client","error_description":"raw words"}', 'invalid_client'],
    [200, '{"error":"invalid_scope","error_description":"raw words"}', 'invalid_scope'],
    [401, '{"error":"<raw words>"}', 'server_error'],
    [500, '<html>raw words', 'server_error'],
    [404, '', 'server_error'],
  ] as const) {
    const response = await asking(httpAnswer(status, {}, body)).response;
    assert.deepEqual([response.status, await response.json()], [status, { error: code }]);
  }
});

test('an answer that is not JSON, too large or redirected shows nothing of itself', async () => {
  const notJson = 'The authorization server at https://a.test sent an answer that is not JSON.';
  for (const body of ['raw words', '"raw words"', '["raw words"]']) {
    await assert.rejects(asking(httpAnswer(200, {}, body)).response, { message: notJson });
  }
  await assert.rejects(asking(httpAnswer(200, {}, 'x'.repeat(1001))).response, /it is larger than 1000 bytes/);
  const { network, response } = asking(httpAnswer(307, { location: 'https://b.test/' }, 'raw words'));
  const { status, headers } = await response;
  assert.deepEqual([status, headers.get('location')], [307, 'https://b.test/']);
  assert.deepEqual(network.resolved, ['a.test'], 'it is not followed');
});

test('only https and public addresses are asked', async () => {
  for (const url of ['http://a.test/', 'https://inside.test/', 'https://10.0.0.5/', 'https://a.test:8443/']) {
    const { network, response } = asking('', {}, new URL(url));
    await assert.rejects(response, /^Error: An address of the authorization server at \S+ could not be fetched: it/);
    assert.deepEqual(network.dialled, []);
  }
});
