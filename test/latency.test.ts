import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { STORES, type StoreName, startTestServer, type TestServer } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { askStore } from './support/ask-store.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** In the past, so that the days are closed. */
const FIRST_DAY = 20_000;
const toTime = (day: number, hour = 0) => new Date((FIRST_DAY + day) * DAY_MS + hour * HOUR_MS).toISOString();
const toDay = (day: number) => toTime(day).slice(0, 10);

interface SeededRun {
  readonly day: number;
  readonly atMs: number;
  readonly durationMs: number;
  readonly firstTokenMs: number | null;
  readonly status?: string;
  readonly agent?: string;
  readonly model?: string;
}

const count = <T>(runs: number, make: (n: number) => T): T[] => Array.from({ length: runs }, (_, n) => make(n));

const RUNS: readonly SeededRun[] = [
  // 1 to 100 in another order than that of admission.
  ...count(100, (n) => ({
    day: 0,
    atMs: n,
    durationMs: (((n * 37) % 100) + 1) * 10,
    firstTokenMs: ((n * 37) % 100) + 1,
  })),
  ...count(50, (n) => ({
    day: 0,
    atMs: n,
    durationMs: 1,
    firstTokenMs: 1,
    status: n % 2 === 0 ? 'failed' : 'cancelled',
  })),
  ...count(3, (n) => ({ day: 1, atMs: n, durationMs: 5000, firstTokenMs: null, agent: 'Other' })),
  ...count(4, (n) => ({ day: 1, atMs: 23 * HOUR_MS + n, durationMs: 8000, firstTokenMs: 70, model: 'p/other' })),
  // The first runs of both hours are quick, and the others are not read.
  ...count(2500, (n) => ({
    day: 2,
    atMs: (n % 2) * HOUR_MS + Math.floor(n / 2),
    durationMs: n < 200 ? 10 + (n % 2) * 10 : 9999,
    firstTokenMs: 5,
  })),
];

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ store });
    await server.server.probes.sweepRollups();
    const rows = RUNS.map((run, n) => {
      const { day, atMs, durationMs, firstTokenMs, status = 'completed', agent = 'Agent', model = 'p/m' } = run;
      const createdAt = (FIRST_DAY + day) * DAY_MS + atMs;
      const used = {
        requestCount: 1,
        inputTokens: 1,
        cachedTokens: 0,
        outputTokens: 0,
        reasoningTokens: 0,
        credits: 0,
      };
      const models = JSON.stringify([{ model, ...used }]);
      return `('run_${String(n).padStart(6, '0')}', 'demo', 'chat', '${status}', 'demo', '${agent}', 'node', 1, 0, 1, 1, 0,
        ${FIRST_DAY + day}, 1, 1, 0, 0, 0, '${models}', 1, 1, 0, ${createdAt}, ${createdAt + durationMs}, ${firstTokenMs})`;
    });
    await askStore(
      server.dataDir,
      `insert into runs (run_id, integration_id, chat_key, status, agency, agent, node_id, attempt, crashes, step,
       journal_format, held, day, request_count, input_tokens, cached_tokens, output_tokens, reasoning_tokens, by_model_json,
       charged_runs, charged_tokens, charged_credits, created_at, completed_at, first_token_ms) values ${rows.join()}`,
    );
  });
  after(() => server[Symbol.asyncDispose]());

  const ask = async (query: Record<string, string>) =>
    (await server.api.get(`/v2/integrations/demo/latency?${new URLSearchParams(query)}`)).body;
  const whole = { from: toTime(0), to: toTime(3) };

  const first = {
    ...{ day: toDay(0), runs: 100, sampled: false },
    ...{ durationMs: { p50: 500, p95: 950 }, firstTokenMs: { p50: 50, p95: 95 } },
  };
  const others = {
    ...{ day: toDay(1), runs: 7, sampled: false },
    ...{ durationMs: { p50: 8000, p95: 8000 }, firstTokenMs: { p50: 70, p95: 70 } },
  };
  const sample = {
    ...{ day: toDay(2), runs: 200, sampled: true },
    ...{ durationMs: { p50: 10, p95: 20 }, firstTokenMs: { p50: 5, p95: 5 } },
  };

  test('shows p50 and p95 of completed runs by day, the newest first', async (t) => {
    cites(t, 'contract-23-latency', 'contract-23-latency-summary', 'contract-23-latency-sampled');
    const answer = await ask(whole);
    assert.deepEqual([answer.from, answer.to], [toTime(0), toTime(3)]);
    assert.deepEqual(answer.items, [sample, others, first]);
    // A sweep counts the runs: then the days are closed, and what is kept of them is the same.
    await askStore(server.dataDir, `insert into usage_walk select 1, '', max(run_id) from runs`);
    await server.server.probes.sweepRollups();
    for (let n = 0; n < 2; n += 1) assert.deepEqual((await ask(whole)).items, [sample, others, first]);
  });

  test('filters by agent, model and time', async (t) => {
    cites(t, 'contract-23-latency-summary');
    const slow = { durationMs: { p50: 5000, p95: 5000 }, firstTokenMs: null };
    const byAgent = [{ day: toDay(1), runs: 3, sampled: false, ...slow }];
    assert.deepEqual((await ask({ ...whole, agent: 'Other' })).items, byAgent);
    const byModel = [{ ...others, runs: 4 }];
    assert.deepEqual((await ask({ ...whole, model: 'p/other' })).items, byModel);
    assert.deepEqual((await ask({ from: toTime(1), to: toTime(1, 23) })).items, byAgent);
    assert.deepEqual((await ask({ from: toTime(1, 23), to: toTime(2) })).items, byModel);
    assert.deepEqual((await ask({ ...whole, agent: 'Nobody' })).items, []);
  });

  test('refuses more than 366 days, and shows the last 30 by default', async (t) => {
    cites(t, 'contract-23-latency-summary');
    const late = await ask({ from: '2020-01-01T00:00:00Z', to: '2021-01-02T00:00:00Z' });
    assert.equal(late.code, 'invalid_request');
    const { from, to } = await ask({});
    assert.equal(Math.ceil((Date.parse(to) - Date.parse(from)) / DAY_MS), 30);
  });
}
