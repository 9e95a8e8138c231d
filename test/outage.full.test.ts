import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CommitProxy,
  DATABASE_TIMES,
  heldToolAgency,
  PostgresServer,
  type StreamReader,
  ToolController,
} from '@runwire/test-kit';
import { until } from '@runwire/test-kit/shortfall.ts';
import { cites } from '../requirements/cite.ts';
import { messagesFrame, ScriptedServer } from './support/scripted-server.ts';
import { missingService } from './support/services.ts';

const missing = await missingService('postgres');
/**
 * Connecting, answering and looking up an unanswered commit take at most 5, 8 and 5 s. The rest is for a busy machine.
 */
const ANSWERED_MS = 20_000;
/**
 * If the machine freezes for 3/8 of this time, the text of runs is held back until the next heartbeat, which cannot
 * happen here.
 */
const leaseMs = 120_000;

if (missing === null) {
  let postgres: PostgresServer;
  before(async () => {
    postgres = await PostgresServer.start();
  });
  after(() => postgres[Symbol.asyncDispose]());

  test("an outage cuts readers at the run's limit, and the run ends after it", async (t) => {
    cites(t, 'contract-8-503-unavailable');
    await using own = await PostgresServer.start();
    const limits = { heartbeatMs: 500, leaseMs };
    await using rig = await ScriptedServer.start({ env: { DATABASE_URL: await own.database() }, limits });
    const integration = await rig.metered({ unit: 'runs', limit: 10, period: 'lifetime' }, { maxRunSeconds: 5 });
    const who = { apiIntegrationId: integration, consumerId: 'ann', chatId: 'c1' };
    const { reader, call, runId } = await rig.hold({ ...who, usageRequestId: 'u1' });
    await call.text('Half');
    await reader.untilText('"Half"');
    await own.stop();
    const heard = reader.text.length;
    await reader.until(({ text }) => text.slice(heard).includes('\n:') || text.slice(heard).startsWith(':'));
    assert.equal(await reader.over, false, 'cut, while the database is away still');
    assert.ok(!reader.text.includes('event: end') && !reader.text.includes('event: messages'));
    await call.closed;
    await own.startAgain();
    await until('the run has ended', async () => {
      const { status, body } = await rig.api.get(`/v2/integrations/${integration}/runs/${runId}`);
      return status === 200 && body.status === 'failed';
    });
    const rest = await rig.api.events(runId, reader.frames.at(-1)?.id ?? 0, integration);
    await rest.whole();
    assert.deepEqual([messagesFrame(rest).status, messagesFrame(rest).error?.code], ['failed', 'run_timeout']);
    await rig.answer({ ...who, usageRequestId: 'u2' });
    const { used, reserved } = await rig.allowance(integration);
    assert.deepEqual([used, reserved], [2, 0]);
  });

  test('no tool is called before the step that asked for it is stored', async () => {
    await using own = await PostgresServer.start();
    await using gate = await ToolController.start();
    const env = { DATABASE_URL: await own.database() };
    await using rig = await ScriptedServer.start({ env, agencies: { gate: heldToolAgency }, limits: { leaseMs } });
    const integration = await rig.integration({ agency: 'gate' });
    const { reader, call } = await rig.hold({ apiIntegrationId: integration });
    await own.stop();
    await until('readiness says so', async () => (await rig.api.get('/readyz')).status === 503);
    await call.toolCall('c1', 'gate', JSON.stringify({ port: gate.port }));
    await call.end();
    await reader.untilText('"call_id":"c1"');
    // The server has tried more than once to store the step.
    await sleep(2000);
    assert.deepEqual([gate.calls.length, rig.controller.calls.length], [0, 1]);
    await own.startAgain();
    await gate.holds('c1');
    gate.open('c1', 'opened');
    await (await rig.controller.nextCall()).end();
    await reader.whole();
    assert.equal(messagesFrame(reader).status, 'completed');
    assert.equal(gate.calls.length, 1);
  });

  test('the listener of metrics answers without the database', async (t) => {
    cites(t, 'contract-2-metrics-key');
    await using own = await PostgresServer.start();
    const env = { DATABASE_URL: await own.database(), RUNWIRE_METRICS_PORT: '0' };
    await using rig = await ScriptedServer.start({ env, limits: { leaseMs } });
    const { metricsUrl } = rig.server.server;
    const shown = async () => {
      const answer = await fetch(`${metricsUrl}/metrics`);
      assert.equal(answer.status, 200);
      const lines = (await answer.text()).split('\n');
      return (name: string) => Number(lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1));
    };
    const unavailable = 'runwire_admissions_total{outcome="refused",code="unavailable"}';
    const { reader, call } = await rig.hold({});
    const before = await shown();
    assert.equal(before(unavailable), 0, 'there from the start: an alert sees the first');
    await own.stop();
    await call.text('Said meanwhile');
    await reader.untilText('Said meanwhile');
    await until('keys are not trusted any more', async () => (await rig.api.get('/metrics')).status === 503);
    await until('the beat is late', async () => (await shown())('runwire_beat_age_seconds') > 8);
    const refused = await rig.api.complete({ chatId: 'other' });
    assert.deepEqual([refused.status, refused.headers['x-agent-run-admitted']], [503, 'false']);
    const during = await shown();
    assert.ok(during(unavailable) >= 1);
    assert.ok(during('runwire_unstored_bytes') > 0);
    assert.equal(during('runwire_active_runs'), 1);
    await own.startAgain();
    await until('the beat is young again', async () => (await shown())('runwire_beat_age_seconds') < 5);
    await call.end();
    await reader.whole();
    assert.equal(messagesFrame(reader).status, 'completed');
    await until('all is stored', async () => (await shown())('runwire_unstored_bytes') === 0);
  });

  test('every request is answered truthfully while the database hangs', async (t) => {
    cites(t, 'contract-4-header-false', 'contract-4-header-unknown', 'contract-8-503-unavailable');
    const direct = await postgres.database();
    await using proxy = await CommitProxy.start(postgres.port);
    const url = direct.replace(`:${postgres.port}/`, `:${proxy.port}/`);
    await using rig = await ScriptedServer.start({
      env: { DATABASE_URL: url },
      limits: { leaseMs },
      databaseTimes: DATABASE_TIMES,
    });
    const integration = await rig.metered({ unit: 'runs', limit: 10_000, period: 'lifetime' });
    const who = { apiIntegrationId: integration, consumerId: 'ann' };
    const own = (path: string) => `/v2/integrations/${integration}${path}`;
    const { reader, call, runId } = await rig.hold({ ...who, usageRequestId: 'held', chatId: 'held' });
    const { body: key } = await rig.api.post('/v2/api_keys', { name: 'another' });
    await call.text('Before, ');
    await reader.untilText('Before, ');

    // Clients post without a pause, so that the outage interrupts every part of some admission.
    const claims = new Map<string, string | undefined>();
    const readers: StreamReader[] = [];
    const answered = async (ask: () => Promise<unknown>) => {
      const began = performance.now();
      await ask();
      return performance.now() - began;
    };
    const post = (id: string) => async () => {
      const posted = await rig.api.complete({ ...who, usageRequestId: id });
      claims.set(id, posted.headers['x-agent-run-admitted'] as string | undefined);
      if (posted.status === 200) readers.push(posted);
      else assert.equal(posted.status, 503);
    };
    rig.controller.answerAll('Hi');
    const times: Promise<number>[] = [];
    for (let i = 0, left = 30; left > 0; i += 1) {
      times.push(answered(post(`u${i}`)));
      await sleep(5);
      if (claims.size >= 5) proxy.hang();
      if (claims.size >= 5) left -= 1;
    }
    const refused = (method: string, path: string, body?: unknown) =>
      answered(async () => assert.equal((await rig.api.call(method, path, body)).status, 503, `${method} ${path}`));
    times.push(
      // A readiness answer is valid for a second, so an earlier one may still be used.
      answered(() => until('readiness says so', async () => (await rig.api.get('/readyz')).status === 503)),
      refused('GET', own(`/runs/${runId}`)),
      refused('GET', own(`/runs/${runId}/events`)),
      refused('GET', own('/chats')),
      refused('GET', own('/usage')),
      refused('GET', own('/chat_status?usageRequestId=held')),
      refused('POST', own(`/runs/${runId}/cancel`), {}),
      refused('PUT', own('/members/bob'), {}),
      refused('POST', '/v2/integrations', { apiIntegrationId: 'new' }),
      answered(async () => assert.equal((await rig.api.as(key.apiKey).get('/v2/me')).status, 503)),
      answered(async () => assert.equal((await rig.api.get('/healthz')).status, 200)),
    );
    // Repeats the check after all cached values have expired.
    const later = sleep(6000).then(() => answered(post('late')));
    const slowest = Math.max(...(await Promise.all([...times, later])));
    t.diagnostic(`slowest answer after ${Math.round(slowest)} ms`);
    assert.ok(slowest < ANSWERED_MS, `slowest answer after ${slowest} ms`);
    assert.equal(claims.get('late'), 'false');
    assert.equal(rig.server.server.probes.heldBodyBytes(), 0);

    await call.text('during');
    await reader.untilText('during');
    await call.end();
    assert.ok(!reader.text.includes('event: end'));
    proxy.flow();
    await reader.whole();
    assert.equal(messagesFrame(reader).status, 'completed');
    await until('all has ended', () => rig.server.server.probes.activeRuns() === 0);
    // A run with an unknown outcome may still start later.
    const database = new URL(direct).pathname.slice(1);
    const runs = async () => postgres.query('select usage_request_id as id, status, attempt from runs', database);
    await until('all runs are settled', async () => (await runs()).every(({ status }) => status === 'completed'));
    const stored = new Map((await runs()).map((row) => [row.id as string, row]));
    for (const [id, claim] of claims) {
      if (claim !== undefined) assert.equal(claim, String(stored.has(id)), `what was said of ${id}`);
    }
    assert.ok([...claims.values()].includes('false') && [...claims.values()].includes('true'));
    for (const { attempt } of stored.values()) assert.equal(attempt, 1);
    const { used, reserved } = await rig.allowance(integration);
    assert.deepEqual([used, reserved], [stored.size, 0]);
  });
}
