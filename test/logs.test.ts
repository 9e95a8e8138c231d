import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { OtlpReceiver } from '@runwire/test-kit/otlp-receiver.ts';
import { cites } from '../requirements/cite.ts';
import { CliServer, getFolder } from './support/cli-process.ts';

const API_KEY = 'planted-api-key-0123456789-0123456789-abcdef';
const SECRET = 'planted-signing-secret-0123456789-0123456789';
const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const PROVIDER_KEY = 'sk-planted-provider-key-0123456789-0123456789';

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly requestId?: string | null;
  readonly runId?: string;
  readonly traceparent?: string;
  readonly [field: string]: unknown;
}

test('logs one JSON line per request, refusal and run, without secrets', async (t) => {
  cites(t, 'contract-8-500-internal-error', 'contract-3-request-id-of-caller', 'contract-3-traceparent');
  // The provider echoes what it was sent, so its error contains the key.
  const provider = createServer((request, response) => {
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: `Bad: ${request.headers.authorization}` } }));
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  t.after(() => provider.close());
  const address = provider.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  await using collector = await OtlpReceiver.start();
  await using server = await CliServer.start({
    env: {
      RUNWIRE_DATA_DIR: getFolder(t),
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      RUNWIRE_LOG_LEVEL: 'debug',
      RUNWIRE_API_KEY: API_KEY,
      RUNWIRE_SECRET: SECRET,
      OPENAI_API_KEY: PROVIDER_KEY,
      OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
      RUNWIRE_MODEL: 'openai/gpt-test',
    },
  });
  const api = server.api(API_KEY);
  const secrets = [API_KEY, SECRET, PROVIDER_KEY];

  const made = await api.post('/v2/api_keys', { name: 'second' });
  secrets.push(made.body.apiKey);
  const owner = await api.post('/v2/owners', { email: 'o@example.com' });
  secrets.push(owner.body.apiKey);
  const said = 'a-message-nobody-else-may-read';
  await api.put('/v2/integrations/demo/members/ann', {});
  const first = await server
    .api(made.body.apiKey)
    .complete(
      { message: said, usageRequestId: 'u1', consumerId: 'ann' },
      { 'x-request-id': 'from-the-caller', traceparent: TRACEPARENT },
    );
  await first.whole();
  assert.equal(first.headers['x-request-id'], 'from-the-caller');
  const failing = await api.complete({ message: '/fail', user_context: { token: 'planted-context-token-987' } });
  await failing.whole();
  secrets.push('planted-context-token-987', said);
  const runs = [first, failing].map(({ headers }) => [headers['x-request-id'], headers['x-run-id']]);

  // The request is wrong in every way, with the key in fields that are not for it.
  const refused = [
    await api.get(`/v2/integrations/nowhere?key=${API_KEY}`),
    await api.get(`/${API_KEY}`),
    await api.get(`/v2/integrations/demo/runs/${API_KEY}`),
    await api.get(`/v2/integrations/demo/usage?cursor=${API_KEY}`),
    await api.post('/get_completion_v2', { apiIntegrationId: API_KEY, message: said }),
    await api.post('/get_completion_v2', `{"message":"${API_KEY}"`),
    await api.as(`${made.body.apiKey}x`).get('/v2/me'),
    await server.api(owner.body.apiKey).get('/v2/integrations/demo'),
    await api.call('GET', '/v2/me', undefined, { 'x-key': API_KEY, cookie: `key=${API_KEY}` }),
  ].filter(({ status }) => status >= 400);
  assert.equal(refused.length, 8);
  for (let time = 0; time < 2; time += 1)
    await api.call('GET', '/healthz', undefined, { 'x-forwarded-for': '192.0.2.9' });
  await api.get('/metrics');
  await api.get('/openapi.json');
  await api.delete(`/v2/api_keys/${made.body.keyId}`);
  const { stderr } = await server.stop();

  for (const secret of secrets) assert.ok(!stderr.includes(secret), `the log holds ${secret}`);
  assert.ok(!stderr.includes(Buffer.from(SECRET).toString('base64url')));
  const lines = stderr
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
  const ends = lines.filter(({ msg }) => msg === 'run ended');
  assert.deepEqual(
    ends.map(({ requestId, runId }) => [requestId, runId]),
    runs,
  );
  assert.equal(ends[0]?.trace_id, TRACEPARENT.slice(3, 35));
  for (const { level, status, usage, durationMs } of ends) {
    assert.equal(level, 30);
    assert.equal(status, 'failed');
    assert.equal(typeof (usage as { total_tokens: number }).total_tokens, 'number');
    assert.ok((durationMs as number) >= 0);
  }
  const failures = lines.filter(({ msg }) => msg === 'run failed');
  assert.deepEqual(
    failures.map(({ requestId, runId }) => [requestId, runId]),
    runs,
  );
  const { level, code, sentence, providerStatus, model, integrationId, consumerId, traceparent } = failures[0] as Line;
  assert.deepEqual(
    { level, code, providerStatus, model, integrationId, consumerId, traceparent },
    {
      level: 40,
      code: 'model_error',
      providerStatus: 400,
      model: 'openai/gpt-test',
      integrationId: 'demo',
      consumerId: 'ann',
      traceparent: TRACEPARENT,
    },
  );
  assert.match(String(sentence), /^The model provider refused the request \(400\): Bad: /);
  const forwarded = lines.filter(({ msg }) => msg.includes('set RUNWIRE_TRUSTED_PROXIES to its address'));
  assert.deepEqual(
    forwarded.map(({ level, peer }) => [level, peer]),
    [[40, '127.0.0.1']],
    'once',
  );
  const warnings = lines.filter((line) => line.level === 40);
  assert.equal(warnings.length, failures.length + 1, 'one warning for each failed run, and one about the proxy');
  assert.ok(lines.every((line) => (line.requestId === 'from-the-caller') === (line.traceparent === TRACEPARENT)));

  const requests = lines.filter(({ msg }) => msg === 'request');
  const shown = requests.map(({ method, path, status, ownerId }) => [method, path, status, typeof ownerId]);
  assert.ok(requests.every(({ level, durationMs }) => level === 20 && Number.isInteger(durationMs)));
  assert.deepEqual(
    requests.find(({ requestId }) => requestId === 'from-the-caller')?.path,
    '/get_completion_v2',
    'also of a stream',
  );
  for (const line of [
    ['POST', '/v2/api_keys', 201, 'string'],
    ['POST', '/get_completion_v2', 200, 'string'],
    ['GET', '/v2/integrations/:apiIntegrationId', 400, 'string'],
    ['GET', null, 404, 'object'],
    ['GET', '/v2/me', 401, 'object'],
  ]) {
    assert.ok(
      shown.some((one) => JSON.stringify(one) === JSON.stringify(line)),
      `${line}`,
    );
  }

  const refusals = lines.filter(({ msg }) => msg === 'refused');
  assert.deepEqual(
    refusals.map(({ level, requestId, code }) => [level, requestId, code]),
    refused.map(({ headers, body }) => [20, headers.get('x-request-id'), body.code]),
  );
});
