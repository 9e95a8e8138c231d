import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { hookStore } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { ScriptedServer } from './support/scripted-server.ts';

const writes: string[] = [];

/** Records the name of every statement that writes. */
const noting = (names: string[]) =>
  hookStore({
    write: (statement, write) => {
      names.push(statement);
      return write();
    },
  });

const admissions = (outcome: string, code?: string) =>
  `runwire_admissions_total{outcome="${outcome}"${code === undefined ? '' : `,code="${code}"`}}`;

// Ended runs' words are not added to the index while a test counts writes.
const rig = ScriptedServer.shared({ wrapStore: noting(writes), limits: { searchMs: 3_600_000 } });

/** Parses the page by its format: each line that is not a comment has a name, labels and a number. */
async function metrics(of = rig): Promise<Map<string, number>> {
  const { status, headers, body } = await of.api.get('/metrics');
  assert.equal(status, 200);
  assert.equal(headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
  const found = new Map<string, number>();
  const typed = new Set<string>();
  assert.ok(body.endsWith('\n'));
  for (const line of body.trimEnd().split('\n')) {
    const type = /^# TYPE (\w+) (counter|gauge|histogram)$/.exec(line);
    if (type?.[1] !== undefined) {
      assert.ok(!typed.has(type[1]), `${type[1]} twice`);
      typed.add(type[1]);
    } else if (!line.startsWith('# HELP ')) {
      const sample = /^(\w+)(\{\w+="[^"]*"(?:,\w+="[^"]*")*\})? (\S+)$/.exec(line);
      assert.ok(sample?.[1] !== undefined && !Number.isNaN(Number(sample[3])), line);
      assert.ok(typed.has(sample[1].replace(/_(bucket|sum|count)$/, '')) || typed.has(sample[1]), line);
      found.set(`${sample[1]}${sample[2] ?? ''}`, Number(sample[3]));
    }
  }
  return found;
}

test('metrics need a key', async (t) => {
  cites(t, 'contract-2-metrics-key', 'contract-3-metrics');
  for (const key of [null, 'nobody-s'.repeat(8)]) {
    const { status, body } = await rig.api.as(key).get('/metrics');
    assert.deepEqual([status, body.code], [401, 'invalid_api_key']);
  }
  assert.equal((await metrics()).get('runwire_active_runs'), 0);
});

test('the metrics listener needs no key and serves nothing else', async (t) => {
  cites(t, 'contract-2-metrics-key');
  const own = await ScriptedServer.start({ env: { RUNWIRE_METRICS_PORT: '0' } });
  const { url, metricsUrl } = own.server.server;
  try {
    assert.ok(metricsUrl !== null && metricsUrl !== url && /^http:\/\/127\.0\.0\.1:\d+$/.test(metricsUrl));
    const { call, reader } = await own.hold({});
    const answer = await fetch(`${metricsUrl}/metrics`);
    assert.deepEqual(
      [answer.status, answer.headers.get('content-type')],
      [200, 'text/plain; version=0.0.4; charset=utf-8'],
    );
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
    assert.match(await answer.text(), /^runwire_active_runs 1$/m);
    for (const [method, path] of [
      ['GET', '/'],
      ['GET', '/healthz'],
      ['GET', '/v2/integrations'],
      ['POST', '/metrics'],
      ['POST', '/get_completion_v2'],
    ] as const) {
      const other = await fetch(metricsUrl + path, { method, headers: own.api.authorization });
      const { code } = (await other.json()) as { code: string };
      assert.deepEqual([other.status, code], [404, 'not_found'], `${method} ${path}`);
    }
    assert.equal((await own.api.as(null).get('/metrics')).status, 401);
    assert.equal((await metrics(own)).get('runwire_active_runs'), 1);
    await call.end();
    await reader.whole();
  } finally {
    await own[Symbol.asyncDispose]();
  }
  await assert.rejects(fetch(`${metricsUrl}/metrics`), 'it ends with the server');
});

test('counts admissions by outcome and refusals by code, without writes', async (t) => {
  cites(t, 'contract-3-metrics');
  const integration = await rig.metered({ unit: 'runs', limit: 2, period: 'day' });
  const body = { apiIntegrationId: integration, consumerId: 'ann' };
  const before = await metrics();
  await rig.answer({ ...body, usageRequestId: 'u1' });
  await (await rig.api.complete({ ...body, usageRequestId: 'u1' })).whole();
  writes.length = 0;
  const held = await rig.hold({ ...body, usageRequestId: 'u2', chatId: 'busy' });
  // The held run's text is stored within 100 ms, or later on a busy machine. That is not a write of a refusal.
  const run = `/v2/integrations/${integration}/runs/${held.runId}`;
  while ((await rig.api.get(run)).body.status !== 'running') await sleep(20);
  writes.length = 0;
  const refused = [
    ['run_active', { ...body, usageRequestId: 'u3', chatId: 'busy' }],
    ['consumer_allowance_exhausted', { ...body, usageRequestId: 'u4' }],
    ['consumer_allowance_exhausted', { ...body, usageRequestId: 'u5' }],
    ['member_not_found', { ...body, consumerId: 'nobody', usageRequestId: 'u6' }],
    ['missing_allowance_attribution', { apiIntegrationId: integration }],
    ['invalid_request', { ...body, message: 5 as unknown as string }],
    ['integration_not_found', { apiIntegrationId: 'nowhere' }],
  ] as const;
  for (const [, request] of refused) await (await rig.api.complete(request)).over;
  await (await rig.api.as(null).complete(body)).over;
  assert.equal((await rig.api.get('/get_completion_v2')).status, 405);
  assert.equal((await rig.api.get('/elsewhere')).status, 404);
  assert.deepEqual(writes, []);
  await held.call.fail('model_error', 'No.');
  await held.reader.whole();
  const now = await metrics();
  const grown = (name: string) => (now.get(name) ?? 0) - (before.get(name) ?? 0);
  assert.equal(grown(admissions('admitted')), 2);
  assert.equal(grown(admissions('replayed')), 1);
  for (const [code] of refused) {
    assert.equal(grown(admissions('refused', code)), refused.filter(([other]) => other === code).length, code);
  }
  assert.equal(grown(admissions('refused', 'invalid_api_key')), 1);
  assert.equal(grown(admissions('refused', 'method_not_allowed')), 1);
  assert.equal(grown(admissions('refused', 'not_found')), 0, 'of this path alone');
  assert.equal(grown('runwire_runs_ended_total{status="completed"}'), 1);
  assert.equal(grown('runwire_runs_ended_total{status="failed",code="model_error"}'), 1);
});

test('metrics show runs, streams and the times of model and store', async (t) => {
  cites(t, 'contract-3-metrics', 'contract-23-histograms');
  const before = await metrics();
  const held = await rig.hold({});
  const during = await metrics();
  assert.deepEqual([during.get('runwire_active_runs'), during.get('runwire_open_streams')], [1, 1]);
  assert.equal(during.get('runwire_full_streams'), 0);
  assert.ok((during.get('runwire_writer_queue') ?? -1) >= 0);
  for (let n = 0; n < 50; n += 1) await held.finish('word ');
  const now = await metrics();
  assert.deepEqual([now.get('runwire_active_runs'), now.get('runwire_open_streams')], [0, 0]);
  const model = '{model="scripted/model"}';
  const grown = (name: string) => (now.get(name) ?? 0) - (before.get(name) ?? 0);
  assert.equal(grown(`runwire_model_first_token_seconds_count${model}`), 1, 'once a response, not once a token');
  const genAi = 'gen_ai_operation_name="chat",gen_ai_provider_name="scripted",gen_ai_request_model="model"';
  for (const name of ['operation_duration_seconds', 'operation_time_to_first_chunk_seconds'])
    assert.equal(grown(`gen_ai_client_${name}_count{${genAi}}`), 1, name);
  for (const [type, tokens] of [
    ['input', 10],
    ['output', 5],
  ] as const)
    assert.equal(grown(`gen_ai_client_token_usage_sum{${genAi},gen_ai_token_type="${type}"}`), tokens);
  assert.equal(grown('runwire_run_first_token_seconds_count'), 1);
  assert.equal(grown('runwire_run_seconds_count{status="completed"}'), 1);
  assert.ok((now.get('runwire_run_seconds_sum{status="completed"}') ?? 0) > 0);
  assert.equal(grown('runwire_model_first_token_seconds_bucket{model="scripted/model",le="+Inf"}'), 1);
  for (const name of ['runwire_event_lag_seconds', 'runwire_commit_seconds', 'runwire_sync_seconds']) {
    const count = grown(`${name}_count`);
    assert.ok(count >= 1 && count < 20, `${name} is told by batch: ${count}`);
    assert.ok((now.get(`${name}_sum`) ?? 0) > 0, name);
    assert.equal(now.get(`${name}_bucket{le="+Inf"}`), now.get(`${name}_count`));
  }
  assert.ok((now.get('runwire_sync_seconds_sum') ?? 0) <= (now.get('runwire_commit_seconds_sum') ?? 0));
  assert.ok((now.get('runwire_start_sync_seconds') ?? 0) > 0);
});

test('tokens are counted by model and kind, also those of failed runs', async (t) => {
  cites(t, 'contract-3-metrics');
  const tokens = async () => {
    const shown = await metrics();
    return ['input', 'cached', 'output', 'reasoning'].map(
      (kind) => shown.get(`runwire_tokens_total{model="scripted/model",kind="${kind}"}`) ?? 0,
    );
  };
  const before = await tokens();
  const usage = { requestCount: 1, inputTokens: 70, cachedTokens: 30, outputTokens: 20, reasoningTokens: 8 };
  await rig.answer({}, 'Hi', usage);
  const answered = await tokens();
  assert.deepEqual(
    answered.map((value, index) => value - (before[index] ?? 0)),
    [70, 30, 20, 8],
  );
  const held = await rig.hold({});
  await held.call.text('12345678');
  await held.call.fail('model_error', 'No.');
  await held.reader.whole();
  assert.equal((await tokens())[2], (answered[2] ?? 0) + 2, 'estimated: the provider reported nothing');
});

test('counts requests by method, route and status, in bounded series', async (t) => {
  cites(t, 'contract-3-metrics');
  const before = await metrics();
  const run = '/v2/integrations/:apiIntegrationId/runs/:runId';
  const { runId } = await rig.answer({});
  await rig.api.get(`/v2/integrations/demo/runs/${runId}`);
  await rig.api.get('/v2/integrations/demo/runs/run_a');
  await rig.api.get('/v2/integrations/demo/runs/run_b');
  await (await rig.api.as(null).complete({})).over;
  for (const path of ['/a', '/b?c', '/%zz']) await rig.api.get(path);
  assert.equal((await rig.api.delete('/healthz')).status, 405);
  await rig.api.get(`/v2/integrations/demo/runs/${runId}/events`);
  const now = await metrics();
  const answered = (method: string, route: string, status: number) => {
    const name = `runwire_http_requests_total{method="${method}",route="${route}",status="${status}"}`;
    return (now.get(name) ?? 0) - (before.get(name) ?? 0);
  };
  assert.equal(answered('POST', '/get_completion_v2', 200), 1);
  assert.equal(answered('POST', '/get_completion_v2', 401), 1);
  assert.equal(answered('GET', run, 200), 1);
  assert.equal(answered('GET', run, 404), 2);
  assert.equal(answered('GET', `${run}/events`, 200), 1);
  assert.equal(answered('GET', 'unmatched', 404), 2);
  assert.equal(answered('GET', 'unmatched', 400), 1);
  assert.equal(answered('DELETE', 'unmatched', 405), 1);
  for (const name of now.keys()) assert.ok(!/runs\/run_|="\/[ab]"/.test(name) && !name.includes(runId), name);
  const timed = `runwire_http_request_seconds_count{method="GET",route="${run}"}`;
  assert.equal((now.get(timed) ?? 0) - (before.get(timed) ?? 0), 3);
});

test('shows processor time, memory, descriptors and event loop delay', async (t) => {
  cites(t, 'contract-3-metrics');
  const before = await metrics();
  // The server runs in this process: while this loop runs, its timers wait.
  for (const until = performance.now() + 400; performance.now() < until; );
  const count = (shown: Map<string, number>) => shown.get('runwire_event_loop_delay_seconds_count') ?? 0;
  let now = await metrics();
  while (count(now) === count(before)) now = await metrics();
  const grown = (name: string) => (now.get(name) ?? 0) - (before.get(name) ?? 0);
  assert.ok(grown('runwire_event_loop_delay_seconds_sum') >= 0.25, 'of 0.4 s, the timer was due after 0.1 s');
  assert.ok(grown('process_cpu_seconds_total') > 0);
  assert.ok((now.get('process_resident_memory_bytes') ?? 0) > 10_000_000);
  const startedAt = now.get('process_start_time_seconds') ?? 0;
  assert.ok(startedAt > Date.now() / 1000 - 3600 && startedAt <= Date.now() / 1000 + 1);
  if (process.platform !== 'linux') return;
  const held = await rig.hold({});
  assert.ok(((await metrics()).get('process_open_fds') ?? 0) > (now.get('process_open_fds') ?? 0));
  assert.ok((now.get('process_max_fds') ?? 0) > 100);
  await held.finish();
});
